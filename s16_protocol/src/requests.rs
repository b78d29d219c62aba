//! Protocol requests: who asked whom for what, and whether it has been answered.
//!
//! Mail is text, so an agent can mistake one message for the answer to another. Invariants: an answer counts only with
//! the id, the sender and the type that the request wants; it counts once; what could not be sent has neither been
//! asked nor answered.

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use kit::fresh_suffix;
use s15_mailbox::Mail;

/// The id of a request in the metadata of its messages.
pub const REQUEST_ID: &str = "request_id";

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
#[derive(Debug)]
struct Request {
    kind: Kind,
    from: String,
    /// Who has to answer.
    to: String,
    is_answered: bool,
}

/// All requests of a session by their ids.
#[derive(Debug, Default)]
pub struct Requests(BTreeMap<String, Request>);

impl Requests {
    /// Opens a request, which `send` sends under its id. At most one of a kind is open between two agents.
    pub fn open(
        &mut self,
        kind: Kind,
        from: &str,
        to: &str,
        send: impl FnOnce(&str) -> Result<()>,
    ) -> Result<String> {
        let mut open = self.0.iter().filter(|(_, request)| !request.is_answered);
        let is_same =
            |request: &Request| (request.kind, &*request.from, &*request.to) == (kind, from, to);
        if let Some((id, _)) = open.find(|(_, request)| is_same(request)) {
            bail!("{id} still waits for the answer of {to}");
        }
        let id = format!("req_{}", fresh_suffix());
        send(&id)?;
        let request = Request {
            kind,
            from: from.to_owned(),
            to: to.to_owned(),
            is_answered: false,
        };
        self.0.insert(id.clone(), request);
        Ok(id)
    }

    /// Closes a request with the answer of this agent, which `send` sends to whoever asked.
    pub fn answer(
        &mut self,
        id: &str,
        kind: Kind,
        by: &str,
        send: impl FnOnce(&str) -> Result<()>,
    ) -> Result<()> {
        let Some(request) = self.0.get_mut(id) else {
            bail!("there is no request {id:?}");
        };
        ensure!(request.kind == kind, "{id} is no {}", kind.request());
        ensure!(request.to == by, "{id} is to be answered by {}, not by {by}", request.to);
        ensure!(!request.is_answered, "{id} has been answered already");
        send(&request.from)?;
        request.is_answered = true;
        Ok(())
    }

    /// The id of the open request of this kind that this agent has made.
    pub fn open_from(&self, kind: Kind, from: &str) -> Option<&str> {
        let is_it = |request: &Request| {
            request.kind == kind && request.from == from && !request.is_answered
        };
        let open = self.0.iter().find(|(_, request)| is_it(request));
        open.map(|(id, _)| id.as_str())
    }

    /// True if a message asks a request that is open, or gives the answer that has closed one.
    pub fn matches(&self, mail: &Mail) -> bool {
        let id = mail.text_of(REQUEST_ID).unwrap_or_default();
        let Some(Request {
            kind,
            from,
            to,
            is_answered,
        }) = self.0.get(id)
        else {
            return false;
        };
        let (kind, from, to) =
            if *is_answered { (kind.response(), to, from) } else { (kind.request(), from, to) };
        mail.kind == kind && mail.from == *from && mail.to == *to
    }

    /// A message as its reader's model sees it. One of the protocol that matches no request is shown without its words.
    pub fn shown(&self, mail: &Mail) -> String {
        let kinds = [Kind::Shutdown, Kind::Plan].map(|kind| [kind.request(), kind.response()]);
        if kinds.as_flattened().contains(&mail.kind.as_str()) && !self.matches(mail) {
            return format!(
                "<mail-ignored from=\"{}\" type=\"{}\">\nit answers or asks nothing that is open\n</mail-ignored>",
                mail.from, mail.kind
            );
        }
        mail.shown()
    }

    /// An agent has left: what is open from it or to it does not count for the next agent of its name.
    pub fn has_left(&mut self, name: &str) {
        self.0.retain(|_, request| {
            request.is_answered || (request.from != name && request.to != name)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_with_the_right_id_sender_and_type_and_once() {
        let mut requests = Requests::default();
        let id = &requests.open(Kind::Plan, "bob", "lead", |_| Ok(())).unwrap();
        let mut answer = |id: &str, kind, by: &str| {
            let answered = requests.answer(id, kind, by, |_| Ok(()));
            answered.map_or_else(|error| error.to_string(), |()| "answered".to_owned())
        };
        for (id, kind, by, says) in [
            ("req_0", Kind::Plan, "lead", "there is no request"),
            (id, Kind::Shutdown, "lead", "is no shutdown_request"),
            (id, Kind::Plan, "alice", "is to be answered by lead"),
            (id, Kind::Plan, "lead", "answered"),
            (id, Kind::Plan, "lead", "has been answered already"),
        ] {
            let said = answer(id, kind, by);
            assert!(said.contains(says), "{said}");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_neither_asked_nor_answered() {
        let mut requests = Requests::default();
        let open = requests.open(Kind::Plan, "bob", "lead", |_| bail!("the disk is full"));
        assert!(open.is_err() && requests.open_from(Kind::Plan, "bob").is_none());
        let id = requests.open(Kind::Plan, "bob", "lead", |_| Ok(())).unwrap();
        let answered = requests.answer(&id, Kind::Plan, "lead", |_| bail!("the disk is full"));
        assert!(answered.is_err());
        assert_eq!(requests.open_from(Kind::Plan, "bob"), Some(&*id));
    }
}
