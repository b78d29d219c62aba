//! A request becomes a plan, or a refusal.
//!
//! Text is cut into sentences, segments and clauses; a clause is a frame (who is told what, when, in the background) or a row
//! of the table. Coverage decides: a word that neither the row's examples nor a slot nor a filler accounts for is quoted in
//! a refusal. Invariant: all of a request or none of it.

mod frames;
mod rows;
mod team;

use crate::clause::{self, Clause, Join, PLAIN, clause_end, is_filler, segments, sentence_end};
use crate::history;
use crate::run::{Act, Refusal, Step};
use crate::scene::World;
use crate::slots::named_file;
use crate::table::{self, Make, Row};
use crate::tasks;
use crate::tools::Can;
use crate::words::{Shape, Token, has, having, set, stems, tokens};

/// Understands a request: the steps of it, or why nothing of it is done.
pub fn plan(text: &str, world: &World) -> Result<Vec<Step>> {
    let mut planner = Planner::new(world);
    planner.makes = clause::says(&tokens(text), set("makes-files"));
    planner.whole_of(text).map_err(|no| planner.helpful(no))?;
    Ok(planner.steps)
}

struct Planner<'p, 'w> {
    world: &'p World<'w>,
    steps: Vec<Step>,
    people: Vec<String>,
    /// Those who were hired in this request, or spoken of last.
    hired: Vec<String>,
    /// The server that the request speaks of.
    server: Option<String>,
    /// Whether the request speaks of files that are to be made: those it names need not exist.
    makes: bool,
    /// The words that forbid changes.
    only_looks: Option<String>,
    /// The file that a clause has named.
    mentioned: Option<String>,
    /// How the clause in hand is joined to the one before.
    join: Join,
}

type Result<T> = std::result::Result<T, Refusal>;

impl<'p, 'w> Planner<'p, 'w> {
    fn new(world: &'p World<'w>) -> Self {
        let people = world.mates.clone();
        Self {
            world,
            steps: Vec::new(),
            people,
            hired: Vec::new(),
            server: None,
            makes: false,
            only_looks: None,
            mentioned: None,
            join: Join::Then,
        }
    }

    fn whole_of(&mut self, text: &str) -> Result<()> {
        self.read(text)?;
        self.finish(text)
    }

    fn read(&mut self, text: &str) -> Result<()> {
        // A request in quotation marks is still a request.
        if let [one] = tokens(text).as_slice()
            && (one.shape == Shape::Quoted
                || one.shape == Shape::Code && !frames::is_program(&one.text))
        {
            return self.read(&one.text);
        }
        // `wait`, `no, hold on`: nothing is done.
        let mut parts = text.split(['.', ',', '!', ';', '—', '\n', ':']).map(Clause::of);
        let held = |part: Clause| clause::find("held", &part, PLAIN).map(|found| found.label);
        if parts.any(|part| held(part) == Some("")) {
            let told = "I wait, and have done nothing. Say it again when you want it.";
            return self.done(Act::Say(told.to_owned()));
        }
        if let Some(act) = self.skill(text)? {
            return self.done(act);
        }
        let mut rest = text.trim().to_owned();
        while !rest.is_empty() {
            self.join = Join::Then;
            rest = if self.world.can(Can::CreateTask)
                && let Some((specs, more)) = tasks::listed(&rest)
            {
                self.push(Act::Tasks(specs));
                more
            } else if self.world.can(Can::Todo)
                && let Some((items, more)) = tasks::plan(&rest)
            {
                self.push(Act::Todo(items));
                more
            } else {
                let end = sentence_end(&rest);
                self.sentence(&rest[..end])?;
                rest[end..].trim_start().to_owned()
            };
        }
        Ok(())
    }

    fn sentence(&mut self, text: &str) -> Result<()> {
        if let Some(fact) = history::fact(text) {
            let told = (!fact.is_empty()).then(|| Act::Say(format!("Noted: {fact}")));
            told.into_iter().for_each(|act| self.push(act));
            let rest = text[history::fact_end(text)..].trim();
            return if rest.is_empty() { Ok(()) } else { self.sentence(rest) };
        }
        if let Some(Act::Tasks(specs)) = self.steps.last_mut().map(|step| &mut step.act)
            && tasks::depend(specs, text)
        {
            return Ok(());
        }
        for tokens in segments(text) {
            self.segment(text, &tokens)?;
        }
        Ok(())
    }

    fn segment(&mut self, source: &str, tokens: &[Token]) -> Result<()> {
        let mut from = 0;
        self.join = Join::Then;
        while from < tokens.len() {
            let (end, next) = clause_end(tokens, from);
            let clause = Clause::new(source, tokens[from..end].to_vec());
            let rest = Clause::new(source, tokens[from..].to_vec());
            from = if clause.tokens.is_empty() {
                next
            } else if let Some(jobs) =
                frames::delegated(&rest).filter(|_| self.world.can(Can::Task))
            {
                jobs.iter().try_for_each(|job| self.check(job))?;
                self.push(Act::Delegate(jobs));
                tokens.len()
            } else if let Some(all) = self.schedule(&clause, &rest)? {
                if all { tokens.len() } else { next }
            } else if let Some(to) = self.telling(source, tokens, from)? {
                to
            } else {
                self.clause(&clause)?;
                next
            };
            self.join = Join::And;
        }
        Ok(())
    }

    fn clause(&mut self, clause: &Clause) -> Result<()> {
        self.mentioned = named_file(&clause.tokens).or(self.mentioned.take());
        // `do not delete it`: nothing is done, and what the rest of the request does must only look.
        if let Some(found) = clause::find_at("forbid", clause, 0, PLAIN) {
            self.only_looks.get_or_insert(clause.text().to_owned());
            let what = found.text("what");
            return if what.is_empty() { Ok(()) } else { self.clause(&Clause::of(what)) };
        }
        // What is made by this very request has no path yet.
        let is_place = |row: &Row| has(row.template, "mkdir") || has(row.template, "MakeTree");
        let makes_place = |step: &Step| matches!(&step.act, Act::Row(row, _) if is_place(row));
        let inside = |at| clause::find_at("inside", clause, at, PLAIN);
        if self.steps.iter().any(makes_place)
            && let Some(at) = (0..clause.tokens.len()).find(|at| inside(*at).is_some())
        {
            return Err(self.refuse(clause.between(at, clause.tokens.len()), clause));
        }
        // A question makes nothing and hires nobody.
        if clause.is_question() {
            return self.servers(clause).unwrap_or_else(|| self.row(clause));
        }
        if let Some(act) = self.command(clause) {
            return self.done(act);
        }
        for read in [Self::hiring, Self::files, Self::servers] {
            if let Some(done) = read(self, clause) {
                return done;
            }
        }
        match tasks::counted(clause).filter(|_| self.world.can(Can::CreateTask)) {
            Some(Ok(specs)) => self.done(Act::Tasks(specs)),
            Some(Err(word)) => Err(self.refuse(&word, clause)),
            None => self.row(clause),
        }
    }

    /// Plans an act that is all of its clause.
    fn done(&mut self, act: Act) -> Result<()> {
        self.push(act);
        Ok(())
    }

    fn push(&mut self, act: Act) {
        let last = self.steps.last_mut().map(|step| &mut step.act);
        if let (Some(Act::Row(last, before)), Act::Row(row, new)) = (last, &act) {
            let is_same = before.paths == new.paths && before.names == new.names;
            let is_all = new.paths.is_empty() && new.kind.is_none() && new.dir.is_none();
            match (last.make, row.make) {
                // A second clause may only say more of the first: `check if it exists and list its contents`.
                (Make::Exists | Make::Read, Make::Read) | (Make::Leave, Make::Leave) if is_same => {
                    before.said.push_str(" contents");
                    return;
                }
                // `find the Python files and summarize them`: those that are found.
                (Make::Find, Make::About | Make::ReadAll) if is_all => {
                    *last = table::of(Make::ReadAll);
                    return;
                }
                _ => {}
            }
        }
        let join = self.join;
        self.steps.push(Step { act, join });
    }

    /// A skill is asked for: the words of the whole request lead to it.
    fn skill(&self, text: &str) -> Result<Option<Act>> {
        let clause = Clause::of(text);
        let is_loading =
            clause.says("load use get apply open") && !clause.says("write create make called");
        if !self.world.can(Can::Skill) || !clause.says("skill") || !is_loading {
            return Ok(None);
        }
        let is_wanted = |token: &&Token| !is_filler(token) && !token.is(set("loads"));
        let asked = clause.tokens.iter().filter(is_wanted);
        let (asked, wanted): (Vec<&str>, Vec<String>) =
            asked.map(|token| (token.text.as_str(), token.stem.clone())).unzip();
        let skills = self.world.skills();
        let name = |name: &str| format!("{name} {}", name.replace('-', " "));
        // A skill that says nothing of a word is none for it; its name counts more than what it is for.
        let fits = having(&wanted, &skills, |(own, about)| format!("{} {about}", name(own)));
        let named =
            |own: &str| stems(&name(own)).iter().filter(|stem| wanted.contains(stem)).count();
        let best = fits.into_iter().rev().filter(|_| !wanted.is_empty());
        if let Some((name, _)) = best.max_by_key(|(own, _)| named(own)) {
            let follows = clause.says("follow first do review") && !clause.says("says say");
            return Ok(Some(Act::Skill((*name).to_owned(), follows)));
        }
        let names: Vec<&str> = skills.iter().map(|(name, _)| *name).collect();
        let (asked, all) = (asked.join(" "), names.join(", "));
        let why = format!("there is no skill `{asked}`; the skills are {all}");
        let offers = names.iter().take(3).map(|name| format!("load the {name} skill"));
        Err(Refusal::new(why, offers))
    }
}
