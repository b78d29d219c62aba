//! Acts with files: reading, listing, finding, writing, changing.
//!
//! What was read in a long walk is noted beside the next calls, because an old result may be taken away. Invariants: a file is
//! written over only when the request named it and gave its content; a change is an edit of what was read.

use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::json;

use super::python;
use crate::history;
use crate::run::{Content, Outcome, Run, Stop, Went, fail};
use crate::scene::Past;
use crate::slots::{Slots, in_quotes, shell};
use crate::speak::{block, cut, gist, why};
use crate::tools::{Call, Can};
use crate::words::{Shape, Token, entry, has, set, tokens};

/// So many files are read at once, and so many in all.
const AT_ONCE: usize = 4;
const MOST_FILES: usize = 40;

pub(super) fn reads(run: &Run, path: &str) -> Result<Call, Stop> {
    let cat = || json!({"command": format!("cat {}", shell(path))});
    let call = run.world.tools.call(Can::Read, json!({"path": path}));
    let call = call.or_else(|| run.world.tools.call(Can::Bash, cat()));
    call.map_or_else(|| fail("I have no tool here that reads."), Ok)
}

fn reading<'r, 'w>(run: &Run<'r, 'w>, path: &str) -> Result<&'r Past<'w>, Stop> {
    Ok(run.made(vec![reads(run, path)?], "")?.remove(0))
}

/// Whether the result of reading says that there is no such file.
pub(super) fn is_missing(text: &str) -> bool {
    let low = text.to_lowercase();
    let words = ["no such file", "not found", "does not exist", "cannot find", "there is no file"];
    words.iter().any(|words| low.contains(words))
}

pub(super) fn read(run: &Run, paths: &[String]) -> Went {
    let calls: Vec<Call> = paths.iter().map(|path| reads(run, path)).collect::<Result<_, _>>()?;
    let all = paths.iter().zip(run.made(calls, "")?);
    Ok(all.map(|(path, done)| shown_file(path, done)).collect())
}

fn shown_file(path: &str, done: &Past) -> Outcome {
    if done.failed {
        return Outcome::failed(format!("I could not read {path}: {}.", why(&done.text)));
    }
    let text = without_numbers(&done.text);
    Outcome::told(format!("{path}:\n{}", block(&text))).tagged(path, &text)
}

pub(super) fn about(run: &Run, paths: &[String]) -> Went {
    let before = run.found();
    if !paths.is_empty() || before.is_empty() {
        let readme = ["README.md".to_owned()];
        return walk(run, if paths.is_empty() { &readme } else { paths }, String::new());
    }
    let gists = before.iter().map(|(title, text)| format!("{title}: {}", gist(text)));
    Ok(Outcome::told(gists.collect::<Vec<_>>().join("\n")))
}

pub(super) fn paths(run: &Run, pattern: &str) -> Result<Vec<String>, Stop> {
    let or = format!("I could not look for {pattern}");
    let text = if run.world.tools.can(Can::Glob) {
        run.text(Can::Glob, json!({"pattern": pattern}), &or)?
    } else {
        let (dir, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
        let dir = dir.trim_end_matches("**").trim_end_matches('/');
        let dir = shell(if dir.is_empty() { "." } else { dir });
        let command = format!("find {dir} -type f -name '{name}' -not -path '*/.*'");
        run.text(Can::Bash, json!({ "command": command }), &or)?
    };
    let is_note = |line: &str| {
        line.starts_with(['(', '[']) || line.contains(": ") || line.contains("no file")
    };
    let is_path = |line: &&str| !line.is_empty() && !is_note(line);
    let lines = text.lines().map(|line| line.trim().trim_start_matches("./"));
    Ok(lines.filter(is_path).map(str::to_owned).collect())
}

pub(super) fn find(run: &Run, pattern: &str) -> Went {
    let ending = pattern.rsplit_once('.').map_or("", |(_, ending)| ending);
    let kind = entry("kinds", ending).map_or("file".to_owned(), |kind| format!("{kind} file"));
    let paths = paths(run, pattern)?;
    let told = match paths.as_slice() {
        [] => format!("I found no {kind}s."),
        [one] => format!("I found 1 {kind}: {one}"),
        many => format!("I found {} {kind}s:\n{}", many.len(), block(&paths.join("\n"))),
    };
    Ok(Outcome::told(told).tagged(&format!("The {kind}s"), &paths.join("\n")))
}

/// Says what each file of a folder is about.
pub(super) fn read_all(run: &Run, dir: &str, slots: &Slots) -> Went {
    let files: Vec<String> = match noted(run, "The files: ") {
        Some(list) => list.split(", ").map(str::to_owned).collect(),
        None => paths(run, &slots.pattern())?,
    };
    let some = &files[..files.len().min(MOST_FILES)];
    let mut told = walk(run, some, format!("The files: {}", files.join(", ")))?;
    if files.is_empty() {
        told.text = format!("I found no files in {dir}.");
    } else if files.len() > MOST_FILES {
        let all = files.len();
        told.text.push_str(&format!("\nI read the first {MOST_FILES} of {all} files."));
    }
    // One that cannot be read is no reason to leave the rest.
    told.failed = false;
    Ok(told)
}

/// What stands behind a head in what was said since the request.
fn noted<'r>(run: &Run<'r, '_>, head: &str) -> Option<&'r str> {
    let said = run.world.scene.said_since(run.from);
    said.flat_map(str::lines).find_map(|line| line.strip_prefix(head))
}

/// Reads files in batches, and says what each is about. What was read is noted beside the next calls: an old result may be
/// taken away.
pub(super) fn walk(run: &Run, files: &[String], mut note: String) -> Went {
    let line = |(path, gist): &(String, String)| format!("- {path}: {gist}");
    let noted = |path: &String| noted(run, &format!("- {path}: "));
    let mut told = Outcome::default();
    for batch in files.chunks(AT_ONCE) {
        let open = batch.iter().filter(|path| noted(path).is_none());
        let calls = open.map(|path| reads(run, path)).collect::<Result<_, _>>()?;
        let past = run.made(calls, &note)?;
        told.failed |= past.iter().any(|done| done.failed);
        let mut gists = past.iter().map(|done| {
            let failed = done.failed.then(|| format!("I could not read it: {}", why(&done.text)));
            failed.unwrap_or_else(|| gist(&without_numbers(&done.text)))
        });
        let mut gist = |path: &String| noted(path).map(str::to_owned).or_else(|| gists.next());
        let fresh: Vec<_> =
            batch.iter().map(|path| (path.clone(), gist(path).unwrap_or_default())).collect();
        note = fresh.iter().map(line).collect::<Vec<_>>().join("\n");
        told.found.extend(fresh);
    }
    told.text = told.found.iter().map(line).collect::<Vec<_>>().join("\n");
    if files.len() == 1 {
        told.text = told.text.trim_start_matches("- ").to_owned();
    }
    Ok(told)
}

/// Whether a file is there; and what it holds, when the words ask for that too.
pub(super) fn exists(run: &Run, path: &str, words: &str) -> Went {
    let done = reading(run, path)?;
    if is_missing(&done.text) && (done.failed || done.text.contains("exit code")) {
        return Ok(Outcome::told(format!("{path} does not exist.")));
    }
    let shows = tokens(words).iter().any(|token| token.is("content contents print show"));
    if done.failed || shows {
        return Ok(shown_file(path, done));
    }
    Ok(Outcome::told(format!("{path} exists.")).tagged(path, &done.text))
}

pub(super) fn framework(run: &Run) -> Went {
    let is_telling = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        has(set("build-files"), name) || (name.starts_with("test_") && name.ends_with(".py"))
    };
    let mut telling = paths(run, "**/*")?;
    telling.retain(is_telling);
    telling.sort_by_key(|path| (path.matches('/').count(), path.clone()));
    telling.truncate(4);
    let found = read(run, &telling)?.found;
    let says = |(word, name): (&str, &'static str)| {
        Some((&found.iter().find(|(_, text)| text.contains(word))?.0, name))
    };
    let mut known = set("frameworks").split(", ").filter_map(|known| known.split_once(": "));
    Ok(Outcome::told(match known.find_map(says) {
        Some((path, name)) => format!("The testing framework is {name}: {path} says so."),
        None => "I found no build file and no test that tells of a testing framework.".to_owned(),
    }))
}

/// Looks at the file that the steps before speak of.
pub(super) fn verify(run: &Run) -> Went {
    let part = |(title, body): &(String, String)| format!("{title} {body} ");
    let parts: String = run.found().iter().map(part).collect();
    let is_file = |token: &Token| {
        token.shape == Shape::Path && token.text.trim_start_matches('.').contains('.')
    };
    let named = tokens(&parts).into_iter().find(is_file).map(|token| token.text);
    match named.or_else(|| run.world.last_path.clone()) {
        Some(path) => read(run, &[path]),
        None => fail("There is no file that I could look at."),
    }
}

pub(super) fn create(run: &Run, path: &str, content: &Content) -> Went {
    let sources = match content {
        Content::Given(text) => return write(run, path, text, false),
        Content::Sample(text) => {
            let facts = history::facts(run.world.scene, run.world.system);
            return write_new(run, path, &python::styled(text, &facts));
        }
        Content::Nothing => return write_new(run, path, ""),
        Content::Output => &[],
        Content::Found(sources) => sources.as_slice(),
    };
    let read = read(run, sources)?;
    if read.failed {
        return Ok(read);
    }
    let mut parts = if sources.is_empty() { run.found() } else { read.found };
    if parts.is_empty() {
        let is_result = |call: &&Past| call.at < run.from && !call.failed && !call.text.is_empty();
        let last = run.world.scene.calls.iter().rfind(is_result);
        parts.extend(last.map(|call| (call.name.to_owned(), call.text.to_string())));
    }
    let is_file = |title: &str| title.contains('.') && !title.contains(' ');
    let part = |(title, text): &(String, String)| match content {
        Content::Output => text.trim_end().to_owned(),
        _ if is_file(title) => format!("\n## {title}\n\n{}", gist(text)),
        _ => format!("\n## {title}\n\n{}", cut(text.trim(), 6_000)),
    };
    let text = parts.iter().map(part).collect::<Vec<_>>().join("\n");
    match (content, path) {
        _ if parts.is_empty() => {
            fail(format!("I have found nothing that I could write to {path}."))
        }
        (Content::Output, _) => write(run, path, &text, false),
        (_, "") => write_new(run, "summary.md", &format!("# Summary\n{text}")),
        _ => write(run, path, &format!("# Summary\n{text}"), false),
    }
}

/// Writes a file whose content is not the user's: it must not take the place of anything.
pub(super) fn write_new(run: &Run, path: &str, text: &str) -> Went {
    if run.world.tools.can(Can::Write) && !there(run, &[path.to_owned()])?.is_empty() {
        return fail(format!(
            "{path} is there already, and you did not say what it shall hold: I left it as it is."
        ));
    }
    write(run, path, text, true)
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
        let (file, folder) = (shell(path), path.rsplit_once('/'));
        let folder = folder.map(|(folder, _)| format!("mkdir -p {} && ", shell(folder)));
        let guard =
            if is_new { format!("[ ! -e {file} ] && ") } else { folder.unwrap_or_default() };
        let lines: Vec<String> = text.lines().map(in_quotes).collect();
        let command = match text.as_str() {
            "" => format!("touch {file}"),
            _ => format!("{guard}printf '%s\\n' {} > {file}", lines.join(" ")),
        };
        (Can::Bash, json!({ "command": command }))
    };
    let done = run.text(can, args, &format!("I did not write {path}"))?;
    let verb = if !is_new && done.contains("replaced") { "replaced" } else { "created" };
    let told = match text.as_str() {
        "" => format!("I {verb} {path}. It is empty: you did not say what it shall hold."),
        _ => format!("I {verb} {path}."),
    };
    Ok(Outcome::told(told).tagged(path, &text))
}

/// The text of a file without the line numbers and the tag that another harness puts around it.
pub(super) fn without_numbers(text: &str) -> String {
    static NUMBERED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\s*\d+(?:→|\t|: |:$)(.*)$").expect("it is one"));
    let inner = text.split_once("<content>\n").and_then(|(_, rest)| rest.split_once("</content>"));
    let is_line = |line: &&str| inner.is_none() || !line.is_empty() && !line.starts_with("(End");
    let all = inner.map_or(text, |(inner, _)| inner).lines().filter(is_line);
    let bare = |line| Some(NUMBERED.captures(line)?.get(1)?.as_str());
    let lines = all.map(bare).collect::<Option<Vec<&str>>>().filter(|lines| !lines.is_empty());
    let Some(lines) = lines else { return text.to_owned() };
    let bare = lines.join("\n");
    // The number behind the last line end.
    format!("{}\n", bare.strip_suffix('\n').unwrap_or(&bare))
}

pub(super) fn replace(run: &Run, path: &str, old: &str, new: &str) -> Went {
    // An edit wants a file that was read.
    let read = read(run, &[path.to_owned()])?;
    if read.failed {
        return Ok(read);
    }
    let args = json!({"path": path, "old_text": old, "new_text": new});
    run.text(Can::Edit, args, &format!("I changed nothing in {path}"))?;
    Ok(Outcome::told(format!("I replaced “{old}” by “{new}” in {path}.")))
}
