//! Steps about MCP servers: which are connected, and which words are for one of them.
//!
//! Words go to a server when they name it, when they follow a step about it, or when they speak of it (`search it for
//! hooks`) and one of its tools fits. Invariant: words about files of the workspace never go to a server that they do
//! not name.

use super::planner::{Planner, typed};
use super::{Objects, Step};
use crate::model::rehearsal::intents::row;
use crate::model::rehearsal::pattern::{self, Kind, Taken};
use crate::model::rehearsal::servers::{is_act, score, short, tools_of};
use crate::model::rehearsal::slots::Slots;
use crate::model::rehearsal::table::{Intent, Serves};
use crate::model::rehearsal::tokens::Token;

/// The row for what nothing but a server's own tools can do.
const USE: &str = "use a tool of a server";

/// The row that says which servers there are.
const WHICH: &str = "tell which servers there are";

/// What a row tells that says which tools a server has.
pub const OFFERED: &str = "{server_tools}";

/// Rows about files that may as well be about what a server holds, when they name no place.
const SEARCHES: &[&str] = &[
    "search for text",
    "find a file by name",
    "show the last output",
    "tell what a project is about",
];

/// A tool fits well enough to be meant although its server is not named.
const FITS_WELL: i32 = 4;

/// Words for the workspace.
const WORKSPACE: &[&str] = &[
    "file",
    "files",
    "folder",
    "directory",
    "repo",
    "repository",
    "code",
    "codebase",
    "workspace",
    "project",
    "python",
    "tests",
    "task",
    "tasks",
    "board",
    "todo",
    "todos",
    "reminder",
    "branch",
    "git",
    "skill",
    "skills",
    "memory",
    "sources",
    "here",
];

/// Words that speak of a server named before.
const OF_IT: &[&str] = &["it", "its", "there", "them", "that", "again", "another"];

/// Whether words that fit a row about servers are for a server.
pub fn is_for_it(row: &Intent, tokens: &[Token], taken: &[Taken]) -> bool {
    let is_named = taken.iter().any(|slot| slot.kind == Kind::Server);
    is_named || row.serves != Some(Serves::Use) || !names_files(tokens)
}

/// The words as they were typed, without politeness at the end; what is quoted there stays quoted.
fn wished(request: &str, tokens: &[Token]) -> String {
    let is_polite = |token: &&Token| token.is_any(&["please", "pls", "thanks", "now"]);
    let polite = tokens.iter().rev().take_while(is_polite).count();
    match &tokens[..tokens.len() - polite] {
        [] => typed(request, tokens),
        [first, .., last] if last.quoted && first.start < last.end => {
            let text = &request[first.start..last.end];
            text.trim_end_matches(['.', '!', '?', ',', ';']).to_owned()
        }
        tokens => typed(request, tokens),
    }
}

/// Whether words are about the workspace.
fn is_own(tokens: &[Token]) -> bool {
    names_files(tokens) || tokens.iter().any(|token| token.is_any(WORKSPACE))
}

/// Whether words name files or folders.
fn names_files(tokens: &[Token]) -> bool {
    let is_path = |token: &Token| !token.quoted && pattern::is_path(token);
    let is_file = |token: &Token| token.is_any(&["file", "files", "folder", "directory"]);
    tokens.iter().any(|token| is_file(token) || is_path(token))
}

impl Planner<'_> {
    /// The server that words are for which name none.
    pub(super) fn server_for(&self, tokens: &[Token], found: Option<&Intent>) -> Option<String> {
        let is_talk = |row: &Intent| {
            row.needs == "connect_mcp" || row.serves.is_some() || row.name == "list the tools"
        };
        if self.offer.servers.names.is_empty() || found.is_some_and(is_talk) {
            return None;
        }
        let own = is_own(tokens);
        let last = self
            .plan
            .steps
            .last()
            .filter(|step| step.intent.serves.is_some());
        let here = last
            .and_then(|step| step.slots.get("server"))
            .filter(|server| !server.is_empty());
        let begins = tokens
            .iter()
            .find(|token| !token.is_any(&["i", "we"]))
            .is_some_and(is_act);
        if let Some(server) = here {
            let searches =
                found.is_some_and(|row| SEARCHES.contains(&row.name)) && server != "deploy";
            let fits = !own && (searches || self.fits(server, tokens, FITS_WELL));
            return (fits || found.is_none() && begins).then(|| server.to_owned());
        }
        let server = self
            .offer
            .servers
            .last
            .as_deref()
            .filter(|_| self.plan.steps.is_empty())?;
        let speaks = tokens.iter().any(|token| token.is_any(OF_IT));
        let searches = found.is_some_and(|row| SEARCHES.contains(&row.name));
        let least = if speaks || found.is_none() { 2 } else { 3 };
        // `echo good morning` is a command, unless the server spoken to has a tool of that name.
        let called = || {
            tokens
                .first()
                .is_some_and(|first| self.has_tool(server, first.text))
        };
        let is_meant = speaks || searches || found.is_none() || called();
        (!own && is_meant && self.fits(server, tokens, least)).then(|| server.to_owned())
    }

    fn has_tool(&self, server: &str, name: &str) -> bool {
        let tools = tools_of(self.offer.tools, server);
        tools
            .iter()
            .any(|tool| short(&tool.name).eq_ignore_ascii_case(name))
    }

    fn fits(&self, server: &str, tokens: &[Token], least: i32) -> bool {
        let words: Vec<&str> = tokens.iter().map(|token| token.text).collect();
        let wish = words.join(" ");
        tools_of(self.offer.tools, server)
            .iter()
            .any(|tool| score(&wish, tool) >= least)
    }

    /// A step of a row about servers.
    pub(super) fn add_served(
        &mut self,
        intent: &'static Intent,
        request: &str,
        tokens: &[Token],
        taken: &[Taken],
    ) {
        let fixed = intent
            .fills
            .iter()
            .find(|(name, _)| *name == "server")
            .map(|(_, server)| server.to_string());
        let named = taken
            .iter()
            .find(|slot| slot.name == "server")
            .map(|slot| tokens[slot.from].text);
        match intent.serves {
            Some(Serves::Connect) => self.add_connects(intent, tokens),
            Some(Serves::Use) | None => {
                let named =
                    named.map(|name| self.offer.servers.named(name).unwrap_or(name).to_owned());
                let meant = || self.offer.servers.meant(tokens).into_iter().next();
                let last = || {
                    self.plan
                        .steps
                        .iter()
                        .rev()
                        .find_map(|step| step.slots.get("server"))
                        .map(str::to_owned)
                };
                let before = || self.offer.servers.last.clone();
                let server = named.or(fixed).or_else(meant).or_else(last).or_else(before);
                self.add_use(intent, server.unwrap_or_default(), request, tokens);
            }
        }
    }

    fn add_connects(&mut self, intent: &'static Intent, tokens: &[Token]) {
        let servers = self.offer.servers.meant(tokens);
        let known = |server: &String| {
            self.plan.steps.iter().any(|step| {
                step.intent.name == intent.name && step.slots.get("server") == Some(server)
            })
        };
        let new: Vec<String> = servers
            .iter()
            .filter(|server| !known(server))
            .cloned()
            .collect();
        if servers.is_empty() {
            self.plan
                .steps
                .push(Step::new(row(WHICH), Slots::default(), Objects::None));
        }
        for server in new {
            let mut slots = Slots::default();
            slots.set("server", server);
            self.plan
                .steps
                .push(Step::new(intent, slots, Objects::None));
        }
    }

    /// A step that asks a server for what the words say.
    pub(super) fn add_use(
        &mut self,
        intent: &'static Intent,
        server: String,
        request: &str,
        tokens: &[Token],
    ) {
        let mut slots = Slots::default();
        let wish = wished(request, tokens);
        let mut letters = wish.chars();
        let first = letters.next().map(|letter| letter.to_ascii_lowercase());
        let act: String = first.into_iter().chain(letters).collect();
        let is_question = tokens.first().is_some_and(|token| {
            token.is_any(&[
                "what", "which", "how", "where", "is", "are", "does", "do", "who", "when",
            ]) || !is_act(token)
        });
        slots.set(
            "act",
            if is_question {
                format!("answer “{wish}”")
            } else {
                act
            },
        );
        slots.set("wish", wish);
        let connects = |step: &Step| {
            step.intent.serves == Some(Serves::Connect) && step.slots.get("server") == Some(&server)
        };
        let leans_on = self.plan.steps.iter().rposition(connects);
        slots.set("server", server);
        self.plan.steps.push(Step {
            leans_on,
            ..Step::new(intent, slots, Objects::None)
        });
    }

    /// The row for words that only the server's own tools can answer.
    pub(super) fn use_row() -> &'static Intent {
        row(USE)
    }
}
