//! The little Python it knows: samples, and edits of what was read.
//!
//! It is no refactorer. An edit is made of lines that are there; a file in which nothing fits stays as it is, and that is said.

use serde_json::{Value, json};

use crate::act::{changing, paths, reading, there, without_numbers, write};
use crate::clause::Clause;
use crate::engine::{Outcome, Run, Stop, Went};
use crate::speak::{listed, why};
use crate::tools::{Call, Can};

/// Signatures with their hints.
const HINTS: [(&str, &str); 6] = [
    ("def greet(name):", "def greet(name: str) -> str:"),
    ("def shout(text, times):", "def shout(text: str, times: int) -> str:"),
    ("def area(radius):", "def area(radius: float) -> float:"),
    ("def Perimeter(radius):", "def Perimeter(radius: float) -> float:"),
    ("def longest(text):", "def longest(text: str) -> str:"),
    ("def main():", "def main() -> None:"),
];

/// What a clause wants added; all of it when it names nothing.
pub fn aspects(clause: &Clause) -> Vec<&'static str> {
    let all: [(&'static str, &str); 3] = [
        ("type hints", "hints hint annotations annotation types"),
        ("docstrings", "docstrings docstring documentation"),
        ("a main guard", "guard __name__"),
    ];
    let named: Vec<&str> = all
        .iter()
        .filter(|(_, words)| {
            clause.says(words) || clause.tokens.iter().any(|token| crate::words::has(words, &token.low))
        })
        .map(|(aspect, _)| *aspect)
        .collect();
    if named.is_empty() { all.iter().map(|(aspect, _)| *aspect).collect() } else { named }
}

/// A text with something added.
fn added(aspect: &str, text: &str, title: &str) -> String {
    match aspect {
        "type hints" => HINTS.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new)),
        "docstrings" => with_docstrings(text, title),
        "a main guard" => with_guard(text),
        _ => mended(text),
    }
}

fn with_docstrings(text: &str, title: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    if !text.trim_start().starts_with(['"', '\'']) {
        out.push(format!("\"\"\"{title}.\"\"\"\n"));
    }
    for (at, line) in lines.iter().enumerate() {
        out.push((*line).to_owned());
        let is_def = line.trim_start().starts_with("def ") && line.trim_end().ends_with(':');
        let next = lines.get(at + 1).copied().unwrap_or_default();
        if is_def && !next.trim_start().starts_with("\"\"\"") && !next.trim().is_empty() {
            let indent: String = next.chars().take_while(|c| c.is_whitespace()).collect();
            let name =
                line.trim_start().trim_start_matches("def ").split('(').next().unwrap_or_default().replace('_', " ");
            out.push(format!("{indent}\"\"\"{}.\"\"\"", crate::people::sentence(&name).trim_end_matches('.')));
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

/// A text in better style. Lines with strings keep what is between their marks.
fn mended(text: &str) -> String {
    let narrow = text.lines().any(|line| line.starts_with("  ") && !line.starts_with("   "));
    let mut out: Vec<String> = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let mut code = line.trim().trim_end_matches(';').to_owned();
        if !code.contains(['"', '\'']) {
            code = code
                .replace("( ", "(")
                .replace(" )", ")")
                .replace(" :", ":")
                .replace("== None", "is None")
                .replace("!= None", "is not None")
                .replace(" = {}", "={}");
        }
        let pad = " ".repeat(if narrow { indent * 2 } else { indent });
        match code.strip_prefix("import ").filter(|names| names.contains(", ")) {
            Some(names) => out.extend(names.split(", ").map(|name| format!("{pad}import {name}"))),
            None if code.is_empty() => out.push(String::new()),
            None => out.push(format!("{pad}{code}")),
        }
    }
    out.join("\n") + "\n"
}

/// A plan that moves along with the work, where there is a tool for it.
struct Todo<'t, 'r, 'w> {
    run: &'t Run<'r, 'w>,
    items: Vec<String>,
}

impl Todo<'_, '_, '_> {
    /// The call that says how far it is: so many items are done.
    fn at(&self, done: usize) -> Option<Call> {
        let status = |at: usize| match at {
            at if at < done => "completed",
            at if at == done => "in_progress",
            _ => "pending",
        };
        let todos: Vec<Value> =
            self.items.iter().enumerate().map(|(at, item)| json!({"content": item, "status": status(at)})).collect();
        self.run.world.tools.call(Can::Todo, json!({ "todos": todos }))
    }

    /// Makes calls together with the plan's.
    fn step(&self, done: usize, calls: Vec<Call>) -> Result<Vec<crate::engine::Done>, Stop> {
        let plan = self.at(done);
        let skipped = usize::from(plan.is_some());
        let said = if done == 0 && calls.is_empty() { "This takes several steps." } else { "" };
        let all: Vec<Call> = plan.into_iter().chain(calls).collect();
        if all.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.run.made(all, said)?.into_iter().skip(skipped).collect())
    }
}

fn call(run: &Run, path: &str) -> Result<Call, Stop> {
    let (can, args) = reading(run, path);
    run.world.tools.call(can, args).ok_or_else(|| Stop::Fail("I have no tool here that reads".into()))
}

/// Adds hints, docstrings, a guard to a file; without a name to the first Python file there is.
pub fn mend(run: &Run, path: Option<&str>, aspects: &[&'static str]) -> Went {
    let path = match path {
        Some(path) => path.to_owned(),
        None => match paths(run, "**/*.py")?.0.first() {
            Some(path) => path.clone(),
            None => return Ok(Outcome::failed("I found no Python file that I could refactor.")),
        },
    };
    let items = std::iter::once(format!("Read {path}"))
        .chain(aspects.iter().map(|aspect| format!("Add {aspect} to {path}")))
        .chain([format!("Look at {path} again")]);
    let todo = Todo { run, items: items.collect() };
    todo.step(0, Vec::new())?;
    let read = run.made(vec![call(run, &path)?], "")?.remove(0);
    if read.failed {
        return Ok(Outcome::failed(format!("I could not read {path}: {}.", why(&read.text))));
    }
    let title = path.rsplit('/').next().unwrap_or(&path).split('.').next().unwrap_or_default();
    let title = crate::people::sentence(&title.replace('_', " "));
    let mut text = without_numbers(&read.text);
    let mut told = Vec::new();
    for (at, aspect) in aspects.iter().enumerate() {
        let new = added(aspect, &text, title.trim_end_matches('.'));
        let changed = new.trim_end() != text.trim_end();
        let calls: Vec<Call> =
            if changed { changing(run, &path, &text, &new).into_iter().collect() } else { Vec::new() };
        if let Some(done) = todo.step(at + 1, calls)?.into_iter().find(|done| done.failed) {
            return Ok(Outcome::failed(format!("I did not change {path}: {}.", why(&done.text))));
        }
        told.push(if changed {
            format!("I added {aspect} to {path}.")
        } else {
            format!("I found no place for {aspect} in {path}.")
        });
        text = if changed { new } else { text };
    }
    let again = run.world.tools.call(Can::Read, json!({"path": path, "limit": 200}));
    todo.step(aspects.len() + 1, again.into_iter().collect())?;
    todo.step(aspects.len() + 2, Vec::new())?;
    Ok(Outcome::told(told.join("\n")))
}

/// Mends the style of Python files.
pub fn review(run: &Run, dir: &str) -> Went {
    let items = ["Look for Python files", "Read the files", "Fix the style of what was read"];
    let todo = Todo { run, items: items.map(str::to_owned).to_vec() };
    todo.step(0, Vec::new())?;
    let (all, failure) = paths(run, &if dir == "." { "**/*.py".to_owned() } else { format!("{dir}/**/*.py") })?;
    if let Some(why) = failure {
        return Ok(Outcome::failed(format!("I could not look into {dir}: {why}.")));
    }
    let files: Vec<String> = all.into_iter().take(12).collect();
    let read = todo.step(1, files.iter().map(|path| call(run, path)).collect::<Result<Vec<_>, _>>()?)?;
    let mut calls = Vec::new();
    let mut told = Vec::new();
    for (path, done) in files.iter().zip(&read).filter(|(_, done)| !done.failed) {
        let text = without_numbers(&done.text);
        let new = mended(&text);
        if new.trim_end() != text.trim_end() {
            calls.extend(changing(run, path, &text, &new));
            told.push(path.clone());
        }
    }
    let done = todo.step(2, calls)?;
    todo.step(3, Vec::new())?;
    let failed: Vec<String> = told
        .iter()
        .zip(&done)
        .filter(|(_, done)| done.failed)
        .map(|(path, done)| format!("I did not change {path}: {}.", why(&done.text)))
        .collect();
    if !failed.is_empty() {
        return Ok(Outcome::failed(failed.join("\n")));
    }
    Ok(Outcome::told(if told.is_empty() {
        format!("I read {} Python files in {dir} and found nothing to mend.", files.len())
    } else {
        format!("I mended the style of {}.", listed(&told))
    }))
}

/// Makes a package: a docstring in each file, and nothing where a file is already.
pub fn package(run: &Run, dir: &str, files: &[String]) -> Went {
    let all: Vec<String> =
        files.iter().map(|file| format!("{}/{}", dir.trim_end_matches('/'), file.trim_start_matches("./"))).collect();
    let todo = Todo { run, items: all.iter().map(|path| format!("Create {path}")).collect() };
    todo.step(0, Vec::new())?;
    let name = dir.trim_end_matches('/').rsplit('/').next().unwrap_or(dir);
    let there = match there(run, &all)? {
        Ok(there) => there,
        Err(why) => return Ok(Outcome::failed(format!("I could not look into {dir}: {why}."))),
    };
    let mut told = Vec::new();
    for (at, path) in all.iter().enumerate() {
        if at > 0 {
            todo.step(at, Vec::new())?;
        }
        if there.contains(path) {
            told.push(format!("{path} is there already: I left it as it is."));
            continue;
        }
        let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".py");
        let title = if stem == "__init__" {
            format!("The package {name}.")
        } else {
            format!("{} of the package {name}.", crate::people::sentence(&stem.replace('_', " ")).trim_end_matches('.'))
        };
        let went = write(run, path, &format!("\"\"\"{title}\"\"\""), true)?;
        if went.failed {
            return Ok(went);
        }
        told.push(went.text);
    }
    todo.step(all.len(), Vec::new())?;
    Ok(Outcome::told(told.join("\n")))
}

/// In the user's style: tabs, single quotes.
fn styled(text: &str, (tabs, single): (bool, bool)) -> String {
    let text = if single {
        text.replace("\"\"\"", "\u{1}").replace('"', "'").replace('\u{1}', "\"\"\"")
    } else {
        text.to_owned()
    };
    if tabs { text.replace("    ", "\t") } else { text }
}

/// A file of which only the language is known.
pub fn greeting(style: (bool, bool)) -> String {
    styled(
        "def greet(name):\n    \"\"\"Greet somebody.\"\"\"\n    return \"Hello, \" + name + \"!\"\n\n\nif __name__ == \"__main__\":\n    print(greet(\"World\"))\n",
        style,
    )
}

/// A function of this signature. Only a slug has a body that can be known.
pub fn function(signature: &str, style: (bool, bool)) -> String {
    let name = signature.split('(').next().unwrap_or_default();
    let argument = signature.split(['(', ':', ',', ')']).nth(1).unwrap_or_default().trim();
    let text = if name.contains("slug") {
        format!(
            "import re\n\n\ndef {signature} -> str:\n    \"\"\"Make a slug: lower case, words joined by hyphens.\"\"\"\n    return \"-\".join(re.findall(r\"[a-z0-9]+\", {argument}.lower()))\n"
        )
    } else {
        format!(
            "def {signature}:\n    \"\"\"{}.\"\"\"\n    raise NotImplementedError(\"{name}\")\n",
            crate::people::sentence(&name.replace('_', " ")).trim_end_matches('.')
        )
    };
    styled(&text, style)
}

/// A module of so many functions, about a kilobyte each.
pub fn long(count: u32) -> String {
    let function = |number: u32| {
        let lines: String = (1..=12).map(|line| format!("    value = value + {line} * factor  # step {line} of function {number}, which adds its part to the value\n")).collect();
        format!(
            "def function_{number}(value, factor=1):\n    \"\"\"Add {number} weighted parts to a value, one after the other, and return it.\"\"\"\n{lines}    return value\n"
        )
    };
    let all: Vec<String> = (1..=count).map(function).collect();
    format!("\"\"\"A long module of {count} functions.\"\"\"\n\n\n{}", all.join("\n\n"))
}
