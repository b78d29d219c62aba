//! Steps that ask a server: it is connected when it is not, and the tool that fits is called.
//!
//! Which tool that is can only be said when the server's tools are on offer, so it is worked out anew on every request.
//! Invariant: a server is connected once for a request, and nothing is called that is not on offer.

use std::borrow::Cow;

use serde_json::json;

use super::{Call, Deed, Outcome, Walk, Wanted};
use crate::model::rehearsal::left::Left;
use crate::model::rehearsal::phrases::reason;
use crate::model::rehearsal::servers::{Asked, arguments, best, doing, offers, tools_of};
use crate::model::rehearsal::steps::Step;
use crate::model::rehearsal::table::Serves;
use crate::model::rehearsal::turn::Past;
use crate::model::rehearsal::verdict::{Verdict, judge};

const CONNECT: &str = "connect_mcp";

impl<'a> Walk<'_, 'a> {
    /// Asks a server for what the words of a step wish.
    pub(super) fn use_server(&mut self, index: usize, step: &Step) -> Outcome<'a> {
        let server = step.slots.get("server").unwrap_or_default();
        let wish = step.slots.get("wish").unwrap_or_default();
        if step.leans_on.is_some_and(|on| !self.outcomes[on].is_fine()) {
            return Outcome::Skipped;
        }
        let connected = self.connected(index, server);
        let tools = tools_of(self.tools, server);
        if tools.is_empty() {
            return self.connect(index, server, connected);
        }
        let Some(tool) = best(wish, &tools) else {
            let offered = offers(self.tools, server);
            return Outcome::Unserved(match server {
                "" => format!("No tool of a server fits “{wish}”."),
                server => {
                    format!("The {server} server has no tool for “{wish}”; it offers {offered}.")
                }
            });
        };
        let earlier: Vec<Asked> = self
            .turn
            .asked_before()
            .chain(self.asked.iter().cloned())
            .collect();
        let input = match arguments(wish, tool, &earlier) {
            Ok(input) => input,
            Err(missing) => {
                let name = &tool.name;
                return Outcome::Unserved(format!(
                    "To call {name} I need its `{missing}`: please tell me."
                ));
            }
        };
        let call = Call {
            tool: Cow::Owned(tool.name.clone()),
            input,
        };
        let Some(past) = self.past_or_want(index, &call, None) else {
            self.announce(doing(&call.tool, &call.input));
            return Outcome::Done(Vec::new());
        };
        self.asked.push(Asked {
            tool: call.tool.to_string(),
            input: call.input,
            content: past.content.to_owned(),
        });
        Outcome::Done(vec![deed(call.tool, past)])
    }

    /// The call of this turn that connected a server, when no step of the plan asked for it.
    fn connected(&self, index: usize, server: &str) -> Option<&'a Past<'a>> {
        let input = json!({"name": server});
        let connects = |step: &Step| {
            step.intent.serves == Some(Serves::Connect) && step.slots.get("server") == Some(server)
        };
        if self.plan.steps[..index].iter().any(connects) {
            return None;
        }
        let past = self
            .turn
            .calls
            .iter()
            .find(|past| past.is_of(CONNECT, &input))?;
        past.take();
        Some(past)
    }

    /// No tool of the server is on offer: it is connected, unless that was tried.
    fn connect(&mut self, index: usize, server: &str, tried: Option<&'a Past<'a>>) -> Outcome<'a> {
        let connects = |step: &Step| {
            step.intent.serves == Some(Serves::Connect) && step.slots.get("server") == Some(server)
        };
        let was_asked = self.plan.steps[..index].iter().any(connects);
        let can = self.tools.iter().any(|tool| tool.name == CONNECT);
        match tried {
            _ if server.is_empty() => Outcome::Unserved("No MCP server is connected.".to_owned()),
            Some(past) if judge(past).is_done() => Outcome::Unserved(format!(
                "The {server} server is connected and offers no tool."
            )),
            Some(past) => Outcome::Unserved(format!(
                "I could not connect to {server}: {}",
                reason(past.content)
            )),
            // What an explicit connect step has wanted is on its way.
            None if was_asked && !self.calls.wanted.is_empty() => Outcome::Done(Vec::new()),
            None if was_asked => {
                Outcome::Unserved(format!("The {server} server offers no tool now."))
            }
            None if !can => Outcome::Unserved(format!("The {server} server is not connected.")),
            None => {
                let call = Call {
                    tool: CONNECT.into(),
                    input: json!({"name": server}),
                };
                if !self.calls.wanted.iter().any(|wanted| wanted.call == call) {
                    self.calls.wanted.push(Wanted {
                        step: Some(index),
                        found: None,
                        doing: Some(format!("connect to {server}")),
                        call,
                    });
                }
                Outcome::Done(Vec::new())
            }
        }
    }

    /// Says what the call does that was wanted last.
    fn announce(&mut self, doing: String) {
        if let Some(wanted) = self.calls.wanted.last_mut() {
            wanted.doing = Some(doing);
        }
    }
}

fn deed<'a>(tool: Cow<'static, str>, past: &'a Past<'a>) -> Deed<'a> {
    let verdict = match judge(past) {
        // A server's words about a file or an argument are told as they are.
        Verdict::Missing | Verdict::BadArgument => Verdict::Failed,
        verdict => verdict,
    };
    Deed {
        path: None,
        tool,
        content: past.content,
        verdict,
        left: match past.left {
            Left::Preview { .. } | Left::Whole(_) | Left::Nothing => past.left,
        },
        similar: Vec::new(),
        note: String::new(),
        round: past.round,
    }
}
