//! What can go wrong with a server on request.
//!
//! A client learns what a bad server looks like from one that is bad on purpose. The SDK cannot be talked into most of
//! it, so a man in the middle spoils its lines; crooked lists of tools are made before the SDK sees them.
//! Invariant: without a fault none of this stands between the client and the SDK.

mod crooked;
mod middle;

pub use crooked::{Crook, rude_instructions};
pub use middle::serve;

/// One thing that goes wrong.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fault {
    /// It ends before it has read anything.
    Exit,
    /// It writes a megabyte to standard error before each answer.
    Noise,
    /// It stays when its input ends and when it is told to terminate.
    IgnoresEof,
    /// It asks the client and answers nothing until the client has answered.
    AsksFirst,
    /// It sends 10,000 notifications before each answer.
    Flood,
    /// It says how far it is before it answers a call.
    Progress,
    /// It spoils its answers to one kind of request.
    Spoils(Spoil, Place),
    /// Its list of tools is not what a client expects.
    Lists(Crook),
}

/// What happens to an answer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Spoil {
    /// It never comes.
    Hang,
    /// The server ends instead.
    Die,
    /// It has the id of no request.
    OtherId,
    /// Its id is a string where the request had a number.
    StringIds,
    /// It is no JSON and no UTF-8.
    Garbage,
    /// Its text is half a character.
    LoneSurrogate,
    /// It is a line of 20 MB.
    LongLine,
    /// The first half of it comes, then the server ends.
    HalfMessage,
}

/// The answers that are spoilt.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Place {
    /// To `initialize` and `server/discover`.
    Start,
    /// To `tools/list`.
    List,
    /// To `tools/call`.
    Call,
}

/// The faults of a name alone.
const CONDUCT: [(&str, Fault, &str); 16] = [
    ("exit", Fault::Exit, "ends at once"),
    (
        "noise",
        Fault::Noise,
        "writes a megabyte to standard error before each answer",
    ),
    (
        "ignores-eof",
        Fault::IgnoresEof,
        "stays when its input ends, and on SIGTERM",
    ),
    (
        "asks-first",
        Fault::AsksFirst,
        "sends roots/list, ping and unknown notifications, and waits for the answers",
    ),
    (
        "flood",
        Fault::Flood,
        "sends 10,000 notifications before each answer",
    ),
    (
        "progress",
        Fault::Progress,
        "says how far it is before it answers a call",
    ),
    (
        "500-tools",
        Fault::Lists(Crook::FiveHundred),
        "has 500 more tools, in pages of 100",
    ),
    (
        "pages-of-2",
        Fault::Lists(Crook::PagesOfTwo),
        "has three more tools, in pages of two",
    ),
    (
        "broken-schema",
        Fault::Lists(Crook::BrokenSchema),
        "has a tool whose schema is none",
    ),
    (
        "deep-schema",
        Fault::Lists(Crook::DeepSchema),
        "has a tool whose schema is nested 70 deep",
    ),
    (
        "twins",
        Fault::Lists(Crook::Twins),
        "has two tools that differ in a dot and a slash",
    ),
    (
        "long-name",
        Fault::Lists(Crook::LongName),
        "has a tool with a name of 200 characters",
    ),
    (
        "rude-description",
        Fault::Lists(Crook::RudeDescription),
        "has a tool whose description gives orders",
    ),
    (
        "rude-instructions",
        Fault::Lists(Crook::RudeInstructions),
        "has instructions that give orders, 130,000 characters of them",
    ),
    (
        "rug-pull",
        Fault::Lists(Crook::RugPull),
        "has a tool that is another one after each call, and says so",
    ),
    (
        "list-changed",
        Fault::Lists(Crook::ListChanged),
        "has a tool more after the first call, and says so",
    ),
];

/// The faults that spoil an answer: of a call, or with `-start`, `-list` or `-call` behind the name of that one.
const SPOILS: [(&str, Spoil, &str); 8] = [
    ("hang", Spoil::Hang, "never answers"),
    ("die-in", Spoil::Die, "ends instead of an answer"),
    ("other-id", Spoil::OtherId, "answers with another id"),
    (
        "string-ids",
        Spoil::StringIds,
        "answers with the id as a string",
    ),
    ("garbage", Spoil::Garbage, "answers what is no JSON"),
    (
        "lone-surrogate",
        Spoil::LoneSurrogate,
        "answers with half a character",
    ),
    ("long-line", Spoil::LongLine, "answers with 20 MB on a line"),
    (
        "half-message",
        Spoil::HalfMessage,
        "sends half an answer and ends",
    ),
];

const PLACES: [(&str, Place); 3] = [
    ("-start", Place::Start),
    ("-list", Place::List),
    ("-call", Place::Call),
];

impl Fault {
    /// The fault called `name`.
    pub fn named(name: &str) -> Result<Self, String> {
        if let Some((_, fault, _)) = CONDUCT.iter().find(|row| row.0 == name) {
            return Ok(*fault);
        }
        let suffix = PLACES.iter().find(|(suffix, _)| name.ends_with(suffix));
        let (kind, place) = match suffix {
            Some((suffix, place)) => (name.strip_suffix(suffix).unwrap_or(name), *place),
            None => (name, Place::Call),
        };
        match SPOILS.iter().find(|row| row.0 == kind) {
            Some((_, spoil, _)) => Ok(Fault::Spoils(*spoil, place)),
            None => Err(format!("There is no fault `{name}`.")),
        }
    }

    /// All faults, one a line, for `--help`.
    pub fn list() -> String {
        let conduct = CONDUCT.iter().map(|(name, _, what)| (*name, *what));
        let spoils = SPOILS.iter().map(|(name, _, what)| (*name, *what));
        let lines = conduct.chain(spoils);
        let lines = lines.map(|(name, what)| format!("  {name:<17} {what}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}
