//! Asking a user who may not be there.
//!
//! A question of the lead interrupts a turn that the user is waiting for; a teammate's arrives while the user does
//! something else. Invariant: a question of a teammate is withdrawn after [`APPROVAL_TIMEOUT`]; no answer is a denial,
//! and the model is told why.

use std::time::Duration;

use kit::BoxFuture;
use s01_loop::{Answer, Refusal};
use s03_permission::Approver;

/// How long a teammate's question stays on the screen.
const APPROVAL_TIMEOUT: Duration = Duration::from_secs(120);

/// Asks through another approver, such as a terminal, and denies when no answer comes in time.
#[derive(Clone)]
pub(crate) struct TimedApprover<A>(pub A);

impl<A: Approver> Approver for TimedApprover<A> {
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let answer = self.0.ask_within(question, APPROVAL_TIMEOUT).await;
            answer.unwrap_or_else(|| {
                let seconds = APPROVAL_TIMEOUT.as_secs();
                self.tell(&format!("(no answer in {seconds} seconds, which is a no)"));
                Answer::No(Refusal::Nobody)
            })
        })
    }

    fn tell(&self, text: &str) {
        self.0.tell(text);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Mutex;

    use tokio::time::Instant;

    use super::*;

    /// A terminal with nobody at it.
    #[derive(Default)]
    struct Silence(Mutex<Vec<String>>);

    impl Approver for Silence {
        fn ask<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Answer> {
            Box::pin(pending())
        }

        fn tell(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_nobody_answers_is_a_no_in_the_end() {
        let (began, approver) = (Instant::now(), TimedApprover(Silence::default()));
        let answer = approver.ask("bash: rm -r build?").await;
        assert_eq!(answer, Answer::No(Refusal::Nobody));
        assert_eq!(began.elapsed(), APPROVAL_TIMEOUT);
        let told = approver.0.0.lock().unwrap();
        assert_eq!(*told, ["(no answer in 120 seconds, which is a no)"]);
    }
}
