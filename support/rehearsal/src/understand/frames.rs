//! Frames: a command, a time, a subagent, a server, a file that is made or changed.
//!
//! A frame takes words that no row could hold: a command line, a text, a whole order for somebody else or for later.
//! Invariants: such an order is understood first, and refused when it is not; the content of a file is the user's, a result of
//! this request, or one of a few samples that the user named, and never made up.

use regex_lite::Regex;

use super::{Planner, Result};
use crate::clause::{self, Clause, Found, PLAIN, is_filler, says};
use crate::mcp;
use crate::run::{Act, Content, Refusal};
use crate::slots::file;
use crate::speak::sentence;
use crate::table;
use crate::tools::Can;
use crate::when;
use crate::words::{Shape, Token, entry, has, set};

pub(super) fn is_program(command: &str) -> bool {
    command.starts_with("./")
        || command.split(' ').next().is_some_and(|it| has(set("programs"), it))
}

impl Planner<'_, '_> {
    /// `run X`, `run X in the background`, ``while `X` runs in the background``.
    pub(super) fn command(&self, clause: &Clause) -> Option<Act> {
        let found = clause::find("command", clause, PLAIN).filter(|_| self.world.can(Can::Bash))?;
        let command = found.text("command");
        let is_quoted = matches!(found.tokens("command"), [one] if one.is_quoted());
        (is_quoted || is_program(command))
            .then(|| Act::Shell(command.to_owned(), found.label == "background"))
    }

    /// `every two minutes`, `in an hour`, `remind me`.
    pub(super) fn schedule(&mut self, clause: &Clause, rest: &Clause) -> Result<Option<bool>> {
        let is_ordered = clause.tokens[0].is("schedule remind");
        let own = when::find(clause);
        // `what is on tomorrow?` asks.
        if clause.is_question() && own.as_ref().is_some_and(|found| found.from > 0) && !is_ordered {
            return Ok(None);
        }
        let takes_rest = is_ordered || own.is_some_and(|found| found.from == 0);
        let whole = if takes_rest { rest } else { clause };
        let Some(found) = when::find(whole) else {
            if !is_ordered {
                return Ok(None);
            }
            let why = "says no time that I understand, so I scheduled nothing";
            let why = format!("“{}” {why}", clause.text());
            return Err(Refusal::new(why, set("times").split(" | ")));
        };
        if !self.world.can(Can::Schedule) {
            return Err(self.no_tool(whole));
        }
        let durable = whole.says("durable durably permanently permanent");
        let prompt = scheduled_prompt(whole, &found);
        // A second time in it would be lost.
        let again = Clause::of(&prompt);
        let says_nothing = prompt.is_empty() || prompt.eq_ignore_ascii_case("remind me");
        if says_nothing || when::find(&again).is_some() {
            return Err(self.refuse(whole.text(), clause));
        }
        if !prompt.to_lowercase().starts_with("remind me") {
            self.check(&prompt)?;
        }
        self.push(Act::Schedule(found.when, prompt, durable));
        Ok(Some(takes_rest))
    }
}

/// The jobs that are handed to subagents: `one reads a, the other lists b`, `read a and another subagent to list b`.
pub(super) fn delegated(clause: &Clause) -> Option<Vec<String>> {
    let found = clause::find("delegate", clause, PLAIN)?;
    let joint =
        Regex::new("( and|[,;]( and)?) (the other|another) |, (and )?one ").expect("it is one");
    let parts = joint.split(found.text("job")).map(|part| part.trim_end_matches([' ', '.', ',']));
    let jobs: Vec<String> = parts.map(|part| sentence(&ordered(part))).collect();
    let is_job = |job: &String| !has(set("no-jobs"), &job.trim_end_matches('.').to_lowercase());
    let count = found.number("count").unwrap_or(1) as usize;
    ((count == 1 || count == jobs.len()) && jobs.iter().all(is_job)).then_some(jobs)
}

/// `one reads a` and `reading a` as an order: `read a`.
fn ordered(words: &str) -> String {
    let mut words = words.split(' ').skip_while(|word| has(set("before-jobs"), word));
    let verb = words.next().unwrap_or_default().to_lowercase();
    let cut = verb.strip_suffix("ing").or(verb.strip_suffix('s')).unwrap_or(&verb);
    let known = [cut.to_owned(), format!("{cut}e")].into_iter().find(|word| table::is_verb(word));
    let rest = words.map(|word| format!(" {word}")).collect::<String>();
    format!("{}{rest}", known.unwrap_or(verb))
}

/// The prompt of a schedule: the clause without its time and the words that only say that it is scheduled.
fn scheduled_prompt(clause: &Clause, time: &when::Found) -> String {
    let (before, behind) =
        (clause.between(0, time.from), clause.between(time.to, clause.tokens.len()));
    let rest = Clause::of(&format!("{} {behind}", before.trim_end_matches([',', ' '])));
    let found = clause::find("prompt", &rest, PLAIN);
    let prompt = found.map(|found| format!("{} {}", found.label, found.text("what")));
    prompt.unwrap_or_default().trim().to_owned()
}

impl Planner<'_, '_> {
    pub(super) fn servers(&mut self, clause: &Clause) -> Option<Result<()>> {
        let servers = &self.world.servers;
        if servers.is_empty() && !self.world.can(Can::Connect) {
            return None;
        }
        match mcp::connecting(clause, servers) {
            Some(Ok((wanted, rest))) => {
                // Servers of another harness are connected already.
                if self.world.can(Can::Connect) {
                    self.push(Act::Connect(wanted.clone()));
                }
                self.server = wanted.first().filter(|_| wanted.len() == 1).cloned();
                if let (Some(server), false) = (&self.server, rest.is_empty()) {
                    self.push(Act::Serve(server.clone(), rest, None));
                }
                return Some(Ok(()));
            }
            Some(Err(word)) => {
                let offers = servers.iter().map(|server| format!("connect to {server}"));
                let all = servers.join(", ");
                let why =
                    format!("I know no server “{word}”; there are {all}, so I connected to none");
                return Some(Err(Refusal::new(why, offers)));
            }
            None => {}
        }
        if clause.says("tools") {
            return None;
        }
        let has_file = clause.tokens.iter().any(|token| token.shape == Shape::Path);
        let is_asked = |server: &&String| {
            let is_there = clause.says(set("asks")) || self.world.connected.contains(server);
            is_there && !has_file && clause.tokens.iter().any(|token| mcp::names(token, server))
        };
        // `it` and `there` are the server that was spoken of; what is for the board or for files is not for it.
        let is_local = has_file
            || clause.says("file files task tasks worktree worktrees") && !clause.says("it there");
        let named: Vec<String> = servers.iter().filter(is_asked).cloned().collect();
        if let [_, other, ..] = named.as_slice() {
            return Some(Err(self.refuse(other, clause)));
        }
        let server = named.into_iter().next().or_else(|| self.server.clone().filter(|_| !is_local));
        server.map(|server| self.ask(server, clause, None))
    }

    /// Asks a server; one that is connected already tells now what it cannot do.
    pub(super) fn ask(
        &mut self,
        server: String,
        clause: &Clause,
        only: Option<String>,
    ) -> Result<()> {
        // `ask jira to close WEB-1` orders `close WEB-1`.
        let order = clause::find("served", clause, PLAIN);
        let order = order.filter(|found| mcp::names(&found.tokens("who")[0], &server));
        let order = order.map(|found| Clause::of(found.text("what")));
        let clause = order.as_ref().unwrap_or(clause);
        let is_said = |token: &Token| {
            !is_filler(token) && !token.is(set("asks")) && !mcp::names(token, &server)
        };
        if !clause.tokens.iter().any(is_said) {
            return Err(self.refuse(clause.text(), clause));
        }
        self.server = Some(server.clone());
        if self.world.connected.contains(&server) {
            return match mcp::pick(clause, self.world.tools, Some(&server)) {
                Some(picked) => self.call(picked, clause),
                None => Err(self.refuse(clause.text(), clause)),
            };
        }
        let is_planned = |act: &Act| matches!(act, Act::Connect(known) if known.contains(&server));
        if !self.steps.iter().any(|step| is_planned(&step.act)) {
            self.push(Act::Connect(vec![server.clone()]));
        }
        self.done(Act::Serve(server, clause.text().to_owned(), only))
    }

    /// What was done before by a tool that is there no more is refused with where it went.
    pub(super) fn gone(&self, clause: &Clause) -> Option<Refusal> {
        let is_said =
            |name: &&String| clause.tokens.iter().any(|token| mcp::is_called(name, token));
        let name = self.world.gone.iter().find(|name| is_said(name))?;
        let (server, tool) = mcp::parts(name);
        let why = format!("{tool} was a tool of {server}, which is gone, so I did nothing");
        Some(Refusal::new(why, [format!("connect to {server}")]))
    }

    /// A call that was worked out; what its tool wants to know is asked for, with what it accepts.
    pub(super) fn call(&mut self, picked: mcp::Picked, clause: &Clause) -> Result<()> {
        let missing = match picked {
            Ok((name, input)) => return self.done(Act::Named(name, input)),
            Err(missing) => missing,
        };
        let why = format!("I cannot do {}, so I did nothing", missing.what);
        let asked = clause.text().trim_end_matches(['?', '.', '!', ' ']);
        let with = missing.choices.iter().map(|choice| format!("{asked} of {choice}"));
        let offers: Vec<String> = with.collect();
        Err(Refusal::new(why, if offers.is_empty() { self.offers(&clause.tokens) } else { offers }))
    }

    /// Files that are made or changed.
    pub(super) fn files(&mut self, clause: &Clause) -> Option<Result<()>> {
        if let Some(found) = clause::find("replace", clause, PLAIN) {
            let path = found.first("path").map(|token| file(&token.text));
            let path = path.or_else(|| self.last_path())?;
            // One passage is replaced, and it must stand there once.
            if found.label == "each" {
                return Some(Err(self.refuse(clause.between(1, 2), clause)));
            }
            if !self.world.can(Can::Edit) {
                return Some(Err(self.no_tool(clause)));
            }
            let (old, new) = (found.text("old").to_owned(), found.text("new").to_owned());
            return Some(self.done(Act::Replace(path, old, new)));
        }
        if !self.world.can(Can::Write) && !self.world.can(Can::Bash) {
            return None;
        }
        let found = clause::find("create", clause, &made)?;
        let kind =
            clause.tokens.iter().find_map(|token| entry("endings", &token.low)).unwrap_or("txt");
        let unnamed = match found.label {
            "found" => String::new(),
            _ => format!("new_file.{kind}"),
        };
        let path = found.first("path").map_or(unnamed, |token| file(&token.text));
        let (content, left) = content(&found, path.ends_with(".py"));
        let is_first = self.steps.is_empty() && self.world.scene.calls.is_empty();
        let finds_nothing = is_first && content == Content::Found(Vec::new());
        if let Some(word) = left.or(finds_nothing.then(|| clause.text())) {
            return Some(Err(self.refuse(word, clause)));
        }
        Some(self.done(Act::Create(path, content)))
    }
}

/// The slots of a clause that makes a file.
fn made(kind: &str, tokens: &[Token], at: usize) -> Option<usize> {
    let is_path = |token: &Token| token.shape == Shape::Path;
    let before = &tokens[at.saturating_sub(1)..at];
    let is_named = says(before, "called named") && tokens[at].shape == Shape::Word
        || says(before, "called named file") && tokens[at].is_quoted();
    let paths = tokens[at..].iter().take_while(|token| is_path(token) || token.is(", and"));
    match kind {
        "file" => (is_path(&tokens[at]) || is_named).then_some(at + 1),
        "paths" => is_path(&tokens[at]).then(|| at + paths.count()),
        _ => None,
    }
}

/// What goes into a file, and what nobody accounts for.
fn content<'c>(found: &Found<'c>, is_python: bool) -> (Content, Option<&'c str>) {
    let text = found.text("text").trim_end_matches([',', ' ']);
    let content = match found.label {
        "print" if is_python => {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            Content::Given(format!("print(\"{text}\")"))
        }
        "print" | "given" if !text.is_empty() => Content::Given(text.replace("\\n", "\n")),
        "print" | "given" | "nothing" => Content::Nothing,
        "found" => {
            let sources = found.tokens("from").iter().filter(|token| token.shape == Shape::Path);
            Content::Found(sources.map(|token| file(&token.text)).collect())
        }
        "output" => Content::Output,
        "text" | "plain" => {
            let tokens = found.tokens("text");
            let is_talk = found.label == "plain" && says(&tokens[..1], set("talk"))
                || tokens.iter().any(|token| token.shape == Shape::Path);
            // What stands behind an `and` without quotation marks may be content or a second request.
            let joints = [" and ", ", ", " then ", " but "].iter();
            let joined = joints.filter_map(|joint| text.find(joint)).min();
            let joined = joined.map(|at| text[at..].trim_start_matches([',', ' ']));
            let left = joined.or(Some(text).filter(|_| is_talk));
            return (Content::Given(text.to_owned()), left);
        }
        "bad" => return (Content::Nothing, Some(text)),
        sample => {
            let signature = found.text("signature");
            let mut parts = signature.split(['(', ':', ',', ')']).map(str::trim);
            let name = parts.next().filter(|name| !name.is_empty());
            let name = name.map_or(found.text("name").to_lowercase(), str::to_owned);
            // Only a slug has a body that can be known.
            let sample = if name.contains("slug") { "slug-file" } else { sample };
            let argument = parts.next().unwrap_or_default();
            let text = set(sample).replace("\\n", "\n").replace("{signature}", signature);
            Content::Sample(text.replace("{name}", &name).replace("{argument}", argument))
        }
    };
    (content, None)
}
