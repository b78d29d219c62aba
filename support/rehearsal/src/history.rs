//! What is known without a tool: what was said, what is remembered, what can be asked; and the side calls of a harness: which
//! memories to use, what to remember, what to merge, a summary.
//!
//! A side call is told by what it is given, the tags in its question, and never by a literal of one harness. Invariants: it only
//! tells, and does nothing; the answer to a side call has the shape that was asked for, and nothing in it that was not there.

use serde_json::{Value, json};

use crate::clause::{self, Clause, PLAIN, clause_end};
use crate::scene::{ANSWERED, Event, Mail, Past, Scene, World};
use crate::speak::{block, cut, one_line};
use crate::table::{self, ROWS, Row};
use crate::told::{ASKED, tagged};
use crate::tools::Can;
use crate::types::Request;
use crate::words::{Token, field, has, set, stems, tokens, unique};

/// How it speaks of itself.
const WHO: &str = "I am the rehearsal model of this course";

/// What a sentence asks to be remembered: empty when it only says so, none when it asks for something else.
pub fn fact(sentence: &str) -> Option<String> {
    let clause = Clause::of(sentence[..fact_end(sentence)].trim());
    let found =
        clause::find("fact", &clause, PLAIN).filter(|_| !sentence.trim_end().ends_with('?'))?;
    let said = match found.label {
        "bare" => return Some(String::new()),
        "own" => clause.text().trim_end_matches(['.', '!', ',']),
        "" => found.text("fact"),
        _ => return None,
    };
    Some(format!("{}.", turned(said).trim_end_matches('.')))
}

/// Where a fact ends: an order may stand behind it, as in `remember that it is blue and list the files`.
pub fn fact_end(sentence: &str) -> usize {
    let all = tokens(sentence);
    let (end, _) = clause_end(&all, 0);
    let end = all[..end].iter().position(|token| token.is("then")).unwrap_or(end);
    all.get(end).map_or(sentence.len(), |token| token.start)
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

/// The facts that a text of the user tells, each with its sentence.
fn facts_in(text: &str) -> impl Iterator<Item = (String, &str)> + '_ {
    let all = text.split_inclusive(['.', '!', '\n']);
    let all = all.filter_map(|sentence| Some((fact(sentence)?, sentence.trim())));
    all.filter(|(fact, _)| !fact.is_empty())
}

/// All that is remembered: from earlier sessions, and from what the user said in this one.
pub fn facts<'s>(scene: &Scene<'s>, system: &str) -> Vec<String> {
    // An index of memories in the prompt: `- [file](file.md) — what it says`.
    let indexed = |line: &str| Some(line.strip_prefix("- [")?.split_once(") — ")?.1.to_owned());
    let index = system.lines().filter_map(indexed);
    let sections = |memory: &&'s str| memory.lines().skip_while(|line| !line.starts_with("## "));
    let kept = scene.memory.iter().flat_map(sections);
    let said = scene.asked().flat_map(|(_, text)| facts_in(text)).map(|(fact, _)| fact);
    let clean = |line: &str| {
        let line = line.trim_start_matches(['#', ' ', '-']);
        let named =
            line.split_once(": ").filter(|(name, _)| !name.contains(' ') || name.ends_with("said"));
        turned(named.map_or(line, |(_, rest)| rest).trim_matches(['“', '”', ' ']))
    };
    let mut all: Vec<String> = Vec::new();
    for fact in index.chain(kept.map(clean)).chain(said) {
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
    !wanted.is_empty()
        && facts(world.scene, world.system)
            .iter()
            .any(|fact| matches(fact, &wanted) == wanted.len())
}

/// The facts that answer a question; all when it asks for all.
pub fn recall(world: &World, question: &str) -> String {
    let (wanted, facts) = (wanted(question), facts(world.scene, world.system));
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
    let offers = offers.map(|offer| offer.replace(['<', '>'], ""));
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
        let last = world.tools.named(name).and_then(|tool| tool.description.split(' ').next_back());
        let mark = last.filter(|mark| mark.starts_with('(') && mark.ends_with(')'));
        mark.map_or((*name).to_owned(), |mark| format!("{name} {mark}"))
    };
    let served = listing("\nFrom servers:", outside.iter().map(mark), "");
    format!("I have {} tools: {}.{served}", own.len() + outside.len(), own.join(", "))
}

/// The user's requests before this one, also those before a summary, and what was called for them.
pub fn so_far(world: &World) -> String {
    let scene = world.scene;
    let mut asked: Vec<&str> = scene.asked().map(|(_, text)| text).collect();
    asked.pop();
    let asked = scene.earlier.iter().copied().chain(asked).map(|text| one_line(text, 160));
    let failed = |call: &Past| if call.failed { " (failed)" } else { "" };
    let call = |call: &Past| {
        format!("{} {}{}", call.name, one_line(&call.input.to_string(), 100), failed(call))
    };
    listing(
        "You have asked for this, the first one first:",
        unique(asked).into_iter(),
        "You have asked for nothing before.",
    ) + &listing("\nI have called:", scene.calls.iter().map(call), "\nI have called no tool.")
}

/// Mail as it is told to the user.
pub fn news(mail: &Mail) -> String {
    let text = mail.text.trim();
    let space = if text.contains('\n') { "\n" } else { " " };
    let line = |verb: &str| format!("{} {verb}:{space}{text}", mail.from);
    match mail.kind {
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

/// The answer to a question of the harness itself, told by what it is given: a list, a transcript, a request.
pub(crate) fn side_call(request: &Request) -> Option<String> {
    let message = request.messages.iter().rfind(|message| message.from_user)?;
    let text = message.texts().collect::<Vec<_>>().join("\n");
    let mut blocks: Vec<&str> = tagged(&text).map(|(_, tagged)| tagged.inner.trim()).collect();
    let is_transcript = |block: &str| !Scene::of_told(block).events.is_empty();
    let transcript = blocks.iter().copied().position(is_transcript).map(|at| blocks.remove(at));
    let is_item = |line: &str| line.is_empty() || line.starts_with(['-', '[', ' ', ']', '{', '}']);
    let is_list = |block: &str| block.lines().all(is_item);
    let list = blocks.iter().copied().position(is_list).map(|at| blocks.remove(at));
    match (list, blocks.first(), transcript) {
        (Some(memories), Some(asked), _) => Some(chosen(memories, asked)),
        (Some(memories), None, Some(conversation)) => Some(extracted(memories, conversation)),
        (None, _, Some(conversation)) => Some(summarized(conversation)),
        (Some(memories), None, None) => Some(merged(memories)),
        _ if text.trim_start().starts_with('[') => Some(merged(&text)),
        _ if request.system.to_lowercase().contains("title") => Some(one_line(&text, 50)),
        _ => None,
    }
}

/// Which memories a request needs: those that share a word with it, and matters of style when code is to be written.
fn chosen(memories: &str, asked: &str) -> String {
    let content =
        |text: &str| table::content(text).into_iter().map(|token| token.stem).collect::<Vec<_>>();
    let (wanted, all) = (content(asked), stems(asked));
    let is_code = all.iter().any(|word| has(set("code-stems"), word)) || asked.contains(".py");
    let lines = memories.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
    let needed = lines.filter(|(slug, description)| {
        let own = stems(&format!("{} {description}", slug.replace('-', " ")));
        own.iter().any(|word| wanted.contains(word))
            || (is_code && own.iter().any(|word| has(set("style-stems"), word)))
    });
    json!(needed.take(5).map(|(slug, _)| slug).collect::<Vec<_>>()).to_string()
}

/// What the user said that is worth knowing later, and is not known yet.
fn extracted(memories: &str, conversation: &str) -> String {
    let mut all: Vec<Value> = Vec::new();
    let scene = Scene::of_told(conversation);
    for (fact, sentence) in scene.asked().flat_map(|(_, text)| facts_in(text)) {
        let fact = fact.trim_end_matches('.');
        let words = table::content(fact).into_iter().map(|token| token.low);
        let words = words.filter(|word| !has(set("of-facts"), word));
        let name = words.take(3).collect::<Vec<_>>().join("-");
        let is_known =
            memories.contains(fact) || all.iter().any(|known| known["description"] == fact);
        if !is_known && !name.is_empty() {
            let is_user = fact.starts_with("you") || fact.contains("use ");
            let kind = if is_user { "user" } else { "project" };
            let text = format!("The user said: “{sentence}”");
            all.push(json!({"name": name, "description": fact, "type": kind, "content": text}));
        }
    }
    Value::from(all).to_string()
}

/// All memories, without those that say the same.
fn merged(memories: &str) -> String {
    let places = memories.find('[').zip(memories.rfind(']'));
    let array = places.and_then(|(from, to)| serde_json::from_str(memories.get(from..=to)?).ok());
    let (all, mut kept): (Vec<Value>, Vec<Value>) = (array.unwrap_or_default(), Vec::new());
    for memory in all {
        if !kept.iter().any(|other| other["content"] == memory["content"]) {
            kept.push(memory);
        }
    }
    Value::from(kept).to_string()
}

/// A summary from which this very brain can go on: the same conversation, told shorter. What was called stays for a request
/// that is still in hand.
fn summarized(conversation: &str) -> String {
    let scene = Scene::of_told(conversation);
    let facts = facts(&scene, "").iter().map(|fact| format!("\n## {fact}")).collect::<String>();
    let facts = if facts.is_empty() { facts } else { format!("<facts>{facts}\n</facts>") };
    let asked: Vec<String> = scene.asked().map(|(_, text)| one_line(text, 300)).collect();
    let newest = asked.iter().skip(asked.len().saturating_sub(12).max(1));
    let asked = [facts].into_iter().chain(asked.first().cloned()).chain(newest.cloned());
    let mut told: Vec<(&str, String)> = asked.map(|text| (ASKED, text)).collect();
    let is_open = !matches!(scene.events.last(), Some(Event::Said(_)));
    let in_hand = scene.newest().filter(|_| is_open);
    told.insert(told.len() - usize::from(in_hand.is_some()), ("- AI", ANSWERED.to_owned()));
    if let Some(at) = in_hand {
        let is_note = |line: &&str| line.starts_with("- ") || line.starts_with("The files: ");
        let notes = scene.said_since(at).flat_map(str::lines).filter(is_note).take(60);
        let notes = notes.collect::<Vec<_>>().join("\n");
        told.extend(Some(("- AI", notes)).filter(|(_, notes)| !notes.is_empty()));
        for call in scene.calls.iter().filter(|call| call.at > at) {
            let most = if call.name.contains("glob") { 1_500 } else { 400 };
            let input = call.input.to_string();
            if input.len() < 1_000 {
                told.push(("- A call", format!("{} {input}", call.name)));
                told.push(("- A result", json!(cut(call.text.trim(), most)).to_string()));
            }
        }
    }
    let lines = told.iter().map(|(who, text)| format!("{who}: {text}"));
    lines.collect::<Vec<_>>().join("\n\n")
}
