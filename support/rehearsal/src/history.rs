//! What is known without a tool: what was said, what was done, what is remembered, what can be asked.
//!
//! Invariant: it only tells; an answer to `what did you do?` does nothing.

use crate::clause::is_filler;
use crate::scene::{Event, Mail};
use crate::speak::{block, gist, one_line};
use crate::table::{Mood, ROWS};
use crate::tools::Can;
use crate::words::{Shape, has, tokens};
use crate::world::World;

/// How it speaks of itself.
const WHO: &str = "I am the rehearsal model of this course";

/// What a sentence asks to be remembered: empty when it only says so, none when it asks for something else.
pub fn fact(sentence: &str) -> Option<String> {
    const HEADS: [&str; 22] = [
        "remember that ",
        "remember: ",
        "please remember that ",
        "please remember: ",
        "keep in mind that ",
        "please keep in mind that ",
        "note that ",
        "don't forget that ",
        "do not forget that ",
        "from now on ",
        "from now on, ",
        "i prefer ",
        "i also prefer ",
        "i like ",
        "i always ",
        "i never ",
        "my name is ",
        "always use ",
        "never use ",
        "use tabs",
        "use spaces",
        "use single quotes",
    ];
    let trimmed = sentence.trim().trim_end_matches(['.', '!']);
    let low = trimmed.to_lowercase();
    if [
        "remember that",
        "remember this",
        "remember it",
        "please remember that",
        "keep that in mind",
        "please remember this",
    ]
    .contains(&low.as_str())
    {
        return Some(String::new());
    }
    let head = HEADS.iter().find(|head| low.starts_with(**head))?;
    let is_order = head.contains("that ") || head.ends_with(": ");
    let said = if is_order { trimmed[head.len()..].trim() } else { trimmed };
    // `I like to see README.md` is a request in a polite form.
    if said.is_empty() || (*head == "i like " && low.starts_with("i like to ")) || sentence.trim_end().ends_with('?') {
        return None;
    }
    let said = said.split(' ').map(|word| match word {
        "I" | "i" => "you".to_owned(),
        "my" | "My" => "your".to_owned(),
        "am" => "are".to_owned(),
        "me" => "you".to_owned(),
        "I'm" => "you are".to_owned(),
        other => other.to_owned(),
    });
    Some(format!("{}.", said.collect::<Vec<_>>().join(" ").trim_end_matches('.')))
}

/// All that is remembered: from earlier sessions, and from what the user said in this one.
pub fn facts(world: &World) -> Vec<String> {
    let kept = world
        .scene
        .memory
        .iter()
        .flat_map(|memory| memory.lines())
        .filter(|line| !line.trim().is_empty() && !line.starts_with("From "));
    let index = world
        .system
        .split_once("# Memory")
        .map_or("", |(_, rest)| rest)
        .lines()
        .take_while(|line| !line.starts_with("# "))
        .filter_map(|line| line.strip_prefix("- [")?.split_once(") — "))
        .map(|(_, description)| description);
    let said = world
        .scene
        .asked()
        .flat_map(|(_, text)| text.split_inclusive(['.', '!', '\n']))
        .filter_map(fact)
        .filter(|fact| !fact.is_empty());
    let clean = |line: &str| {
        let line = line.trim_start_matches(['#', ' ', '-']);
        let line = line
            .split_once(": ")
            .filter(|(name, _)| !name.contains(' ') || name.ends_with("said"))
            .map_or(line, |(_, rest)| rest);
        line.trim_matches(['“', '”', ' ']).to_owned()
    };
    let mut all: Vec<String> = Vec::new();
    let summary = world.scene.summary.lines().filter_map(|line| line.strip_prefix("- noted: "));
    for fact in index.map(str::to_owned).chain(kept.map(clean)).chain(summary.map(str::to_owned)).chain(said) {
        // A memory tells its fact twice: as a heading, and in the user's words.
        let is_told = |known: &String| fact.to_lowercase().contains(&known.trim_end_matches('.').to_lowercase());
        if !fact.is_empty() && !all.iter().any(is_told) {
            all.push(fact);
        }
    }
    all
}

/// The words of a question that a fact must have.
fn wanted(question: &str) -> Vec<String> {
    const GENERAL: &str = "or what which who how where when why called name remember know told tell did do does about was were said say using use code my preferences preference whose prefer things else much";
    let all = tokens(question)
        .into_iter()
        .filter(|token| token.shape != Shape::Mark && !is_filler(token) && !has(GENERAL, &token.low));
    all.map(|token| token.stem).collect()
}

fn matches(fact: &str, wanted: &[String]) -> usize {
    let own: Vec<String> = tokens(fact).into_iter().map(|token| token.stem).collect();
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
    let told: Vec<String> = facts
        .iter()
        .filter(|fact| best == 0 || matches(fact, &wanted) == best)
        .map(|fact| format!("- {fact}"))
        .collect();
    if told.is_empty() {
        "I remember nothing about that: you have told me nothing of the kind.".to_owned()
    } else {
        format!("This I remember:\n{}", told.join("\n"))
    }
}

/// What a newcomer may type first, in any directory.
const FIRST: [(Can, &str); 13] = [
    (Can::Bash, "list the files here"),
    (Can::Write, "create a file called hello.md with the text hello"),
    (Can::Todo, "make a to-do list: read the code, write a test"),
    (Can::Task, "use a subtask to list the files here"),
    (Can::CreateTask, "create tasks: a schema, an API (depends on the schema)"),
    (Can::Schedule, "remind me in 10 minutes to stretch"),
    (Can::Spawn, "spawn alice as a developer"),
    (Can::Connect, "connect to docs and search for hooks"),
    (Can::Skill, "what skills are available?"),
    (Can::Compact, "compact the conversation"),
    (Can::Glob, "find all Python files"),
    (Can::Bash, "what is the date?"),
    (Can::Bash, "run `echo hello`"),
];

/// What can be asked here, a few requests or all.
pub fn abilities(world: &World, all: bool) -> String {
    let can = |row: &&crate::table::Row| row.tools.is_empty() || row.tools.iter().any(|can| world.tools.can(*can));
    let mut offers: Vec<String> =
        FIRST.iter().filter(|(can, _)| world.tools.can(*can)).map(|(_, offer)| (*offer).to_owned()).collect();
    if all {
        let rows = ROWS.iter().filter(can).filter(|row| !row.tools.is_empty() || row.mood == Mood::Acts);
        offers.extend(rows.map(|row| row.offer.replace("{file}", "README.md").replace("{dir}", "this directory")));
    } else {
        offers.truncate(8);
    }
    let lines: Vec<String> = offers.iter().map(|offer| format!("- {offer}")).collect();
    format!(
        "{WHO}. With the tools I was given I can rehearse requests such as these, also in other words:\n{}\nAsk what else I can do for all of them.",
        lines.join("\n")
    )
}

/// The skills of the catalogue.
pub fn skills(world: &World) -> String {
    let lines: Vec<String> =
        world.skills().iter().map(|(name, description)| format!("- {name}: {description}")).collect();
    if lines.is_empty() {
        "There are no skills here.".to_owned()
    } else {
        format!("These skills are available:\n{}", lines.join("\n"))
    }
}

/// The tools on offer.
pub fn tools(world: &World) -> String {
    let outside: Vec<&str> = world.tools.outside().iter().map(|tool| tool.name).collect();
    let own: Vec<&str> = world.tools.names().filter(|name| !outside.contains(name)).collect();
    let mark = |name: &str| {
        let description = world.tools.named(name).map_or("", |tool| tool.description).trim_end();
        let mark = description.rfind(" (").filter(|_| description.ends_with(')')).map_or("", |at| &description[at..]);
        format!("- {name}{}", if mark.contains(' ') && mark.trim().contains(' ') { "" } else { mark })
    };
    let served: Vec<String> = outside.iter().take(60).map(|name| mark(name)).collect();
    let more = if outside.len() > 60 { format!("\nand {} more", outside.len() - 60) } else { String::new() };
    let served =
        if served.is_empty() { String::new() } else { format!("\nFrom servers:\n{}{more}", served.join("\n")) };
    format!("I have {} tools: {}.{served}", own.len() + outside.len(), own.join(", "))
}

/// The user's first request, also when it lies before a summary.
pub fn first_request(world: &World) -> String {
    let kept = world.scene.earlier.first().copied();
    let before =
        kept.or_else(|| world.scene.summary.lines().find_map(|line| line.strip_prefix("The user asked first: ")));
    let first = before.or_else(|| world.scene.asked().next().map(|(_, text)| text));
    format!("You asked first: {}", first.unwrap_or("nothing"))
}

/// The user's requests.
pub fn requests(world: &World) -> String {
    let summary = world.scene.summary.lines().filter_map(|line| line.strip_prefix("- asked: "));
    let kept = &world.scene.earlier;
    let before = kept.iter().copied().chain(summary.filter(|asked| !kept.contains(asked)));
    let now: Vec<&str> = world.scene.asked().map(|(_, text)| text).collect();
    let all: Vec<String> = before
        .chain(now[..now.len().saturating_sub(1)].iter().copied())
        .map(|text| format!("- {}", one_line(text, 160)))
        .collect();
    if all.is_empty() {
        "You have asked for nothing before.".to_owned()
    } else {
        format!("You have asked for this:\n{}", all.join("\n"))
    }
}

/// What was called before this request, and how it went.
pub fn what_was_done(world: &World, from: usize) -> String {
    let calls: Vec<String> = world
        .scene
        .calls
        .iter()
        .filter(|call| call.at < from)
        .map(|call| {
            let args: Vec<String> = call
                .input
                .as_object()
                .into_iter()
                .flatten()
                .map(|(_, value)| one_line(value.as_str().unwrap_or(&value.to_string()), 60))
                .collect();
            format!("- {} {}{}", call.name, args.join(", "), if call.failed { " (failed)" } else { "" })
        })
        .collect();
    let last = &calls[calls.len().saturating_sub(12)..];
    if last.is_empty() {
        "I have called no tool in this conversation.".to_owned()
    } else {
        format!("I have called:\n{}", last.join("\n"))
    }
}

/// Mail as it is told to the user.
pub fn news(mail: &Mail) -> String {
    let text = mail.text.trim();
    let line = |verb: &str| {
        if text.contains('\n') {
            format!("{} {verb}:\n{text}", mail.from)
        } else {
            format!("{} {verb}: {text}", mail.from)
        }
    };
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

/// What the harness told, as it is told to the user.
pub fn notice(name: &str, text: &str) -> Option<String> {
    let field = |field: &str| text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(": "));
    if let (Some(status), Some(command)) = (field("status"), field("command")) {
        let output: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("output: ")).skip(1).collect();
        let shown = match output.as_slice() {
            [] => String::new(),
            [one] => format!(": {one}"),
            more => format!(":\n{}", block(&more.join("\n"))),
        };
        return Some(format!("{} (`{}`) {status}{shown}", field("job").unwrap_or("a job"), one_line(command, 80)));
    }
    let is_aside = name.contains("reminder") || name.contains("context") || name.contains("hook");
    (!is_aside).then(|| gist(text))
}

/// The place of the newest reply that ended a turn: text without a call behind it.
pub fn last_answer(world: &World) -> Option<usize> {
    let events = &world.scene.events;
    (0..events.len()).rev().find(|at| {
        matches!(events[*at], Event::Said(_))
            && !matches!(events.get(at + 1), Some(Event::Called(_) | Event::Said(_)))
            && *at + 1 < events.len()
    })
}
