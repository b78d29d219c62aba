//! The command line, and input that is piped in whole.
//!
//! They belong to the process as the terminal does, so whoever owns the one owns the others. Invariants: what the user typed
//! behind a chapter's name is a request or is refused in one sentence; an option is never taken for a request; input that
//! is piped in is waited for only if somebody is there to send it.

use std::io::{self, IsTerminal, Read};

use anyhow::{Context, Result, ensure};
use nix::poll::PollTimeout;

use crate::Repl;
use crate::plain::is_readable;

/// How many milliseconds piped input may take to begin. Whoever starts a program often leaves it a pipe that nobody writes to.
const BEGINS_WITHIN: u16 = 3_000;
/// The most bytes of piped input: more than any model reads.
const MOST_BYTES: u64 = 10_000_000;

impl Repl {
    /// The words of the command line behind the program's name.
    pub fn words() -> Vec<String> {
        let words = std::env::args_os().skip(1);
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Prints this, such as the text of `--help`, and leaves.
    pub fn leave_with(text: &str) -> ! {
        println!("{}", text.trim_end());
        std::process::exit(0);
    }

    /// Says in one sentence what is wrong with the command line, and leaves with exit code 2.
    pub fn refuse(chapter: &str, sentence: &str) -> ! {
        eprintln!("{chapter}: {sentence}");
        std::process::exit(2);
    }

    /// All that is piped in, if anything is; nothing when standard input is a terminal. Bytes that are no UTF-8 are
    /// replaced.
    ///
    /// # Errors
    /// When it is more than a model could read, or cannot be read.
    pub fn piped() -> Result<Option<String>> {
        let stdin = io::stdin();
        if stdin.is_terminal() || !begins() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let mut input = stdin.lock().take(MOST_BYTES + 1);
        input.read_to_end(&mut bytes).context("reading standard input")?;
        ensure!(
            bytes.len() as u64 <= MOST_BYTES,
            "more than {MOST_BYTES} bytes are piped in; put them into a file and name it"
        );
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        Ok((!text.trim().is_empty()).then(|| text.to_owned()))
    }
}

/// Whether something comes, if only the end.
fn begins() -> bool {
    let begins = is_readable(PollTimeout::from(BEGINS_WITHIN));
    if !begins {
        eprintln!("(nothing came through the pipe; going on without it)");
    }
    begins
}

/// The request on the command line, from the words behind the program's name; none when requests are typed, or piped in.
pub fn request(words: Vec<String>) -> Result<Option<String>, String> {
    let mut request = Vec::new();
    let mut options_end = false;
    for word in words {
        match word.as_str() {
            "--" if !options_end => options_end = true,
            option if !options_end && option.starts_with('-') && option.len() > 1 => {
                return Err(format!("unknown option {option}; try --help"));
            }
            _ => request.push(word),
        }
    }
    let is_typed = request.is_empty();
    let request = Some(request.join(" ")).filter(|_| !is_typed);
    match &request {
        Some(empty) if empty.trim().is_empty() => Err("the request is empty; try --help".into()),
        _ => Ok(request),
    }
}

/// Whether somebody asks how to use this.
pub fn wants_help(words: &[String]) -> bool {
    let mut options = words.iter().take_while(|word| *word != "--");
    options.any(|word| word == "-h" || word == "--help")
}

/// The text of `--help`.
pub fn usage(chapter: &str) -> String {
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

    fn request(words: &[&str]) -> Result<Option<String>, String> {
        super::request(words.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn words_are_one_request() {
        assert_eq!(request(&[]), Ok(None));
        assert_eq!(request(&["list", "all files"]), Ok(Some("list all files".into())));
        assert_eq!(request(&["--", "-5 + 3?"]), Ok(Some("-5 + 3?".into())));
        assert!(request(&[" "]).is_err());
    }

    #[test]
    fn an_option_is_no_request() {
        let unknown = "unknown option --resume; try --help";
        assert_eq!(request(&["--resume", "list"]), Err(unknown.into()));
        assert!(wants_help(&["list".into(), "--help".into()]));
        assert!(!wants_help(&["--".into(), "-h".into()]));
    }
}
