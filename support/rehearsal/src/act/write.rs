//! Acts that write.
//!
//! Invariants: a file is written over only when the request named it and gave its content; a change is an edit of what was
//! read; where nothing was said about a content, nothing is put there.

use serde_json::json;

use super::look::{read, reading};
use super::{is_missing, outcome};
use crate::create::{Content, Sample};
use crate::engine::{Outcome, Run, Stop, Went};
use crate::history;
use crate::python;
use crate::speak::{cut, gist, why};
use crate::tools::{Call, Can};
use crate::understand::shell;

/// What is asked of the user's style: tabs, and single quotes.
pub(crate) fn style(run: &Run) -> (bool, bool) {
    let facts = history::facts(run.world).join("\n").to_lowercase();
    let prefers = |wanted: &str, other: &str| {
        let at = |word: &str| facts.rfind(word);
        match (at(wanted), at(other)) {
            (Some(_), None) => true,
            (Some(wanted_at), Some(other_at)) => {
                wanted_at < other_at || facts[..other_at].ends_with("not ") || facts.contains(&format!("over {other}"))
            }
            (None, _) => false,
        }
    };
    (prefers("tabs", "spaces"), prefers("single quote", "double quote"))
}

pub(crate) fn create(run: &Run, path: &str, content: &Content) -> Went {
    let given = match content {
        Content::Given(text) => return write(run, path, text, false),
        Content::Sample(Sample::Table(name)) => {
            format!("CREATE TABLE {name} (\n    id INTEGER PRIMARY KEY,\n    name TEXT NOT NULL\n);")
        }
        Content::Sample(Sample::Function(signature)) => python::function(signature, style(run)),
        Content::Sample(Sample::Python) => python::greeting(style(run)),
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
    Ok(outcome(&done, format!("I created {path}.")))
}

/// Writes a file whose content is not the user's: it must not take the place of anything.
fn write_new(run: &Run, path: &str, text: &str) -> Went {
    match there(run, &[path.to_owned()])? {
        Ok(there) if there.is_empty() => write(run, path, text, true),
        Ok(_) => Ok(Outcome::failed(format!(
            "{path} is there already, and you did not say what it shall hold: I left it as it is."
        ))),
        Err(why) => Ok(Outcome::failed(format!("I did not create {path}: {why}."))),
    }
}

pub(crate) fn lines_for_shell(text: &str) -> String {
    text.lines().map(|line| format!("'{}'", line.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" ")
}

/// Which of these files are there. A pattern would not tell: it leaves out what git ignores.
pub(crate) fn there(run: &Run, paths: &[String]) -> Result<Result<Vec<String>, String>, Stop> {
    if run.world.tools.can(Can::Bash) {
        let is_below = paths.iter().all(|path| !path.starts_with('/') && !path.contains(".."));
        let depth = paths.iter().map(|path| path.matches('/').count() + 1).max().unwrap_or(1);
        let words: Vec<String> = paths
            .iter()
            .map(|path| shell(&if is_below { format!("./{}", path.trim_start_matches("./")) } else { path.clone() }))
            .collect();
        // `find` says nothing of what is not there; `ls` calls it an error.
        let command = if is_below {
            format!("find . -maxdepth {depth} -path {}", words.join(" -o -path "))
        } else {
            format!("ls -d {}", words.join(" "))
        };
        let done = run.call(Can::Bash, json!({ "command": command }))?;
        if done.failed && !is_missing(&done.text) {
            return Ok(Err(why(&done.text)));
        }
        let is_told = |path: &&String| {
            done.text.lines().any(|line| line.trim().trim_start_matches("./") == path.trim_start_matches("./"))
        };
        return Ok(Ok(paths.iter().filter(is_told).cloned().collect()));
    }
    let done = run.calls(paths.iter().map(|path| (Can::Read, json!({"path": path}))).collect())?;
    if let Some(done) = done.iter().find(|done| done.failed && !is_missing(&done.text)) {
        return Ok(Err(why(&done.text)));
    }
    Ok(Ok(paths.iter().zip(&done).filter(|(_, done)| !done.failed).map(|(path, _)| path.clone()).collect()))
}

/// Writes a file whose content is known.
pub(crate) fn write(run: &Run, path: &str, text: &str, is_new: bool) -> Went {
    let text = if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let done = if run.world.tools.can(Can::Write) {
        run.call(Can::Write, json!({"path": path, "content": text}))?
    } else {
        let folder =
            path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("mkdir -p {} && ", shell(folder)));
        run.call(
            Can::Bash,
            json!({"command": format!("{folder}printf '%s\\n' {} > {}", lines_for_shell(&text), shell(path))}),
        )?
    };
    if done.failed {
        return Ok(Outcome::failed(format!("I did not write {path}: {}.", why(&done.text))));
    }
    let verb = if !is_new && done.text.contains("replaced") { "replaced" } else { "created" };
    let empty = if text.is_empty() { " It is empty: you did not say what it shall hold." } else { "" };
    Ok(Outcome::told(format!("I {verb} {path}.{empty}")).tagged(path, &text))
}

/// What the steps before have found, or the last result of the conversation.
fn results(run: &Run) -> Vec<(String, String)> {
    let parts: Vec<(String, String)> = run.before.borrow().iter().flat_map(|outcome| outcome.found.clone()).collect();
    if !parts.is_empty() {
        return parts;
    }
    let is_result = |call: &&crate::scene::Past| call.at < run.from && !call.failed && !call.text.is_empty();
    let last = run.world.scene.calls.iter().rev().find(is_result);
    last.map(|call| (call.name.to_owned(), call.text.to_string())).into_iter().collect()
}

/// Writes the results to a file, just as they are.
fn output(run: &Run, path: &str) -> Went {
    let texts: Vec<String> = results(run).into_iter().map(|(_, text)| text.trim_end().to_owned()).collect();
    if texts.is_empty() {
        return Ok(Outcome::failed(format!("I have found nothing that I could write to {path}.")));
    }
    write(run, path, &texts.join("\n"), false)
}

/// Writes what was found to a file: what files say, or the results before.
pub(crate) fn summary(run: &Run, path: &str, sources: &[String]) -> Went {
    let parts = if sources.is_empty() {
        results(run)
    } else {
        let read = read(run, sources)?;
        if read.failed {
            return Ok(read);
        }
        read.found
    };
    if parts.is_empty() {
        return Ok(Outcome::failed(format!("I have found nothing that I could write to {path}.")));
    }
    let is_file = |title: &str| title.contains('.') && !title.contains(' ');
    let body: Vec<String> = parts
        .iter()
        .map(|(title, text)| {
            format!("## {title}\n\n{}", if is_file(title) { gist(text) } else { cut(text.trim(), 6_000) })
        })
        .collect();
    let names: Vec<String> = parts
        .iter()
        .filter(|(title, _)| is_file(title))
        .map(|(title, _)| {
            title.rsplit('/').next().unwrap_or(title).split('.').next().unwrap_or_default().to_lowercase()
        })
        .collect();
    let text = format!("# Summary\n\n{}", body.join("\n\n"));
    match (path, names.as_slice()) {
        ("", []) => write_new(run, "summary.md", &text),
        ("", names) => write_new(run, &format!("summary_of_{}.md", names.join("_")), &text),
        (path, _) => write(run, path, &text, false),
    }
}

/// The text of a file without the line numbers and the tag that another harness puts around it.
pub(crate) fn without_numbers(text: &str) -> String {
    let inner =
        text.split_once("<content>\n").and_then(|(_, rest)| rest.split_once("</content>")).map(|(inner, _)| inner);
    let strip = |line: &str| {
        let trimmed = line.trim_start();
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &trimmed[digits..];
        let bare = rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t')).or_else(|| rest.strip_prefix(": "));
        bare.or_else(|| (rest == ":").then_some("")).filter(|_| digits > 0).map(str::to_owned)
    };
    let lines =
        inner.unwrap_or(text).lines().filter(|line| inner.is_none() || !line.is_empty() && !line.starts_with("(End"));
    let Some(mut lines) = lines.map(strip).collect::<Option<Vec<String>>>().filter(|lines| !lines.is_empty()) else {
        return text.to_owned();
    };
    // The number behind the last line end.
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.join("\n") + "\n"
}

pub(crate) fn replace(run: &Run, path: &str, old: &str, new: &str) -> Went {
    let (can, args) = reading(run, path);
    let done = run.call(can, args)?;
    if done.failed {
        return Ok(Outcome::failed(format!("I could not read {path}: {}.", why(&done.text))));
    }
    if run.world.tools.can(Can::Edit) {
        let done = run.call(Can::Edit, json!({"path": path, "old_text": old, "new_text": new}))?;
        return Ok(if done.failed {
            Outcome::failed(format!("I changed nothing in {path}: {}.", why(&done.text)))
        } else {
            Outcome::told(format!("I replaced “{old}” by “{new}” in {path}."))
        });
    }
    match done.text.matches(old).count() {
        1 => change(
            run,
            path,
            &done.text,
            &done.text.replacen(old, new, 1),
            &format!("I replaced “{old}” by “{new}” in {path}."),
        ),
        0 => Ok(Outcome::failed(format!("“{old}” does not occur in {path}: I changed nothing."))),
        many => Ok(Outcome::failed(format!(
            "“{old}” occurs {many} times in {path}: I changed nothing. Name more of the passage."
        ))),
    }
}

/// Turns what was read into what it shall be: an edit of the lines that differ, or the whole file where nothing edits.
pub(crate) fn change(run: &Run, path: &str, old: &str, new: &str, told: &str) -> Went {
    let call =
        changing(run, path, old, new).ok_or_else(|| Stop::Fail(format!("I have no tool here that edits {path}")))?;
    let done = run.made(vec![call], "")?.remove(0);
    Ok(if done.failed {
        Outcome::failed(format!("I did not change {path}: {}.", why(&done.text)))
    } else {
        Outcome::told(told).tagged(path, new)
    })
}

/// The call for such a change.
pub(crate) fn changing(run: &Run, path: &str, old: &str, new: &str) -> Option<Call> {
    if !run.world.tools.can(Can::Edit) {
        return run.world.tools.call(Can::Write, json!({"path": path, "content": new}));
    }
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let same = |one: &[&str], other: &[&str], from_end: bool| {
        let pairs = one.len().min(other.len());
        (0..pairs)
            .take_while(|at| {
                if from_end { one[one.len() - 1 - at] == other[other.len() - 1 - at] } else { one[*at] == other[*at] }
            })
            .count()
    };
    let mut head = same(&before, &after, false);
    let mut tail = same(&before[head..], &after[head..], true);
    // The passage must occur once.
    loop {
        let passage: String = before[head..before.len() - tail].concat();
        if !passage.trim().is_empty() && old.matches(&passage).count() == 1 {
            let put: String = after[head..after.len() - tail].concat();
            return run.world.tools.call(Can::Edit, json!({"path": path, "old_text": passage, "new_text": put}));
        }
        match (head, tail) {
            (0, 0) => return run.world.tools.call(Can::Write, json!({"path": path, "content": new})),
            (0, _) => tail -= 1,
            _ => head -= 1,
        }
    }
}

pub(crate) fn append(run: &Run, path: &str, line: &str) -> Went {
    let (can, args) = reading(run, path);
    let done = run.call(can, args)?;
    if done.failed {
        return Ok(Outcome::failed(format!("I could not read {path}: {}.", why(&done.text))));
    }
    let old = without_numbers(&done.text);
    if !run.world.tools.can(Can::Edit) && !run.world.tools.can(Can::Write) {
        let done = run.call(
            Can::Bash,
            json!({"command": format!("printf '%s\\n' {} >> {}", lines_for_shell(line), shell(path))}),
        )?;
        return Ok(outcome(&done, format!("I added the line to {path}.")));
    }
    let end = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
    change(run, path, &old, &format!("{old}{end}{line}\n"), &format!("I added the line to {path}."))
}

pub(crate) fn long(run: &Run, path: Option<&str>, count: u32) -> Went {
    let text = python::long(count.min(400));
    match path {
        Some(path) => write_new(run, path, &text),
        None => Ok(Outcome::told(format!("```python\n{text}```"))),
    }
}
