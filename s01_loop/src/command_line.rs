//! The command line: nothing, or one request.
//!
//! Every chapter is started the same way, so the rules stand here once. Invariant: what the user typed is a request or
//! is refused in one sentence; an option is never taken for a request.

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Args {
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
    pub fn parse(args: impl IntoIterator<Item = String>) -> Self {
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
