//! Acts that write.
//!
//! Invariants: a file is written over only when the request named it and gave its content; a change is an edit of what was
//! read; where nothing was said about a content, nothing is put there.

use serde_json::json;

use super::look::{is_missing, read, reading, text_of};
use super::python;
use crate::create::{Content, Sample};
use crate::history;
use crate::run::{Outcome, Run, Stop, Went};
use crate::slots::shell;
use crate::speak::{cut, gist, why};
use crate::tools::{Call, Can};

pub(super) fn create(run: &Run, path: &str, content: &Content) -> Went {
    let given = match content {
        Content::Given(text) => return write(run, path, text, false),
        Content::Sample(Sample::Table(name)) => {
            format!("CREATE TABLE {name} (\n    id INTEGER PRIMARY KEY,\n    name TEXT NOT NULL\n);")
        }
        Content::Sample(Sample::Function(signature)) => python::function(signature, &history::facts(run.world)),
        Content::Sample(Sample::Python) => python::greeting(&history::facts(run.world)),
        Content::Nothing => String::new(),
        Content::Found(sources) => return summary(run, path, sources),
        Content::Output => return output(run, path),
    };
    if run.world.tools.can(Can::Write) && run.world.tools.can(Can::Read) {
        return write_new(run, path, &given);
    }
    let file = shell(path);
    let command = if given.is_empty() {
        format!("touch {file}")
    } else {
        format!("[ ! -e {file} ] && printf '%s\\n' {} > {file}", lines_for_shell(&given))
    };
    let done = run.call(Can::Bash, json!({"command": command}))?;
    Ok(done.or_why(format!("I created {path}.")))
}

/// Writes a file whose content is not the user's: it must not take the place of anything.
pub(super) fn write_new(run: &Run, path: &str, text: &str) -> Went {
    match there(run, &[path.to_owned()])? {
        Ok(there) if there.is_empty() => write(run, path, text, true),
        Ok(_) => Ok(Outcome::failed(format!(
            "{path} is there already, and you did not say what it shall hold: I left it as it is."
        ))),
        Err(why) => Ok(Outcome::failed(format!("I did not create {path}: {why}."))),
    }
}

fn lines_for_shell(text: &str) -> String {
    text.lines().map(|line| format!("'{}'", line.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" ")
}

/// Which of these files are there. A pattern would not tell: it leaves out what git ignores.
pub(super) fn there(run: &Run, paths: &[String]) -> Result<Result<Vec<String>, String>, Stop> {
    if !run.world.tools.can(Can::Bash) {
        let done = run.calls(paths.iter().map(|path| (Can::Read, json!({"path": path}))).collect())?;
        if let Some(done) = done.iter().find(|done| done.failed && !is_missing(&done.text)) {
            return Ok(Err(why(&done.text)));
        }
        return Ok(Ok(paths
            .iter()
            .zip(&done)
            .filter(|(_, done)| !done.failed)
            .map(|(path, _)| path.clone())
            .collect()));
    }
    let bare = |path: &str| path.trim_start_matches("./").to_owned();
    // `find` says nothing of what is not there; `ls` calls it an error.
    let command = if paths.iter().all(|path| !path.starts_with('/') && !path.contains("..")) {
        let depth = paths.iter().map(|path| path.matches('/').count() + 1).max().unwrap_or(1);
        let words: Vec<String> = paths.iter().map(|path| shell(&format!("./{}", bare(path)))).collect();
        format!("find . -maxdepth {depth} -path {}", words.join(" -o -path "))
    } else {
        format!("ls -d {}", paths.iter().map(|path| shell(path)).collect::<Vec<_>>().join(" "))
    };
    let done = run.call(Can::Bash, json!({ "command": command }))?;
    if done.failed && !is_missing(&done.text) {
        return Ok(Err(why(&done.text)));
    }
    let is_told = |path: &&String| done.text.lines().any(|line| bare(line.trim()) == bare(path));
    Ok(Ok(paths.iter().filter(is_told).cloned().collect()))
}

/// Writes a file whose content is known.
pub(super) fn write(run: &Run, path: &str, text: &str, is_new: bool) -> Went {
    let text = if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let done = if run.world.tools.can(Can::Write) {
        run.call(Can::Write, json!({"path": path, "content": text}))?
    } else {
        let folder = path.rsplit_once('/').map(|(folder, _)| format!("mkdir -p {} && ", shell(folder)));
        let lines = lines_for_shell(&text);
        let command = format!("{}printf '%s\\n' {lines} > {}", folder.unwrap_or_default(), shell(path));
        run.call(Can::Bash, json!({ "command": command }))?
    };
    if done.failed {
        return Ok(Outcome::failed(format!("I did not write {path}: {}.", why(&done.text))));
    }
    let verb = if !is_new && done.text.contains("replaced") { "replaced" } else { "created" };
    let empty = if text.is_empty() { " It is empty: you did not say what it shall hold." } else { "" };
    Ok(Outcome::told(format!("I {verb} {path}.{empty}")).tagged(path, &text))
}

/// A skill of these words.
pub(super) fn skill(run: &Run, name: &str, text: &str) -> Went {
    let description = text.lines().next().unwrap_or_default();
    let content = format!("---\nname: {name}\ndescription: {description}\n---\n{text}\n");
    write(run, &format!("skills/{name}/SKILL.md"), &content, false)
}

/// What the steps before have found, or the last result of the conversation.
fn results(run: &Run) -> Vec<(String, String)> {
    let parts = run.found();
    if !parts.is_empty() {
        return parts;
    }
    let is_result = |call: &&crate::scene::Past| call.at < run.from && !call.failed && !call.text.is_empty();
    let last = run.world.scene.calls.iter().rfind(is_result);
    last.map(|call| (call.name.to_owned(), call.text.to_string())).into_iter().collect()
}

fn nothing_found(path: &str) -> Went {
    Ok(Outcome::failed(format!("I have found nothing that I could write to {path}.")))
}

/// Writes the results to a file, just as they are.
fn output(run: &Run, path: &str) -> Went {
    let texts: Vec<String> = results(run).into_iter().map(|(_, text)| text.trim_end().to_owned()).collect();
    if texts.is_empty() { nothing_found(path) } else { write(run, path, &texts.join("\n"), false) }
}

/// Writes what was found to a file: what files say, or the results before.
fn summary(run: &Run, path: &str, sources: &[String]) -> Went {
    let read = read(run, sources)?;
    if read.failed {
        return Ok(read);
    }
    let parts = if sources.is_empty() { results(run) } else { read.found };
    if parts.is_empty() {
        return nothing_found(path);
    }
    let is_file = |title: &str| title.contains('.') && !title.contains(' ');
    let part = |(title, text): &(String, String)| {
        format!("## {title}\n\n{}", if is_file(title) { gist(text) } else { cut(text.trim(), 6_000) })
    };
    let text = format!("# Summary\n\n{}", parts.iter().map(part).collect::<Vec<_>>().join("\n\n"));
    if !path.is_empty() {
        return write(run, path, &text, false);
    }
    let stem = |title: &str| {
        title.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default().to_lowercase()
    };
    let names: Vec<String> = parts.iter().filter(|(title, _)| is_file(title)).map(|(title, _)| stem(title)).collect();
    let of = if names.is_empty() { String::new() } else { format!("_of_{}", names.join("_")) };
    write_new(run, &format!("summary{of}.md"), &text)
}

/// The text of a file without the line numbers and the tag that another harness puts around it.
pub(super) fn without_numbers(text: &str) -> String {
    let inner = text.split_once("<content>\n").and_then(|(_, rest)| rest.split_once("</content>"));
    let inner = inner.map(|(inner, _)| inner);
    let strip = |line: &str| {
        let trimmed = line.trim_start();
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &trimmed[digits..];
        let bare = ["→", "\t", ": "].iter().find_map(|mark| rest.strip_prefix(mark));
        bare.or_else(|| (rest == ":").then_some("")).filter(|_| digits > 0).map(str::to_owned)
    };
    let is_line = |line: &&str| inner.is_none() || !line.is_empty() && !line.starts_with("(End");
    let lines = inner.unwrap_or(text).lines().filter(is_line).map(strip).collect::<Option<Vec<String>>>();
    let Some(mut lines) = lines.filter(|lines| !lines.is_empty()) else { return text.to_owned() };
    // The number behind the last line end.
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.join("\n") + "\n"
}

pub(super) fn replace(run: &Run, path: &str, old: &str, new: &str) -> Went {
    let told = format!("I replaced “{old}” by “{new}” in {path}.");
    let text = match text_of(run, path)? {
        Ok(text) => text,
        Err(failure) => return Ok(failure),
    };
    if run.world.tools.can(Can::Edit) {
        let done = run.call(Can::Edit, json!({"path": path, "old_text": old, "new_text": new}))?;
        let failure = || Outcome::failed(format!("I changed nothing in {path}: {}.", why(&done.text)));
        return Ok(if done.failed { failure() } else { Outcome::told(told) });
    }
    match text.matches(old).count() {
        1 => change(run, path, &text, &text.replacen(old, new, 1), &told),
        0 => Ok(Outcome::failed(format!("“{old}” does not occur in {path}: I changed nothing."))),
        many => Ok(Outcome::failed(format!(
            "“{old}” occurs {many} times in {path}: I changed nothing. Name more of the passage."
        ))),
    }
}

/// Turns what was read into what it shall be: an edit of the lines that differ, or the whole file where nothing edits.
fn change(run: &Run, path: &str, old: &str, new: &str, told: &str) -> Went {
    let no_tool = || Stop::Fail(format!("I have no tool here that edits {path}"));
    let done = run.made(vec![changing(run, path, old, new).ok_or_else(no_tool)?], "")?.remove(0);
    Ok(if done.failed {
        Outcome::failed(format!("I did not change {path}: {}.", why(&done.text)))
    } else {
        Outcome::told(told).tagged(path, new)
    })
}

/// The call for such a change.
pub(super) fn changing(run: &Run, path: &str, old: &str, new: &str) -> Option<Call> {
    let whole = || run.world.tools.call(Can::Write, json!({"path": path, "content": new}));
    if !run.world.tools.can(Can::Edit) {
        return whole();
    }
    let before: Vec<&str> = old.split_inclusive('\n').collect();
    let after: Vec<&str> = new.split_inclusive('\n').collect();
    let mut head = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let ends = before[head..].iter().rev().zip(after[head..].iter().rev());
    let mut tail = ends.take_while(|(one, other)| one == other).count();
    // The passage must occur once.
    loop {
        let passage: String = before[head..before.len() - tail].concat();
        if !passage.trim().is_empty() && old.matches(&passage).count() == 1 {
            let put: String = after[head..after.len() - tail].concat();
            return run.world.tools.call(Can::Edit, json!({"path": path, "old_text": passage, "new_text": put}));
        }
        match (head, tail) {
            (0, 0) => return whole(),
            (0, _) => tail -= 1,
            _ => head -= 1,
        }
    }
}

pub(super) fn append(run: &Run, path: &str, line: &str) -> Went {
    let told = format!("I added the line to {path}.");
    if !run.world.tools.can(Can::Edit) && !run.world.tools.can(Can::Write) {
        let (can, args) = reading(run, path);
        let there = run.call(can, args)?;
        if there.failed {
            return Ok(there.or_why(""));
        }
        let command = format!("printf '%s\\n' {} >> {}", lines_for_shell(line), shell(path));
        return Ok(run.call(Can::Bash, json!({ "command": command }))?.or_why(told));
    }
    match text_of(run, path)? {
        Err(failure) => Ok(failure),
        Ok(old) => {
            let end = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
            change(run, path, &old, &format!("{old}{end}{line}\n"), &told)
        }
    }
}

pub(super) fn long(run: &Run, path: &str, count: u32) -> Went {
    write_new(run, if path.is_empty() { "long_module.py" } else { path }, &python::long(count))
}
