//! The screen: the one place that writes to standard output.
//!
//! A model streams, tools report, teammates talk, a spinner turns and a prompt stands open, all on one terminal.
//! Invariants: two speakers never share a line; nothing is written into an open prompt, it is held until the prompt is
//! out of the way; a spinner is gone before anything is printed; when nobody reads any more the session ends quietly.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::style::{Paint, Style};
use super::text;
use super::wires::Wires;

const TICK: Duration = Duration::from_millis(100);

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
    prompt_open: bool,
    /// Whole lines that wait for the end of the prompt or of the line.
    held: String,
    /// What the user waits for, and the spinner that says so.
    waiting_for: Option<String>,
    spinner: Option<ProgressBar>,
    /// Id and name of the calls without a result.
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
    pub fn print(&self, lines: &str) -> bool {
        self.lock().lines(self, lines)
    }

    /// Prints whole lines. Says whether they are held back by an open prompt.
    pub fn lines(&self, lines: &str) -> bool {
        !self.is_quiet() && self.print(lines)
    }

    /// Prints a piece of the main speaker's text as it comes; by whole lines, with the rest in `partial`, while a prompt
    /// is open. Says whether something is held back by an open prompt.
    pub fn text(&self, piece: &str, partial: &mut String) -> bool {
        if self.is_quiet() {
            return false;
        }
        let mut state = self.lock();
        state.wait_for(self, None);
        partial.push_str(piece);
        let whole = partial.rfind('\n').map_or(0, |newline| newline + 1);
        if state.prompt_open {
            let lines: String = partial.drain(..whole).collect();
            state.held.push_str(&lines);
            return !lines.is_empty();
        }
        let rest = partial.split_off(whole);
        let mut out = std::mem::take(partial);
        if whole > 0 {
            out.push_str(&std::mem::take(&mut state.held));
        }
        state.mid_line = !rest.is_empty() || state.mid_line && whole == 0;
        state.put(self, &(out + &rest));
        state.last_call = None;
        false
    }

    /// Ends the main speaker's line, if there is one.
    pub fn end_line(&self, partial: &mut String) -> bool {
        let rest = std::mem::take(partial);
        self.lock().end_line(self);
        !rest.is_empty() && self.lines(&rest)
    }

    /// Prints the line of a call; the main speaker's calls are what the user waits for next.
    pub fn call(&self, id: &str, line: &str, runs: Option<&str>) -> bool {
        if self.is_quiet() {
            return false;
        }
        let mut state = self.lock();
        let held = state.lines(self, line);
        state.last_call = Some(id.to_owned());
        if let Some(name) = runs {
            state.running.push((id.to_owned(), name.to_owned()));
        }
        held
    }

    /// Prints a result below its call, with the label in front unless the call is the last thing printed.
    pub fn result(&self, id: &str, label: &str, lines: &str) -> bool {
        if self.is_quiet() {
            return false;
        }
        let mut state = self.lock();
        let follows = state.last_call.as_deref() == Some(id);
        let held = match follows {
            true => state.lines(self, lines),
            false => state.lines(self, &format!("{label}\n{lines}")),
        };
        state.running.retain(|(running, _)| running != id);
        state.wait_for_tool(self);
        held
    }

    /// A request is under way.
    pub fn wait_for_model(&self) {
        self.lock()
            .wait_for(self, Some("waiting for the model".to_owned()));
    }

    /// The request is over: its calls run now, if it had any.
    pub fn wait_for_tool(&self) {
        self.lock().wait_for_tool(self);
    }

    /// The turn is over.
    pub fn idle(&self) {
        let mut state = self.lock();
        state.end_line(self);
        state.running.clear();
        state.wait_for(self, None);
    }

    /// A prompt is about to be drawn: everything printed is held from now on.
    pub fn open_prompt(&self) {
        let mut state = self.lock();
        state.end_line(self);
        state.prompt_open = true;
        state.show_spinner(self);
    }

    /// The prompt, which took this many rows, is to vanish; what was held is printed.
    pub fn close_prompt(&self, rows: usize) {
        let mut state = self.lock();
        state.prompt_open = false;
        state.put(self, &format!("\x1b[{rows}A\r\x1b[J"));
        state.release(self);
        state.show_spinner(self);
    }

    /// Prints a prompt where no line editor does it. The user's Enter ends the line.
    pub fn plain_prompt(&self, prompt: &str) {
        let mut state = self.lock();
        state.end_line(self);
        state.put(self, prompt);
    }

    /// Sends the terminal itself a command.
    pub fn command(&self, command: &str) {
        self.lock().put(self, command);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    fn lines(&mut self, screen: &Screen, lines: &str) -> bool {
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
            self.put(screen, &held);
        }
    }

    fn end_line(&mut self, screen: &Screen) {
        if std::mem::take(&mut self.mid_line) {
            self.put(screen, "\n");
        }
        if !self.prompt_open {
            self.release(screen);
        }
    }

    fn wait_for_tool(&mut self, screen: &Screen) {
        let next = self.running.first();
        let next = next.map(|(_, name)| format!("running {}", text::one_line(name)));
        self.wait_for(screen, next);
    }

    fn wait_for(&mut self, screen: &Screen, what: Option<String>) {
        if self.waiting_for != what {
            self.waiting_for = what;
            self.hide_spinner();
        }
        self.show_spinner(screen);
    }

    /// Shows the spinner when there is something to wait for and room to say so; hides it when not.
    fn show_spinner(&mut self, screen: &Screen) {
        let Some(what) = self.waiting_for.clone() else {
            return self.hide_spinner();
        };
        if self.prompt_open || self.mid_line {
            return self.hide_spinner();
        }
        if self.spinner.is_some() || !screen.style.can_move() || screen.is_quiet() {
            return;
        }
        let style = screen.style.paint(Paint::Dim, "{spinner} {msg} {elapsed}");
        let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout())
            .with_style(ProgressStyle::with_template(&style).expect("the template is constant"))
            .with_message(what);
        spinner.enable_steady_tick(TICK);
        self.spinner = Some(spinner);
    }

    fn hide_spinner(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }

    fn put(&mut self, screen: &Screen, text: &str) {
        if self.mid_line {
            self.hide_spinner();
        }
        let write = || {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        };
        let written = match &self.spinner {
            Some(spinner) => spinner.suspend(write),
            None => write(),
        };
        if written.is_err() {
            // Nobody reads any more, as behind `| head`: that is no failure.
            screen.wires.leave(0);
        }
    }
}
