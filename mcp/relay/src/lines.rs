//! What a backend says, and who hears it.
//!
//! Invariant: an answer goes to the request it belongs to; what names no request goes to whoever asked last there, and a
//! question that no client can answer is refused at once.

use mcp_wire::frame::{Frame, Kind, code};
use serde_json::json;

use crate::relay::{Relay, about};
use crate::switch::{State, named, text};

impl Relay {
    /// A frame of a backend.
    pub fn line_says(&self, state: &mut State, line: u64, mut frame: Frame) {
        let method = frame.method.clone().unwrap_or_default();
        match (frame.kind(), &*method) {
            (Kind::Response, _) => state.line_answers(line, frame),
            (Kind::Request, "ping") => {
                let id = frame.id.take().expect("it is a request");
                state.tell_line(line, Frame::result(id, json!({})));
            }
            (Kind::Request, _) => self.line_asks(state, line, frame),
            (_, "notifications/progress") => state.line_progresses(line, frame),
            (_, "notifications/cancelled") => {
                if let Some(id) = named(&frame, &["requestId"]) {
                    state.line_cancels(line, &id, frame);
                }
            }
            (_, "notifications/subscriptions/acknowledged") => {}
            (_, told) if told.ends_with("/list_changed") => {
                let kinds = ["tools", "prompts", "resources"];
                if let Some(at) = kinds.iter().position(|kind| told.contains(kind)) {
                    let name = state.lines.get(&line).map(|side| side.end.backend.clone());
                    let main =
                        name.and_then(|name| state.backend(&name)).map(|backend| backend.line);
                    if let Some(side) = main.and_then(|main| state.lines.get_mut(&main)) {
                        side.end.told[at] = true;
                        side.end.relist.notify_one();
                    }
                }
            }
            (_, "notifications/resources/updated") => Self::updated(state, &frame),
            (_, told) => {
                let asked = frame.about.take();
                let named =
                    asked.is_some().then(|| state.client_of(line, asked.as_ref())).flatten();
                let to = match named.or_else(|| state.client_of(line, None)) {
                    Some(client) => vec![client],
                    None => state.clients.keys().copied().collect(),
                };
                tracing::debug!(told, "a backend tells");
                for client in to {
                    let about = state.request_of(line, client, asked.as_ref());
                    state.tell_client(
                        client,
                        Frame {
                            about,
                            ..frame.clone()
                        },
                    );
                }
            }
        }
    }

    /// A backend wants something of a client.
    fn line_asks(&self, state: &mut State, line: u64, frame: Frame) {
        let wanted = match frame.method.as_deref().unwrap_or_default() {
            "sampling/createMessage" => Some("sampling"),
            "elicitation/create" => Some("elicitation"),
            "roots/list" => Some("roots"),
            _ => None,
        };
        let client = state.client_of(line, frame.about.as_ref());
        let able = client.and_then(|client| state.clients.get(&client)).is_some_and(|side| {
            let hello = &side.end.hello;
            !hello.is_null() && wanted.is_none_or(|wanted| !hello["capabilities"][wanted].is_null())
        });
        match client.filter(|_| able) {
            Some(client) => state.ask_client(line, client, frame),
            None => {
                let why = if client.is_some() {
                    "the client does not do this"
                } else {
                    "no client's request is under way"
                };
                let refusal = Frame::error(frame.id, code::METHOD_NOT_FOUND, why);
                state.tell_line(line, refusal);
            }
        }
    }

    fn updated(state: &mut State, frame: &Frame) {
        let Some(uri) = text(frame, &["uri"]) else { return };
        for (client, subscription) in state.watched.get(&uri).cloned().unwrap_or_default() {
            let frame = about(frame.clone(), subscription.as_ref());
            state.tell_client(client, frame);
        }
    }
}
