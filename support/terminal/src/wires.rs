//! The two things that end a turn from outside: the user's Ctrl-C, and a reason to leave.
//!
//! They come from the keyboard, from signals and from a closed output, and whoever waits must hear of them. Invariant:
//! an interrupt ends what runs when it comes and nothing later; a reason to leave stays, and the first one counts.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Who listens, and who tells.
#[derive(Debug)]
pub struct Wires {
    interrupts: watch::Sender<u64>,
    leave: watch::Sender<Option<u8>>,
    signals: AtomicBool,
    ctrl_c_is_a_key: AtomicBool,
}

impl Wires {
    pub fn new() -> Self {
        Self {
            interrupts: watch::Sender::new(0),
            leave: watch::Sender::new(None),
            signals: AtomicBool::new(false),
            ctrl_c_is_a_key: AtomicBool::new(false),
        }
    }

    /// Interrupts what runs.
    pub fn interrupt(&self) {
        self.interrupts.send_modify(|count| *count += 1);
    }

    /// Changes with each interrupt from now on.
    pub fn interrupts(&self) -> watch::Receiver<u64> {
        self.interrupts.subscribe()
    }

    /// Ends the session with this exit code.
    pub fn leave(&self, code: u8) {
        self.leave.send_if_modified(|leave| match leave {
            Some(_) => false,
            None => {
                *leave = Some(code);
                true
            }
        });
    }

    /// The exit code of a session that was ended from outside.
    pub fn left(&self) -> Option<u8> {
        *self.leave.borrow()
    }

    /// Waits for a reason to leave.
    pub async fn until_left(&self) {
        // The sender lives as long as we do, so waiting cannot fail.
        let _ = self.leave.subscribe().wait_for(Option::is_some).await;
    }

    /// The terminal gives Ctrl-C as a key from now on. SIGINT is our own then, for closing a line editor, and what is left
    /// of it when the editor has closed is no interrupt.
    pub fn ctrl_c_is_a_key(&self) {
        self.ctrl_c_is_a_key.store(true, Ordering::Relaxed);
    }

    pub fn is_ctrl_c_a_key(&self) -> bool {
        self.ctrl_c_is_a_key.load(Ordering::Relaxed)
    }

    /// Listens to SIGINT, SIGTERM and SIGHUP from now on. It must come before the first line editor: rustyline puts its
    /// own handler for SIGINT in place and puts back the one it found, which must be this one and not the default.
    pub fn listen(self: &std::sync::Arc<Self>) {
        if self.signals.swap(true, Ordering::Relaxed) {
            return;
        }
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        for kind in kinds {
            // Without a handler the signal does what it does by default, which is to end the program.
            let Ok(mut signals) = signal(kind) else {
                continue;
            };
            let wires = self.clone();
            tokio::spawn(async move {
                while signals.recv().await.is_some() {
                    if kind != SignalKind::interrupt() {
                        // As a shell counts: 128 and the number of the signal.
                        wires.leave(128 + kind.as_raw_value() as u8);
                    } else if !wires.is_ctrl_c_a_key() {
                        wires.interrupt();
                    }
                }
            });
        }
    }
}
