//! The screen: the one place that writes to standard output.
//!
//! A model streams, tools report, teammates talk and a prompt stands open, all on one terminal. The text stands on top;
//! below it comes a sign of life, when nothing was written for half a second, and below that the prompt. Where a line
//! editor draws the prompt, it draws all of it ([`Screen::above`]): only its thread writes then. Invariants: two speakers
//! never share a line; the text goes on where it was; when nobody reads any more the session ends quietly.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::style::{Paint, Style};
use crate::text;

/// How long nothing may be written before a sign of life is due.
const SILENCE: Duration = Duration::from_millis(500);
/// How often it changes.
pub const TICK: Duration = Duration::from_millis(100);
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Standard output.
pub struct Screen {
    pub style: Style,
    quiet: AtomicBool,
    /// The exit code of a session that was ended from outside.
    exit: watch::Sender<Option<u8>>,
    out: Mutex<Box<dyn Write + Send>>,
    /// Never held across an await.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What has the line editor draw, while there is one, and the text that it has not drawn yet.
    editor: Option<Box<dyn FnMut() + Send>>,
    fresh: String,
    /// The prompt that is open where no editor draws it.
    prompt: String,
    /// A question is open: the user is waited for, and nothing else.
    asks: bool,
    /// The main speaker has begun a line, and whole lines wait for its end.
    is_begun: bool,
    held: String,
    /// How many columns the last line of the text has, and how many rows below it the cursor is.
    column: usize,
    below: usize,
    /// A sign of life is among them.
    shows_life: bool,
    /// What is awaited, and since when.
    awaited: Option<(String, Instant)>,
    /// More about it.
    note: String,
    /// When something was written last.
    wrote: Option<Instant>,
    /// Id and name of the main speaker's calls that have no result.
    running: Vec<(String, String)>,
    /// The call that was printed last, if nothing was printed since.
    last_call: Option<String>,
}

/// What anybody prints.
impl Screen {
    pub fn new(style: Style, out: impl Write + Send + 'static) -> Self {
        Self {
            style,
            quiet: AtomicBool::new(false),
            exit: watch::Sender::default(),
            out: Mutex::new(Box::new(out)),
            state: Mutex::default(),
        }
    }

    /// Shows nothing from now on but what is printed on purpose.
    pub fn be_quiet(&self) {
        self.quiet.store(true, Ordering::Relaxed);
    }

    pub fn is_quiet(&self) -> bool {
        self.quiet.load(Ordering::Relaxed)
    }

    /// Prints whole lines, quiet or not.
    pub fn print(&self, lines: &str) {
        let mut state = self.state();
        state.last_call = None;
        state.held.push_str(lines);
        if !lines.ends_with('\n') {
            state.held.push('\n');
        }
        self.release(&mut state);
    }

    /// Prints whole lines.
    pub fn lines(&self, lines: &str) {
        if !self.is_quiet() {
            self.print(lines);
        }
    }

    /// Prints the line of a call. With a name the call is the main speaker's, and what the user waits for next.
    pub fn call(&self, id: &str, line: &str, name: Option<&str>) {
        self.lines(line);
        let mut state = self.state();
        state.last_call = Some(id.to_owned());
        if let Some(name) = name {
            state.running.push((id.to_owned(), text::one_line(name)));
        }
    }

    /// Prints whole lines below a call: its result still follows it, if nothing else was printed in between.
    pub fn below(&self, id: &str, lines: &str) {
        let last = self.state().last_call.clone();
        self.lines(lines);
        if last.as_deref() == Some(id) {
            self.state().last_call = last;
        }
    }

    /// How far a call is, if it is the one that the user waits for.
    pub fn progress(&self, id: &str, note: &str) {
        let mut state = self.state();
        if state.running.first().is_some_and(|(first, _)| first == id) {
            state.note = format!(": {note}");
        }
    }

    /// Prints a result below its call, with the label in front unless the call is what was printed last.
    pub fn result(&self, id: &str, label: &str, lines: &str) {
        let mut state = self.state();
        state.running.retain(|(running, _)| running != id);
        state.wait_for_tool();
        let follows = state.last_call.as_deref() == Some(id);
        drop(state);
        if follows { self.lines(lines) } else { self.lines(&format!("{label}\n{lines}")) }
    }

    /// Ends the session with this exit code, unless it has ended already.
    pub fn leave(&self, code: u8) {
        self.exit.send_modify(|exit| _ = exit.get_or_insert(code));
    }

    /// The exit code of a session that was ended from outside.
    pub fn left(&self) -> Option<u8> {
        *self.exit.borrow()
    }

    /// Waits for a reason to leave.
    pub async fn until_left(&self) {
        let _ = self.exit.subscribe().wait_for(Option::is_some).await;
    }
}

/// What the main speaker says, and what is awaited.
impl Screen {
    /// Prints a piece of the main speaker's text as it comes.
    pub fn text(&self, piece: &str) {
        if self.is_quiet() || piece.is_empty() {
            return;
        }
        let mut state = self.state();
        state.last_call = None;
        let (lines, rest) = piece.split_at(piece.rfind('\n').map_or(0, |newline| newline + 1));
        self.put(&mut state, lines);
        if !lines.is_empty() {
            state.is_begun = false;
            self.release(&mut state);
        }
        state.is_begun |= !rest.is_empty();
        self.put(&mut state, rest);
    }

    /// Ends the main speaker's line, if there is one.
    pub fn end_line(&self) {
        self.finish(&mut self.state());
    }

    /// A request is under way.
    pub fn wait_for_model(&self) {
        self.state().wait_for(Some("waiting for the model".into()));
    }

    /// The request is over: its calls run now, if it had any.
    pub fn wait_for_tool(&self) {
        self.state().wait_for_tool();
    }

    /// The turn is over.
    pub fn idle(&self) {
        let mut state = self.state();
        state.running.clear();
        state.wait_for(None);
        self.finish(&mut state);
        self.draw(&mut state);
    }

    /// Shows the sign of life that is due by now, or takes away what is due no more.
    pub fn tick(&self) {
        let mut state = self.state();
        if state.shows_life || state.life(&self.style).is_some() {
            self.draw(&mut state);
        }
    }
}

/// The prompt.
impl Screen {
    /// From now on a line editor draws, whenever this is called.
    pub fn edits(&self, draw: Box<dyn FnMut() + Send>) {
        self.state().editor = Some(draw);
    }

    /// The editor opens, for a question or for something else.
    pub fn opened(&self, asks: bool) {
        self.state().asks = asks;
    }

    /// What the editor has to draw above its prompt, with the cursor where the prompt begins.
    pub fn above(&self) -> String {
        let mut state = self.state();
        let fresh = std::mem::take(&mut state.fresh);
        state.compose(&fresh, &self.style)
    }

    /// The editor has closed behind a prompt of so many rows, which are to vanish.
    pub fn clear(&self, rows: usize) {
        self.write(&format!("\x1b[{rows}A\r\x1b[J"));
    }

    /// There is no editor any more.
    pub fn edited(&self) {
        let mut state = self.state();
        state.editor = None;
        let fresh = std::mem::take(&mut state.fresh);
        self.put(&mut state, &fresh);
    }

    /// Shows this prompt where no editor does; an empty one closes it.
    pub fn show_prompt(&self, prompt: &str) {
        let mut state = self.state();
        if !state.prompt.is_empty() {
            self.write("\n");
        } else if !prompt.is_empty() {
            self.finish(&mut state);
        }
        prompt.clone_into(&mut state.prompt);
        let out = state.compose("", &self.style) + prompt;
        self.write(&out);
    }

    /// The user's Enter has ended the line of the prompt.
    pub fn entered(&self) {
        self.state().prompt.clear();
    }
}

impl Screen {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Ends the line that the main speaker has begun.
    fn finish(&self, state: &mut State) {
        if std::mem::take(&mut state.is_begun) {
            self.put(state, "\n");
        }
        self.release(state);
    }

    /// Prints what is held, unless a line is begun.
    fn release(&self, state: &mut State) {
        if !state.is_begun {
            let held = std::mem::take(&mut state.held);
            self.put(state, &held);
        }
    }

    /// Prints behind the text.
    fn put(&self, state: &mut State, text: &str) {
        if !text.is_empty() {
            state.wrote = Some(Instant::now());
            state.fresh.push_str(text);
            self.draw(state);
        }
    }

    /// Draws what is fresh, or has the editor draw it.
    fn draw(&self, state: &mut State) {
        if let Some(draw) = &mut state.editor {
            return draw();
        }
        let fresh = std::mem::take(&mut state.fresh);
        let out = state.compose(&fresh, &self.style);
        let out = match state.prompt.as_str() {
            "" => out,
            _ if out.is_empty() => out,
            prompt => format!("\n{out}{prompt}"),
        };
        self.write(&out);
    }

    fn write(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut out = self.out.lock().unwrap();
        let written = out.write_all(text.as_bytes());
        match written.and_then(|()| out.flush()) {
            Ok(()) => {}
            // The answer goes to a file that cannot hold it.
            Err(error) if error.kind() == io::ErrorKind::StorageFull => self.leave(1),
            // Nobody reads any more, as behind `| head`: that is no failure.
            Err(_) => self.leave(0),
        }
    }
}

impl State {
    fn wait_for(&mut self, what: Option<String>) {
        if self.awaited.as_ref().map(|(awaited, _)| awaited) != what.as_ref() {
            self.awaited = what.map(|what| (what, Instant::now()));
            self.note.clear();
        }
    }

    fn wait_for_tool(&mut self) {
        let next = self.running.first();
        self.wait_for(next.map(|(_, name)| format!("running {name}")));
    }

    /// The sign of life that is due.
    fn life(&self, style: &Style) -> Option<String> {
        let (what, since) = self.awaited.as_ref()?;
        let silent_since = self.wrote.map_or(*since, |wrote| wrote.max(*since));
        let waits_for_user = self.asks || !self.prompt.is_empty();
        if !style.can_move || waits_for_user || silent_since.elapsed() < SILENCE {
            return None;
        }
        let frame = since.elapsed().as_millis() / TICK.as_millis();
        let frame = FRAMES[usize::try_from(frame).unwrap_or_default() % FRAMES.len()];
        let seconds = format!(" {}s", since.elapsed().as_secs());
        // A terminal wraps when its last column is full, and then nothing can be taken back.
        let room = style.columns().saturating_sub(seconds.len() + 3);
        let line = text::cut(&format!("{what}{}", self.note), room).into_owned();
        Some(style.paint(Paint::Dim, &format!("{frame} {line}{seconds}")))
    }

    /// What takes the rows below the text off the screen, goes on with it, and draws them again.
    fn compose(&mut self, fresh: &str, style: &Style) -> String {
        let columns = style.columns();
        let mut out = String::new();
        if self.below > 0 {
            if self.column >= columns {
                // The line is full: it goes on in the next row.
                self.column = 0;
                self.below -= 1;
            }
            if self.below > 0 {
                out.push_str(&format!("\x1b[{}A", self.below));
            }
            out.push('\r');
            if self.column > 0 {
                out.push_str(&format!("\x1b[{}C", self.column));
            }
            out.push_str("\x1b[J");
        }
        out.push_str(fresh);
        self.column = text::advance(fresh, (0, self.column), columns).1;
        let life = self.life(style);
        self.shows_life = life.is_some();
        self.below = 0;
        if self.column > 0 && (life.is_some() || self.editor.is_some()) {
            out.push('\n');
            self.below += 1;
        }
        if let Some(life) = life {
            out.push_str(&format!("{life}\n"));
            self.below += 1;
        }
        out
    }
}

#[cfg(test)]
mod tests;
