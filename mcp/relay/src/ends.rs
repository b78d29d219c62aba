//! How a request ends without an answer: cancelled, too late, or one of the two is gone.
//!
//! Invariant: whoever waits is told why, and whoever works in vain hears of it once.

use mcp_wire::Id;
use mcp_wire::frame::{Frame, code};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::lifecycle::Refusal;
use crate::switch::{Flight, Origin, State, rename};

impl State {
    /// Ends a request of a line in its place.
    pub fn end_flight(&mut self, line: u64, number: u64, refusal: &Refusal) {
        let Some(side) = self.lines.get_mut(&line) else { return };
        let Some(flight) = side.flights.remove(&number) else { return };
        side.end.held.retain(|frame| frame.id != Some(Id::from(number)));
        match flight.from {
            Origin::Client(client, id) => {
                let asked = Frame {
                    id: Some(id),
                    ..Frame::default()
                };
                self.refuse(client, &asked, refusal);
                self.answered(client);
            }
            Origin::Own(waiting) => _ = waiting.send(refusal.answer(&Frame::default())),
            Origin::Line(..) => {}
        }
        self.leave(line);
    }

    /// A client has one request less under way.
    pub fn answered(&mut self, client: u64) {
        if let Some(side) = self.clients.get_mut(&client) {
            side.end.asked = side.end.asked.saturating_sub(1);
            if side.end.asked == 0 {
                side.end.bell.notify_one();
            }
        }
    }

    /// Closes a line that is leaving when nothing is under way there any more.
    pub fn leave(&mut self, line: u64) {
        if self.lines.get(&line).is_some_and(|side| side.end.leaving && side.flights.is_empty()) {
            self.lines.remove(&line);
        }
    }

    /// A client gives up a request. Told once, and only when it is under way still.
    pub fn client_cancels(&mut self, client: u64, id: &Id, frame: &Frame) {
        let is_it = |flight: &Flight| matches!(&flight.from, Origin::Client(who, its) if *who == client && its == id);
        let found = self.lines.iter().find_map(|(line, side)| {
            Some((*line, *side.flights.iter().find(|(_, flight)| is_it(flight))?.0))
        });
        if let Some((line, number)) = found {
            self.cancel(line, number, frame.clone());
            self.answered(client);
        }
        let gone = |it: &(u64, Id, Value)| it.0 == client && it.1 == *id;
        self.listeners.retain(|it| !gone(it));
        self.watched.values_mut().for_each(|who| _ = who.remove(&(client, Some(id.clone()))));
    }

    fn cancel(&mut self, line: u64, number: u64, mut frame: Frame) {
        let Some(side) = self.lines.get_mut(&line) else { return };
        side.flights.remove(&number);
        let held = side.end.held.len();
        side.end.held.retain(|frame| frame.id != Some(Id::from(number)));
        if side.end.held.len() == held {
            rename(&mut frame, &["requestId"], &Id::from(number));
            self.tell_line(line, frame);
        }
        self.leave(line);
    }

    /// A backend gives up a request to a client.
    pub fn line_cancels(&mut self, line: u64, id: &Id, mut frame: Frame) {
        let is_it = |flight: &Flight| matches!(&flight.from, Origin::Line(who, its) if *who == line && its == id);
        let found = self.clients.iter().find_map(|(client, side)| {
            Some((*client, *side.flights.iter().find(|(_, flight)| is_it(flight))?.0))
        });
        if let Some((client, number)) = found {
            self.clients.get_mut(&client).and_then(|side| side.flights.remove(&number));
            rename(&mut frame, &["requestId"], &Id::from(number));
            self.tell_client(client, frame);
        }
    }

    /// Forgets a client: what it asked is cancelled, what it was asked is refused.
    pub fn forget_client(&mut self, client: u64) {
        let Some(side) = self.clients.remove(&client) else { return };
        for flight in side.flights.into_values() {
            if let Origin::Line(line, id) = flight.from {
                let gone = Frame::error(Some(id), code::INTERNAL_ERROR, "the client is gone");
                self.tell_line(line, gone);
            }
        }
        let asked: Vec<_> =
            self.lines
                .iter()
                .flat_map(|(line, side)| {
                    let its = side.flights.iter().filter(
                        |(_, it)| matches!(it.from, Origin::Client(who, _) if who == client),
                    );
                    its.map(|(number, _)| (*line, *number))
                })
                .collect();
        for (line, number) in asked {
            let reason = json!({ "requestId": number, "reason": "the client is gone" });
            self.cancel(line, number, Frame::notification("notifications/cancelled", reason));
        }
        let own: Vec<_> = self
            .lines
            .iter()
            .filter(|(_, it)| it.end.only == Some(client))
            .map(|it| *it.0)
            .collect();
        own.into_iter().for_each(|line| _ = self.lines.remove(&line));
        self.listeners.retain(|it| it.0 != client);
        self.watched.values_mut().for_each(|who| who.retain(|it| it.0 != client));
    }

    /// Ends what has waited for too long.
    pub fn expire(&mut self, now: Instant) {
        let late: Vec<_> = self
            .lines
            .iter()
            .flat_map(|(line, side)| {
                let late = side
                    .flights
                    .iter()
                    .filter(|(_, it)| it.until <= now && !matches!(it.from, Origin::Own(_)));
                late.map(|(number, _)| (*line, *number))
            })
            .collect();
        for (line, number) in late {
            let Some(side) = self.lines.get(&line) else { continue };
            let name = &side.end.backend;
            let held = side.end.held.iter().any(|frame| frame.id == Some(Id::from(number)));
            let error = self.backend(name).and_then(|backend| backend.error.clone());
            let why = if held {
                let error = error.unwrap_or_else(|| "it has not answered yet".to_owned());
                format!("{name} cannot be reached: {error}")
            } else {
                let limit = side.end.timeout.as_secs();
                let reason = json!({ "requestId": number, "reason": "no answer in time" });
                let cancelled = Frame::notification("notifications/cancelled", reason);
                let why = format!(
                    "{name} has not answered within {limit} s; nobody knows whether it has done what was asked"
                );
                self.tell_line(line, cancelled);
                why
            };
            self.end_flight(line, number, &Refusal::new(code::INTERNAL_ERROR, why));
        }
    }
}
