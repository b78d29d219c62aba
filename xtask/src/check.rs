//! `cargo x check s05`: a student's exercises, run and graded.
//!
//! A person wants to know what is done and what comes next, not how many tests there are. A solution that breaks what the
//! chapter could do before is not done: once no exercise fails, the chapter's own tests run as well.
//! Invariant: what does not compile is shown as the compiler says it; hints come one at a time, and only when asked for or
//! when a test fails.

use std::fmt::Write;
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};

use crate::bodies;
use crate::cargo::cargo;
use crate::exercises::{self, Exercise, Outcome, Patience, TARGET, Verdict, run_tests};
use crate::start;
use crate::terminal::{self, bold, counted, cyan, green, red};
use crate::workspace::{Chapter, Workspace};

/// So much of what a failed test said is shown.
const LINES_OF_A_TEST: usize = 20;

/// How far an exercise is: its tests, the first one that fails, and how many are switched on.
struct Progress<'a> {
    exercise: &'a Exercise,
    failed: Option<&'a Outcome>,
    on: usize,
    all: usize,
}

/// Runs what is switched on and says what is done and what is next.
///
/// # Errors
/// When the chapter does not compile, or something that is switched on fails.
pub fn run(ws: &Workspace, chapter: &Chapter, hints: usize) -> Result<()> {
    if start::started(ws) == Some(chapter) {
        return grade(ws, chapter);
    }
    let exercises = exercises::all(ws, chapter)?;
    let outcomes = tests(ws, &["--package", &chapter.name, "--test", TARGET])?;
    if let Some(program) = outcomes.iter().find(|it| it.is_program()) {
        bail!("{}", program.message);
    }
    let progress: Vec<_> = exercises.iter().map(|it| progress(it, &outcomes)).collect();
    let failing = progress
        .iter()
        .find(|it| it.failed.is_some() || it.all == 0);
    let broken = match failing {
        Some(_) => Vec::new(),
        None => broken(ws, chapter, &exercises)?,
    };
    let next = next(chapter, &progress, &broken, hints);
    terminal::print(&(report(chapter, &progress) + &next))?;
    match failing {
        Some(it) => bail!("exercise {} is not done yet", it.exercise.number),
        None if broken.is_empty() => Ok(()),
        None => bail!("not done yet"),
    }
}

fn progress<'a>(exercise: &'a Exercise, outcomes: &'a [Outcome]) -> Progress<'a> {
    let own: Vec<_> = outcomes
        .iter()
        .filter(|it| it.is_of(&exercise.module))
        .collect();
    Progress {
        exercise,
        failed: first_failed(own.iter().copied()),
        on: own
            .iter()
            .filter(|it| it.verdict != Verdict::Ignored)
            .count(),
        all: own.len(),
    }
}

/// The chapter's own tests that fail, whatever the exercises say.
fn broken(ws: &Workspace, chapter: &Chapter, exercises: &[Exercise]) -> Result<Vec<Outcome>> {
    let mut tests = tests(ws, &["--package", &chapter.name, "--tests"])?;
    tests.retain(|test| {
        test.verdict == Verdict::Failed && !exercises.iter().any(|it| test.is_of(&it.module))
    });
    Ok(tests)
}

/// How far each exercise is.
fn report(chapter: &Chapter, progress: &[Progress<'_>]) -> String {
    let is_done = |it: &&Progress<'_>| it.failed.is_none() && it.all > 0 && it.on == it.all;
    let done = progress.iter().filter(is_done).count();
    let title = format!(
        "{}: {done} of {} exercises done",
        chapter.name,
        progress.len()
    );
    let mut text = format!("{}\n\n", bold(&title));
    for it in progress {
        let name = format!("{}  {}", it.exercise.number, it.exercise.title);
        let minutes = it.exercise.minutes;
        let _ = match (it.failed, it.on, it.all) {
            (Some(_), ..) => writeln!(text, "  {}  {name}", red("fails")),
            (_, _, 0) => writeln!(text, "  {}   {name}", red("gone")),
            (_, 0, _) => writeln!(text, "  off    {name} ({minutes} minutes)"),
            (_, on, all) if on < all => writeln!(text, "  part   {name} ({on} of {all} tests on)"),
            _ => writeln!(text, "  {}   {name}", green("done")),
        };
    }
    text
}

/// What stands in the way, or comes next.
fn next(chapter: &Chapter, progress: &[Progress<'_>], broken: &[Outcome], hints: usize) -> String {
    let first = |wanted: fn(&Progress<'_>) -> bool| progress.iter().find(|it| wanted(it));
    if let Some((it, test)) = progress.iter().find_map(|it| Some((it, it.failed?))) {
        return told(test, &it.exercise.path) + &shown_hints(chapter, it.exercise, hints);
    }
    if let Some(Progress { exercise, .. }) = first(|it| it.all == 0) {
        let main = chapter.path("exercises/main.rs");
        let (number, module) = (exercise.number, &exercise.module);
        return format!(
            "\nThe tests of exercise {number} do not run: {main} needs the line `mod {module};`.\n"
        );
    }
    if let Some(test) = first_failed(broken.iter()) {
        let number = counted(broken.len(), "test", "tests");
        let fail = if broken.len() == 1 { "fails" } else { "fail" };
        return format!(
            "\n{number} of the chapter itself {fail}:\n{}",
            told(test, &chapter.name)
        );
    }
    let open = first(|it| (1..it.all).contains(&it.on)).or(first(|it| it.on == 0));
    let Some(Progress { exercise, on, .. }) = open else {
        return "\nAll done. The reference solutions lie beside the tests, as patches.\n"
            .to_owned();
    };
    let Exercise { title, path, .. } = exercise;
    match on {
        0 => format!(
            "\nNext: {title}. Read the task at the top of {path}, take its #[ignore] lines out, and run this again.\n"
        ),
        _ => format!(
            "\nNext: {title}. What is on passes; take the other #[ignore] lines out of {path}, and run this again.\n"
        ),
    }
}

/// The hints that were asked for.
fn shown_hints(chapter: &Chapter, exercise: &Exercise, hints: usize) -> String {
    let all = exercise.hints.len();
    let mut text = String::new();
    for (index, hint) in exercise.hints.iter().take(hints).enumerate() {
        let title = cyan(&format!("Hint {} of {all}:", index + 1));
        let _ = writeln!(text, "\n{title} {}", hint.replace('\n', " "));
    }
    if hints < all {
        let more = format!("cargo x check {} --hint {}", chapter.short(), hints + 1);
        let _ = writeln!(text, "\nThe next hint: {more}\n");
    }
    text
}

/// A failed test as a sentence, where it failed, and the first lines of what it said.
fn told(test: &Outcome, otherwise: &str) -> String {
    let name = test.name.rsplit("::").next().unwrap_or(&test.name);
    let name = bold(&name.replace('_', " "));
    let place = test.place.as_ref();
    let place = place.map_or(otherwise.to_owned(), |(file, line)| {
        format!("{file}:{line}")
    });
    let mut text = format!("\n{name}, in {place}\n\n");
    for line in test.message.lines().take(LINES_OF_A_TEST) {
        let _ = writeln!(text, "    {line}");
    }
    text
}

/// The first one that failed, in the order of the files: the order of a run is another each time. Those that type into
/// the program come last: a test beside the mechanism says the same in one line.
fn first_failed<'a>(tests: impl Iterator<Item = &'a Outcome>) -> Option<&'a Outcome> {
    let failed = tests.filter(|it| it.verdict == Verdict::Failed);
    let types = |it: &Outcome| {
        let file = it.place.as_ref().map(|(file, _)| file.as_str());
        file.is_some_and(|file| file.contains("tests/class") || file.contains("tests/terminal"))
    };
    failed.min_by_key(|it| (types(it), &it.place, &it.name))
}

/// A copy made by `cargo x start`: how many bodies are written, and what the chapter's tests say.
fn grade(ws: &Workspace, chapter: &Chapter) -> Result<()> {
    let outcomes = tests(ws, &["--package", &chapter.name, "--tests"])?;
    let holes = bodies::holes(ws, chapter)?;
    let all_failed = outcomes.iter().filter(|it| it.verdict == Verdict::Failed);
    // The others say what is wrong with what is written.
    let for_want_of_a_body = |it: &&Outcome| it.message.contains("not yet implemented");
    let (waiting, failed): (Vec<_>, Vec<_>) = all_failed.partition(for_want_of_a_body);
    let passed = outcomes
        .iter()
        .filter(|it| it.verdict == Verdict::Passed)
        .count();
    let passed = counted(passed, "test", "tests");
    let mut title = format!("{}: {passed} pass, {} fail", chapter.name, failed.len());
    match waiting.len() {
        0 => {}
        1 => title += ", 1 waits for a body",
        number => title += &format!(", {number} wait for a body"),
    }
    let mut text = format!("{}\n\n", bold(&title));
    text += &match &holes[..] {
        [] => "Every body is written.\n".to_owned(),
        [(file, name), ..] => {
            let (number, path) = (counted(holes.len(), "body", "bodies"), chapter.path(file));
            format!("{number} to write. Next: {name} in {path}\n")
        }
    };
    if let Some(test) = first_failed(failed.iter().copied()) {
        text += "\nA test of what you have written fails:\n";
        text += &told(test, &chapter.name);
    }
    let done = holes.is_empty() && failed.is_empty() && waiting.is_empty();
    if done {
        text += "Done: the mechanism is yours.\n";
    }
    terminal::print(&text)?;
    ensure!(done, "not done yet");
    Ok(())
}

/// Builds, with cargo's own words on the screen, then runs the tests that are switched on.
fn tests(ws: &Workspace, which: &[&str]) -> Result<Vec<Outcome>> {
    let cargo = |command: &str| {
        let mut command = cargo(&[command]);
        command
            .args(which)
            .current_dir(&ws.root)
            .stdin(Stdio::null());
        command
    };
    let built = cargo("build").status().context("starting cargo build")?;
    if !built.success() {
        bail!("it does not compile yet; cargo says why");
    }
    run_tests(cargo("test").arg("--no-fail-fast"), Patience::Told)
}
