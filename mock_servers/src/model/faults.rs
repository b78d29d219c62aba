//! Faults on request: the bad days of an API, one request each.
//!
//! Recovery can only be taught and tested when the fault comes on demand. Faults queue up and each spoils one request.
//! Invariant: a fault that needs a tool call to spoil waits for a reply that has one, and holds up no other.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Display};
use std::str::FromStr;

use serde_json::Value;

use super::types::{Block, Reply, ReplyBlock, Request};

/// What goes wrong with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `429`: too many requests. `429=30` asks for a wait of 30 seconds.
    RateLimited {
        /// The value of the `retry-after` header, in seconds.
        retry_after: u32,
    },
    /// `529`: the API is overloaded.
    Overloaded,
    /// `500`: the API broke.
    Internal,
    /// `too_long`: the prompt is called too long for the context window, however short it is.
    TooLong,
    /// `drop`: the connection closes without an answer.
    Drop,
    /// `drop_stream`: the connection closes in the middle of the answer.
    DropStream,
    /// `stall`: the answer stops in the middle, and the connection stays open.
    Stall,
    /// `malformed`: a line of the stream is not JSON.
    Malformed,
    /// `error_event`: the stream ends with an `error` event.
    ErrorEvent,
    /// `cut`: the first tool call of the reply is cut in the middle, as `max_tokens` would.
    CutCall,
    /// `repeat_ids`: a tool call bears the id of an earlier one.
    RepeatedIds,
    /// `string_args`: numbers, truth values, lists and objects among the arguments arrive as strings.
    StringArguments,
}

/// A fault of the line: the answer is right and does not arrive whole.
#[derive(Clone, Copy, Debug)]
pub(super) enum Breakage {
    /// The connection closes in the middle.
    Drop,
    /// Nothing more comes.
    Stall,
    /// A line is not JSON.
    Malformed,
    /// An `error` event ends the stream.
    ErrorEvent,
}

/// Every fault, and what becomes of the request.
const LIST: &str = "  429          a 429 with retry-after
  529          a 529, overloaded
  500          a 500
  too_long     a 400, prompt is too long
  drop         no answer, the connection closes
  drop_stream  half an answer, then the connection closes
  stall        half an answer, then silence
  malformed    a stream with a line that is not JSON
  error_event  half an answer, then an error event
  cut          a tool call cut in the middle
  repeat_ids   a tool call with the id of an earlier one
  string_args  tool arguments turned into strings";

/// The text form of every fault.
const FAULTS: [(&str, Fault); 12] = [
    ("429", Fault::RateLimited { retry_after: 1 }),
    ("529", Fault::Overloaded),
    ("500", Fault::Internal),
    ("too_long", Fault::TooLong),
    ("drop", Fault::Drop),
    ("drop_stream", Fault::DropStream),
    ("stall", Fault::Stall),
    ("malformed", Fault::Malformed),
    ("error_event", Fault::ErrorEvent),
    ("cut", Fault::CutCall),
    ("repeat_ids", Fault::RepeatedIds),
    ("string_args", Fault::StringArguments),
];

/// How often one fault can be armed at once.
const MOST: u32 = 1000;

impl Fault {
    /// The text form and the meaning of every fault, one a line.
    pub fn list() -> &'static str {
        LIST
    }

    fn meaning(self) -> &'static str {
        let same = |other: &Fault| std::mem::discriminant(other) == std::mem::discriminant(&self);
        let named = FAULTS.iter().zip(LIST.lines());
        let mut meanings = named.filter(|((_, fault), _)| same(fault));
        let line = meanings.next().map_or("", |(_, line)| line);
        line.trim_start()
            .split_once(' ')
            .map_or("", |(_, meaning)| meaning.trim_start())
    }

    /// What breaks the answer on its way, so that the request is made again.
    pub(super) fn breakage(self) -> Option<Breakage> {
        match self {
            Self::DropStream => Some(Breakage::Drop),
            Self::Stall => Some(Breakage::Stall),
            Self::Malformed => Some(Breakage::Malformed),
            Self::ErrorEvent => Some(Breakage::ErrorEvent),
            Self::RateLimited { .. }
            | Self::Overloaded
            | Self::Internal
            | Self::TooLong
            | Self::Drop
            | Self::CutCall
            | Self::RepeatedIds
            | Self::StringArguments => None,
        }
    }

    /// Spoils a reply. Says whether there was something to spoil.
    pub(super) fn spoil(self, reply: &mut Reply, request: &Request) -> bool {
        match self {
            Self::CutCall => reply.blocks.iter().any(|block| as_call(block).is_some()),
            Self::RepeatedIds => repeat_ids(reply, request),
            Self::StringArguments => string_arguments(reply),
            Self::RateLimited { .. }
            | Self::Overloaded
            | Self::Internal
            | Self::TooLong
            | Self::Drop
            | Self::DropStream
            | Self::Stall
            | Self::Malformed
            | Self::ErrorEvent => true,
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
        let row = FAULTS.iter().find(|(known, _)| *known == name);
        match (row.map(|(_, fault)| *fault), value) {
            (Some(fault), None) => Ok(fault),
            (Some(Self::RateLimited { .. }), Some(seconds)) => {
                let wrong = |_| format!("`{text}`: the wait is a number of seconds, as in 429=30");
                Ok(Self::RateLimited {
                    retry_after: seconds.parse().map_err(wrong)?,
                })
            }
            _ => {
                let names = FAULTS.map(|(name, _)| name).join(", ");
                Err(format!("there is no fault `{text}` (there are {names})"))
            }
        }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RateLimited { retry_after } => write!(f, "a 429 with retry-after: {retry_after}"),
            other => f.write_str(other.meaning()),
        }
    }
}

/// Reads `429:2,529,stall`: faults in the order in which they come, each with how often.
///
/// The error is a sentence that says what is wrong and which faults there are.
pub fn faults(text: &str) -> Result<Vec<Fault>, String> {
    let items = text
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty());
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
        (Some(fault), count, None) => fault
            .parse::<Fault>()
            .and_then(|fault| Ok((fault, count.map_or(Ok(1), times)?))),
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
            format!(
                "Nothing is armed: {reason}.\n\nFaults:\n{}\n{off}",
                Fault::list()
            )
        }
    }
}

fn times(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| (1..=MOST).contains(count));
    count.ok_or_else(|| format!("`{text}`: how often is a number from 1 to {MOST}"))
}

fn as_call(block: &ReplyBlock) -> Option<&Value> {
    match block {
        ReplyBlock::ToolUse { input, .. } => Some(input),
        ReplyBlock::Text(_) | ReplyBlock::AsItIs(_) => None,
    }
}

/// Gives every call the id of the last call of the conversation; without one, the calls of the reply share an id.
fn repeat_ids(reply: &mut Reply, request: &Request) -> bool {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    let earlier = blocks.rev().find_map(|block| match block {
        Block::ToolUse { id, .. } => Some(id.clone()),
        Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => None,
    });
    let mut ids = reply.blocks.iter_mut().filter_map(|block| match block {
        ReplyBlock::ToolUse { id, .. } => Some(id),
        ReplyBlock::Text(_) | ReplyBlock::AsItIs(_) => None,
    });
    let (first, second) = (ids.next(), ids.next());
    let spoils = first.is_some() && (earlier.is_some() || second.is_some());
    if spoils {
        let repeated = earlier.unwrap_or_else(|| "toolu_repeated".to_owned());
        first
            .into_iter()
            .chain(second)
            .chain(ids)
            .for_each(|id| *id = Some(repeated.clone()));
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
        let taken: BTreeMap<String, Value> = std::mem::take(arguments).into_iter().collect();
        for (name, value) in taken {
            let text = match value {
                Value::String(text) => text,
                other => {
                    spoilt = true;
                    other.to_string()
                }
            };
            arguments.insert(name, Value::String(text));
        }
    }
    spoilt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_a_text_form_that_reads_back() {
        for ((name, fault), line) in FAULTS.into_iter().zip(LIST.lines()) {
            assert_eq!(name.parse::<Fault>(), Ok(fault));
            assert_eq!(line, format!("  {name:<12} {}", fault.meaning()));
        }
        assert_eq!(FAULTS.len(), LIST.lines().count());
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
            assert_eq!(
                said.contains("  drop_stream "),
                expected.ends_with(": "),
                "{said}"
            );
            assert_eq!(queue.len(), count, "{line}");
        }
    }
}
