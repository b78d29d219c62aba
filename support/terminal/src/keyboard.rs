//! The keyboard: asked by tasks, read by one thread.
//!
//! Tasks wait for lines and answers; the thread may be deep inside a line editor when somebody else needs the terminal.
//! Invariants: dropping a future closes its prompt; an interrupt ends what runs when it comes and nothing later; a reason
//! to leave stays, and the first one counts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use nix::sys::pthread::pthread_kill;
use nix::sys::signal::Signal;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::plain;
use crate::screen::Screen;
use crate::state::{Input, Mode, Said, State};

/// Shared by those who ask and the thread.
pub struct Keyboard {
    pub screen: Arc<Screen>,
    /// Every change wakes all who wait for one. Never held across an await.
    state: watch::Sender<State>,
    thread: Mutex<Option<JoinHandle<()>>>,
    listening: AtomicBool,
}

/// Those who ask.
impl Keyboard {
    pub fn new(state: State, screen: Arc<Screen>) -> Self {
        Self {
            screen,
            state: watch::Sender::new(state),
            thread: Mutex::default(),
            listening: AtomicBool::new(false),
        }
    }

    /// Reads or changes the state, lets whoever waits have a look, and has the prompt shown that it asks for.
    pub fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let value = self.try_with(|state| Some(change(state)));
        value.expect("there is always one")
    }

    /// The same, when something comes of it.
    fn try_with<T>(&self, change: impl FnOnce(&mut State) -> Option<T>) -> Option<T> {
        let mut value = None;
        self.state.send_if_modified(|state| {
            value = change(state);
            match state.input {
                _ if value.is_none() || !state.is_stale() => {}
                Input::Editor => close_editor(state),
                Input::Plain => plain::show(state, &self.screen),
                Input::Pipe => {}
            }
            value.is_some()
        });
        value
    }

    pub fn input(&self) -> Input {
        self.state.borrow().input
    }

    pub fn mode(&self) -> Mode {
        self.state.borrow().shown.0
    }

    /// The next line that is typed, or `None` when there will be none.
    pub async fn line(&self) -> Option<String> {
        self.with(|state| state.readers += 1);
        self.wait_for(State::next_line, |state| state.readers -= 1).await
    }

    /// What the user says to this question. One question at a time.
    pub async fn ask(&self, prompt: String) -> Said {
        self.with(|state| state.put(prompt));
        self.wait_for(State::said, State::withdraw).await
    }

    /// Waits until something can be taken, and ends the wanting in that moment, or when the future drops: otherwise the thread
    /// would read the next line for nobody.
    async fn wait_for<T>(&self, take: fn(&mut State) -> Option<T>, end: fn(&mut State)) -> T {
        struct Wanted<'a>(&'a Keyboard, fn(&mut State));
        impl Drop for Wanted<'_> {
            fn drop(&mut self) {
                self.0.with(self.1);
            }
        }
        let wanted = Wanted(self, end);
        let mut changed = self.state.subscribe();
        loop {
            let taken = self.try_with(|state| take(state).inspect(|_| end(state)));
            if let Some(taken) = taken {
                std::mem::forget(wanted);
                return taken;
            }
            // The sender lives as long as we do, so waiting cannot fail.
            let _ = changed.changed().await;
        }
    }

    /// Waits for the next Ctrl-C.
    pub async fn interrupted(&self) {
        let mut state = self.state.subscribe();
        let before = state.borrow().interrupts;
        let _ = state.wait_for(|state| state.interrupts != before).await;
    }

    /// Starts the thread.
    pub fn start(self: &Arc<Self>, serve: impl FnOnce(&Arc<Self>) + Send + 'static) {
        /// Wakes all waiters when the thread ends, even by panic.
        struct End(Arc<Keyboard>);
        impl Drop for End {
            fn drop(&mut self) {
                self.0.with(State::gone);
            }
        }
        let end = End(self.clone());
        *self.thread.lock().unwrap() = Some(std::thread::spawn(move || serve(&end.0)));
    }

    /// Ends the thread, which puts the terminal back in order. Nobody gets a line or an answer any more.
    pub fn close(&self) {
        self.with(|state| {
            state.quitting = true;
            state.gone();
        });
        // A thread that waits for a pipe cannot be called back, and has nothing to put in order.
        if self.input() == Input::Editor {
            let thread = self.thread.lock().unwrap().take();
            thread.map(JoinHandle::join);
        }
    }

    /// Listens to SIGINT, SIGTERM and SIGHUP from now on. It must come before the first line editor: rustyline puts its
    /// own handler for SIGINT in place and puts back the one it found, which must be this one and not the default.
    pub fn listen(self: &Arc<Self>) {
        if self.listening.swap(true, Ordering::Relaxed) {
            return;
        }
        let interrupt = SignalKind::interrupt();
        for kind in [interrupt, SignalKind::terminate(), SignalKind::hangup()] {
            // Without a handler the signal does what it does by default, which is to end the program.
            let Ok(mut signals) = signal(kind) else {
                continue;
            };
            let keyboard = self.clone();
            tokio::spawn(async move {
                while signals.recv().await.is_some() {
                    if kind != interrupt {
                        // As a shell counts: 128 and the number of the signal.
                        keyboard.screen.leave(128 + kind.as_raw_value() as u8);
                    } else if keyboard.input() != Input::Editor {
                        // There Ctrl-C is a key, and SIGINT our own, for closing the editor.
                        keyboard.with(|state| state.interrupts += 1);
                    }
                }
            });
        }
    }
}

/// The thread.
impl Keyboard {
    /// Waits until something is to be read, and says what for; `None` when nothing is any more.
    pub fn wait(&self, runtime: &Handle) -> Option<Mode> {
        let mut state = self.state.subscribe();
        let eager = |state: &State| state.input == Input::Plain && state.is_watched;
        let wanted = |state: &State| state.gone || eager(state) || state.wanted() != Mode::Turn;
        let state = runtime.block_on(state.wait_for(wanted)).ok()?;
        (!state.gone).then(|| state.wanted())
    }

    /// The editor shows this line now. So its signal handler is in place, and it can be closed.
    pub fn edited(&self, line: &str, cursor: usize) {
        self.with(|state| {
            state.edited(line, cursor);
            state.editing = Some(nix::sys::pthread::pthread_self());
        });
    }
}

/// Closes an editor that shows something else than it should. It ends when it has read what it already took from the
/// terminal, and before it takes more. So nothing that was typed behind Enter is lost in its buffer.
///
/// Its signal handler writes a byte to a pipe, and its loop takes up to 64 bytes and looks at the first only: a change of
/// the window's size that came just before swallows a signal. It cannot swallow this many.
fn close_editor(state: &mut State) {
    if let Some(thread) = state.editing
        && !std::mem::replace(&mut state.closing, true)
    {
        for _ in 0..64 {
            // To the thread itself, because it may wait for the rest of a key sequence. It cannot fail: the thread edits.
            let _ = pthread_kill(thread, Signal::SIGINT);
        }
    }
}
