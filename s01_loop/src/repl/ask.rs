//! Asking the user, and waiting for as long as it takes.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use super::answer::{Answer, Refusal};
use super::desk::{Input, Said};
use super::{Repl, text};

/// How often a question is asked on a terminal before no answer is taken for no.
const TIMES: usize = 3;
/// What the user reads who typed something else.
const HINT: &str = "That is no answer, and it was not taken as a request. Type y, a or n.";

impl Repl {
    /// Asks the user to decide: `question` is a line, with details above it if it has several. Dropping the future
    /// withdraws the question; several askers wait in line.
    pub async fn confirm(&self, question: &str) -> Answer {
        let inner = &self.inner;
        if inner.unattended.load(Ordering::Relaxed) {
            return Answer::No(Refusal::Nobody);
        }
        let _turn = inner.asking.lock().await;
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
