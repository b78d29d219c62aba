//! The environment: the variables that `.mcp.json` may name, and the timeouts.
//!
//! The user is asked before a program starts and must see what it is, but a variable may hold a password. So a text of the
//! file is expanded into two: the value, and the word of a shell that means it, which keeps the variable's name. The
//! environment is read here and nowhere else in this chapter. Invariants: a value from the environment stands in the first
//! and never in the second; the API key is not among the variables that a file, which came with a repository, may name.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use s01_loop::KEY_VARIABLES;

use crate::server::Timeouts;

/// `${NAME}`, or `${NAME:-default}`.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}").expect("a pattern of ours")
});

/// A text with its variables expanded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Expanded {
    /// What the program is given.
    pub value: String,
    /// How a shell would write it.
    pub shown: String,
}

/// The value of a variable, unless it is not set, is not Unicode, or holds the API key.
#[expect(clippy::disallowed_methods, reason = "the one place that reads them")]
pub(crate) fn variable(name: &str) -> Option<String> {
    if KEY_VARIABLES.contains(&name) {
        return None;
    }
    std::env::var(name).ok()
}

/// The timeouts, by the variables of Claude Code, and what is wrong with these.
pub(crate) fn timeouts(variable: impl Fn(&str) -> Option<String>) -> (Timeouts, Vec<String>) {
    let mut timeouts = Timeouts::default();
    let mut wrong = Vec::new();
    for (name, timeout) in
        [("MCP_TIMEOUT", &mut timeouts.start), ("MCP_TOOL_TIMEOUT", &mut timeouts.call)]
    {
        match variable(name).map(|value| value.trim().parse()) {
            None => {}
            Some(Ok(milliseconds @ 1..)) => *timeout = Duration::from_millis(milliseconds),
            Some(_) => wrong.push(format!(
                "{name} is no number of milliseconds; {} ms it is",
                timeout.as_millis()
            )),
        }
    }
    (timeouts, wrong)
}

/// Expands `${NAME}` and `${NAME:-default}`; the error is the name of a variable that is not set.
pub(crate) fn expand(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Expanded, String> {
    let (mut value, mut shown) = (String::new(), String::new());
    let (mut names_a_variable, mut done) = (false, 0);
    for found in REFERENCE.captures_iter(text) {
        let whole = found.get(0).expect("it has matched");
        let before = &text[done..whole.start()];
        done = whole.end();
        value.push_str(before);
        shown.push_str(&in_quotes(before));
        let name = &found[1];
        if let Some(set) = variable(name) {
            value.push_str(&set);
            shown.push_str(&format!("${{{name}}}"));
            names_a_variable = true;
        } else {
            let default = found.get(2).ok_or_else(|| name.to_owned())?.as_str();
            value.push_str(default);
            shown.push_str(&in_quotes(default));
        }
    }
    value.push_str(&text[done..]);
    shown.push_str(&in_quotes(&text[done..]));
    let shown = if names_a_variable {
        format!("\"{shown}\"")
    } else {
        shell_words::quote(&value).into_owned()
    };
    Ok(Expanded { value, shown })
}

/// Whether a shell takes it for the name of a variable.
pub(crate) fn is_variable_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(allowed) && name.starts_with(|c: char| !c.is_ascii_digit())
}

/// The text as it stands between a shell's double quotes.
fn in_quotes(text: &str) -> String {
    let escape = |c: char| "\\\"$`".contains(c).then_some('\\').into_iter().chain([c]);
    text.chars().flat_map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<String> {
        match name {
            "HOME" => Some("/users/ada".into()),
            "TOKEN" => Some("s3cret".into()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_put_in_and_their_values_are_not_shown() {
        for (text, value, shown) in [
            ("plain", "plain", "plain"),
            ("two words", "two words", "'two words'"),
            ("${HOME}/notes", "/users/ada/notes", "\"${HOME}/notes\""),
            ("Bearer ${TOKEN}", "Bearer s3cret", "\"Bearer ${TOKEN}\""),
            ("${TOKEN}${HOME}", "s3cret/users/ada", "\"${TOKEN}${HOME}\""),
            ("${NONE:-8080}", "8080", "8080"),
            ("${NONE:-}", "", "''"),
            ("${EMPTY:-8080}", "", "\"${EMPTY}\""),
            ("${TOKEN:-none}", "s3cret", "\"${TOKEN}\""),
            ("`${HOME}` $5 \"", "`/users/ada` $5 \"", "\"\\`${HOME}\\` \\$5 \\\"\""),
            ("$HOME ${not a name} ${", "$HOME ${not a name} ${", "'$HOME ${not a name} ${'"),
            ("${${HOME}", "${/users/ada", "\"\\${${HOME}\""),
        ] {
            let expected = Expanded {
                value: value.into(),
                shown: shown.into(),
            };
            assert_eq!(expand(text, &variable), Ok(expected), "{text}");
        }
        assert_eq!(expand("a ${NONE} b", &variable), Err("NONE".into()));
    }

    /// What the user is shown is what a shell would run.
    #[test]
    fn a_shell_reads_the_shown_word_as_the_value() {
        for text in
            ["it's", "${HOME}'s \"x\" `y` $z \\", "${NONE:-$(id)}", "a\nb ${TOKEN}", "!x ${HOME}"]
        {
            let Expanded { value, shown } = expand(text, &variable).unwrap();
            let mut bash = std::process::Command::new("bash");
            bash.args(["-c", &format!("printf %s {shown}")]);
            let said = bash.env("HOME", "/users/ada").env("TOKEN", "s3cret").output().unwrap();
            assert_eq!(String::from_utf8(said.stdout).unwrap(), value, "{shown}");
        }
    }

    #[test]
    fn what_is_no_number_of_milliseconds_is_told_and_changes_nothing() {
        let default = Timeouts::default();
        for (value, start, is_wrong) in [
            (None, default.start, false),
            (Some("1000"), Duration::from_secs(1), false),
            (Some("1 s"), default.start, true),
            (Some("0"), default.start, true),
            (Some("-5"), default.start, true),
        ] {
            let of = |name: &str| value.filter(|_| name == "MCP_TIMEOUT").map(str::to_owned);
            let (timeouts, told) = timeouts(of);
            assert_eq!((timeouts.start, timeouts.call), (start, default.call));
            let sentence = "MCP_TIMEOUT is no number of milliseconds; 30000 ms it is";
            assert_eq!(told, vec![sentence; usize::from(is_wrong)]);
        }
    }
}
