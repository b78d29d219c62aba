//! What the user reads of a step: what happens now, and whether text on the screen will be repeated.
//!
//! The client reports what went wrong with a reply; a remark says what recovery does about it. Invariant: no retry and
//! no long wait is silent.

use std::time::Duration;

use kit::grouped;
use s01_loop::{ApiError, CHECK_ADDRESS, Client, Reply};

use crate::backoff::{LONGEST_ASKED, asked};
use crate::outcome::{MAX_CONTINUATIONS, Outcome, RetryState, is_overload};

/// The maximum length of a server's message in a remark.
const WORDS: usize = 80;

/// From this wait on, the remark says how to end it.
const LONG_WAIT: Duration = Duration::from_secs(7);

/// The remark about this step, if it needs one.
pub fn remark(outcome: &Outcome, tried: &RetryState, client: &Client) -> Option<String> {
    let count = format!("({}/{MAX_CONTINUATIONS})", tried.continuations);
    match outcome {
        Outcome::Done(reply) => cut(reply),
        Outcome::Retry { after, error } => Some(retry(*after, error, tried)),
        Outcome::FallBack => {
            let (times, other) = (tried.overloads, client.fallback()?);
            let other = other.model();
            Some(format!("overloaded {times} times in a row: asking `{other}` for this reply"))
        }
        Outcome::Escalate { limit, .. } => {
            let limit = grouped(*limit);
            Some(format!("asking again with a limit of {limit} tokens; the reply begins again"))
        }
        Outcome::TakeBack => Some(format!("that limit was refused: asking for the rest {count}")),
        Outcome::Continue(reply) if reply.lost_a_call => {
            Some(format!("asking for the call in smaller parts {count}"))
        }
        Outcome::Continue(_) => Some(format!("asking for the rest {count}")),
        // The compactor says what it does.
        Outcome::Compact(_) => None,
        Outcome::GiveUp(error) => giving_up(error, tried, client),
    }
}

fn cut(reply: &Reply) -> Option<String> {
    let is_cut = reply.stop_reason == "max_tokens" && !reply.wants_tools();
    let text = if reply.lost_a_call {
        "the tool call does not fit into a reply: ask for it in smaller parts"
    } else {
        "the reply ends here: ask for the rest if you need it"
    };
    is_cut.then(|| text.to_owned())
}

fn retry(after: Duration, error: &ApiError, tried: &RetryState) -> String {
    let (seconds, why) = (after.as_secs_f64(), why(error));
    let (failures, tries) = (tried.failures, tried.most_tries(error));
    let again = match error {
        // The first line is the one that is read.
        ApiError::Unreachable {
            never_met: true, ..
        } if failures == 1 => &format!(" — {CHECK_ADDRESS}; Ctrl-C ends the turn"),
        ApiError::Status { .. } | ApiError::Unreachable { .. } => "",
        // Some of it may have been shown.
        _ if tried.continuations > 0 => "; the rest begins again",
        ApiError::InStream { .. } | ApiError::Interrupted { .. } | ApiError::Malformed { .. } => {
            "; the reply begins again"
        }
    };
    let way_out = if after < LONG_WAIT { "" } else { "; Ctrl-C ends the turn" };
    format!("retrying in {seconds:.1} s ({failures}/{tries}): {why}{again}{way_out}")
}

/// Why a try failed, in a few words.
fn why(error: &ApiError) -> String {
    let words = match error {
        _ if is_overload(error) => "overloaded".to_owned(),
        ApiError::Status { status: 429, .. } => "rate limited".to_owned(),
        ApiError::Status {
            status, message, ..
        } => format!("{status} {message}"),
        ApiError::InStream { kind, message } => format!("{kind}: {message}"),
        ApiError::Unreachable {
            address, reason, ..
        } => format!("no answer from {address}: {reason}"),
        ApiError::Interrupted { reason } | ApiError::Malformed { reason } => reason.clone(),
    };
    kit::cut(&words, WORDS)
}

/// Why there is no further try. The error itself is shown after it.
fn giving_up(error: &ApiError, tried: &RetryState, client: &Client) -> Option<String> {
    if let (
        Some(other),
        ApiError::Status {
            status: 403 | 404, ..
        },
    ) = (client.fallback(), error)
        && tried.has_fallen_back()
    {
        let other = other.model();
        return Some(format!("giving up: `{other}` (FALLBACK_MODEL_ID) was refused"));
    }
    let tries = tried.most_tries(error);
    if tried.failures >= tries {
        return Some(format!("giving up after {tries} tries"));
    }
    let wait = asked(error).filter(|wait| *wait > LONGEST_ASKED)?.as_secs();
    Some(format!("giving up: the server asks for a wait of {wait} s"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use s01_loop::{Settings, Unobserved};

    use super::*;

    #[test]
    fn a_fallback_that_nobody_knows_is_blamed_for_its_own_404() {
        let settings = Settings {
            base_url: Some("http://localhost:1".into()),
            fallback_model: Some("no-such-model".into()),
            ..Settings::default()
        };
        let client = Client::new(settings, Arc::new(Unobserved)).unwrap();
        let status = |status| ApiError::Status {
            status,
            kind: "some_error".into(),
            message: "no".into(),
            retry_after: None,
        };
        let mut tried = RetryState {
            tries: 10,
            may_fall_back: true,
            ..RetryState::default()
        };
        let said = |tried: &RetryState| giving_up(&status(404), tried, &client);
        assert_eq!(said(&tried), None);
        for _ in 0..3 {
            tried.next(Err(status(529)), 0.0);
        }
        assert_eq!(
            said(&tried).unwrap(),
            "giving up: `no-such-model` (FALLBACK_MODEL_ID) was refused"
        );
    }
}
