//! `cargo x exercises`: each exercise fails as it stands and passes with its patch, which breaks no class test; each chapter
//! can be built anew.
//!
//! An exercise that passes by itself teaches nothing, and one that nobody has solved may not be solvable.
//! Invariant: the course's own files stay as they are, for what changes a file happens in a copy below `target/`; the last
//! chapter is first, so that what a chapter depends on is whole when it is built.

use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::{Exercise, Outcome, Patience, TARGET, Verdict, all, watch};
use crate::bodies;
use crate::cargo::cargo;
use crate::copy::{Copy, build_dir};
use crate::git;
use crate::terminal::{self, counted};
use crate::workspace::{Chapter, Member, Workspace};

/// The test program that grades whoever builds a mechanism: it types into the chapter. The others grade, too.
const GRADER: &str = "class";

/// Proves the exercises and the start of `wanted`, each patch by itself; or of every chapter, and then the patches of a
/// chapter are applied together where they fit on each other, which takes half the time.
///
/// # Errors
/// When a proof fails: one sentence, with what cargo said above it.
pub fn run(ws: &Workspace, wanted: Option<&Chapter>) -> Result<()> {
    let chapters: Vec<&Chapter> = match wanted {
        Some(chapter) => vec![chapter],
        None => ws.chapters.iter().rev().collect(),
    };
    let outcomes = as_they_stand(ws, wanted)?;
    for chapter in &chapters {
        all_fail(chapter, &all(ws, chapter)?, &outcomes)?;
    }
    let root = build_dir()?.join("exercises");
    let copy = Copy::make(ws, &root, "exercises")?.build_apart()?;
    for chapter in chapters {
        pass_with_their_patches(ws, chapter, &copy, wanted.is_none())?;
        can_be_built_anew(ws, chapter, &copy)?;
    }
    if wanted.is_none() {
        // It has all chapters once more, built: gigabytes.
        std::fs::remove_dir_all(&root).with_context(|| format!("removing {}", root.display()))?;
    }
    Ok(())
}

/// Runs the tests of the exercises in the course itself, in one go: CI has built them so already.
fn as_they_stand(ws: &Workspace, wanted: Option<&Chapter>) -> Result<Vec<Outcome>> {
    let whose = match wanted {
        Some(chapter) => vec!["--package", &chapter.name],
        None => vec!["--workspace"],
    };
    let mut command = cargo(&["test", "--no-fail-fast", "--test", TARGET]);
    command
        .args(whose)
        .args(["--", "--include-ignored"])
        .current_dir(&ws.root);
    outcomes(&mut command)
}

fn all_fail(chapter: &Chapter, exercises: &[Exercise], outcomes: &[Outcome]) -> Result<()> {
    let mut tests = 0;
    for exercise in exercises {
        for outcome in own(exercise, outcomes)? {
            ensure!(
                outcome.verdict == Verdict::Failed,
                "{}: {} passes without the patch; it tests nothing",
                exercise.path,
                outcome.name
            );
            tests += 1;
        }
    }
    let exercises = counted(exercises.len(), "exercise", "exercises");
    let tests = counted(tests, "test", "tests");
    say(
        chapter,
        &format!("{exercises}: {tests}, and none passes as it stands"),
    )
}

/// Solves the exercises of a chapter: each alone, or as many at once as have patches that fit on each other.
fn pass_with_their_patches(
    ws: &Workspace,
    chapter: &Chapter,
    copy: &Copy,
    at_once: bool,
) -> Result<()> {
    let exercises = all(ws, chapter)?;
    let mut rest = &exercises[..];
    while let Some((first, others)) = rest.split_first() {
        let began = Instant::now();
        apply(copy, first)?;
        let fit = |exercise: &&Exercise| at_once && apply(copy, exercise).is_ok();
        let (solved, left) = rest.split_at(1 + others.iter().take_while(fit).count());
        pass(ws, chapter, copy, solved)?;
        break_nothing(ws, chapter, copy)?;
        copy.restore(ws, chapter)?;
        let titles: Vec<_> = solved
            .iter()
            .map(|it| format!("{} {}", it.number, it.title))
            .collect();
        let with = if solved.len() == 1 {
            "passes with its patch"
        } else {
            "pass with their patches"
        };
        let seconds = began.elapsed().as_secs_f64();
        say(
            chapter,
            &format!("{}: {with} ({seconds:.1} s)", titles.join(", ")),
        )?;
        rest = left;
    }
    Ok(())
}

/// Runs the tests of exercises whose patches are applied.
fn pass(ws: &Workspace, chapter: &Chapter, copy: &Copy, solved: &[Exercise]) -> Result<()> {
    let mut command = copy.cargo(&tests_in_copy(ws, chapter, TARGET));
    command.args(["--", "--include-ignored"]);
    command.args(
        solved
            .iter()
            .map(|exercise| format!("{}::", exercise.module)),
    );
    let outcomes = outcomes(&mut command)?;
    for exercise in solved {
        let own = own(exercise, &outcomes)?;
        if let Some(failed) = own.into_iter().find(|it| it.verdict != Verdict::Passed) {
            let message = failed.message.as_deref().unwrap_or_default();
            bail!(
                "{message}\n{}: {} fails with the patch; mend one of them",
                exercise.path,
                failed.name
            );
        }
    }
    Ok(())
}

/// Runs the chapter's class tests with the patches applied: `cargo x check` wants them to pass, too.
fn break_nothing(ws: &Workspace, chapter: &Chapter, copy: &Copy) -> Result<()> {
    let outcomes = outcomes(&mut copy.cargo(&tests_in_copy(ws, chapter, GRADER)))?;
    match outcomes.iter().find(|it| it.verdict == Verdict::Failed) {
        Some(it) => bail!(
            "{}\n{}: {} fails with the patches of the exercises; mend one of them",
            it.message.as_deref().unwrap_or_default(),
            chapter.name,
            it.name
        ),
        None => Ok(()),
    }
}

/// The tests of an exercise, as they ended.
fn own<'a>(exercise: &Exercise, outcomes: &'a [Outcome]) -> Result<Vec<&'a Outcome>> {
    let own = outcomes
        .iter()
        .filter(|outcome| outcome.is_of(&exercise.module));
    let own: Vec<_> = own.collect();
    ensure!(
        !own.is_empty(),
        "{} has no test that runs; is its module in main.rs?",
        exercise.path
    );
    Ok(own)
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
    let args = tests_in_copy(ws, chapter, GRADER);
    let built = watch(copy.cargo(&args).arg("--no-run"), Patience::None)?;
    if !built.status.success() {
        bail!(
            "{}\n{}: without the bodies of `start` it does not compile",
            said(&built),
            chapter.name
        );
    }
    let output = watch(&mut copy.cargo(&args), Patience::None)
        .with_context(|| format!("{} without the bodies of `start`", chapter.name))?;
    let fails = Outcome::of(&output)
        .iter()
        .any(|outcome| outcome.verdict == Verdict::Failed);
    ensure!(
        fails,
        "{}: its class tests pass without the bodies of `start`; nothing grades the student",
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
            "start: without {number} it compiles and its class tests fail; put back, it is the same ({seconds:.1} s)"
        ),
    )
}

/// The arguments that run one test program of a chapter. The members that are no chapters are named as well, so that every
/// crate has the features it has in the whole workspace, and none is built once for each set of them.
fn tests_in_copy<'a>(ws: &'a Workspace, chapter: &'a Chapter, test: &'a str) -> Vec<&'a str> {
    let is_chapter = |name: &str| ws.chapters.iter().any(|chapter| chapter.name == name);
    let members = ws.members.iter().filter_map(Member::package);
    let others = members.filter(|name| !is_chapter(name));
    let packages = std::iter::once(chapter.name.as_str()).chain(others);
    let packages = packages.flat_map(|name| ["--package", name]);
    ["test", "--test", test]
        .into_iter()
        .chain(packages)
        .collect()
}

/// Applies the reference patch in the copy.
fn apply(copy: &Copy, exercise: &Exercise) -> Result<()> {
    // Within a repository git would leave out what lies outside of the folder it stands in.
    let above = copy.root.parent().unwrap_or(&copy.root);
    let output = git::command(&copy.root)
        .args(["apply", &exercise.patch()])
        .env("GIT_CEILING_DIRECTORIES", above)
        .output()
        .context("starting git (is it installed?)")?;
    ensure!(
        output.status.success(),
        "{}: {}",
        exercise.patch(),
        git::complaint(&output)
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
