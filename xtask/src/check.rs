//! `cargo x check s05`: a student's exercises, run and graded.
//!
//! A person wants to know what is done and what comes next, not how many tests there are. A solution that breaks what the
//! chapter could do before is not done: once no exercise fails, the chapter's own tests run as well.
//! Invariant: what does not compile is shown as the compiler says it; hints come one at a time, and only when asked for or
//! when a test fails.

use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};

use crate::bodies;
use crate::cargo::cargo;
use crate::exercises::{self, Exercise, MODULE, Outcome, Patience, SESSION, Verdict, run_tests};
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
    let outcomes = tests(ws, chapter, Some(MODULE))?;
    if let Some(program) = outcomes.iter().find(|it| it.is_program()) {
        bail!("{}", program.message);
    }
    let progress = exercises.iter().map(|exercise| {
        let own = || outcomes.iter().filter(|it| it.is_of(&exercise.module));
        Progress {
            exercise,
            failed: first_failed(own()),
            on: own().filter(|it| it.verdict != Verdict::Ignored).count(),
            all: own().count(),
        }
    });
    let progress: Vec<_> = progress.collect();
    let report = report(chapter, &progress);
    if let Some((it, test)) = progress.iter().find_map(|it| Some((it, it.failed?))) {
        terminal::print(&(report + &wrong(chapter, it.exercise, test, hints)))?;
        bail!("exercise {} is not done yet", it.exercise.number);
    }
    let mut broken = tests(ws, chapter, None)?;
    broken.retain(|test| {
        let of_exercise = exercises.iter().any(|it| test.is_of(&it.module));
        test.verdict == Verdict::Failed && !of_exercise && !test.is_of(SESSION)
    });
    let Some(test) = first_failed(broken.iter()) else {
        return Ok(terminal::print(&(report + &next(&progress)))?);
    };
    let fail = if broken.len() == 1 { "fails" } else { "fail" };
    let number = counted(broken.len(), "test", "tests");
    let told = told(test, &chapter.name);
    terminal::print(&format!("{report}\n{number} of the chapter itself {fail}:\n{told}"))?;
    bail!("not done yet")
}

/// How far each exercise is.
fn report(chapter: &Chapter, progress: &[Progress<'_>]) -> String {
    let mut done = 0;
    let mut text = String::new();
    for it in progress {
        let name = format!("{}  {}", it.exercise.number, it.exercise.title);
        let minutes = it.exercise.minutes;
        text += &match (it.failed, it.on, it.all) {
            (Some(_), ..) => format!("  {}  {name}\n", red("fails")),
            (_, 0, _) => format!("  off    {name} ({minutes} minutes)\n"),
            (_, on, all) if on < all => format!("  part   {name} ({on} of {all} tests on)\n"),
            _ => {
                done += 1;
                format!("  {}   {name}\n", green("done"))
            }
        };
    }
    let (name, all) = (&chapter.name, progress.len());
    let title = format!("{name}: {done} of {all} exercises done");
    format!("{}\n\n{text}", bold(&title))
}

/// What is wrong with an exercise, and the hints that were asked for.
fn wrong(chapter: &Chapter, exercise: &Exercise, test: &Outcome, hints: usize) -> String {
    let all = &exercise.hints;
    let mut text = told(test, &exercise.path);
    for (index, hint) in all.iter().take(hints).enumerate() {
        let title = cyan(&format!("Hint {} of {}:", index + 1, all.len()));
        text += &format!("\n{title} {}\n", hint.replace('\n', " "));
    }
    if hints < all.len() {
        let more = format!("cargo x check {} --hint {}", chapter.short(), hints + 1);
        text += &format!("\nThe next hint: {more}\n");
    }
    text
}

/// What comes next when nothing fails: an exercise that is begun, else one that is off.
fn next(progress: &[Progress<'_>]) -> String {
    let begun = progress.iter().find(|it| it.on > 0 && it.on < it.all);
    let Some(Progress { exercise, on, .. }) = begun.or(progress.iter().find(|it| it.on == 0))
    else {
        return "\nAll done. The reference solutions lie beside the tests, as patches.\n".into();
    };
    let Exercise { title, path, .. } = exercise;
    let what = if *on == 0 {
        format!("Read the task at the top of {path}, take its #[ignore] lines out")
    } else {
        format!("What is on passes; take the other #[ignore] lines out of {path}")
    };
    format!("\nNext: {title}. {what}, and run this again.\n")
}

/// A failed test as a sentence, where it failed, and the first lines of what it said.
fn told(test: &Outcome, otherwise: &str) -> String {
    let name = test.name.rsplit("::").next().unwrap_or(&test.name);
    let name = bold(&name.replace('_', " "));
    let place = match &test.place {
        Some((file, line)) => format!("{file}:{line}"),
        None => otherwise.to_owned(),
    };
    let said = test.message.lines().take(LINES_OF_A_TEST);
    let said: String = said.map(|line| format!("    {line}\n")).collect();
    format!("\n{name}, in {place}\n\n{said}")
}

/// The first one that failed, in the order of the files: the order of a run is another each time. Those that type into
/// the program come last: a test beside the mechanism says the same in one line.
fn first_failed<'a>(tests: impl Iterator<Item = &'a Outcome>) -> Option<&'a Outcome> {
    let failed = tests.filter(|it| it.verdict == Verdict::Failed);
    let types = |it: &Outcome| {
        let file = it.place.as_ref().map_or("", |(file, _)| file);
        file.contains("tests/class") || file.contains("tests/terminal")
    };
    failed.min_by_key(|it| (types(it), &it.place, &it.name))
}

/// A copy made by `cargo x start`: how many bodies are written, and what the chapter's tests say.
fn grade(ws: &Workspace, chapter: &Chapter) -> Result<()> {
    let outcomes = tests(ws, chapter, None)?;
    let holes = bodies::holes(ws, chapter)?;
    let failed = outcomes.iter().filter(|it| it.verdict == Verdict::Failed);
    // The others say what is wrong with what is written.
    let (waiting, failed): (Vec<_>, Vec<_>) =
        failed.partition(|it| it.message.contains("not yet implemented"));
    let passed = outcomes.iter().filter(|it| it.verdict == Verdict::Passed).count();
    let passed = counted(passed, "test", "tests");
    let waits = match waiting.len() {
        0 => String::new(),
        1 => ", 1 waits for a body".to_owned(),
        number => format!(", {number} wait for a body"),
    };
    let title = format!("{}: {passed} pass, {} fail{waits}", chapter.name, failed.len());
    let mut text = format!("{}\n\n", bold(&title));
    text += &match holes.first() {
        None => "Every body is written.\n".to_owned(),
        Some((file, name)) => {
            let (number, path) = (counted(holes.len(), "body", "bodies"), chapter.path(file));
            format!("{number} to write. Next: {name} in {path}\n")
        }
    };
    if let Some(test) = first_failed(failed.iter().copied()) {
        let told = told(test, &chapter.name);
        text += &format!("\nA test of what you have written fails:\n{told}");
    }
    let done = holes.is_empty() && failed.is_empty() && waiting.is_empty();
    if done {
        text += "Done: the mechanism is yours.\n";
    }
    terminal::print(&text)?;
    ensure!(done, "not done yet");
    Ok(())
}

/// Builds, with cargo's own words on the screen, then runs the tests that are switched on: all, or those whose names begin
/// so.
fn tests(ws: &Workspace, chapter: &Chapter, names: Option<&str>) -> Result<Vec<Outcome>> {
    let cargo = |command: &str| {
        let mut command = cargo(&[command, "--package", &chapter.name, "--tests"]);
        command.current_dir(&ws.root).stdin(Stdio::null());
        command
    };
    let built = cargo("build").status().context("starting cargo build")?;
    ensure!(built.success(), "it does not compile yet; cargo says why");
    run_tests(cargo("test").args(["--no-fail-fast", "--"]).args(names), Patience::Told)
}
