//! Acts that look: reading, listing, finding.
//!
//! What was read in a long walk is noted beside the next calls, because an old result may be taken away. Invariant: nothing here
//! changes a file.

use serde_json::{Value, json};

use super::write::without_numbers;
use super::{is_missing, outcome};
use crate::engine::{Outcome, Run, Stop, Went};
use crate::speak::{block, gist, listed, shown, why};
use crate::tools::Can;
use crate::understand::shell;
use crate::words::Shape;

/// So many files are read at once, and so many in all.
pub(crate) const AT_ONCE: usize = 4;

pub(crate) const MOST_FILES: usize = 40;

/// The call that reads a file.
pub(crate) fn reading(run: &Run, path: &str) -> (Can, Value) {
    if run.world.tools.can(Can::Read) {
        (Can::Read, json!({"path": path}))
    } else {
        (Can::Bash, json!({"command": format!("cat {}", shell(path))}))
    }
}

pub(crate) fn read(run: &Run, paths: &[String]) -> Went {
    let done = run.calls(paths.iter().map(|path| reading(run, path)).collect())?;
    let mut told = Outcome::default();
    for (path, done) in paths.iter().zip(&done) {
        let line = if done.failed {
            format!("I could not read {path}: {}.", why(&done.text))
        } else {
            format!("{path}:\n{}", block(&without_numbers(&done.text)))
        };
        told.text.push_str(&format!("{line}\n"));
        told.failed |= done.failed;
        if !done.failed {
            told.found.push((path.clone(), without_numbers(&done.text)));
        }
    }
    told.text.truncate(told.text.trim_end().len());
    Ok(told)
}

pub(crate) fn lines(run: &Run, path: &str, count: u32, from_top: bool) -> Went {
    let done = match (from_top, run.world.tools.can(Can::Read)) {
        (true, true) => run.call(Can::Read, json!({"path": path, "limit": count}))?,
        (true, false) => run.call(Can::Bash, json!({"command": format!("head -n {count} {}", shell(path))}))?,
        (false, _) => run.call(Can::Bash, json!({"command": format!("tail -n {count} {}", shell(path))}))?,
    };
    Ok(outcome(&done, format!("{path}:\n{}", block(&done.text))))
}

pub(crate) fn about(run: &Run, paths: &[String]) -> Went {
    let before: Vec<(String, String)> = run.before.borrow().iter().flat_map(|outcome| outcome.found.clone()).collect();
    if paths.is_empty() && !before.is_empty() {
        let gists: Vec<String> = before.iter().map(|(title, text)| format!("{title}: {}", gist(text))).collect();
        return Ok(Outcome::told(gists.join("\n")));
    }
    let paths = if paths.is_empty() { vec!["README.md".to_owned()] } else { paths.to_vec() };
    let read = read(run, &paths)?;
    if read.failed {
        return Ok(read);
    }
    let gists: Vec<String> = read.found.iter().map(|(title, text)| format!("{title}: {}", gist(text))).collect();
    Ok(Outcome { found: read.found, ..Outcome::told(gists.join("\n")) })
}

/// The paths that match a pattern.
pub(crate) fn paths(run: &Run, pattern: &str) -> Result<(Vec<String>, Option<String>), Stop> {
    let done = if run.world.tools.can(Can::Glob) {
        run.call(Can::Glob, json!({"pattern": pattern}))?
    } else {
        let (dir, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
        let dir = dir.trim_end_matches("**").trim_end_matches('/');
        let dir = if dir.is_empty() { "." } else { dir };
        run.call(
            Can::Bash,
            json!({"command": format!("find {} -type f -name '{name}' -not -path '*/.*'", shell(dir))}),
        )?
    };
    if done.failed {
        return Ok((Vec::new(), Some(why(&done.text))));
    }
    let is_path =
        |line: &&str| !line.is_empty() && !line.starts_with('(') && !line.starts_with('[') && !line.contains("no file");
    let lines = done.text.lines().map(|line| line.trim().trim_start_matches("./")).filter(is_path);
    Ok((lines.filter(|line| !line.contains(": ")).map(str::to_owned).collect(), None))
}

pub(crate) fn kind_of(pattern: &str) -> &'static str {
    match pattern.rsplit_once('.').map(|(_, ending)| ending) {
        Some("py") => "Python file",
        Some("rs") => "Rust file",
        Some("md") => "Markdown file",
        _ => "file",
    }
}

pub(crate) fn found(run: &Run, pattern: &str) -> Went {
    let (paths, failure) = paths(run, pattern)?;
    if let Some(why) = failure {
        return Ok(Outcome::failed(format!("I could not look for {pattern}: {why}.")));
    }
    let kind = kind_of(pattern);
    let told = match paths.len() {
        0 => format!("I found no {kind}s."),
        1 => format!("I found 1 {kind}: {}", paths[0]),
        many => format!("I found {many} {kind}s:\n{}", block(&paths.join("\n"))),
    };
    Ok(Outcome::told(told).tagged(&format!("The {kind}s"), &paths.join("\n")))
}

pub(crate) fn count(run: &Run, pattern: &str) -> Went {
    let (paths, failure) = paths(run, pattern)?;
    Ok(match failure {
        Some(why) => Outcome::failed(format!("I could not look for {pattern}: {why}.")),
        None => Outcome::told(format!("There are {} {}s.", paths.len(), kind_of(pattern))),
    })
}

pub(crate) fn list(run: &Run, dir: Option<&str>) -> Went {
    let dir = dir.unwrap_or(".");
    if !run.world.tools.can(Can::Bash) {
        return found(run, &if dir == "." { "*".to_owned() } else { format!("{dir}/*") });
    }
    let command = if dir == "." { "ls".to_owned() } else { format!("ls {}", shell(dir)) };
    let done = run.call(Can::Bash, json!({"command": command}))?;
    Ok(outcome(&done, shown(&done.text)).tagged("The files", &done.text))
}

/// Reads a folder in batches. What was read is noted beside the next calls: an old result may be taken away.
pub(crate) fn read_all(run: &Run, dir: &str, kind: Option<&str>) -> Went {
    let notes: Vec<&str> =
        run.world.scene.said_since(run.from).chain([run.world.scene.summary]).flat_map(str::lines).collect();
    let known = notes.iter().find_map(|line| line.strip_prefix("The files: "));
    let files: Vec<String> = match known {
        Some(list) => list.split(", ").map(str::to_owned).collect(),
        None => {
            let name = kind
                .map_or("*".to_owned(), |kind| if kind.contains('*') { kind.to_owned() } else { format!("*.{kind}") });
            let (files, failure) =
                paths(run, &if dir == "." { format!("**/{name}") } else { format!("{dir}/**/{name}") })?;
            if let Some(why) = failure {
                return Ok(Outcome::failed(format!("I could not look into {dir}: {why}.")));
            }
            files
        }
    };
    if files.is_empty() {
        return Ok(Outcome::told(format!("I found no files in {dir}.")));
    }
    let mut note = format!("The files: {}", files.join(", "));
    let mut told = Outcome::default();
    for batch in files[..files.len().min(MOST_FILES)].chunks(AT_ONCE) {
        let mut fresh = Vec::new();
        let mut missing = Vec::new();
        for path in batch {
            let head = format!("- {path}: ");
            let (can, args) = reading(run, path);
            let Some(call) = run.world.tools.call(can, args) else {
                return Err(Stop::Fail("I have no tool here that reads".into()));
            };
            if let Some(gist) = notes.iter().find_map(|line| line.strip_prefix(head.as_str())) {
                fresh.push((path.clone(), gist.to_owned()));
                continue;
            }
            match run.made(vec![call], "") {
                Ok(done) => fresh.push((
                    path.clone(),
                    if done[0].failed { format!("not read: {}", why(&done[0].text)) } else { gist(&done[0].text) },
                )),
                Err(Stop::Call(calls, _)) => missing.extend(calls),
                Err(stop) => return Err(stop),
            }
        }
        if !missing.is_empty() {
            return Err(Stop::Call(missing, note));
        }
        note = fresh.iter().map(|(path, gist)| format!("- {path}: {gist}")).collect::<Vec<_>>().join("\n");
        told.found.extend(fresh);
    }
    told.text = told.found.iter().map(|(path, gist)| format!("- {path}: {gist}")).collect::<Vec<_>>().join("\n");
    if files.len() > MOST_FILES {
        told.text.push_str(&format!("\nI read the first {MOST_FILES} of {} files.", files.len()));
    }
    Ok(told)
}

pub(crate) fn exists(run: &Run, path: &str, shows: bool) -> Went {
    let (can, args) = reading(run, path);
    let done = run.call(can, args)?;
    let is_there = !is_missing(&done.text) || !(done.failed || done.text.contains("exit code"));
    Ok(match (is_there, done.failed) {
        (false, _) => Outcome::told(format!("{path} does not exist.")),
        (true, true) => Outcome::failed(format!("I could not look at {path}: {}.", why(&done.text))),
        (true, false) if shows => {
            Outcome::told(format!("{path} exists:\n{}", block(&done.text))).tagged(path, &done.text)
        }
        (true, false) => Outcome::told(format!("{path} exists.")).tagged(path, &done.text),
    })
}

pub(crate) fn framework(run: &Run) -> Went {
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
    let (all, failure) = paths(run, "**/*")?;
    if let Some(why) = failure {
        return Ok(Outcome::failed(format!("I could not look around: {why}.")));
    }
    let is_telling = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        [
            "pyproject.toml",
            "package.json",
            "Cargo.toml",
            "setup.cfg",
            "tox.ini",
            "pytest.ini",
            "requirements.txt",
            "go.mod",
            "pom.xml",
        ]
        .contains(&name)
            || (name.starts_with("test_") && name.ends_with(".py"))
    };
    let mut telling: Vec<String> = all.iter().filter(is_telling).cloned().collect();
    telling.sort_by_key(|path| (path.matches('/').count(), path.clone()));
    telling.truncate(4);
    if telling.is_empty() {
        return Ok(Outcome::told("I found nothing that tells of a testing framework: no build file and no test."));
    }
    let read = read(run, &telling)?;
    let hit = KNOWN
        .iter()
        .find_map(|(word, name)| read.found.iter().find(|(_, text)| text.contains(word)).map(|(path, _)| (name, path)));
    Ok(Outcome::told(match hit {
        Some((name, path)) => format!("The testing framework is {name}: {path} says so."),
        None => format!("I read {} and found no testing framework in them.", listed(&telling)),
    }))
}

pub(crate) fn verify(run: &Run) -> Went {
    let texts: Vec<String> = run
        .before
        .borrow()
        .iter()
        .flat_map(|outcome| {
            outcome
                .found
                .iter()
                .flat_map(|(title, body)| [title.clone(), body.clone()])
                .chain([outcome.text.clone()])
                .collect::<Vec<_>>()
        })
        .collect();
    let path = texts
        .iter()
        .flat_map(|text| crate::words::tokens(text))
        .find(|token| token.shape == Shape::Path && token.text.contains('.') && !token.text.starts_with('.'));
    let Some(path) = path.map(|token| token.text).or_else(|| run.world.last_path.clone()) else {
        return Ok(Outcome::failed("There is no file that I could look at."));
    };
    let (can, args) = reading(run, &path);
    let done = run.call(can, args)?;
    Ok(outcome(&done, format!("I have looked myself. {path}:\n{}", block(&done.text))))
}
