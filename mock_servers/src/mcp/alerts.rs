//! The server alerts: a channel. It pushes messages of its own accord, and asks the user for permission.
//!
//! What a client does with either is seen here: `status` tells what was answered. Invariant: a service is restarted once for
//! each permission, and never without one.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::mock::{MockServer, Outbox, Pushed};
use super::tool::{Effect, MockTool, filled, line, listed};

const INSTRUCTIONS: &str = "Watches services. Its messages come by themselves, in <channel source=\"alerts\">; push makes it \
                            send one. restart asks the user for permission, and status says what became of it.";

/// A message that is pushed.
const MESSAGE: &str = "notifications/claude/channel";
/// A question to the user, and the answer.
const ASKS: &str = "notifications/claude/channel/permission_request";
const ANSWER: &str = "notifications/claude/channel/permission";

/// The longest time until a message is pushed.
const MOST_SECONDS: u64 = 3600;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Push {
    /// What it says.
    text: String,
    /// In how many seconds; at once without it.
    #[schemars(range(max = 3600))]
    after_seconds: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Restart {
    /// The service.
    service: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// The services that were to be restarted, and what was answered; the place is the id of the question.
type Asked = Arc<Mutex<Vec<(String, &'static str)>>>;

/// The server, which has asked nothing yet.
pub fn server() -> MockServer {
    let (outbox, asked) = (Outbox::default(), Asked::default());
    let (pushes, asks) = (outbox.clone(), outbox.clone());
    let (restarted, heard) = (asked.clone(), asked.clone());
    MockServer::new("alerts", INSTRUCTIONS)
        .tool(MockTool::new(
            "push",
            Effect::Adds,
            "Push a message to the agent, now or in some seconds.",
            move |push: Push| push_message(&pushes, &push),
        ))
        .tool(MockTool::new(
            "restart",
            Effect::Adds,
            "Restart a service as soon as the user has allowed it.",
            move |Restart { service }| ask(&asks, &restarted, &service),
        ))
        .tool(MockTool::new(
            "status",
            Effect::Reads,
            "What was to be restarted, and what the user has said.",
            move |Nothing {}| {
                let asked = asked.lock().unwrap();
                Ok(listed(asked.iter().map(|(service, is)| format!("{service}: {is}")), "nothing"))
            },
        ))
        .channel(outbox, move |method, params| {
            if method == ANSWER {
                answered(&heard, params);
            }
        })
}

fn push_message(outbox: &Outbox, push: &Push) -> Result<String, String> {
    let seconds = push.after_seconds.unwrap_or(0);
    if seconds > MOST_SECONDS {
        return Err(format!("after_seconds: expected at most {MOST_SECONDS}, found {seconds}"));
    }
    let text = filled("text", &push.text)?;
    let params = json!({ "content": text, "meta": { "severity": "high" } });
    let after = Duration::from_secs(seconds);
    outbox.lock().unwrap().push(Pushed::new(after, MESSAGE, params));
    Ok(if seconds == 0 { "pushed".to_owned() } else { format!("comes in {seconds} s") })
}

fn ask(outbox: &Outbox, asked: &Asked, service: &str) -> Result<String, String> {
    let service = line("service", service)?.to_owned();
    let mut asked = asked.lock().unwrap();
    let params = json!({
        "request_id": asked.len().to_string(),
        "tool_name": "restart",
        "description": format!("restart {service}"),
        "input_preview": json!({ "service": service }).to_string(),
    });
    outbox.lock().unwrap().push(Pushed::new(Duration::ZERO, ASKS, params));
    asked.push((service, "waits for the user"));
    Ok("The user is asked; status says what they have said.".to_owned())
}

/// Takes the first answer to each question.
fn answered(asked: &Asked, params: &Value) {
    let id = params["request_id"].as_str().and_then(|id| id.parse::<usize>().ok());
    let mut asked = asked.lock().unwrap();
    let waiting = id.and_then(|id| asked.get_mut(id)).filter(|(_, is)| is.starts_with("waits"));
    if let Some((_, is)) = waiting {
        *is = if params["behavior"] == "allow" { "restarted" } else { "not allowed" };
    }
}
