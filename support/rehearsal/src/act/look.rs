//! Acts that look: reading, listing, finding.
//!
//! What was read in a long walk is noted beside the next calls, because an old result may be taken away. Invariant: nothing here
//! changes a file.

use serde_json::{Value, json};

use super::write::without_numbers;
use crate::run::{Done, Outcome, Run, Stop, Went, fail};
use crate::slots::{Slots, shell};
use crate::speak::{block, gist, shown, why};
use crate::tools::{Call, Can};
use crate::words::{Shape, Token, entry, has, set, tokens};

/// So many files are read at once, and so many in all.
const AT_ONCE: usize = 4;
const MOST_FILES: usize = 40;

/// The tool that reads a file, and its arguments.
pub(super) fn reading(run: &Run, path: &str) -> (Can, Value) {
    if run.world.tools.can(Can::Read) {
        (Can::Read, json!({"path": path}))
    } else {
        (Can::Bash, json!({"command": format!("cat {}", shell(path))}))
    }
}

/// The call that reads a file.
pub(super) fn reads(run: &Run, path: &str) -> Result<Call, Stop> {
    let (can, args) = reading(run, path);
    run.world.tools.call(can, args).map_or_else(|| fail("I have no tool here that reads."), Ok)
}

/// The text of a file.
pub(super) fn text_of(run: &Run, path: &str) -> Result<String, Stop> {
    let (can, args) = reading(run, path);
    Ok(without_numbers(&run.text(can, args, &format!("I could not read {path}"))?))
}

/// The result of reading a file.
fn file(run: &Run, path: &str) -> Result<Done, Stop> {
    let (can, args) = reading(run, path);
    run.call(can, args)
}

/// Whether the result of reading says that there is no such file.
pub(super) fn is_missing(text: &str) -> bool {
    let low = text.to_lowercase();
    let words = ["no such file", "not found", "does not exist", "cannot find", "there is no file"];
    words.iter().any(|words| low.contains(words))
}

pub(super) fn read(run: &Run, paths: &[String]) -> Went {
    run.each(
        paths,
        |path| reading(run, path),
        |path, done| {
            if done.failed {
                return Outcome::failed(format!("I could not read {path}: {}.", why(&done.text)));
            }
            let text = without_numbers(&done.text);
            Outcome::told(format!("{path}:\n{}", block(&text))).tagged(path, &text)
        },
    )
}

fn gists(found: &[(String, String)]) -> String {
    let lines: Vec<String> =
        found.iter().map(|(title, text)| format!("{title}: {}", gist(text))).collect();
    lines.join("\n")
}

pub(super) fn about(run: &Run, paths: &[String]) -> Went {
    let before = run.found();
    if paths.is_empty() && !before.is_empty() {
        return Ok(Outcome::told(gists(&before)));
    }
    let read =
        if paths.is_empty() { read(run, &["README.md".to_owned()])? } else { read(run, paths)? };
    Ok(if read.failed {
        read
    } else {
        Outcome {
            text: gists(&read.found),
            ..read
        }
    })
}

/// The paths that match a pattern.
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
    let is_path = |line: &&str| {
        !line.is_empty()
            && !line.starts_with(['(', '['])
            && !line.contains(": ")
            && !line.contains("no file")
    };
    let lines = text.lines().map(|line| line.trim().trim_start_matches("./"));
    Ok(lines.filter(is_path).map(str::to_owned).collect())
}

fn kind_of(pattern: &str) -> String {
    let ending = pattern.rsplit_once('.').map_or("", |(_, ending)| ending);
    entry("kinds", ending).map_or("file".to_owned(), |kind| format!("{kind} file"))
}

pub(super) fn find(run: &Run, pattern: &str) -> Went {
    let (kind, paths) = (kind_of(pattern), paths(run, pattern)?);
    let told = match paths.as_slice() {
        [] => format!("I found no {kind}s."),
        [one] => format!("I found 1 {kind}: {one}"),
        many => format!("I found {} {kind}s:\n{}", many.len(), block(&paths.join("\n"))),
    };
    Ok(Outcome::told(told).tagged(&format!("The {kind}s"), &paths.join("\n")))
}

pub(super) fn list(run: &Run, dir: &str) -> Went {
    let command = if dir == "." { "ls".to_owned() } else { format!("ls {}", shell(dir)) };
    let text = run.text(Can::Bash, json!({ "command": command }), "That did not work")?;
    Ok(Outcome::told(shown(&text)).tagged("The files", &text))
}

/// Reads a folder in batches. What was read is noted beside the next calls: an old result may be taken away.
pub(super) fn read_all(run: &Run, dir: &str, slots: &Slots) -> Went {
    let said = run.world.scene.said_since(run.from).chain([run.world.scene.summary]);
    let notes: Vec<&str> = said.flat_map(str::lines).collect();
    let noted = |head: &str| notes.iter().find_map(|line| line.strip_prefix(head));
    let files: Vec<String> = match noted("The files: ") {
        Some(list) => list.split(", ").map(str::to_owned).collect(),
        None => paths(run, &slots.pattern())?,
    };
    if files.is_empty() {
        return Ok(Outcome::told(format!("I found no files in {dir}.")));
    }
    let line = |(path, gist): &(String, String)| format!("- {path}: {gist}");
    let mut note = format!("The files: {}", files.join(", "));
    let mut found: Vec<(String, String)> = Vec::new();
    for batch in files[..files.len().min(MOST_FILES)].chunks(AT_ONCE) {
        let (mut fresh, mut missing) = (Vec::new(), Vec::new());
        for path in batch {
            let gist = match noted(&format!("- {path}: ")) {
                Some(gist) => gist.to_owned(),
                None => match run.made(vec![reads(run, path)?], "") {
                    Ok(done) if done[0].failed => format!("not read: {}", why(&done[0].text)),
                    Ok(done) => gist(&done[0].text),
                    Err(Stop::Call(calls, _)) => {
                        missing.extend(calls);
                        continue;
                    }
                    Err(stop) => return Err(stop),
                },
            };
            fresh.push((path.clone(), gist));
        }
        if !missing.is_empty() {
            return Err(Stop::Call(missing, note));
        }
        note = fresh.iter().map(line).collect::<Vec<_>>().join("\n");
        found.extend(fresh);
    }
    let mut text = found.iter().map(line).collect::<Vec<_>>().join("\n");
    if files.len() > MOST_FILES {
        text.push_str(&format!("\nI read the first {MOST_FILES} of {} files.", files.len()));
    }
    Ok(Outcome {
        found,
        ..Outcome::told(text)
    })
}

/// Whether a file is there; and what it holds, when the words ask for that too.
pub(super) fn exists(run: &Run, path: &str, words: &str) -> Went {
    let done = file(run, path)?;
    if is_missing(&done.text) && (done.failed || done.text.contains("exit code")) {
        return Ok(Outcome::told(format!("{path} does not exist.")));
    }
    if done.failed {
        return Ok(Outcome::failed(format!("I could not look at {path}: {}.", why(&done.text))));
    }
    let shows = tokens(words).iter().any(|token| token.is("content contents print show"));
    let told = if shows {
        format!("{path} exists:\n{}", block(&done.text))
    } else {
        format!("{path} exists.")
    };
    Ok(Outcome::told(told).tagged(path, &done.text))
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
        Some((found.iter().find(|(_, text)| text.contains(word))?, name))
    };
    let hit =
        set("frameworks").split(", ").filter_map(|known| known.split_once(": ")).find_map(says);
    Ok(Outcome::told(match hit {
        Some(((path, _), name)) => format!("The testing framework is {name}: {path} says so."),
        None => "I found no build file and no test that tells of a testing framework.".to_owned(),
    }))
}

/// Looks at the file that the steps before speak of.
pub(super) fn verify(run: &Run) -> Went {
    let parts: String =
        run.found().iter().map(|(title, body)| format!("{title} {body} ")).collect();
    let is_file = |token: &Token| {
        token.shape == Shape::Path && token.text.trim_start_matches('.').contains('.')
    };
    let named = tokens(&parts).into_iter().find(is_file).map(|token| token.text);
    let Some(path) = named.or_else(|| run.world.last_path.clone()) else {
        return fail("There is no file that I could look at.");
    };
    let done = file(run, &path)?;
    Ok(done.or_why(format!("I have looked myself. {path}:\n{}", block(&done.text))))
}
