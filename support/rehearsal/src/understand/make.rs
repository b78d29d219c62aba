//! Rows become acts.
//!
//! Invariant: every slot that a row has filled is used, or there is no act.

use serde_json::json;

use super::{Planner, Result};
use crate::clause::{Clause, Join};
use crate::create::Content;
use crate::history;
use crate::plan::{Act, Job, Refusal, Step};
use crate::slots::Slots;
use crate::table::{Make, Row};
use crate::tools::Can;
use crate::words::{Shape, Token, tokens};

impl Planner<'_, '_> {
    /// The act of a row, with its slots filled; `None` when the slots make no sense together.
    pub(super) fn make(&mut self, row: &Row, slots: &Slots, clause: &Clause) -> Option<Act> {
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
                let kind = slots
                    .kind
                    .as_deref()
                    .filter(|kind| !kind.contains('*'))
                    .map_or(String::new(), |kind| format!(" --include='*.{kind}'"));
                let place = path.or_else(|| slots.dir.clone()).unwrap_or_else(|| ".".into());
                Act::Shell(format!("grep -rn{kind} -- {} {}", shell(&quoted), shell(&place)), false)
            }
            Make::Framework => Act::Framework,
            Make::Verify => Act::Verify,
            Make::Append => Act::Append(path?, quoted),
            Make::Mend if slots.paths.len() > 1 || path.as_ref().is_some_and(|path| !path.ends_with(".py")) => {
                return None;
            }
            Make::Mend if path.is_none() && !clause.says("refactor refactoring") => return None,
            Make::Mend => Act::Mend(path, crate::python::aspects(clause)),
            Make::Review if slots.kind.as_deref() == Some("py") => {
                Act::Review(slots.dir.clone().unwrap_or_else(|| ".".into()))
            }
            Make::Review | Make::LoadSkill | Make::Remember => return None,
            Make::Package => {
                let (files, folders): (Vec<String>, Vec<String>) =
                    slots.paths.iter().cloned().partition(|path| path.contains('.'));
                let folder = slots.dir.clone().or_else(|| folders.first().cloned())?;
                if files.is_empty() || folders.len() + usize::from(slots.dir.is_some()) > 1 {
                    return None;
                }
                Act::Package(folder.trim_end_matches('/').to_owned(), files)
            }
            Make::Long => Act::Long(Some(path.unwrap_or_else(|| "long_module.py".into())), slots.number?),
            Make::ShowLong => Act::Long(None, slots.number?),
            _ => return self.make_more(row, slots, clause),
        })
    }

    /// The same for rows about itself, tasks, schedules and teammates.
    fn make_more(&mut self, row: &Row, slots: &Slots, clause: &Clause) -> Option<Act> {
        let quoted = slots.quoted.first().cloned().unwrap_or_default();
        Some(match row.make {
            Make::Abilities => Act::Say(history::abilities(self.world, false)),
            Make::More => Act::Say(history::abilities(self.world, true)),
            Make::Skills => Act::Say(history::skills(self.world)),
            Make::WriteSkill => {
                let name = tokens(&slots.rest)
                    .into_iter()
                    .find(|token| token.shape == Shape::Word && !token.is("that called named which"))?
                    .low;
                let content = format!(
                    "---\nname: {name}\ndescription: {}\n---\n{quoted}\n",
                    quoted.lines().next().unwrap_or_default()
                );
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
            Make::Reject if quoted.is_empty() => Act::Answer(self.answered(slots), false, "Change nothing.".into()),
            Make::Reject => Act::Answer(self.answered(slots), false, quoted),
            Make::Report => Act::Report(self.those(&slots.names)),
            Make::WaitForThem if self.people.is_empty() => return None,
            Make::WaitForThem => Act::Say(String::new()),
            Make::Worktrees => Act::Worktrees,
            Make::Worktree => {
                let key = clause.tokens.iter().find(|token| token.shape == Shape::Key).map(|token| token.text.clone());
                Act::Worktree(one_word(&slots.rest)?, key)
            }
            Make::RemoveTree => Act::Tool(Can::RemoveTree, json!({"name": one_word(&slots.rest)?})),
            Make::DiscardTree => {
                Act::Tool(Can::RemoveTree, json!({"name": one_word(&slots.rest)?, "discard_changes": true}))
            }
            Make::KeepTree => Act::Tool(Can::KeepTree, json!({"name": one_word(&slots.rest)?})),
            Make::Tools => Act::Tools,
            _ => return None,
        })
    }

    pub(super) fn named_or_hired(&self, slots: &Slots, clause: &Clause) -> Option<Vec<String>> {
        if clause.says("both all them they each everybody everyone") && slots.names.is_empty() {
            let all = if self.hired.len() > 1 { &self.hired } else { &self.people };
            return (!all.is_empty()).then(|| all.clone());
        }
        let those = self.those(&slots.names);
        (!those.is_empty()).then_some(those)
    }

    /// Whose plans are answered: those that are named, or asked in this request; else whoever sent one.
    pub(super) fn answered(&self, slots: &Slots) -> Vec<String> {
        if !slots.names.is_empty() {
            return slots.names.clone();
        }
        self.steps
            .iter()
            .flat_map(|step| if let Act::AskPlan(names, _) = &step.act { names.clone() } else { Vec::new() })
            .collect()
    }

    /// What the steps mean for each other.
    pub(super) fn finish(&mut self) -> Result<()> {
        if let Some(words) = &self.only_looks {
            if self.steps.iter().any(|step| !step.act.only_looks()) {
                return Err(Refusal {
                    why: format!("“{words}” and the rest of the request do not go together for me, so I did nothing"),
                    offers: vec!["what can you do?".into()],
                });
            }
            if self.steps.is_empty() {
                self.push(Act::Say("All right: I did nothing.".to_owned()), Join::Then);
            }
        }
        let has_tasks = self.steps.iter().any(|step| matches!(step.act, Act::Tasks(_)));
        let planned: Vec<String> = self
            .steps
            .iter()
            .flat_map(|step| if let Act::AskPlan(names, _) = &step.act { names.clone() } else { Vec::new() })
            .collect();
        self.steps = in_order(std::mem::take(&mut self.steps));
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

/// Who is to write to somebody is hired after that one.
fn in_order(steps: Vec<Step>) -> Vec<Step> {
    let hired = |step: &Step| if let Act::Spawn(name, ..) = &step.act { Some(name.clone()) } else { None };
    let names: Vec<String> = steps.iter().filter_map(hired).collect();
    let writes = |step: &Step| {
        matches!(&step.act, Act::Spawn(name, _, Job::Text(job), _)
        if tokens(job).iter().any(|token| token.low != *name && names.contains(&token.low)))
    };
    let (last, mut first): (Vec<Step>, Vec<Step>) = steps.into_iter().partition(writes);
    let at = first.iter().rposition(|step| hired(step).is_some()).map_or(first.len(), |at| at + 1);
    let last = last.into_iter().map(|step| Step { join: Join::Then, ..step });
    first.splice(at..at, last);
    first
}

/// A word for the shell.
pub(crate) fn shell(word: &str) -> String {
    let is_plain = !word.is_empty()
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./*@:+,".contains(&b))
        && !word.starts_with('-');
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

pub(crate) fn filled(template: &str, slots: &Slots) -> String {
    let path = |at: usize| slots.paths.get(at).map(|path| shell(path)).unwrap_or_default();
    let all: Vec<String> = slots.paths.iter().map(|path| shell(path)).collect();
    template
        .replace("{paths}", &all.join(" "))
        .replace("{path}", path(0).trim_end_matches('/'))
        .replace("{from}", &path(0))
        .replace("{to}", &path(1))
        .replace("{dir}", &slots.dir.as_deref().map(shell).unwrap_or_default())
        .replace(
            "{quoted}",
            &slots.quoted.first().map(|text| format!("'{}'", text.replace('\'', r"'\''"))).unwrap_or_default(),
        )
}

/// The pattern of a kind of files below a folder.
pub(crate) fn pattern(slots: &Slots) -> String {
    let name = match slots.kind.as_deref() {
        Some(kind) if kind.contains('*') => kind.to_owned(),
        Some(kind) => format!("*.{kind}"),
        None => "*".to_owned(),
    };
    let folder = slots
        .dir
        .as_deref()
        .filter(|dir| *dir != ".")
        .map_or(String::new(), |dir| format!("{}/", dir.trim_end_matches('/')));
    if name.contains('/') { name } else { format!("{folder}**/{name}") }
}

/// The word that is left of `the worktree api for review`.
pub(crate) fn one_word(rest: &str) -> Option<String> {
    let known = "worktree for review task and discard changes its bound to it bind with the again called named all a";
    let words: Vec<Token> = tokens(rest)
        .into_iter()
        .filter(|token| {
            matches!(token.shape, Shape::Word | Shape::Quoted | Shape::Code | Shape::Path) && !token.is(known)
        })
        .collect();
    match words.as_slice() {
        [one] => Some(one.text.clone()),
        _ => None,
    }
}
