//! The screen: the one place that writes to standard output.
//!
//! A model streams, tools report, teammates talk and a prompt stands open, all on one terminal. Invariants: two speakers
//! never share a line; nothing is written into an open prompt, it is held until the prompt is out of the way; when nobody
//! reads any more the session ends quietly.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::footer::Footer;
use crate::keyboard::Keyboard;
use crate::style::Style;
use crate::text;

/// Standard output.
pub struct Screen {
    pub style: Style,
    quiet: AtomicBool,
    keyboard: Arc<Keyboard>,
    /// Never held across an await.
    state: Mutex<State>,
}

struct State {
    out: Box<dyn Write + Send>,
    /// How many columns the main speaker's unfinished line has on the screen.
    column: usize,
    /// What the main speaker has begun and cannot show, while a prompt is open.
    partial: String,
    prompt_open: bool,
    /// Whole lines that wait for the end of the prompt or of the line.
    held: String,
    footer: Footer,
    /// Id and name of the main speaker's calls that have no result.
    running: Vec<(String, String)>,
    /// The call that was printed last, if nothing was printed since.
    last_call: Option<String>,
}

/// What anybody prints.
impl Screen {
    pub fn new(keyboard: Arc<Keyboard>) -> Self {
        Self::on(keyboard, Style::of_stdout(), Box::new(io::stdout()))
    }

    fn on(keyboard: Arc<Keyboard>, style: Style, out: Box<dyn Write + Send>) -> Self {
        let state = State {
            out,
            column: 0,
            partial: String::new(),
            prompt_open: false,
            held: String::new(),
            footer: Footer::new(),
            running: Vec::new(),
            last_call: None,
        };
        Self {
            style,
            quiet: AtomicBool::new(false),
            keyboard,
            state: Mutex::new(state),
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
        self.release(state);
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
        if state
            .running
            .first()
            .is_some_and(|(running, _)| running == id)
        {
            state.footer.note(note);
        }
    }

    /// Prints a result below its call, with the label in front unless the call is what was printed last.
    pub fn result(&self, id: &str, label: &str, lines: &str) {
        let mut state = self.state();
        state.running.retain(|(running, _)| running != id);
        state.wait_for_tool();
        let follows = state.last_call.as_deref() == Some(id);
        drop(state);
        if follows {
            self.lines(lines)
        } else {
            self.lines(&format!("{label}\n{lines}"))
        }
    }
}

/// What the main speaker says, and what is awaited.
impl Screen {
    /// Prints a piece of the main speaker's text as it comes; while a prompt is open by whole lines.
    pub fn text(&self, piece: &str) {
        if self.is_quiet() {
            return;
        }
        let mut state = self.state();
        state.last_call = None;
        state.partial.push_str(piece);
        let whole = state.partial.rfind('\n').map_or(0, |newline| newline + 1);
        let rest = state.partial.split_off(whole);
        let mut out = std::mem::replace(&mut state.partial, rest);
        if state.prompt_open {
            state.held.push_str(&out);
            return self.release(state);
        }
        if whole > 0 {
            // What waited for the end of the line.
            out.push_str(&std::mem::take(&mut state.held));
        }
        out.push_str(&std::mem::take(&mut state.partial));
        self.put(&mut state, &out);
    }

    /// Ends the main speaker's line, if there is one.
    pub fn end_line(&self) {
        let mut state = self.state();
        let rest = std::mem::take(&mut state.partial);
        self.finish(&mut state);
        if rest.is_empty() {
            return self.release(state);
        }
        drop(state);
        self.lines(&rest);
    }

    /// A request is under way.
    pub fn wait_for_model(&self) {
        let what = "waiting for the model".to_owned();
        self.state().footer.wait_for(Some(what));
    }

    /// The request is over: its calls run now, if it had any.
    pub fn wait_for_tool(&self) {
        self.state().wait_for_tool();
    }

    /// The turn is over.
    pub fn idle(&self) {
        let mut state = self.state();
        state.running.clear();
        state.footer.wait_for(None);
        self.finish(&mut state);
        self.put(&mut state, "");
        self.release(state);
    }
}

/// The prompt and the footer.
impl Screen {
    /// A prompt is about to be drawn: everything printed is held from now on.
    pub fn open_prompt(&self) {
        let mut state = self.state();
        self.finish(&mut state);
        state.footer.typed("", "");
        self.put(&mut state, "");
        state.prompt_open = true;
    }

    /// The prompt, which took this many rows, is to vanish; what was held is printed.
    pub fn close_prompt(&self, rows: usize) {
        let mut state = self.state();
        state.prompt_open = false;
        let held = std::mem::take(&mut state.held);
        self.put(&mut state, &format!("\x1b[{rows}A\r\x1b[J{held}"));
    }

    /// The prompt is over where no line editor draws it; `entered` when the user's Enter has ended its line.
    pub fn close_plain_prompt(&self, entered: bool) {
        let mut state = self.state();
        state.prompt_open = false;
        if !entered {
            self.put(&mut state, "\n");
        }
        state.column = 0;
        self.release(state);
    }

    /// Gives the terminal itself a command, or a prompt.
    pub fn command(&self, command: &str) {
        self.write(&mut self.state(), command);
    }

    /// Shows what is typed while a turn runs, behind the prompt.
    pub fn typed(&self, prompt: &str, typed: &str) {
        self.state().footer.typed(prompt, typed);
        self.tick();
    }

    /// Draws the footer as it looks by now.
    pub fn tick(&self) {
        let mut state = self.state();
        if self.has_footer(&state) {
            self.put(&mut state, "");
        }
    }
}

impl Screen {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Ends the line that the main speaker has begun.
    fn finish(&self, state: &mut State) {
        if state.column > 0 {
            self.put(state, "\n");
        }
    }

    /// Prints what is held, unless a line is begun; an open prompt makes room for it.
    fn release(&self, mut state: MutexGuard<'_, State>) {
        let prompt_open = state.prompt_open;
        if !prompt_open && state.column == 0 {
            let held = std::mem::take(&mut state.held);
            if !held.is_empty() {
                self.put(&mut state, &held);
            }
        }
        drop(state);
        if prompt_open {
            self.keyboard.nudge();
        }
    }

    /// Prints above the footer.
    fn put(&self, state: &mut State, text: &str) {
        let State { footer, column, .. } = state;
        let mut out = footer.erase(column, &self.style) + text;
        if !text.is_empty() {
            footer.wrote();
        }
        *column = text::advance(text, (0, *column), self.style.columns()).1;
        if self.has_footer(state) {
            out += &state.footer.draw(state.column, &self.style);
        }
        self.write(state, &out);
    }

    fn has_footer(&self, state: &State) -> bool {
        self.style.can_move && !state.prompt_open && !self.is_quiet()
    }

    fn write(&self, state: &mut State, text: &str) {
        if text.is_empty() {
            return;
        }
        let written = state.out.write_all(text.as_bytes());
        match written.and_then(|()| state.out.flush()) {
            Ok(()) => {}
            // The answer goes to a file that cannot hold it.
            Err(error) if error.kind() == io::ErrorKind::StorageFull => self.keyboard.leave(1),
            // Nobody reads any more, as behind `| head`: that is no failure.
            Err(_) => self.keyboard.leave(0),
        }
    }
}

impl State {
    fn wait_for_tool(&mut self) {
        let next = self.running.first();
        let next = next.map(|(_, name)| format!("running {name}"));
        self.footer.wait_for(next);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;
    use crate::state::Input;

    /// A terminal of 20 columns.
    #[derive(Clone)]
    struct Emulator(Arc<Mutex<vt100::Parser>>);

    impl Write for Emulator {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8_lossy(bytes).replace('\n', "\r\n");
            self.0.lock().unwrap().process(text.as_bytes());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Emulator {
        fn shows(&self) -> String {
            let screen = self.0.lock().unwrap();
            let rows: Vec<String> = screen.screen().rows(0, 20).collect();
            rows.join("\n").trim_end().to_owned()
        }
    }

    fn screen() -> (Screen, Emulator) {
        let (rows, columns) = (10.try_into().unwrap(), 20.try_into().unwrap());
        let emulator = Emulator(Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0))));
        let (keyboard, _) = Keyboard::new(Input::Pipe).unwrap();
        let out = Box::new(emulator.clone());
        let style = Style {
            width: Some(20),
            colours: false,
            can_move: true,
        };
        (Screen::on(Arc::new(keyboard), style, out), emulator)
    }

    #[tokio::test(start_paused = true)]
    async fn silence_shows_a_sign_of_life_and_what_comes_next_takes_it_away() {
        let (screen, terminal) = screen();
        screen.wait_for_model();
        for (millis, shown) in [
            (400, ""),
            (100, "⠴ waiting for t… 0s"),
            (1_600, "⠙ waiting for t… 2s"),
        ] {
            advance(Duration::from_millis(millis)).await;
            screen.tick();
            assert_eq!(terminal.shows(), shown);
        }
        // Half a line, a line that is full, and one that the terminal wraps.
        for said in [
            "I will",
            " write the file",
            "s, all of them at once. ",
            "世界",
        ] {
            screen.text(said);
            let before = terminal.shows();
            assert!(!before.contains("waiting"), "{before}");
            advance(Duration::from_millis(500)).await;
            screen.tick();
            let silent = terminal.shows();
            assert!(
                silent.starts_with(&format!("{before}\n⠙ wai")) || silent.contains("\n"),
                "{silent}"
            );
        }
        screen.typed("> ", "half a line that is long");
        screen.text("!\n");
        assert_eq!(
            terminal.shows(),
            "I will write the fil\nes, all of them at o\nnce. 世界!\n> …ine that is long"
        );
        screen.call("1", "> make", Some("make"));
        screen.wait_for_tool();
        advance(Duration::from_millis(500)).await;
        screen.progress("1", "3 of 4");
        screen.tick();
        assert!(
            terminal.shows().contains("running make:… 0s\n> …"),
            "{}",
            terminal.shows()
        );
        screen.result("1", "< make", "  done");
        screen.typed("", "");
        screen.idle();
        assert!(
            terminal.shows().ends_with("世界!\n> make\n  done"),
            "{}",
            terminal.shows()
        );
    }
}
