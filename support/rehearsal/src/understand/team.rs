//! Frames about teammates: who is hired, who is told what.
//!
//! A name comes after `called` or `named`, right behind the verb, after a comma or an `and` beside other names; a word that
//! the table knows, or that has an article or a number in front, is never one. Invariant: what somebody is told to do is
//! understood first, and refused when it is not.

use super::{Planner, Result};
use crate::clause::{self, Clause, Found, Join, clause_end, says};
use crate::mcp;
use crate::run::{Act, Job, Refusal, Step};
use crate::slots::can_be_name;
use crate::speak::{listed, sentence};
use crate::tools::Can;
use crate::words::{Shape, Token, set, tokens};

impl Planner<'_, '_> {
    pub(super) fn hiring(&mut self, clause: &Clause) -> Option<Result<()>> {
        let found = clause::find("hire", clause, &hires).filter(|_| self.world.can(Can::Spawn))?;
        Some(self.hire(&found, clause))
    }

    fn hire(&mut self, found: &Found, clause: &Clause) -> Result<()> {
        let names = names(found.tokens("names"));
        let role = match found.tokens("role").last() {
            Some(last) if !last.is(set("anybody")) => found.text("role").trim_end_matches('s'),
            _ => "developer",
        };
        if found.label == "nobody" {
            let why = format!("“{}” names nobody, so I hired nobody", clause.text());
            let one = format!("spawn alice as a {role}");
            return Err(Refusal::new(why, [&one, "spawn alice and bob"]));
        } else if found.number("count").is_some_and(|count| count as usize != names.len()) {
            return Err(self.refuse(clause.text(), clause));
        }
        let (tokens, what) = (found.tokens("job"), found.text("job"));
        let is_board = says(tokens, "them tasks board themselves auto-claim");
        let job = match found.label {
            _ if tokens.is_empty() => Job::Wait,
            "task" => Job::Text(format!("Do {what} task.")),
            _ if is_board && tokens.iter().all(|token| token.shape != Shape::Path) => Job::Board,
            _ => Job::Text(sentence(what)),
        };
        self.hired.clone_from(&names);
        if let Job::Text(job) = &job {
            self.check(job)?;
        }
        for name in &names {
            self.push(Act::Spawn(name.clone(), role.to_owned(), job.clone(), false));
        }
        self.people.extend(names);
        Ok(())
    }

    /// What teammates are told by the words from here on, up to where the next order to the model begins: a job, a plan,
    /// to leave. The token behind it; nothing when it is something else after all.
    pub(super) fn telling(
        &mut self,
        source: &str,
        tokens: &[Token],
        from: usize,
    ) -> Result<Option<usize>> {
        let mut at = from;
        let (end, next) = loop {
            let (end, next) = clause_end(tokens, at);
            if next >= tokens.len() || tokens[next].is(set("team")) {
                break (end, next);
            }
            at = next;
        };
        let clause = Clause::new(source, tokens[from..end].to_vec());
        let known = self.people.clone();
        let kind = |kind: &str, tokens: &[Token], at: usize| tells(kind, tokens, at, &known);
        let Some(found) = clause::find("tell", &clause, &kind) else { return Ok(None) };
        Ok(self.tell(&found, &clause)?.then_some(next))
    }

    fn tell(&mut self, found: &Found, clause: &Clause) -> Result<bool> {
        let (whom, what) = (found.tokens("whom"), found.tokens("what"));
        let named = if whom[0].is(set("pronouns")) { Vec::new() } else { names(whom) };
        let is_task = found.label == "hand";
        let to = self.meant(&named, whom);
        let is_gone = !what.is_empty() && what.iter().all(|token| token.is("go ."));
        let leaves = is_gone || says(what, "leave shutdown home") && self.world.can(Can::Shutdown);
        if let Some(is_done) = self.ask_behind(&named, clause)? {
            return Ok(is_done);
        }
        let is_strange = named.iter().any(|name| !self.people.contains(name));
        let is_row = leaves || !is_task && says(what, "plan plans themselves own");
        let can_tell = self.world.can(Can::Spawn) || self.world.can(Can::Send);
        if !can_tell || to.is_empty() || is_row {
            return Ok(false);
        }
        let is_team = !self.people.is_empty() && self.world.can(Can::Spawn);
        if is_strange && (is_team || is_task) {
            let why = format!("there is no teammate “{}” here, so I did nothing", listed(&named));
            return Err(Refusal::new(why, [format!("spawn {}", named.join(" and "))]));
        }
        if is_task {
            // One each, or whatever is free on the board.
            let count =
                |step: &Step| if let Act::Tasks(specs) = &step.act { specs.len() } else { 0 };
            let tasks: usize = self.steps.iter().map(count).sum();
            let work = if tasks == to.len() { Job::Assigned } else { Job::Board };
            return Ok(self.assign(&to, &work));
        }
        let what = match what {
            [one] if one.shape == Shape::Quoted => one.text.clone(),
            _ if clause.says("?") => {
                format!("{}?", sentence(found.text("what")).trim_end_matches('.'))
            }
            _ => sentence(found.text("what").trim_start_matches("please ")),
        };
        self.hired.clone_from(&to);
        if found.label == "order" {
            self.check(&what)?;
        }
        self.join = Join::Then;
        let orders = tokens(&what);
        for name in &to {
            // Who is to write to somebody is hired after that one.
            let writes = self.people.iter().any(|other| other != name && says(&orders, other));
            let hires = |step: &Step| matches!(&step.act, Act::Spawn(hired, ..) if hired == name);
            let last = self.steps.iter().rposition(|step| matches!(step.act, Act::Spawn(..)));
            if let (Some(at), Some(last), true) = (self.steps.iter().position(hires), last, writes)
            {
                self.steps[at..=last].rotate_left(1);
            }
            match self.steps.iter_mut().rev().find_map(|step| step.act.open_job(name)) {
                Some(Job::Text(job)) => job.push_str(&format!(" {what}")),
                Some(job) => *job = Job::Text(what.clone()),
                None if self.world.can(Can::Send) => {
                    self.push(Act::Message(name.clone(), what.clone()))
                }
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Who was never hired may be a server, or somebody behind the one that the request speaks of: where that has `ask_gpt`,
    /// `ask gpt` is a call of it. Whether it is planned now; nothing when teammates are meant.
    fn ask_behind(&mut self, named: &[String], clause: &Clause) -> Result<Option<bool>> {
        let strange = named.iter().find(|name| !self.people.contains(name));
        let Some(name) = strange else { return Ok(None) };
        let (tool, is_asked) = (format!("ask_{name}"), clause.tokens[0].is("ask have let"));
        let mut outside = self.world.tools.outside().iter();
        let is_tool = outside.any(|it| mcp::parts(it.name).1 == tool);
        match self.server.clone().filter(|_| is_asked) {
            _ if self.world.servers.contains(name) => Ok(Some(false)),
            Some(server) if self.world.connected.contains(&server) && !is_tool => {
                Err(self.refuse(name, clause))
            }
            Some(server) => self.ask(server, clause, Some(tool)).map(|()| Some(true)),
            None => Ok((is_asked && is_tool).then_some(false)),
        }
    }

    /// Gives work to those of these who are hired in this request; whether there are any.
    fn assign(&mut self, names: &[String], work: &Job) -> bool {
        let hired = self.steps.iter_mut().filter_map(|step| match &mut step.act {
            Act::Spawn(name, _, job, _) => names.contains(name).then_some(job),
            _ => None,
        });
        hired.map(|job| job.clone_from(work)).count() > 0
    }

    /// The people that names and pronouns mean.
    pub(super) fn meant(&self, names: &[String], said: &[Token]) -> Vec<String> {
        let is_all = says(said, "both all each they them everybody everyone");
        match self.hired.as_slice() {
            _ if !names.is_empty() => names.to_vec(),
            [] | [_] if is_all => self.people.clone(),
            [] => self.people.last().cloned().into_iter().collect(),
            hired => hired.to_vec(),
        }
    }
}

/// Where a list of names ends that begins here, with commas or `and` between them.
fn names_end(tokens: &[Token], at: usize, is_name: impl Fn(&Token) -> bool) -> Option<usize> {
    let (mut end, mut next) = (at, at);
    while tokens.get(next).is_some_and(&is_name) && (next == at || next > end) {
        end = next + 1;
        next = end + tokens[end..].iter().take_while(|token| token.is(", and &")).count();
    }
    (end > at).then_some(end)
}

fn names(tokens: &[Token]) -> Vec<String> {
    let names = tokens.iter().filter(|token| !token.is(", and &"));
    names.map(|token| token.low.clone()).collect()
}

/// Whether a name may stand here: right behind a verb, a mark or `to`; what an article or `me` stands before is none.
fn is_place(tokens: &[Token], at: usize) -> bool {
    at > 0 && (!tokens[at - 1].is_filler || tokens[at - 1].is("to"))
}

/// The slots of a clause that hires.
fn hires(kind: &str, tokens: &[Token], at: usize) -> Option<usize> {
    let is_word = |token: &&Token| token.shape == Shape::Word && !token.is(set("role-ends"));
    let words = tokens[at..].iter().take_while(is_word).count();
    let is_person = |at: &usize| tokens[*at].is(set("anybody")) || tokens[*at].is(set("roles"));
    match kind {
        "names" if is_place(tokens, at) => names_end(tokens, at, can_be_name),
        // What is called so is a name, whatever the word.
        "named" => {
            names_end(tokens, at, |token| can_be_name(token) || std::ptr::eq(token, &tokens[at]))
        }
        // The article of a role is passed over.
        "role" | "persons" if tokens[at].is("a an the our") => None,
        "role" => (words > 0).then_some(at + words),
        "persons" => (at..at + words).find(is_person).map(|at| at + 1),
        _ => None,
    }
}

/// The slots of a clause that tells, among these people.
fn tells(kind: &str, tokens: &[Token], at: usize, known: &[String]) -> Option<usize> {
    let is_known = |token: &Token| known.contains(&token.low);
    match kind {
        "whom" | "mate" if tokens[at].is(set("pronouns")) => Some(at + 1),
        "mate" => is_known(&tokens[at]).then_some(at + 1),
        "whom" if is_place(tokens, at) || is_known(&tokens[at]) => {
            names_end(tokens, at, |token| is_known(token) || can_be_name(token))
        }
        _ => None,
    }
}
