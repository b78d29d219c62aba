//! The command line, and the answer that `-p` prints.
//!
//! A person wants to see the work, a script wants the answer and nothing else. Invariants: an option is never taken for a
//! request; a wrong command line ends the program with one sentence before anything begins; with `-p` standard output
//! holds the answer alone, and the exit code says whether there is one and whether a permission was refused.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use s01_loop::{History, Repl, Role, Usage};
use serde::Serialize;

use crate::commands::Commands;
use crate::denials::{Denial, Denials};
use crate::stream::{self, Stream};

/// The exit code with `-p` when there is an answer, and a permission was refused on the way.
const REFUSED: u8 = 3;

/// What the command line asks for.
#[derive(Debug)]
pub struct Start {
    chapter: String,
    /// The request, if it is not typed.
    request: Option<String>,
    /// Only the answer is wanted, in this format.
    print: Option<Format>,
    /// The requests come as lines of JSON.
    input: Option<Input>,
    resumed: Resumed,
    began: Instant,
}

/// The answer as JSON, in the shape that Claude Code gives it.
#[derive(Default, Serialize)]
pub(crate) struct Answer {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub subtype: &'static str,
    pub is_error: bool,
    /// The answer, or what went wrong.
    pub result: String,
    pub session_id: String,
    /// Replies of the model to this conversation.
    pub num_turns: usize,
    pub duration_ms: u128,
    /// Of all requests, side calls, subagents and teammates included.
    pub usage: Usage,
    /// Prices are not known here.
    pub total_cost_usd: Option<f64>,
    /// What was not allowed.
    pub permission_denials: Vec<Denial>,
}

/// Which session goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Resumed {
    /// A new one begins.
    #[default]
    No,
    /// The newest that is open nowhere else.
    Newest,
    /// The one whose id begins so.
    Named(String),
}

/// How the answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    StreamJson,
}

/// How requests come as lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Input {
    /// Each one is told when its turn begins.
    replayed: bool,
}

/// The options and words of a command line.
#[derive(Debug, Default, PartialEq)]
struct Line {
    words: Vec<String>,
    print: bool,
    format: Option<Format>,
    input: Option<Input>,
    replayed: bool,
    resumed: Resumed,
}

/// A parsed command line.
#[derive(Debug, PartialEq)]
enum Parsed {
    Run(Line),
    Help,
    Version,
}

impl Start {
    /// Parses the command line, and with `-p` reads what is piped in. `--help` and `--version` print and exit; a wrong
    /// command line exits with one sentence and code 2.
    pub fn from_args(chapter: &str) -> Self {
        let began = Instant::now();
        let line = match parse(Repl::words()) {
            Ok(Parsed::Run(line)) => line,
            Ok(Parsed::Help) => Repl::leave_with(&usage(chapter)),
            Ok(Parsed::Version) => {
                Repl::leave_with(&format!("{chapter} {}", env!("CARGO_PKG_VERSION")))
            }
            Err(sentence) => Repl::refuse(chapter, &sentence),
        };
        let mut request = line.words.join(" ");
        if line.print && line.input.is_none() {
            match Repl::piped() {
                Ok(Some(piped)) if request.is_empty() => request = piped,
                Ok(Some(piped)) => request = format!("{request}\n\n{piped}"),
                Ok(None) if request.is_empty() => {
                    Repl::refuse(chapter, "-p needs a prompt, behind it or piped in")
                }
                Ok(None) => {}
                Err(error) => Repl::refuse(chapter, &format!("{error:#}")),
            }
        }
        Self {
            chapter: chapter.to_owned(),
            request: (!request.is_empty()).then_some(request),
            print: line.print.then(|| line.format.unwrap_or(Format::Text)),
            input: line.input,
            resumed: line.resumed,
            began,
        }
    }

    /// The terminal that the command line asks for. With `-p` nobody can answer a question, so what no rule allows is
    /// refused.
    pub fn repl(&self) -> Repl {
        if let Some(Input { replayed }) = self.input {
            let lines = Repl::typed(&self.chapter).quiet().unattended();
            return lines.reads(move |repl, line| stream::request(repl, line, replayed));
        }
        match (&self.request, self.print) {
            (None, _) => Repl::typed(&self.chapter).completes(Commands::names()),
            (Some(request), None) => Repl::once(&self.chapter, request),
            (Some(request), Some(_)) => Repl::once(&self.chapter, request).quiet().unattended(),
        }
    }

    /// Passes on a result from before the first turn. With `--output-format json` an error is printed as JSON, too.
    ///
    /// # Errors
    /// When it failed.
    pub fn tried<T>(&self, result: Result<T>) -> Result<T> {
        if let (Err(error), Some(Format::Json | Format::StreamJson)) = (&result, self.print) {
            let answer = Answer {
                result: format!("{error:#}"),
                is_error: true,
                ..Answer::default()
            };
            self.repl().print(&answer.into_json(self.began));
        }
        result
    }

    /// With `-p`, prints the answer as text or as JSON. Returns the exit code. A failure is on standard error already, and
    /// in the JSON too.
    pub fn answer(&self, history: &History, commands: &Commands, denials: &Denials) -> ExitCode {
        let (repl, failure) = (commands.repl(), commands.repl().failure());
        if self.print == Some(Format::StreamJson) {
            return repl.exit_code();
        }
        // What a command or a hook has told is the answer only when no model has given one.
        let told = commands.take_told().filter(|_| history.replies() == 0);
        let said = told.unwrap_or_else(|| last_text(history));
        let denials = denials.take();
        let is_refused = self.print.is_some() && failure.is_none() && !denials.is_empty();
        match (self.print, failure) {
            (None, _) | (Some(Format::Text), Some(_)) => {}
            (Some(Format::Text), None) if said.is_empty() => {}
            (Some(Format::Text), None) => repl.print(&said),
            (Some(_), failure) => {
                let answer = Answer {
                    is_error: failure.is_some(),
                    result: failure.unwrap_or(said),
                    session_id: commands.sessions().id().unwrap_or_default(),
                    num_turns: history.replies(),
                    usage: commands.client().spent(),
                    permission_denials: denials,
                    ..Answer::default()
                };
                repl.print(&answer.into_json(self.began));
            }
        }
        match repl.exit_code() {
            ExitCode::SUCCESS if is_refused => ExitCode::from(REFUSED),
            code => code,
        }
    }

    /// The lines of JSON that the command line asks for, if it does.
    pub fn stream(&self, commands: &Commands, denials: &Denials) -> Stream {
        let is_on = self.print == Some(Format::StreamJson);
        Stream::new(is_on, self.input.is_some(), commands, denials)
    }

    /// Which session goes on.
    pub(crate) fn resumed(&self) -> &Resumed {
        &self.resumed
    }

    /// Whether requests are typed, or come line by line.
    pub(crate) fn is_typed(&self) -> bool {
        self.request.is_none()
    }
}

impl Answer {
    /// As it is printed, when the work on it began then.
    pub fn into_json(self, began: Instant) -> String {
        let answer = Self {
            kind: "result",
            subtype: if self.is_error { "error_during_execution" } else { "success" },
            duration_ms: began.elapsed().as_millis(),
            ..self
        };
        serde_json::to_string(&answer).expect("an answer is JSON")
    }
}

/// The text of the last message, if it is the model's.
pub(crate) fn last_text(history: &History) -> String {
    let last = history.last().filter(|last| last.role() == Role::Assistant);
    last.map(|last| last.text().trim().to_owned()).unwrap_or_default()
}

/// Parses a command line.
fn parse(words: Vec<String>) -> Result<Parsed, String> {
    let mut line = Line::default();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => {
                line.words.extend(words);
                break;
            }
            "-h" | "--help" => return Ok(Parsed::Help),
            "-V" | "--version" => return Ok(Parsed::Version),
            "-p" | "--print" => line.print = true,
            "-r" | "--resume" => {
                let id = words.next_if(|next| !next.starts_with('-'));
                line.resumed = id.map_or(Resumed::Newest, Resumed::Named);
            }
            "--verbose" => {}
            "--replay-user-messages" => line.replayed = true,
            "--input-format" => line.input = input(words.next().as_deref())?,
            "--output-format" => line.format = Some(format(words.next().as_deref())?),
            word => match word.split_once('=') {
                Some(("--resume", "")) => {
                    return Err("--resume= needs the beginning of an id behind it".to_owned());
                }
                Some(("--resume", id)) => line.resumed = Resumed::Named(id.to_owned()),
                Some(("--input-format", name)) => line.input = input(Some(name))?,
                Some(("--output-format", name)) => line.format = Some(format(Some(name))?),
                _ if word.starts_with('-') && word.len() > 1 => {
                    return Err(format!("unknown option {word}; try --help"));
                }
                _ => line.words.push(word.to_owned()),
            },
        }
    }
    if line.format.is_some() && !line.print {
        return Err("--output-format goes with -p; try --help".to_owned());
    }
    let streams = line.format == Some(Format::StreamJson);
    if line.replayed && line.input.is_none() || line.input.is_some() && !streams {
        return Err(
            "lines of JSON go both ways: -p --input-format stream-json --output-format stream-json"
                .to_owned(),
        );
    }
    if line.input.is_some() && !line.words.is_empty() {
        return Err("with --input-format stream-json the prompts come as lines".to_owned());
    }
    line.input = line.input.map(|_| Input {
        replayed: line.replayed,
    });
    if !line.words.is_empty() && line.words.join(" ").trim().is_empty() {
        return Err("the request is empty; try --help".to_owned());
    }
    Ok(Parsed::Run(line))
}

fn format(name: Option<&str>) -> Result<Format, String> {
    match name {
        Some("text") => Ok(Format::Text),
        Some("json") => Ok(Format::Json),
        Some("stream-json") => Ok(Format::StreamJson),
        Some(other) => Err(format!("--output-format is text, json or stream-json, not {other:?}")),
        None => Err("--output-format needs text, json or stream-json behind it".to_owned()),
    }
}

fn input(name: Option<&str>) -> Result<Option<Input>, String> {
    match name {
        Some("text") => Ok(None),
        Some("stream-json") => Ok(Some(Input::default())),
        _ => Err("--input-format needs text or stream-json behind it".to_owned()),
    }
}

/// The text of `--help`.
fn usage(chapter: &str) -> String {
    format!(
        "\
{chapter}                        type requests; /help lists the commands
{chapter} \"request\"              run one turn, show its work, and leave with 0, or with 1 when it failed
{chapter} -p \"prompt\"            print only the answer; what is piped in follows the prompt
… | {chapter}                    each line is a request

-p, --print                     only the answer; questions of permission are answered with no, which is exit code 3
    --output-format text|json   with -p: the answer, or one JSON object that also says what it cost
    --output-format stream-json with -p: each reply and result as a line of JSON
    --input-format stream-json  with it: prompts are lines of JSON, until the input ends; --replay-user-messages repeats
                                each when its turn begins; the servers in .mcp.json that no rule forbids are connected
-r, --resume [ID]               go on with a saved session: the newest, or the one whose id begins so
-h, --help                      this
-V, --version                   the version

ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL choose a real model, MODEL_ID its name; without them a mock model answers."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Parsed, String> {
        parse(line.split(' ').map(str::to_owned).collect())
    }

    fn run(line: &str) -> Line {
        match parsed(line) {
            Ok(Parsed::Run(line)) => line,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_stand_before_or_behind_the_request() {
        for line in [
            "-p hello there --output-format json",
            "--print --output-format=json hello there",
            "hello there --output-format json -p",
        ] {
            let line = run(line);
            assert_eq!((&*line.words.join(" "), line.print), ("hello there", true));
            assert_eq!((line.format, line.resumed), (Some(Format::Json), Resumed::No));
        }
        assert_eq!(run("-- -p").words, ["-p"]);
        for line in ["--resume", "--resume -p go on"] {
            assert_eq!(run(line).resumed, Resumed::Newest);
        }
        for line in ["--resume 3f", "--resume=3f", "-r 3f"] {
            assert_eq!(run(line).resumed, Resumed::Named("3f".into()));
        }
        assert_eq!(parsed("-p --help"), Ok(Parsed::Help));
        assert_eq!(parsed("-V"), Ok(Parsed::Version));
    }

    #[test]
    fn what_is_wrong_is_said_in_one_sentence() {
        for row in [
            "--colour => unknown option --colour; try --help",
            "--output-format json hi => --output-format goes with -p; try --help",
            "-p --output-format xml hi => --output-format is text, json or stream-json, not \"xml\"",
            "-p hi --output-format => --output-format needs text, json or stream-json behind it",
            "-p hi --input-format stream-json --output-format stream-json => with --input-format stream-json the prompts come as lines",
            "--resume= => --resume= needs the beginning of an id behind it",
            "  => the request is empty; try --help",
        ] {
            let (line, why) = row.split_once(" => ").unwrap();
            assert_eq!(parsed(line), Err(why.to_owned()), "{line}");
        }
    }
}
