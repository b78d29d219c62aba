//! Protocol requests: who asked whom for what, and whether it has been answered.
//!
//! Mail is text, and two agents that talk about a shutdown or a plan can take one message for the answer to another.
//! Invariants: an answer counts only with the id, the sender and the type that the request wants; it counts once.

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use kit::fresh_suffix;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// That an agent leaves.
    Shutdown,
    /// That a plan is approved.
    Plan,
}

impl Kind {
    /// The type of the message that asks.
    pub fn request(self) -> &'static str {
        match self {
            Self::Shutdown => "shutdown_request",
            Self::Plan => "plan_approval_request",
        }
    }

    /// The type of the message that answers.
    pub fn response(self) -> &'static str {
        match self {
            Self::Shutdown => "shutdown_response",
            Self::Plan => "plan_approval_response",
        }
    }
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its id, which the answer must name.
    pub id: String,
    /// What it asks for.
    pub kind: Kind,
    /// Who asks.
    pub from: String,
    /// Who has to answer.
    pub to: String,
    /// Whether it has been answered.
    pub is_answered: bool,
    /// True if the agent that has to answer has left. Its answer may still be on its way.
    pub is_left_behind: bool,
}

impl Request {
    /// True if an answer is still expected.
    fn is_open(&self) -> bool {
        !self.is_answered && !self.is_left_behind
    }
}

/// All requests of a session.
#[derive(Debug, Default)]
pub struct Requests(BTreeMap<String, Request>);

impl Requests {
    /// Opens a request. At most one of a kind is open between two agents.
    pub fn open(&mut self, kind: Kind, from: &str, to: &str) -> Result<Request> {
        let open = self.0.values().find(|request| {
            (request.kind, request.from.as_str(), request.to.as_str()) == (kind, from, to)
                && request.is_open()
        });
        if let Some(open) = open {
            bail!("{} still waits for the answer of {to}", open.id);
        }
        let request = Request {
            id: format!("req_{}", fresh_suffix()),
            kind,
            from: from.to_owned(),
            to: to.to_owned(),
            is_answered: false,
            is_left_behind: false,
        };
        self.0.insert(request.id.clone(), request.clone());
        Ok(request)
    }

    /// Removes a request that could not be sent.
    pub fn forget(&mut self, id: &str) {
        self.0.remove(id);
    }

    /// Reopens a request whose answer could not be sent.
    pub fn reopen(&mut self, id: &str) {
        if let Some(request) = self.0.get_mut(id) {
            request.is_answered = false;
        }
    }

    /// Closes a request with the answer of this agent.
    pub fn answer(&mut self, id: &str, kind: Kind, by: &str) -> Result<Request> {
        let Some(request) = self.0.get_mut(id) else {
            bail!("there is no request {id:?}");
        };
        ensure!(request.kind == kind, "{id} is no {}", kind.request());
        ensure!(
            request.to == by,
            "{id} is to be answered by {}, not by {by}",
            request.to
        );
        ensure!(!request.is_answered, "{id} has been answered already");
        request.is_answered = true;
        Ok(request.clone())
    }

    /// The open request of this kind that this agent has made.
    pub fn open_from(&self, kind: Kind, from: &str) -> Option<&Request> {
        self.0
            .values()
            .find(|request| request.kind == kind && request.from == from && request.is_open())
    }

    /// The request of this id.
    pub fn get(&self, id: &str) -> Option<&Request> {
        self.0.get(id)
    }

    /// An agent has left: its plans are dropped, and requests to it do not count for the next agent of its name.
    pub fn has_left(&mut self, name: &str) {
        self.0
            .retain(|_, request| request.kind != Kind::Plan || request.from != name);
        for request in self.0.values_mut().filter(|request| request.to == name) {
            request.is_left_behind = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(result: Result<Request>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn an_answer_counts_with_the_right_id_sender_and_type_and_once() {
        let mut requests = Requests::default();
        let plan = requests.open(Kind::Plan, "bob", "lead").unwrap();
        assert!(refused(requests.answer("req_0", Kind::Plan, "lead")).contains("no request"));
        assert!(
            refused(requests.answer(&plan.id, Kind::Shutdown, "lead"))
                .contains("is no shutdown_request")
        );
        assert!(
            refused(requests.answer(&plan.id, Kind::Plan, "alice")).contains("answered by lead")
        );
        assert_eq!(requests.open_from(Kind::Plan, "bob").unwrap().id, plan.id);
        assert_eq!(
            requests.answer(&plan.id, Kind::Plan, "lead").unwrap().from,
            "bob"
        );
        assert!(refused(requests.answer(&plan.id, Kind::Plan, "lead")).contains("already"));
        assert_eq!(requests.open_from(Kind::Plan, "bob"), None);
    }

    #[test]
    fn a_request_that_was_never_answered_is_no_request_to_the_next_agent_of_the_name() {
        let mut requests = Requests::default();
        let first = requests.open(Kind::Shutdown, "lead", "alice").unwrap();
        assert!(refused(requests.open(Kind::Shutdown, "lead", "alice")).contains("still waits"));
        requests.has_left("alice");
        let second = requests.open(Kind::Shutdown, "lead", "alice").unwrap();
        // A goodbye that was sent before it left still counts.
        assert!(requests.answer(&first.id, Kind::Shutdown, "alice").is_ok());
        assert!(!requests.get(&second.id).unwrap().is_answered);
    }
}
