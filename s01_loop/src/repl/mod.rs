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
//! | `keyboard` | who wants what of the thread; how an open prompt is closed again |
//! | `terminal`, `editor` | the thread on a terminal: rustyline, and watching keys without it |
//! | `plain` | the thread on a pipe |
//! | `typeahead`, `history`, `args` | keys pressed during a turn; lines of earlier sessions; the command line |
//! | `screen`, `style`, `text` | the only writer; colours and width; making text harmless |
//! | `speaker`, `answer`, `wires` | a client's events; answers; Ctrl-C and reasons to leave |

mod answer;
mod args;
mod editor;
mod history;
mod keyboard;
mod plain;
mod screen;
mod speaker;
mod style;
mod terminal;
mod text;
mod typeahead;
mod wires;

use std::future::Future;
use std::io::{self, IsTerminal, PipeReader};
use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::Result;

pub use answer::{Answer, Refusal};
use args::Args;
use keyboard::{Input, Keyboard, Said};
use screen::Screen;
use speaker::Speaker;
use style::Paint;
use terminal::Terminal;
use wires::Wires;

use crate::tool::{Output, ToolCall};
use crate::watch::Watcher;

/// Where this program keeps what outlives it, below the working directory.
const HARNESS: &str = ".harness";
/// How often a question is asked on a terminal before no answer is taken for no.
const ASK_TIMES: usize = 3;
const LABEL_COLUMNS: usize = 60;

/// A handle on the terminal. All clones share it; a [named](Repl::named) one speaks under its name.
#[derive(Clone)]
pub struct Repl {
    inner: Arc<Inner>,
    name: Option<Arc<str>>,
}

struct Inner {
    chapter: String,
    prompt: String,
    screen: Arc<Screen>,
    keyboard: Arc<Keyboard>,
    wires: Arc<Wires>,
    /// The request of the command line, until it is taken; `Some(None)` afterwards.
    once: Option<Mutex<Option<String>>>,
    /// What the thread needs; taken when it starts.
    wake: Mutex<Option<PipeReader>>,
    /// Held while a question is asked, so that several wait in line.
    asking: tokio::sync::Mutex<()>,
    failed: AtomicBool,
}

impl Repl {
    /// The terminal of a chapter, as its command line wants it: a session, or one request. Prints `--help` and leaves;
    /// an option that nobody knows ends the program with one sentence and exit code 2.
    pub fn new(chapter: &str) -> Self {
        match Args::parse(std::env::args_os().skip(1)) {
            Args::Typed => Self::typed(chapter),
            Args::Once(request) => Self::once(chapter, request),
            Args::Help => {
                print!("{}", args::usage(chapter));
                std::process::exit(0);
            }
            Args::Wrong(sentence) => {
                eprintln!("{chapter}: {sentence}");
                std::process::exit(2);
            }
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
        let wires = Arc::new(Wires::new());
        let screen = Arc::new(Screen::new(wires.clone()));
        let input = match (io::stdin().is_terminal(), screen.style.can_move()) {
            (true, true) => Input::Terminal {
                watched: request.is_none(),
            },
            (true, false) => Input::Dumb,
            (false, _) => Input::Pipe,
        };
        let (keyboard, wake) = Keyboard::new(input, wires.clone())
            .expect("a process that cannot open a pipe cannot run a command either");
        Self {
            inner: Arc::new(Inner {
                chapter: chapter.to_owned(),
                prompt: args::prompt(chapter),
                screen,
                keyboard: Arc::new(keyboard),
                wires,
                once: request.map(|request| Mutex::new(Some(request))),
                wake: Mutex::new(Some(wake)),
                asking: tokio::sync::Mutex::new(()),
                failed: AtomicBool::new(false),
            }),
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

    /// Shows what a client's requests do.
    pub fn watcher(&self) -> Watcher {
        Arc::new(Speaker::new(self.clone()))
    }

    /// The next request. `None` when there will be none: after Ctrl-D, `q` or `exit`, at the end of the input, after the
    /// request of the command line.
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
                None | Some("q" | "exit") => break None,
                Some("") => {}
                Some(_) => break line,
            }
        };
        if line.is_none() {
            self.inner.keyboard.close();
        }
        line
    }

    /// Runs a turn to its end, or until Ctrl-C drops it. An error is shown in one sentence.
    pub async fn run(&self, turn: impl Future<Output = Result<()>>) {
        let inner = &self.inner;
        inner.wires.listen();
        inner.start_thread();
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
            Some(Err(error)) => self.fail(&error),
            None => {
                self.lines(&inner.screen.style.paint(Paint::Dim, "(interrupted)"));
                if !inner.is_session() {
                    // As a shell counts: 128 and the number of SIGINT.
                    inner.wires.leave(130);
                }
            }
        }
    }

    /// Shows a short preview of a result below the line of its call.
    pub fn result(&self, call: &ToolCall, output: &Output) {
        let style = &self.inner.screen.style;
        let margin = self.attributed("").chars().count() + 2;
        let mut lines = text::preview(output, style.columns().saturating_sub(margin)).into_iter();
        let (mark, paint) = match output.is_error {
            true => ("✗ ", Paint::Error),
            false => ("  ", Paint::Dim),
        };
        let first = format!("{mark}{}", lines.next().unwrap_or_default());
        let mut shown = style.paint(paint, &first);
        for line in lines {
            shown.push('\n');
            shown.push_str(&style.paint(Paint::Dim, &format!("  {line}")));
        }
        let label = self.call_line('<', call, style.columns().min(LABEL_COLUMNS));
        let (label, shown) = (self.attributed(&label), self.attributed(&shown));
        self.inner
            .nudge_if(self.inner.screen.result(&call.id, &label, &shown));
    }

    /// Prints whole lines, above an open prompt.
    pub fn say(&self, text: &str) {
        self.lines(&text::clean(text));
    }

    /// Prints whole lines even when everything else is [quiet](Self::quiet).
    pub fn print(&self, text: &str) {
        self.inner
            .nudge_if(self.inner.screen.print(&text::clean(text)));
    }

    /// Asks the user to decide. Dropping the future withdraws the question; several askers wait in line.
    pub async fn confirm(&self, question: &str) -> Answer {
        let inner = &self.inner;
        let _turn = inner.asking.lock().await;
        inner.wires.listen();
        inner.start_thread();
        let question = self.attributed(&text::clean(question.trim_end()));
        let (above, last) = question.rsplit_once('\n').unwrap_or(("", &question));
        if !above.is_empty() {
            inner.nudge_if(inner.screen.print(above));
        }
        let prompt = format!("{last} [y]es / [a]lways / [N]o: ");
        for _ in 0..ASK_TIMES {
            if inner.keyboard.input() == Input::Dumb {
                inner.screen.plain_prompt(&prompt);
            }
            let said = inner.keyboard.ask(prompt.clone()).await;
            let (shown, answer) = match &said {
                Said::Line(line) if line.trim().is_empty() => {
                    ("no", Some(Answer::No(Refusal::User)))
                }
                Said::Line(line) => (line.as_str(), Answer::parse(line)),
                Said::NotAnAnswer => (
                    "no (the next line is no answer)",
                    Some(Answer::No(Refusal::NotAnAnswer)),
                ),
                Said::Interrupted => ("no", Some(Answer::No(Refusal::Interrupted))),
                Said::Nobody => (
                    "no (nobody is there to answer)",
                    Some(Answer::No(Refusal::Nobody)),
                ),
            };
            if inner.keyboard.input() != Input::Dumb {
                inner.nudge_if(
                    inner
                        .screen
                        .print(&format!("{prompt}{}", text::echo(shown))),
                );
            }
            if let Some(answer) = answer {
                return answer;
            }
        }
        Answer::No(Refusal::NotAnAnswer)
    }

    /// The exit code of the session, which ends here: 0; 1 when a turn failed that nobody watched; as a shell counts
    /// when a signal ended it.
    pub fn exit_code(&self) -> ExitCode {
        self.inner.keyboard.close();
        let failed = self.inner.failed.load(Ordering::Relaxed) && !self.inner.is_session();
        ExitCode::from(self.inner.wires.left().unwrap_or(failed.into()))
    }

    fn fail(&self, error: &anyhow::Error) {
        self.inner.failed.store(true, Ordering::Relaxed);
        let error = format!("error: {error:#}");
        let error = text::clean(&error);
        if self.inner.screen.is_quiet() {
            eprintln!("{error}");
        } else {
            self.lines(&self.inner.screen.style.paint(Paint::Error, &error));
        }
    }

    fn lines(&self, lines: &str) {
        let held = self.inner.screen.lines(&self.attributed(lines));
        self.inner.nudge_if(held);
    }

    /// The lines, each with the speaker's name in front.
    fn attributed(&self, lines: &str) -> String {
        let Some(name) = &self.name else {
            return lines.to_owned();
        };
        let margin = self
            .inner
            .screen
            .style
            .paint(Paint::Call, &format!("{name} │"));
        let lines: Vec<String> = lines
            .split('\n')
            .map(|line| format!("{margin} {line}"))
            .collect();
        lines.join("\n")
    }

    fn call_line(&self, mark: char, call: &ToolCall, columns: usize) -> String {
        let columns = columns.saturating_sub(
            self.name
                .as_ref()
                .map_or(0, |name| name.chars().count() + 3),
        );
        let name = format!("{mark} {}", text::one_line(&call.name));
        let line = format!("{name}  {}", text::arguments(call));
        let line = text::cut(line.trim_end(), columns).into_owned();
        match line.strip_prefix(&name) {
            Some(rest) => self.inner.screen.style.paint(Paint::Call, &name) + rest,
            None => line,
        }
    }
}

impl Inner {
    /// The next line, shown as typed where it was not.
    async fn next_line(&self) -> Option<String> {
        if let Some(once) = &self.once {
            return once.lock().unwrap().take();
        }
        self.start_thread();
        let input = self.keyboard.input();
        let line = match self.keyboard.typed_ahead() {
            Some(line) => line,
            None => match input {
                Input::Terminal { .. } => self.keyboard.line().await?,
                Input::Dumb => return self.next_plain_line(input).await,
                Input::Pipe => self.next_plain_line(input).await?,
            },
        };
        if !line.trim().is_empty() || input != Input::Pipe {
            let prompt = self.screen.style.paint(Paint::Prompt, &self.prompt);
            self.nudge_if(self.screen.lines(&format!("{prompt}{}", text::echo(&line))));
        }
        Some(line)
    }

    /// The next line where nothing is edited and Ctrl-C is a signal. It ends a pipe; on a terminal the system clears
    /// the half line, and the prompt is shown again.
    async fn next_plain_line(&self, input: Input) -> Option<String> {
        let mut interrupts = self.wires.interrupts();
        loop {
            if input == Input::Dumb {
                self.screen.plain_prompt(&self.prompt);
            }
            tokio::select! {
                biased;
                line = self.keyboard.line() => return line,
                _ = interrupts.changed() => match input {
                    Input::Pipe => self.wires.leave(130),
                    Input::Dumb | Input::Terminal { .. } => self.nudge_if(self.screen.lines("")),
                }
            }
        }
    }

    /// Whether a user sits there and will see what failed; not so for one request or a pipe.
    fn is_session(&self) -> bool {
        self.once.is_none() && self.keyboard.input() != Input::Pipe
    }

    fn nudge_if(&self, held: bool) {
        if held {
            self.keyboard.nudge();
        }
    }

    /// Starts the thread that reads, when the first one wants something of it: a program that only prints its help
    /// leaves the terminal alone.
    fn start_thread(&self) {
        let Some(wake) = self.wake.lock().unwrap().take() else {
            return;
        };
        let (keyboard, screen) = (self.keyboard.clone(), self.screen.clone());
        let prompt = self.prompt.clone();
        let thread = std::thread::spawn(move || {
            let wake = match keyboard.input() {
                Input::Terminal { .. } => {
                    match Terminal::open(&keyboard, &screen, &prompt, Path::new(HARNESS), wake) {
                        Ok(terminal) => return terminal.serve(),
                        Err(wake) => {
                            keyboard.desk().input = Input::Dumb;
                            wake
                        }
                    }
                }
                Input::Dumb | Input::Pipe => wake,
            };
            plain::serve(&keyboard, wake);
        });
        self.keyboard.started(thread);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.keyboard.close();
    }
}
