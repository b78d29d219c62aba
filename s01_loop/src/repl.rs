//! The terminal as a chapter uses it.
//!
//! The crate `terminal` owns the keyboard and the screen and knows no lesson. Here it gets a chapter's prompt, history and
//! command line, and learns what tool calls, outputs and a client's events look like.
//! Invariants: nothing else in the course touches standard input or output; what the user typed behind a chapter's name is
//! a request or is refused in one sentence; an option is never taken for a request.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use terminal::{Call, Program, Shown, Terminal};

use crate::observer::{Event, Observer, SharedObserver};
use crate::tool::{Output, ToolCall};
use kit::{STATE_DIR, make_state_folder};

/// A handle on the terminal. All clones share it; a [named](Repl::named) one speaks under its name.
#[derive(Clone)]
pub struct Repl(Terminal);

impl Repl {
    /// The terminal of a chapter, as its command line wants it: a session, or one request. Prints `--help` and leaves;
    /// an option that nobody knows ends the program with one sentence and exit code 2.
    pub fn new(chapter: &str) -> Self {
        match Args::parse(Self::words()) {
            Args::Typed => Self::typed(chapter),
            Args::Once(request) => Self::once(chapter, request),
            Args::Help => Self::leave_with(&usage(chapter)),
            Args::Wrong(sentence) => Self::refuse(chapter, &sentence),
        }
    }

    /// A session: requests are typed, or piped in.
    pub fn typed(chapter: &str) -> Self {
        Self(Terminal::session(program(chapter)))
    }

    /// One request, then the end.
    pub fn once(chapter: &str, request: impl Into<String>) -> Self {
        Self(Terminal::once(program(chapter), request.into()))
    }

    /// The same terminal for somebody else: what they say, call and ask carries their name.
    pub fn named(&self, name: &str) -> Self {
        Self(self.0.named(name))
    }

    /// Shows nothing from now on but questions and what is [printed](Terminal::print) on purpose; errors go to standard
    /// error. For callers who want only an answer.
    pub fn quiet(self) -> Self {
        self.0.be_quiet();
        self
    }

    /// Tab completes these words at the beginning of a line.
    pub fn completes(self, words: Vec<&'static str>) -> Self {
        self.0.complete(words);
        self
    }

    /// Asks nobody from now on: the answer to every question is no.
    pub fn unattended(self) -> Self {
        self.0.leave_unattended();
        self
    }

    /// The words of the command line behind the program's name.
    pub fn words() -> Vec<String> {
        terminal::words()
    }

    /// Prints this, such as the text of `--help`, and leaves.
    pub fn leave_with(text: &str) -> ! {
        terminal::leave_with(text)
    }

    /// Says in one sentence what is wrong with the command line, and leaves with exit code 2.
    pub fn refuse(chapter: &str, sentence: &str) -> ! {
        terminal::refuse(chapter, sentence)
    }

    /// All that is piped in, if anything is.
    ///
    /// # Errors
    /// When it is more than a model could read, or cannot be read.
    pub fn piped() -> Result<Option<String>> {
        terminal::piped()
    }

    /// Shows what a client's requests do.
    pub fn watcher(&self) -> SharedObserver {
        Arc::new(self.clone())
    }
}

impl Deref for Repl {
    type Target = Terminal;

    fn deref(&self) -> &Terminal {
        &self.0
    }
}

/// The prompt of `s01_loop` is `s01 >> `.
fn program(chapter: &str) -> Program {
    let short = chapter.split_once('_').map_or(chapter, |(short, _)| short);
    Program {
        name: chapter.to_owned(),
        prompt: format!("{short} >> "),
        folder: PathBuf::from(STATE_DIR),
        make_folder: make_state_folder,
    }
}

impl Observer for Repl {
    fn name(&self) -> Option<&str> {
        self.0.name()
    }

    fn see(&self, event: Event<'_>) {
        match event {
            Event::Connected(endpoint) => self.connected(endpoint),
            Event::Waiting => self.waiting(),
            Event::Text(piece) => self.text(piece),
            Event::Call(call) => self.call(call),
            Event::Notice(notice) => self.notice(notice),
            Event::Done => self.done(),
            Event::Spent(_) => {}
        }
    }
}

impl<'a> From<&'a ToolCall> for Call<'a> {
    fn from(call: &'a ToolCall) -> Self {
        Self {
            id: &call.id,
            name: &call.name,
            input: &call.input,
        }
    }
}

impl<'a> From<&'a Output> for Shown<'a> {
    fn from(output: &'a Output) -> Self {
        Self {
            text: &output.text,
            is_error: output.is_error,
        }
    }
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Args {
    /// Requests are typed, or piped in.
    Typed,
    /// One request, then the end.
    Once(String),
    /// How to use this.
    Help,
    /// Something else; the sentence says what.
    Wrong(String),
}

impl Args {
    /// Reads the arguments that follow the program's name.
    fn parse(args: impl IntoIterator<Item = String>) -> Self {
        let mut words = Vec::new();
        let mut options_end = false;
        for word in args {
            match word.as_str() {
                "--" if !options_end => options_end = true,
                "-h" | "--help" if !options_end => return Self::Help,
                option if !options_end && option.starts_with('-') && option.len() > 1 => {
                    return Self::Wrong(format!("unknown option {option}; try --help"));
                }
                _ => words.push(word),
            }
        }
        let request = words.join(" ");
        if words.is_empty() {
            Self::Typed
        } else if request.trim().is_empty() {
            Self::Wrong("the request is empty; try --help".to_owned())
        } else {
            Self::Once(request)
        }
    }
}

/// The text of `--help`.
fn usage(chapter: &str) -> String {
    format!(
        "\
{chapter}              type requests; Ctrl-C or Esc stops a turn; Alt-Enter begins a new line; Ctrl-D, q or exit leaves
{chapter} \"request\"    run one turn and leave with 0, or with 1 when it failed
… | {chapter}          each line is a request

ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL choose a real model, MODEL_ID its name; without them a mock model answers.
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_is_the_chapters_number() {
        assert_eq!(program("s01_loop").prompt, "s01 >> ");
        assert_eq!(program("s19_mcp_plugin").prompt, "s19 >> ");
    }

    fn parse(args: &[&str]) -> Args {
        Args::parse(args.iter().map(ToString::to_string))
    }

    #[test]
    fn words_are_one_request() {
        assert_eq!(parse(&[]), Args::Typed);
        assert_eq!(
            parse(&["list", "all files"]),
            Args::Once("list all files".into())
        );
        assert_eq!(parse(&["--", "-5 + 3?"]), Args::Once("-5 + 3?".into()));
    }

    #[test]
    fn an_option_is_no_request() {
        assert_eq!(parse(&["--help"]), Args::Help);
        assert_eq!(
            parse(&["--resume", "list"]),
            Args::Wrong("unknown option --resume; try --help".into())
        );
        assert!(matches!(parse(&[" "]), Args::Wrong(_)));
    }
}
