//! Clauses about files that are made or changed, and about servers.
//!
//! Invariant: a clause that names a server is for its tools, and a clause that makes a file has told its content or none.

use super::{Planner, Result};
use crate::clause::{Clause, Join, is_filler};
use crate::create::{self, Content};
use crate::mcp;
use crate::people::{self};
use crate::plan::{Act, Refusal};
use crate::tools::Can;
use crate::words::Shape;

impl Planner<'_, '_> {
    /// What servers are asked.
    pub(super) fn servers(&mut self, clause: &Clause) -> Option<Result<()>> {
        let servers = &self.world.servers;
        if servers.is_empty() && !self.world.can(Can::Connect) {
            return None;
        }
        if let Some(done) = self.connecting(clause) {
            return Some(done);
        }
        let named = servers
            .iter()
            .find(|server| {
                clause.tokens.iter().any(|token| mcp::names(token, server))
                    && (clause.says("server search look find our what ask say query up according")
                        || self.world.connected.contains(server))
                    && !clause.tokens.iter().any(|token| token.shape == Shape::Path)
            })
            .cloned();
        let asks_tools = clause.says("tools");
        let is_local = create::read(clause).is_some()
            || people::hiring(clause).is_some()
            || asks_tools
            || clause.says("file files task tasks worktree");
        if let Some(server) = named.filter(|_| !asks_tools && create::read(clause).is_none()) {
            if !self.world.connected.contains(&server)
                && !self.steps.iter().any(|step| matches!(&step.act, Act::Connect(known) if known.contains(&server)))
            {
                if !self.world.can(Can::Connect) {
                    return None;
                }
                self.push(Act::Connect(vec![server.clone()]), clause.join);
            }
            self.server = Some(server.clone());
            self.push(Act::Serve(Some(server), clause.text().to_owned()), Join::Then);
            return Some(Ok(()));
        }
        let context = self.server.clone().filter(|_| !is_local);
        let last_was_outside = self
            .world
            .scene
            .calls
            .last()
            .is_some_and(|call| self.world.tools.outside().iter().any(|tool| tool.name == call.name));
        if let Some(server) = context {
            self.push(Act::Serve(Some(server), clause.text().to_owned()), Join::Then);
            return Some(Ok(()));
        }
        if last_was_outside
            && !is_local
            && let Some(Ok((name, input))) = mcp::pick(clause, self.world.tools, None)
        {
            self.push(Act::Named(name, input), clause.join);
            return Some(Ok(()));
        }
        None
    }

    /// A clause that connects, and what it wants of the server then.
    fn connecting(&mut self, clause: &Clause) -> Option<Result<()>> {
        let servers = &self.world.servers;
        match mcp::connecting(clause, servers)? {
            Ok((wanted, rest)) => {
                if self.world.can(Can::Connect) {
                    self.push(Act::Connect(wanted.clone()), clause.join);
                }
                if wanted.len() == 1 {
                    self.server = wanted.first().cloned();
                }
                if !rest.is_empty() {
                    self.push(Act::Serve(self.server.clone(), rest), Join::Then);
                }
                Some(Ok(()))
            }
            Err(word) => {
                let offers = servers.iter().map(|server| format!("connect to {server}")).collect();
                let there =
                    if servers.is_empty() { String::new() } else { format!("; there are {}", servers.join(", ")) };
                let why = format!("I know no server “{word}”{there}, so I connected to none");
                Some(Err(Refusal { why, offers }))
            }
        }
    }

    /// Files that are made or changed.
    pub(super) fn files(&mut self, clause: &Clause) -> Option<Result<()>> {
        if let Some((path, old, new)) = replacing(clause) {
            let path = path.or_else(|| self.last_path())?;
            let can_write = self.world.can(Can::Read) && self.world.can(Can::Write);
            if !self.world.can(Can::Edit) && !can_write {
                return Some(Err(Refusal {
                    why: format!("I have no tool here that edits {path}, so I did nothing"),
                    offers: self.offers(&clause.tokens),
                }));
            }
            self.push(Act::Replace(path, old, new), clause.join);
            return Some(Ok(()));
        }
        let is_long = clause.says("long huge enormous big large") && clause.says("functions");
        if is_long || clause.says("line append") && clause.tokens.first()?.is("add append") {
            return None;
        }
        let new = summarizing(clause).or_else(|| create::read(clause))?;
        if clause.tokens.first()?.is("add")
            && clause.tokens.iter().any(|token| token.shape == Shape::Quoted || token.is("hints docstrings guard"))
        {
            return None;
        }
        if !self.world.can(Can::Write) && !self.world.can(Can::Bash) {
            return None;
        }
        if let Some(word) = new.left.first() {
            return Some(Err(self.refuse(word, clause)));
        }
        let new = create::New { content: self.found(&new.content), ..new };
        if new.content == Content::Found(Vec::new()) && self.steps.is_empty() && self.world.scene.calls.is_empty() {
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
pub(crate) fn replacing(clause: &Clause) -> Option<(Option<String>, String, String)> {
    let tokens = &clause.tokens;
    let at = tokens
        .iter()
        .position(|token| token.is("replace change substitute rename"))
        .filter(|at| *at == 0 || tokens[0].is("in"))?;
    let is_rename = tokens[at].is("rename");
    let joint = (at + 2..tokens.len()).find(|joint| tokens[*joint].is("with to by into"))?;
    let place = (joint + 2..tokens.len()).find(|place| {
        tokens[*place].is("in of inside")
            && tokens[place + 1..].iter().any(|token| token.shape == Shape::Path || token.is("it"))
    });
    let path = match place {
        Some(place) => tokens[place + 1..]
            .iter()
            .find(|token| token.shape == Shape::Path)
            .map(|token| crate::slots::file(&token.text)),
        None if at > 0 => {
            tokens[..at].iter().find(|token| token.shape == Shape::Path).map(|token| crate::slots::file(&token.text))
        }
        None => None,
    };
    if path.is_none()
        && place.is_none()
        && !(at == 0 && !is_rename && clause.tokens[at + 1..joint].iter().all(|token| token.shape == Shape::Quoted))
    {
        return None;
    }
    let words = |from: usize, to: usize| {
        let from = (from..to).find(|at| !tokens[*at].is("the word function text variable line name")).unwrap_or(from);
        match &tokens[from..to] {
            [one] => one.text.clone(),
            _ => clause.between(from, to).to_owned(),
        }
    };
    let (old, new) = (words(at + 1, joint), words(joint + 1, place.unwrap_or(tokens.len())));
    // Several files are several changes.
    let is_one = tokens[joint..].iter().filter(|token| token.shape == Shape::Path).count() < 2;
    (is_one && !old.is_empty() && !new.is_empty()).then_some((path, old, new))
}

/// `summarize README.md in notes.md`: a summary goes into the file named last.
fn summarizing(clause: &Clause) -> Option<create::New> {
    let tokens = &clause.tokens;
    let last = tokens.iter().rposition(|token| token.shape == Shape::Path).filter(|at| *at > 2)?;
    let is_into = tokens[0].is("summarize summarise") && tokens[last - 1].is("in into to");
    let sources: Vec<String> =
        tokens[..last].iter().filter(|token| token.shape == Shape::Path).map(|token| token.text.clone()).collect();
    let left = tokens[1..].iter().filter(|token| token.shape != Shape::Path && !is_filler(token));
    let left = left.map(|token| token.text.clone()).collect();
    let path = tokens[last].text.clone();
    (is_into && !sources.is_empty()).then_some(create::New { path, content: Content::Found(sources), left })
}
