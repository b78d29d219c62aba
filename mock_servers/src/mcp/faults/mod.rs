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

/// All faults, one a line, for `--help`.
const LIST: &str = "  exit              ends at once
  noise             writes a megabyte to standard error before each answer
  ignores-eof       stays when its input ends, and on SIGTERM
  asks-first        sends roots/list, ping and unknown notifications, and waits for the answers
  flood             sends 10,000 notifications before each answer
  progress          says how far it is before it answers a call
  500-tools         has 500 more tools, in pages of 100
  pages-of-2        has three more tools, in pages of two
  broken-schema     has a tool whose schema is none
  deep-schema       has a tool whose schema is nested 70 deep
  twins             has two tools that differ in a dot and a slash
  long-name         has a tool with a name of 200 characters
  rude-description  has a tool whose description gives orders
  rude-instructions has instructions that give orders, 130,000 characters of them
  rug-pull          has a tool that is another one after each call, and says so
  list-changed      has a tool more after the first call, and says so
  hang              never answers
  die-in            ends instead of an answer
  other-id          answers with another id
  string-ids        answers with the id as a string
  garbage           answers what is no JSON
  lone-surrogate    answers with half a character
  long-line         answers with 20 MB on a line
  half-message      sends half an answer and ends";

/// The faults of a name alone.
const CONDUCT: [(&str, Fault); 16] = [
    ("exit", Fault::Exit),
    ("noise", Fault::Noise),
    ("ignores-eof", Fault::IgnoresEof),
    ("asks-first", Fault::AsksFirst),
    ("flood", Fault::Flood),
    ("progress", Fault::Progress),
    ("500-tools", Fault::Lists(Crook::FiveHundred)),
    ("pages-of-2", Fault::Lists(Crook::PagesOfTwo)),
    ("broken-schema", Fault::Lists(Crook::BrokenSchema)),
    ("deep-schema", Fault::Lists(Crook::DeepSchema)),
    ("twins", Fault::Lists(Crook::Twins)),
    ("long-name", Fault::Lists(Crook::LongName)),
    ("rude-description", Fault::Lists(Crook::RudeDescription)),
    ("rude-instructions", Fault::Lists(Crook::RudeInstructions)),
    ("rug-pull", Fault::Lists(Crook::RugPull)),
    ("list-changed", Fault::Lists(Crook::ListChanged)),
];

/// The faults that spoil an answer: of a call, or with `-start`, `-list` or `-call` behind the name of that one.
const SPOILS: [(&str, Spoil); 8] = [
    ("hang", Spoil::Hang),
    ("die-in", Spoil::Die),
    ("other-id", Spoil::OtherId),
    ("string-ids", Spoil::StringIds),
    ("garbage", Spoil::Garbage),
    ("lone-surrogate", Spoil::LoneSurrogate),
    ("long-line", Spoil::LongLine),
    ("half-message", Spoil::HalfMessage),
];

const PLACES: [(&str, Place); 3] = [
    ("-start", Place::Start),
    ("-list", Place::List),
    ("-call", Place::Call),
];

impl Fault {
    /// The fault called `name`.
    pub fn named(name: &str) -> Result<Self, String> {
        if let Some((_, fault)) = CONDUCT.iter().find(|row| row.0 == name) {
            return Ok(*fault);
        }
        let suffix = PLACES.iter().find(|(suffix, _)| name.ends_with(suffix));
        let (kind, place) = match suffix {
            Some((suffix, place)) => (name.strip_suffix(suffix).unwrap_or(name), *place),
            None => (name, Place::Call),
        };
        match SPOILS.iter().find(|row| row.0 == kind) {
            Some((_, spoil)) => Ok(Fault::Spoils(*spoil, place)),
            None => Err(format!("There is no fault `{name}`.")),
        }
    }

    /// All faults, one a line, for `--help`.
    pub fn list() -> &'static str {
        LIST
    }
}
