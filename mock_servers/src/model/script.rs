//! The scripted brain: replies written down in a test, one for each request.
//!
//! A script reads like the story a test tells. With several agents each has its own, found by its system prompt.
//! Invariant: a request without a reply, and a reply without a request, are both failures of the test.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::types::{Block, Brain, Reply, Request};

/// Where replies come from: scripts first, and a brain for the agents that have none.
pub struct Mind {
    scripts: Mutex<Vec<Script>>,
    brain: Option<Box<dyn Brain>>,
}

/// The replies for one agent.
struct Script {
    /// Part of the agent's system prompt; empty for whoever has no script.
    agent: String,
    replies: VecDeque<Reply>,
    used: usize,
}

impl Mind {
    /// A mind that thinks with `brain`, or knows only scripts.
    pub fn new(brain: Option<Box<dyn Brain>>) -> Self {
        Self {
            scripts: Mutex::default(),
            brain,
        }
    }

    /// Adds replies for the agents whose system prompt contains `agent`.
    pub fn script(&self, agent: &str, replies: impl IntoIterator<Item = Reply>) {
        let mut scripts = self.scripts.lock().unwrap();
        match scripts.iter_mut().find(|script| script.agent == agent) {
            Some(script) => script.replies.extend(replies),
            None => scripts.push(Script {
                agent: agent.to_owned(),
                replies: replies.into_iter().collect(),
                used: 0,
            }),
        }
    }

    /// The reply to a request, or what is wrong with the test.
    pub fn answer(&self, request: &Request) -> Result<Reply, String> {
        let mut scripts = self.scripts.lock().unwrap();
        if let Some(script) = find(&mut scripts, request) {
            script.used += 1;
            return script.replies.pop_front().ok_or_else(|| too_many(script, request));
        }
        drop(scripts);
        match &self.brain {
            Some(brain) => Ok(brain.answer(request)),
            None => {
                Err(format!("no script for this agent. Its system prompt: {:.200}", request.system))
            }
        }
    }

    /// Takes back a reply that did not arrive; the next request of its agent gets it.
    pub fn put_back(&self, request: &Request, reply: Reply) {
        let mut scripts = self.scripts.lock().unwrap();
        if let Some(script) = find(&mut scripts, request) {
            script.used -= 1;
            script.replies.push_front(reply);
        }
    }

    /// One sentence for each script that has replies left.
    pub fn unused(&self) -> Vec<String> {
        let scripts = self.scripts.lock().unwrap();
        let left = scripts.iter().filter(|script| !script.replies.is_empty());
        left.map(|script| {
            let (name, count) = (script.name(), script.replies.len());
            format!(
                "{name} has unused replies: {count}, after {} requests. The next: {:?}",
                script.used, script.replies[0]
            )
        })
        .collect()
    }
}

impl Script {
    fn name(&self) -> String {
        match self.agent.as_str() {
            "" => "the script".to_owned(),
            agent => format!("the script of “{agent}”"),
        }
    }
}

/// The script with the most specific match.
fn find<'a>(scripts: &'a mut [Script], request: &Request) -> Option<&'a mut Script> {
    let matching = scripts.iter_mut().filter(|script| request.system.contains(&script.agent));
    matching.max_by_key(|script| script.agent.len())
}

fn too_many(script: &Script, request: &Request) -> String {
    let last = request.messages.last().and_then(|message| message.blocks.last());
    let last = match last {
        Some(Block::Text(text)) => text.clone(),
        Some(other) => format!("{other:?}"),
        None => String::new(),
    };
    format!(
        "one request too many: {} has no reply for request {}, which ends with: {last:.300}",
        script.name(),
        script.used
    )
}
