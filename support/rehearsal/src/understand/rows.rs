//! Clauses become rows of the table, and what the steps mean for each other; or a no that helps.
//!
//! Invariants: every word of the clause is accounted for, and every slot that a row has filled is used, or there is no act; an
//! offer can be typed as it stands.

use super::{Planner, Result};
use crate::clause::{Clause, is_filler};
use crate::history;
use crate::mcp;
use crate::run::{Act, Content, Job, Refusal, Step};
use crate::scene::World;
use crate::slots::{Slots, file, named_file};
use crate::table::{self, Make, ROWS, Row, Slot};
use crate::tools::Can;
use crate::words::{Shape, Token, has, set, tokens};

impl Planner<'_, '_> {
    /// The nearest row that accounts for every word.
    pub(super) fn row(&mut self, clause: &Clause) -> Result<()> {
        let (mut left, mut fewest, mut no_tool) = (clause.text().to_owned(), usize::MAX, false);
        // `commit` orders something else than a look at the commits.
        let orders = clause.tokens.first().is_some_and(|first| first.is(set("acting")));
        if let Some(done) = self.again(clause) {
            return done;
        }
        for (index, _) in table::nearest(&clause.tokens).into_iter().take(24) {
            let row = &ROWS[index];
            let says = |words: &str| {
                words.is_empty() || clause.tokens.iter().any(|token| has(words, &token.low))
            };
            let is_allowed = if row.looks { !orders } else { !clause.is_question() };
            if !says(row.verbs) || !says(row.says) || !is_allowed {
                continue;
            }
            let (mut slots, mut unknown) = clause.fit(index, &self.people);
            // `it`, `that file`: what the request or the conversation spoke of last.
            if matches!(row.needs.as_slice(), [Slot::Path | Slot::Paths])
                && slots.paths.is_empty()
                && clause.says("it its that them file")
            {
                slots.paths.extend(self.last_path());
            }
            let is_missing = !slots.are_enough_for(row);
            if !is_missing && unknown.is_empty() {
                if !self.world.can_do(row) {
                    no_tool = true;
                } else if let Some(act) = self.make(row, slots, clause) {
                    return self.done(act);
                }
                continue;
            }
            let cost = unknown.len() + usize::from(is_missing) * 2;
            if cost < fewest {
                fewest = cost;
                // A verb alone says little of what was not understood.
                unknown.sort_by_key(|word| table::is_verb(&word.to_lowercase()));
                left = unknown.into_iter().next().unwrap_or_else(|| clause.text().to_owned());
            }
        }
        let served = mcp::pick(clause, self.world.tools, None).filter(|_| !no_tool);
        let is_near = |missing: &mcp::Missing| !missing.choices.is_empty();
        if let Some(picked) = served.filter(|picked| picked.as_ref().err().is_none_or(is_near)) {
            return self.call(picked, clause);
        }
        if clause.is_question() && history::knows(self.world, clause.text()) {
            return self.done(Act::Say(history::recall(self.world, clause.text())));
        }
        self.gone(clause).map_or(Ok(()), Err)?;
        if no_tool {
            return Err(self.no_tool(clause));
        }
        Err(self.refuse(&left, clause))
    }

    /// A clause that names nothing but files, as in `summarize a.txt, then b.txt`, goes on with a look at the one before, and
    /// never looks at what another verb was for.
    fn again(&mut self, clause: &Clause) -> Option<Result<()>> {
        let is_file = |token: &Token| token.shape == Shape::Path || is_filler(token);
        let last = self.steps.last().filter(|_| clause.tokens.iter().all(is_file))?;
        let (row, mut slots) = match &last.act {
            Act::Row(row, slots) if row.looks && !slots.paths.is_empty() => (*row, slots.clone()),
            _ => return Some(Err(self.refuse(clause.text(), clause))),
        };
        let files = clause.tokens.iter().filter(|token| token.shape == Shape::Path);
        slots.paths = files.map(|token| file(&token.text)).collect();
        Some(self.done(Act::Row(row, slots)))
    }

    pub(super) fn last_path(&self) -> Option<String> {
        let of_step = |step: &Step| match &step.act {
            Act::Delegate(jobs) => named_file(&tokens(&jobs.join(" "))),
            act => act.paths().last().cloned(),
        };
        let spoken_of = || self.mentioned.clone().or_else(|| self.world.last_path.clone());
        self.steps.iter().rev().find_map(of_step).or_else(spoken_of)
    }

    /// The act of a row, with its slots filled; `None` when the slots make no sense together.
    fn make(&mut self, row: &'static Row, mut slots: Slots, clause: &Clause) -> Option<Act> {
        match row.make {
            Make::LoadSkill | Make::Remember => return None,
            // What is to be remembered is a sentence of its own.
            Make::Recall if clause.tokens[0].is("remember") => return None,
            Make::WaitForThem => return (!self.people.is_empty()).then(|| Act::Say(String::new())),
            Make::Mend if slots.kind.as_ref().is_some_and(|kind| kind != "py") => return None,
            Make::Mend if slots.paths.iter().any(|path| !path.ends_with(".py")) => return None,
            Make::Long | Make::ShowLong if slots.number > Some(400) => return None,
            Make::Package => {
                let (files, folders): (Vec<_>, Vec<_>) =
                    slots.paths.into_iter().partition(|path| path.contains('.'));
                let folders: Vec<String> = folders.into_iter().chain(slots.dir).collect();
                let ([folder], [_, ..]) = (&folders[..], &files[..]) else { return None };
                slots.dir = Some(folder.trim_end_matches('/').to_owned());
                slots.paths = files;
            }
            Make::WriteSkill => {
                let (name, text) = (slots.rest.to_lowercase(), slots.quoted.first()?);
                let about = text.lines().next().unwrap_or_default();
                let text = format!("---\nname: {name}\ndescription: {about}\n---\n{text}\n");
                return Some(Act::Create(format!("skills/{name}/SKILL.md"), Content::Given(text)));
            }
            Make::Leave | Make::AskPlan | Make::Report => {
                let said = if row.make == Make::Report { &[] } else { clause.tokens.as_slice() };
                slots.names = self.meant(&slots.names, said);
                if slots.names.is_empty() {
                    return None;
                }
            }
            // The plans of those that are asked for one in this request; else of whoever sent one.
            Make::Answer if slots.names.is_empty() => {
                let is_one = clause.says("her his him");
                slots.names = if is_one { self.meant(&[], &[]) } else { planners(&self.steps) };
            }
            _ => {}
        }
        Some(Act::Row(row, slots))
    }

    /// What the steps mean for each other.
    pub(super) fn finish(&mut self, text: &str) -> Result<()> {
        if let Some(words) = &self.only_looks {
            if self.steps.iter().any(|step| !step.act.only_looks()) {
                let why = "and the rest of the request do not go together for me, so I did nothing";
                return Err(Refusal::new(format!("“{words}” {why}"), ["what can you do?"]));
            }
            if self.steps.is_empty() {
                self.push(Act::Say("All right: I did nothing.".to_owned()));
            }
        }
        let has_tasks = self.steps.iter().any(|step| matches!(step.act, Act::Tasks(_)));
        let planned = planners(&self.steps);
        for step in &mut self.steps {
            if let Act::Spawn(name, _, job, plan_first) = &mut step.act {
                *plan_first = planned.contains(name);
                if *job == Job::Wait && has_tasks {
                    *job = Job::Board;
                }
            }
        }
        if self.steps.is_empty() {
            return Err(self.refuse(text, &Clause::of(text)));
        }
        Ok(())
    }
}

/// Those who are asked for a plan.
fn planners(steps: &[Step]) -> Vec<String> {
    let asked = |step: &Step| match &step.act {
        Act::Row(row, slots) if row.make == Make::AskPlan => slots.names.clone(),
        _ => Vec::new(),
    };
    steps.iter().flat_map(asked).collect()
}

impl Planner<'_, '_> {
    pub(super) fn refuse(&self, word: &str, clause: &Clause) -> Refusal {
        let why = format!("I did not understand “{}”, so I did nothing of it", word.trim());
        Refusal::new(why, self.offers(&clause.tokens))
    }

    pub(super) fn no_tool(&self, clause: &Clause) -> Refusal {
        let why = format!("I have no tool here for “{}”, so I did nothing", clause.text());
        Refusal::new(why, self.offers(&clause.tokens))
    }

    /// The nearest requests that can be done here, with the names that exist.
    pub(super) fn offers(&self, tokens: &[Token]) -> Vec<String> {
        const ALWAYS: [&str; 3] = ["list the files here", "read {file}", "what can you do?"];
        let can = |row: &&Row| self.world.can_do(row);
        let near = table::close(tokens).into_iter().map(|index| &ROWS[index]);
        let near = near.filter(can).map(|row| row.offer);
        let is_named = |server: &&String| tokens.iter().any(|token| mcp::names(token, server));
        let mut servers = self.world.servers.iter();
        let server = servers.find(|it| is_named(it) && !self.world.connected.contains(it));
        let mut offers: Vec<String> = Vec::new();
        offers.extend(server.map(|server| format!("connect to {server}")));
        let file = named_file(tokens).filter(|_| !self.makes);
        offers.extend(file.as_ref().map(|file| format!("read {file}")));
        for offer in near.chain(ALWAYS) {
            let named = self.named(offer, file.clone());
            offers.extend(named.filter(|offer| !offers.contains(offer)));
        }
        offers
    }

    /// A refusal with the first three of its offers that would be done; where the request is about a teammate, what it can let
    /// that one do.
    pub(super) fn helpful(&self, mut no: Refusal) -> Refusal {
        if let Some(name) = self.hired.first().filter(|_| self.world.can(Can::Spawn)) {
            let verb = if self.world.mates.contains(name) { "ask" } else { "spawn" };
            let file = self.last_path().unwrap_or_else(|| "README.md".to_owned());
            let offers = set("team-offers").replace("{verb}", verb).replace("{name}", name);
            no.offers = offers.replace("{file}", &file).split(" | ").map(str::to_owned).collect();
        }
        let can = |offer: &String| Planner::new(self.world).whole_of(offer).is_ok();
        no.offers = no.offers.into_iter().filter(can).take(3).collect();
        no
    }

    /// An offer with names that exist: the file that was named or spoken of, a teammate, a worktree; nothing where there is none.
    fn named(&self, offer: &str, file: Option<String>) -> Option<String> {
        let spoken_of = if self.makes { self.world.last_path.clone() } else { self.last_path() };
        let file = file.or(spoken_of).unwrap_or_else(|| "README.md".to_owned());
        let trees = self.world.called(Can::MakeTree).filter(|call| !call.failed);
        let tree = trees.filter_map(|call| call.input["name"].as_str()).last();
        let mut offer = offer.replace("{file}", &file).replace("{dir}", "this directory");
        for (sample, name) in
            [("<alice>", self.people.first().map(String::as_str)), ("<api>", tree)]
        {
            offer = name.map_or(offer.clone(), |name| offer.replace(sample, name));
        }
        Some(offer).filter(|offer| !offer.contains('<'))
    }

    /// A job for somebody else must be one that can be done, without the lead's servers.
    pub(super) fn check(&self, job: &str) -> Result<()> {
        let (mates, last_path) = (self.people.clone(), self.last_path());
        let (servers, connected, gone) = (Vec::new(), Vec::new(), Vec::new());
        let world = World {
            lent: set("lent"),
            mates,
            last_path,
            servers,
            connected,
            gone,
            system: "",
            used: Default::default(),
            ..*self.world
        };
        Planner::new(&world).whole_of(job)
    }
}
