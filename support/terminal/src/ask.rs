//! Asking the user, and waiting for the answer: as long as it takes, or as long as the asker likes.
//!
//! One question stands on the screen at a time, and the others wait in line. Invariant: what is no answer is a no that says
//! why.

use std::borrow::Cow;
use std::future::Future;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::answer::{Answer, Refusal};
use crate::desk::{Input, Said};
use crate::{Terminal, text};

/// How often a question is asked on a terminal before no answer is taken for no.
const TIMES: usize = 3;
/// What the user reads who typed something else.
const HINT: &str = "That is no answer, and it was not taken as a request. Type y, a or n.";

impl Terminal {
    /// Asks the user to decide: `question` is a line, with details above it if it has several. Dropping the future
    /// withdraws the question; several askers wait in line.
    pub async fn confirm(&self, question: &str) -> Answer {
        let _asking = self.inner.asking.lock().await;
        self.put(question).await
    }

    /// The same for somebody who does not wait for ever: `None` when the question has stood there for so long without an
    /// answer. While it waits in line nobody can answer it, so that does not count.
    pub async fn confirm_within(&self, question: &str, open: Duration) -> Option<Answer> {
        in_line(&self.inner.asking, open, self.put(question)).await
    }

    async fn put(&self, question: &str) -> Answer {
        let inner = &self.inner;
        if inner.unattended.load(Ordering::Relaxed) {
            return Answer::No(Refusal::Nobody);
        }
        inner.wires.listen();
        inner.start_thread();
        let question = self.attributed(&text::clean(question.trim_end()));
        let (details, question) = question.rsplit_once('\n').unwrap_or(("", &question));
        if !details.is_empty() {
            inner.nudge_if(inner.screen.print(details));
        }
        let prompt = format!("{question} [y]es / [a]lways / [N]o: ");
        for _ in 0..TIMES {
            let said = inner.keyboard.ask(prompt.clone()).await;
            match (inner.keyboard.input(), &said) {
                // The user sees what they typed.
                (Input::Dumb, Said::Line(_)) => {}
                (_, said) => {
                    let settled = format!("{prompt}{}", shown(said));
                    inner.nudge_if(inner.screen.print(&settled));
                }
            }
            if let Some(answer) = answer(&said) {
                return answer;
            }
            inner.nudge_if(inner.screen.print(&self.attributed(HINT)));
        }
        Answer::No(Refusal::NotAnAnswer)
    }
}

/// Waits in line as long as it takes, and then for the answer so long.
async fn in_line<T>(
    line: &Mutex<()>,
    open: Duration,
    answer: impl Future<Output = T>,
) -> Option<T> {
    let _asking = line.lock().await;
    timeout(open, answer).await.ok()
}

fn answer(said: &Said) -> Option<Answer> {
    match said {
        Said::Line(line) if line.trim().is_empty() => Some(Answer::No(Refusal::User)),
        Said::Line(line) => Answer::parse(line),
        Said::NotAnAnswer => Some(Answer::No(Refusal::NotAnAnswer)),
        Said::Interrupted => Some(Answer::No(Refusal::Interrupted)),
        Said::Nobody => Some(Answer::No(Refusal::Nobody)),
    }
}

/// What stands behind the question when it is settled.
fn shown(said: &Said) -> Cow<'_, str> {
    match said {
        Said::Line(line) if line.trim().is_empty() => "no".into(),
        Said::Line(line) => text::echo(line),
        Said::NotAnAnswer => "no (the next line is no answer)".into(),
        Said::Interrupted => "no".into(),
        Said::Nobody => "no (nobody is there to answer)".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_question_that_waits_in_line_has_its_whole_time_when_its_turn_comes() {
        let (line, minute) = (Mutex::new(()), Duration::from_secs(60));
        let began = Instant::now();
        let (first, second, third) = tokio::join!(
            in_line(&line, minute, pending::<()>()),
            in_line(&line, minute, pending::<()>()),
            in_line(&line, minute, ready(())),
        );
        assert_eq!((first, second, third), (None, None, Some(())));
        assert_eq!(began.elapsed(), 2 * minute);
    }
}
