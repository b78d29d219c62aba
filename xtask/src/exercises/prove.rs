//! `cargo x exercises`: each exercise fails as it stands and passes with its patch; each chapter can be built anew.
//!
//! An exercise that passes by itself teaches nothing, and one that nobody has solved may not be solvable.
//! Invariant: the course's own files stay as they are, for what changes a file happens in a copy below `target/`; the last
//! chapter is first, so that what a chapter depends on is whole when it is built.

use std::process::{Command, Output, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::{Exercise, Outcome, Patience, TARGET, Verdict, all, watch};
use crate::bodies;
use crate::cargo::cargo;
use crate::copy::{Copy, build_dir};
use crate::terminal::{self, counted};
use crate::workspace::{Chapter, Workspace};

/// Proves the exercises and the start of `wanted`, or of every chapter.
///
/// # Errors
/// When a proof fails: one sentence, with what cargo said above it.
pub fn run(ws: &Workspace, wanted: Option<&Chapter>) -> Result<()> {
    let chapters: Vec<&Chapter> = match wanted {
        Some(chapter) => vec![chapter],
        None => ws.chapters.iter().rev().collect(),
    };
    for chapter in &chapters {
        fails_as_it_stands(ws, chapter)?;
    }
    let copy = Copy::make(ws, &build_dir()?.join("exercises"), "exercises")?;
    for chapter in chapters {
        passes_with_its_patch(ws, chapter, &copy)?;
        can_be_built_anew(ws, chapter, &copy)?;
    }
    Ok(())
}

/// Runs the tests of the exercises in the course itself: what CI has built already.
fn fails_as_it_stands(ws: &Workspace, chapter: &Chapter) -> Result<()> {
    let exercises = all(ws, chapter)?;
    let mut command = cargo(&test_of(chapter));
    command
        .args(["--", "--include-ignored"])
        .current_dir(&ws.root);
    let outcomes = outcomes(&mut command)?;
    for exercise in &exercises {
        let mut own = outcomes
            .iter()
            .filter(|outcome| outcome.is_of(&exercise.module))
            .peekable();
        ensure!(
            own.peek().is_some(),
            "{} has no test that runs; is its module in main.rs?",
            exercise.path
        );
        if let Some(passed) = own.find(|outcome| outcome.verdict != Verdict::Failed) {
            bail!(
                "{}: {} passes without the patch; it tests nothing",
                exercise.path,
                passed.name
            );
        }
    }
    let exercises = counted(exercises.len(), "exercise", "exercises");
    let tests = counted(outcomes.len(), "test", "tests");
    say(
        chapter,
        &format!("{exercises}: {tests}, and none passes as it stands"),
    )
}

fn passes_with_its_patch(ws: &Workspace, chapter: &Chapter, copy: &Copy) -> Result<()> {
    for exercise in all(ws, chapter)? {
        let began = Instant::now();
        apply(copy, &exercise)?;
        let mut command = copy.cargo(&test_of(chapter));
        let module = format!("{}::", exercise.module);
        command.args(["--", "--include-ignored", &module]);
        let outcomes = outcomes(&mut command)?;
        ensure!(
            !outcomes.is_empty(),
            "{} has no test that runs with its patch",
            exercise.path
        );
        if let Some(failed) = outcomes
            .iter()
            .find(|outcome| outcome.verdict != Verdict::Passed)
        {
            let message = failed.message.as_deref().unwrap_or_default();
            bail!(
                "{message}\n{}: {} fails with the patch; mend one of them",
                exercise.path,
                failed.name
            );
        }
        copy.restore(ws, chapter)?;
        let seconds = began.elapsed().as_secs_f64();
        say(
            chapter,
            &format!(
                "{} {}: passes with its patch ({seconds:.1} s)",
                exercise.number, exercise.title
            ),
        )?;
    }
    Ok(())
}

/// Takes the bodies out, sees the chapter's tests compile and fail, and puts the bodies back: the files are what they were.
fn can_be_built_anew(ws: &Workspace, chapter: &Chapter, copy: &Copy) -> Result<()> {
    let began = Instant::now();
    let emptied = bodies::take_out(ws, chapter)?;
    ensure!(
        !emptied.is_empty(),
        "{}: there is no `start`; name what a student builds",
        chapter.path("Cargo.toml")
    );
    let (mut number, mut back) = (0, true);
    for (path, file) in &emptied {
        copy.write(path, &file.text)?;
        number += file.bodies.len();
        back &= ws.tree.text(path) == Some(&file.put_back());
    }
    ensure!(
        back,
        "{}: the bodies put back are not the files as they were",
        chapter.name
    );
    let args = ["test", "--package", &chapter.name];
    let built = watch(copy.cargo(&args).arg("--no-run"), Patience::None)?;
    if !built.status.success() {
        bail!(
            "{}\n{}: without the bodies of `start` it does not compile",
            said(&built),
            chapter.name
        );
    }
    // Cargo stops behind the first program with a failing test: one is enough here.
    let output = watch(&mut copy.cargo(&args), Patience::None)
        .with_context(|| format!("{} without the bodies of `start`", chapter.name))?;
    let fails = Outcome::of(&output)
        .iter()
        .any(|outcome| outcome.verdict == Verdict::Failed);
    ensure!(
        fails,
        "{}: all tests pass without the bodies of `start`; nothing grades the student",
        chapter.name
    );
    for (path, file) in &emptied {
        copy.write(path, &file.put_back())?;
    }
    let number = counted(number, "body", "bodies");
    let seconds = began.elapsed().as_secs_f64();
    say(
        chapter,
        &format!(
            "start: without {number} it compiles and its tests fail; put back, it is the same ({seconds:.1} s)"
        ),
    )
}

fn test_of(chapter: &Chapter) -> [&str; 5] {
    ["test", "--package", &chapter.name, "--test", TARGET]
}

/// Applies the reference patch in the copy.
fn apply(copy: &Copy, exercise: &Exercise) -> Result<()> {
    let output = Command::new("git")
        .args(["apply", &exercise.patch()])
        .current_dir(&copy.root)
        // Within a repository git would leave out what lies outside of the folder it stands in.
        .env(
            "GIT_CEILING_DIRECTORIES",
            copy.root.parent().unwrap_or(&copy.root),
        )
        .stdin(Stdio::null())
        .output()
        .context("starting git (is it installed?)")?;
    ensure!(
        output.status.success(),
        "{}: {}",
        exercise.patch(),
        crate::git::complaint(&output)
    );
    Ok(())
}

fn outcomes(command: &mut Command) -> Result<Vec<Outcome>> {
    let output = watch(command, Patience::None)?;
    let outcomes = Outcome::of(&output);
    if let Some(program) = outcomes.iter().find(|it| it.is_program()) {
        bail!("{}", program.message.as_deref().unwrap_or_default());
    }
    if outcomes.is_empty() && !output.status.success() {
        bail!("{}\nthe exercises do not compile", said(&output));
    }
    Ok(outcomes)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

fn say(chapter: &Chapter, text: &str) -> Result<()> {
    Ok(terminal::print(&format!("{}  {text}\n", chapter.short()))?)
}
