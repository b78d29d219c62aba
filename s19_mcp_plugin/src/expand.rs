//! `${NAME}` and `${NAME:-default}` in a text of `.mcp.json`.
//!
//! The user is asked before a program starts and must see what it is, but a variable may hold a password. So a text is
//! expanded into two: the value, and the word of a shell that means it, which keeps the variable's name. Invariant: a
//! value from the environment stands in the first and never in the second.

use std::borrow::Cow;

/// A text with its variables put in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Expanded {
    /// What the program is given.
    pub value: String,
    /// How a shell would write it.
    pub shown: String,
}

/// Puts the variables into a text; the error is the name of the one that is missing.
pub(crate) fn expand(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Expanded, String> {
    let (mut value, mut shown) = (String::new(), String::new());
    let mut names_a_variable = false;
    let mut rest = text;
    while let Some((before, reference, behind)) = next_reference(rest) {
        value.push_str(before);
        shown.push_str(&in_quotes(before));
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        match (variable(name), default) {
            (Some(found), _) => {
                value.push_str(&found);
                shown.push_str(&format!("${{{name}}}"));
                names_a_variable = true;
            }
            (None, Some(default)) => {
                value.push_str(default);
                shown.push_str(&in_quotes(default));
            }
            (None, None) => return Err(name.to_owned()),
        }
        rest = behind;
    }
    value.push_str(rest);
    shown.push_str(&in_quotes(rest));
    let shown = match names_a_variable {
        true => format!("\"{shown}\""),
        false => shell_words::quote(&value).into_owned(),
    };
    Ok(Expanded { value, shown })
}

/// The text before the next `${…}` that names a variable, what stands between its braces, and the text behind it.
fn next_reference(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let start = from + text[from..].find("${")?;
        let end = start + text[start..].find('}')?;
        let inside = &text[start + 2..end];
        let name = inside.split_once(":-").map_or(inside, |(name, _)| name);
        if is_variable_name(name) {
            return Some((&text[..start], inside, &text[end + 1..]));
        }
        from = start + 2;
    }
}

/// Whether a shell takes it for the name of a variable.
pub(crate) fn is_variable_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(allowed)
        && name
            .bytes()
            .next()
            .is_some_and(|first| !first.is_ascii_digit())
}

/// The text as it stands between a shell's double quotes.
fn in_quotes(text: &str) -> Cow<'_, str> {
    const SPECIAL: [char; 4] = ['\\', '"', '$', '`'];
    if !text.contains(SPECIAL) {
        return Cow::Borrowed(text);
    }
    let escaped = text
        .chars()
        .flat_map(|c| SPECIAL.contains(&c).then_some('\\').into_iter().chain([c]));
    Cow::Owned(escaped.collect())
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
            (
                "`${HOME}` $5 \"",
                "`/users/ada` $5 \"",
                "\"\\`${HOME}\\` \\$5 \\\"\"",
            ),
            (
                "$HOME ${not a name} ${",
                "$HOME ${not a name} ${",
                "'$HOME ${not a name} ${'",
            ),
            ("${${HOME}", "${/users/ada", "\"\\${${HOME}\""),
        ] {
            let expected = Expanded {
                value: value.into(),
                shown: shown.into(),
            };
            assert_eq!(expand(text, &variable), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_variable_that_is_not_there_is_named() {
        assert_eq!(expand("a ${NONE} b", &variable), Err("NONE".into()));
    }

    /// What the user is shown is what a shell would run.
    #[test]
    fn a_shell_reads_the_shown_word_as_the_value() {
        for text in [
            "it's",
            "${HOME}'s \"x\" `y` $z \\",
            "${NONE:-$(id)}",
            "a\nb ${TOKEN}",
            "!x ${HOME}",
        ] {
            let Expanded { value, shown } = expand(text, &variable).unwrap();
            let mut bash = std::process::Command::new("bash");
            bash.args(["-c", &format!("printf %s {shown}")]);
            let said = bash
                .env("HOME", "/users/ada")
                .env("TOKEN", "s3cret")
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(said.stdout).unwrap(), value, "{shown}");
        }
    }
}
