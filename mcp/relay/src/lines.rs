//! What a backend says, and who hears it.
//!
//! Invariant: an answer goes to the request it belongs to; what names no request goes to whoever asked last there, and a
//! question that no client can answer is refused at once.

use mcp_client::link::REASON;
use mcp_wire::body;
use mcp_wire::frame::{Frame, Id, Kind, code};
use serde_json::json;

use crate::lifecycle::raw;
use crate::subscriptions::KINDS;
use crate::switch::{Flight, Origin, State};

impl State {
    /// A frame of a backend.
    pub fn line_says(&mut self, line: u64, mut frame: Frame) {
        let method = frame.method.clone().unwrap_or_default();
        match (frame.kind(), &*method) {
            (Kind::Response, _) => self.answer(line, frame),
            (Kind::Request, "ping") => {
                let id = frame.id.take().expect("it is a request");
                self.tell(line, Frame::result(id, json!({})));
            }
            (Kind::Request, _) => self.line_asks(line, frame),
            (_, "notifications/progress") => self.progress(line, frame),
            (_, "notifications/cancelled") => {
                if let Some(id) = frame.names(&["requestId"]) {
                    self.cancel(line, &id, &frame);
                }
            }
            (_, told) if told.ends_with("/list_changed") => {
                let name = self.lines.get(&line).map(|line| line.backend.clone());
                let main = name.and_then(|name| self.backend(&name)).map(|backend| backend.line);
                if let Some(at) = KINDS.iter().position(|kind| told.contains(kind))
                    && let Some(line) = main.and_then(|main| self.lines.get_mut(&main))
                {
                    line.told[at] = true;
                    line.relist.notify_one();
                }
            }
            _ if self.line_tells(line, &frame) => {}
            (_, told) => {
                tracing::debug!(told, "a backend tells");
                let asked = frame.about.take();
                let to = match self.client_of(line, asked.as_ref()) {
                    Some(client) => vec![client],
                    None => self.clients.keys().copied().collect(),
                };
                for client in to {
                    frame.about = self.request_of(line, client, asked.as_ref());
                    self.tell(client, frame.clone());
                }
            }
        }
    }

    /// A backend wants something of a client.
    fn line_asks(&mut self, line: u64, mut frame: Frame) {
        let wanted = match frame.method.as_deref().unwrap_or_default() {
            "sampling/createMessage" => Some("sampling"),
            "elicitation/create" => Some("elicitation"),
            "roots/list" => Some("roots"),
            _ => None,
        };
        let id = frame.id.clone().expect("it is a request");
        let client = self.client_of(line, frame.about.as_ref());
        let able = client.and_then(|client| self.clients.get(&client)).is_some_and(|client| {
            let hello = &client.hello;
            !hello.is_null() && wanted.is_none_or(|wanted| !hello["capabilities"][wanted].is_null())
        });
        if let Some(client) = client.filter(|_| able) {
            frame.about = self.request_of(line, client, frame.about.as_ref());
            self.ask(Origin::End(line, id), client, frame);
        } else {
            let why = if client.is_some() {
                "the client does not do this"
            } else {
                "no client's request is under way"
            };
            self.tell(line, Frame::error(Some(id), code::METHOD_NOT_FOUND, why));
        }
    }

    /// The id that a client has given to the request that `about` names on a line, or to its latest one there.
    pub fn request_of(&self, line: u64, client: u64, about: Option<&Id>) -> Option<Id> {
        let its =
            |flight: &Flight| flight.asker().filter(|it| it.0 == client).map(|it| it.1.clone());
        let named = self.flight(line, about).and_then(|(_, flight)| its(flight));
        let mut there = self.flights.values().rev().filter(|flight| flight.to == line);
        named.or_else(|| there.find_map(its))
    }

    /// The client that a line's own words are for: the one whose request they are about, or who asked last.
    pub fn client_of(&self, line: u64, about: Option<&Id>) -> Option<u64> {
        let only = self.lines.get(&line)?.only;
        let client = |flight: &Flight| flight.asker().map(|it| it.0);
        let named = self.flight(line, about).and_then(|(_, flight)| client(flight));
        let mut there = self.flights.values().rev().filter(|flight| flight.to == line);
        let sole = || Some(*self.clients.keys().next()?).filter(|_| self.clients.len() == 1);
        named.or(only).or_else(|| there.find_map(client)).or_else(sole)
    }
}

/// What the connection says in a backend's place gets the backend's name.
pub fn name_backend(frame: &mut Frame, backend: &str) {
    let own = frame.error.as_deref().and_then(|error| {
        body::text(error, &["data", REASON])?;
        let message = body::text(error, &["message"])?;
        body::set(error, &["message"], &raw(format!("{backend}: {message}")))
    });
    frame.error = own.or(frame.error.take());
}
