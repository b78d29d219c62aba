//! A request becomes a plan, or a refusal.
//!
//! Text is cut into sentences, segments and clauses; a clause is a frame (who is told what, when, in the background) or a row
//! of the table. Coverage decides: a word that neither the row's examples nor a slot nor a filler accounts for is quoted in
//! a refusal. Invariant: all of a request or none of it.

mod files;
mod frames;
mod make;
mod refuse;
mod world;

use frames::{begins_with_program, delegated};
pub(crate) use make::shell;
pub use world::{LENT, World};

use crate::clause::{Clause, Join, clause_end, is_filler, segments, sentence_end};
use crate::create::Content;
use crate::history;
use crate::mcp;
use crate::people;
use crate::plan::{Act, Plan, Refusal, Step};
use crate::rank;
use crate::slots::Slots;
use crate::table::{Mood, Row};
use crate::tasks;
use crate::tools::Can;
use crate::words::{Shape, Token, has, tokens};

/// Understands a request.
pub fn plan(text: &str, world: &World) -> Plan {
    let mut planner = Planner {
        world,
        steps: Vec::new(),
        people: world.mates.clone(),
        hired: Vec::new(),
        server: None,
        only_looks: None,
        gate: false,
        mentioned: None,
    };
    match planner.read(text).and_then(|()| planner.finish()) {
        Ok(()) => Plan { steps: planner.steps, refusal: None },
        Err(refusal) => Plan { steps: Vec::new(), refusal: Some(refusal) },
    }
}

/// Verbs that never only look.
const ACTING: &str = "commit merge delete remove erase rename move copy append approve reject dismiss discard cancel";

struct Planner<'p, 'w> {
    world: &'p World<'w>,
    steps: Vec<Step>,
    people: Vec<String>,
    /// Those who were hired in this request, or spoken of last.
    hired: Vec<String>,
    /// The server that the request speaks of.
    server: Option<String>,
    /// The words that forbid changes.
    only_looks: Option<String>,
    /// Whether plans are wanted before the work of this request.
    gate: bool,
    /// The file that a clause has named.
    mentioned: Option<String>,
}

type Result<T> = std::result::Result<T, Refusal>;

impl Planner<'_, '_> {
    fn read(&mut self, text: &str) -> Result<()> {
        // A request in quotation marks is still a request.
        if let [one] = tokens(text).as_slice()
            && (one.shape == Shape::Quoted || one.shape == Shape::Code && !begins_with_program(&one.text))
        {
            return self.read(&one.text);
        }
        if is_held(text) {
            self.push(Act::Say("I wait, and have done nothing. Say it again when you want it.".to_owned()), Join::Then);
            return Ok(());
        }
        if let Some(act) = self.skill(text)? {
            self.push(act, Join::Then);
            return Ok(());
        }
        let mut rest = text.trim();
        let mut owned: String;
        while !rest.is_empty() {
            if self.world.can(Can::CreateTask)
                && let Some(listed) = tasks::listed(rest)
            {
                self.push(Act::Tasks(listed.tasks), Join::Then);
                owned = listed.rest;
                rest = &owned;
                continue;
            }
            if self.world.can(Can::Todo)
                && let Some((items, more)) = tasks::plan(rest)
            {
                self.push(Act::Todo(items), Join::Then);
                owned = more;
                rest = &owned;
                continue;
            }
            let end = sentence_end(rest);
            self.sentence(&rest[..end])?;
            rest = rest[end..].trim_start();
        }
        Ok(())
    }

    fn sentence(&mut self, text: &str) -> Result<()> {
        if let Some(fact) = history::fact(text) {
            let told = if fact.is_empty() { None } else { Some(Act::Say(format!("Noted: {fact}"))) };
            told.into_iter().for_each(|act| self.push(act, Join::Then));
            return Ok(());
        }
        if let Some(Act::Tasks(specs)) = self.steps.last_mut().map(|step| &mut step.act)
            && tasks::depend(specs, text)
        {
            return Ok(());
        }
        for (tokens, join) in segments(text) {
            self.segment(text, &tokens, join)?;
        }
        Ok(())
    }

    fn segment(&mut self, source: &str, tokens: &[Token], join: Join) -> Result<()> {
        let (mut from, mut join) = (0, join);
        while from < tokens.len() {
            let (end, next) = clause_end(tokens, from);
            let clause = Clause::new(source, &tokens[from..end], join);
            let rest = Clause::new(source, &tokens[from..], join);
            let mut upto = next;
            if clause.tokens.iter().any(|token| !is_filler(token))
                || clause.tokens.len() > 1
                || !clause.text().is_empty()
            {
                if let Some(all) = self.whole(&clause, &rest)? {
                    upto = if all { tokens.len() } else { next };
                } else {
                    let told = self.told_until(source, tokens, from);
                    upto = match told {
                        Some((telling, to)) if self.tell(&telling, &clause)? => to,
                        _ => {
                            self.clause(&clause)?;
                            next
                        }
                    };
                }
            }
            from = upto;
            join = if tokens.get(end).is_some_and(|token| token.is(";")) { Join::Then } else { Join::And };
        }
        Ok(())
    }

    /// Frames that take their clause (`false`), or all that is left of their segment.
    fn whole(&mut self, clause: &Clause, rest: &Clause) -> Result<Option<bool>> {
        if self.world.can(Can::Task)
            && let Some(jobs) = delegated(rest)
        {
            for job in &jobs {
                self.check(job)?;
            }
            self.push(Act::Delegate(jobs), clause.join);
            return Ok(Some(true));
        }
        self.schedule(clause, rest)
    }

    /// Whom the words from here on tell what, up to where the next order to the model begins.
    fn told_until(&self, source: &str, tokens: &[Token], from: usize) -> Option<(people::Telling, usize)> {
        const TEAM: &str =
            "ask tell let have spawn hire recruit request dismiss review approve reject watch give report shut";
        let mut at = from;
        loop {
            let (end, next) = clause_end(tokens, at);
            let is_end = next >= tokens.len() || tokens[next].is(TEAM) && !tokens[next].is("report");
            if is_end {
                let clause = Clause::new(source, &tokens[from..end], Join::Then);
                return Some((people::telling(&clause, &self.people)?, next));
            }
            at = next;
        }
    }

    fn clause(&mut self, clause: &Clause) -> Result<()> {
        let path = clause
            .tokens
            .iter()
            .rev()
            .find(|token| token.shape == Shape::Path && token.text.contains('.'))
            .map(|token| token.text.clone());
        let done = self.part(clause);
        self.mentioned = path.or(self.mentioned.take());
        done
    }

    fn part(&mut self, clause: &Clause) -> Result<()> {
        if clause.tokens.iter().all(|token| token.shape == Shape::Mark || token.is("meanwhile please and then now")) {
            return Ok(());
        }
        if let Some(forbidden) = forbids(clause) {
            self.only_looks.get_or_insert(forbidden);
            return Ok(());
        }
        let mut clause = clause.clone();
        if clause.tokens.len() > 1 && clause.tokens[0].is("only") {
            self.only_looks.get_or_insert(clause.text().to_owned());
            clause.tokens.remove(0);
        }
        let clause = &clause;
        if let Some(act) = self.named_tool(clause).or_else(|| self.command(clause)) {
            self.push(act, clause.join);
            return Ok(());
        }
        if self.world.can(Can::Spawn)
            && let Some(hiring) = people::hiring(clause)
        {
            return self.hire(hiring, clause);
        }
        if let Some(done) = self.servers(clause) {
            return done;
        }
        if let Some(done) = self.files(clause) {
            return done;
        }
        if self.world.can(Can::CreateTask)
            && let Some((specs, left)) = tasks::counted(clause)
        {
            return match left.first() {
                Some(word) => Err(self.refuse(word, clause)),
                None => {
                    self.push(Act::Tasks(specs), clause.join);
                    Ok(())
                }
            };
        }
        self.row(clause)
    }

    /// The nearest row that accounts for every word.
    fn row(&mut self, clause: &Clause) -> Result<()> {
        let near = rank::nearest(&clause.tokens);
        let (mut left, mut fewest, mut no_tool) = (Vec::new(), usize::MAX, false);
        for index in near.iter().copied().take(24) {
            let row = rank::row(index);
            let is_said = row.says.is_empty() || clause.tokens.iter().any(|token| has(row.says, &token.low));
            let is_allowed = row.mood == Mood::Looks || !clause.is_question();
            // `commit` orders something else than a look at the commits.
            let orders = clause.tokens.first().is_some_and(|first| first.is(ACTING));
            if !is_said || !is_allowed || orders && row.mood == Mood::Looks {
                continue;
            }
            let mut fit = clause.fit(index, &self.people);
            self.refer_back(row, clause, &mut fit.slots, &mut fit.is_missing);
            if !fit.is_missing && fit.left.is_empty() {
                if !row.tools.is_empty() && !row.tools.iter().any(|can| self.world.can(*can)) {
                    no_tool = true;
                    continue;
                }
                match self.make(row, &fit.slots, clause) {
                    Some(act) => {
                        self.push(act, clause.join);
                        return Ok(());
                    }
                    None => continue,
                }
            }
            let cost = fit.left.len() + usize::from(fit.is_missing) * 2;
            if cost < fewest {
                (fewest, left) = (cost, if fit.left.is_empty() { vec![clause.text().to_owned()] } else { fit.left });
            }
        }
        if self.world.tools.outside().is_empty() || no_tool {
        } else if let Some(Ok((name, input))) = mcp::pick(clause, self.world.tools, None) {
            self.push(Act::Named(name, input), clause.join);
            return Ok(());
        }
        if clause.is_question() && history::knows(self.world, clause.text()) {
            self.push(Act::Recall(clause.text().to_owned()), clause.join);
            return Ok(());
        }
        if no_tool {
            return Err(Refusal {
                why: format!("I have no tool here for “{}”, so I did nothing", clause.text()),
                offers: self.offers(&clause.tokens),
            });
        }
        let word = left.first().cloned().unwrap_or_else(|| clause.text().to_owned());
        Err(self.refuse(&word, clause))
    }

    /// `it`, `that file`: what the request or the conversation spoke of last.
    fn refer_back(&self, row: &Row, clause: &Clause, slots: &mut Slots, is_missing: &mut bool) {
        let wants = row.needs.iter().any(|slot| matches!(slot, crate::table::Slot::Path | crate::table::Slot::Paths));
        let refers = clause.says("it its that them file") && !clause.says("back's");
        if wants
            && slots.paths.is_empty()
            && refers
            && (row.needs.len() == 1)
            && let Some(path) = self.last_path()
        {
            slots.paths.push(path);
            *is_missing = false;
        }
    }

    fn last_path(&self) -> Option<String> {
        let of_step = |step: &Step| match &step.act {
            Act::Read(paths) | Act::About(paths) => paths.last().cloned(),
            Act::Create(path, _)
            | Act::Replace(path, ..)
            | Act::Append(path, _)
            | Act::Exists(path, _)
            | Act::Lines(path, ..) => Some(path.clone()),
            Act::Long(path, _) => path.clone(),
            Act::Delegate(jobs) => jobs
                .iter()
                .flat_map(|job| tokens(job))
                .filter(|token| token.shape == Shape::Path)
                .map(|token| token.text)
                .next_back(),
            _ => None,
        };
        self.steps
            .iter()
            .rev()
            .find_map(of_step)
            .or_else(|| self.mentioned.clone())
            .or_else(|| self.world.last_path.clone())
    }

    fn push(&mut self, act: Act, join: Join) {
        // A second clause may only say more of the first: `check if it exists and list its contents`.
        if let (Act::Read(paths), Some(Step { act: Act::Exists(path, shows), .. })) = (&act, self.steps.last_mut())
            && paths.as_slice() == [path.clone()]
        {
            *shows = true;
            return;
        }
        if act == Act::Inbox && self.steps.last().is_some_and(|last| last.act == Act::Inbox) {
            return;
        }
        if matches!((&act, self.steps.last()), (Act::About(paths), Some(Step { act: Act::ReadAll(..), .. })) if paths.is_empty())
        {
            return;
        }
        self.steps.push(Step { act, join });
    }

    fn found(&self, content: &Content) -> Content {
        content.clone()
    }

    /// A skill is asked for: the words of the whole request lead to it.
    fn skill(&self, text: &str) -> Result<Option<Act>> {
        let clause = Clause::of(text);
        let is_loading = clause.says("load use get apply open");
        if !self.world.can(Can::Skill)
            || !clause.says("skill")
            || !is_loading
            || clause.says("write create make called")
        {
            return Ok(None);
        }
        let skills = self.world.skills();
        let general = "skill load use get apply open follow instructions relevant tell says say building work fits what which read then loaded right";
        let wanted: Vec<Token> = clause
            .tokens
            .iter()
            .filter(|token| token.shape != Shape::Mark && !is_filler(token) && !has(general, &token.low))
            .cloned()
            .collect();
        let score = |name: &str, description: &str| {
            let own: Vec<String> = tokens(&name.replace('-', " ")).iter().map(|token| token.stem.clone()).collect();
            let about: Vec<String> = tokens(description).iter().map(|token| token.stem.clone()).collect();
            wanted
                .iter()
                .map(|token| {
                    if token.low == name {
                        20
                    } else if own.contains(&token.stem) {
                        5
                    } else {
                        usize::from(about.contains(&token.stem))
                    }
                })
                .sum::<usize>()
        };
        let best = skills
            .iter()
            .map(|(name, description)| (score(name, description), *name))
            .max_by(|one, other| one.0.cmp(&other.0).then(other.1.cmp(one.1)));
        let follows = clause.says("follow first do review") && !clause.says("says say");
        match best {
            Some((score, name)) if score > 0 => Ok(Some(Act::Skill(name.to_owned(), follows))),
            _ => {
                let names: Vec<&str> = skills.iter().map(|(name, _)| *name).collect();
                let asked: Vec<&str> = wanted.iter().map(|token| token.text.as_str()).collect();
                let why = format!("there is no skill `{}`; the skills are {}", asked.join(" "), names.join(", "));
                Err(Refusal {
                    why,
                    offers: names.iter().take(3).map(|name| format!("load the {name} skill")).collect(),
                })
            }
        }
    }
}

/// `wait`, `no, hold on`: nothing is done.
fn is_held(text: &str) -> bool {
    const WORDS: &str = "no wait stop hold on a moment second please not yet never mind forget it that cancel oh actually minute do nothing";
    const HOLDS: &str = "wait stop hold mind forget nothing";
    let parts = text.split(['.', ',', '!', ';', '—', '\n', ':']);
    parts.map(tokens).any(|part| {
        let words: Vec<&Token> = part.iter().filter(|token| token.shape != Shape::Mark).collect();
        !words.is_empty()
            && words.iter().all(|token| token.is(WORDS))
            && words.iter().any(|token| token.is(HOLDS))
            && !(words.len() == 2 && words[1].is("it") && words[0].is("stop"))
    })
}

/// `do not delete it`: the words that forbid.
fn forbids(clause: &Clause) -> Option<String> {
    let tokens = &clause.tokens;
    let first = tokens.iter().position(|token| !token.is("but and please ,"))?;
    let is_not = tokens[first].is("don't dont never")
        || tokens[first].is("do") && tokens.get(first + 1).is_some_and(|next| next.is("not"));
    is_not.then(|| clause.text().to_owned())
}
