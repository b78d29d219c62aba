//! The footer: what stands below the last thing printed while a turn runs.
//!
//! A sign of life with what is awaited, once nothing was written for half a second; and what the user has typed meanwhile.
//! Invariant: it is off the screen while anything is written, and the text above goes on where it was.

use std::time::Duration;

use tokio::time::Instant;

use crate::style::{Paint, Style};
use crate::text;

/// How long nothing may be written before a sign of life is due.
pub const SILENCE: Duration = Duration::from_millis(500);
/// How often it changes.
pub const TICK: Duration = Duration::from_millis(100);

const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// What stands there, and where.
#[derive(Debug)]
pub struct Footer {
    awaited: Option<Awaited>,
    /// A prompt, and what is typed behind it; empty for nothing.
    typed: (String, String),
    /// When something was written last.
    wrote: Instant,
    /// How many rows of it are on the screen.
    rows: usize,
}

#[derive(Debug)]
struct Awaited {
    what: String,
    /// More about it.
    note: String,
    since: Instant,
}

impl Footer {
    pub fn new() -> Self {
        Self {
            awaited: None,
            typed: Default::default(),
            wrote: Instant::now(),
            rows: 0,
        }
    }

    /// What is awaited from now on.
    pub fn wait_for(&mut self, what: Option<String>) {
        if self.awaited.as_ref().map(|awaited| &awaited.what) != what.as_ref() {
            self.awaited = what.map(|what| Awaited {
                what,
                note: String::new(),
                since: Instant::now(),
            });
        }
    }

    /// Says more about what is awaited, until something else is.
    pub fn note(&mut self, note: &str) {
        if let Some(awaited) = &mut self.awaited {
            awaited.note = format!(": {note}");
        }
    }

    /// What is typed behind this prompt.
    pub fn typed(&mut self, prompt: &str, typed: &str) {
        self.typed = (prompt.to_owned(), text::one_line(typed));
    }

    /// Something is written now.
    pub fn wrote(&mut self) {
        self.wrote = Instant::now();
    }

    /// What draws it below a line of which `column` columns are written.
    pub fn draw(&mut self, column: usize, style: &Style) -> String {
        // A terminal wraps when its last column is full, and then nothing can be taken back.
        let columns = style.columns().saturating_sub(1);
        let life = self
            .awaited
            .as_ref()
            .filter(|_| self.wrote.elapsed() >= SILENCE);
        let life = life.map(|Awaited { what, note, since }| {
            let frame = since.elapsed().as_millis() / TICK.as_millis();
            let frame = FRAMES[usize::try_from(frame).unwrap_or_default() % FRAMES.len()];
            let seconds = format!(" {}s", since.elapsed().as_secs());
            let room = columns.saturating_sub(seconds.len() + 2);
            let line = text::cut(&format!("{what}{note}"), room).into_owned();
            style.paint(Paint::Dim, &format!("{frame} {line}{seconds}"))
        });
        let (prompt, typed) = &self.typed;
        let room = columns.saturating_sub(text::columns(prompt));
        let typed =
            (!typed.is_empty()).then(|| format!("{prompt}{}", text::cut_front(typed, room)));
        let rows: Vec<String> = life.into_iter().chain(typed).collect();
        self.rows = rows.len();
        match (rows.is_empty(), column) {
            (true, _) => String::new(),
            (false, 0) => rows.join("\n"),
            (false, _) => format!("\n{}", rows.join("\n")),
        }
    }

    /// What takes it off the screen and goes back to that line.
    pub fn erase(&mut self, column: &mut usize, style: &Style) -> String {
        let mut out = match std::mem::take(&mut self.rows) {
            0 => return String::new(),
            1 => "\r\x1b[J".to_owned(),
            rows => format!("\x1b[{}A\r\x1b[J", rows - 1),
        };
        if *column >= style.columns() {
            // The line is full: it goes on in this row.
            *column = 0;
        } else if *column > 0 {
            out.push_str(&format!("\x1b[A\x1b[{}G", *column + 1));
        }
        out
    }
}
