//! What is known without a tool: what was said, what is remembered, what can be asked.
//!
//! Invariant: it only tells, and does nothing.

use crate::clause::Clause;
use crate::pattern::{self, PLAIN};
use crate::scene::{Event, FIRST, Mail, Past, World};
use crate::speak::{block, one_line};
use crate::table::{self, ROWS, Row};
use crate::tools::Can;
use crate::words::{Token, field, has, set, stems, unique};

/// How it speaks of itself.
const WHO: &str = "I am the rehearsal model of this course";

/// What a sentence asks to be remembered: empty when it only says so, none when it asks for something else.
pub fn fact(sentence: &str) -> Option<String> {
    let clause = Clause::whole(sentence.trim());
    let found =
        pattern::find("fact", &clause, PLAIN).filter(|_| !sentence.trim_end().ends_with('?'))?;
    let said = match found.label {
        "bare" => return Some(String::new()),
        "own" => clause.text().trim_end_matches(['.', '!']),
        "" => found.text("fact"),
        _ => return None,
    };
    Some(format!("{}.", turned(said).trim_end_matches('.')))
}

/// What the user says of themselves, as it is said to them.
fn turned(said: &str) -> String {
    let word = |word| match word {
        "I" | "i" | "me" => "you",
        "my" | "My" => "your",
        "am" => "are",
        "I'm" => "you are",
        other => other,
    };
    said.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The facts that a text of the user tells.
pub fn facts_in(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_inclusive(['.', '!', '\n']).filter_map(fact).filter(|fact| !fact.is_empty())
}

/// All that is remembered: from earlier sessions, and from what the user said in this one.
pub fn facts<'w>(world: &World<'w>) -> Vec<String> {
    let scene = world.scene;
    // An index of memories in the prompt: `- [file](file.md) — what it says`.
    let indexed = |line: &str| Some(line.strip_prefix("- [")?.split_once(") — ")?.1.to_owned());
    let index = world.system.lines().filter_map(indexed);
    let sections = |memory: &&'w str| memory.lines().skip_while(|line| !line.starts_with("## "));
    let kept = scene.memory.iter().flat_map(sections);
    let summary = scene.summary.lines().filter_map(|line| line.strip_prefix("- noted: "));
    let said = scene.asked().flat_map(|(_, text)| facts_in(text));
    let clean = |line: &str| {
        let line = line.trim_start_matches(['#', ' ', '-']);
        let named =
            line.split_once(": ").filter(|(name, _)| !name.contains(' ') || name.ends_with("said"));
        turned(named.map_or(line, |(_, rest)| rest).trim_matches(['“', '”', ' ']))
    };
    let mut all: Vec<String> = Vec::new();
    for fact in index.chain(kept.map(clean)).chain(summary.map(str::to_owned)).chain(said) {
        // A memory tells its fact twice: as a heading, and in the user's words.
        let is_told = |known: &String| {
            fact.to_lowercase().contains(&known.trim_end_matches('.').to_lowercase())
        };
        if !fact.is_empty() && !all.iter().any(is_told) {
            all.push(fact);
        }
    }
    all
}

/// The words of a question that a fact must have.
fn wanted(question: &str) -> Vec<String> {
    let is_general = |token: &Token| has(set("of-questions"), &token.low);
    let (general, own): (Vec<_>, Vec<_>) =
        table::content(question).into_iter().partition(is_general);
    // `what is my name?` asks for nothing else.
    let name = general.into_iter().filter(|token| own.is_empty() && token.is("name"));
    name.chain(own.clone()).map(|token| token.stem).collect()
}

fn matches(fact: &str, wanted: &[String]) -> usize {
    let own = stems(fact);
    wanted.iter().filter(|word| own.contains(word)).count()
}

/// Whether something that is remembered answers a question.
pub fn knows(world: &World, question: &str) -> bool {
    let wanted = wanted(question);
    !wanted.is_empty() && facts(world).iter().any(|fact| matches(fact, &wanted) == wanted.len())
}

/// The facts that answer a question; all when it asks for all.
pub fn recall(world: &World, question: &str) -> String {
    let (wanted, facts) = (wanted(question), facts(world));
    let best = facts.iter().map(|fact| matches(fact, &wanted)).max().unwrap_or(0);
    let told = facts.iter().filter(|fact| best == 0 || matches(fact, &wanted) == best);
    listing(
        "This I remember:",
        told.cloned(),
        "I remember nothing about that: you have told me nothing of the kind.",
    )
}

/// A heading and a line for each, or what is said when there are none.
fn listing(head: &str, all: impl Iterator<Item = String>, none: &str) -> String {
    let lines: Vec<String> = all.map(|line| format!("\n- {line}")).collect();
    if lines.is_empty() { none.to_owned() } else { format!("{head}{}", lines.concat()) }
}

/// What can be asked here, a few requests or all.
pub fn abilities(world: &World, all: bool) -> String {
    let can = |row: &&Row| world.can_do(row);
    let first = set("offers").split(" | ").filter_map(|offer| offer.split_once(' '));
    let first = first.filter(|(can, _)| Can::read(can).is_some_and(|can| world.tools.can(can)));
    let first = first.map(|(_, offer)| offer.to_owned());
    let rows = ROWS.iter().filter(can).filter(|row| !row.tools.is_empty() || !row.looks);
    let offers =
        rows.map(|row| row.offer.replace("{file}", "README.md").replace("{dir}", "this directory"));
    let some = if all { usize::MAX } else { 8 };
    let head = format!(
        "{WHO}. With the tools I was given I can rehearse requests such as these, also in other words:"
    );
    let list = listing(&head, first.chain(offers.filter(|_| all)).take(some), &head);
    format!("{list}\nAsk what else I can do for all of them.")
}

pub fn skills(world: &World) -> String {
    let all =
        world.skills().into_iter().map(|(name, description)| format!("{name}: {description}"));
    listing("These skills are available:", all, "There are no skills here.")
}

pub fn tools(world: &World) -> String {
    let outside: Vec<&str> = world.tools.outside().iter().map(|tool| tool.name).collect();
    let own: Vec<&str> = world.tools.names().filter(|name| !outside.contains(name)).collect();
    // What a server says of its tool in a last word: `(readOnly)`.
    let mark = |name: &&str| {
        let description = world.tools.named(name).map_or("", |tool| tool.description).trim_end();
        let mark = description
            .rsplit_once(" (")
            .filter(|(_, mark)| mark.ends_with(')') && !mark.contains(' '));
        mark.map_or((*name).to_owned(), |(_, mark)| format!("{name} ({mark}"))
    };
    let served = listing("\nFrom servers:", outside.iter().map(mark), "");
    format!("I have {} tools: {}.{served}", own.len() + outside.len(), own.join(", "))
}

/// The user's requests before this one, also those before a summary, and what was called for them.
pub fn so_far(world: &World) -> String {
    let scene = world.scene;
    let summary =
        |mark: &'static str| scene.summary.lines().filter_map(move |line| line.strip_prefix(mark));
    let mut asked =
        unique(scene.earlier.iter().copied().chain(summary(FIRST)).chain(summary("- asked: ")));
    asked.extend(scene.asked().map(|(_, text)| text));
    asked.pop();
    let failed = |call: &Past| if call.failed { " (failed)" } else { "" };
    let call = |call: &Past| {
        format!("{} {}{}", call.name, one_line(&call.input.to_string(), 100), failed(call))
    };
    let asked = asked.into_iter().map(|text| one_line(text, 160));
    listing(
        "You have asked for this, the first one first:",
        asked,
        "You have asked for nothing before.",
    ) + &listing("\nI have called:", scene.calls.iter().map(call), "\nI have called no tool.")
}

/// Mail as it is told to the user.
pub fn news(mail: &Mail) -> String {
    let text = mail.text.trim();
    let space = if text.contains('\n') { "\n" } else { " " };
    let line = |verb: &str| format!("{} {verb}:{space}{text}", mail.from);
    match mail.kind.as_str() {
        "result" => line("reports"),
        kind if kind.contains("plan") && kind.contains("request") => {
            format!("{} sends a plan:\n{}", mail.from, block(text))
        }
        kind if kind.contains("shutdown") => format!("{}.", text.trim_end_matches('.')),
        "error" => line("had to stop"),
        _ => line("writes"),
    }
}

/// News of a job, as it is told to the user; what else a harness says is for the model alone.
pub fn notice(text: &str) -> Option<String> {
    let (status, command) = (field(text, "status")?, field(text, "command")?);
    let output: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("output: ")).skip(1).collect();
    let shown = match output.as_slice() {
        [] => String::new(),
        [one] => format!(": {one}"),
        more => format!(":\n{}", block(&more.join("\n"))),
    };
    let job = field(text, "job").unwrap_or("a job");
    Some(format!("{job} (`{}`) {status}{shown}", one_line(command, 80)))
}

/// The place of the newest reply that ended a turn: text without a call behind it.
pub fn last_answer(world: &World) -> Option<usize> {
    let events = &world.scene.events;
    (0..events.len()).rev().find(|at| {
        matches!(events[*at], Event::Said(_) | Event::Interrupted(_))
            && !matches!(events.get(at + 1), Some(Event::Called | Event::Said(_)))
            && *at + 1 < events.len()
    })
}
