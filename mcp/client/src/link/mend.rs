//! What a link does when something goes wrong: it carries out what the table of [`errors`] says.
//!
//! Invariant: a request that leaves here is waiting again, or is answered; none is forgotten.

use std::sync::Arc;

use mcp_wire::body;
use mcp_wire::frame::{Frame, Kind, code};
use mcp_wire::{Cause, Error};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{AWAY, Flight, LOGIN, Link, Phase, REASON, State, Step, UNKNOWN, raw};
use crate::errors::{self, Call, Class, Link as Next, Seen, classify, decide};
use crate::login::Challenge;

/// True for methods that read, set or greet, by their last word. What nobody knows may act.
fn is_harmless(method: &str) -> bool {
    matches!(
        method.rsplit('/').next(),
        Some(
            "list" | "read" | "get" | "ping" | "initialize" | "discover" | "setLevel" | "complete"
        ) | Some("subscribe" | "unsubscribe" | "listen")
    )
}

impl Link {
    pub(super) fn trouble(&mut self, error: &Error) {
        let class = classify(error);
        let id = error.id().or(match error {
            Error::NotAFrame(not) => not.id.as_ref(),
            _ => None,
        });
        // It concerns the connection itself.
        let own = self.phase == Phase::Opening || id == Some(&self.own_id());
        let mut flight = id.and_then(|id| self.work.flights.remove(id));
        tracing::info!(%error, ?class, "trouble");
        let transport = !matches!(
            class,
            Class::Unauthorized | Class::Scope | Class::SessionLost | Class::Refused
        );
        self.health.failures += u32::from(transport || own);
        let seen = Seen {
            alive: self.health.alive,
            in_a_row: self.health.failures,
            repeatable: flight.as_ref().is_some_and(|flight| self.is_repeatable(flight)),
            remedied: flight.as_ref().map_or(self.health.remedied, |flight| flight.remedied),
        };
        let (next, call) = decide(class, seen);
        let why: Arc<str> = error.to_string().into();
        if own && call == Call::NeedsLogin {
            return self.needs_login(&why);
        }
        if let Some(flight) = &mut flight {
            match call {
                Call::Again => {
                    flight.remedied |= !transport;
                    flight.repeats += u32::from(transport && class != Class::Unsent);
                }
                Call::Fail => self.refuse(flight, AWAY, &why),
                Call::Unknown => self.refuse(flight, UNKNOWN, &unknown(&why)),
                Call::NeedsLogin => {
                    self.state.send_replace(State::NeedsAuth(why.clone()));
                    self.refuse(flight, LOGIN, &why);
                }
            }
        }
        let again = flight.filter(|_| call == Call::Again);
        if next == Next::Login {
            return self.log_in(error, again);
        }
        self.wait_again(again.into_iter().collect());
        match next {
            Next::Keep if own && !self.health.alive => self.close(AWAY, &why),
            Next::Keep if own => self.reopen(&why),
            Next::Greet if self.health.hello.is_some() => {
                let under_way = matches!(self.phase, Phase::Greeting | Phase::LoggingIn) && !own;
                self.health.greet = true;
                // What it offers may have changed.
                self.state.send_replace(State::Pending);
                if !under_way {
                    self.proceed();
                }
            }
            Next::Keep | Next::Greet | Next::Login => {}
            Next::Pause => self.pause(&why),
            Next::Reopen => self.reopen(&why),
            Next::Close => self.close(AWAY, &why),
        }
    }

    /// Something is due.
    pub(super) fn expire(&mut self) {
        let now = Instant::now();
        if self.health.away.is_some_and(|until| until <= now) {
            let reason = self.health.reason.clone();
            self.refuse_waiting(AWAY, &reason);
        }
        if self.until.is_some_and(|until| until <= now) {
            match self.phase {
                Phase::Pausing => self.proceed(),
                _ => {
                    let limit = self.patience.connect;
                    self.trouble(&Error::Broken(format!(
                        "the server does not answer within {limit:?}"
                    )));
                }
            }
        }
    }

    /// Remembers which tools may be called twice.
    pub(super) fn learn(&mut self, result: &RawValue) {
        let tools = body::get(result, &["tools"]).map_or("[]", RawValue::get);
        let tools: Vec<&RawValue> = serde_json::from_str(tools).unwrap_or_default();
        for tool in tools {
            let Some(name) = body::text(tool, &["name"]) else {
                continue;
            };
            let says =
                |hint| body::get(tool, &["annotations", hint]).is_some_and(|it| it.get() == "true");
            if says("readOnlyHint") || says("idempotentHint") {
                self.work.safe_tools.insert(name);
            } else {
                self.work.safe_tools.remove(&name);
            }
        }
    }

    /// Our own `initialize` was answered.
    pub(super) fn greeted(&mut self, answer: &Frame) {
        if let Some(error) = answer.error.as_deref() {
            let why = body::text(error, &["message"]).unwrap_or_default();
            return self.trouble(&Error::Broken(format!("the server refuses initialize: {why}")));
        }
        self.health.greet = false;
        self.enter(Phase::Open, None);
        self.connected();
        let frame = Frame::notification("notifications/initialized", ());
        self.work.waiting.push_front(Flight {
            frame,
            ..Flight::default()
        });
    }

    /// Takes back what has not left yet.
    pub(super) fn recall(&mut self) {
        if let Some(flight) = self.work.in_hand.take() {
            self.sending = None;
            self.work.waiting.push_front(flight);
        }
    }

    /// Whether a request does no harm when it is made again. One that ends its server each time is not made for ever.
    fn is_repeatable(&self, Flight { frame, repeats, .. }: &Flight) -> bool {
        let harmless = if frame.calls("tools/call") {
            let name = frame.params.as_deref().and_then(|params| body::text(params, &["name"]));
            name.is_some_and(|name| self.work.safe_tools.contains(&name))
        } else {
            is_harmless(frame.method.as_deref().unwrap_or_default())
        };
        harmless && *repeats < errors::IN_A_ROW
    }

    fn log_in(&mut self, error: &Error, refused: Option<Flight>) {
        let Error::Failed { cause, .. } = error else { return };
        let Cause::Refused(status, challenge) = cause else { return };
        if let Some(mut flight) = refused {
            // Refused with a token that has been replaced since: the new one may do.
            if flight.logins < self.health.logins {
                flight.remedied = false;
                return self.wait_again(vec![flight]);
            }
            self.work.held.push(flight);
        } else {
            self.health.remedied = true;
        }
        if self.phase == Phase::LoggingIn {
            return;
        }
        let challenge = Challenge {
            url: self.dialer.url().to_owned(),
            status: *status,
            www_authenticate: challenge.clone(),
        };
        let login = self.login.clone();
        self.enter(Phase::LoggingIn, None);
        self.busy =
            Some(Box::pin(async move { Step::LoggedIn(login.challenged(challenge).await) }));
    }

    pub(super) fn logged_in(&mut self, done: Result<(), String>) {
        match done {
            Ok(()) => {
                self.health.logins += 1;
                let held = std::mem::take(&mut self.work.held);
                self.wait_again(held);
                self.proceed();
            }
            Err(why) => self.needs_login(&why),
        }
    }

    fn needs_login(&mut self, why: &str) {
        self.state.send_replace(State::NeedsAuth(why.into()));
        for flight in std::mem::take(&mut self.work.held) {
            self.refuse(&flight, LOGIN, why);
        }
        if self.server.is_some() && !self.health.greet {
            self.enter(Phase::Open, None);
        } else {
            // Nobody else can be served before somebody logs in; the next request tries again.
            self.close(LOGIN, why);
        }
    }

    /// In front of what waits already, in the order in which they came.
    fn wait_again(&mut self, mut held: Vec<Flight>) {
        held.sort_by_key(|flight| std::cmp::Reverse(flight.order));
        held.into_iter().for_each(|flight| self.work.waiting.push_front(flight));
    }

    /// Rests before the next attempt, twice as long each time, and of that a random part.
    fn pause(&mut self, why: &str) {
        self.health.reason = why.into();
        if matches!(self.phase, Phase::Pausing | Phase::LoggingIn) {
            return;
        }
        self.state.send_replace(State::Failed(why.into()));
        let now = Instant::now();
        self.health.away.get_or_insert(now + self.patience.away);
        let (first, longest) = self.patience.pauses;
        let doubled = first * 2_u32.pow(self.health.attempts.min(6));
        self.health.attempts += 1;
        let pause = (self.patience.jitter)(doubled.min(longest));
        self.enter(Phase::Pausing, Some(now + pause));
        self.hurry();
    }

    /// Cuts a pause short while a request waits.
    pub(super) fn hurry(&mut self) {
        let soon = Instant::now().checked_add(self.patience.hurry);
        if self.phase == Phase::Pausing && !self.work.waiting.is_empty() {
            self.until = self.until.into_iter().chain(soon).min();
        }
    }

    fn reopen(&mut self, why: &str) {
        self.hang_up(why);
        self.pause(why);
    }

    /// Leaves the connection; what was under way waits for the next one, or is given up.
    fn hang_up(&mut self, why: &str) {
        let Some(server) = self.server.take() else {
            return;
        };
        if let Some(process) = server.process {
            tokio::spawn(process.stop());
        }
        self.recall();
        (self.sending, self.health.failures) = (None, 0);
        self.health.greet = self.health.hello.is_some();
        self.work.asked.clear();
        self.work.waiting.retain(|flight| flight.frame.kind() != Kind::Response);
        let mut again = Vec::new();
        for (_, mut flight) in std::mem::take(&mut self.work.flights) {
            if self.is_repeatable(&flight) {
                flight.repeats += 1;
                again.push(flight);
            } else {
                self.refuse(&flight, UNKNOWN, &unknown(why));
            }
        }
        self.wait_again(again);
    }

    /// The server cannot be used: all who wait hear so, and the next request tries again.
    fn close(&mut self, tag: &str, why: &str) {
        if tag == AWAY {
            self.state.send_replace(State::Failed(why.into()));
        }
        self.health.reason = why.into();
        self.hang_up(why);
        let held = std::mem::take(&mut self.work.held);
        self.wait_again(held);
        self.refuse_waiting(tag, why);
        self.enter(Phase::Closed, None);
    }

    pub(super) fn refuse_waiting(&mut self, tag: &str, why: &str) {
        for flight in std::mem::take(&mut self.work.waiting) {
            self.refuse(&flight, tag, why);
        }
    }

    /// Answers a request in the server's place.
    pub(super) fn refuse(&mut self, flight: &Flight, tag: &str, why: &str) {
        if let Some(id) = flight.request() {
            let error =
                json!({ "code": code::INTERNAL_ERROR, "message": why, "data": { REASON: tag } });
            let error = Some(raw(error));
            self.work.up.push_back(Frame {
                id: Some(id),
                error,
                ..Frame::default()
            });
        }
    }
}

fn unknown(why: &str) -> String {
    format!(
        "{why}; nobody knows whether the server has done what was asked, so it is not asked again"
    )
}
