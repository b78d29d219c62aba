//! Acts that write.
//!
//! Invariants: a file is written over only when the request named it and gave its content; a change is an edit of what was
//! read; where nothing was said about a content, nothing is put there.

use serde_json::json;

use super::look::{is_missing, read, text_of};
use super::python;
use crate::create::Content;
use crate::history;
use crate::run::{Outcome, Run, Stop, Went, fail};
use crate::slots::shell;
use crate::speak::{cut, gist, why};
use crate::tools::{Call, Can};

pub(super) fn create(run: &Run, path: &str, content: &Content) -> Went {
    let given = match content {
        Content::Given(text) => return write(run, path, text, false),
        Content::Sample(text) => python::styled(text, &history::facts(run.world)),
        Content::Nothing => String::new(),
        Content::Found(sources) => return results_to(run, path, Some(sources)),
        Content::Output => return results_to(run, path, None),
    };
    write_new(run, path, &given)
}

/// Writes a file whose content is not the user's: it must not take the place of anything.
pub(super) fn write_new(run: &Run, path: &str, text: &str) -> Went {
    if run.world.tools.can(Can::Write) {
        if !there(run, &[path.to_owned()])?.is_empty() {
            return fail(format!(
                "{path} is there already, and you did not say what it shall hold: I left it as it is."
            ));
        }
        return write(run, path, text, true);
    }
    let file = shell(path);
    let command = match text {
        "" => format!("touch {file}"),
        text => format!("[ ! -e {file} ] && printf '%s\\n' {} > {file}", lines_for_shell(text)),
    };
    Ok(run.call(Can::Bash, json!({ "command": command }))?.or_why(format!("I created {path}.")))
}

fn lines_for_shell(text: &str) -> String {
    text.lines()
        .map(|line| format!("'{}'", line.replace('\'', r"'\''")))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Which of these files are there. A pattern would not tell: it leaves out what git ignores.
pub(super) fn there(run: &Run, paths: &[String]) -> Result<Vec<String>, Stop> {
    let bare = |path: &str| path.trim_start_matches("./").to_owned();
    // `find` says nothing of what is not there; `ls` calls it an error.
    let command = if paths.iter().all(|path| !path.starts_with('/') && !path.contains("..")) {
        let depth = paths.iter().map(|path| path.matches('/').count() + 1).max().unwrap_or(1);
        let words: Vec<String> =
            paths.iter().map(|path| shell(&format!("./{}", bare(path)))).collect();
        format!("find . -maxdepth {depth} -path {}", words.join(" -o -path "))
    } else {
        format!("ls -d {}", paths.iter().map(|path| shell(path)).collect::<Vec<_>>().join(" "))
    };
    let done = run.call(Can::Bash, json!({ "command": command }))?;
    if done.failed && !is_missing(&done.text) {
        return fail(format!("I could not look for {}: {}.", paths.join(", "), why(&done.text)));
    }
    let is_told = |path: &&String| done.text.lines().any(|line| bare(line.trim()) == bare(path));
    Ok(paths.iter().filter(is_told).cloned().collect())
}

/// Writes a file whose content is known.
pub(super) fn write(run: &Run, path: &str, text: &str, is_new: bool) -> Went {
    let text =
        if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let (can, args) = if run.world.tools.can(Can::Write) {
        (Can::Write, json!({"path": path, "content": text}))
    } else {
        let folder =
            path.rsplit_once('/').map(|(folder, _)| format!("mkdir -p {} && ", shell(folder)));
        let lines = lines_for_shell(&text);
        let command =
            format!("{}printf '%s\\n' {lines} > {}", folder.unwrap_or_default(), shell(path));
        (Can::Bash, json!({ "command": command }))
    };
    let done = run.text(can, args, &format!("I did not write {path}"))?;
    let verb = if !is_new && done.contains("replaced") { "replaced" } else { "created" };
    let empty =
        if text.is_empty() { " It is empty: you did not say what it shall hold." } else { "" };
    Ok(Outcome::told(format!("I {verb} {path}.{empty}")).tagged(path, &text))
}

/// What the steps before have found, or the last result of the conversation.
fn results(run: &Run) -> Vec<(String, String)> {
    let parts = run.found();
    if !parts.is_empty() {
        return parts;
    }
    let is_result =
        |call: &&crate::scene::Past| call.at < run.from && !call.failed && !call.text.is_empty();
    let last = run.world.scene.calls.iter().rfind(is_result);
    last.map(|call| (call.name.to_owned(), call.text.to_string())).into_iter().collect()
}

/// Writes what was found to a file: as it is, or what files and results say.
fn results_to(run: &Run, path: &str, sources: Option<&[String]>) -> Went {
    let read = read(run, sources.unwrap_or_default())?;
    if read.failed {
        return Ok(read);
    }
    let parts = if sources.is_none_or(<[String]>::is_empty) { results(run) } else { read.found };
    if parts.is_empty() {
        return fail(format!("I have found nothing that I could write to {path}."));
    }
    if sources.is_none() {
        let texts: Vec<&str> = parts.iter().map(|(_, text)| text.trim_end()).collect();
        return write(run, path, &texts.join("\n"), false);
    }
    let is_file = |title: &str| title.contains('.') && !title.contains(' ');
    let part = |(title, text): &(String, String)| {
        format!(
            "## {title}\n\n{}",
            if is_file(title) { gist(text) } else { cut(text.trim(), 6_000) }
        )
    };
    let text = format!("# Summary\n\n{}", parts.iter().map(part).collect::<Vec<_>>().join("\n\n"));
    if path.is_empty() {
        write_new(run, "summary.md", &text)
    } else {
        write(run, path, &text, false)
    }
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
    let lines =
        inner.unwrap_or(text).lines().filter(is_line).map(strip).collect::<Option<Vec<String>>>();
    let Some(mut lines) = lines.filter(|lines| !lines.is_empty()) else { return text.to_owned() };
    // The number behind the last line end.
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.join("\n") + "\n"
}

pub(super) fn replace(run: &Run, path: &str, old: &str, new: &str) -> Went {
    // An edit wants a file that was read.
    text_of(run, path)?;
    let args = json!({"path": path, "old_text": old, "new_text": new});
    run.text(Can::Edit, args, &format!("I changed nothing in {path}"))?;
    Ok(Outcome::told(format!("I replaced “{old}” by “{new}” in {path}.")))
}

/// The call that turns what was read into what it shall be: an edit of the lines that differ, or the whole file where
/// nothing edits.
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
            return run
                .world
                .tools
                .call(Can::Edit, json!({"path": path, "old_text": passage, "new_text": put}));
        }
        match (head, tail) {
            (0, 0) => return whole(),
            (0, _) => tail -= 1,
            _ => head -= 1,
        }
    }
}
