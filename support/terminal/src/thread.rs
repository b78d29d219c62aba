//! The thread that owns a terminal's keyboard.
//!
//! It does one thing at a time: edit a line, or keep what is typed while nobody asks. Invariant: the terminal's mode is
//! put back when the thread ends, in whatever way it ends.

use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{
    self, FlushArg, InputFlags, LocalFlags, SetArg, SpecialCharacterIndices, Termios,
};
use nix::unistd::{Pid, read};
use rustyline::ExternalPrinter;
use rustyline::error::ReadlineError;

use crate::desk::{Desk, Key, Wanted};
use crate::editor::{self, LineEditor};
use crate::history::History;
use crate::keyboard::Keyboard;
use crate::screen::Screen;
use crate::style::Paint;
use crate::text;
use crate::typeahead::Draft;
use crate::{Program, is_goodbye};

/// Pasted text comes with marks around it, so that its newlines are no Enter.
const PASTE_MARKS: &str = "\x1b[?2004h";
const NO_PASTE_MARKS: &str = "\x1b[?2004l";
/// How long a stop signal may take to arrive.
const STOPPING: Duration = Duration::from_millis(50);
const EXIT_HINT: &str = "(Ctrl-D, q or exit leaves)";

/// A terminal, ready to be read from.
pub struct KeyboardThread {
    keyboard: Arc<Keyboard>,
    screen: Arc<Screen>,
    prompt: String,
    editor: LineEditor,
    history: History,
    /// Never printed to: while it exists, rustyline waits for signals wherever they arrive, and not only for keys.
    _printer: Box<dyn ExternalPrinter + Send>,
    /// The newest question that was shown.
    asked: u64,
    /// Whether pastes come with marks while nothing is edited; the editor switches them off when it closes.
    paste_marks: bool,
    /// Put back when this drops; `None` when the keyboard is not watched during turns.
    mode: Option<Mode>,
}

impl KeyboardThread {
    /// Takes the terminal over; `None` when it cannot be used.
    pub fn open(
        keyboard: &Arc<Keyboard>,
        screen: &Arc<Screen>,
        program: &Program,
        words: Vec<&'static str>,
        watched: bool,
    ) -> Option<Self> {
        let mut editor = editor::open(keyboard, screen, words).ok()?;
        let printer = editor.create_external_printer().ok()?;
        let mode = watched.then(|| Mode::enter(screen.clone()));
        Some(Self {
            mode: mode.transpose().ok()?,
            keyboard: keyboard.clone(),
            screen: screen.clone(),
            prompt: program.prompt.clone(),
            history: History::open(program, &mut editor),
            editor,
            _printer: Box::new(printer),
            asked: 0,
            paste_marks: false,
        })
    }

    /// Works until it shall quit.
    pub fn serve(mut self, mut wake: PipeReader) {
        loop {
            match self.keyboard.next(&mut wake) {
                Wanted::Quit => return,
                Wanted::Nothing => self.watch(&wake),
                Wanted::Line => self.edit(),
                Wanted::Answer(number) => {
                    if self.asked < number {
                        self.asked = number;
                        self.keep_what_was_typed_before();
                    }
                    self.edit();
                }
            }
            self.remember();
        }
    }

    /// Opens the prompt and closes it again. What the user did meanwhile is noted on the desk.
    fn edit(&mut self) {
        let (question, Draft { left, right }) = self.keyboard.prompt_and_draft();
        let prompt = question.unwrap_or_else(|| self.prompt.clone());
        self.screen.open_prompt();
        let end = self
            .editor
            .readline_with_initial(prompt.as_str(), (&left, &right));
        self.paste_marks = false;
        let (shown, looks_for_exit, suspends) = self.keyboard.desk(|desk| {
            let shown = std::mem::take(&mut desk.shown);
            let looks_for_exit = std::mem::take(&mut desk.looks_for_exit);
            (shown, looks_for_exit, std::mem::take(&mut desk.suspends))
        });
        let rows = text::rows(&(prompt + &shown), self.screen.style.columns());
        self.screen.close_prompt(rows);
        if looks_for_exit {
            self.screen
                .lines(&self.screen.style.paint(Paint::Dim, EXIT_HINT));
        }
        if suspends {
            self.suspend();
        }
        self.keyboard.closed();
        match end {
            // As our own signal ends it.
            Err(ReadlineError::Interrupted | ReadlineError::Errno(Errno::EINTR)) => {}
            // A byte that is no UTF-8: it is dropped, the line stays.
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {}
            Err(_) => self.keyboard.desk(Desk::gone),
            Ok(line) => _ = self.keyboard.desk(|desk| desk.ended(Key::Enter, &line)),
        }
    }

    /// Waits for keys and keeps what is typed, until woken.
    fn watch(&mut self, wake: &PipeReader) {
        let watches = self.mode.is_some() && !self.keyboard.is_gone();
        if watches && !std::mem::replace(&mut self.paste_marks, true) {
            self.screen.command(PASTE_MARKS);
        }
        let stdin = io::stdin();
        let mut ready = [
            PollFd::new(wake.as_fd(), PollFlags::POLLIN),
            PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
        ];
        let polled = poll(&mut ready[..=usize::from(watches)], PollTimeout::NONE);
        let [_, typed] = ready.map(|fd| fd.any().unwrap_or(false));
        match polled {
            Ok(_) if typed => self.keep_what_was_typed(),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => self.keyboard.desk(Desk::gone),
        }
    }

    fn keep_what_was_typed(&self) {
        let mut bytes = [0; 1024];
        match read(io::stdin(), &mut bytes) {
            Ok(count @ 1..) => self.keyboard.typed(&bytes[..count]),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Ok(_) | Err(_) => self.keyboard.desk(Desk::gone),
        }
    }

    /// What was typed before the question was seen is no answer to it. It is kept for later; or dropped, when there is
    /// no later because this process runs a single turn.
    fn keep_what_was_typed_before(&self) {
        let stdin = io::stdin();
        let mut ready = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        if self.mode.is_none() {
            // It fails only where there is nothing to drop.
            let _ = termios::tcflush(io::stdin(), FlushArg::TCIFLUSH);
        } else if poll(&mut ready, PollTimeout::ZERO).is_ok_and(|count| count > 0) {
            self.keep_what_was_typed();
        }
    }

    /// Stops this program, and those it runs under, until the shell wakes them.
    fn suspend(&self) {
        if let Some(mode) = &self.mode {
            mode.leave();
        }
        // The whole group, as the terminal would: `cargo run` has to stop too, or the shell waits for it.
        let _ = kill(Pid::from_raw(0), Signal::SIGTSTP);
        // The signal may stop this thread a moment after the call returns; the terminal is the shell's by then.
        thread::sleep(STOPPING);
        if let Some(mode) = &self.mode {
            let _ = mode.set(&mode.watching);
        }
    }

    /// Adds new requests to the history.
    fn remember(&mut self) {
        let fresh = self
            .keyboard
            .desk(|desk| std::mem::take(&mut desk.typed.fresh));
        for line in fresh.into_iter().filter(|line| !is_goodbye(line)) {
            if let Err(error) = self.history.add(&mut self.editor, &line) {
                let notice = format!("(the history is not kept: {error:#})");
                self.screen
                    .lines(&self.screen.style.paint(Paint::Dim, &notice));
            }
        }
    }
}

/// The mode of a terminal whose keys are read as they are pressed and not shown. Output stays as it is.
struct Mode {
    original: Termios,
    watching: Termios,
    screen: Arc<Screen>,
}

impl Mode {
    fn enter(screen: Arc<Screen>) -> nix::Result<Self> {
        let original = termios::tcgetattr(io::stdin())?;
        let mut watching = original.clone();
        watching.local_flags &=
            !(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG | LocalFlags::IEXTEN);
        watching.input_flags &= !(InputFlags::ICRNL | InputFlags::IXON);
        watching.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
        watching.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        let mode = Self {
            original,
            watching,
            screen,
        };
        mode.set(&mode.watching)?;
        Ok(mode)
    }

    fn set(&self, mode: &Termios) -> nix::Result<()> {
        termios::tcsetattr(io::stdin(), SetArg::TCSADRAIN, mode)
    }

    /// Puts the mode back that was found. A terminal that has gone needs none.
    fn leave(&self) {
        self.screen.command(NO_PASTE_MARKS);
        let _ = self.set(&self.original);
    }
}

impl Drop for Mode {
    fn drop(&mut self) {
        self.leave();
    }
}
