//! Which servers a request may mean.
//!
//! Their names stand in the description of connect_mcp; those that are connected have tools on offer.
//! Invariant: where nothing can be connected and no server has a tool, there is no server.

use crate::model::rehearsal::asked::{Asked, request_in};
use crate::model::rehearsal::tokens::{Token, tokenize};
use crate::model::rehearsal::words;
use crate::model::{Block, Message, Request, Tool};
use std::sync::Arc;

/// How many messages before the request are searched for the name of a server.
const MEMORY: usize = 20;

/// The tool that connects a server.
pub const CONNECT: &str = "connect_mcp";

/// The servers of the course, where nothing says which there are.
const COURSE: &[&str] = &["docs", "deploy"];

/// Where a server stands in the catalogue.
enum Place {
    Number(usize),
    Last,
    Other,
}

/// Words for that.
const PLACES: &[(&str, Place)] = &[
    ("first", Place::Number(0)),
    ("second", Place::Number(1)),
    ("third", Place::Number(2)),
    ("fourth", Place::Number(3)),
    ("last", Place::Last),
    ("other", Place::Other),
];

/// Words that connect.
const CONNECTS: &[&str] = &[
    "connect",
    "connected",
    "connecting",
    "reconnect",
    "attach",
    "plug",
    "hook",
    "link",
    "join",
    "mount",
    "log",
    "connection",
];

/// A word for all of them, unless one of the catalogue has that name.
const ALL: &str = "everything";

/// Words in front of `server` that name none.
const NO_NAMES: &[&str] = &[
    "mcp",
    "both",
    "other",
    "two",
    "each",
    "one",
    "same",
    "which",
    "what",
    "another",
    "next",
    "available",
    "of",
    "many",
    "there",
    "more",
    "connected",
    "external",
    "to",
    "in",
    "on",
    "into",
    "up",
    "them",
    "me",
    "with",
    "mock",
    "file",
    "web",
    "dev",
    "http",
    "and",
    "how",
    "list",
    "show",
    "unknown",
    "it",
    "use",
    "connect",
    "start",
    "its",
    "first",
    "second",
    "third",
    "fourth",
    "last",
];

/// The servers there are, and the one spoken to last.
#[derive(Debug, Default)]
pub struct Servers {
    /// Those that can be connected.
    pub catalogue: Vec<String>,
    /// All that words may name: the catalogue, those with tools on offer, those a request asks for.
    pub names: Vec<String>,
    /// The server the last call before the request went to.
    pub last: Option<String>,
    /// The server that was named last before the request.
    pub spoken: Option<String>,
}

/// No server.
pub static NONE: Servers = Servers {
    catalogue: Vec::new(),
    names: Vec::new(),
    last: None,
    spoken: None,
};

impl Servers {
    /// The servers that these requests may mean; the first of them stands right in front of the message `start`.
    pub fn of(request: &Request, asked: &[String], start: usize) -> Self {
        let before = &request.messages[..start.saturating_sub(1).min(request.messages.len())];
        let connects = request.tools.iter().find(|tool| tool.name == CONNECT);
        let mut servers = Self {
            catalogue: connects.map_or_else(Vec::new, catalogue),
            names: Vec::new(),
            last: last(before),
            spoken: None,
        };
        let connected = request.tools.iter().filter_map(|tool| parts(&tool.name));
        let mut connected: Vec<String> = connected.map(|(server, _)| server.to_owned()).collect();
        // The tools of a server stand together.
        connected.dedup();
        let named = asked.iter().flat_map(|text| named(&tokenize(text)));
        let named = named.filter(|name| name != ALL);
        let named: Vec<String> = if servers.catalogue.is_empty() {
            Vec::new()
        } else {
            named.collect()
        };
        for name in servers
            .catalogue
            .iter()
            .cloned()
            .chain(connected)
            .chain(named)
        {
            if !servers
                .names
                .iter()
                .any(|known| normal(known) == normal(&name))
            {
                servers.names.push(name);
            }
        }
        servers.spoken = servers.spoken_of(before);
        servers
    }

    /// The server that the user named last.
    fn spoken_of(&self, before: &[Arc<Message>]) -> Option<String> {
        let said = before
            .iter()
            .rev()
            .take(MEMORY)
            .filter_map(|message| request_in(message));
        let said = said.map(Asked::into_text);
        said.into_iter()
            .find_map(|text| self.meant(&tokenize(&text)).pop())
    }

    /// Those that tools on offer tell of.
    pub fn on_offer(tools: &[Tool]) -> Self {
        let connects = tools.iter().find(|tool| tool.name == CONNECT);
        let mut names = connects.map_or_else(Vec::new, catalogue);
        let connected = tools.iter().filter_map(|tool| Some(parts(&tool.name)?.0));
        let mut connected: Vec<&str> = connected.collect();
        connected.dedup();
        for server in connected {
            if !names.iter().any(|known| normal(known) == normal(server)) {
                names.push(server.to_owned());
            }
        }
        Self {
            names,
            ..Self::default()
        }
    }

    /// The server that a word names.
    pub fn named(&self, word: &str) -> Option<&str> {
        let word = parts(word).map_or(word, |(server, _)| server);
        let word = normal(word.strip_suffix("'s").unwrap_or(word));
        let mut names = self.names.iter();
        names.find(|name| normal(name) == word).map(String::as_str)
    }

    /// The servers that words name, in their order; `both` and `all` are those of the catalogue.
    pub fn meant(&self, tokens: &[Token]) -> Vec<String> {
        let mut meant: Vec<String> = Vec::new();
        for token in tokens {
            let name = self.named(token.text).map(str::to_owned);
            meant.extend(name.filter(|name| !meant.contains(name)));
        }
        let all = [
            "both",
            "all",
            "every",
            "each",
            "two",
            "servers",
            "everything",
            "them",
        ];
        if meant.is_empty() && tokens.iter().any(|token| token.is_any(&all)) {
            let is_both = tokens.iter().any(|token| token.is_any(&["both", "two"]));
            let most = if is_both { 2 } else { usize::MAX };
            meant.extend(self.catalogue.iter().take(most).cloned());
        }
        if meant.is_empty() {
            meant.extend(self.by_place(tokens).cloned());
        }
        if meant.is_empty() && tokens.iter().any(|token| token.is_any(words::PRONOUNS)) {
            meant.extend(self.spoken.clone().or_else(|| self.last.clone()));
        }
        meant
    }

    /// `the first one`, `the other one`: by its place in the catalogue, which is the order they were told in.
    fn by_place(&self, tokens: &[Token]) -> Option<&String> {
        let one = |token: &Token| token.is_any(&["one", "server", "mcp"]);
        let is_last = |at: usize| tokens.get(at + 1).is_none_or(one);
        let said = |at: &usize| PLACES.iter().any(|(word, _)| tokens[*at].is(word)) && is_last(*at);
        let at = (0..tokens.len()).find(said)?;
        let (_, place) = PLACES.iter().find(|(word, _)| tokens[at].is(word))?;
        let before = self.last.as_ref().or(self.spoken.as_ref());
        match place {
            Place::Number(number) => self.catalogue.get(*number),
            Place::Last => self.catalogue.last(),
            Place::Other => self.catalogue.iter().find(|name| Some(*name) != before),
        }
    }
}

/// A server and its tool, from the tool's name in the pool.
pub fn parts(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}

/// A tool's own name.
pub fn short(name: &str) -> &str {
    parts(name).map_or(name, |(_, tool)| tool)
}

/// The tools on offer that belong to a server; of all servers when none is named.
pub fn tools_of<'t>(tools: &'t [Tool], server: &str) -> Vec<&'t Tool> {
    let fits = |tool: &&Tool| {
        let of = parts(&tool.name).map(|(of, _)| normal(of));
        of.is_some_and(|of| server.is_empty() || of == normal(server))
    };
    tools.iter().filter(fits).collect()
}

/// A name as it stands in the names of tools, in lower case.
fn normal(name: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    name.to_lowercase().chars().map(safe).collect()
}

/// What can be connected, from the schema or the description of connect_mcp.
fn catalogue(tool: &Tool) -> Vec<String> {
    let of_schema = tool.input_schema.pointer("/properties/name/enum");
    let of_schema = of_schema
        .and_then(|names| names.as_array())
        .into_iter()
        .flatten();
    let mut names: Vec<String> = of_schema
        .filter_map(|name| Some(name.as_str()?.to_owned()))
        .collect();
    let described = [
        tool.description.as_str(),
        tool.input_schema
            .pointer("/properties/name/description")
            .and_then(|it| it.as_str())
            .unwrap_or(""),
    ];
    for text in described {
        names.extend(listed(text));
    }
    if names.is_empty() {
        names.extend(COURSE.iter().map(|name| name.to_string()));
    }
    let mut seen = Vec::new();
    names.retain(|name| {
        !seen.contains(name) && {
            seen.push(name.clone());
            true
        }
    });
    names
}

/// The names behind `Servers:` or `Available:`, up to the end of the sentence.
fn listed(text: &str) -> Vec<String> {
    let marks = ["ervers: ", "vailable: "];
    let Some((_, rest)) = marks.iter().find_map(|mark| text.split_once(mark)) else {
        return Vec::new();
    };
    let end = rest.find(['\n', ';']).unwrap_or(rest.len());
    let rest = rest[..end].split(". ").next().unwrap_or_default();
    // `…, and 3 more` names nobody.
    let rest = rest
        .trim_end_matches(" more.")
        .trim_end_matches(|c: char| c.is_ascii_digit());
    let names = rest.split([',', ' ']);
    let names = names.map(|name| name.trim_matches(|c: char| "'\"`.()".contains(c)));
    let is_name = |name: &&str| {
        let joins = ["and", "or", "none", "the"].contains(name);
        !joins && name.chars().any(char::is_alphanumeric)
    };
    names.filter(is_name).map(str::to_owned).collect()
}

/// The server to which the last call went; `None` when it went to no server.
fn last(before: &[Arc<Message>]) -> Option<String> {
    let blocks = before
        .iter()
        .rev()
        .flat_map(|message| message.blocks.iter().rev());
    let mut calls = blocks.filter_map(|block| match block {
        Block::ToolUse { name, input, .. } => Some((name, input)),
        Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => None,
    });
    match calls.next()? {
        (name, input) if name == CONNECT => Some(input.get("name")?.as_str()?.to_owned()),
        (name, _) => parts(name).map(|(server, _)| server.to_owned()),
    }
}

/// The servers that words ask for, known or not: `connect to x`, `the x server`, `the server called x`.
fn named(tokens: &[Token]) -> Vec<String> {
    let connects = tokens
        .iter()
        .any(|token| token.is_any(CONNECTS) || token.is("mcp"));
    let mut named = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|_| connects) {
        let noun = token.is_any(&["server", "servers", "mcp"]);
        let before = tokens[..at].iter().rev().find(|token| !token.is("mcp"));
        let called = token.is_any(&["called", "named"])
            && tokens[..at].iter().any(|it| it.is_any(&["server", "mcp"]));
        let connect = token.is_any(CONNECTS);
        let behind = || {
            tokens[at + 1..]
                .iter()
                .find(|token| !token.is_any(words::FILLERS) && !token.is_any(&["with", "up"]))
        };
        let name = if noun {
            before.filter(|name| name.before == super::super::tokens::Break::None || at == 1)
        } else if called || connect {
            behind()
        } else {
            None
        };
        let is_name = |name: &&Token| {
            name.quoted
                || !name.is_any(NO_NAMES)
                    && !name.is_any(words::FILLERS)
                    && !name.is_any(&["server", "servers"])
        };
        named.extend(name.filter(is_name).map(|name| name.text.to_owned()));
    }
    named
}
