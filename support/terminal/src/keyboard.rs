//! The keyboard: asked by tasks, read by one thread.
//!
//! Tasks wait for lines and answers; the thread may be deep inside a line editor when somebody else needs the terminal.
//! Invariants: dropping a future closes its prompt; an interrupt ends what runs when it comes and nothing later; a reason
//! to leave stays, and the first one counts.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::thread::JoinHandleExt;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use nix::sys::pthread::pthread_kill;
use nix::sys::signal::{Signal, raise};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::state::{Input, Key, Mode, Said, State};

/// Shared by those who ask and the thread.
pub struct Keyboard {
    /// Every change wakes all who wait for one. Never held across an await.
    state: watch::Sender<State>,
    /// Wakes the thread where it waits for the terminal too.
    wake: UnixStream,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Those who ask.
impl Keyboard {
    /// The keyboard, and what wakes the thread.
    ///
    /// # Errors
    /// When there are no file descriptors left.
    pub fn new(input: Input) -> io::Result<(Self, UnixStream)> {
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let keyboard = Self {
            state: watch::Sender::new(State::new(input)),
            wake,
            thread: Mutex::new(None),
        };
        Ok((keyboard, woken))
    }

    /// Reads or changes the state, and lets whoever waits have a look.
    pub fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut value = None;
        self.state.send_modify(|state| value = Some(change(state)));
        value.expect("send_modify calls its argument")
    }

    pub fn input(&self) -> Input {
        self.state.borrow().input
    }

    /// The next line that is typed, or `None` when there will be none.
    pub async fn line(&self) -> Option<String> {
        let end = |state: &mut State| state.readers -= 1;
        self.want(|state| state.readers += 1, end, State::next_line)
            .await
    }

    /// What the user says to this question. One question at a time.
    pub async fn ask(&self, prompt: String) -> Said {
        self.want(|state| state.put(prompt), State::withdraw, State::said)
            .await
    }

    /// Begins to want something, waits until it can be taken, and ends the wanting in that moment, or when the future
    /// drops: otherwise the thread would read the next line for nobody.
    async fn want<T>(
        &self,
        begin: impl FnOnce(&mut State),
        end: fn(&mut State),
        mut take: impl FnMut(&mut State) -> Option<T>,
    ) -> T {
        struct Wanted<'a>(&'a Keyboard, Option<fn(&mut State)>);
        impl Drop for Wanted<'_> {
            fn drop(&mut self) {
                if let Some(end) = self.1.take() {
                    self.0.change(end);
                }
            }
        }
        let mut changed = self.state.subscribe();
        self.change(begin);
        let mut wanted = Wanted(self, Some(end));
        loop {
            changed.mark_unchanged();
            let mut taken = None;
            self.state.send_if_modified(|state| {
                taken = take(state);
                if taken.is_some() && wanted.1.take().is_some() {
                    end(state);
                }
                taken.is_some()
            });
            if let Some(taken) = taken {
                return taken;
            }
            // The sender lives as long as we do, so waiting cannot fail.
            let _ = changed.changed().await;
        }
    }

    /// Changes what is wanted and tells the thread if it must do something else now.
    fn change(&self, change: impl FnOnce(&mut State)) {
        let is_stale = self.with(|state| {
            change(state);
            state.wanted() != state.mode
        });
        if is_stale {
            self.nudge();
        }
    }

    /// Waits for the next Ctrl-C.
    pub async fn interrupted(&self) {
        let mut state = self.state.subscribe();
        let before = state.borrow().interrupts;
        let _ = state.wait_for(|state| state.interrupts != before).await;
    }

    /// Ends the session with this exit code.
    pub fn leave(&self, code: u8) {
        self.with(|state| _ = state.exit.get_or_insert(code));
    }

    /// The exit code of a session that was ended from outside.
    pub fn left(&self) -> Option<u8> {
        self.state.borrow().exit
    }

    /// Waits for a reason to leave.
    pub async fn until_left(&self) {
        let mut state = self.state.subscribe();
        let _ = state.wait_for(|state| state.exit.is_some()).await;
    }

    /// Lets the thread look again, which closes an open prompt for a moment: something wants to be printed.
    pub fn nudge(&self) {
        let thread = self.thread.lock().unwrap();
        self.with(|state| {
            state.nudged = true;
            if let Some(thread) = thread.as_ref().filter(|_| state.editing) {
                // To the thread itself, because it may wait for the rest of a key sequence. It fails only when the thread
                // has ended.
                let _ = pthread_kill(thread.as_pthread_t(), Signal::SIGINT);
            }
        });
        // A full pipe wakes the thread as well, and one that has gone needs no waking.
        let _ = (&self.wake).write(&[0]);
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
        self.nudge();
        // A thread that waits for a pipe cannot be called back, and has nothing to put in order.
        if self.input() == Input::Editor {
            let thread = self.thread.lock().unwrap().take();
            thread.map(JoinHandle::join);
        }
    }

    /// Listens to SIGINT, SIGTERM and SIGHUP from now on. It must come before the first line editor: rustyline puts its
    /// own handler for SIGINT in place and puts back the one it found, which must be this one and not the default.
    pub fn listen(self: &Arc<Self>) {
        if self.with(|state| std::mem::replace(&mut state.listening, true)) {
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
                        keyboard.leave(128 + kind.as_raw_value() as u8);
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
    /// What to do next; whatever the thread was woken for is considered by that.
    pub fn next(&self, mut woken: &UnixStream) -> Mode {
        while matches!(woken.read(&mut [0; 64]), Ok(1..)) {}
        self.with(|state| {
            state.nudged = false;
            state.closing = false;
            state.mode = state.wanted();
            state.mode
        })
    }

    /// The editor shows this line now. So its signal handler is in place, and it can be closed.
    pub fn edited(&self, line: &str, cursor: usize) {
        self.with(|state| {
            state.edited(line, cursor);
            state.editing = true;
            if state.nudged {
                close_editor(state);
            }
        });
    }

    /// A key ended the line in the editor.
    pub fn pressed(&self, key: Key, line: &str) {
        self.with(|state| {
            state.pressed(key, line);
            close_editor(state);
        });
    }
}

/// From within the editor: it ends when it has read what it already took from the terminal, and before it takes more. So
/// nothing that was typed behind Enter is lost in its buffer.
///
/// Its signal handler writes a byte to a pipe, and its loop takes up to 64 bytes and looks at the first only: a change of
/// the window's size that came just before swallows a signal. It cannot swallow this many.
fn close_editor(state: &mut State) {
    if !std::mem::replace(&mut state.closing, true) {
        for _ in 0..64 {
            // It cannot fail: the signal exists.
            let _ = raise(Signal::SIGINT);
        }
    }
}
