//! A request becomes a plan, or a refusal.
//!
//! Text is cut into sentences, segments and clauses; a clause is a frame (who is told what, when, in the background) or a row
//! of the table. Coverage decides: a word that neither the row's examples nor a slot nor a filler accounts for is quoted in
//! a refusal. Invariant: all of a request or none of it.

use serde_json::json;

use crate::clause::{Clause, Join, Slots, clause_end, is_filler, segments};
use crate::create::{self, Content};
use crate::history;
use crate::mcp;
use crate::people::{self, sentence};
use crate::plan::{Act, Job, Plan, Refusal, Step};
use crate::rank;
use crate::scene::Scene;
use crate::table::{Make, Mood, Row};
use crate::tasks;
use crate::tools::{Can, Tools};
use crate::when;
use crate::words::{Shape, Token, has, tokens};

/// What there is around a request.
pub struct World<'a> {
    /// The tools on offer.
    pub tools: &'a Tools<'a>,
    /// The conversation.
    pub scene: &'a Scene<'a>,
    /// The system prompt.
    pub system: &'a str,
    /// The teammates that were hired in this conversation.
    pub mates: Vec<String>,
    /// The servers that can be connected or are.
    pub servers: Vec<String>,
    /// The servers that are connected.
    pub connected: Vec<String>,
    /// The file that was spoken of last.
    pub last_path: Option<String>,
    /// Tools that another agent has, for whom a job is looked at.
    pub lent: &'static [Can],
}

/// What a teammate or a subagent can do.
pub const LENT: &[Can] = &[Can::Bash, Can::Read, Can::Write, Can::Edit, Can::Glob, Can::Send, Can::ListTasks, Can::ClaimTask, Can::CompleteTask, Can::SubmitPlan];

impl<'a> World<'a> {
    /// The world of a conversation.
    pub fn new(tools: &'a Tools<'a>, scene: &'a Scene<'a>, system: &'a str) -> Self {
        let spawn = tools.get(Can::Spawn).map(|tool| tool.name);
        let hired = scene.calls.iter().filter(|call| Some(call.name) == spawn && !call.failed);
        let mates = hired.filter_map(|call| call.input["name"].as_str()).map(str::to_owned).collect();
        let (mut servers, connected) = (mcp::available(tools), mcp::connected(tools));
        servers.extend(connected.iter().filter(|server| !servers.contains(server)).cloned().collect::<Vec<_>>());
        let path = |call: &crate::scene::Past| ["path", "file_path", "filePath"].iter().find_map(|name| call.input[*name].as_str()).map(str::to_owned);
        let last_path = scene.calls.iter().rev().filter(|call| !call.failed).find_map(path);
        Self { tools, scene, system, mates, servers, connected, last_path, lent: &[] }
    }

    fn can(&self, can: Can) -> bool {
        self.tools.can(can) || self.lent.contains(&can)
    }

    /// The skills of the catalogue: name and description.
    pub fn skills(&self) -> Vec<(&str, &str)> {
        let Some(at) = self.system.find("skill") else { return Vec::new() };
        let lines = self.system[at..].lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
        let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        lines.filter(|(name, _)| is_name(name)).take_while(|(_, description)| !description.is_empty()).collect()
    }
}

/// Understands a request.
pub fn plan(text: &str, world: &World) -> Plan {
    let mut planner = Planner { world, steps: Vec::new(), people: world.mates.clone(), hired: Vec::new(), server: None, only_looks: None, gate: false, mentioned: None };
    match planner.read(text).and_then(|()| planner.finish()) {
        Ok(()) => Plan { steps: planner.steps, refusal: None },
        Err(refusal) => Plan { steps: Vec::new(), refusal: Some(refusal) },
    }
}

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
            if self.world.can(Can::CreateTask) && let Some(listed) = tasks::listed(rest) {
                self.push(Act::Tasks(listed.tasks), Join::Then);
                owned = listed.rest;
                rest = &owned;
                continue;
            }
            if self.world.can(Can::Todo) && let Some((items, more)) = tasks::plan(rest) {
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
            if clause.tokens.iter().any(|token| !is_filler(token)) || clause.tokens.len() > 1 || !clause.text().is_empty() {
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
        if self.world.can(Can::Task) && let Some(jobs) = delegated(rest) {
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
        const TEAM: &str = "ask tell let have spawn hire recruit request dismiss review approve reject watch give report shut";
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
        let path = clause.tokens.iter().rev().find(|token| token.shape == Shape::Path && token.text.contains('.')).map(|token| token.text.clone());
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
        if self.world.can(Can::Spawn) && let Some(hiring) = people::hiring(clause) {
            return self.hire(hiring, clause);
        }
        if let Some(done) = self.servers(clause) {
            return done;
        }
        if let Some(done) = self.files(clause) {
            return done;
        }
        if self.world.can(Can::CreateTask) && let Some((specs, left)) = tasks::counted(clause) {
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
            if !is_said || !is_allowed {
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
            return Err(Refusal { why: format!("I have no tool here for “{}”, so I did nothing", clause.text()), offers: self.offers(&clause.tokens) });
        }
        let word = left.first().cloned().unwrap_or_else(|| clause.text().to_owned());
        Err(self.refuse(&word, clause))
    }

    /// `it`, `that file`: what the request or the conversation spoke of last.
    fn refer_back(&self, row: &Row, clause: &Clause, slots: &mut Slots, is_missing: &mut bool) {
        let wants = row.needs.iter().any(|slot| matches!(slot, crate::table::Slot::Path | crate::table::Slot::Paths));
        let refers = clause.says("it its that them file") && !clause.says("back's");
        if wants && slots.paths.is_empty() && refers && (row.needs.len() == 1) && let Some(path) = self.last_path() {
            slots.paths.push(path);
            *is_missing = false;
        }
    }

    fn last_path(&self) -> Option<String> {
        let of_step = |step: &Step| match &step.act {
            Act::Read(paths) | Act::About(paths) => paths.last().cloned(),
            Act::Create(path, _) | Act::Replace(path, ..) | Act::Append(path, _) | Act::Exists(path, _) | Act::Lines(path, ..) => Some(path.clone()),
            Act::Long(path, _) => path.clone(),
            Act::Delegate(jobs) => jobs.iter().flat_map(|job| tokens(job)).filter(|token| token.shape == Shape::Path).map(|token| token.text).last(),
            _ => None,
        };
        self.steps.iter().rev().find_map(of_step).or_else(|| self.mentioned.clone()).or_else(|| self.world.last_path.clone())
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
        if matches!((&act, self.steps.last()), (Act::About(paths), Some(Step { act: Act::ReadAll(..), .. })) if paths.is_empty()) {
            return;
        }
        self.steps.push(Step { act, join });
    }

    fn refuse(&self, word: &str, clause: &Clause) -> Refusal {
        let why = format!("I did not understand “{}”, so I did nothing of it", word.trim());
        Refusal { why, offers: self.offers(&clause.tokens) }
    }

    /// The nearest requests that can be done here, with the names that exist.
    fn offers(&self, tokens: &[Token]) -> Vec<String> {
        let can = |row: &&Row| row.tools.is_empty() || row.tools.iter().any(|can| self.world.can(*can));
        let mut rows: Vec<&Row> = rank::nearest(tokens).into_iter().map(rank::row).filter(can).collect();
        rows.extend(["list the files here", "read {file}", "what can you do?"].iter().filter_map(|offer| crate::table::ROWS.iter().find(|row| row.offer == *offer)).filter(can));
        let mut offers: Vec<String> = Vec::new();
        let server = self.world.servers.iter().find(|server| tokens.iter().any(|token| mcp::names(token, server)));
        offers.extend(server.map(|server| format!("connect to {server}")));
        let file = tokens.iter().find(|token| token.shape == Shape::Path && token.text.contains('.') && !token.text.contains('*'));
        offers.extend(file.map(|file| format!("read {}", file.text)));
        for row in rows {
            let offer = self.named(row.offer, tokens);
            if offers.len() < 3 && !offers.contains(&offer) {
                offers.push(offer);
            }
        }
        offers
    }

    /// An offer with names that exist: the file that was named or spoken of, a teammate.
    fn named(&self, offer: &str, tokens: &[Token]) -> String {
        let said = tokens.iter().find(|token| token.shape == Shape::Path && !token.text.contains('*')).map(|token| token.text.clone());
        let file = said.or_else(|| self.last_path()).unwrap_or_else(|| "README.md".to_owned());
        let mut offer = offer.replace("{file}", &file).replace("{dir}", "this directory");
        if let Some(name) = self.people.first() {
            offer = offer.replace("alice", name).replace("bob", self.people.get(1).unwrap_or(name));
        }
        offer
    }

    /// A job for somebody else must be one that can be done.
    fn check(&self, job: &str) -> Result<()> {
        let world = World { lent: LENT, mates: self.people.clone(), servers: Vec::new(), connected: Vec::new(), last_path: self.last_path(), tools: self.world.tools, scene: self.world.scene, system: "" };
        match plan(job, &world).refusal {
            Some(refusal) => Err(refusal),
            None => Ok(()),
        }
    }

    /// `run X`, `run X in the background`, ``while `X` runs in the background``.
    fn command(&self, clause: &Clause) -> Option<Act> {
        let tokens = &clause.tokens;
        if !self.world.can(Can::Bash) {
            return None;
        }
        let ground = tokens.iter().position(|token| token.is("background")).filter(|at| *at > 1);
        let in_background = ground.is_some();
        let first = tokens.first()?;
        let is_while = first.is("while let") && in_background;
        if !first.is("run execute start call kick launch") && !is_while && !(tokens.len() == 1 && first.shape == Shape::Code) {
            return None;
        }
        let code: Vec<&Token> = tokens.iter().filter(|token| token.shape == Shape::Code).collect();
        let known = |token: &Token| is_filler(token) || token.is("run runs running execute start call background command while let shell bash meanwhile kick launch off job");
        if let [command] = code.as_slice() {
            let others = tokens.iter().all(|token| token.shape == Shape::Code || known(token));
            return others.then(|| Act::Shell(command.text.clone(), in_background));
        }
        let from = (1..tokens.len()).find(|at| !tokens[*at].is("the command :"))?;
        let to = ground.map_or(tokens.len(), |at| (from..at).rev().find(|at| tokens[*at].is("in as")).unwrap_or(at));
        // `while X is running in the background`
        let to = if is_while { (from..to).find(|at| tokens[*at].is("is runs running")).unwrap_or(to) } else { to };
        let rest_is_known = ground.is_none_or(|at| tokens[at + 1..].iter().all(known));
        let program = tokens.get(from).filter(|token| has(PROGRAMS, &token.low) || token.text.starts_with("./") || token.shape == Shape::Quoted)?;
        let command = if program.shape == Shape::Quoted { program.text.clone() } else { clause.between(from, to).to_owned() };
        (rest_is_known && !command.is_empty()).then_some(Act::Shell(command, in_background))
    }

    /// A tool called by its name: `call list_crons`.
    fn named_tool(&self, clause: &Clause) -> Option<Act> {
        let tokens = &clause.tokens;
        if !tokens.first()?.is("call use invoke run") {
            return None;
        }
        let named = tokens.iter().position(|token| self.world.tools.named(&token.text).is_some())?;
        let input = match clause.between(named + 1, tokens.len()).find('{') {
            Some(at) => serde_json::from_str(&clause.between(named + 1, tokens.len())[at..]).ok()?,
            None => {
                let is_known = |token: &Token| is_filler(token) || token.is("call use invoke run tool without arguments");
                let all = tokens.iter().enumerate().all(|(at, token)| at == named || is_known(token));
                let tool = self.world.tools.named(&tokens[named].text)?;
                let needs = tool.schema["required"].as_array().is_some_and(|all| !all.is_empty());
                if !all || needs {
                    return None;
                }
                json!({})
            }
        };
        Some(Act::Named(tokens[named].text.clone(), input))
    }

    fn hire(&mut self, hiring: people::Hiring, clause: &Clause) -> Result<()> {
        if let Some(word) = hiring.left.first() {
            return Err(self.refuse(word, clause));
        }
        if hiring.names.is_empty() {
            return Err(Refusal { why: format!("“{}” names nobody, so I hired nobody", clause.text()), offers: vec![format!("spawn alice as a {}", hiring.role), "spawn alice and bob".to_owned()] });
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

    /// What teammates are told: a job, a plan, to leave. `false` when it is something else after all.
    fn tell(&mut self, telling: &people::Telling, clause: &Clause) -> Result<bool> {
        if !self.world.can(Can::Spawn) && !self.world.can(Can::Send) {
            return Ok(false);
        }
        let first = &clause.tokens[0];
        let is_open = first.is("get make give send write remind message hand assign order instruct");
        if is_open && telling.names.iter().any(|name| !self.people.contains(name)) {
            return Ok(false);
        }
        let names = self.those(&telling.names);
        if names.is_empty() || telling.names.is_empty() && self.people.is_empty() {
            return Ok(false);
        }
        let what = Clause::of(&telling.what);
        if what.says("plan plans") || what.says("leave shutdown home") && self.world.can(Can::Shutdown) || what.says("themselves own") {
            return Ok(false);
        }
        if telling.is_task {
            return self.assign(&names);
        }
        if telling.is_order {
            self.check(&telling.what)?;
        }
        for name in &names {
            let waiting = self.steps.iter_mut().rev().find_map(|step| match &mut step.act {
                Act::Spawn(hired, _, job, _) if hired == name && !matches!(job, Job::Board | Job::Assigned) => Some(job),
                _ => None,
            });
            match waiting {
                Some(Job::Text(job)) => job.push_str(&format!(" {}", telling.what)),
                Some(job) => *job = Job::Text(telling.what.clone()),
                None if self.world.can(Can::Send) => self.push(Act::Message(name.clone(), telling.what.clone()), clause.join),
                None => return Ok(false),
            }
        }
        self.hired = names;
        Ok(true)
    }

    fn assign(&mut self, names: &[String]) -> Result<bool> {
        let mut is_any = false;
        for step in &mut self.steps {
            if let Act::Spawn(name, _, job, _) = &mut step.act
                && names.contains(name)
            {
                *job = Job::Assigned;
                is_any = true;
            }
        }
        Ok(is_any)
    }

    /// The people that names and pronouns mean.
    fn those(&self, names: &[String]) -> Vec<String> {
        if !names.is_empty() {
            return names.to_vec();
        }
        if !self.hired.is_empty() {
            return self.hired.clone();
        }
        self.people.last().cloned().into_iter().collect()
    }

    /// `every two minutes`, `in an hour`, `remind me`.
    fn schedule(&mut self, clause: &Clause, rest: &Clause) -> Result<Option<bool>> {
        let is_told = clause.tokens.first().is_some_and(|first| first.is("schedule remind")) || clause.tokens.iter().take(6).any(|token| token.is("reminder recurring")) && clause.tokens[0].is("set create make add");
        let own = when::find(&clause.source, &clause.tokens);
        let at_start = own.as_ref().is_some_and(|found| found.from == 0);
        let whole = if is_told || at_start { rest } else { clause };
        let Some(found) = when::find(&whole.source, &whole.tokens) else {
            if is_told && clause.tokens[0].is("remind schedule") {
                let why = format!("“{}” says no time that I understand, so I scheduled nothing", clause.text());
                return Err(Refusal { why, offers: vec!["remind me in 10 minutes to stretch".into(), "list the files here every 5 minutes".into(), "remind me tomorrow at noon of the meeting".into()] });
            }
            return Ok(None);
        };
        if !self.world.can(Can::Schedule) {
            return Err(Refusal { why: format!("I have no tool here that schedules “{}”, so I did nothing", whole.text()), offers: self.offers(&whole.tokens) });
        }
        let durable = whole.tokens.iter().any(|token| token.is("durable durably permanently permanent"));
        let prompt = scheduled_prompt(whole, &found);
        if prompt.is_empty() {
            return Err(self.refuse(whole.text(), clause));
        }
        if !prompt.to_lowercase().starts_with("remind me") {
            self.check(&prompt)?;
        }
        self.push(Act::Schedule(found.when, prompt, durable), clause.join);
        Ok(Some(is_told || at_start))
    }

    /// What servers are asked.
    fn servers(&mut self, clause: &Clause) -> Option<Result<()>> {
        let servers = &self.world.servers;
        if servers.is_empty() && !self.world.can(Can::Connect) {
            return None;
        }
        match mcp::connecting(clause, servers) {
            Some(Ok((wanted, rest))) => {
                if self.world.can(Can::Connect) {
                    self.push(Act::Connect(wanted.clone()), clause.join);
                }
                if wanted.len() == 1 {
                    self.server = wanted.first().cloned();
                }
                if !rest.is_empty() {
                    self.push(Act::Serve(self.server.clone(), rest), Join::Then);
                }
                return Some(Ok(()));
            }
            Some(Err(word)) => {
                let offers = servers.iter().map(|server| format!("connect to {server}")).collect();
                let there = if servers.is_empty() { String::new() } else { format!("; there are {}", servers.join(", ")) };
                return Some(Err(Refusal { why: format!("I know no server “{word}”{there}, so I connected to none"), offers }));
            }
            None => {}
        }
        let named = servers.iter().find(|server| clause.tokens.iter().any(|token| mcp::names(token, server)) && (clause.says("server search look find our what ask say query up") || self.world.connected.contains(server)) && !clause.tokens.iter().any(|token| token.shape == Shape::Path)).cloned();
        let asks_tools = clause.says("tools");
        let is_local = create::read(clause).is_some() || people::hiring(clause).is_some() || asks_tools || clause.says("file files task tasks worktree");
        if let Some(server) = named.filter(|_| !asks_tools && !(create::read(clause).is_some())) {
            if !self.world.connected.contains(&server) && !self.steps.iter().any(|step| matches!(&step.act, Act::Connect(known) if known.contains(&server))) {
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
        let last_was_outside = self.world.scene.calls.last().is_some_and(|call| self.world.tools.outside().iter().any(|tool| tool.name == call.name));
        if let Some(server) = context {
            self.push(Act::Serve(Some(server), clause.text().to_owned()), Join::Then);
            return Some(Ok(()));
        }
        if last_was_outside && !is_local && let Some(Ok((name, input))) = mcp::pick(clause, self.world.tools, None) {
            self.push(Act::Named(name, input), clause.join);
            return Some(Ok(()));
        }
        None
    }

    /// Files that are made or changed.
    fn files(&mut self, clause: &Clause) -> Option<Result<()>> {
        if let Some((path, old, new)) = replacing(clause) {
            let path = path.or_else(|| self.last_path())?;
            if !self.world.can(Can::Edit) && !(self.world.can(Can::Read) && self.world.can(Can::Write)) {
                return Some(Err(Refusal { why: format!("I have no tool here that edits {path}, so I did nothing"), offers: self.offers(&clause.tokens) }));
            }
            self.push(Act::Replace(path, old, new), clause.join);
            return Some(Ok(()));
        }
        let is_long = clause.says("long huge enormous big large") && clause.says("functions");
        if is_long || clause.says("line append") && clause.tokens.first()?.is("add append") {
            return None;
        }
        let new = create::read(clause)?;
        if clause.tokens.first()?.is("add") && clause.tokens.iter().any(|token| token.shape == Shape::Quoted || token.is("hints docstrings guard")) {
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
            return Some(Err(Refusal { why: "there is nothing yet that I could write a summary of, so I did nothing".into(), offers: vec![format!("read README.md, then write a summary to {}", new.path)] }));
        }
        self.push(Act::Create(new.path, new.content), clause.join);
        Some(Ok(()))
    }

    fn found(&self, content: &Content) -> Content {
        content.clone()
    }

    /// A skill is asked for: the words of the whole request lead to it.
    fn skill(&self, text: &str) -> Result<Option<Act>> {
        let clause = Clause::of(text);
        let is_loading = clause.says("load use get apply open");
        if !self.world.can(Can::Skill) || !clause.says("skill") || !is_loading || clause.says("write create make called") {
            return Ok(None);
        }
        let skills = self.world.skills();
        let general = "skill load use get apply open follow instructions relevant tell says say building work fits what which read then loaded right";
        let wanted: Vec<Token> = clause.tokens.iter().filter(|token| token.shape != Shape::Mark && !is_filler(token) && !has(general, &token.low)).cloned().collect();
        let score = |name: &str, description: &str| {
            let own: Vec<String> = tokens(&name.replace('-', " ")).iter().map(|token| token.stem.clone()).collect();
            let about: Vec<String> = tokens(description).iter().map(|token| token.stem.clone()).collect();
            wanted.iter().map(|token| if token.low == name { 20 } else if own.contains(&token.stem) { 5 } else { usize::from(about.contains(&token.stem)) }).sum::<usize>()
        };
        let best = skills.iter().map(|(name, description)| (score(name, description), *name)).max_by(|one, other| one.0.cmp(&other.0).then(other.1.cmp(one.1)));
        let follows = clause.says("follow first do review") && !clause.says("says say");
        match best {
            Some((score, name)) if score > 0 => Ok(Some(Act::Skill(name.to_owned(), follows))),
            _ => {
                let names: Vec<&str> = skills.iter().map(|(name, _)| *name).collect();
                let asked: Vec<&str> = wanted.iter().map(|token| token.text.as_str()).collect();
                let why = format!("there is no skill `{}`; the skills are {}", asked.join(" "), names.join(", "));
                Err(Refusal { why, offers: names.iter().take(3).map(|name| format!("load the {name} skill")).collect() })
            }
        }
    }

    /// What the steps mean for each other.
    fn finish(&mut self) -> Result<()> {
        let changes = |step: &Step| !matches!(step.act, Act::Say(_) | Act::Read(_) | Act::Lines(..) | Act::About(_) | Act::ReadAll(..) | Act::List(_) | Act::Find(_) | Act::Count(_) | Act::Exists(..)
            | Act::Framework | Act::Verify | Act::Board(_) | Act::ShowTask(_) | Act::Tools | Act::Recall(_) | Act::FirstRequest | Act::Requests | Act::WhatDidYouDo | Act::Inbox);
        if let Some(words) = &self.only_looks {
            if self.steps.iter().any(changes) {
                return Err(Refusal { why: format!("“{words}” and the rest of the request do not go together for me, so I did nothing"), offers: vec!["what can you do?".into()] });
            }
            if self.steps.is_empty() {
                self.push(Act::Say("All right: I did nothing.".to_owned()), Join::Then);
            }
        }
        let has_tasks = self.steps.iter().any(|step| matches!(step.act, Act::Tasks(_)));
        let planned: Vec<String> = self.steps.iter().flat_map(|step| if let Act::AskPlan(names, _) = &step.act { names.clone() } else { Vec::new() }).collect();
        for step in &mut self.steps {
            if let Act::Spawn(name, _, job, plan_first) = &mut step.act {
                *plan_first = planned.contains(name);
                if *job == Job::Wait && has_tasks {
                    *job = Job::Board;
                }
            }
        }
        // Work that the user has asked for waits behind these plans: they are to go on.
        let is_answered = self.steps.iter().any(|step| matches!(step.act, Act::Answer(..)));
        if has_tasks && self.gate && !is_answered && !planned.is_empty() {
            self.push(Act::Answer(planned, true, "Go ahead as planned.".to_owned()), Join::Then);
        }
        if self.steps.is_empty() {
            let offers = vec!["what can you do?".to_owned(), "list the files here".to_owned()];
            return Err(Refusal { why: "that asks for nothing that I know".to_owned(), offers });
        }
        Ok(())
    }
}

/// Programs that a command may begin with when it stands without backticks.
const PROGRAMS: &str = "cargo git ls echo sleep npm npx node python python3 pip make pwd date cat grep find true false cd \
    mkdir touch rm cp mv head tail wc sort uniq sed awk curl wget docker rustc rustup go java gcc which \
    whoami env ps df du uname printf seq yes diff tar ln chmod pytest uv bash sh exit kill";

fn begins_with_program(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    has(PROGRAMS, first) || first.contains('/') || first.contains('=') || !first.bytes().all(|b| b.is_ascii_alphabetic())
}

fn sentence_end(text: &str) -> usize {
    let all = tokens(text);
    for (at, token) in all.iter().enumerate() {
        let new_line = at > 0 && text[all[at - 1].end..token.start].contains('\n');
        let is_item = at > 0 && all[at - 1].shape == Shape::Number && (at == 1 || text[all[at - 2].end..all[at - 1].start].contains('\n'));
        let is_end = token.shape == Shape::Mark && matches!(token.text.as_str(), "." | "!" | "?") && all.get(at + 1).is_none_or(|next| next.start > token.end) && !is_item;
        if new_line {
            return token.start;
        }
        if is_end {
            return token.end;
        }
    }
    text.len()
}

/// `wait`, `no, hold on`: nothing is done.
fn is_held(text: &str) -> bool {
    const WORDS: &str = "no wait stop hold on a moment second please not yet never mind forget it that cancel oh actually minute do nothing";
    const HOLDS: &str = "wait stop hold mind forget nothing";
    let parts = text.split(['.', ',', '!', ';', '—', '\n', ':']);
    parts.map(tokens).any(|part| {
        let words: Vec<&Token> = part.iter().filter(|token| token.shape != Shape::Mark).collect();
        !words.is_empty() && words.iter().all(|token| token.is(WORDS)) && words.iter().any(|token| token.is(HOLDS)) && !(words.len() == 2 && words[1].is("it") && words[0].is("stop"))
    })
}

/// `do not delete it`: the words that forbid.
fn forbids(clause: &Clause) -> Option<String> {
    let tokens = &clause.tokens;
    let first = tokens.iter().position(|token| !token.is("but and please ,"))?;
    let is_not = tokens[first].is("don't dont never") || tokens[first].is("do") && tokens.get(first + 1).is_some_and(|next| next.is("not"));
    is_not.then(|| clause.text().to_owned())
}

/// The jobs that are handed to subagents.
fn delegated(clause: &Clause) -> Option<Vec<String>> {
    const AGENTS: &str = "subagent subagents sub-agent sub-agents subtask subtasks task agent";
    let tokens = &clause.tokens;
    let first = tokens.first()?;
    let place = tokens.iter().position(|token| token.is(AGENTS));
    let behind = |at: usize| {
        let from = (at..tokens.len()).find(|at| !tokens[*at].is("to : , that and should"))?;
        let text = clause.between(from, tokens.len());
        (!text.is_empty()).then(|| sentence(text))
    };
    if first.is("delegate hand") {
        let to_agent = place.filter(|at| tokens[..*at].iter().any(|token| token.is("to")));
        let job = match to_agent {
            // `delegate reading all files to a subagent`
            Some(at) if tokens.get(at + 1).is_none_or(|next| !next.is(":")) => {
                let to = (1..at).rev().find(|to| tokens[*to].is("to"))?;
                sentence(&ordered(clause.between(1, to)))
            }
            Some(at) => behind(at + 1)?,
            None if first.is("delegate") => behind(1)?,
            None => return None,
        };
        return (!matches!(job.as_str(), "This." | "It.")).then(|| vec![job]);
    }
    let at = place.filter(|at| *at <= 4)?;
    let is_use = first.is("use in with let have get ask start spawn make by");
    let is_plain_task = tokens[at].is("task agent") && !first.is("use in");
    if !is_use || is_plain_task || tokens[1..at].iter().any(|token| !is_filler(token) && crate::words::number(&token.low).is_none()) {
        return None;
    }
    if tokens[at].low.ends_with('s') {
        // `two subagents: one reads a, the other lists b`
        let text = clause.between((at + 1..tokens.len()).find(|at| !tokens[*at].is(": to ,"))?, tokens.len());
        let parts = text.replace(", and the other ", "\u{1}").replace(", the other ", "\u{1}").replace(" and the other ", "\u{1}").replace("; the other ", "\u{1}").replace(", another ", "\u{1}").replace(", and one ", "\u{1}").replace(", one ", "\u{1}");
        let parts: Vec<String> = parts.split('\u{1}').map(|part| sentence(&ordered(part.trim().strip_prefix("one ").unwrap_or(part.trim()).trim_start_matches("to ").trim_start_matches("should ")))).collect();
        return Some(parts);
    }
    behind(at + 1).map(|job| vec![job])
}

/// `reads a` and `reading a` as an order: `read a`.
fn ordered(words: &str) -> String {
    let Some((verb, rest)) = words.split_once(' ') else { return words.to_owned() };
    let low = verb.to_lowercase();
    let cut = low.strip_suffix("ing").or(low.strip_suffix('s')).unwrap_or(&low);
    let verb = [cut.to_owned(), format!("{cut}e"), low.clone()].into_iter().find(|word| rank::is_verb(word)).unwrap_or(low.clone());
    format!("{verb} {rest}")
}

/// The prompt of a schedule: the clause without its time and the words that only say that it is scheduled.
fn scheduled_prompt(clause: &Clause, found: &when::Found) -> String {
    let tokens = &clause.tokens;
    const FRAME: &str = "schedule set create make add a an the up task job reminder prompt cron recurring one-shot one-time durable to for of that which repeating daily :";
    let is_frame = tokens.first().is_some_and(|first| first.is("schedule set create make add"));
    let is_reminder = is_frame && tokens.iter().take(8).any(|token| token.is("reminder"));
    let mut from = 0;
    if is_frame {
        while from < tokens.len() && (tokens[from].is(FRAME) || (found.from <= from && from < found.to)) {
            from += 1;
        }
    }
    let before = clause.between(from, found.from.max(from)).trim_end_matches([',', ' ']).to_owned();
    let mut to = found.to.max(from);
    while to < tokens.len() && (tokens[to].is(", :") || is_frame && tokens[to].is("to for of") || before.is_empty() && tokens[to].is("please")) {
        to += 1;
    }
    let after = clause.between(to, tokens.len());
    let words = [before.as_str(), after].join(" ");
    let words = words.trim().trim_end_matches(['.', ',', '!']);
    let for_what = tokens.iter().skip(found.to).find(|token| !token.is(",")).is_some_and(|token| token.is("for")) || tokens.iter().take(8).any(|token| token.is("of"));
    match (is_reminder, for_what) {
        (true, true) => format!("Remind me of {words}"),
        (true, false) => format!("Remind me to {words}"),
        (false, _) => words.to_owned(),
    }
}

/// `replace A with B in FILE`, `change A to B in FILE`: the file, what goes, what comes.
fn replacing(clause: &Clause) -> Option<(Option<String>, String, String)> {
    let tokens = &clause.tokens;
    let at = tokens.iter().position(|token| token.is("replace change substitute rename")).filter(|at| *at == 0 || tokens[0].is("in"))?;
    let is_rename = tokens[at].is("rename");
    let joint = (at + 2..tokens.len()).find(|joint| tokens[*joint].is("with to by into"))?;
    let place = (joint + 2..tokens.len()).find(|place| tokens[*place].is("in of inside") && tokens[place + 1..].iter().any(|token| token.shape == Shape::Path || token.is("it")));
    let path = match place {
        Some(place) => tokens[place + 1..].iter().find(|token| token.shape == Shape::Path).map(|token| crate::clause::file(&token.text)),
        None if at > 0 => tokens[..at].iter().find(|token| token.shape == Shape::Path).map(|token| crate::clause::file(&token.text)),
        None => None,
    };
    if path.is_none() && place.is_none() && !(at == 0 && !is_rename && clause.tokens[at + 1..joint].iter().all(|token| token.shape == Shape::Quoted)) {
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
    (!old.is_empty() && !new.is_empty()).then_some((path, old, new))
}

impl Planner<'_, '_> {
    /// The act of a row, with its slots filled; `None` when the slots make no sense together.
    fn make(&mut self, row: &Row, slots: &Slots, clause: &Clause) -> Option<Act> {
        let path = slots.paths.first().cloned();
        let quoted = slots.quoted.first().cloned().unwrap_or_default();
        Some(match row.make {
            Make::Shell(template) if template.contains("{quoted}") && slots.quoted.len() > 1 => return None,
            Make::Shell(template) => Act::Shell(filled(template, slots), false),
            Make::Say(text) => Act::Say(text.to_owned()),
            Make::Tool(can) => Act::Tool(can, json!({})),
            Make::Read => Act::Read(slots.paths.clone()),
            Make::Head => Act::Lines(path?, slots.number?, true),
            Make::Tail => Act::Lines(path?, slots.number?, false),
            Make::About => Act::About(slots.paths.clone()),
            Make::ReadAll => Act::ReadAll(slots.dir.clone().unwrap_or_else(|| ".".into()), slots.kind.clone()),
            Make::List => Act::List(slots.dir.clone()),
            Make::Find => Act::Find(pattern(slots)),
            Make::Count => Act::Count(pattern(slots)),
            Make::Exists => Act::Exists(path?, clause.says("contents content print show")),
            Make::Grep | Make::Append | Make::WriteSkill if slots.quoted.len() > 1 => return None,
            Make::Grep => {
                let kind = slots.kind.as_deref().filter(|kind| !kind.contains('*')).map_or(String::new(), |kind| format!(" --include='*.{kind}'"));
                let place = path.or_else(|| slots.dir.clone()).unwrap_or_else(|| ".".into());
                Act::Shell(format!("grep -rn{kind} -- {} {}", shell(&quoted), shell(&place)), false)
            }
            Make::Framework => Act::Framework,
            Make::Verify => Act::Verify,
            Make::Append => Act::Append(path?, quoted),
            Make::Mend if slots.paths.len() > 1 || path.as_ref().is_some_and(|path| !path.ends_with(".py")) => return None,
            Make::Mend if path.is_none() && !clause.says("refactor refactoring") => return None,
            Make::Mend => Act::Mend(path, crate::python::aspects(clause)),
            Make::Review if slots.kind.as_deref() == Some("py") => Act::Review(slots.dir.clone().unwrap_or_else(|| ".".into())),
            Make::Review => return None,
            Make::Package => {
                let (files, folders): (Vec<String>, Vec<String>) = slots.paths.iter().cloned().partition(|path| path.contains('.'));
                let folder = slots.dir.clone().or_else(|| folders.first().cloned())?;
                if files.is_empty() || folders.len() + usize::from(slots.dir.is_some()) > 1 {
                    return None;
                }
                Act::Package(folder.trim_end_matches('/').to_owned(), files)
            }
            Make::Long => Act::Long(Some(path.unwrap_or_else(|| "long_module.py".into())), slots.number?),
            Make::ShowLong => Act::Long(None, slots.number?),
            Make::Abilities => Act::Say(history::abilities(self.world, false)),
            Make::More => Act::Say(history::abilities(self.world, true)),
            Make::Skills => Act::Say(history::skills(self.world)),
            Make::LoadSkill | Make::Remember => return None,
            Make::WriteSkill => {
                let name = tokens(&slots.rest).into_iter().find(|token| token.shape == Shape::Word && !token.is("that called named which"))?.low;
                let content = format!("---\nname: {name}\ndescription: {}\n---\n{quoted}\n", quoted.lines().next().unwrap_or_default());
                Act::Create(format!("skills/{name}/SKILL.md"), Content::Given(content))
            }
            Make::Recall => Act::Recall(clause.text().to_owned()),
            Make::FirstRequest => Act::FirstRequest,
            Make::Requests => Act::Requests,
            Make::WhatDidYouDo => Act::WhatDidYouDo,
            Make::Board => Act::Board(false),
            Make::Unblocked => Act::Board(true),
            Make::ShowTask => Act::ShowTask(slots.rest.clone()),
            Make::Claim => Act::Claim(slots.rest.clone()),
            Make::Complete => Act::Complete(slots.rest.clone()),
            Make::WorkBoard => Act::WorkBoard,
            Make::CancelCron => Act::CancelCron(slots.rest.clone()),
            Make::Inbox => Act::Inbox,
            Make::Leave => Act::Leave(self.named_or_hired(slots, clause)?),
            Make::AskPlan => {
                self.gate = self.gate || clause.says("before first");
                let names = self.named_or_hired(slots, clause)?;
                Act::AskPlan(names, (!slots.rest.is_empty()).then(|| slots.rest.clone()))
            }
            Make::OwnPlan => Act::OwnPlan(clause.text().to_owned()),
            Make::Approve => Act::Answer(self.answered(slots), true, "Go ahead as planned.".into()),
            Make::Reject => Act::Answer(self.answered(slots), false, if quoted.is_empty() { "Change nothing.".into() } else { quoted }),
            Make::Report => Act::Report(self.those(&slots.names)),
            Make::WaitForThem => {
                if self.hired.is_empty() && self.people.is_empty() {
                    return None;
                }
                Act::Say(String::new())
            }
            Make::Worktrees => Act::Worktrees,
            Make::Worktree => {
                let key = clause.tokens.iter().find(|token| token.shape == Shape::Key).map(|token| token.text.clone());
                Act::Worktree(one_word(&slots.rest)?, key)
            }
            Make::RemoveTree => Act::Tool(Can::RemoveTree, json!({"name": one_word(&slots.rest)?})),
            Make::DiscardTree => Act::Tool(Can::RemoveTree, json!({"name": one_word(&slots.rest)?, "discard_changes": true})),
            Make::KeepTree => Act::Tool(Can::KeepTree, json!({"name": one_word(&slots.rest)?})),
            Make::Tools => Act::Tools,
        })
    }

    fn named_or_hired(&self, slots: &Slots, clause: &Clause) -> Option<Vec<String>> {
        if clause.says("both all them they each everybody everyone") && slots.names.is_empty() {
            let all = if self.hired.len() > 1 { &self.hired } else { &self.people };
            return (!all.is_empty()).then(|| all.clone());
        }
        let those = self.those(&slots.names);
        (!those.is_empty()).then_some(those)
    }

    /// Whose plans are answered: those that are named, or asked in this request; else whoever sent one.
    fn answered(&self, slots: &Slots) -> Vec<String> {
        if !slots.names.is_empty() {
            return slots.names.clone();
        }
        self.steps.iter().flat_map(|step| if let Act::AskPlan(names, _) = &step.act { names.clone() } else { Vec::new() }).collect()
    }
}

/// A word for the shell.
pub fn shell(word: &str) -> String {
    let is_plain = !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./*@:+,".contains(&b)) && !word.starts_with('-');
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn filled(template: &str, slots: &Slots) -> String {
    let path = |at: usize| slots.paths.get(at).map(|path| shell(path)).unwrap_or_default();
    let all: Vec<String> = slots.paths.iter().map(|path| shell(path)).collect();
    template
        .replace("{paths}", &all.join(" "))
        .replace("{path}", path(0).trim_end_matches('/'))
        .replace("{from}", &path(0))
        .replace("{to}", &path(1))
        .replace("{dir}", &slots.dir.as_deref().map(shell).unwrap_or_default())
        .replace("{quoted}", &slots.quoted.first().map(|text| format!("'{}'", text.replace('\'', r"'\''"))).unwrap_or_default())
}

/// The pattern of a kind of files below a folder.
fn pattern(slots: &Slots) -> String {
    let name = match slots.kind.as_deref() {
        Some(kind) if kind.contains('*') => kind.to_owned(),
        Some(kind) => format!("*.{kind}"),
        None => "*".to_owned(),
    };
    let folder = slots.dir.as_deref().filter(|dir| *dir != ".").map_or(String::new(), |dir| format!("{}/", dir.trim_end_matches('/')));
    if name.contains('/') { name } else { format!("{folder}**/{name}") }
}

/// The word that is left of `the worktree api for review`.
fn one_word(rest: &str) -> Option<String> {
    let known = "worktree for review task and discard changes its bound to it bind with the again called named all a";
    let words: Vec<Token> = tokens(rest).into_iter().filter(|token| matches!(token.shape, Shape::Word | Shape::Quoted | Shape::Code | Shape::Path) && !token.is(known)).collect();
    match words.as_slice() {
        [one] => Some(one.text.clone()),
        _ => None,
    }
}
