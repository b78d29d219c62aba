//! What is found in files that were read: a testing framework, and what a reviewer would say.
//!
//! Invariant: every finding names the file, and the line if there is one, in which it was seen.

use super::gist;
use super::phrases::listed;
use super::table::Reading;

/// Names in manifests and test files, and the frameworks they mean.
const FRAMEWORKS: &[(&str, &str, &str)] = &[
    ("package.json", "vitest", "Vitest"),
    ("package.json", "jest", "Jest"),
    ("package.json", "mocha", "Mocha"),
    ("package.json", "jasmine", "Jasmine"),
    ("package.json", "node --test", "Node's test runner"),
    ("pyproject.toml", "pytest", "pytest"),
    ("setup.cfg", "pytest", "pytest"),
    ("tox.ini", "pytest", "pytest"),
    ("pytest.ini", "pytest", "pytest"),
    ("requirements.txt", "pytest", "pytest"),
    ("Gemfile", "rspec", "RSpec"),
    ("Gemfile", "minitest", "Minitest"),
    ("pom.xml", "junit", "JUnit"),
    (".py", "import pytest", "pytest"),
    (
        ".py",
        "import unittest",
        "unittest, from Python's standard library",
    ),
    (
        ".rs",
        "#[test]",
        "Rust's built-in test framework (`cargo test`)",
    ),
    (
        ".rs",
        "#[tokio::test",
        "Rust's built-in test framework (`cargo test`), with tokio's test attribute",
    ),
    (
        "Cargo.toml",
        "[",
        "Rust's built-in test framework (`cargo test`)",
    ),
    ("go.mod", "module", "Go's testing package (`go test`)"),
];

/// The most remarks of a review.
const MAX_REMARKS: usize = 12;

/// Which testing framework the files speak of.
pub fn framework(readings: &[Reading]) -> String {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for reading in readings {
        let Some(path) = reading.path else { continue };
        let hit = FRAMEWORKS
            .iter()
            .find(|(file, word, _)| path.ends_with(file) && reading.content.contains(word));
        let Some((_, _, framework)) = hit else {
            continue;
        };
        match found.iter_mut().find(|(known, _)| known == framework) {
            Some((_, paths)) => paths.push(path),
            None => found.push((framework, vec![path])),
        }
    }
    let mut text: Vec<String> = found
        .iter()
        .map(|(framework, paths)| {
            let paths: Vec<String> = paths.iter().map(|path| path.to_string()).collect();
            format!(
                "The project uses {framework}; I see it in {}.",
                listed(&paths)
            )
        })
        .collect();
    if text.is_empty() {
        text.push(
            "I found no testing framework: no manifest and no test file that I read names one."
                .to_owned(),
        );
    }
    text.extend(helpers(readings));
    text.join("\n")
}

/// The crates a Cargo project tests with.
fn helpers(readings: &[Reading]) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for reading in readings.iter().filter(|reading| {
        reading
            .path
            .is_some_and(|path| path.ends_with("Cargo.toml"))
    }) {
        let lines = reading
            .content
            .lines()
            .skip_while(|line| line.trim() != "[dev-dependencies]")
            .skip(1);
        let lines = lines.take_while(|line| !line.starts_with('['));
        let name = |line: &str| Some(line.split(['=', '.']).next()?.trim().to_owned());
        names.extend(lines.filter(|line| line.contains('=')).filter_map(name));
    }
    names.sort();
    names.dedup();
    names.truncate(8);
    (!names.is_empty()).then(|| format!("It tests with these crates besides: {}.", listed(&names)))
}

/// What a reviewer says about what was read.
pub fn review(readings: &[Reading]) -> String {
    let files: Vec<&Reading> = readings
        .iter()
        .filter(|reading| reading.path.is_some())
        .collect();
    if files.is_empty() {
        return "I found no source file to review.".to_owned();
    }
    let mut remarks: Vec<String> = files.iter().flat_map(|file| remarks(file)).collect();
    let more = remarks.len().saturating_sub(MAX_REMARKS);
    remarks.truncate(MAX_REMARKS);
    let names: Vec<String> = files
        .iter()
        .filter_map(|file| Some(file.path?.to_owned()))
        .collect();
    let mut text = vec![format!("I reviewed {}.", listed(&names))];
    let changed = readings
        .iter()
        .find(|reading| reading.path.is_none() && reading.row == "look at what changed");
    text.extend(changed.map(|changed| uncommitted(changed.content)));
    match remarks.is_empty() {
        true => text.push("I found nothing to object to.".to_owned()),
        false => text.push(format!("What I would change:\n{}", remarks.join("\n"))),
    }
    if more > 0 {
        text.push(format!("… and {more} more of the kind."));
    }
    text.join("\n")
}

/// The files that differ from the last commit, as `git status --short` names them.
fn uncommitted(status: &str) -> String {
    let lines = gist::body(status).lines();
    let lines = lines.take_while(|line| !line.starts_with("diff "));
    let mut names: Vec<String> = lines
        .filter_map(|line| Some(line.trim().split_once(' ')?.1.trim().to_owned()))
        .collect();
    let count = names.len();
    names.truncate(8);
    match count {
        0 => "Git reports no uncommitted change.".to_owned(),
        1..=8 => format!("Not committed yet: {}.", listed(&names)),
        _ => format!(
            "Not committed yet: {} and {} more.",
            names.join(", "),
            count - 8
        ),
    }
}

fn remarks(file: &Reading) -> Vec<String> {
    let path = file.path.unwrap_or_default();
    let text = gist::unnumbered(gist::body(file.content));
    let ext = path.rsplit('.').next().unwrap_or("");
    let in_tests = path.contains("test") || path.contains("example");
    let lines = text.lines().enumerate();
    lines
        .filter_map(|(at, line)| {
            let remark = remark(line, ext, in_tests)?;
            Some(format!("- {path}:{}: {remark}", at + 1))
        })
        .collect()
}

fn remark(line: &str, ext: &str, in_tests: bool) -> Option<&'static str> {
    let has = |word: &str| line.contains(word);
    let secret = [
        "password = \"",
        "api_key = \"",
        "API_KEY = \"",
        "secret = \"",
        "token = \"sk-",
    ];
    if secret.iter().any(|word| has(word)) {
        return Some("a secret stands in the code; read it from the environment");
    }
    if ["TODO", "FIXME", "XXX"].iter().any(|word| has(word)) {
        return Some("an open point is left; do it or file it");
    }
    match ext {
        "py" if line.trim() == "except:" => {
            Some("a bare `except` hides every error; name the one you expect")
        }
        "py" if has("eval(") => Some("`eval` runs whatever it is given; parse the text instead"),
        "py" if line.trim_start().starts_with("def ")
            && (has("={}") || has("=[]") || has("= {}") || has("= []")) =>
        {
            Some("all calls share this default value; use None and make a new one inside")
        }
        "py" if has(" == None") => Some("compare with None by `is`"),
        "rs" if has(".unwrap()") && !in_tests => {
            Some("`unwrap` panics; return the error, or say with `expect` why it cannot happen")
        }
        "rs" if has("unsafe {") => Some("`unsafe` needs a comment that says why it is sound"),
        "sh" if has("rm -rf $") => {
            Some("an empty variable makes this delete too much; quote it and check it")
        }
        _ if line.chars().count() > 120 => Some("the line is longer than 120 characters"),
        _ => None,
    }
}
