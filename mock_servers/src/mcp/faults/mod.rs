//! What can go wrong with a server on request.
//!
//! A client learns what a bad server looks like from one that is bad on purpose. The SDK cannot be talked into most of
//! it, so a man in the middle spoils its lines; crooked lists of tools are made before the SDK sees them.
//! Invariant: without a fault none of this stands between the client and the SDK.

mod crook;
mod middle;

pub use crook::Crook;
pub use middle::serve;

/// One thing that goes wrong. The list below says how.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// It does what no server should.
    Does(Conduct),
    /// It spoils its answers to one kind of request.
    Spoils(Spoil, Place),
    /// Its list of tools, or what it says of itself, is not what a client expects.
    Lists(fn() -> Crook),
}

/// What a server does beside its answers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Conduct {
    /// It ends before it has read anything.
    Exit,
    /// It writes more to standard error than a pipe holds.
    Noise,
    /// It stays when its input ends and when it is told to terminate.
    IgnoresEof,
    /// It asks the client and answers nothing until the client has answered.
    AsksFirst,
    /// It sends more notifications than answers.
    Flood,
    /// It says how far it is.
    Progress,
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

/// All faults: the name of each, and what it does.
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

/// Behind the name of a fault that spoils answers: which ones.
const PLACES: [(&str, Place); 3] =
    [("-start", Place::Start), ("-list", Place::List), ("-call", Place::Call)];

impl Fault {
    /// The fault called `name`.
    ///
    /// # Errors
    /// A sentence, when there is none.
    pub fn named(name: &str) -> Result<Self, String> {
        let placed = || {
            let mut places = PLACES.iter();
            places.find_map(|(suffix, place)| match called(name.strip_suffix(suffix)?)? {
                Self::Spoils(spoil, _) => Some(Self::Spoils(spoil, *place)),
                _ => None,
            })
        };
        let fault = called(name).or_else(placed);
        fault.ok_or_else(|| format!("There is no fault `{name}`."))
    }

    /// All faults, one a line, for `--help`.
    pub fn list() -> &'static str {
        LIST
    }
}

/// The fault of this name; one that spoils answers spoils those to calls.
fn called(name: &str) -> Option<Fault> {
    let (does, lists) = (Fault::Does, Fault::Lists);
    let spoils = |spoil| Fault::Spoils(spoil, Place::Call);
    Some(match name {
        "exit" => does(Conduct::Exit),
        "noise" => does(Conduct::Noise),
        "ignores-eof" => does(Conduct::IgnoresEof),
        "asks-first" => does(Conduct::AsksFirst),
        "flood" => does(Conduct::Flood),
        "progress" => does(Conduct::Progress),
        "500-tools" => lists(crook::five_hundred),
        "pages-of-2" => lists(crook::pages_of_two),
        "broken-schema" => lists(crook::broken_schema),
        "deep-schema" => lists(crook::deep_schema),
        "twins" => lists(crook::twins),
        "long-name" => lists(crook::long_name),
        "rude-description" => lists(crook::rude_description),
        "rude-instructions" => lists(crook::rude_instructions),
        "rug-pull" => lists(crook::rug_pull),
        "list-changed" => lists(crook::list_changed),
        "hang" => spoils(Spoil::Hang),
        "die-in" => spoils(Spoil::Die),
        "other-id" => spoils(Spoil::OtherId),
        "string-ids" => spoils(Spoil::StringIds),
        "garbage" => spoils(Spoil::Garbage),
        "lone-surrogate" => spoils(Spoil::LoneSurrogate),
        "long-line" => spoils(Spoil::LongLine),
        "half-message" => spoils(Spoil::HalfMessage),
        _ => return None,
    })
}
