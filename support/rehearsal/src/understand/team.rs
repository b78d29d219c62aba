//! Frames about teammates: who is hired, who is told what.
//!
//! Invariant: what somebody is told to do is understood first, and refused when it is not.

use super::{Planner, Result};
use crate::clause::{Clause, Join, clause_end};
use crate::people::{self, Job, Telling};
use crate::plan::{Act, Refusal};
use crate::speak::listed;
use crate::tools::Can;
use crate::words::Token;

/// Verbs at which a new order to the model itself begins.
const TEAM: &str = "ask tell let have spawn hire recruit request dismiss review approve reject watch give shut";

impl Planner<'_, '_> {
    pub(super) fn hiring(&mut self, clause: &Clause) -> Option<Result<()>> {
        let hiring = Some(clause).filter(|_| self.world.can(Can::Spawn)).and_then(people::hiring)?;
        Some(self.hire(hiring, clause))
    }

    fn hire(&mut self, hiring: people::Hiring, clause: &Clause) -> Result<()> {
        if let Some(word) = &hiring.left {
            return Err(self.refuse(word, clause));
        }
        if hiring.names.is_empty() {
            let why = format!("“{}” names nobody, so I hired nobody", clause.text());
            let offers = vec![format!("spawn alice as a {}", hiring.role), "spawn alice and bob".to_owned()];
            return Err(Refusal { why, offers });
        }
        if let Some(Job::Text(job)) = &hiring.job {
            self.check(job)?;
        }
        for name in &hiring.names {
            let job = hiring.job.clone().unwrap_or(Job::Wait);
            self.push(Act::Spawn(name.clone(), hiring.role.clone(), job, false), clause.join);
        }
        self.people.extend(hiring.names.clone());
        self.hired = hiring.names;
        Ok(())
    }

    /// Whom the words from here on tell what, up to where the next order to the model begins.
    pub(super) fn told_until(&self, source: &str, tokens: &[Token], from: usize) -> Option<(Telling, usize)> {
        let mut at = from;
        loop {
            let (end, next) = clause_end(tokens, at);
            if next >= tokens.len() || tokens[next].is(TEAM) {
                let clause = Clause::new(source, &tokens[from..end], Join::Then);
                return Some((people::telling(&clause, &self.people)?, next));
            }
            at = next;
        }
    }

    /// What teammates are told: a job, a plan, to leave. `false` when it is something else after all.
    pub(super) fn tell(&mut self, telling: &Telling, clause: &Clause) -> Result<bool> {
        let all = if self.hired.len() > 1 { &self.hired } else { &self.people };
        let names = if telling.is_all { all.clone() } else { self.those(&telling.names) };
        let is_open = clause.tokens[0].is("get make give send write remind message hand assign order instruct");
        // Who is there may have been forgotten; the tool that sends knows.
        let may_be_there = self.people.is_empty() && clause.tokens[0].is("send message");
        let is_named = |name: &String| self.people.contains(name) || may_be_there;
        let is_unknown = is_open && !telling.names.iter().all(is_named);
        let is_nobody = names.is_empty() || telling.names.is_empty() && self.people.is_empty();
        let what = Clause::of(&telling.what);
        let is_gone = what.tokens.iter().all(|token| token.is("go ."));
        let leaves = is_gone || what.says("leave shutdown home") && self.world.can(Can::Shutdown);
        let is_server = telling.names.iter().any(|name| self.world.servers.contains(name));
        let is_row = leaves || is_server || what.says("plan plans themselves own");
        let can_tell = self.world.can(Can::Spawn) || self.world.can(Can::Send);
        if !can_tell || is_nobody || is_row {
            return Ok(false);
        }
        if is_unknown && !telling.is_task {
            return Ok(false);
        }
        let stranger =
            |name: &&String| !self.people.is_empty() && self.world.can(Can::Spawn) && !self.people.contains(name);
        if is_unknown || telling.names.iter().any(|name| stranger(&name)) {
            let why = format!("there is no teammate “{}” here, so I did nothing", listed(&telling.names));
            return Err(Refusal { why, offers: vec![format!("spawn {}", telling.names.join(" and "))] });
        }
        if telling.is_task {
            // One each, or whatever is free on the board.
            let tasks = self.steps.iter().map(|step| if let Act::Tasks(specs) = &step.act { specs.len() } else { 0 });
            let one_each = clause.says("each") || tasks.sum::<usize>() == names.len();
            return Ok(self.assign(&names, if one_each { Job::Assigned } else { Job::Board }));
        }
        if telling.is_order {
            self.check(&telling.what)?;
        }
        for name in &names {
            match self.steps.iter_mut().rev().find_map(|step| step.act.open_job(name)) {
                Some(Job::Text(job)) => job.push_str(&format!(" {}", telling.what)),
                Some(job) => *job = Job::Text(telling.what.clone()),
                None if self.world.can(Can::Send) => {
                    self.push(Act::Message(name.clone(), telling.what.clone()), clause.join);
                }
                None => return Ok(false),
            }
        }
        self.hired = names;
        Ok(true)
    }

    fn assign(&mut self, names: &[String], work: Job) -> bool {
        let mut is_any = false;
        for step in &mut self.steps {
            if let Act::Spawn(name, _, job, _) = &mut step.act
                && names.contains(name)
            {
                *job = work.clone();
                is_any = true;
            }
        }
        is_any
    }

    /// The people that names and pronouns mean.
    pub(super) fn those(&self, names: &[String]) -> Vec<String> {
        match (names, self.hired.as_slice()) {
            ([], []) => self.people.last().cloned().into_iter().collect(),
            ([], hired) => hired.to_vec(),
            (names, _) => names.to_vec(),
        }
    }
}
