//! The words of a reply: what is announced before a call, and what is told at the end.
//!
//! Invariant: an answer says only what the results say. A failure is told as one, with its reason, and so is a request
//! that was not understood.

use std::fmt::Write;

use super::gist;
use super::intents::SECTIONS;
use super::progress::{Deed, Outcome, Verdict};
use super::slots::render;
use super::steps::{Plan, Step};
use super::table::Intent;
use super::turn::Turn;
use crate::model::Tool;

/// The longest output that is repeated in an answer, in lines.
const MAX_LINES: usize = 20;

/// The longest file that is shown whole, in lines.
const SHOWN_WHOLE: usize = 12;

/// Says what is going to be done.
pub fn announce<'s>(
    steps: impl Iterator<Item = &'s Step>,
    paths: impl Fn(&Step) -> Option<String>,
) -> String {
    let mut doing: Vec<String> = steps
        .map(|step| step.slots.render(step.intent.doing, paths(step).as_deref()))
        .collect();
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
        let repeated =
            index < retold && !step.intent.changes && outcome.is_fine() && !step.intent.retells;
        if !repeated {
            parts.extend(teller.step(index, step, outcome));
        }
    }
    for unknown in &plan.unknown {
        parts.push(format!(
            "I did not understand “{}”, so I left it out.",
            gist::first_sentence(unknown)
        ));
    }
    parts.retain(|part| !part.trim().is_empty());
    if parts.is_empty() {
        "Done.".to_owned()
    } else {
        parts.join("\n")
    }
}

/// Says honestly that a request is out of range, and what is within it.
pub fn abilities(lead: &str, tools: &[Tool]) -> String {
    let offered = |intent: &&Intent| {
        intent
            .by
            .iter()
            .any(|way| tools.iter().any(|tool| tool.name == way.tool))
    };
    let mut text = String::new();
    for section in SECTIONS {
        let rows = section
            .rows
            .iter()
            .filter(offered)
            .filter(|intent| !intent.says.is_empty());
        let names: Vec<&str> = rows.map(|intent| intent.name).collect();
        if !names.is_empty() {
            let _ = write!(text, "\n- {}: {}", section.about, names.join(", "));
        }
    }
    match text.is_empty() {
        true => format!("{lead} I was given no tool that I know how to use, so I can only talk."),
        false => format!("{lead} With the tools I was given I can rehearse this:{text}"),
    }
}

struct Teller<'p, 'a> {
    plan: &'p Plan,
    outcomes: &'p [Outcome<'a>],
    turn: &'p Turn<'a>,
    tools: &'p [Tool],
}

impl Teller<'_, '_> {
    fn step(&self, index: usize, step: &Step, outcome: &Outcome) -> Vec<String> {
        let doing = |path: Option<&str>| step.slots.render(step.intent.doing, path);
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
                let needed: Vec<String> = step
                    .intent
                    .by
                    .iter()
                    .map(|way| way.tool.to_owned())
                    .collect();
                vec![format!(
                    "I cannot {} here: that takes {}, and I was not given it.",
                    doing(None),
                    needed.join(" or ")
                )]
            }
            Outcome::Unclear => vec![format!(
                "Which file do you mean? I cannot {} without its name.",
                step.intent.name
            )],
            Outcome::Skipped => vec![format!(
                "So I did not {}.",
                doing(paths_of(step).as_deref())
            )],
        }
    }

    fn deed(&self, index: usize, step: &Step, deed: &Deed) -> String {
        let path = deed.path.as_deref();
        let doing = step.slots.render(step.intent.doing, path);
        let reason = reason(deed.content);
        let named = path.unwrap_or("it");
        let similar = &deed.similar[..];
        match (deed.verdict, similar) {
            (Verdict::Fine, [only]) => format!(
                "There is no {named}, so I took {only}.\n{}",
                self.told(
                    index,
                    step,
                    Some(&Deed {
                        path: Some(only.to_string()),
                        ..deed.clone()
                    })
                )
            ),
            (Verdict::Fine, _) => self.told(index, step, Some(deed)),
            (Verdict::Denied, _) => {
                format!("I did not {doing}: {reason} I did not try another way.")
            }
            (Verdict::Missing, [_, _, ..]) => format!(
                "There is no {named}. Did you mean {}?",
                alternatives(similar)
            ),
            (Verdict::Missing, _) => format!("I could not {doing}: {reason}"),
            (Verdict::BadArgument, _) => {
                format!("I could not {doing}: the tool did not accept my arguments. {reason}")
            }
            (Verdict::Failed, _) => match gist::exit_code(deed.content) {
                Some(code) => format!(
                    "I could not {doing}: exit code {code}{}",
                    block(gist::body(deed.content))
                ),
                None => format!("I could not {doing}: {reason}"),
            },
        }
    }

    fn told(&self, index: usize, step: &Step, deed: Option<&Deed>) -> String {
        let path = deed.and_then(|deed| deed.path.as_deref());
        let content = deed.map_or("", |deed| deed.content);
        render(step.intent.told, |slot| {
            Some(match slot {
                "first" => first_line(content),
                "printed" => self.printed(step, path, content),
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
                "tools" => format!(
                    "I was given {}.",
                    listed(
                        &self
                            .tools
                            .iter()
                            .map(|tool| tool.name.clone())
                            .collect::<Vec<_>>()
                    )
                ),
                _ => step.slots.render(&format!("{{{slot}}}"), path),
            })
        })
    }

    fn reads_several(&self) -> bool {
        let read = self
            .outcomes
            .iter()
            .zip(&self.plan.steps)
            .filter(|(_, step)| step.intent.told == "{view}");
        let deeds = read.map(|(outcome, _)| match outcome {
            Outcome::Done(deeds) => deeds.len(),
            Outcome::Known | Outcome::NoTool | Outcome::Unclear | Outcome::Skipped => 0,
        });
        deeds.sum::<usize>() > 1
    }

    fn printed(&self, step: &Step, path: Option<&str>, content: &str) -> String {
        let doing = step.slots.render(step.intent.doing, path);
        match gist::body(content) {
            "" => format!("I did {doing}; it printed nothing.").replacen("did run", "ran", 1),
            text if !text.contains('\n') => text.to_owned(),
            text => block(text).trim_start_matches(":\n").to_owned(),
        }
    }

    /// What the files read so far are about.
    fn gists(&self, index: usize) -> String {
        let deeds = self.outcomes[..index]
            .iter()
            .zip(&self.plan.steps)
            .flat_map(|(outcome, step)| match outcome {
                Outcome::Done(deeds) if !step.intent.changes => &deeds[..],
                _ => &[],
            });
        let read: Vec<&Deed> = deeds.filter(|deed| deed.verdict == Verdict::Fine).collect();
        let gists = read.iter().map(|deed| {
            let path = deed.path.as_deref().unwrap_or("");
            match read.len() {
                1 => gist::gist(path, deed.content),
                _ => format!("{path}: {}", gist::gist(path, deed.content)),
            }
        });
        gists.collect::<Vec<_>>().join("\n")
    }

    /// The last output before this request, unless this request has produced one of its own.
    fn previous(&self, index: usize) -> String {
        if index > 0 {
            return String::new();
        }
        match self.turn.calls_before().last() {
            Some(past) => view("The last result", past.content),
            None => "There is no result yet to show.".to_owned(),
        }
    }
}

/// What a step is done to, for a sentence.
pub fn paths_of(step: &Step) -> Option<String> {
    match &step.objects {
        super::steps::Objects::Named(paths) => Some(listed(paths)),
        super::steps::Objects::None
        | super::steps::Objects::Found(_)
        | super::steps::Objects::Unclear => None,
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(items: &[String]) -> String {
    joined(items, "and")
}

fn alternatives(items: &[&str]) -> String {
    joined(
        &items
            .iter()
            .take(5)
            .map(|item| item.to_string())
            .collect::<Vec<_>>(),
        "or",
    )
}

fn joined(items: &[String], word: &str) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., last] => format!("{} {word} {last}", most.join(", ")),
    }
}

/// The first line of a failed result as a sentence.
fn reason(content: &str) -> String {
    let text = gist::body(content);
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("no reason was given");
    let line: String = line.chars().take(240).collect();
    if line.ends_with(['.', '!', '?']) {
        line
    } else {
        format!("{line}.")
    }
}

fn first_line(content: &str) -> String {
    match gist::body(content).lines().next() {
        Some(line) if !line.trim().is_empty() => line.trim().to_owned(),
        _ => "not known: the command printed nothing".to_owned(),
    }
}

/// `:` and the text in a code fence, or nothing.
fn block(text: &str) -> String {
    if text.is_empty() {
        ".".to_owned()
    } else {
        format!(":\n```\n{}\n```", gist::excerpt(text, MAX_LINES))
    }
}

fn view(path: &str, content: &str) -> String {
    let text = gist::unnumbered(gist::body(content));
    match text.lines().count() {
        0 => format!("{path} is empty."),
        1..=SHOWN_WHOLE => format!("{path}{}", block(&text)),
        _ => brief(path, content),
    }
}

fn brief(path: &str, content: &str) -> String {
    let text = gist::body(content);
    let lines = text.lines().count();
    format!(
        "{path} ({lines} {}): {}",
        gist::plural(lines, "line"),
        gist::gist(path, text)
    )
}

fn list(label: &str, content: &str) -> String {
    let entries: Vec<String> = gist::entries(content).map(str::to_owned).collect();
    match entries.len() {
        0 => format!("no {label}"),
        1 => format!("1 {}: {}", gist::singular(label), entries[0]),
        count if count <= MAX_LINES => format!("{count} {label}: {}", entries.join(", ")),
        count => format!(
            "{count} {label}: {}, … ({} more)",
            entries[..MAX_LINES].join(", "),
            count - MAX_LINES
        ),
    }
}

fn matches(what: &str, content: &str) -> String {
    match gist::entries(content).count() {
        0 => format!("I found no match for `{what}`."),
        count => format!(
            "I found {count} {} for `{what}`{}",
            gist::plural(count, "match").replace("matchs", "matches"),
            block(gist::body(content))
        ),
    }
}

fn lines(tool: &str, content: &str) -> String {
    let count = match tool {
        "bash" => gist::body(content)
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok())
            .unwrap_or(0),
        _ => content.lines().count(),
    };
    format!("{count} {}", gist::plural(count, "line"))
}
