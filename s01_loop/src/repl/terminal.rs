//! The thread that owns a terminal's keyboard.
//!
//! It does one thing at a time: edit a line, or keep what is typed while nobody asks. Invariant: the terminal's mode is
//! put back when the thread ends, in whatever way it ends.

use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{
    self, FlushArg, InputFlags, LocalFlags, SetArg, SpecialCharacterIndices, Termios,
};
use nix::unistd::read;
use rustyline::ExternalPrinter;
use rustyline::error::ReadlineError;

use super::editor::{self, LineEditor};
use super::history::History;
use super::keyboard::{Input, Keyboard, Wanted};
use super::screen::Screen;
use super::style::Paint;
use super::text;
use super::typeahead::Draft;

/// Pasted text comes with marks around it, so that its newlines are no Enter.
const PASTE_MARKS: &str = "\x1b[?2004h";
const NO_PASTE_MARKS: &str = "\x1b[?2004l";
const EXIT_HINT: &str = "(Ctrl-D, q or exit leaves)";

/// A terminal, ready to be read from.
pub struct Terminal {
    keyboard: Arc<Keyboard>,
    screen: Arc<Screen>,
    prompt: String,
    editor: LineEditor,
    history: History,
    /// Never printed to: while it exists, rustyline waits for signals wherever they arrive, and not only for keys.
    _printer: Box<dyn ExternalPrinter + Send>,
    wake: PipeReader,
    /// The newest question that was shown.
    asked: u64,
    /// Whether pastes come with marks while nothing is edited; the editor switches them off when it closes.
    paste_marks: bool,
    /// Put back when this drops; `None` when the keyboard is not watched during turns.
    mode: Option<Mode>,
}

impl Terminal {
    /// Takes the terminal over, or gives the wake pipe back when it cannot be used.
    pub fn open(
        keyboard: &Arc<Keyboard>,
        screen: &Arc<Screen>,
        prompt: &str,
        harness: &Path,
        wake: PipeReader,
    ) -> Result<Self, PipeReader> {
        let watched = keyboard.input() == Input::Terminal { watched: true };
        let Ok(mut editor) = editor::open(keyboard, screen) else {
            return Err(wake);
        };
        let Ok(printer) = editor.create_external_printer() else {
            return Err(wake);
        };
        let mode = match watched.then(|| Mode::enter(screen.clone())).transpose() {
            Ok(mode) => mode,
            Err(_) => return Err(wake),
        };
        if watched {
            keyboard.wires.ctrl_c_is_a_key();
        }
        let history = History::open(harness, &mut editor);
        Ok(Self {
            keyboard: keyboard.clone(),
            screen: screen.clone(),
            prompt: prompt.to_owned(),
            editor,
            history,
            _printer: Box::new(printer),
            wake,
            asked: 0,
            paste_marks: false,
            mode,
        })
    }

    /// Works until it shall quit.
    pub fn serve(mut self) {
        loop {
            match self.keyboard.next() {
                Wanted::Quit => return,
                Wanted::Nothing => self.watch(PollTimeout::NONE),
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
        let (prompt, Draft { left, right }) = {
            let mut desk = self.keyboard.desk();
            let prompt = desk.question_prompt();
            let prompt = prompt.unwrap_or_else(|| self.prompt.clone());
            (prompt, desk.draft().cloned().unwrap_or_default())
        };
        self.screen.open_prompt();
        let end = self
            .editor
            .readline_with_initial(prompt.as_str(), (&left, &right));
        self.paste_marks = false;
        let (shown, hint) = {
            let mut desk = self.keyboard.desk();
            (desk.shown.clone(), std::mem::take(&mut desk.looks_for_exit))
        };
        self.screen
            .close_prompt(text::rows(&(prompt + &shown), self.screen.style.columns()));
        if hint {
            self.screen
                .lines(&self.screen.style.paint(Paint::Dim, EXIT_HINT));
        }
        self.keyboard.closed();
        match end {
            Ok(line) => self.keyboard.entered(&line),
            Err(ReadlineError::Interrupted | ReadlineError::Errno(Errno::EINTR)) => {}
            // A byte that is no UTF-8: it is dropped, the line stays.
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {}
            Err(_) => self.keyboard.gone(),
        }
    }

    /// Keeps what is typed until woken, or at most this long.
    fn watch(&mut self, timeout: PollTimeout) {
        let stdin = io::stdin();
        let mut ready = [
            PollFd::new(self.wake.as_fd(), PollFlags::POLLIN),
            PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
        ];
        let watches = self.mode.is_some() && !self.keyboard.desk().gone;
        if watches && !std::mem::replace(&mut self.paste_marks, true) {
            self.screen.command(PASTE_MARKS);
        }
        let polled = poll(&mut ready[..=usize::from(watches)], timeout);
        let [woken, typed] = ready.map(|fd| fd.any().unwrap_or(false));
        match polled {
            Ok(_) if woken => self.keyboard.awake(&mut self.wake),
            Ok(_) if typed => self.keep_what_was_typed(),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => self.keyboard.gone(),
        }
    }

    fn keep_what_was_typed(&self) {
        let mut bytes = [0; 1024];
        match read(io::stdin(), &mut bytes) {
            Ok(0) => self.keyboard.gone(),
            Ok(count) => self.keyboard.typed(&bytes[..count]),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(_) => self.keyboard.gone(),
        }
    }

    /// What was typed before the question was seen is no answer to it. It is kept for later; or dropped, when there is
    /// no later because this process runs a single turn.
    fn keep_what_was_typed_before(&mut self) {
        if self.mode.is_some() {
            self.watch(PollTimeout::ZERO);
        } else {
            // It fails only where there is nothing to drop.
            let _ = termios::tcflush(io::stdin(), FlushArg::TCIFLUSH);
        }
    }

    /// Adds new requests to the history.
    fn remember(&mut self) {
        let fresh = std::mem::take(&mut self.keyboard.desk().typed.fresh);
        for line in fresh {
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
    screen: Arc<Screen>,
}

impl Mode {
    fn enter(screen: Arc<Screen>) -> nix::Result<Self> {
        let original = termios::tcgetattr(io::stdin())?;
        let mut mode = original.clone();
        mode.local_flags &=
            !(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG | LocalFlags::IEXTEN);
        mode.input_flags &= !(InputFlags::ICRNL | InputFlags::IXON);
        mode.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
        mode.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        termios::tcsetattr(io::stdin(), SetArg::TCSADRAIN, &mode)?;
        Ok(Self { original, screen })
    }
}

impl Drop for Mode {
    fn drop(&mut self) {
        self.screen.command(NO_PASTE_MARKS);
        // A terminal that has gone needs no mode.
        let _ = termios::tcsetattr(io::stdin(), SetArg::TCSADRAIN, &self.original);
    }
}
