//! Acts that look: reading, listing, finding.
//!
//! What was read in a long walk is noted beside the next calls, because an old result may be taken away. Invariant: nothing here
//! changes a file.

use serde_json::{Value, json};

use super::write::without_numbers;
use crate::run::{Done, Outcome, Run, Stop, Went};
use crate::slots::shell;
use crate::speak::{block, gist, listed, shown, why};
use crate::tools::{Call, Can};
use crate::words::{Shape, has, tokens};

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
    run.world.tools.call(can, args).ok_or_else(|| Stop::Fail("I have no tool here that reads".into()))
}

/// The text of a file; the error is the outcome that says why there is none.
pub(super) fn text_of(run: &Run, path: &str) -> Result<Result<String, Outcome>, Stop> {
    let done = run.made(vec![reads(run, path)?], "")?.remove(0);
    if done.failed {
        return Ok(Err(Outcome::failed(format!("I could not read {path}: {}.", why(&done.text)))));
    }
    Ok(Ok(without_numbers(&done.text)))
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

pub(super) fn lines(run: &Run, path: &str, count: u32, from_top: bool) -> Went {
    let done = if from_top && run.world.tools.can(Can::Read) {
        run.call(Can::Read, json!({"path": path, "limit": count}))?
    } else {
        let program = if from_top { "head" } else { "tail" };
        run.call(Can::Bash, json!({"command": format!("{program} -n {count} {}", shell(path))}))?
    };
    Ok(done.or_why(format!("{path}:\n{}", block(&done.text))))
}

fn gists(found: &[(String, String)]) -> String {
    let lines: Vec<String> = found.iter().map(|(title, text)| format!("{title}: {}", gist(text))).collect();
    lines.join("\n")
}

pub(super) fn about(run: &Run, paths: &[String]) -> Went {
    let before = run.found();
    if paths.is_empty() && !before.is_empty() {
        return Ok(Outcome::told(gists(&before)));
    }
    let read = if paths.is_empty() { read(run, &["README.md".to_owned()])? } else { read(run, paths)? };
    Ok(if read.failed { read } else { Outcome { text: gists(&read.found), ..read } })
}

/// The paths that match a pattern, or why nobody knows.
pub(super) fn paths(run: &Run, pattern: &str) -> Result<Result<Vec<String>, Outcome>, Stop> {
    let done = if run.world.tools.can(Can::Glob) {
        run.call(Can::Glob, json!({"pattern": pattern}))?
    } else {
        let (dir, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
        let dir = dir.trim_end_matches("**").trim_end_matches('/');
        let dir = shell(if dir.is_empty() { "." } else { dir });
        run.call(Can::Bash, json!({"command": format!("find {dir} -type f -name '{name}' -not -path '*/.*'")}))?
    };
    if done.failed {
        return Ok(Err(Outcome::failed(format!("I could not look for {pattern}: {}.", why(&done.text)))));
    }
    let is_path = |line: &&str| !line.is_empty() && !line.starts_with(['(', '[']) && !line.contains(": ");
    let lines = done.text.lines().map(|line| line.trim().trim_start_matches("./"));
    Ok(Ok(lines.filter(is_path).filter(|line| !line.contains("no file")).map(str::to_owned).collect()))
}

fn kind_of(pattern: &str) -> &'static str {
    match pattern.rsplit_once('.').map(|(_, ending)| ending) {
        Some("py") => "Python file",
        Some("rs") => "Rust file",
        Some("md") => "Markdown file",
        _ => "file",
    }
}

pub(super) fn find(run: &Run, pattern: &str) -> Went {
    let kind = kind_of(pattern);
    Ok(match paths(run, pattern)? {
        Err(failure) => failure,
        Ok(paths) => {
            let told = match paths.as_slice() {
                [] => format!("I found no {kind}s."),
                [one] => format!("I found 1 {kind}: {one}"),
                many => format!("I found {} {kind}s:\n{}", many.len(), block(&paths.join("\n"))),
            };
            Outcome::told(told).tagged(&format!("The {kind}s"), &paths.join("\n"))
        }
    })
}

pub(super) fn count(run: &Run, pattern: &str) -> Went {
    let told = |paths: Vec<String>| Outcome::told(format!("There are {} {}s.", paths.len(), kind_of(pattern)));
    Ok(paths(run, pattern)?.map_or_else(|failure| failure, told))
}

pub(super) fn list(run: &Run, dir: &str) -> Went {
    if !run.world.tools.can(Can::Bash) {
        return find(run, &if dir == "." { "*".to_owned() } else { format!("{dir}/*") });
    }
    let command = if dir == "." { "ls".to_owned() } else { format!("ls {}", shell(dir)) };
    let done = run.call(Can::Bash, json!({"command": command}))?;
    Ok(done.or_why(shown(&done.text)).tagged("The files", &done.text))
}

/// Reads a folder in batches. What was read is noted beside the next calls: an old result may be taken away.
pub(super) fn read_all(run: &Run, dir: &str, kind: Option<&str>) -> Went {
    let said = run.world.scene.said_since(run.from).chain([run.world.scene.summary]);
    let notes: Vec<&str> = said.flat_map(str::lines).collect();
    let files: Vec<String> = match notes.iter().find_map(|line| line.strip_prefix("The files: ")) {
        Some(list) => list.split(", ").map(str::to_owned).collect(),
        None => {
            let name =
                kind.map_or("*".to_owned(), |kind| if kind.contains('*') { kind.into() } else { format!("*.{kind}") });
            let folder = if dir == "." { String::new() } else { format!("{dir}/") };
            match paths(run, &format!("{folder}**/{name}"))? {
                Ok(files) => files,
                Err(failure) => return Ok(failure),
            }
        }
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
            let head = format!("- {path}: ");
            if let Some(gist) = notes.iter().find_map(|line| line.strip_prefix(head.as_str())) {
                fresh.push((path.clone(), gist.to_owned()));
                continue;
            }
            match run.made(vec![reads(run, path)?], "") {
                Ok(done) => fresh.push((path.clone(), gist_or_why(&done[0]))),
                Err(Stop::Call(calls, _)) => missing.extend(calls),
                Err(stop) => return Err(stop),
            }
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
    Ok(Outcome { found, ..Outcome::told(text) })
}

fn gist_or_why(done: &Done) -> String {
    if done.failed { format!("not read: {}", why(&done.text)) } else { gist(&done.text) }
}

/// Whether a file is there; and what it holds, when the words ask for that too.
pub(super) fn exists(run: &Run, path: &str, words: &str) -> Went {
    let (can, args) = reading(run, path);
    let done = run.call(can, args)?;
    if is_missing(&done.text) && (done.failed || done.text.contains("exit code")) {
        return Ok(Outcome::told(format!("{path} does not exist.")));
    }
    if done.failed {
        return Ok(Outcome::failed(format!("I could not look at {path}: {}.", why(&done.text))));
    }
    let shows = tokens(words).iter().any(|token| token.is("content contents print show"));
    let told = if shows { format!("{path} exists:\n{}", block(&done.text)) } else { format!("{path} exists.") };
    Ok(Outcome::told(told).tagged(path, &done.text))
}

pub(super) fn framework(run: &Run) -> Went {
    const TELLING: &str =
        "pyproject.toml package.json Cargo.toml setup.cfg tox.ini pytest.ini requirements.txt go.mod pom.xml";
    const KNOWN: [(&str, &str); 8] = [
        ("pytest", "pytest"),
        ("vitest", "Vitest"),
        ("jest", "Jest"),
        ("mocha", "Mocha"),
        ("junit", "JUnit"),
        ("rspec", "RSpec"),
        ("unittest", "unittest, Python's own"),
        ("[package]", "cargo test, Rust's own"),
    ];
    let all = match paths(run, "**/*")? {
        Ok(all) => all,
        Err(failure) => return Ok(failure),
    };
    let is_telling = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        has(TELLING, name) || (name.starts_with("test_") && name.ends_with(".py"))
    };
    let mut telling: Vec<String> = all.iter().filter(is_telling).cloned().collect();
    telling.sort_by_key(|path| (path.matches('/').count(), path.clone()));
    telling.truncate(4);
    if telling.is_empty() {
        return Ok(Outcome::told("I found nothing that tells of a testing framework: no build file and no test."));
    }
    let found = read(run, &telling)?.found;
    let says = |word: &str| found.iter().find(|(_, text)| text.contains(word));
    let hit = KNOWN.iter().find_map(|(word, name)| Some((name, says(word)?)));
    Ok(Outcome::told(match hit {
        Some((name, (path, _))) => format!("The testing framework is {name}: {path} says so."),
        None => format!("I read {} and found no testing framework in them.", listed(&telling)),
    }))
}

/// Looks at the file that the steps before speak of.
pub(super) fn verify(run: &Run) -> Went {
    let before = run.before.borrow();
    let told = |outcome: &Outcome| {
        format!(
            "{} {}",
            outcome.found.iter().map(|(title, body)| format!("{title} {body} ")).collect::<String>(),
            outcome.text
        )
    };
    let all: Vec<String> = before.iter().map(told).collect();
    let is_file = |text: &str| text.contains('.') && !text.starts_with('.');
    let named = tokens(&all.join(" ")).into_iter().find(|token| token.shape == Shape::Path && is_file(&token.text));
    let Some(path) = named.map(|token| token.text).or_else(|| run.world.last_path.clone()) else {
        return Ok(Outcome::failed("There is no file that I could look at."));
    };
    let (can, args) = reading(run, &path);
    let done = run.call(can, args)?;
    Ok(done.or_why(format!("I have looked myself. {path}:\n{}", block(&done.text))))
}
