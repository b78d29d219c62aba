//! Tools that need input from the client before they answer (2026-07-28): each round is a request of its own.
//!
//! What a later round must know goes out with the question and comes back with the answer. Invariant: a state that was
//! changed on the way is refused.

use std::sync::LazyLock;

use rmcp::ErrorData;
use rmcp::model::{InputRequiredResult, InputResponses, RequestStateCodec};
use serde_json::{Value, json};

use crate::{model, refuse};

/// Signs what goes out. The key lives as long as the process.
static SEAL: LazyLock<RequestStateCodec> = LazyLock::new(|| {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    RequestStateCodec::new(format!("{since:032x}{:032x}", std::process::id()))
});

/// The questions of a tool, round by round, each with its key and what it is.
pub struct Rounds {
    rounds: &'static [&'static [(&'static str, Question)]],
    /// Whether a state goes with them.
    state: bool,
}

#[derive(Clone, Copy)]
enum Question {
    /// A form with one text field.
    Form(&'static str, &'static str),
    Sampling(&'static str),
    Roots,
}

/// What a round comes to.
pub enum Next {
    Ask(InputRequiredResult),
    Done(String),
}

const NAME: (&str, Question) = ("user_name", Question::Form("What is your name?", "name"));
const ROOTS: (&str, Question) = ("client_roots", Question::Roots);

/// The rounds of a tool that has some.
pub fn of(tool: &str) -> Option<Rounds> {
    use Question::{Form, Sampling};
    let (rounds, state): (&'static [&'static [(&'static str, Question)]], bool) =
        match tool.strip_prefix("test_input_required_result_")? {
            "elicitation" => (&[&[NAME]], false),
            "sampling" => {
                (&[&[("capital_question", Sampling("What is the capital of France?"))]], false)
            }
            "list_roots" => (&[&[ROOTS]], false),
            "capabilities" => (&[&[NAME, ("greeting", Sampling("Say hello")), ROOTS]], false),
            "request_state" | "tampered_state" => {
                (&[&[("confirm", Form("Please confirm", "ok"))]], true)
            }
            "multiple_inputs" => (&[&[NAME, ("greeting", Sampling("Say hello")), ROOTS]], true),
            "multi_round" => (
                &[
                    &[("step1", Form("Step 1: What is your name?", "name"))],
                    &[("step2", Form("Step 2: What is your favorite color?", "color"))],
                ],
                true,
            ),
            _ => return None,
        };
    Some(Rounds { rounds, state })
}

/// What the prompt that needs input asks.
pub fn context() -> InputRequiredResult {
    let form = Question::Form("What context should the prompt use?", "context");
    model(
        json!({ "resultType": "input_required", "inputRequests": { "user_context": form.ask() } }),
    )
}

impl Question {
    fn ask(self) -> Value {
        match self {
            Self::Form(message, field) => {
                let kind = if field == "ok" { "boolean" } else { "string" };
                json!({ "method": "elicitation/create", "params": {
                    "mode": "form", "message": message, "requestedSchema": {
                        "type": "object",
                        "properties": { (field): { "type": kind } },
                        "required": [field]
                    }
                }})
            }
            Self::Sampling(prompt) => json!({ "method": "sampling/createMessage", "params": {
                "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
                "maxTokens": 100
            }}),
            Self::Roots => json!({ "method": "roots/list", "params": {} }),
        }
    }

    /// The capability that a client must have declared.
    fn needs(self) -> &'static str {
        match self {
            Self::Form(..) => "elicitation",
            Self::Sampling(_) => "sampling",
            Self::Roots => "roots",
        }
    }
}

impl Rounds {
    /// The next question, or the end.
    pub fn next(
        &self,
        capabilities: &Value,
        answers: &InputResponses,
        state: Option<&str>,
    ) -> Result<Next, ErrorData> {
        let mut round = 0;
        if let Some(state) = state.filter(|_| self.state) {
            let opened = SEAL.open(state).ok();
            let opened =
                opened.and_then(|state| String::from_utf8(state).ok()?.parse::<usize>().ok());
            round = opened.ok_or_else(|| refuse("the request state was changed".to_owned()))?;
        }
        let able = |question: &(&str, Question)| !capabilities[question.1.needs()].is_null();
        let questions = self.rounds.get(round).copied().unwrap_or_default();
        // A client that says nothing of what it can do is asked everything.
        let asked: Vec<_> = questions.iter().filter(|it| able(it)).collect();
        let answered = asked.iter().all(|(key, _)| answers.get(*key).is_some_and(Value::is_object));
        if answered && (state.is_some() || !self.state) && !asked.is_empty() {
            round += 1;
            if round == self.rounds.len() {
                let said = asked.iter().map(|(key, _)| answers[*key].to_string());
                let said: Vec<_> = said.collect();
                return Ok(Next::Done(format!("state-ok: {}", said.join(", "))));
            }
        }
        let questions = self.rounds[round].iter().filter(|it| able(it));
        let questions: serde_json::Map<_, _> =
            questions.map(|(key, question)| ((*key).to_owned(), question.ask())).collect();
        let mut result = json!({ "resultType": "input_required", "inputRequests": questions });
        if self.state {
            result["requestState"] = json!(SEAL.seal(round.to_string().as_bytes()));
        }
        Ok(Next::Ask(model(result)))
    }
}
