//! Frames: a command, a time, a subagent.
//!
//! A frame takes words that no row could hold: a command line, a whole order for somebody else or for later. Invariant: such
//! an order is understood first, and refused when it is not.

use super::{Planner, Result};
use crate::clause::Clause;
use crate::pattern::{self, PLAIN};
use crate::plan::{Act, Refusal};
use crate::rank;
use crate::speak::sentence;
use crate::tools::Can;
use crate::when;
use crate::words::{Shape, has, number, set};

pub(super) fn begins_with_program(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    has(set("programs"), first)
        || first.contains(['/', '='])
        || !first.bytes().all(|b| b.is_ascii_alphabetic())
}

impl Planner<'_, '_> {
    /// `run X`, `run X in the background`, ``while `X` runs in the background``.
    pub(super) fn command(&self, clause: &Clause) -> Option<Act> {
        let found =
            pattern::find("command", clause, PLAIN).filter(|_| self.world.can(Can::Bash))?;
        let command = found.text("command");
        let is_quoted = matches!(found.tokens("command"), [one] if matches!(one.shape, Shape::Code | Shape::Quoted));
        let is_program =
            command.starts_with("./") || has(set("programs"), command.split(' ').next()?);
        (is_quoted || is_program)
            .then(|| Act::Shell(command.to_owned(), found.label == "background"))
    }

    /// `every two minutes`, `in an hour`, `remind me`.
    pub(super) fn schedule(&mut self, clause: &Clause, rest: &Clause) -> Result<Option<bool>> {
        let first = clause.tokens.first();
        let is_ordered = first.is_some_and(|first| first.is("schedule remind"));
        let is_set = first.is_some_and(|first| first.is("set create make add"))
            && clause.tokens.iter().take(6).any(|token| token.is("reminder recurring"));
        let own = when::find(clause);
        // `what is on tomorrow?` asks.
        if clause.is_question() && own.as_ref().is_some_and(|found| found.from > 0) && !is_ordered {
            return Ok(None);
        }
        let takes_rest = is_ordered || is_set || own.is_some_and(|found| found.from == 0);
        let whole = if takes_rest { rest } else { clause };
        let Some(found) = when::find(whole) else {
            if !is_ordered {
                return Ok(None);
            }
            let why = format!(
                "“{}” says no time that I understand, so I scheduled nothing",
                clause.text()
            );
            return Err(Refusal::new(why, &set("times").split(" | ").collect::<Vec<_>>()));
        };
        if !self.world.can(Can::Schedule) {
            let why =
                format!("I have no tool here that schedules “{}”, so I did nothing", whole.text());
            return Err(self.no(why, whole));
        }
        let durable =
            whole.tokens.iter().any(|token| token.is("durable durably permanently permanent"));
        let prompt = scheduled_prompt(whole, &found);
        // A second time in it would be lost.
        let again = Clause::of(&prompt);
        if prompt.is_empty() || when::find(&again).is_some() {
            return Err(self.refuse(whole.text(), clause));
        }
        if !prompt.to_lowercase().starts_with("remind me") {
            self.check(&prompt)?;
        }
        self.push(Act::Schedule(found.when, prompt, durable), clause.join);
        Ok(Some(takes_rest))
    }
}

/// The jobs that are handed to subagents.
pub(super) fn delegated(clause: &Clause) -> Option<Vec<String>> {
    let found = pattern::find("delegate", clause, PLAIN)?;
    let job = found.text("job");
    if found.label == "one" {
        let job = sentence(&ordered(job));
        return (!matches!(job.as_str(), "This." | "It." | "The work.")).then(|| vec![job]);
    }
    let jobs = each_job(job);
    let count = found.tokens("count").first().and_then(|token| number(&token.low)).unwrap_or(1);
    (!jobs.is_empty() && (count == 1 || count as usize == jobs.len())).then_some(jobs)
}

/// `one reads a, the other lists b`, `read a and another subagent to list b`: a job for each.
fn each_job(text: &str) -> Vec<String> {
    const JOINTS: [&str; 7] = [
        " and the other ",
        ", the other ",
        "; the other ",
        " and another ",
        ", another ",
        ", and one ",
        ", one ",
    ];
    let text = JOINTS.iter().fold(text.to_owned(), |text, joint| text.replace(joint, "\u{1}"));
    let job = |part: &str| {
        let part = part.trim().trim_end_matches(['.', ',']);
        let part = part.strip_prefix("one ").unwrap_or(part);
        let named = part
            .split_once(" to ")
            .filter(|(who, _)| has("subagent sub-agent subtask task one", who));
        let part = named.map_or(part, |(_, rest)| rest);
        sentence(&ordered(part.trim_start_matches("to ").trim_start_matches("should ")))
    };
    text.split('\u{1}').map(job).filter(|job| !job.is_empty()).collect()
}

/// `reads a` and `reading a` as an order: `read a`.
fn ordered(words: &str) -> String {
    let Some((verb, rest)) = words.split_once(' ') else { return words.to_owned() };
    let low = verb.to_lowercase();
    let cut = low.strip_suffix("ing").or(low.strip_suffix('s')).unwrap_or(&low);
    let verb = [cut.to_owned(), format!("{cut}e")].into_iter().find(|word| rank::is_verb(word));
    format!("{} {rest}", verb.unwrap_or(low))
}

/// The prompt of a schedule: the clause without its time and the words that only say that it is scheduled.
fn scheduled_prompt(clause: &Clause, time: &when::Found) -> String {
    let (before, behind) =
        (clause.between(0, time.from), clause.between(time.to, clause.tokens.len()));
    let rest = Clause::of(&format!("{} {behind}", before.trim_end_matches([',', ' '])));
    let Some(found) = pattern::find("prompt", &rest, PLAIN) else { return String::new() };
    match (found.label, found.text("what")) {
        ("remind", what) => format!("Remind me to {what}"),
        ("of", what) => format!("Remind me of {what}"),
        (_, what) => what.to_owned(),
    }
}
