//! The variables that `.mcp.json` may name, and those that say how long is waited.
//!
//! The environment is read here and nowhere else in this chapter. Invariant: the API key is not among the variables that
//! the file may name; one that came with a repository cannot hand it to a program.

use std::time::Duration;

use s01_loop::KEY_VARIABLES;

use crate::connection::Patience;

/// The value of a variable, unless it is not set, is no text, or holds the API key.
pub(crate) fn variable(name: &str) -> Option<String> {
    match KEY_VARIABLES.contains(&name) {
        true => None,
        false => std::env::var(name).ok(),
    }
}

/// How long is waited, by the variables of Claude Code, and what is wrong with them.
pub(crate) fn patience(variable: impl Fn(&str) -> Option<String>) -> (Patience, Vec<String>) {
    let mut patience = Patience::default();
    let mut wrong = Vec::new();
    for (name, place) in [
        ("MCP_TIMEOUT", &mut patience.start),
        ("MCP_TOOL_TIMEOUT", &mut patience.call),
    ] {
        match variable(name).map(|value| value.trim().parse()) {
            None => {}
            Some(Ok(milliseconds @ 1..)) => *place = Duration::from_millis(milliseconds),
            Some(_) => wrong.push(format!(
                "{name} is no number of milliseconds; {} ms it is",
                place.as_millis()
            )),
        }
    }
    (patience, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_of_milliseconds_is_told_and_changes_nothing() {
        let default = Patience::default();
        let (start, call) = (default.start, default.call);
        let second = Duration::from_secs(1);
        for (value, expected, complaints) in [
            (None, (start, call), 0),
            (Some("1000"), (second, second), 0),
            (Some("1 s"), (start, call), 2),
            (Some("0"), (start, call), 2),
            (Some("-5"), (start, call), 2),
        ] {
            let (patience, wrong) = patience(|_| value.map(str::to_owned));
            assert_eq!((patience.start, patience.call), expected, "{value:?}");
            assert_eq!(wrong.len(), complaints, "{wrong:?}");
        }
        let (_, wrong) = patience(|name| (name == "MCP_TIMEOUT").then(|| "soon".to_owned()));
        assert_eq!(
            wrong,
            ["MCP_TIMEOUT is no number of milliseconds; 30000 ms it is"]
        );
    }
}
