//! `cargo x check s05`: a student's exercises, run and graded.
//!
//! A person wants to know what is done and what comes next, not how many tests there are. A solution that breaks what the
//! chapter could do before is not done: once no exercise fails, the chapter's own tests run as well.
//! Invariant: what does not compile is shown as the compiler says it; hints come one at a time, and only when asked for or
//! when a test fails.

use std::fmt::Write;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::bodies;
use crate::cargo::cargo;
use crate::exercises::{self, Exercise, Outcome, Patience, TARGET, Verdict, watch};
use crate::start;
use crate::terminal::{self, Paint, counted};
use crate::workspace::{Chapter, Workspace};

/// So much of what a failed test said is shown.
const LINES_OF_A_TEST: usize = 20;

/// How far an exercise is.
enum State<'a> {
    Done,
    /// Switched on, with the first test that fails.
    Fails(&'a Outcome),
    /// What is switched on passes: so many tests of so many.
    Partly(usize, usize),
    Off,
    /// Its file is in no test program.
    Absent,
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
        bail!("{}", program.message.as_deref().unwrap_or_default());
    }
    let fails = |exercise: &&Exercise| {
        matches!(state(exercise, &outcomes), State::Fails(_) | State::Absent)
    };
    let failing = exercises.iter().find(fails);
    let broken = match failing {
        Some(_) => Vec::new(),
        None => broken(ws, chapter, &exercises)?,
    };
    print(&report(
        chapter,
        &exercises,
        &outcomes,
        &broken,
        hints,
        Paint::for_stdout(),
    ))?;
    match failing {
        Some(exercise) => bail!("exercise {} is not done yet", exercise.number),
        None if broken.is_empty() => Ok(()),
        None => bail!("not done yet"),
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

/// The report on the exercises of a chapter.
fn report(
    chapter: &Chapter,
    exercises: &[Exercise],
    outcomes: &[Outcome],
    broken: &[Outcome],
    hints: usize,
    paint: Paint,
) -> String {
    let states: Vec<_> = exercises
        .iter()
        .map(|exercise| (exercise, state(exercise, outcomes)))
        .collect();
    let done = states
        .iter()
        .filter(|(_, state)| matches!(state, State::Done))
        .count();
    let title = format!(
        "{}: {done} of {} exercises done",
        chapter.name,
        exercises.len()
    );
    let mut text = format!("{}\n\n", paint.bold(&title));
    for (exercise, state) in &states {
        let name = format!("{}  {}", exercise.number, exercise.title);
        let _ = match state {
            State::Done => writeln!(text, "  {}   {name}", paint.green("done")),
            State::Fails(_) => writeln!(text, "  {}  {name}", paint.red("fails")),
            State::Partly(on, all) => writeln!(text, "  part   {name} ({on} of {all} tests on)"),
            State::Absent => writeln!(text, "  {}   {name}", paint.red("gone")),
            State::Off => writeln!(text, "  off    {name} ({} minutes)", exercise.minutes),
        };
    }
    text + &next(chapter, &states, broken, hints, paint)
}

/// What stands in the way, or comes next.
fn next(
    chapter: &Chapter,
    states: &[(&Exercise, State<'_>)],
    broken: &[Outcome],
    hints: usize,
    paint: Paint,
) -> String {
    let first = |wanted: fn(&State<'_>) -> bool| states.iter().find(|(_, state)| wanted(state));
    if let Some((exercise, State::Fails(test))) = first(|state| matches!(state, State::Fails(_))) {
        failure(chapter, exercise, test, hints, paint)
    } else if let Some((exercise, _)) = first(|state| matches!(state, State::Absent)) {
        format!(
            "\nThe tests of exercise {} do not run: {} needs the line `mod {};`.\n",
            exercise.number,
            chapter.path("exercises/main.rs"),
            exercise.module
        )
    } else if let Some(test) = first_failed(broken.iter()) {
        let number = counted(broken.len(), "test", "tests");
        let fail = if broken.len() == 1 { "fails" } else { "fail" };
        let told = told(test, &chapter.name, paint);
        format!("\n{number} of the chapter itself {fail}:\n{told}")
    } else if let Some((exercise, _)) = first(|state| matches!(state, State::Partly(..))) {
        format!(
            "\nNext: {}. What is on passes; take the other #[ignore] lines out of {}, and run this again.\n",
            exercise.title, exercise.path
        )
    } else if let Some((exercise, _)) = first(|state| matches!(state, State::Off)) {
        format!(
            "\nNext: {}. Read the task at the top of {}, take its #[ignore] lines out, and run this again.\n",
            exercise.title, exercise.path
        )
    } else {
        "\nAll done. The reference solutions lie beside the tests, as patches.\n".to_owned()
    }
}

/// What a failing test said, and the hints that were asked for.
fn failure(
    chapter: &Chapter,
    exercise: &Exercise,
    test: &Outcome,
    hints: usize,
    paint: Paint,
) -> String {
    let mut text = told(test, &exercise.path, paint);
    for (index, hint) in exercise.hints.iter().take(hints).enumerate() {
        let _ = writeln!(
            text,
            "\n{} {}",
            paint.cyan(&format!("Hint {} of {}:", index + 1, exercise.hints.len())),
            hint.replace('\n', " ")
        );
    }
    if hints < exercise.hints.len() {
        let _ = writeln!(
            text,
            "\nThe next hint: cargo x check {} --hint {}\n",
            chapter.short(),
            hints + 1
        );
    }
    text
}

/// A failed test as a sentence, where it failed, and the first lines of what it said.
fn told(test: &Outcome, otherwise: &str, paint: Paint) -> String {
    let name = test.name.rsplit("::").next().unwrap_or(&test.name);
    let name = paint.bold(&name.replace('_', " "));
    let place = test.place.as_ref();
    let place = place.map_or(otherwise.to_owned(), |(file, line)| {
        format!("{file}:{line}")
    });
    let mut text = format!("\n{name}, in {place}\n\n");
    let said = test.message.iter().flat_map(|message| message.lines());
    for line in said.take(LINES_OF_A_TEST) {
        let _ = writeln!(text, "    {line}");
    }
    text
}

fn state<'a>(exercise: &Exercise, outcomes: &'a [Outcome]) -> State<'a> {
    let own = outcomes.iter().filter(|it| it.is_of(&exercise.module));
    let own: Vec<_> = own.collect();
    let off = own
        .iter()
        .filter(|it| it.verdict == Verdict::Ignored)
        .count();
    match first_failed(own.iter().copied()) {
        Some(failed) => State::Fails(failed),
        None if own.is_empty() => State::Absent,
        None if off == own.len() => State::Off,
        None if off > 0 => State::Partly(own.len() - off, own.len()),
        None => State::Done,
    }
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

fn print(text: &str) -> Result<()> {
    let columns = terminal::columns(&std::io::stdout());
    Ok(terminal::print(&terminal::fold(text, columns))?)
}

/// A copy made by `cargo x start`: how many bodies are written, and what the chapter's tests say.
fn grade(ws: &Workspace, chapter: &Chapter) -> Result<()> {
    let holes = bodies::holes(ws, chapter);
    let outcomes = tests(ws, &["--package", &chapter.name, "--tests"])?;
    let failed: Vec<_> = outcomes
        .iter()
        .filter(|it| it.verdict == Verdict::Failed)
        .collect();
    let passed = outcomes
        .iter()
        .filter(|it| it.verdict == Verdict::Passed)
        .count();
    let waiting = failed.iter().filter(|it| waits(it)).count();
    let paint = Paint::for_stdout();
    let title = score(chapter, passed, failed.len() - waiting, waiting);
    let mut text = format!("{}\n\n", paint.bold(&title));
    match &holes[..] {
        [] => text += "Every body is written.\n",
        [(file, name), ..] => {
            let _ = writeln!(
                text,
                "{} to write. Next: {name} in {}",
                counted(holes.len(), "body", "bodies"),
                chapter.path(file)
            );
        }
    }
    if let Some(test) = first_failed(failed.iter().copied().filter(|it| !waits(it))) {
        text += "\nA test of what you have written fails:\n";
        text += &told(test, &chapter.name, paint);
    }
    print(&text)?;
    match (holes.len(), failed.len()) {
        (0, 0) => Ok(terminal::print("Done: the mechanism is yours.\n")?),
        _ => bail!("not done yet"),
    }
}

/// Whether a test fails for want of a body, and says so itself; the others say what is wrong with what is written.
fn waits(test: &Outcome) -> bool {
    let said = test.message.as_deref().unwrap_or_default();
    said.contains("not yet implemented")
}

fn score(chapter: &Chapter, passed: usize, failed: usize, waiting: usize) -> String {
    let passed = counted(passed, "test", "tests");
    let score = format!("{}: {passed} pass, {failed} fail", chapter.name);
    match waiting {
        0 => score,
        1 => format!("{score}, 1 waits for a body"),
        _ => format!("{score}, {waiting} wait for a body"),
    }
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
    let output = watch(cargo("test").arg("--no-fail-fast"), Patience::Told)?;
    Ok(Outcome::of(&output))
}
