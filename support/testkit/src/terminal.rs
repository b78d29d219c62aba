//! A run of the binary on a real pseudo-terminal.
//!
//! Line editing, Ctrl-C and questions exist on a terminal only. A thread feeds an emulator with what the child writes,
//! and a test waits for what a person would see.
//! Invariant: waiting is woken by output or by the end of the child, never by a clock, until patience is out.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use tempfile::TempDir;
use vt100::Parser;

use super::kill_group;

/// A child on a terminal.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    shared: Arc<Shared>,
    leader: u32,
    /// The directory of the child lives as long as its terminal.
    _root: Arc<TempDir>,
}

/// A key that is no character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Return.
    Enter,
    /// Tabulator.
    Tab,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Interrupt.
    CtrlC,
    /// End of input.
    CtrlD,
    /// Redraw.
    CtrlL,
    /// Search backwards in the history.
    CtrlR,
    /// Suspend.
    CtrlZ,
}

/// What the threads and the test share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: Parser,
    /// The output is closed: nothing more will come.
    closed: bool,
    /// The exit code, once the child has ended.
    exited: Option<u32>,
}

/// Generous: a loaded machine must not fail a test.
const PATIENCE: Duration = Duration::from_secs(30);
/// Lines that scrolled off the screen and still count as shown.
const SCROLLBACK: usize = 10_000;

impl Terminal {
    pub(crate) fn start(
        exe: &Path,
        args: &[OsString],
        environment: &[(OsString, OsString)],
        (dir, root): (&Path, Arc<TempDir>),
        (cols, rows): (u16, u16),
    ) -> Self {
        let pty = native_pty_system().openpty(size(cols, rows)).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(exe);
        command.args(args);
        command.cwd(dir);
        command.env_clear();
        environment.iter().for_each(|(name, value)| command.env(name, value));
        let mut child = pty.slave.spawn_command(command).expect("the binary starts");
        let leader = child.process_id().expect("a running child has an id");
        let reader = pty.master.try_clone_reader().expect("the terminal can be read");
        let keyboard = pty.master.take_writer().expect("the terminal can be written to");
        let parser = Parser::new(not_zero(rows), not_zero(cols), SCROLLBACK);
        let state = State {
            parser,
            closed: false,
            exited: None,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let watched = Arc::clone(&shared);
        thread::spawn(move || watched.show(reader));
        let watched = Arc::clone(&shared);
        thread::spawn(move || {
            let code = child.wait().map_or(u32::MAX, |status| status.exit_code());
            watched.change(|state| state.exited = Some(code));
        });
        Self {
            master: pty.master,
            keyboard,
            shared,
            leader,
            _root: root,
        }
    }

    /// Types these characters; `\r` is the return key.
    pub fn type_text(&mut self, text: &str) -> &mut Self {
        self.send(text.as_bytes())
    }

    /// Types these characters and the return key.
    pub fn type_line(&mut self, line: &str) -> &mut Self {
        self.type_text(line).press(Key::Enter)
    }

    /// Presses a key.
    pub fn press(&mut self, key: Key) -> &mut Self {
        self.send(key.bytes())
    }

    /// Waits until `below` stands on the screen under the first line that holds `above`.
    ///
    /// # Panics
    /// As [`Terminal::wait_for`].
    #[track_caller]
    pub fn wait_for_below(&mut self, above: &str, below: &str) -> &mut Self {
        self.wait_until(&format!("{below:?} below {above:?}"), |screen| {
            let rest = screen.split_once(above);
            rest.is_some_and(|(_, rest)| rest.contains(below))
        })
    }

    /// Waits until the screen, or what scrolled off it, shows this text.
    ///
    /// # Panics
    /// When it does not within half a minute, or the child ends without it.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) -> &mut Self {
        self.wait_until(&format!("the text {text:?}"), |screen| screen.contains(text))
    }

    /// Waits until the screen, with what scrolled off it, is as `wanted` says. `what` names it in the panic.
    ///
    /// # Panics
    /// As [`Terminal::wait_for`].
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> &mut Self {
        let seen = self.shared.wait(|state| match everything(&mut state.parser) {
            screen if wanted(&screen) => Some(Ok(())),
            screen if state.closed => Some(Err(screen)),
            _ => None,
        });
        match seen {
            Some(Ok(())) => self,
            Some(Err(screen)) => {
                panic!("the child ended before {what}; the terminal shows:\n{screen}")
            }
            None => panic!("waited for {what}; the terminal shows:\n{}", self.screen()),
        }
    }

    /// All that the terminal shows, what scrolled off the screen first.
    pub fn screen(&self) -> String {
        everything(&mut self.shared.state.lock().unwrap().parser)
    }

    /// Changes the size of the terminal; the child is told.
    pub fn resize(&mut self, cols: u16, rows: u16) -> &mut Self {
        self.shared.change(|state| state.parser.set_size(not_zero(rows), not_zero(cols)));
        self.master.resize(size(cols, rows)).expect("the terminal takes a new size");
        self
    }

    /// The process id of the child.
    pub(crate) fn child(&self) -> u32 {
        self.leader
    }

    /// Waits for the child to end, and returns its exit code.
    ///
    /// # Panics
    /// When it does not end within half a minute.
    #[track_caller]
    pub fn wait_exit(&mut self) -> u32 {
        let exited = self.shared.wait(|state| state.exited.filter(|_| state.closed));
        exited
            .unwrap_or_else(|| panic!("waited for the end; the terminal shows:\n{}", self.screen()))
    }

    fn send(&mut self, bytes: &[u8]) -> &mut Self {
        // A child that has ended hears nothing; the next wait says so and shows the screen.
        let _ = self.keyboard.write_all(bytes).and_then(|()| self.keyboard.flush());
        self
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.shared.state.lock().unwrap().exited.is_none() {
            kill_group(self.leader);
        }
    }
}

impl Key {
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Enter => b"\r",
            Self::Tab => b"\t",
            Self::Escape => b"\x1b",
            Self::Backspace => b"\x7f",
            Self::Up => b"\x1b[A",
            Self::Down => b"\x1b[B",
            Self::Right => b"\x1b[C",
            Self::Left => b"\x1b[D",
            Self::CtrlC => b"\x03",
            Self::CtrlD => b"\x04",
            Self::CtrlL => b"\x0c",
            Self::CtrlR => b"\x12",
            Self::CtrlZ => b"\x1a",
        }
    }
}

impl Shared {
    fn show(&self, mut output: Box<dyn Read + Send>) {
        let mut buffer = [0; 8192];
        // On Linux a terminal that everybody left is an error, not an end.
        while let Ok(length @ 1..) = output.read(&mut buffer) {
            self.change(|state| state.parser.process(&buffer[..length]));
        }
        self.change(|state| state.closed = true);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }

    /// Waits until `seen` sees something; `None` when patience is out.
    fn wait<T>(&self, mut seen: impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        let mut found = None;
        let state = self.state.lock().unwrap();
        let waited = self.changed.wait_timeout_while(state, PATIENCE, |state| {
            found = seen(state);
            found.is_none()
        });
        drop(waited);
        found
    }
}

/// The scrolled-off lines and the screen; a line that was too long for the terminal is one line again.
fn everything(parser: &mut Parser) -> String {
    let screen = parser.screen_mut();
    let (_, cols) = screen.size();
    let mut text = String::new();
    let mut add = |line: String, wrapped: bool| {
        text += &line;
        if !wrapped {
            text.push('\n');
        }
    };
    for offset in (1..=screen.scrollback_len()).rev() {
        screen.set_scrollback(offset);
        add(screen.rows(0, cols.get()).next().unwrap_or_default(), screen.row_wrapped(0));
    }
    screen.set_scrollback(0);
    for (row, line) in (0..).zip(screen.rows(0, cols.get())) {
        add(line, screen.row_wrapped(row));
    }
    text.trim_end().to_owned()
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    }
}

fn not_zero(length: u16) -> NonZeroU16 {
    NonZeroU16::new(length).expect("a terminal has at least one row and one column")
}
