//! Faults on request: the bad days of an API, one request each.
//!
//! Recovery can only be taught and tested when the fault comes on demand. Faults queue up and each spoils one request.
//! Invariant: a fault that needs a tool call to spoil waits for a reply that has one, and holds up no other.

use std::collections::VecDeque;
use std::fmt::{self, Display};
use std::str::FromStr;

use serde_json::Value;

use super::types::{Block, Reply, ReplyBlock, Request};

/// What goes wrong with one request. The table below says what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Too many requests. `429=30` asks for a wait of 30 seconds.
    RateLimited {
        /// The value of the `retry-after` header, in seconds.
        retry_after: u32,
    },
    /// The API is overloaded.
    Overloaded,
    /// The API broke.
    Internal,
    /// The prompt is called too long for the context window, however short it is.
    TooLong,
    /// The connection closes without an answer.
    Drop,
    /// The connection closes in the middle of the answer.
    DropStream,
    /// The answer stops in the middle, and the connection stays open.
    Stall,
    /// A line of the stream is not JSON.
    Malformed,
    /// The stream ends with an `error` event.
    ErrorEvent,
    /// The first tool call of the reply is cut in the middle, as `max_tokens` would.
    CutCall,
    /// A tool call bears the id of an earlier one.
    RepeatedIds,
    /// Numbers, truth values, lists and objects among the arguments arrive as strings.
    StringArguments,
}

/// Every fault: its text form, and what becomes of the request.
const FAULTS: [(&str, Fault, &str); 12] = [
    ("429", Fault::RateLimited { retry_after: 1 }, "a 429 with retry-after"),
    ("529", Fault::Overloaded, "a 529, overloaded"),
    ("500", Fault::Internal, "a 500"),
    ("too_long", Fault::TooLong, "a 400, prompt is too long"),
    ("drop", Fault::Drop, "no answer, the connection closes"),
    ("drop_stream", Fault::DropStream, "half an answer, then the connection closes"),
    ("stall", Fault::Stall, "half an answer, then silence"),
    ("malformed", Fault::Malformed, "a stream with a line that is not JSON"),
    ("error_event", Fault::ErrorEvent, "half an answer, then an error event"),
    ("cut", Fault::CutCall, "a tool call cut in the middle"),
    ("repeat_ids", Fault::RepeatedIds, "a tool call with the id of an earlier one"),
    ("string_args", Fault::StringArguments, "tool arguments turned into strings"),
];

/// How often one fault can be armed at once.
const MOST: u32 = 1000;

impl Fault {
    /// The text form and the meaning of every fault, one a line.
    pub fn list() -> String {
        let line = |(name, _, meaning)| format!("  {name:<12} {meaning}");
        FAULTS.map(line).join("\n")
    }

    /// Whether the answer is right and does not arrive whole, so that the request is made again.
    pub(super) fn breaks_the_answer(self) -> bool {
        let breaks = [Self::DropStream, Self::Stall, Self::Malformed, Self::ErrorEvent];
        breaks.contains(&self)
    }

    /// Spoils a reply. Says whether there was something to spoil.
    pub(super) fn spoil(self, reply: &mut Reply, request: &Request) -> bool {
        let is_call = |block: &ReplyBlock| matches!(block, ReplyBlock::ToolUse { .. });
        match self {
            Self::CutCall => reply.blocks.iter().any(is_call),
            Self::RepeatedIds => repeat_ids(reply, request),
            Self::StringArguments => string_arguments(reply),
            _ => true,
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let row = FAULTS.iter().find(|row| row.0 == name);
        match (row.map(|row| row.1), value) {
            (Some(fault), None) => Ok(fault),
            (Some(Self::RateLimited { .. }), Some(seconds)) => {
                let wrong = |_| format!("`{text}`: the wait is a number of seconds, as in 429=30");
                Ok(Self::RateLimited {
                    retry_after: seconds.parse().map_err(wrong)?,
                })
            }
            _ => {
                let names = FAULTS.map(|row| row.0).join(", ");
                Err(format!("there is no fault `{text}` (there are {names})"))
            }
        }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RateLimited { retry_after } => write!(f, "a 429 with retry-after: {retry_after}"),
            other => {
                let row = FAULTS.iter().find(|row| row.1 == *other);
                f.write_str(row.map_or("", |row| row.2))
            }
        }
    }
}

/// Reads `429:2,529,stall`: faults in the order in which they come, each with how often.
///
/// The error is a sentence that says what is wrong and which faults there are.
pub fn faults(text: &str) -> Result<Vec<Fault>, String> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    let mut all = Vec::new();
    for item in items {
        let (fault, count): (Fault, u32) = match item.split_once(':') {
            None => (item.parse()?, 1),
            Some((fault, count)) => (fault.parse()?, times(count)?),
        };
        all.extend((0..count).map(|_| fault));
    }
    Ok(all)
}

/// Answers a line that begins with `/fault`, and arms what it asks for.
pub(super) fn command(line: &str, queue: &mut VecDeque<Fault>) -> String {
    let mut words = line.split_whitespace().skip(1);
    let armed = match (words.next(), words.next(), words.next()) {
        (Some("off"), None, None) => {
            queue.clear();
            return "All faults are off.".to_owned();
        }
        (Some(fault), count, None) => {
            fault.parse::<Fault>().and_then(|fault| Ok((fault, count.map_or(Ok(1), times)?)))
        }
        _ => Err("write `/fault NAME` or `/fault NAME TIMES`".to_owned()),
    };
    match armed {
        Ok((fault, 1)) => {
            queue.push_back(fault);
            format!("Armed. The next request gets {fault}.")
        }
        Ok((fault, count)) => {
            queue.extend((0..count).map(|_| fault));
            format!("Armed. The next {count} requests get {fault}.")
        }
        Err(reason) => {
            let off = "  off          none from here on";
            format!("Nothing is armed: {reason}.\n\nFaults:\n{}\n{off}", Fault::list())
        }
    }
}

fn times(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| (1..=MOST).contains(count));
    count.ok_or_else(|| format!("`{text}`: how often is a number from 1 to {MOST}"))
}

/// Gives every call the id of the last call of the conversation; without one, the calls of the reply share an id.
fn repeat_ids(reply: &mut Reply, request: &Request) -> bool {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    let earlier = blocks.rev().find_map(|block| match block {
        Block::ToolUse { id, .. } => Some(id.clone()),
        Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => None,
    });
    let ids = reply.blocks.iter_mut().filter_map(|block| match block {
        ReplyBlock::ToolUse { id, .. } => Some(id),
        ReplyBlock::Text(_) | ReplyBlock::AsItIs(_) => None,
    });
    let ids: Vec<_> = ids.collect();
    let spoils = ids.len() > 1 || (ids.len() == 1 && earlier.is_some());
    if spoils {
        let repeated = earlier.unwrap_or_else(|| "toolu_repeated".to_owned());
        ids.into_iter().for_each(|id| *id = Some(repeated.clone()));
    }
    spoils
}

fn string_arguments(reply: &mut Reply) -> bool {
    let mut spoilt = false;
    for block in &mut reply.blocks {
        let ReplyBlock::ToolUse {
            input: Value::Object(arguments),
            ..
        } = block
        else {
            continue;
        };
        for value in arguments.values_mut().filter(|value| !value.is_string()) {
            *value = Value::String(value.to_string());
            spoilt = true;
        }
    }
    spoilt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_a_text_form_that_reads_back() {
        for (name, fault, meaning) in FAULTS {
            assert_eq!(name.parse::<Fault>(), Ok(fault));
            assert!(fault.to_string().starts_with(meaning));
        }
        let limited = Fault::RateLimited { retry_after: 30 };
        let expected = [limited, limited, Fault::Overloaded, Fault::Drop];
        assert_eq!(faults("429=30:2, 529,drop:1,"), Ok(expected.to_vec()));
        assert_eq!(faults(""), Ok(Vec::new()));
        for (text, part) in [
            ("430", "error_event"),
            ("stall=2", "error_event"),
            ("=", "error_event"),
            ("Drop", "error_event"),
            ("429=soon", "number of seconds"),
            ("drop:0", "from 1 to 1000"),
        ] {
            let error = faults(text).expect_err(text);
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_command_says_what_it_armed() {
        let closes = "Armed. The next request gets no answer, the connection closes.";
        let limits = "Armed. The next 2 requests get a 429 with retry-after: 5.";
        for (line, count, expected) in [
            ("/fault drop", 1, closes),
            ("/fault 429=5 2", 2, limits),
            ("/fault off", 0, "All faults are off."),
            ("/fault", 0, "Nothing is armed: "),
            ("/fault 430", 0, "Nothing is armed: "),
            ("/fault drop many", 0, "Nothing is armed: "),
            ("/fault drop 1 2", 0, "Nothing is armed: "),
            ("/fault drop 0", 0, "Nothing is armed: "),
        ] {
            let mut queue = VecDeque::new();
            let said = command(line, &mut queue);
            assert!(said.starts_with(expected), "{said}");
            assert_eq!(said.contains("  drop_stream "), expected.ends_with(": "), "{said}");
            assert_eq!(queue.len(), count, "{line}");
        }
    }
}
