//! What a result means for the step that asked for it.
//!
//! A harness says only that a tool failed, and why in words; what to do next depends on the kind of failure.
//! Invariant: a refusal is never taken for a mistake of the call, so it is never tried again.

use serde_json::Value;

use super::left::Left;
use super::turn::Past;
use super::{gist, words};

/// What a result means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It worked.
    Fine,
    /// It was done, and what came of it is not in the conversation any more.
    Gone,
    /// A rule or the user said no.
    Denied,
    /// What was named is not there.
    Missing,
    /// The call was wrong.
    BadArgument,
    /// It went wrong otherwise.
    Failed,
}

impl Verdict {
    /// Whether it was done.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Fine | Self::Gone)
    }
}

/// Judges the result of a call.
pub fn judge(past: &Past) -> Verdict {
    if past.left == Left::Nothing && !past.is_error {
        return Verdict::Gone;
    }
    let exit_code = gist::exit_code(past.content);
    let silent = gist::body(past.content).is_empty();
    let command = past
        .input
        .get("command")
        .and_then(Value::as_str)
        .unwrap_or("");
    // grep says with 1 that nothing matched.
    let nothing_found = exit_code == Some(1) && silent && command.starts_with("grep");
    if nothing_found || !past.is_error && exit_code.is_none() {
        return Verdict::Fine;
    }
    let text = past
        .content
        .chars()
        .take(1_000)
        .collect::<String>()
        .to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(words::DENIED) {
        Verdict::Denied
    } else if says(words::MISSING) {
        Verdict::Missing
    } else if exit_code.is_none() && says(words::BAD_ARGUMENT) {
        Verdict::BadArgument
    } else {
        Verdict::Failed
    }
}
