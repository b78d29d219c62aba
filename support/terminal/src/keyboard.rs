//! The keyboard: asked by tasks, read by one thread.
//!
//! Tasks wait for lines and answers; the thread may be deep inside a line editor when somebody else needs the terminal.
//! Invariants: whoever drops a future closes its prompt; the editor is called back by a signal only while its handler
//! for it is in place.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::unix::thread::JoinHandleExt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use nix::sys::pthread::pthread_kill;
use nix::sys::signal::{Signal, raise};
use tokio::sync::watch;

use crate::desk::{Desk, Input, Key, Said, Wanted};
use crate::typeahead::Draft;
use crate::wants::Wants;
use crate::wires::Wires;

/// Shared by those who ask and the thread.
pub struct Keyboard {
    /// Never held across an await.
    state: Mutex<State>,
    changed: watch::Sender<()>,
    wake: PipeWriter,
    thread: Mutex<Option<JoinHandle<()>>>,
    wires: Arc<Wires>,
}

/// What the lock protects.
pub struct State {
    pub desk: Desk,
    editor: Editor,
    /// A byte is in the pipe.
    woken: bool,
}

/// Whether the thread is inside rustyline, and whether it can be called back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Editor {
    Closed,
    /// Its signal handler is not in place yet; `doomed` when it shall close as soon as it is.
    Opening {
        doomed: bool,
    },
    Open,
    /// The signal is on its way; `sure` when nothing can swallow it.
    Closing {
        sure: bool,
    },
}

/// Those who ask.
impl Keyboard {
    /// The keyboard, and the pipe that wakes the thread.
    ///
    /// # Errors
    /// When no pipe can be opened.
    pub fn new(input: Input, wires: Arc<Wires>) -> io::Result<(Self, PipeReader)> {
        let (reader, writer) = io::pipe()?;
        let state = State {
            desk: Desk::new(input),
            editor: Editor::Closed,
            woken: false,
        };
        let keyboard = Self {
            state: Mutex::new(state),
            changed: watch::Sender::new(()),
            wake: writer,
            thread: Mutex::new(None),
            wires,
        };
        Ok((keyboard, reader))
    }

    /// Tells when something was typed.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub fn input(&self) -> Input {
        self.state().desk.input
    }

    /// The next line that is typed, or `None` when there will be none.
    pub async fn line(&self) -> Option<String> {
        let begin = |desk: &mut Desk| desk.lines_wanted += 1;
        let wanted = Wants::new(self, begin, |desk| desk.lines_wanted -= 1);
        let next = |state: &mut State| match state.desk.typed.lines.pop_front() {
            None if !state.desk.typed.ended => None,
            line => Some(line),
        };
        wanted.until(next).await
    }

    /// The next line, if it is typed already.
    pub fn typed_ahead(&self) -> Option<String> {
        self.state().desk.typed.lines.pop_front()
    }

    /// What the user says to this question. One question at a time.
    pub async fn ask(&self, prompt: String) -> Said {
        let wanted = Wants::new(self, |desk| desk.put(prompt), Desk::withdraw);
        wanted.until(State::said).await
    }

    /// Lets the thread look again, which closes an open prompt for a moment: something wants to be printed.
    pub fn nudge(&self) {
        let mut state = self.state();
        match state.editor {
            Editor::Closed if state.woken => {}
            Editor::Closed => {
                state.woken = true;
                // The pipe holds at most this one byte; if the thread has gone, nobody needs to be woken.
                let _ = (&self.wake).write_all(&[0]);
            }
            Editor::Opening { .. } => state.editor = Editor::Opening { doomed: true },
            Editor::Open => {
                state.editor = Editor::Closing { sure: false };
                self.signal();
            }
            // Again, in case it was swallowed; only where the signal means nothing if the editor has closed meanwhile.
            Editor::Closing { sure: false } if self.wires.is_ctrl_c_a_key() => self.signal(),
            Editor::Closing { .. } => {}
        }
    }

    /// Interrupts the editor from outside.
    fn signal(&self) {
        if let Some(thread) = &*self.thread.lock().unwrap() {
            // To the thread itself, because it may wait for the rest of a key sequence, and nothing else ends that. It
            // fails only when the thread has ended.
            let _ = pthread_kill(thread.as_pthread_t(), Signal::SIGINT);
        }
    }

    /// Remembers the thread.
    pub fn started(&self, thread: JoinHandle<()>) {
        *self.thread.lock().unwrap() = Some(thread);
    }

    /// Ends the thread, which puts the terminal back in order. Nobody gets a line or an answer any more.
    pub fn close(&self) {
        self.desk(|desk| {
            desk.quitting = true;
            desk.gone();
        });
        self.nudge();
        // A thread that waits for a pipe cannot be called back, and has nothing to put in order.
        if matches!(self.input(), Input::Terminal { .. }) {
            let thread = self.thread.lock().unwrap().take();
            thread.map(JoinHandle::join);
        }
    }

    /// Changes what is wanted and tells the thread if it must do something else now.
    pub fn change(&self, change: impl FnOnce(&mut Desk)) {
        let mut state = self.state();
        change(&mut state.desk);
        let stale = state.desk.wanted() != state.desk.doing;
        drop(state);
        if stale {
            self.nudge();
        }
    }

    /// The desk and the editor's state, locked.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

/// The thread.
impl Keyboard {
    /// What to do next; whatever the thread was woken for is considered by that. With a line editor, a prompt counts as
    /// opening from here on.
    pub fn next(&self, wake: &mut PipeReader) -> Wanted {
        let state = &mut *self.state();
        if std::mem::take(&mut state.woken) {
            // The byte is there: it was written before the flag could be seen.
            let _ = wake.read(&mut [0]);
        }
        state.desk.doing = state.desk.wanted();
        let edits = matches!(state.desk.input, Input::Terminal { .. });
        state.editor = match state.desk.doing {
            Wanted::Answer(_) | Wanted::Line if edits => Editor::Opening { doomed: false },
            Wanted::Answer(_) | Wanted::Line | Wanted::Nothing | Wanted::Quit => Editor::Closed,
        };
        state.desk.doing
    }

    /// Changes or reads something on the desk and lets whoever waits have a look.
    pub fn desk<T>(&self, change: impl FnOnce(&mut Desk) -> T) -> T {
        let value = change(&mut self.state().desk);
        self.changed.send_replace(());
        value
    }

    /// Keys were pressed while nothing was edited.
    pub fn typed(&self, bytes: &[u8]) {
        if self.desk(|desk| desk.typed.feed(bytes)) {
            self.wires.interrupt();
        }
    }

    /// Whether standard input has ended.
    pub fn is_gone(&self) -> bool {
        self.state().desk.is_gone()
    }

    /// What the editor is to show: the prompt of a question, if there is one, and what is typed already.
    pub fn prompt_and_draft(&self) -> (Option<String>, Draft) {
        self.state().desk.prompt_and_draft()
    }

    /// The editor shows this line now. So its signal handler is in place, and it can be closed.
    pub fn edited(&self, line: &str, cursor: usize) {
        let mut state = self.state();
        state.desk.edited(line, cursor);
        match state.editor {
            Editor::Opening { doomed: false } => state.editor = Editor::Open,
            Editor::Opening { doomed: true } | Editor::Closing { sure: false } => state.close(),
            Editor::Open | Editor::Closing { sure: true } | Editor::Closed => {}
        }
    }

    /// A key ended the line in the editor.
    pub fn ended(&self, key: Key, line: &str) {
        let mut state = self.state();
        if state.desk.ended(key, line) {
            self.wires.interrupt();
        }
        if state.editor != Editor::Closed {
            state.close();
        }
    }

    /// The editor has closed and is out of the way.
    pub fn closed(&self) {
        self.state().editor = Editor::Closed;
        self.desk(Desk::editor_closed);
    }
}

impl State {
    /// What the question is answered with. While the editor still shows it, more may be typed behind the answer.
    fn said(&mut self) -> Option<Said> {
        let asking = matches!(self.desk.doing, Wanted::Answer(_)) && self.editor != Editor::Closed;
        if asking { None } else { self.desk.said() }
    }

    /// From within the editor: it ends when it has read what it already took from the terminal, and before it takes
    /// more. So nothing that was typed behind Enter is lost in its buffer.
    ///
    /// Its signal handler writes a byte to a pipe, and its loop takes up to 64 bytes and looks at the first only: a
    /// change of the window's size that came just before swallows a signal. It cannot swallow this many.
    fn close(&mut self) {
        if self.editor != (Editor::Closing { sure: true }) {
            self.editor = Editor::Closing { sure: true };
            for _ in 0..64 {
                // It cannot fail: the signal exists.
                let _ = raise(Signal::SIGINT);
            }
        }
    }
}
