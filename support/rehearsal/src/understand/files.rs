//! Clauses about files that are made or changed, and about servers.
//!
//! Invariant: a clause that names a server is for its tools, and a clause that makes a file has told its content or none.

use super::{Planner, Result};
use crate::clause::{Clause, Join, is_filler};
use crate::create::{self, Content, New};
use crate::mcp;
use crate::plan::{Act, Refusal};
use crate::slots::file;
use crate::tools::Can;
use crate::words::{Shape, Token};

/// Words that ask a server.
const ASKS: &str = "server search look find our what ask say query up according";

impl Planner<'_, '_> {
    /// What servers are asked.
    pub(super) fn servers(&mut self, clause: &Clause) -> Option<Result<()>> {
        let servers = &self.world.servers;
        if servers.is_empty() && !self.world.can(Can::Connect) {
            return None;
        }
        match mcp::connecting(clause, servers) {
            Some(Ok((wanted, rest))) => {
                self.connect(wanted.clone(), clause.join);
                self.server = wanted.first().filter(|_| wanted.len() == 1).cloned();
                if let (Some(server), false) = (&self.server, rest.is_empty()) {
                    let act = Act::Serve(server.clone(), rest);
                    self.push(act, Join::Then);
                }
                return Some(Ok(()));
            }
            Some(Err(word)) => {
                let offers = servers.iter().map(|server| format!("connect to {server}")).collect();
                let there =
                    if servers.is_empty() { String::new() } else { format!("; there are {}", servers.join(", ")) };
                let why = format!("I know no server “{word}”{there}, so I connected to none");
                return Some(Err(Refusal { why, offers }));
            }
            None => {}
        }
        if clause.says("tools") || create::read(clause).is_some() {
            return None;
        }
        let has_file = clause.tokens.iter().any(|token| token.shape == Shape::Path);
        let is_asked = |server: &&String| {
            let is_there = clause.says(ASKS) || self.world.connected.contains(server);
            is_there && !has_file && clause.tokens.iter().any(|token| mcp::names(token, server))
        };
        // `it` and `there` are the server that was spoken of; what is for the board or for files is not for it.
        let is_local = has_file || clause.says("file files task tasks worktree worktrees") && !clause.says("it there");
        let named: Vec<String> = servers.iter().filter(is_asked).cloned().collect();
        if let [_, other, ..] = named.as_slice() {
            return Some(Err(self.refuse(other, clause)));
        }
        let server = named.into_iter().next().or_else(|| self.server.clone().filter(|_| !is_local));
        if let Some(server) = server {
            return Some(self.ask(server, clause));
        }
        let outside = self.world.tools.outside();
        let was_outside =
            self.world.scene.calls.last().is_some_and(|call| outside.iter().any(|tool| tool.name == call.name));
        if was_outside
            && !is_local
            && let Some(Ok((name, input))) = mcp::pick(clause, self.world.tools, None, false)
        {
            self.push(Act::Named(name, input), clause.join);
            return Some(Ok(()));
        }
        None
    }

    /// Asks a server; one that is connected already tells now what it cannot do.
    fn ask(&mut self, server: String, clause: &Clause) -> Result<()> {
        let is_said = |token: &&Token| !is_filler(token) && !token.is(ASKS) && !mcp::names(token, &server);
        if !clause.tokens.iter().any(|token| is_said(&token)) {
            let why = format!("“{}” does not say for what, so I did nothing", clause.text());
            return Err(Refusal {
                why,
                offers: vec![format!("search {server} for hooks"), format!("connect to {server}")],
            });
        }
        self.server = Some(server.clone());
        if self.world.connected.contains(&server) {
            let picked = mcp::pick(clause, self.world.tools, Some(&server), false);
            let act = match picked.or_else(|| mcp::look_up(clause, self.world.tools, &server).map(Ok)) {
                Some(Ok((name, input))) => Act::Named(name, input),
                Some(Err(missing)) => return Err(self.missing(&missing, clause)),
                None => return Err(self.refuse(clause.text(), clause)),
            };
            self.push(act, Join::Then);
            return Ok(());
        }
        let is_planned = |act: &Act| matches!(act, Act::Connect(known) if known.contains(&server));
        if !self.steps.iter().any(|step| is_planned(&step.act)) {
            self.connect(vec![server.clone()], clause.join);
        }
        self.push(Act::Serve(server, clause.text().to_owned()), Join::Then);
        Ok(())
    }

    /// What a tool wants to know is asked for, with what it accepts.
    pub(super) fn missing(&self, missing: &mcp::Missing, clause: &Clause) -> Refusal {
        let why = format!("I cannot do {}, so I did nothing", missing.what);
        let with = missing.choices.iter().map(|choice| format!("{} of {choice}", clause.text()));
        let offers: Vec<String> = with.take(3).collect();
        Refusal { why, offers: if offers.is_empty() { self.offers(&clause.tokens) } else { offers } }
    }

    fn connect(&mut self, servers: Vec<String>, join: Join) {
        if self.world.can(Can::Connect) {
            self.push(Act::Connect(servers), join);
        }
    }

    /// Files that are made or changed.
    pub(super) fn files(&mut self, clause: &Clause) -> Option<Result<()>> {
        if let Some((path, old, new)) = replacing(clause) {
            let path = path.or_else(|| self.last_path())?;
            let can_edit = self.world.can(Can::Edit) || self.world.can(Can::Read) && self.world.can(Can::Write);
            if !can_edit {
                let why = format!("I have no tool here that edits {path}, so I did nothing");
                return Some(Err(Refusal { why, offers: self.offers(&clause.tokens) }));
            }
            self.push(Act::Replace(path, old, new), clause.join);
            return Some(Ok(()));
        }
        // Rows of the table: a long module, a line that is added, hints and docstrings.
        let is_long = clause.says("long huge enormous big large") && clause.says("functions");
        let adds = |token: &Token| token.shape == Shape::Quoted || token.is("line hints docstrings guard");
        let is_adding = clause.tokens.first()?.is("add append") && clause.tokens.iter().any(adds);
        if is_long || is_adding || !self.world.can(Can::Write) && !self.world.can(Can::Bash) {
            return None;
        }
        let new = summarizing(clause).or_else(|| create::read(clause))?;
        if let Some(word) = new.left.first() {
            return Some(Err(self.refuse(word, clause)));
        }
        let is_first = self.steps.is_empty() && self.world.scene.calls.is_empty();
        if is_first && matches!(&new.content, Content::Found(sources) if sources.is_empty()) {
            return Some(Err(Refusal {
                why: "there is nothing yet that I could write a summary of, so I did nothing".into(),
                offers: vec!["read README.md, then write a summary to summary.md".into()],
            }));
        }
        self.push(Act::Create(new.path, new.content), clause.join);
        Some(Ok(()))
    }
}

/// `replace A with B in FILE`, `change A to B in FILE`: the file, what goes, what comes.
fn replacing(clause: &Clause) -> Option<(Option<String>, String, String)> {
    let tokens = &clause.tokens;
    let at = tokens.iter().position(|token| token.is("replace change substitute rename"))?;
    if at > 0 && !tokens[0].is("in") {
        return None;
    }
    let path_in = |some: &[Token]| some.iter().find(|token| token.shape == Shape::Path).map(|token| file(&token.text));
    let joint = (at + 2..tokens.len()).find(|joint| tokens[*joint].is("with to by into"))?;
    let is_place = |place: &usize| {
        let behind = &tokens[place + 1..];
        tokens[*place].is("in of inside") && behind.iter().any(|token| token.shape == Shape::Path || token.is("it"))
    };
    let place = (joint + 2..tokens.len()).find(is_place);
    let path = place.map_or_else(|| path_in(&tokens[..at]), |place| path_in(&tokens[place + 1..]));
    let is_quoted = tokens[at + 1..joint].iter().all(|token| token.shape == Shape::Quoted);
    if path.is_none() && place.is_none() && (at > 0 || tokens[at].is("rename") || !is_quoted) {
        return None;
    }
    let words = |from: usize, to: usize| {
        let from = (from..to).find(|at| !tokens[*at].is("the word function text variable line name")).unwrap_or(from);
        if let [one] = &tokens[from..to] { one.text.clone() } else { clause.between(from, to).to_owned() }
    };
    let (old, new) = (words(at + 1, joint), words(joint + 1, place.unwrap_or(tokens.len())));
    // Several files are several changes.
    let is_one = tokens[joint..].iter().filter(|token| token.shape == Shape::Path).count() < 2;
    (is_one && !old.is_empty() && !new.is_empty()).then_some((path, old, new))
}

/// `summarize README.md in notes.md`: a summary goes into the file named last.
fn summarizing(clause: &Clause) -> Option<New> {
    let tokens = &clause.tokens;
    let last = tokens.iter().rposition(|token| token.shape == Shape::Path).filter(|at| *at > 2)?;
    let is_into = tokens[0].is("summarize summarise") && tokens[last - 1].is("in into to");
    let (sources, others): (Vec<_>, Vec<_>) = tokens[1..last].iter().partition(|token| token.shape == Shape::Path);
    let sources: Vec<String> = sources.into_iter().map(|token| file(&token.text)).collect();
    let others = others.into_iter().chain(&tokens[last + 1..]).filter(|token| !is_filler(token));
    let left = others.map(|token| token.text.clone()).collect();
    let path = tokens[last].text.clone();
    (is_into && !sources.is_empty()).then_some(New { path, content: Content::Found(sources), left })
}
