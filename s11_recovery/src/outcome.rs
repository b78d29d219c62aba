//! What comes after a try: the one place that decides, and the answer is a value.
//!
//! Retry, fallback, escalation, continuation and compaction would each be a loop, and nested loops multiply their
//! tries. Invariants: the same past and the same result give the same step, without clock, dice or network; each step
//! but the last uses something up, so that every request ends.

use std::time::Duration;

use s01_loop::{ApiError, Reply};

use crate::backoff::{self, LONGEST_ASKED, TRIES_WITHOUT_CONTACT};

/// After this many overloads in a row the fallback model is asked.
const MAX_OVERLOADS: u32 = 3;

/// The raised limit, in tokens, after a reply was cut at the usual one.
const RAISED_TOKENS: u32 = 64_000;

/// How many times the rest of a cut reply is asked for.
pub const MAX_CONTINUATIONS: u32 = 3;

/// Error types that a retry cannot change. An error inside a stream has no status, only a type.
const FINAL_KINDS: [&str; 6] = [
    "authentication_error",
    "billing_error",
    "invalid_request_error",
    "not_found_error",
    "permission_error",
    "request_too_large",
];

/// What one request has tried, and what it may still try.
#[derive(Clone, Debug, Default)]
pub struct RetryState {
    /// How often it may be tried.
    pub tries: u32,
    /// Tries that failed since the model last answered.
    pub failures: u32,
    /// How many of the last failures in a row were overloads.
    pub overloads: u32,
    /// Failures of the model before a fallback. The waits of the fallback model start from the beginning.
    pub failures_before: u32,
    /// How many times the rest of a cut reply was asked for.
    pub continuations: u32,
    /// Whether there is another model to ask.
    pub may_fall_back: bool,
    /// Whether the history may be shortened.
    pub may_compact: bool,
    /// Whether the limit of a reply may be raised.
    pub may_raise: bool,
    /// The current limit of a reply, in tokens.
    pub limit: u32,
    /// How many tokens a request and its reply may have together.
    pub window: u64,
    /// True after the limit was raised, until the model accepts it.
    pub is_on_trial: bool,
}

/// The next step.
#[derive(Debug)]
pub enum Outcome {
    /// Return this reply.
    Done(Reply),
    /// Send the request again after a wait.
    Retry {
        /// The wait.
        after: Duration,
        /// What went wrong.
        error: ApiError,
    },
    /// Send it to the fallback model at once.
    FallBack,
    /// Send it again at once with a higher limit.
    Escalate {
        /// The reply that was cut.
        cut: Reply,
        /// The new limit, in tokens.
        limit: u32,
    },
    /// Ask for the rest of this reply.
    Continue(Reply),
    /// Ask for the rest of the cut reply with the usual limit: the raised one was refused.
    TakeBack,
    /// Shorten the history and send it again, if that is what the error is about.
    Compact(ApiError),
    /// Return this error.
    GiveUp(ApiError),
}

impl RetryState {
    /// What to do after this result. `chance` is a number from 0 to 1.
    pub fn next(&mut self, result: Result<Reply, ApiError>, chance: f64) -> Outcome {
        match result {
            Ok(reply) => self.after_reply(reply),
            Err(error) => self.after_error(error, chance),
        }
    }

    /// True after a fallback, until that model answers.
    pub fn has_fallen_back(&self) -> bool {
        self.failures_before > 0
    }

    /// The maximum number of tries for this error.
    pub fn most_tries(&self, error: &ApiError) -> u32 {
        match error {
            ApiError::Unreachable {
                never_met: true, ..
            } => self.tries.min(TRIES_WITHOUT_CONTACT),
            _ => self.tries,
        }
    }

    fn after_reply(&mut self, reply: Reply) -> Outcome {
        self.failures = 0;
        self.failures_before = 0;
        self.overloads = 0;
        self.is_on_trial = false;
        // A call that came whole runs: what it brings is the better reason to go on.
        if reply.stop_reason != "max_tokens" || reply.wants_tools() {
            return Outcome::Done(reply);
        }
        if std::mem::take(&mut self.may_raise)
            && let Some(limit) = self.raised(&reply)
        {
            self.is_on_trial = true;
            return Outcome::Escalate { cut: reply, limit };
        }
        // From here on there is a part to lose, and a shorter history would not be the one it belongs to.
        self.may_compact = false;
        if self.continuations == MAX_CONTINUATIONS {
            return Outcome::Done(reply);
        }
        self.continuations += 1;
        Outcome::Continue(reply)
    }

    /// The raised limit: at most what the window has left beside the prompt, whose size the API reported with the cut
    /// reply.
    fn raised(&self, cut: &Reply) -> Option<u32> {
        let prompt = cut.usage.total().saturating_sub(cut.usage.output_tokens);
        let room = u32::try_from(self.window.saturating_sub(prompt)).unwrap_or(u32::MAX);
        Some(RAISED_TOKENS.min(room)).filter(|limit| *limit > self.limit)
    }

    fn after_error(&mut self, error: ApiError, chance: f64) -> Outcome {
        let is_400 = matches!(error, ApiError::Status { status: 400, .. });
        if self.is_on_trial && is_400 {
            // The same request was fine a moment ago; only the limit is new.
            self.is_on_trial = false;
            self.may_compact = false;
            self.continuations += 1;
            return Outcome::TakeBack;
        }
        if !is_passing(&error) {
            return if is_about_the_request(&error) && std::mem::take(&mut self.may_compact) {
                Outcome::Compact(error)
            } else {
                Outcome::GiveUp(error)
            };
        }
        self.failures += 1;
        self.overloads = if is_overload(&error) { self.overloads + 1 } else { 0 };
        let asked = backoff::asked(&error);
        if self.failures >= self.most_tries(&error)
            || asked.is_some_and(|wait| wait > LONGEST_ASKED)
        {
            return Outcome::GiveUp(error);
        }
        if self.overloads == MAX_OVERLOADS && std::mem::take(&mut self.may_fall_back) {
            self.failures_before = self.failures;
            return Outcome::FallBack;
        }
        let failures = self.failures - self.failures_before;
        let after = asked.unwrap_or_else(|| backoff::wait(failures, chance));
        Outcome::Retry { after, error }
    }
}

/// True if the same request may succeed soon. Decided by status and type; numbers in the text are ignored.
fn is_passing(error: &ApiError) -> bool {
    match error {
        ApiError::Status { status, .. } => matches!(status, 408 | 429 | 500..),
        ApiError::InStream { kind, .. } => !FINAL_KINDS.contains(&kind.as_str()),
        ApiError::Unreachable { .. }
        | ApiError::Interrupted { .. }
        | ApiError::Malformed { .. } => true,
    }
}

/// True if the request itself was refused, perhaps for its length.
fn is_about_the_request(error: &ApiError) -> bool {
    match error {
        ApiError::Status { status, .. } => matches!(status, 400 | 413),
        ApiError::InStream { kind, .. } => {
            kind == "invalid_request_error" || kind == "request_too_large"
        }
        ApiError::Unreachable { .. }
        | ApiError::Interrupted { .. }
        | ApiError::Malformed { .. } => false,
    }
}

/// True for an overloaded model.
pub fn is_overload(error: &ApiError) -> bool {
    match error {
        ApiError::Status { status, kind, .. } => *status == 529 || kind == "overloaded_error",
        ApiError::InStream { kind, .. } => kind == "overloaded_error",
        ApiError::Unreachable { .. }
        | ApiError::Interrupted { .. }
        | ApiError::Malformed { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::backoff::MAX_TRIES;

    use super::*;

    fn status(status: u16) -> ApiError {
        ApiError::Status {
            status,
            kind: "some_error".into(),
            message: "no".into(),
            retry_after: None,
        }
    }

    fn everything_allowed() -> RetryState {
        RetryState {
            tries: MAX_TRIES,
            may_fall_back: true,
            may_compact: true,
            may_raise: true,
            ..RetryState::default()
        }
    }

    #[test]
    fn whatever_fails_in_whatever_order_a_request_ends() {
        let errors = [status(400), status(413), status(429), status(500), status(529)];
        // Each number, written to base five, is an order of errors.
        for order in 0..5_usize.pow(6) {
            let mut tried = everything_allowed();
            let nth = |step: u32| errors[order / 5_usize.pow(step % 6) % 5].clone();
            let end =
                (0..).find(|step| matches!(tried.next(Err(nth(*step)), 0.5), Outcome::GiveUp(_)));
            // Ten tries and a compaction; another model is asked within the ten.
            assert!(end.is_some_and(|end| end <= MAX_TRIES), "{order}: {end:?}");
        }
    }

    #[test]
    fn a_refusal_behind_an_answer_is_no_refusal_of_the_raised_limit() {
        let mut tried = everything_allowed();
        tried.is_on_trial = true;
        assert!(matches!(tried.next(Err(status(529)), 0.0), Outcome::Retry { .. }));
        assert!(matches!(tried.next(Err(status(400)), 0.0), Outcome::TakeBack));
        assert!(matches!(tried.next(Err(status(400)), 0.0), Outcome::GiveUp(_)));
    }
    #[test]
    fn overloads_that_are_not_in_a_row_leave_the_model_as_it_is() {
        let mut tried = everything_allowed();
        for code in [529, 529, 500, 529] {
            let next = tried.next(Err(status(code)), 0.0);
            assert!(matches!(next, Outcome::Retry { .. }), "{code}: {next:?}");
        }
    }
}
