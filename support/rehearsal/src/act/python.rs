//! The little Python it knows: samples, and edits of what was read.
//!
//! It is no refactorer. An edit is made of lines that are there; a file in which nothing fits stays as it is, and that is said.

use serde_json::{Value, json};

use super::look::{paths, reads, text_of};
use super::write::{changing, there, without_numbers, write};
use crate::pattern::set;
use crate::run::{Done, Outcome, Run, Stop, Went, fail};
use crate::speak::sentence;
use crate::speak::{listed, why};
use crate::tools::{Call, Can};
use crate::words::{has, tokens};

/// What can be added to a file, and the words that ask for it.
const ASPECTS: [(&str, &str); 3] = [
    ("type hints", "hints hint annotations annotation types"),
    ("docstrings", "docstrings docstring documentation"),
    ("a main guard", "guard __name__"),
];

/// A name in words, as a sentence without its full stop: `make_slug` → `Make slug`.
fn title(name: &str) -> String {
    sentence(&name.replace('_', " ")).trim_end_matches('.').to_owned()
}

/// The name of a file without folder and ending.
fn stem(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path).trim_end_matches(".py")
}

/// A text with something added.
fn added(aspect: &str, text: &str, path: &str) -> String {
    match aspect {
        "type hints" => edited("hints", text),
        "docstrings" => with_docstrings(text, &title(stem(path))),
        _ => with_guard(text),
    }
}

fn with_docstrings(text: &str, about: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    if !text.trim_start().starts_with(['"', '\'']) {
        out.push(format!("\"\"\"{about}.\"\"\"\n"));
    }
    for (at, line) in lines.iter().enumerate() {
        out.push((*line).to_owned());
        let name = line.trim_start().strip_prefix("def ").filter(|_| line.trim_end().ends_with(':'));
        let next = lines.get(at + 1).copied().unwrap_or_default();
        if let (Some(name), false, false) = (name, next.trim_start().starts_with("\"\"\""), next.trim().is_empty()) {
            let indent: String = next.chars().take_while(|c| c.is_whitespace()).collect();
            out.push(format!("{indent}\"\"\"{}.\"\"\"", title(name.split('(').next().unwrap_or_default())));
        }
    }
    out.join("\n") + "\n"
}

fn with_guard(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let calls = lines.iter().rev().take_while(|line| line.starts_with("print(")).count();
    if calls == 0 || text.contains("__name__") {
        return text.to_owned();
    }
    let (head, tail) = lines.split_at(lines.len() - calls);
    let body: Vec<String> = tail.iter().map(|line| format!("    {line}")).collect();
    format!("{}\n\n\nif __name__ == \"__main__\":\n{}\n", head.join("\n").trim_end(), body.join("\n"))
}

/// A text in better style: four spaces, and the edits that are known.
fn mended(text: &str) -> String {
    let narrow = text.lines().any(|line| line.starts_with("  ") && !line.starts_with("   "));
    let wide = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        format!("{}{}\n", " ".repeat(if narrow { indent * 2 } else { indent }), line.trim())
    };
    edited("style", &text.lines().map(wide).collect::<String>())
}

/// A text with the edits of a list: `old => new`.
fn edited(list: &str, text: &str) -> String {
    let edits = set(list).split(" | ").filter_map(|edit| edit.split_once(" => "));
    edits.fold(text.to_owned(), |text, (old, new)| text.replace(old, &new.replace("\\n", "\n")))
}

/// Makes calls together with the one that says how far the plan is, where there is a tool for it: so many items are done.
fn step(run: &Run, items: &[String], done: usize, calls: Vec<Call>) -> Result<Vec<Done>, Stop> {
    let status = |at: usize| ["completed", "in_progress", "pending"][usize::from(at >= done) + usize::from(at > done)];
    let items = items.iter().enumerate();
    let todos: Vec<Value> = items.map(|(at, item)| json!({"content": item, "status": status(at)})).collect();
    let plan = run.world.tools.call(Can::Todo, json!({ "todos": todos }));
    let skipped = usize::from(plan.is_some());
    let said = if done == 0 && calls.is_empty() { "This takes several steps." } else { "" };
    let all: Vec<Call> = plan.into_iter().chain(calls).collect();
    Ok(run.made(all, said)?.into_iter().skip(skipped).collect())
}

/// Adds hints, docstrings, a guard, or what the words name of these, to a file; without a name to the first Python file.
pub(super) fn mend(run: &Run, path: &str, words: &str) -> Went {
    let said = tokens(words);
    let is_named = |wanted: &str| said.iter().any(|token| has(wanted, &token.low));
    let named: Vec<&str> = ASPECTS.iter().filter(|(_, words)| is_named(words)).map(|(aspect, _)| *aspect).collect();
    let aspects = if named.is_empty() { ASPECTS.map(|(aspect, _)| aspect).to_vec() } else { named };
    let path = if path.is_empty() { paths(run, "**/*.py")?.into_iter().next() } else { Some(path.to_owned()) };
    let Some(path) = path else { return fail("I found no Python file that I could refactor.") };
    let adding = aspects.iter().map(|aspect| format!("Add {aspect} to {path}"));
    let items = std::iter::once(format!("Read {path}")).chain(adding).chain([format!("Look at {path} again")]);
    let items: Vec<String> = items.collect();
    step(run, &items, 0, Vec::new())?;
    let mut text = text_of(run, &path)?;
    let mut told = Vec::new();
    for (at, aspect) in aspects.iter().enumerate() {
        let new = added(aspect, &text, &path);
        let changed = new.trim_end() != text.trim_end();
        let call = if changed { changing(run, &path, &text, &new) } else { None };
        if let Some(done) = step(run, &items, at + 1, call.into_iter().collect())?.into_iter().find(|done| done.failed)
        {
            return fail(format!("I did not change {path}: {}.", why(&done.text)));
        }
        if changed {
            told.push(format!("I added {aspect} to {path}."));
            text = new;
        } else {
            told.push(format!("I found no place for {aspect} in {path}."));
        }
    }
    let again = run.world.tools.call(Can::Read, json!({"path": path, "limit": 200}));
    step(run, &items, aspects.len() + 1, again.into_iter().collect())?;
    step(run, &items, aspects.len() + 2, Vec::new())?;
    Ok(Outcome::told(told.join("\n")))
}

/// Mends the style of Python files.
pub(super) fn review(run: &Run, dir: &str) -> Went {
    let items = ["Look for Python files", "Read the files", "Fix the style of what was read"].map(str::to_owned);
    step(run, &items, 0, Vec::new())?;
    let mut files = paths(run, &if dir == "." { "**/*.py".to_owned() } else { format!("{dir}/**/*.py") })?;
    files.truncate(12);
    let read = step(run, &items, 1, files.iter().map(|path| reads(run, path)).collect::<Result<Vec<_>, _>>()?)?;
    let (mut calls, mut told) = (Vec::new(), Vec::new());
    for (path, done) in files.iter().zip(&read).filter(|(_, done)| !done.failed) {
        let text = without_numbers(&done.text);
        let new = mended(&text);
        if new.trim_end() != text.trim_end() {
            calls.extend(changing(run, path, &text, &new));
            told.push(path.clone());
        }
    }
    let done = step(run, &items, 2, calls)?;
    step(run, &items, 3, Vec::new())?;
    if let Some((path, done)) = told.iter().zip(&done).find(|(_, done)| done.failed) {
        return fail(format!("I did not change {path}: {}.", why(&done.text)));
    }
    Ok(Outcome::told(match told.as_slice() {
        [] => format!("I read {} Python files in {dir} and found nothing to mend.", files.len()),
        told => format!("I mended the style of {}.", listed(told)),
    }))
}

/// Makes a package: a docstring in each file, and nothing where a file is already.
pub(super) fn package(run: &Run, dir: &str, files: &[String]) -> Went {
    let all: Vec<String> = files.iter().map(|file| format!("{dir}/{}", file.trim_start_matches("./"))).collect();
    let items: Vec<String> = all.iter().map(|path| format!("Create {path}")).collect();
    step(run, &items, 0, Vec::new())?;
    let there = there(run, &all)?;
    let name = stem(dir);
    let mut told = Vec::new();
    for (at, path) in all.iter().enumerate() {
        if at > 0 {
            step(run, &items, at, Vec::new())?;
        }
        if there.contains(path) {
            told.push(format!("{path} is there already: I left it as it is."));
            continue;
        }
        let about = match stem(path) {
            "__init__" => format!("The package {name}"),
            stem => format!("{} of the package {name}", title(stem)),
        };
        told.push(write(run, path, &format!("\"\"\"{about}.\"\"\""), true)?.text);
    }
    step(run, &items, all.len(), Vec::new())?;
    Ok(Outcome::told(told.join("\n")))
}

/// In the user's style: tabs, single quotes, when a fact that is remembered prefers them.
fn styled(text: &str, facts: &[String]) -> String {
    let facts = facts.join("\n").to_lowercase();
    let prefers = |wanted: &str, other: &str| match (facts.rfind(wanted), facts.rfind(other)) {
        (Some(_), None) => true,
        (Some(at), Some(other_at)) => {
            at < other_at || facts[..other_at].ends_with("not ") || facts.contains(&format!("over {other}"))
        }
        (None, _) => false,
    };
    let mut text = text.to_owned();
    if prefers("single quote", "double quote") {
        text = text.replace("\"\"\"", "\u{1}").replace('"', "'").replace('\u{1}', "\"\"\"");
    }
    if prefers("tabs", "spaces") { text.replace("    ", "\t") } else { text }
}

/// A file of which only the language is known.
pub(super) fn greeting(facts: &[String]) -> String {
    let text = "def greet(name):\n    \"\"\"Greet somebody.\"\"\"\n    return \"Hello, \" + name + \"!\"\n\n\nif __name__ == \"__main__\":\n    print(greet(\"World\"))\n";
    styled(text, facts)
}

/// A function of this signature. Only a slug has a body that can be known.
pub(super) fn function(signature: &str, facts: &[String]) -> String {
    let name = signature.split('(').next().unwrap_or_default();
    let argument = signature.split(['(', ':', ',', ')']).nth(1).unwrap_or_default().trim();
    let text = if name.contains("slug") {
        format!(
            "import re\n\n\ndef {signature} -> str:\n    \"\"\"Make a slug: lower case, words joined by hyphens.\"\"\"\n    return \"-\".join(re.findall(r\"[a-z0-9]+\", {argument}.lower()))\n"
        )
    } else {
        format!("def {signature}:\n    \"\"\"{}.\"\"\"\n    raise NotImplementedError(\"{name}\")\n", title(name))
    };
    styled(&text, facts)
}

/// A module of so many functions, about a kilobyte each.
pub(super) fn long(count: u32) -> String {
    let function = |number: u32| {
        let lines: String = (1..=12).map(|line| format!("    value = value + {line} * factor  # step {line} of function {number}, which adds its part to the value\n")).collect();
        format!(
            "def function_{number}(value, factor=1):\n    \"\"\"Add {number} weighted parts to a value, one after the other, and return it.\"\"\"\n{lines}    return value\n"
        )
    };
    let all: Vec<String> = (1..=count).map(function).collect();
    format!("\"\"\"A long module of {count} functions.\"\"\"\n\n\n{}", all.join("\n\n"))
}
