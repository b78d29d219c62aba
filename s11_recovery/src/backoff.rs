//! How long to wait before the next try.
//!
//! An overloaded server is not helped by clients that return at once or all together, so each wait doubles and has a
//! random part. Invariant: a wait is never shorter than the server's `retry-after`.

use std::time::Duration;

use s01_loop::ApiError;

/// How often a request is tried before its error ends the turn.
pub const MAX_TRIES: u32 = 10;

/// How often it is tried when no request to this address ever succeeded: the URL is probably wrong.
pub const TRIES_WITHOUT_CONTACT: u32 = 4;

/// The longest `retry-after` that is waited for. A longer one ends the turn: retrying earlier would be refused again.
pub const LONGEST_ASKED: Duration = Duration::from_secs(120);

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(32);
/// The random part, at most, as a part of the wait.
const JITTER: f64 = 0.25;

/// The wait behind so many failures: half a second, doubled each time up to 32 s, and up to a quarter more. `chance` is a
/// number from 0 to 1.
pub fn wait(failures: u32, chance: f64) -> Duration {
    let doubled = FIRST.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
    doubled.min(LONGEST).mul_f64(1.0 + JITTER * chance.clamp(0.0, 1.0))
}

/// The wait that the server asks for.
pub fn asked(error: &ApiError) -> Option<Duration> {
    match error {
        ApiError::Status { retry_after, .. } => *retry_after,
        ApiError::InStream { .. }
        | ApiError::Unreachable { .. }
        | ApiError::Interrupted { .. }
        | ApiError::Malformed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_doubles_up_to_32_seconds_and_gets_at_most_a_quarter_more() {
        let waits = |chance| (1..MAX_TRIES).map(move |failures| wait(failures, chance).as_millis());
        let exact = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000];
        assert!(waits(0.0).eq(exact));
        assert!(waits(1.0).eq(exact.map(|wait| wait + wait / 4)));
        assert_eq!(wait(u32::MAX, 0.0), LONGEST);
    }
}
