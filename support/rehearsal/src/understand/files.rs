//! Clauses about files that are made or changed, and about servers.
//!
//! Invariant: a clause that names a server is for its tools, and a clause that makes a file has told its content or none.

use super::{Planner, Result};
use crate::clause::{Clause, Join, is_filler};
use crate::create::{self, Content};
use crate::mcp;
use crate::pattern::{self, PLAIN};
use crate::plan::{Act, Refusal};
use crate::slots::file;
use crate::tools::Can;
use crate::words::{Shape, Token, set};

impl Planner<'_, '_> {
    /// What servers are asked.
    pub(super) fn servers(&mut self, clause: &Clause) -> Option<Result<()>> {
        let servers = &self.world.servers;
        if servers.is_empty() && !self.world.can(Can::Connect) {
            return None;
        }
        match mcp::connecting(clause, servers) {
            Some(Ok((wanted, rest))) => {
                // Servers of another harness are connected already.
                if self.world.can(Can::Connect) {
                    self.push(Act::Connect(wanted.clone()), clause.join);
                }
                self.server = wanted.first().filter(|_| wanted.len() == 1).cloned();
                if let (Some(server), false) = (&self.server, rest.is_empty()) {
                    let act = Act::Serve(server.clone(), rest);
                    self.push(act, Join::Then);
                }
                return Some(Ok(()));
            }
            Some(Err(word)) => {
                let offers = servers.iter().map(|server| format!("connect to {server}")).collect();
                let there = if servers.is_empty() {
                    String::new()
                } else {
                    format!("; there are {}", servers.join(", "))
                };
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
        if let Some(server) = server {
            return Some(self.ask(server, clause));
        }
        None
    }

    /// Asks a server; one that is connected already tells now what it cannot do.
    fn ask(&mut self, server: String, clause: &Clause) -> Result<()> {
        let is_said = |token: &&Token| {
            !is_filler(token) && !token.is(set("asks")) && !mcp::names(token, &server)
        };
        if !clause.tokens.iter().any(|token| is_said(&token)) {
            return Err(self.refuse(clause.text(), clause));
        }
        self.server = Some(server.clone());
        if self.world.connected.contains(&server) {
            let picked = mcp::pick(clause, self.world.tools, Some(&server), false);
            let act = match picked {
                Some(Ok((name, input))) => Act::Named(name, input),
                Some(Err(missing)) => return Err(self.missing(&missing, clause)),
                None => return Err(self.refuse(clause.text(), clause)),
            };
            self.push(act, Join::Then);
            return Ok(());
        }
        let is_planned = |act: &Act| matches!(act, Act::Connect(known) if known.contains(&server));
        if !self.steps.iter().any(|step| is_planned(&step.act)) {
            self.push(Act::Connect(vec![server.clone()]), clause.join);
        }
        self.push(Act::Serve(server, clause.text().to_owned()), Join::Then);
        Ok(())
    }

    /// What a tool wants to know is asked for, with what it accepts.
    pub(super) fn missing(&self, missing: &mcp::Missing, clause: &Clause) -> Refusal {
        let why = format!("I cannot do {}, so I did nothing", missing.what);
        let with = missing.choices.iter().map(|choice| format!("{} of {choice}", clause.text()));
        let offers: Vec<String> = with.take(3).collect();
        Refusal {
            why,
            offers: if offers.is_empty() { self.offers(&clause.tokens) } else { offers },
        }
    }

    /// Files that are made or changed.
    pub(super) fn files(&mut self, clause: &Clause) -> Option<Result<()>> {
        if let Some((path, old, new)) = replacing(clause) {
            let path = path.or_else(|| self.last_path())?;
            if !self.world.can(Can::Edit) {
                let why = format!("I have no tool here that edits {path}, so I did nothing");
                return Some(Err(self.no(why, clause)));
            }
            self.push(Act::Replace(path, old, new), clause.join);
            return Some(Ok(()));
        }
        // Rows of the table: a long module, a line that is added, hints and docstrings.
        let is_long = clause.says("long huge enormous big large") && clause.says("functions");
        if is_long || !self.world.can(Can::Write) && !self.world.can(Can::Bash) {
            return None;
        }
        let new = create::read(clause)?;
        if let Some(word) = &new.left {
            return Some(Err(self.refuse(word, clause)));
        }
        let is_first = self.steps.is_empty() && self.world.scene.calls.is_empty();
        if is_first && matches!(&new.content, Content::Found(sources) if sources.is_empty()) {
            return Some(Err(self.refuse(clause.text(), clause)));
        }
        self.push(Act::Create(new.path, new.content), clause.join);
        Some(Ok(()))
    }
}

/// `replace A with B in FILE`, `change A to B in FILE`: the file, what goes, what comes.
fn replacing(clause: &Clause) -> Option<(Option<String>, String, String)> {
    let found = pattern::find("replace", clause, PLAIN)?;
    let path = found.tokens("path").first().map(|token| file(&token.text));
    let (old, new) = (found.text("old"), found.text("new"));
    // Several files are several changes.
    let is_one = found
        .tokens("new")
        .iter()
        .all(|token| token.shape != Shape::Path || found.tokens("new").len() == 1);
    (is_one && !old.is_empty() && !new.is_empty()).then(|| (path, old.to_owned(), new.to_owned()))
}
