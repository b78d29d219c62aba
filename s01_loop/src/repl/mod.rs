//! The terminal, and everybody who wants something of it.
//!
//! A loop needs the next request, a hook wants to print, a permission needs an answer, a model streams; a terminal is
//! one. So one value owns it, and its clones may be anywhere. Invariants: one thread reads standard input; an answer is
//! never taken for a request nor a request for an answer; what the user has typed is never lost; the terminal is left
//! as it was found.
//!
//! ```text
//!            line() awaited                      confirm() awaited
//!   ┌───────┐ ──────────────▶ ┌─────────────┐ ──────────────────▶ ┌──────────────┐
//!   │ watch │                 │ prompt open │                     │ question open│
//!   └───────┘ ◀────────────── └─────────────┘ ◀────────────────── └──────────────┘
//!     keeps what is typed,      line entered;      answered, or nobody waits any more
//!     Ctrl-C ends the turn      or nobody waits any more: the half line is kept
//! ```
//!
//! | file | |
//! |---|---|
//! | `ask`, `show` | questions; calls, results, notices and errors |
//! | `inner` | what the clones share, and the start of the thread |
//! | `desk`, `keyboard`, `wants` | who gets what is typed; how an open prompt is called back; how tasks wait |
//! | `terminal`, `editor`, `completion`, `history` | the thread on a terminal: rustyline, and watching keys without it |
//! | `typeahead` | keys pressed during a turn |
//! | `pipe`, `dumb` | the thread on a pipe, and on a terminal that can only print |
//! | `screen`, `spinner`, `style` | the only writer; what is awaited; colours and width |
//! | `text`, `wrap` | making text harmless; lines that end between words |
//! | `speaker`, `answer`, `wires` | a client's events; answers; Ctrl-C and signals |
//! | `args`, `command_line` | the command line as every chapter reads it, and for one that reads its own |

mod answer;
mod args;
mod ask;
mod command_line;
mod completion;
mod desk;
mod dumb;
mod editor;
mod history;
mod inner;
mod keyboard;
mod pipe;
mod screen;
mod show;
mod speaker;
mod spinner;
mod style;
mod terminal;
mod text;
mod typeahead;
mod wants;
mod wires;
mod wrap;

use std::future::Future;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;

pub use answer::{Answer, Refusal};
use args::Args;
use inner::{INTERRUPTED, Inner};
use speaker::Speaker;
use style::Paint;

use crate::observer::SharedObserver;

/// A handle on the terminal. All clones share it; a [named](Repl::named) one speaks under its name.
#[derive(Clone)]
pub struct Repl {
    inner: Arc<Inner>,
    name: Option<Arc<str>>,
}

impl Repl {
    /// The terminal of a chapter, as its command line wants it: a session, or one request. Prints `--help` and leaves;
    /// an option that nobody knows ends the program with one sentence and exit code 2.
    pub fn new(chapter: &str) -> Self {
        match Args::parse(Self::words()) {
            Args::Typed => Self::typed(chapter),
            Args::Once(request) => Self::once(chapter, request),
            Args::Help => Self::leave_with(&args::usage(chapter)),
            Args::Wrong(sentence) => Self::refuse(chapter, &sentence),
        }
    }

    /// A session: requests are typed, or piped in.
    pub fn typed(chapter: &str) -> Self {
        Self::start(chapter, None)
    }

    /// One request, then the end.
    pub fn once(chapter: &str, request: impl Into<String>) -> Self {
        Self::start(chapter, Some(request.into()))
    }

    fn start(chapter: &str, request: Option<String>) -> Self {
        Self {
            inner: Arc::new(Inner::new(chapter, request)),
            name: None,
        }
    }

    /// The same terminal for somebody else: what they say, call and ask carries their name.
    pub fn named(&self, name: &str) -> Self {
        Self {
            inner: self.inner.clone(),
            name: Some(text::one_line(name).into()),
        }
    }

    /// Shows nothing from now on but questions and what is [printed](Self::print) on purpose; errors go to standard
    /// error. For callers who want only an answer.
    pub fn quiet(self) -> Self {
        self.inner.screen.be_quiet();
        self
    }

    /// Tab completes these words at the beginning of a line.
    pub fn completes(self, words: Vec<&'static str>) -> Self {
        *self.inner.words.lock().unwrap() = words;
        self
    }

    /// Asks nobody from now on: the answer to every question is no.
    pub fn unattended(self) -> Self {
        self.inner.unattended.store(true, Ordering::Relaxed);
        self
    }

    /// Shows what a client's requests do.
    pub fn watcher(&self) -> SharedObserver {
        Arc::new(Speaker::new(self.clone()))
    }

    /// The next request. `None` when there will be none: after Ctrl-D, `q`, `exit`, `quit` and their like, at the end of
    /// the input, after the request of the command line.
    ///
    /// Dropping the future closes the prompt. Nothing is lost by it: what was half typed stands in the next prompt, a
    /// line entered at that moment is the next request.
    pub async fn line(&self) -> Option<String> {
        self.inner.wires.listen();
        let line = loop {
            let line = tokio::select! {
                biased;
                () = self.inner.wires.until_left() => None,
                line = self.inner.next_line() => line,
            };
            match line.as_deref().map(str::trim) {
                Some(line) if is_goodbye(line) => {
                    self.inner.dismissed.store(true, Ordering::Relaxed);
                    break None;
                }
                None => break None,
                Some("") => {}
                Some(_) => break line,
            }
        };
        if line.is_none() {
            self.inner.keyboard.close();
        }
        line
    }

    /// Whether the input has ended by itself with nobody sitting there: what is still at work may be waited for.
    pub fn waits_for_background(&self) -> bool {
        let inner = &self.inner;
        let is_dismissed = inner.dismissed.load(Ordering::Relaxed) || inner.wires.left().is_some();
        !inner.is_session() && !is_dismissed
    }

    /// Waits until somebody ends a session that [waits_for_background](Self::waits_for_background): Ctrl-C, or a signal.
    pub async fn ended(&self) {
        let wires = &self.inner.wires;
        wires.listen();
        let mut interrupts = wires.interrupts();
        tokio::select! {
            biased;
            () = wires.until_left() => {}
            _ = interrupts.changed() => wires.leave(INTERRUPTED),
        }
    }

    /// Runs a turn to its end, or until Ctrl-C drops it. An error is shown in one sentence.
    pub async fn run(&self, turn: impl Future<Output = Result<()>>) {
        let inner = &self.inner;
        inner.wires.listen();
        if inner.is_session() {
            // So that Ctrl-C is seen where it is a key.
            inner.start_thread();
        }
        let mut interrupts = inner.wires.interrupts();
        let ended = {
            let turn = pin!(turn);
            tokio::select! {
                biased;
                () = inner.wires.until_left() => None,
                _ = interrupts.changed() => None,
                result = turn => Some(result),
            }
        };
        inner.screen.idle();
        match ended {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                self.error(&error);
                *inner.failure.lock().unwrap() = Some(format!("{error:#}"));
            }
            None => {
                *inner.failure.lock().unwrap() = Some("interrupted".to_owned());
                self.painted(Paint::Dim, "(interrupted)");
                if !inner.is_session() {
                    inner.wires.leave(INTERRUPTED);
                }
            }
        }
    }

    /// Counts this as a failed turn, for one that ends without an error although nothing was done.
    pub fn fail(&self, why: &str) {
        *self.inner.failure.lock().unwrap() = Some(why.to_owned());
    }

    /// What went wrong in the last turn that failed, if one did.
    pub fn failure(&self) -> Option<String> {
        self.inner.failure.lock().unwrap().clone()
    }

    /// The exit code of the session, which ends here: 0; 1 when a turn failed that nobody watched; as a shell counts
    /// when a signal ended it.
    pub fn exit_code(&self) -> ExitCode {
        self.inner.keyboard.close();
        let failed = self.failure().is_some() && !self.inner.is_session();
        ExitCode::from(self.inner.wires.left().unwrap_or(failed.into()))
    }
}

/// Whether a line ends the session. It is no request, so nobody keeps it.
fn is_goodbye(line: &str) -> bool {
    matches!(
        line.trim(),
        "q" | "quit" | "exit" | "/quit" | "/exit" | ":q"
    )
}
