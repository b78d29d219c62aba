//! A lead and its teammates, as the mock model sees them: who asks, and what reached whom.
//!
//! The class tests of s15 and of all chapters with teammates share it. Invariant: whose request it is follows from the
//! request alone.

use std::sync::Arc;

use mock_servers::model::{Block, MockModel, Options, Reply, Request, Role, calls};
use serde_json::json;

use crate::assert_pool;

/// The name of the teammate that asks; none for the lead.
pub fn teammate(request: &Request) -> Option<&str> {
    let (_, rest) = request.system.split_once("You are a teammate named '")?;
    rest.split('\'').next()
}

/// A strict model in which the lead and the teammates think each for itself.
pub fn model(lead: fn(&Request) -> Reply, mate: fn(&Request) -> Reply) -> MockModel {
    let brain = move |request: &Request| match teammate(request) {
        Some(_) => mate(request),
        None => lead(request),
    };
    MockModel::start(Options::strict(), brain).expect("loopback has a free port")
}

/// Spawns a teammate with this job.
pub fn spawn(name: &str, prompt: &str) -> Reply {
    let input = json!({"name": name, "role": "developer", "prompt": prompt});
    calls("spawn_teammate", input)
}

/// How many results this conversation has.
pub fn round(request: &Request) -> usize {
    request.results().len()
}

/// The mail of this type that has reached this conversation, oldest first.
pub fn mail(request: &Request, from: &str, kind: &str) -> Vec<String> {
    let head = format!("<mail from=\"{from}\" type=\"{kind}\">");
    let texts = request.user_texts().into_iter();
    texts.filter(|text| text.contains(&head)).collect()
}

/// What the model itself has said and called in this conversation.
pub fn own(request: &Request) -> Vec<Block> {
    let own = request.messages.iter();
    let own = own.filter(|message| message.role == Role::Assistant);
    own.flat_map(|message| message.blocks.clone()).collect()
}

/// The newest request of the lead's conversation.
///
/// # Panics
/// When there is none.
#[track_caller]
pub fn lead(model: &MockModel) -> Arc<Request> {
    let leads = |request: &&Arc<Request>| request.tool_names().contains(&"spawn_teammate".into());
    let requests = model.requests();
    requests.iter().rfind(leads).expect("the lead asks").clone()
}

/// Asserts that lead and teammates are offered what the chapter's pool names.
///
/// # Panics
/// When they are not, or one of them has asked nothing.
#[track_caller]
pub fn assert_both_pools(folder: &str, model: &MockModel) {
    let requests = model.requests();
    let offered = |is_mate: bool| {
        let mut of = requests.iter();
        let of = of.find(|request| teammate(request).is_some() == is_mate);
        of.expect("both have asked").tool_names()
    };
    assert_pool(folder, [("lead", offered(false)), ("teammate", offered(true))]);
}

/// Asserts that a teammate is an agent of its own: its system prompt names it, its conversation begins with its job, and
/// neither what was typed nor what the lead has said or can call is in it.
///
/// # Panics
/// When it is not, or has asked nothing.
#[track_caller]
pub fn assert_knows_its_job_alone(model: &MockModel, name: &str, typed: &str) {
    let lead = lead(model);
    let own_of_lead = own(&lead);
    let job = own_of_lead.iter().find_map(|block| match block {
        Block::ToolUse { input, .. } if input["name"] == name => input["prompt"].as_str(),
        _ => None,
    });
    let requests = model.requests();
    let mut asked = requests.iter().filter(|of| teammate(of) == Some(name)).peekable();
    assert!(asked.peek().is_some(), "{name} has asked nothing");
    for request in asked {
        assert_ne!(request.system, lead.system);
        assert_eq!(request.user_texts().first().map(String::as_str), job);
        let body = String::from_utf8_lossy(&request.body);
        let said = own_of_lead.iter().filter_map(|block| match block {
            Block::Text(said) => Some(said.as_str()),
            _ => None,
        });
        for hidden in said.chain([typed, "spawn_teammate"]) {
            assert!(!body.contains(hidden), "{hidden:?} is in {body}");
        }
    }
}
