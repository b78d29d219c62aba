//! What a user says that is worth knowing the next time: tastes, rules, names, facts of the project.
//!
//! The same sentences are noted by the agent and extracted by the side call, so both read them here.
//! Invariant: a request or a question is no fact, and nothing is added to what the user said.

use serde_json::{Value, json};

use super::likeness::{alike, kebab};
use super::sentences::{is_question, sentences};
use super::style::{Indent, Quotes, Style};

/// One thing to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// A short name: `indentation-preference`.
    pub name: String,
    /// One line.
    pub description: String,
    /// `user`, `feedback`, `project` or `reference`.
    pub kind: &'static str,
    /// The user's sentence.
    pub said: String,
    /// What it says about the style of code.
    style: Style,
}

/// What asks for remembering what follows.
const LEADS: &[&str] = &[
    "please remember that ",
    "please remember: ",
    "please remember ",
    "remember that ",
    "remember this: ",
    "remember: ",
    "remember, ",
    "remember ",
    "keep in mind that ",
    "keep in mind: ",
    "keep in mind ",
    "please note that ",
    "please note: ",
    "note that ",
    "note: ",
    "make a note that ",
    "make a note: ",
    "don't forget that ",
    "don't forget: ",
    "don't forget ",
    "do not forget that ",
    "do not forget ",
    "for the record, ",
    "for the record: ",
    "for future reference, ",
    "by the way, ",
    "fyi: ",
    "save to memory that ",
    "save to memory: ",
    "add to memory that ",
    "commit to memory that ",
    "fyi, ",
    "you should know that ",
    "please know that ",
];

/// What may stand in front of any statement.
const POLITE: &[&str] = &[
    "and ",
    "but ",
    "so ",
    "also ",
    "ok, ",
    "okay, ",
    "well, ",
    "hey, ",
    "hi, ",
    "please ",
    "actually, ",
    "actually ",
];

/// How a statement begins, and what kind of fact it is.
const OPENERS: &[(&str, &str)] = &[
    ("i prefer ", "user"),
    ("i also prefer ", "user"),
    ("i like ", "user"),
    ("i also like ", "user"),
    ("i love ", "user"),
    ("i hate ", "user"),
    ("i dislike ", "user"),
    ("i don't like ", "user"),
    ("i do not like ", "user"),
    ("i favor ", "user"),
    ("i favour ", "user"),
    ("i use ", "user"),
    ("i'd rather ", "user"),
    ("i would rather ", "user"),
    ("i always ", "user"),
    ("i never ", "user"),
    ("i work ", "user"),
    ("i am a ", "user"),
    ("i am an ", "user"),
    ("i am the ", "user"),
    ("i'm a ", "user"),
    ("i'm an ", "user"),
    ("i'm the ", "user"),
    ("i am called ", "user"),
    ("i live ", "user"),
    ("call me ", "user"),
    ("my name is ", "user"),
    ("my favorite ", "user"),
    ("my favourite ", "user"),
    ("my preference ", "user"),
    ("my preferred ", "user"),
    ("my indentation ", "user"),
    ("my coding ", "user"),
    ("my code ", "user"),
    ("my style ", "user"),
    ("my editor ", "user"),
    ("my role ", "user"),
    ("my team ", "user"),
    ("my time zone ", "user"),
    ("my timezone ", "user"),
    ("my language ", "user"),
    ("always ", "feedback"),
    ("never ", "feedback"),
    ("from now on", "feedback"),
    ("in future", "feedback"),
    ("in the future", "feedback"),
    ("going forward", "feedback"),
    ("avoid ", "feedback"),
    ("stop using ", "feedback"),
    ("don't ever ", "feedback"),
    ("do not ever ", "feedback"),
    ("you should always ", "feedback"),
    ("you should never ", "feedback"),
    ("you must always ", "feedback"),
    ("you must never ", "feedback"),
    ("make sure to always ", "feedback"),
    ("make sure you always ", "feedback"),
    ("we use ", "project"),
    ("we always ", "project"),
    ("we never ", "project"),
    ("we prefer ", "project"),
    ("we deploy ", "project"),
    ("we release ", "project"),
    ("we don't ", "project"),
    ("we do not ", "project"),
    ("we work ", "project"),
    ("we write ", "project"),
    ("our ", "project"),
    ("this project ", "project"),
    ("this repo ", "project"),
    ("this repository ", "project"),
    ("this codebase ", "project"),
    ("this workspace ", "project"),
    ("the project ", "project"),
    ("the codebase ", "project"),
    ("in this project", "project"),
    ("the deadline ", "project"),
    ("releases are ", "project"),
];

/// Statements that begin as facts do and say nothing to keep.
const IDLE: &[&str] = &[
    "never mind",
    "i like it",
    "i like that",
    "i like this",
    "i love it",
    "i love that",
    "i love this",
    "i hate it",
    "i hate that",
    "i hate this",
    "in the future",
];

/// Verbs that open a request: what follows holds for it alone.
const REQUESTS: &[&str] = &[
    "add", "call", "change", "convert", "create", "delete", "edit", "find", "forget", "list",
    "make", "move", "print", "read", "refactor", "remove", "rename", "replace", "run", "save",
    "search", "show", "tell", "test", "write",
];

/// The facts in the user's words; of two about the same, the later.
pub fn facts(text: &str) -> Vec<Fact> {
    let mut found: Vec<Fact> = Vec::new();
    for fact in sentences(text).flat_map(facts_in) {
        found.retain(|known| known.name != fact.name);
        found.push(fact);
    }
    found
}

impl Fact {
    /// Whether one line of an index already says it.
    pub fn is_in(&self, line: &str) -> bool {
        let style = Style::of(line);
        match (self.style.indent, self.style.quotes) {
            (None, None) => {
                line.contains(&format!("[{}]", self.name)) || alike(&self.description, line)
            }
            (indent, quotes) => {
                indent.is_none_or(|indent| style.indent == Some(indent))
                    && quotes.is_none_or(|quotes| style.quotes == Some(quotes))
            }
        }
    }

    /// Whether it takes the place of what this line says: the same choice, made otherwise.
    pub fn replaces(&self, line: &str) -> bool {
        let style = Style::of(line);
        let otherwise = |new: bool, same: bool| new && !same;
        otherwise(
            self.style.indent.is_some() && style.indent.is_some(),
            self.style.indent == style.indent,
        ) || otherwise(
            self.style.quotes.is_some() && style.quotes.is_some(),
            self.style.quotes == style.quotes,
        )
    }

    /// The fact in the shape of a memory.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "description": self.description,
            "type": self.kind,
            "content": format!("The user said: “{}.”", self.said),
        })
    }

    fn new(name: &str, kind: &'static str, description: String, said: &str) -> Self {
        let style = Style::default();
        Self {
            name: name.to_owned(),
            description,
            kind,
            said: said.to_owned(),
            style,
        }
    }
}

fn facts_in(sentence: &str) -> Vec<Fact> {
    let sentence = sentence.trim_end_matches(['.', '!', ' ']);
    let (statement, asked) = without_lead(sentence);
    let lower = statement.to_lowercase();
    let first = lower.split([' ', ',', ':']).next().unwrap_or("");
    let is_short = lower.split_whitespace().count() < 2;
    if is_question(sentence) || is_question(statement) || is_short || IDLE.contains(&lower.as_str())
    {
        return Vec::new();
    }
    let opener = OPENERS
        .iter()
        .find(|(opener, _)| lower.starts_with(opener))
        .map(|(_, kind)| *kind);
    if opener.is_none() && !asked && REQUESTS.contains(&first) {
        return Vec::new();
    }
    let kind = match reference(&lower) {
        true => Some("reference"),
        false => opener.or(asked.then_some("feedback")),
    };
    let style = Style::of(statement);
    let mut facts = style_facts(style, statement, kind.unwrap_or("feedback"));
    if let (Some(kind), true) = (kind, facts.is_empty()) {
        facts.push(plain_fact(statement, &lower, kind));
    }
    facts
}

/// Whether a statement says where something is found.
fn reference(lower: &str) -> bool {
    let says = [
        "documented at",
        "documented in",
        "tracked in",
        "tracked at",
        "found at",
        "docs are",
        "wiki is",
    ];
    lower.contains("http://")
        || lower.contains("https://")
        || says.iter().any(|words| lower.contains(words))
}

fn style_facts(style: Style, statement: &str, kind: &'static str) -> Vec<Fact> {
    let indent = style.indent.map(|indent| {
        let what = match indent {
            Indent::Tabs => "tabs for indentation, not spaces".to_owned(),
            Indent::Spaces(width) => format!("{width} spaces for indentation, not tabs"),
        };
        let alone = Style {
            indent: Some(indent),
            quotes: None,
        };
        ("indentation-preference", what, alone)
    });
    let quotes = style.quotes.map(|quotes| {
        let what = match quotes {
            Quotes::Single => "single quotes for strings, not double quotes",
            Quotes::Double => "double quotes for strings, not single quotes",
        };
        let alone = Style {
            indent: None,
            quotes: Some(quotes),
        };
        ("quote-preference", what.to_owned(), alone)
    });
    let fact = |(name, what, style): (&str, String, Style)| Fact {
        style,
        ..Fact::new(name, kind, format!("The user prefers {what}"), statement)
    };
    indent.into_iter().chain(quotes).map(fact).collect()
}

fn plain_fact(statement: &str, lower: &str, kind: &'static str) -> Fact {
    let named = ["my name is ", "i am called ", "call me "];
    if let Some(lead) = named.iter().find(|lead| lower.starts_with(*lead)) {
        let name = statement[lead.len()..]
            .split([',', ' '])
            .next()
            .unwrap_or_default();
        return Fact::new(
            "user-name",
            kind,
            format!("The user's name is {name}"),
            statement,
        );
    }
    let told = [
        "prefer", "like", "love", "hate", "dislike", "use", "work", "live",
    ];
    let description = told
        .iter()
        .find_map(|verb| {
            let (lead, plural) = (format!("i {verb} "), format!("i also {verb} "));
            let lead = [lead, plural]
                .into_iter()
                .find(|lead| lower.starts_with(lead))?;
            Some(format!("The user {verb}s {}", &statement[lead.len()..]))
        })
        .unwrap_or_else(|| format!("The user said: {statement}"));
    Fact::new(&kebab(statement), kind, description, statement)
}

/// A sentence without what leads to the statement, and whether remembering was asked for.
fn without_lead(sentence: &str) -> (&str, bool) {
    let mut rest = sentence.trim();
    let mut asked = false;
    loop {
        // The leads are ASCII, so a match in lower case has the same length in the sentence.
        let starts = |lead: &str| {
            rest.get(..lead.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(lead))
        };
        if let Some(lead) = LEADS.iter().find(|lead| starts(lead)) {
            (rest, asked) = (rest[lead.len()..].trim_start(), true);
        } else if let Some(lead) = POLITE.iter().find(|lead| starts(lead)) {
            rest = rest[lead.len()..].trim_start();
        } else {
            return (rest, asked);
        }
    }
}
