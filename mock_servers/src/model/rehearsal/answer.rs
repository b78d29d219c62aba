//! The words of a reply: what is announced before a call, and what is told at the end.
//!
//! Invariant: an answer says only what the results say. A failure is told as one, with its reason, and so is a request
//! that was not understood.

use std::fmt::Write;

use super::gist;
use super::intents::SECTIONS;
use super::phrases::{
    alternatives, brief, fenced, first_line, lines, list, listed, matches, reason, view,
};
use super::progress::{Deed, Outcome};
use super::slots::render;
use super::steps::{Objects, Plan, Step};
use super::table::Intent;
use super::turn::Turn;
use super::verdict::Verdict;
use crate::model::Tool;

/// The most parts of a request that are quoted as not understood.
const MAX_UNKNOWN: usize = 3;

/// Says what is going to be done.
pub fn announce<'s>(steps: impl Iterator<Item = &'s Step>) -> String {
    let mut doing: Vec<String> = steps.map(doing).collect();
    doing.dedup();
    format!("I will {}.", listed(&doing))
}

/// The final answer.
pub fn tell(plan: &Plan, outcomes: &[Outcome], turn: &Turn, tools: &[Tool]) -> String {
    let teller = Teller {
        plan,
        outcomes,
        turn,
        tools,
    };
    let retold = plan
        .steps
        .iter()
        .rposition(|step| step.intent.retells)
        .unwrap_or(0);
    let mut parts: Vec<String> = Vec::new();
    for (index, (step, outcome)) in plan.steps.iter().zip(outcomes).enumerate() {
        let repeated = index < retold && !step.intent.changes && !step.intent.retells;
        if !(outcome.is_fine() && (repeated || step.unasked)) {
            parts.extend(teller.step(index, step, outcome));
        }
    }
    for unknown in plan.unknown.iter().take(MAX_UNKNOWN) {
        parts.push(format!(
            "I did not understand “{}”, so I left it out.",
            gist::first_sentence(unknown)
        ));
    }
    if let Some(more) = plan
        .unknown
        .len()
        .checked_sub(MAX_UNKNOWN)
        .filter(|more| *more > 0)
    {
        parts.push(format!("I left out {more} more of your sentences."));
    }
    parts.retain(|part| !part.trim().is_empty());
    if parts.is_empty() {
        "Done.".to_owned()
    } else {
        parts.join("\n")
    }
}

/// Says what can be rehearsed with these tools.
pub fn abilities(lead: &str, tools: &[Tool]) -> String {
    let on_offer = |name: &str| tools.iter().any(|tool| tool.name == name);
    let can = |intent: &&Intent| {
        !intent.says.is_empty() && intent.by.iter().any(|way| on_offer(way.tool))
    };
    let mut text = String::new();
    for section in SECTIONS {
        let names: Vec<&str> = section
            .rows
            .iter()
            .filter(can)
            .map(|intent| intent.name)
            .collect();
        if !names.is_empty() {
            let _ = write!(text, "\n- {}: {}", section.about, names.join(", "));
        }
    }
    match text.is_empty() {
        true => format!("{lead} I was given no tool that I know how to use, so I can only talk."),
        false => format!("{lead} With the tools I was given I can rehearse this:{text}"),
    }
}

/// What a step does, as a phrase.
fn doing(step: &Step) -> String {
    let named = match &step.objects {
        Objects::Named(paths) => Some(listed(paths)),
        Objects::None | Objects::Found(_) | Objects::Unclear => None,
    };
    step.slots.render(step.intent.doing, named.as_deref())
}

struct Teller<'p, 'a> {
    plan: &'p Plan,
    outcomes: &'p [Outcome<'a>],
    turn: &'p Turn<'a>,
    tools: &'p [Tool],
}

impl Teller<'_, '_> {
    fn step(&self, index: usize, step: &Step, outcome: &Outcome) -> Vec<String> {
        match outcome {
            Outcome::Done(deeds) if deeds.is_empty() => {
                vec!["There is nothing to work on.".to_owned()]
            }
            Outcome::Done(deeds) => deeds
                .iter()
                .map(|deed| self.deed(index, step, deed))
                .collect(),
            Outcome::Known => vec![self.told(index, step, None)],
            Outcome::NoTool => {
                let tools: Vec<&str> = step.intent.by.iter().map(|way| way.tool).collect();
                vec![format!(
                    "I cannot {} here: that takes {}, and I was not given it.",
                    doing(step),
                    tools.join(" or ")
                )]
            }
            Outcome::Unclear => vec![format!(
                "Which file do you mean? I need its name to {}.",
                step.intent.name
            )],
            Outcome::Skipped => vec![format!("So I did not {}.", doing(step))],
        }
    }

    fn deed(&self, index: usize, step: &Step, deed: &Deed) -> String {
        let path = deed.path.as_deref();
        let doing = step.slots.render(step.intent.doing, path);
        let named = path.unwrap_or("it");
        let reason = reason(deed.content);
        match (deed.verdict, &deed.similar[..]) {
            (Verdict::Fine, [only]) => {
                let taken = Deed {
                    path: Some(only.to_string()),
                    ..deed.clone()
                };
                format!(
                    "There is no {named}, so I took {only}.\n{}",
                    self.told(index, step, Some(&taken))
                )
            }
            (Verdict::Fine, _) => self.told(index, step, Some(deed)),
            (Verdict::Denied, _) => {
                format!("I did not {doing}: {reason} I did not try another way.")
            }
            (Verdict::Missing, [_, _, ..]) => format!(
                "There is no {named}. Did you mean {}?",
                alternatives(&deed.similar)
            ),
            (Verdict::Missing, _) => format!("I could not {doing}: {reason}"),
            (Verdict::BadArgument, _) => {
                format!("I could not {doing}: my arguments were not accepted. {reason}")
            }
            (Verdict::Failed, _) => match gist::exit_code(deed.content) {
                Some(code) => format!(
                    "I could not {doing}: exit code {code}{}",
                    fenced(gist::body(deed.content))
                ),
                None => format!("I could not {doing}: {reason}"),
            },
        }
    }

    /// The row's sentence, filled from the result.
    fn told(&self, index: usize, step: &Step, deed: Option<&Deed>) -> String {
        let path = deed.and_then(|deed| deed.path.as_deref());
        let content = deed.map_or("", |deed| deed.content);
        let is_empty = gist::body(content).is_empty() && !step.intent.told_empty.is_empty();
        let template = if is_empty {
            step.intent.told_empty
        } else {
            step.intent.told
        };
        render(template, |slot| {
            Some(match slot {
                "first" => first_line(content).to_owned(),
                "printed" => fenced(gist::body(content))
                    .trim_start_matches([':', ' ', '\n'])
                    .to_owned(),
                "view" if self.reads_several() => brief(path.unwrap_or("It"), content),
                "view" => view(path.unwrap_or("It"), content),
                "gist" => gist::gist(path.unwrap_or(""), content),
                "gists" => self.gists(index),
                "list" => list(step.slots.get("label").unwrap_or("files"), content),
                "matches" => matches(step.slots.get("what").unwrap_or("it"), content),
                "lines" => lines(deed.map_or("", |deed| deed.tool), content),
                "history" => self
                    .turn
                    .answer_before()
                    .unwrap_or("I have not done anything yet.")
                    .to_owned(),
                "previous" => self.previous(index),
                "tools" => listed(
                    &self
                        .tools
                        .iter()
                        .map(|tool| tool.name.clone())
                        .collect::<Vec<_>>(),
                ),
                slot => step.slots.render(&format!("{{{slot}}}"), path),
            })
        })
    }

    /// What was read up to a step.
    fn read(&self, index: usize) -> Vec<&Deed<'_>> {
        let steps = self.plan.steps.iter().zip(&self.outcomes[..index]);
        let deeds = steps
            .filter(|(step, _)| !step.intent.changes)
            .flat_map(|(_, outcome)| outcome.deeds());
        deeds
            .filter(|deed| deed.verdict == Verdict::Fine && deed.path.is_some())
            .collect()
    }

    fn reads_several(&self) -> bool {
        self.read(self.outcomes.len()).len() > 1
    }

    /// What the files read so far are about.
    fn gists(&self, index: usize) -> String {
        let read = self.read(index);
        let gists = read.iter().map(|deed| {
            let path = deed.path.as_deref().unwrap_or("");
            let gist = gist::gist(path, deed.content);
            if read.len() == 1 {
                gist
            } else {
                format!("{path}: {gist}")
            }
        });
        gists.collect::<Vec<_>>().join("\n")
    }

    /// The last output before this request; nothing when this request has an output of its own.
    fn previous(&self, index: usize) -> String {
        if index > 0 {
            return String::new();
        }
        match self.turn.calls_before().last() {
            Some(past) => view("The last result", past.content),
            None => "There is no result yet.".to_owned(),
        }
    }
}
