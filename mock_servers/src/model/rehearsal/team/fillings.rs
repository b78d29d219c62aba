//! The slots of the rows about teammates, from the words and from earlier results.
//!
//! Invariant: an id is one that a result or a letter named.

use super::hiring::{is_one_of, who};
use super::works;
use crate::model::rehearsal::slots::Slots;
use crate::model::rehearsal::table::{Filling, Known};
use crate::model::rehearsal::tokens::{Token, tokenize};

/// The calls of a hiring: a prompt for each, with the task that is given to it.
pub fn hired(slots: &Slots, known: &[Known]) -> Vec<Filling> {
    let lines = |slot| slots.get(slot).unwrap_or_default().split('\n');
    let tasks: Vec<(&str, &str)> = known
        .iter()
        .filter(|known| known.tool == "create_task")
        .filter_map(|known| known.content.strip_prefix("created ")?.split_once(": "))
        .collect();
    let in_worktree = known.iter().any(|known| known.tool == "create_worktree");
    let hired = lines("names")
        .zip(lines("roles"))
        .zip(lines("jobs"))
        .enumerate();
    hired
        .map(|(at, ((name, role), job))| {
            let given = tasks.get(at).filter(|_| slots.get("gives").is_some());
            let prompt = match (given, job) {
                (Some((id, subject)), job) => works::given(id, subject, in_worktree, job),
                (None, "") if !tasks.is_empty() || slots.get("plan").is_some() => {
                    works::BOARD.to_owned()
                }
                (None, job) if !tasks.is_empty() && finds_work(job) => works::BOARD.to_owned(),
                (None, "") => works::READY.to_owned(),
                (None, job) => format!("{job}."),
            };
            let prompt = match slots.get("plan") {
                Some(_) => format!("{prompt} {}", works::PLAN_FIRST),
                None => prompt,
            };
            vec![
                ("name", name.to_owned()),
                ("role", role.to_owned()),
                ("prompt", prompt),
            ]
        })
        .collect()
}

/// Whether a job is nothing but to find something to do: `find their work`, `share the tasks among themselves`.
fn finds_work(job: &str) -> bool {
    const WORK: [&str; 5] = ["board", "job", "jobs", "task", "tasks"];
    const AROUND: [&str; 34] = [
        "a",
        "among",
        "and",
        "at",
        "by",
        "choose",
        "claim",
        "do",
        "find",
        "for",
        "from",
        "get",
        "go",
        "it",
        "look",
        "of",
        "off",
        "on",
        "one",
        "out",
        "own",
        "pick",
        "share",
        "some",
        "something",
        "start",
        "take",
        "the",
        "their",
        "them",
        "themselves",
        "to",
        "up",
        "what",
    ];
    let tokens = tokenize(job);
    let is_work = |token: &Token| token.is("work") || token.is_any(&WORK);
    let fits = |token: &Token| is_work(token) || token.is_any(&AROUND);
    tokens.iter().any(is_work) && tokens.iter().all(fits)
}

/// One filling for each teammate that is meant; nobody is meant where there is no team.
pub fn each(text: &str, team: &[String]) -> Vec<Filling> {
    who(text, team)
        .into_iter()
        .map(|who| vec![("who", who)])
        .collect()
}

/// A request for a plan, and what it shall be for.
pub fn plan(text: &str, team: &[String]) -> Vec<Filling> {
    let what = [
        " plan for ",
        " plan to ",
        " plan on ",
        " plan of ",
        " plan about ",
        " to plan ",
    ]
    .iter()
    .find_map(|mark| text.split_once(mark));
    let what = what.map_or("your work", |(_, what)| what).to_owned();
    who(text, team)
        .into_iter()
        .map(|who| vec![("who", who), ("what", what.clone())])
        .collect()
}

/// The answer to a plan: yes, unless the words say no, and what is said with it.
pub fn verdict(text: &str, team: &[String]) -> Vec<Filling> {
    let lower = text.to_lowercase();
    let no = [
        "reject",
        "decline",
        "refuse",
        "disapprove",
        "not approve",
        "n't approve",
        "not accept",
        "n't accept",
    ];
    let approve = !no.iter().any(|word| lower.contains(word));
    let marks = [
        ": ",
        " because ",
        " with the feedback ",
        " with feedback ",
        " and say ",
        " and tell her ",
        " and tell him ",
    ];
    let said = marks
        .iter()
        .find_map(|mark| text.split_once(mark))
        .map(|(_, said)| said.trim_matches('"'));
    let feedback = said.unwrap_or(if approve {
        "Go ahead as planned."
    } else {
        "Please send another plan."
    });
    who(text, team)
        .into_iter()
        .map(|who| {
            vec![
                ("who", who),
                ("approve", approve.to_string()),
                (
                    "approved",
                    if approve { "approved" } else { "rejected" }.to_owned(),
                ),
                ("feedback", feedback.to_owned()),
            ]
        })
        .collect()
}

/// The plans that are answered.
pub fn request(_: &Slots, known: &[Known]) -> Vec<Filling> {
    let plans = known
        .iter()
        .filter(|known| known.tool == super::waiting::PLAN);
    plans
        .map(|plan| vec![("request", plan.content.to_owned())])
        .collect()
}

/// A message, and to whom.
pub fn message(text: &str, team: &[String]) -> Vec<Filling> {
    let tokens = tokenize(text);
    let Some(at) = tokens.iter().position(|token| is_one_of(token.text, team)) else {
        return Vec::new();
    };
    let whom = who(tokens[at].text, team);
    let small = ["to", "that", "and", "saying", "a", "message", "about"];
    let from = (at + 1..tokens.len()).find(|at| !tokens[*at].is_any(&small));
    let content = from.map(|from| {
        if tokens[from].quoted {
            tokens[from].text
        } else {
            &text[tokens[from].start..]
        }
    });
    // The mark that closes a quotation ends the step.
    let content = content.unwrap_or("Hello.").trim().trim_matches('"');
    whom.into_iter()
        .map(|who| vec![("who", who), ("content", content.to_owned())])
        .collect()
}

/// A worktree for each task that was made, has none, and was not begun when the board was last seen.
pub fn worktrees(slots: &Slots, known: &[Known]) -> Vec<Filling> {
    if let Some(name) = slots.get("name") {
        return vec![vec![("worktree", name.to_owned())]];
    }
    let made = known.iter().filter(|known| known.tool == "create_task");
    let tasks = made.filter_map(|known| known.content.strip_prefix("created ")?.split_once(": "));
    let is_bound = |id: &str| {
        let mut worktrees = known.iter().filter(|known| known.tool == "create_worktree");
        worktrees.any(|known| known.content.contains(id))
    };
    let mut boards = known.iter().filter(|known| known.tool == "list_tasks");
    let board = boards.next_back().map_or("", |known| known.content);
    let is_begun = |id: &str| {
        ["[x]", "[~]"]
            .iter()
            .any(|mark| board.contains(&format!("{mark} {id}")))
    };
    tasks
        .filter(|(id, _)| !is_bound(id) && !is_begun(id))
        .map(|(id, subject)| {
            let number = id.split('-').next().unwrap_or(id);
            let name = format!("{}-{number}", works::slug(subject));
            vec![
                ("worktree", name),
                ("task", format!("\"{id}\"")),
                ("of", format!(" for {id}")),
            ]
        })
        .collect()
}
