//! The thread that owns a terminal with a line editor.
//!
//! It edits a line with rustyline while a prompt or a question is open, and takes keys itself during a turn. The kernel's
//! own line editing would be less code there, but it hides the half-typed line, which is to stay visible while a turn
//! prints above it, and cannot tell Esc from an arrow key. Invariant: the terminal's mode is put back when the thread
//! ends, in whatever way it ends.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{self, SetArg, Termios};
use nix::unistd::{Pid, read};
use rustyline::ExternalPrinter;
use rustyline::error::ReadlineError;

use crate::editor::{self, ESCAPE_MILLIS, LineEditor};
use crate::keyboard::Keyboard;
use crate::keys::Keys;
use crate::screen::Screen;
use crate::state::{Key, Mode, State};
use crate::style::Paint;
use crate::{Program, history, is_goodbye, text};

/// Enables bracketed paste, so that pasted newlines do not submit the line; rustyline does the same for itself.
const PASTE_MARKS: &str = "\x1b[?2004h";
const NO_PASTE_MARKS: &str = "\x1b[?2004l";
/// How long a stop signal may take to arrive.
const STOPPING: Duration = Duration::from_millis(50);
const EXIT_HINT: &str = "(Ctrl-D, q or exit leaves)";

/// A terminal, ready to be read from.
pub struct Reader {
    keyboard: Arc<Keyboard>,
    screen: Arc<Screen>,
    program: Program,
    editor: LineEditor,
    /// Whether lines can be written down.
    keeps_history: bool,
    /// Never printed to: while it exists, rustyline waits for signals wherever they arrive, and not only for keys.
    _printer: Box<dyn ExternalPrinter + Send>,
    /// Keys pressed during a turn.
    keys: Keys,
    /// The newest question that was shown.
    asked: u64,
    /// The mode that was found, put back when this drops, and the one in which keys are read as they are pressed and not
    /// shown. Output stays as it is.
    original: Termios,
    raw: Termios,
}

impl Reader {
    /// Takes the terminal over; `None` when it cannot be used.
    pub fn open(
        keyboard: &Arc<Keyboard>,
        screen: &Arc<Screen>,
        program: &Program,
        words: Vec<&'static str>,
    ) -> Option<Self> {
        let mut editor = editor::open(keyboard, screen, words).ok()?;
        let printer = editor.create_external_printer().ok()?;
        // Typed before the program started, in the mode of the shell: whole lines, whose Enter is a newline by now.
        while is_readable(0) {
            match chunk() {
                Some(line) => keyboard.with(|state| {
                    let line = String::from_utf8_lossy(&line);
                    line.lines().for_each(|line| state.accept(line.to_owned()));
                }),
                None => break,
            }
        }
        history::load(program, &mut editor);
        let original = termios::tcgetattr(io::stdin()).ok()?;
        let mut raw = original.clone();
        termios::cfmakeraw(&mut raw);
        raw.output_flags = original.output_flags;
        set(&raw).ok()?;
        Some(Self {
            original,
            raw,
            keyboard: keyboard.clone(),
            screen: screen.clone(),
            program: program.clone(),
            editor,
            keeps_history: true,
            _printer: Box::new(printer),
            keys: Keys::default(),
            asked: 0,
        })
    }

    /// Works until it shall quit.
    pub fn serve(mut self, woken: &UnixStream) {
        loop {
            match self.keyboard.next(woken) {
                Mode::Quit => return self.screen.typed("", ""),
                Mode::Turn => self.watch(woken),
                Mode::Prompt => self.edit(),
                Mode::Question(number) => {
                    // What was typed before the question was seen is no answer to it.
                    if self.asked < number && is_readable(0) {
                        self.take_keys();
                    }
                    self.asked = number;
                    self.edit();
                }
            }
            self.remember();
        }
    }

    /// Opens the prompt and closes it again. What the user did meanwhile is noted in the state.
    fn edit(&mut self) {
        let (question, draft) = self.keyboard.with(State::prompt_and_draft);
        let prompt = question.unwrap_or_else(|| self.program.prompt.clone());
        self.screen.open_prompt();
        let end = self
            .editor
            .readline_with_initial(prompt.as_str(), (&draft.left, &draft.right));
        let (key, shown) = self
            .keyboard
            .with(|state| (state.key.take(), std::mem::take(&mut state.shown)));
        let rows = text::rows(&(prompt + &shown), self.screen.style.columns());
        self.screen.close_prompt(rows);
        match key {
            Some(Key::Suspend) => self.suspend(),
            Some(Key::Interrupt) => self.remark(EXIT_HINT),
            Some(Key::Enter | Key::End) | None => {}
        }
        self.keyboard.with(|state| {
            state.closed();
            match end {
                // As our own signal ends it.
                Err(ReadlineError::Interrupted | ReadlineError::Errno(Errno::EINTR)) => {}
                // A byte that is no UTF-8: it is dropped, the line stays.
                Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {}
                Err(_) => state.gone(),
                Ok(line) => state.pressed(Key::Enter, &line),
            }
        });
    }

    /// Takes keys until woken, and shows what is typed below what the turn prints.
    fn watch(&mut self, woken: &UnixStream) {
        self.show_typed();
        self.screen.command(PASTE_MARKS);
        let stdin = io::stdin();
        loop {
            let mut ready = [
                PollFd::new(woken.as_fd(), PollFlags::POLLIN),
                PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
            ];
            let is_open = !self.keyboard.with(|state| state.gone);
            let polled = poll(&mut ready[..=usize::from(is_open)], PollTimeout::NONE);
            let [wakes, typed] = ready.map(|fd| fd.any().unwrap_or(false));
            match polled {
                Ok(_) if wakes => return,
                Ok(_) if typed => self.take_keys(),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => self.keyboard.with(State::gone),
            }
        }
    }

    fn take_keys(&mut self) {
        let keys = &mut self.keys;
        match chunk() {
            Some(bytes) => self.keyboard.with(|state| keys.feed(&bytes, state)),
            None => return self.keyboard.with(State::gone),
        }
        // Esc is the beginning of other keys, whose rest comes with it.
        if keys.is_escape() && !is_readable(ESCAPE_MILLIS) {
            self.keyboard.with(|state| keys.escape(state));
        }
        self.show_typed();
    }

    fn show_typed(&self) {
        let typed = self.keyboard.with(|state| {
            // Who waits for a line has it in a moment.
            let lines = state.lines.iter().skip(state.readers);
            let lines = lines.map(|line| format!("{line} ⏎ "));
            lines.collect::<String>() + &state.draft.left + &state.draft.right
        });
        let prompt = self.screen.style.paint(Paint::Prompt, &self.program.prompt);
        self.screen.typed(&prompt, &typed);
    }

    /// Stops this program, and those it runs under, until the shell wakes them.
    fn suspend(&self) {
        self.leave();
        // The whole group, as the terminal would: `cargo run` has to stop too, or the shell waits for it.
        let _ = kill(Pid::from_raw(0), Signal::SIGTSTP);
        // The signal may stop this thread a moment after the call returns; the terminal is the shell's by then.
        thread::sleep(STOPPING);
        let _ = set(&self.raw);
    }

    /// Puts the mode back that was found. A terminal that has gone needs none.
    fn leave(&self) {
        self.screen.command(NO_PASTE_MARKS);
        let _ = set(&self.original);
    }

    /// Adds new requests to the history.
    fn remember(&mut self) {
        let fresh = self.keyboard.with(|state| std::mem::take(&mut state.fresh));
        for line in fresh.into_iter().filter(|line| !is_goodbye(line)) {
            let is_new = self.editor.add_history_entry(&line).unwrap_or(false);
            if is_new && !line.trim().is_empty() && self.keeps_history {
                let kept = history::keep(&self.program, &mut self.editor);
                if let Err(error) = kept {
                    self.keeps_history = false;
                    self.remark(&format!("(the history is not kept: {error:#})"));
                }
            }
        }
    }

    fn remark(&self, remark: &str) {
        self.screen
            .lines(&self.screen.style.paint(Paint::Dim, remark));
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.leave();
    }
}

fn set(mode: &Termios) -> nix::Result<()> {
    termios::tcsetattr(io::stdin(), SetArg::TCSADRAIN, mode)
}

/// Whether something can be read within so many milliseconds.
fn is_readable(millis: u16) -> bool {
    let stdin = io::stdin();
    let mut ready = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    poll(&mut ready, PollTimeout::from(millis)).is_ok_and(|count| count > 0)
}

/// What can be read now; `None` at the end of the input.
fn chunk() -> Option<Vec<u8>> {
    let mut bytes = vec![0; 1024];
    match read(io::stdin(), &mut bytes) {
        Ok(count @ 1..) => bytes.truncate(count),
        Err(Errno::EINTR | Errno::EAGAIN) => bytes.clear(),
        Ok(_) | Err(_) => return None,
    }
    Some(bytes)
}
