//! The rehearsal: plays a language model so that a newcomer needs no key and no network.
//!
//! ```text
//! request ─ scene ─▶ who asked for what, and what was called since
//!         ─ understand ─▶ a plan: rows of the table, their slots filled; or a refusal that quotes the word it stumbled over
//!         ─ act ─▶ the next calls ─▶ tool_use blocks
//!              └▶ nothing left ──▶ speak: text made from the results
//! ```
//!
//! It keeps no state: every reply is worked out from the conversation in the request. Invariants: it calls only tools on
//! offer, never sends an empty text, ends every turn, and does all of a request or none of it.

/// An enum whose variants are known by their names in a file of data.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident: $($one:ident)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($one),* }

        impl $name {
            /// The one of this name.
            pub fn read(name: &str) -> Option<Self> {
                [$((stringify!($one), Self::$one)),*].into_iter().find(|(known, _)| *known == name).map(|(_, one)| one)
            }
        }
    };
}

mod act;
mod clause;
mod history;
mod mcp;
mod persona;
mod run;
mod scene;
mod slots;
mod speak;
mod table;
mod tasks;
mod told;
mod tools;
mod types;
mod understand;
mod when;
mod words;

pub use types::{Block, Choice, Message, Reply, Request, Tool};

/// The reply to a request.
pub fn answer(request: &Request) -> Reply {
    let mut offered = request.clone();
    if request.choice == Choice::None {
        offered.tools.clear();
    }
    let mut reply = persona::answer(&offered);
    tools::obey_choice(request, &mut reply);
    if let (Some(format), true) = (&request.format, reply.calls.is_empty()) {
        reply.text = tools::instance(format, &reply.text, &serde_json::Value::Null).to_string();
    }
    if reply.text.trim().is_empty() && reply.calls.is_empty() {
        reply.text = "I have nothing to say to that.".to_owned();
    }
    let stops = request.stops.iter().filter(|stop| !stop.is_empty());
    let first = stops.filter_map(|stop| Some((reply.text.find(stop.as_str())?, stop)));
    if let Some((at, stop)) = first.min_by_key(|(at, _)| *at) {
        reply.text.truncate(at);
        reply.calls.clear();
        reply.stopped_at = Some(stop.clone());
    }
    reply
}
