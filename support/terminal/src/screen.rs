//! The screen: the one place that writes to standard output.
//!
//! A model streams, tools report, teammates talk, a spinner turns and a prompt stands open, all on one terminal.
//! Invariants: two speakers never share a line; nothing is written into an open prompt, it is held until the prompt is
//! out of the way; when nobody reads any more the session ends quietly.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::spinner::Spinner;
use crate::style::Style;
use crate::text;
use crate::wires::Wires;
use crate::wrap::{Wrap, wrapped};

/// Whether something is held back by an open prompt, which should close for a moment.
pub type Held = bool;

/// Standard output.
pub struct Screen {
    pub style: Style,
    quiet: AtomicBool,
    wires: Arc<Wires>,
    /// Never held across an await.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The main speaker has begun a line and not ended it.
    mid_line: bool,
    /// That line, as far as it has come.
    wrap: Wrap,
    prompt_open: bool,
    /// Whole lines that wait for the end of the prompt or of the line.
    held: String,
    spinner: Spinner,
    /// Id and name of the main speaker's calls that have no result.
    running: Vec<(String, String)>,
    /// The call that was printed last, if nothing was printed since.
    last_call: Option<String>,
}

impl Screen {
    pub fn new(wires: Arc<Wires>) -> Self {
        Self {
            style: Style::of_stdout(),
            quiet: AtomicBool::new(false),
            wires,
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
    pub fn print(&self, lines: &str) -> Held {
        self.state().lines(self, lines)
    }

    /// Prints whole lines.
    pub fn lines(&self, lines: &str) -> Held {
        !self.is_quiet() && self.print(lines)
    }

    /// Prints a piece of the main speaker's text as it comes; while a prompt is open by whole lines, with the rest in
    /// `partial`.
    pub fn text(&self, piece: &str, partial: &mut String) -> Held {
        if self.is_quiet() {
            return false;
        }
        let mut state = self.state();
        state.spinner.wait_for(None);
        state.last_call = None;
        partial.push_str(piece);
        let whole = partial.rfind('\n').map_or(0, |newline| newline + 1);
        let rest = partial.split_off(whole);
        let mut out = std::mem::replace(partial, rest);
        if state.prompt_open {
            state.held.push_str(&out);
            return !out.is_empty();
        }
        let columns = self.style.breaks_at();
        out = state.broken(&out, columns);
        if whole > 0 {
            state.mid_line = false;
            // What waited for the end of the line.
            out.push_str(&broken(std::mem::take(&mut state.held), columns));
        }
        state.mid_line |= !partial.is_empty();
        out.push_str(&state.broken(&std::mem::take(partial), columns));
        state.put(self, &out);
        false
    }

    /// Ends the main speaker's line, if there is one.
    pub fn end_line(&self, partial: &mut String) -> Held {
        let rest = std::mem::take(partial);
        self.state().end_line(self);
        !rest.is_empty() && self.lines(&rest)
    }

    /// Prints the line of a call. With a name the call is the main speaker's, and what the user waits for next.
    pub fn call(&self, id: &str, line: &str, name: Option<&str>) -> Held {
        let held = self.lines(line);
        let mut state = self.state();
        state.last_call = Some(id.to_owned());
        if let Some(name) = name {
            state.running.push((id.to_owned(), text::one_line(name)));
        }
        held
    }

    /// Prints whole lines below a call: its result still follows it, if nothing else was printed in between.
    pub fn below(&self, id: &str, lines: &str) -> Held {
        let follows = self.state().last_call.as_deref() == Some(id);
        let held = self.lines(lines);
        if follows {
            self.state().last_call = Some(id.to_owned());
        }
        held
    }

    /// How far a call is, if it is the one that the user waits for.
    pub fn progress(&self, id: &str, note: &str) {
        let state = self.state();
        if let Some((running, name)) = state.running.first()
            && running == id
        {
            let note = format!("running {name}: {note}");
            state.spinner.note(&note, &self.style);
        }
    }

    /// Prints a result below its call, with the label in front unless the call is what was printed last.
    pub fn result(&self, id: &str, label: &str, lines: &str) -> Held {
        let follows = {
            let mut state = self.state();
            state.running.retain(|(running, _)| running != id);
            state.wait_for_tool();
            state.last_call.as_deref() == Some(id)
        };
        let held = match follows {
            true => self.lines(lines),
            false => self.lines(&format!("{label}\n{lines}")),
        };
        self.state().show_spinner(self);
        held
    }

    /// A request is under way.
    pub fn wait_for_model(&self) {
        let mut state = self.state();
        state
            .spinner
            .wait_for(Some("waiting for the model".to_owned()));
        state.show_spinner(self);
    }

    /// The request is over: its calls run now, if it had any.
    pub fn wait_for_tool(&self) {
        let mut state = self.state();
        state.wait_for_tool();
        state.show_spinner(self);
    }

    /// The turn is over.
    pub fn idle(&self) {
        let mut state = self.state();
        state.running.clear();
        state.spinner.wait_for(None);
        state.end_line(self);
    }

    /// A prompt is about to be drawn: everything printed is held from now on.
    pub fn open_prompt(&self) {
        let mut state = self.state();
        state.end_line(self);
        state.prompt_open = true;
        state.spinner.hide();
    }

    /// The prompt, which took this many rows, is to vanish; what was held is printed.
    pub fn close_prompt(&self, rows: usize) {
        let mut state = self.state();
        state.prompt_open = false;
        state.put(self, &format!("\x1b[{rows}A\r\x1b[J"));
        state.release(self);
        state.show_spinner(self);
    }

    /// Prints a prompt where no line editor does it; everything else is held.
    pub fn open_plain_prompt(&self, prompt: &str) {
        self.open_prompt();
        self.command(prompt);
    }

    /// The prompt is over; `entered` when the user's Enter has ended its line.
    pub fn close_plain_prompt(&self, entered: bool) {
        let mut state = self.state();
        state.prompt_open = false;
        if !entered {
            state.put(self, "\n");
        }
        state.release(self);
    }

    /// Gives the terminal itself a command.
    pub fn command(&self, command: &str) {
        self.state().put(self, command);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    fn lines(&mut self, screen: &Screen, lines: &str) -> Held {
        self.last_call = None;
        self.held.push_str(lines);
        if !lines.ends_with('\n') {
            self.held.push('\n');
        }
        if !self.mid_line && !self.prompt_open {
            self.release(screen);
        }
        self.prompt_open
    }

    fn release(&mut self, screen: &Screen) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            self.put(screen, &broken(held, screen.style.breaks_at()));
        }
    }

    /// A piece of the main speaker's text, its lines broken where the terminal is too narrow.
    fn broken(&mut self, piece: &str, columns: Option<usize>) -> String {
        match columns {
            Some(columns) => self.wrap.feed(piece, columns),
            None => piece.to_owned(),
        }
    }

    fn end_line(&mut self, screen: &Screen) {
        if std::mem::take(&mut self.mid_line) {
            self.wrap = Wrap::default();
            self.put(screen, "\n");
        }
        if !self.prompt_open {
            self.release(screen);
        }
    }

    fn wait_for_tool(&mut self) {
        let next = self.running.first();
        let next = next.map(|(_, name)| format!("running {name}"));
        self.spinner.wait_for(next);
    }

    fn show_spinner(&mut self, screen: &Screen) {
        if !self.mid_line && !self.prompt_open && !screen.is_quiet() {
            self.spinner.show(&screen.style);
        }
    }

    fn put(&mut self, screen: &Screen, text: &str) {
        let written = self.spinner.beside(|| {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        });
        match written.map_err(|error| error.kind()) {
            Ok(()) => {}
            // The answer goes to a file that cannot hold it.
            Err(io::ErrorKind::StorageFull) => screen.wires.leave(1),
            // Nobody reads any more, as behind `| head`: that is no failure.
            Err(_) => screen.wires.leave(0),
        }
    }
}

/// Whole lines, broken where the terminal is too narrow.
fn broken(lines: String, columns: Option<usize>) -> String {
    match columns {
        Some(columns) => wrapped(&lines, columns),
        None => lines,
    }
}
