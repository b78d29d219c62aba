//! Frames: who is told what, at what time, in the background, by which subagent.
//!
//! A frame takes words that no row could hold: a whole order for somebody else. Invariant: such an order is understood first, and
//! refused when it is not.

use serde_json::json;

use super::{Planner, Result};
use crate::clause::{Clause, is_filler};
use crate::people::{self, sentence};
use crate::plan::{Act, Job, Refusal};
use crate::rank;
use crate::tools::Can;
use crate::when;
use crate::words::{Shape, Token, has};

impl Planner<'_, '_> {
    /// `run X`, `run X in the background`, ``while `X` runs in the background``.
    pub(super) fn command(&self, clause: &Clause) -> Option<Act> {
        let tokens = &clause.tokens;
        if !self.world.can(Can::Bash) {
            return None;
        }
        let ground = tokens.iter().position(|token| token.is("background")).filter(|at| *at > 1);
        let in_background = ground.is_some();
        let first = tokens.first()?;
        let is_while = first.is("while let") && in_background;
        let is_bare = tokens.len() == 1 && first.shape == Shape::Code;
        if !first.is("run execute start call kick launch") && !is_while && !is_bare {
            return None;
        }
        let code: Vec<&Token> = tokens.iter().filter(|token| token.shape == Shape::Code).collect();
        let known = |token: &Token| {
            is_filler(token) || token.is("run runs running execute start call background command while let shell bash meanwhile kick launch off job")
        };
        if let [command] = code.as_slice() {
            let others = tokens.iter().all(|token| token.shape == Shape::Code || known(token));
            return others.then(|| Act::Shell(command.text.clone(), in_background));
        }
        let from = (1..tokens.len()).find(|at| !tokens[*at].is("the command :"))?;
        let to = ground.map_or(tokens.len(), |at| (from..at).rev().find(|at| tokens[*at].is("in as")).unwrap_or(at));
        // `while X is running in the background`
        let to = if is_while { (from..to).find(|at| tokens[*at].is("is runs running")).unwrap_or(to) } else { to };
        let rest_is_known = ground.is_none_or(|at| tokens[at + 1..].iter().all(known));
        let program = tokens.get(from).filter(|token| {
            has(PROGRAMS, &token.low) || token.text.starts_with("./") || token.shape == Shape::Quoted
        })?;
        let command =
            if program.shape == Shape::Quoted { program.text.clone() } else { clause.between(from, to).to_owned() };
        (rest_is_known && !command.is_empty()).then_some(Act::Shell(command, in_background))
    }

    /// A tool called by its name: `call list_crons`.
    pub(super) fn named_tool(&self, clause: &Clause) -> Option<Act> {
        let tokens = &clause.tokens;
        if !tokens.first()?.is("call use invoke run") {
            return None;
        }
        let named = tokens.iter().position(|token| self.world.tools.named(&token.text).is_some())?;
        let input = match clause.between(named + 1, tokens.len()).find('{') {
            Some(at) => serde_json::from_str(&clause.between(named + 1, tokens.len())[at..]).ok()?,
            None => {
                let is_known =
                    |token: &Token| is_filler(token) || token.is("call use invoke run tool without arguments");
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

    pub(super) fn hire(&mut self, hiring: people::Hiring, clause: &Clause) -> Result<()> {
        if let Some(word) = hiring.left.first() {
            return Err(self.refuse(word, clause));
        }
        if hiring.names.is_empty() {
            return Err(Refusal {
                why: format!("“{}” names nobody, so I hired nobody", clause.text()),
                offers: vec![format!("spawn alice as a {}", hiring.role), "spawn alice and bob".to_owned()],
            });
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
    pub(super) fn tell(&mut self, telling: &people::Telling, clause: &Clause) -> Result<bool> {
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
        if what.says("plan plans")
            || what.says("leave shutdown home") && self.world.can(Can::Shutdown)
            || what.says("themselves own")
        {
            return Ok(false);
        }
        if telling.is_task {
            // One each, or whatever is free on the board.
            let tasks = self.steps.iter().map(|step| if let Act::Tasks(specs) = &step.act { specs.len() } else { 0 });
            let one_each = clause.says("each") || tasks.sum::<usize>() == names.len();
            return self.assign(&names, if one_each { Job::Assigned } else { Job::Board });
        }
        if telling.is_order {
            self.check(&telling.what)?;
        }
        for name in &names {
            let waiting = self.steps.iter_mut().rev().find_map(|step| match &mut step.act {
                Act::Spawn(hired, _, job, _) if hired == name && !matches!(job, Job::Board | Job::Assigned) => {
                    Some(job)
                }
                _ => None,
            });
            match waiting {
                Some(Job::Text(job)) => job.push_str(&format!(" {}", telling.what)),
                Some(job) => *job = Job::Text(telling.what.clone()),
                None if self.world.can(Can::Send) => {
                    self.push(Act::Message(name.clone(), telling.what.clone()), clause.join)
                }
                None => return Ok(false),
            }
        }
        self.hired = names;
        Ok(true)
    }

    pub(super) fn assign(&mut self, names: &[String], work: Job) -> Result<bool> {
        let mut is_any = false;
        for step in &mut self.steps {
            if let Act::Spawn(name, _, job, _) = &mut step.act
                && names.contains(name)
            {
                *job = work.clone();
                is_any = true;
            }
        }
        Ok(is_any)
    }

    /// The people that names and pronouns mean.
    pub(super) fn those(&self, names: &[String]) -> Vec<String> {
        if !names.is_empty() {
            return names.to_vec();
        }
        if !self.hired.is_empty() {
            return self.hired.clone();
        }
        self.people.last().cloned().into_iter().collect()
    }

    /// `every two minutes`, `in an hour`, `remind me`.
    pub(super) fn schedule(&mut self, clause: &Clause, rest: &Clause) -> Result<Option<bool>> {
        let is_told = clause.tokens.first().is_some_and(|first| first.is("schedule remind"))
            || clause.tokens.iter().take(6).any(|token| token.is("reminder recurring"))
                && clause.tokens[0].is("set create make add");
        let own = when::find(&clause.source, &clause.tokens);
        let at_start = own.as_ref().is_some_and(|found| found.from == 0);
        let whole = if is_told || at_start { rest } else { clause };
        let Some(found) = when::find(&whole.source, &whole.tokens) else {
            if is_told && clause.tokens[0].is("remind schedule") {
                let why = format!("“{}” says no time that I understand, so I scheduled nothing", clause.text());
                return Err(Refusal {
                    why,
                    offers: vec![
                        "remind me in 10 minutes to stretch".into(),
                        "list the files here every 5 minutes".into(),
                        "remind me tomorrow at noon of the meeting".into(),
                    ],
                });
            }
            return Ok(None);
        };
        if !self.world.can(Can::Schedule) {
            return Err(Refusal {
                why: format!("I have no tool here that schedules “{}”, so I did nothing", whole.text()),
                offers: self.offers(&whole.tokens),
            });
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
}

/// Programs that a command may begin with when it stands without backticks.
pub(crate) const PROGRAMS: &str = "cargo git ls echo sleep npm npx node python python3 pip make pwd date cat grep find true false cd \
    mkdir touch rm cp mv head tail wc sort uniq sed awk curl wget docker rustc rustup go java gcc which \
    whoami env ps df du uname printf seq yes diff tar ln chmod pytest uv bash sh exit kill";

pub(crate) fn begins_with_program(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    has(PROGRAMS, first)
        || first.contains('/')
        || first.contains('=')
        || !first.bytes().all(|b| b.is_ascii_alphabetic())
}

/// The jobs that are handed to subagents.
pub(crate) fn delegated(clause: &Clause) -> Option<Vec<String>> {
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
    if !is_use
        || is_plain_task
        || tokens[1..at].iter().any(|token| !is_filler(token) && crate::words::number(&token.low).is_none())
    {
        return None;
    }
    let from = (at + 1..tokens.len()).find(|at| !tokens[*at].is("to : , that and should"))?;
    let jobs = each_job(clause.between(from, tokens.len()));
    (!jobs.is_empty()).then_some(jobs)
}

/// `one reads a, the other lists b`, `read a and another subagent to list b`: a job for each.
fn each_job(text: &str) -> Vec<String> {
    const JOINTS: [&str; 7] =
        [" and the other ", ", the other ", "; the other ", " and another ", ", another ", ", and one ", ", one "];
    let text = JOINTS.iter().fold(text.to_owned(), |text, joint| text.replace(joint, "\u{1}"));
    let job = |part: &str| {
        let part = part.trim().trim_end_matches(['.', ',']);
        let part = part.strip_prefix("one ").unwrap_or(part);
        let named = part.split_once(" to ").filter(|(who, _)| has("subagent sub-agent subtask task one", who));
        let part = named.map_or(part, |(_, rest)| rest);
        sentence(&ordered(part.trim_start_matches("to ").trim_start_matches("should ")))
    };
    text.split('\u{1}').map(job).filter(|job| !job.is_empty()).collect()
}

/// `reads a` and `reading a` as an order: `read a`.
pub(crate) fn ordered(words: &str) -> String {
    let Some((verb, rest)) = words.split_once(' ') else { return words.to_owned() };
    let low = verb.to_lowercase();
    let cut = low.strip_suffix("ing").or(low.strip_suffix('s')).unwrap_or(&low);
    let verb = [cut.to_owned(), format!("{cut}e"), low.clone()]
        .into_iter()
        .find(|word| rank::is_verb(word))
        .unwrap_or(low.clone());
    format!("{verb} {rest}")
}

/// The prompt of a schedule: the clause without its time and the words that only say that it is scheduled.
pub(crate) fn scheduled_prompt(clause: &Clause, found: &when::Found) -> String {
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
    while to < tokens.len()
        && (tokens[to].is(", :")
            || is_frame && tokens[to].is("to for of")
            || before.is_empty() && tokens[to].is("please"))
    {
        to += 1;
    }
    let after = clause.between(to, tokens.len());
    let words = [before.as_str(), after].join(" ");
    let words = words.trim().trim_end_matches(['.', ',', '!']);
    let for_what = tokens.iter().skip(found.to).find(|token| !token.is(",")).is_some_and(|token| token.is("for"))
        || tokens.iter().take(8).any(|token| token.is("of"));
    match (is_reminder, for_what) {
        (true, true) => format!("Remind me of {words}"),
        (true, false) => format!("Remind me to {words}"),
        (false, _) => words.to_owned(),
    }
}
