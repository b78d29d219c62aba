//! The words of the last reply of a turn: what is told at the end.
//!
//! Invariant: an answer says only what the results say. A failure is told as one, with its reason, and so is a request
//! that was not understood.

use super::gist;
use super::left::Left;
use super::phrases::{
    alternatives, brief, defines, fenced, first_line, lines, list, listed, matches, reason, view,
};
use super::progress::{Deed, Ended, MAX_FOUND, Outcome, found};
use super::recall;
use super::servers;
use super::slots::render;
use super::steps::{Objects, Plan, Step};
use super::table::Reading;
use super::team::told;
use super::todos;
use super::turn::Turn;
use super::verdict::Verdict;
use crate::model::Tool;

/// The most lines of a subagent's report that are repeated.
const MAX_REPORT: usize = 80;

/// The most parts of a request that are quoted as not understood.
const MAX_UNKNOWN: usize = 3;

/// Slots whose value is in the result of a call.
const FROM_RESULTS: &[&str] = &[
    "first", "printed", "view", "contents", "gist", "list", "matches", "lines", "defines",
    "reported", "note", "found", "previous", "served",
];

/// The final answer.
pub fn tell(
    plan: &Plan,
    outcomes: &[Outcome],
    ended: Ended,
    turn: &Turn,
    tools: &[Tool],
) -> String {
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
        // Two readings tell each of their own; what sums up all that was read tells both.
        let sums_up = plan.steps[retold].intent.told == "{gists}";
        let repeated = index < retold && !step.intent.changes && (sums_up || !step.intent.retells);
        let silent = step.part && matches!(outcome, Outcome::Skipped)
            || step.unasked && matches!(outcome, Outcome::Done(deeds) if deeds.is_empty());
        if !(silent || outcome.is_fine() && (repeated || step.unasked)) {
            let told = teller.step(index, step, outcome);
            // `I prefer tabs. Remember that.` is noted once.
            let is_new = |part: &String| {
                !matches!(outcome, Outcome::Known | Outcome::Waits(_)) || !parts.contains(part)
            };
            let told: Vec<String> = told.into_iter().filter(is_new).collect();
            parts.extend(told);
        }
    }
    parts.extend(left_out(plan));
    if ended == Ended::Lost {
        parts.push(format!(
            "I stopped after {} rounds: this takes more than I planned.",
            turn.rounds.taken
        ));
    }
    parts.retain(|part| !part.trim().is_empty());
    if parts.is_empty() {
        "Done.".to_owned()
    } else {
        parts.join("\n")
    }
}

/// What came of a plan since a message of the turn, and what it still waits for.
pub fn news(
    plan: &Plan,
    outcomes: &[Outcome],
    from: usize,
    turn: &Turn,
    tools: &[Tool],
) -> Vec<String> {
    let teller = Teller {
        plan,
        outcomes,
        turn,
        tools,
    };
    let mut told = Vec::new();
    for (index, (step, outcome)) in plan.steps.iter().zip(outcomes).enumerate() {
        match outcome {
            Outcome::Done(deeds) => {
                let new: Vec<Deed> = deeds
                    .iter()
                    .filter(|deed| deed.round >= from)
                    .cloned()
                    .collect();
                if !new.is_empty() {
                    told.extend(teller.step(index, step, &Outcome::Done(new)));
                }
            }
            Outcome::Waits(_) => told.extend(teller.step(index, step, outcome)),
            Outcome::Known
            | Outcome::NoTool
            | Outcome::Unclear
            | Outcome::Skipped
            | Outcome::Unserved(_) => {}
        }
    }
    told.dedup();
    told
}

/// What was not understood.
fn left_out(plan: &Plan) -> Vec<String> {
    let mut left = Vec::new();
    for unknown in plan.unknown.iter().take(MAX_UNKNOWN) {
        left.push(format!(
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
        left.push(format!("I left out {more} more of your sentences."));
    }
    left
}

/// What a step does, as a phrase.
pub fn doing(step: &Step) -> String {
    let named = match &step.objects {
        Objects::Named(paths) => Some(listed(paths)),
        Objects::Found(_) => Some("them".to_owned()),
        Objects::None | Objects::Unclear => None,
    };
    step.slots.render(step.intent.doing, named.as_deref())
}

/// Calls of which nothing is left to tell, in one sentence.
fn lost_of(step: &Step, lost: &[&Deed]) -> Option<String> {
    let paths: Vec<String> = lost.iter().filter_map(|deed| deed.path.clone()).collect();
    let gone = "no longer in this conversation";
    match (lost.len(), &paths[..]) {
        (0, _) => None,
        (_, []) => Some(format!(
            "I did {} earlier; what came of it is {gone}.",
            doing(step)
        )),
        (_, [path]) => Some(format!("{path}: done earlier; what came of it is {gone}.")),
        (_, paths) => Some(format!(
            "Done earlier, what came of them is {gone}: {}.",
            listed(paths)
        )),
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
        match outcome {
            Outcome::Done(deeds) if deeds.is_empty() => {
                vec!["There is nothing to work on.".to_owned()]
            }
            Outcome::Done(deeds) => {
                let (lost, known): (Vec<&Deed>, Vec<&Deed>) =
                    deeds.iter().partition(|deed| self.is_lost(step, deed));
                let told = known.iter().map(|deed| self.deed(index, step, deed));
                let told = self.how_many(step, deeds).into_iter().chain(told);
                let told = told.chain(lost_of(step, &lost));
                told.chain(self.left_out(step)).collect()
            }
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
            Outcome::Waits(mail) => vec![format!("I wait for {mail}: that comes by itself.")],
            Outcome::Unserved(why) => vec![why.clone()],
        }
    }

    /// How many files were read, when they were too many to see it at a glance.
    fn how_many(&self, step: &Step, deeds: &[Deed]) -> Option<String> {
        let is_long = matches!(step.objects, Objects::Found(_)) && deeds.len() > 4;
        let read = deeds.iter().filter(|deed| deed.verdict.is_done()).count();
        (is_long && !step.intent.changes).then(|| match deeds.len() {
            all if all == read => format!("I read {all} files:"),
            all => format!("I read {read} of {all} files:"),
        })
    }

    /// How many files of a listing were not worked on.
    fn left_out(&self, step: &Step) -> Option<String> {
        let Objects::Found(on) = &step.objects else {
            return None;
        };
        let listing = &self.outcomes[*on];
        if let [
            Deed {
                left: Left::Preview { path, .. },
                ..
            },
            ..,
        ] = listing.deeds()
        {
            return Some(format!(
                "I took the beginning of a long list; all of it is in {path}."
            ));
        }
        let more = found(listing).count().saturating_sub(MAX_FOUND);
        (more > 0).then(|| format!("I stopped at {MAX_FOUND} files; {more} more are left."))
    }

    /// Whether nothing is left to tell of a call: its result is not there any more, and nobody noted what it said.
    fn is_lost(&self, step: &Step, deed: &Deed) -> bool {
        let retold = |slot: &&str| step.intent.told.contains(&format!("{{{slot}"));
        deed.verdict == Verdict::Gone
            && self.finding(deed).is_none()
            && FROM_RESULTS.iter().any(retold)
    }

    /// What was noted of a call whose result is not there any more.
    fn finding(&self, deed: &Deed) -> Option<String> {
        let path = deed.path.as_deref()?;
        Some(format!("{path}: {}", self.turn.finding(path)?))
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
            (Verdict::Fine, _) => match deed.left {
                Left::Preview { path, chars, .. } => format!(
                    "{}\nIt is long: {chars} characters, kept in {path}.",
                    self.told(index, step, Some(deed))
                ),
                Left::Whole(_) | Left::Nothing => self.told(index, step, Some(deed)),
            },
            // A sentence that repeats nothing of the result is still true.
            (Verdict::Gone, _) => self
                .finding(deed)
                .unwrap_or_else(|| self.told(index, step, Some(deed))),
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
                "said" => step
                    .intent
                    .says_of
                    .map_or_else(String::new, |says| says(content)),
                "first" => first_line(content).to_owned(),
                "printed" => fenced(gist::body(content))
                    .trim_start_matches([':', ' ', '\n'])
                    .to_owned(),
                "view" if deed.is_some_and(|deed| matches!(deed.left, Left::Preview { .. })) => {
                    format!(
                        "{}: {}",
                        path.unwrap_or("It"),
                        gist::gist(path.unwrap_or(""), content)
                    )
                }
                "contents" => format!(
                    "{}{}",
                    path.unwrap_or("It"),
                    fenced(&gist::unnumbered(gist::body(content)))
                ),
                "view" if self.reads_several() => brief(path.unwrap_or("It"), content),
                "view" => view(path.unwrap_or("It"), content),
                "gist" => gist::gist(path.unwrap_or(""), content),
                "gists" => self.gists(index),
                "list" => list(step.slots.get("label").unwrap_or("files"), content),
                "matches" => matches(step.slots.get("what").unwrap_or("it"), content),
                "defines" => defines(path.unwrap_or("it"), content),
                "reported" => self.reported(step, content),
                "lines" => lines(deed.map_or("", |deed| deed.tool.as_ref()), content),
                "note" => deed.map_or(String::new(), |deed| deed.note.clone()),
                "found" => self.parts_say(index, step),
                "todos" => todos::told(self.turn),
                "inbox" => told::inbox(self.turn, deed.map_or(0, |deed| deed.round)),
                "team" if step.intent.by.is_empty() => told::team(self.turn),
                "previous" => self.previous(index),
                "tools" => servers::listed(self.tools),
                "served" => servers::result(deed.map_or("", |deed| deed.tool.as_ref()), content),
                "servers" => servers::catalogue(&self.plan.servers, self.tools),
                "server_tools" => {
                    servers::offered(step.slots.get("server").unwrap_or(""), self.tools)
                }
                slot => recall::slot(slot, self.turn)
                    .unwrap_or_else(|| step.slots.render(&format!("{{{slot}}}"), path)),
            })
        })
    }

    /// What a subagent said; with its job when there were several.
    fn reported(&self, step: &Step, content: &str) -> String {
        let alike = |other: &&Step| other.intent.name == step.intent.name;
        let who = match self.plan.steps.iter().filter(alike).count() {
            1 => "The subagent".to_owned(),
            _ => format!(
                "The subagent for “{}”",
                step.slots.get("job").unwrap_or("it")
            ),
        };
        match gist::body(content) {
            "" => format!("{who} reports nothing."),
            text if text.contains('\n') => {
                format!("{who} reports:\n{}", gist::head(text, MAX_REPORT))
            }
            text => format!("{who} reports: {text}"),
        }
    }

    /// What a row makes of all that its parts returned.
    fn parts_say(&self, index: usize, step: &Step) -> String {
        let from = step.parts_from.min(index);
        let outcomes = &self.outcomes[from..index];
        let steps = self.plan.steps[from..index].iter().zip(outcomes);
        let readings: Vec<Reading> = steps
            .flat_map(|(step, outcome)| {
                let deeds = outcome.deeds().iter();
                let fine = deeds.filter(|deed| deed.verdict == Verdict::Fine);
                fine.map(|deed| Reading {
                    path: deed.path.as_deref(),
                    row: step.intent.name,
                    content: deed.content,
                })
            })
            .collect();
        step.intent
            .tells
            .map_or(String::new(), |tells| tells(&readings))
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
        let read = self.read(self.outcomes.len());
        let first = read.first().and_then(|deed| deed.path.as_deref());
        read.iter().any(|deed| deed.path.as_deref() != first)
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
