//! Asking the user, and waiting for the answer: as long as it takes, or as long as the asker likes.
//!
//! One question stands on the screen at a time, and the others wait in line. Invariant: anything but an explicit yes
//! is a denial with a reason.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::state::{Input, Said};
use crate::{Repl, text};

/// How often a question is asked on a terminal before no answer is taken for no.
const TIMES: usize = 3;
/// What the user reads who typed something else.
const HINT: &str = "That is no answer, and it was not taken as a request. Type y, a or n.";

/// What the user decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this once.
    Yes,
    /// Yes, and do not ask again.
    Always,
    /// No, or no answer, which is the same.
    No(Refusal),
}

/// Why the answer is no. Displays as a clause to tell the model: "the user said no".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The user typed no, or pressed Enter.
    User,
    /// The user pressed Ctrl-C, which ends the turn as well.
    Interrupted,
    /// The input has ended: nobody is there to ask.
    Nobody,
    /// What came was no answer: on a pipe, the next request; on a terminal, text three times over.
    NotAnAnswer,
}

impl Answer {
    /// Reads y, yes, a, always, n or no, in any case; `None` for anything else.
    pub fn parse(line: &str) -> Option<Self> {
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => Some(Self::Yes),
            "a" | "always" => Some(Self::Always),
            "n" | "no" => Some(Self::No(Refusal::User)),
            _ => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "the user said no",
            Self::Interrupted => "the user interrupted the question",
            Self::Nobody => "nobody was there to answer the question",
            Self::NotAnAnswer => "what came was no answer to the question",
        })
    }
}

impl Repl {
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
        if inner.session().unattended {
            return Answer::No(Refusal::Nobody);
        }
        inner.keyboard.listen();
        inner.start_thread();
        let question = self.attributed(&text::clean(question.trim_end()));
        let (details, question) = question.rsplit_once('\n').unwrap_or(("", &question));
        if !details.is_empty() {
            inner.screen.print(details);
        }
        let prompt = format!("{question} [y]es / [a]lways / [N]o: ");
        for _ in 0..TIMES {
            let said = inner.keyboard.ask(prompt.clone()).await;
            if said == Err(Refusal::Interrupted) {
                // The turn that asks ends here.
                yield_now().await;
            }
            let (answer, shown) = answer(&said);
            // On a plain terminal the user sees what they typed.
            if inner.keyboard.input() != Input::Plain || said.is_err() {
                inner.screen.print(&format!("{prompt}{shown}"));
            }
            if let Some(answer) = answer {
                return answer;
            }
            inner.screen.print(&self.attributed(HINT));
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

/// What the user said, as an answer and as it stands behind the question then.
fn answer(said: &Said) -> (Option<Answer>, Cow<'_, str>) {
    match said {
        Ok(line) if line.trim().is_empty() => (Some(Answer::No(Refusal::User)), "no".into()),
        Ok(line) => (Answer::parse(line), text::echo(line)),
        Err(why) => {
            let shown = match why {
                Refusal::NotAnAnswer => "no (the next line is no answer)",
                Refusal::Nobody => "no (nobody is there to answer)",
                Refusal::User | Refusal::Interrupted => "no",
            };
            (Some(Answer::No(*why)), shown.into())
        }
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

    #[test]
    fn only_the_listed_words_are_answers() {
        assert_eq!(Answer::parse(" Y\n"), Some(Answer::Yes));
        assert_eq!(Answer::parse("yes"), Some(Answer::Yes));
        assert_eq!(Answer::parse("ALWAYS"), Some(Answer::Always));
        assert_eq!(Answer::parse("n"), Some(Answer::No(Refusal::User)));
        for other in ["", "yes please", "yy", "ok", "Delete the file test.txt", "alway"] {
            assert_eq!(Answer::parse(other), None, "{other}");
        }
    }
}
