//! The terminal as a chapter uses it: what it shows and reads.
//!
//! A loop needs the next request, a hook wants to print, a permission needs an answer, a model streams; a terminal is
//! one. So one value owns it, and its clones may be anywhere. It knows nothing of agents: whoever uses it says what a
//! [`Call`] and its output look like. Invariants: one thread reads standard input; an answer is never taken for a request
//! nor a request for an answer; what the user has typed is never lost; the terminal is left as it was found.
//!
//! | file | |
//! |---|---|
//! | `state` | the state machine: a turn runs, a prompt is open, a question is asked; who gets what is typed |
//! | `keyboard` | how tasks wait for it, interrupts and signals, and how an open prompt is called back |
//! | `editor` | the thread on a terminal: rustyline, its keys and its history |
//! | `plain` | the thread on a pipe, and on a terminal whose lines the system edits |
//! | `screen`, `style`, `text` | the only writer, and its sign of life; colours; harmless text |
//! | `ask`, `show` | questions; calls, results, remarks, and what a model says |
//! | `process` | the command line, and input that is piped in whole |

mod ask;
mod editor;
mod keyboard;
mod plain;
mod process;
mod screen;
mod show;
mod state;
mod style;
mod text;

use std::future::{Future, pending};
use std::io::{self, IsTerminal};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::Result;
use serde_json::Value;
use tokio::runtime::Handle;

pub use ask::{Answer, Refusal};

use editor::Reader;
use keyboard::Keyboard;
use screen::Screen;
use show::Speech;
use state::{Input, State};
use style::{Paint, Style};

/// The exit code of a run that Ctrl-C ended, as a shell counts: 128 and the number of SIGINT.
const INTERRUPTED: u8 = 130;

/// A tool call, as far as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Its id.
    pub id: &'a str,
    /// The tool.
    pub name: &'a str,
    /// Its arguments.
    pub input: &'a Value,
}

/// What a tool put out, as far as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The text.
    pub text: &'a str,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// A handle on the terminal. All clones share it; a [named](Repl::named) one speaks under its name.
#[derive(Clone)]
pub struct Repl {
    inner: Arc<Inner>,
    name: Option<Arc<str>>,
    /// Never held across an await.
    speech: Arc<Mutex<Speech>>,
}

/// What all clones share. Standard input is not touched before somebody wants something of it.
struct Inner {
    /// The chapter.
    name: String,
    prompt: String,
    screen: Arc<Screen>,
    keyboard: Arc<Keyboard>,
    /// Whether requests are typed or piped in; else there is one, from the command line.
    is_typed: bool,
    /// Held while a question is asked, so that several wait in line.
    asking: tokio::sync::Mutex<()>,
    /// Never held across an await.
    session: Mutex<Session>,
}

#[derive(Default)]
struct Session {
    /// The request of the command line, until it is taken.
    once: Option<String>,
    /// The thread that reads has been started.
    is_read: bool,
    /// What Tab completes; taken when the thread starts.
    words: Vec<&'static str>,
    /// Why the last turn that failed did so.
    failure: Option<String>,
    /// The user has said `q`, `exit` or the like.
    dismissed: bool,
    /// Nobody is asked anything.
    unattended: bool,
    /// What makes requests of lines.
    parse: Option<Parse>,
}

/// Makes a request of a line, or answers the line itself.
type Parse = Arc<dyn Fn(&Repl, &str) -> Option<String> + Send + Sync>;

impl Repl {
    /// The terminal of a chapter, as its command line wants it: a session, or one request. Prints `--help` and leaves;
    /// an option that nobody knows ends the program with one sentence and exit code 2.
    pub fn new(chapter: &str) -> Self {
        let words = Self::words();
        if process::wants_help(&words) {
            Self::leave_with(&process::usage(chapter));
        }
        match process::request(words) {
            Ok(request) => Self::open(chapter, request),
            Err(sentence) => Self::refuse(chapter, &sentence),
        }
    }

    /// A session: requests are typed, or piped in.
    pub fn typed(chapter: &str) -> Self {
        Self::open(chapter, None)
    }

    /// One request, then the end.
    pub fn once(chapter: &str, request: impl Into<String>) -> Self {
        Self::open(chapter, Some(request.into()))
    }

    fn open(chapter: &str, once: Option<String>) -> Self {
        // The prompt of `s01_loop` is `s01 >> `.
        let short = chapter.split_once('_').map_or(chapter, |(short, _)| short);
        let prompt = format!("{short} >> ");
        let style = Style::of_stdout();
        let can_edit = style.can_move && once.is_none();
        let input = match (io::stdin().is_terminal(), can_edit) {
            (true, true) => Input::Editor,
            (true, false) => Input::Plain,
            (false, _) => Input::Pipe,
        };
        let screen = Arc::new(Screen::new(style, io::stdout()));
        let state = State::new(input, &prompt, once.is_none());
        let inner = Inner {
            keyboard: Arc::new(Keyboard::new(state, screen.clone())),
            screen,
            name: chapter.to_owned(),
            prompt,
            is_typed: once.is_none(),
            asking: tokio::sync::Mutex::new(()),
            session: Mutex::new(Session {
                once,
                ..Session::default()
            }),
        };
        Self {
            inner: Arc::new(inner),
            name: None,
            speech: Arc::default(),
        }
    }

    /// The same terminal for somebody else: what they say, call and ask carries their name.
    pub fn named(&self, name: &str) -> Self {
        Self {
            inner: self.inner.clone(),
            name: Some(text::one_line(name).into()),
            speech: Arc::default(),
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
        self.inner.session().words = words;
        self
    }

    /// Asks nobody from now on: the answer to every question is no.
    pub fn unattended(self) -> Self {
        self.inner.session().unattended = true;
        self
    }

    /// Requests are what this makes of the lines; of one that it answers itself it makes none. No line says goodbye then:
    /// the session lasts until the input ends.
    pub fn reads(
        self,
        parse: impl Fn(&Self, &str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.inner.session().parse = Some(Arc::new(parse));
        self
    }

    /// Whether nobody is asked anything.
    pub fn is_unattended(&self) -> bool {
        self.inner.session().unattended
    }

    /// A handle for whoever watches a client's requests.
    pub fn watcher(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    /// Under whose name it speaks, when it is not the main speaker's.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The next request. `None` when there will be none: after Ctrl-D, `q`, `exit`, `quit` and their like, at the end of
    /// the input, after the request of the command line.
    ///
    /// Dropping the future closes the prompt. Nothing is lost by it: what was half typed stands in the next prompt, a
    /// line entered at that moment is the next request.
    pub async fn line(&self) -> Option<String> {
        let inner = &self.inner;
        inner.keyboard.listen();
        let line = loop {
            let line = tokio::select! {
                biased;
                () = inner.screen.until_left() => None,
                line = inner.next_line() => line,
            };
            let parse = inner.session().parse.clone();
            match (line.as_deref().map(str::trim), parse) {
                (None, _) => break None,
                (Some(""), _) => {}
                (Some(line), Some(parse)) => match parse(self, line) {
                    None => {}
                    request => break request,
                },
                (Some(line), None) if is_goodbye(line) => {
                    inner.session().dismissed = true;
                    break None;
                }
                (Some(_), None) => break line,
            }
        };
        if line.is_none() {
            inner.keyboard.close();
        }
        line
    }

    /// Whether the input has ended by itself with nobody sitting there: what is still at work may be waited for.
    pub fn waits_for_background(&self) -> bool {
        let inner = &self.inner;
        let is_dismissed = inner.session().dismissed || inner.screen.left().is_some();
        !inner.is_session() && !is_dismissed
    }

    /// Waits until somebody ends a session that [waits_for_background](Self::waits_for_background): Ctrl-C, or a signal.
    pub async fn ended(&self) {
        let Inner {
            keyboard, screen, ..
        } = &*self.inner;
        keyboard.listen();
        tokio::select! {
            biased;
            () = screen.until_left() => {}
            () = keyboard.interrupted() => screen.leave(INTERRUPTED),
        }
    }

    /// Runs a turn to its end, or until Ctrl-C or Esc drops it. An error is shown in one sentence.
    pub async fn run(&self, turn: impl Future<Output = Result<()>>) {
        let inner = &self.inner;
        inner.keyboard.listen();
        if inner.is_session() {
            // So that Ctrl-C is seen where it is a key.
            inner.start_thread();
        }
        let ended = {
            let turn = pin!(turn);
            tokio::select! {
                biased;
                () = inner.screen.until_left() => None,
                () = inner.keyboard.interrupted() => None,
                result = turn => Some(result),
                () = inner.show_life() => None,
            }
        };
        inner.screen.idle();
        match ended {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                self.error(&error);
                inner.session().failure = Some(format!("{error:#}"));
            }
            None => {
                inner.session().failure = Some("interrupted".to_owned());
                self.painted(Paint::Dim, "(interrupted)");
                if !inner.is_session() {
                    inner.screen.leave(INTERRUPTED);
                }
            }
        }
    }

    /// Counts this as a failed turn, for one that ends without an error although nothing was done.
    pub fn fail(&self, why: &str) {
        self.inner.session().failure = Some(why.to_owned());
    }

    /// What went wrong in the last turn that failed, if one did.
    pub fn failure(&self) -> Option<String> {
        self.inner.session().failure.clone()
    }

    /// The same, for whoever reports it; it does not count any more.
    pub fn take_failure(&self) -> Option<String> {
        self.inner.session().failure.take()
    }

    /// The exit code of the session, which ends here: 0; 1 when a turn failed that nobody watched; as a shell counts
    /// when a signal ended it.
    pub fn exit_code(&self) -> ExitCode {
        self.inner.keyboard.close();
        let failed = self.failure().is_some() && !self.inner.is_session();
        ExitCode::from(self.inner.screen.left().unwrap_or(failed.into()))
    }
}

impl Inner {
    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap()
    }

    /// Whether a user sits there and will see what failed; not so for one request or a pipe.
    fn is_session(&self) -> bool {
        self.is_typed && self.keyboard.input() != Input::Pipe
    }

    /// The next line, shown as typed where it was not.
    async fn next_line(&self) -> Option<String> {
        if !self.is_typed {
            return self.session().once.take();
        }
        self.start_thread();
        let ahead = self.keyboard.with(State::next_line).flatten();
        let is_ahead = ahead.is_some();
        let line = match ahead {
            Some(line) => line,
            None => self.typed_line().await?,
        };
        let is_shown = match self.keyboard.input() {
            Input::Editor => false,
            Input::Plain => !is_ahead,
            Input::Pipe => line.trim().is_empty(),
        };
        if !is_shown {
            let prompt = self.screen.style.paint(Paint::Prompt, &self.prompt);
            self.screen.lines(&format!("{prompt}{}", text::echo(&line)));
        }
        Some(line)
    }

    /// The next line that is typed. Where Ctrl-C is a signal it ends a pipe, and on a terminal, where the system clears
    /// the half line, shows the prompt again.
    async fn typed_line(&self) -> Option<String> {
        let mut line = pin!(self.keyboard.line());
        loop {
            tokio::select! {
                biased;
                line = &mut line => return line,
                () = self.keyboard.interrupted() => match self.keyboard.input() {
                    Input::Editor => {}
                    Input::Plain => self.screen.show_prompt(&self.prompt),
                    Input::Pipe => {
                        self.screen.leave(INTERRUPTED);
                        return None;
                    }
                }
            }
        }
    }

    /// Gives a sign of life whenever nothing was written for a while.
    async fn show_life(&self) {
        if !self.screen.style.can_move || self.screen.is_quiet() {
            return pending().await;
        }
        loop {
            tokio::time::sleep(screen::TICK).await;
            self.screen.tick();
        }
    }

    /// Starts the thread that reads, when the first one wants something of it: a program that only prints its help
    /// leaves the terminal alone.
    fn start_thread(&self) {
        let mut session = self.session();
        if std::mem::replace(&mut session.is_read, true) {
            return;
        }
        let words = std::mem::take(&mut session.words);
        let runtime = Handle::current();
        self.keyboard.start(move |keyboard| {
            if keyboard.input() == Input::Editor {
                if let Some(reader) = Reader::open(keyboard, words) {
                    return reader.serve();
                }
                keyboard.with(|state| state.input = Input::Plain);
            }
            plain::serve(keyboard, &runtime);
        });
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.keyboard.close();
    }
}

/// Whether a line ends the session. It is no request, so nobody keeps it.
fn is_goodbye(line: &str) -> bool {
    matches!(line.trim(), "q" | "quit" | "exit" | "/quit" | "/exit" | ":q")
}
