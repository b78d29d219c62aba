//! `cargo x exercises`: each exercise fails as it stands and passes with its patch, which breaks no class test; each chapter
//! can be built anew.
//!
//! An exercise that passes by itself teaches nothing, and one that nobody has solved may not be solvable.
//! Invariant: the course's own files stay as they are, for what changes a file happens in a copy below `target/`; the last
//! chapter is first, so that what a chapter depends on is whole when it is built.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::{Exercise, MODULE, Outcome, Patience, SESSION, Verdict, all, run_tests};
use crate::bodies;
use crate::cargo::cargo;
use crate::copy::{Copy, build_dir};
use crate::git;
use crate::terminal::{self, counted};
use crate::workspace::{Chapter, Member, Workspace, chapter_number};

/// The tests of a chapter.
const TESTS: [&str; 4] = ["test", "--no-fail-fast", "--test", "main"];
/// The module of them that grades whoever builds a mechanism: it types into the chapter. The others grade, too.
const GRADER: &str = "class::";

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
    let mut command = cargo(&TESTS);
    match wanted {
        Some(chapter) => command.args(packages(ws, chapter)),
        None => command.arg("--workspace"),
    };
    command.args(["--", "--include-ignored", MODULE]).current_dir(&ws.root);
    let outcomes = run_tests(&mut command, Patience::None)?;
    if let Some(program) = outcomes.iter().find(|it| it.is_program()) {
        bail!("{}", program.message);
    }
    for chapter in &chapters {
        all_fail(chapter, &all(ws, chapter)?, &outcomes)?;
    }
    let root = build_dir()?.join("exercises");
    remove(&root)?;
    let copy = Copy::make(ws, &root)?.build_apart(ws)?;
    for chapter in chapters {
        pass_with_their_patches(ws, chapter, &copy, wanted.is_none())?;
        can_be_built_anew(ws, chapter, &copy)?;
    }
    remove(&root)
}

fn remove(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    fs::remove_dir_all(folder).with_context(|| format!("removing {}", folder.display()))
}

fn all_fail(chapter: &Chapter, exercises: &[Exercise], outcomes: &[Outcome]) -> Result<()> {
    let mut tests = 0;
    for Exercise { path, module, .. } in exercises {
        let own: Vec<_> = outcomes.iter().filter(|it| it.is_of(module)).collect();
        let none = "has no test that runs; is its module in main.rs?";
        ensure!(!own.is_empty(), "{path} {none}");
        if let Some(Outcome { name, .. }) = own.iter().find(|it| it.verdict != Verdict::Failed) {
            bail!("{path}: {name} passes without the patch; it tests nothing");
        }
        tests += own.len();
    }
    let exercises = counted(exercises.len(), "exercise", "exercises");
    let tests = counted(tests, "test", "tests");
    let none = format!("{exercises}: {tests}, and none passes as it stands");
    say(chapter, &none)
}

/// Solves the exercises of a chapter: each alone, or as many at once as have patches that fit on each other. The chapter's
/// class tests must still pass: `cargo x check` wants that, too.
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
        let titles = solved.iter().map(|it| format!("{} {}", it.number, it.title));
        let titles = titles.collect::<Vec<_>>().join(", ");
        let mut command = copy.cargo(&TESTS);
        command.args(packages(ws, chapter));
        command.args(["--", "--include-ignored", MODULE, GRADER]);
        let outcomes = run_tests(&mut command, Patience::None)?;
        let is_open = |it: &&Outcome| {
            let solved = solved.iter().any(|exercise| it.is_of(&exercise.module));
            !solved && exercises.iter().any(|exercise| it.is_of(&exercise.module))
        };
        let mut counted = outcomes.iter().filter(|it| !is_open(it) && !it.is_of(SESSION));
        if let Some(failed) = counted.find(|it| it.verdict != Verdict::Passed) {
            let (said, name, of) = (&failed.message, &failed.name, &chapter.name);
            bail!("{said}\n{of}: {name} fails with the patch of {titles}; mend one of them");
        }
        copy.restore()?;
        let seconds = began.elapsed().as_secs_f64();
        let solved = format!("{titles}: solved by patch ({seconds:.1} s)");
        say(chapter, &solved)?;
        rest = left;
    }
    Ok(())
}

/// Takes the bodies out, sees the chapter compile and its class tests fail.
fn can_be_built_anew(ws: &Workspace, chapter: &Chapter, copy: &Copy) -> Result<()> {
    let began = Instant::now();
    let mut number = 0;
    for emptied in bodies::take_out(ws, chapter)? {
        copy.write(&chapter.path(&emptied.file), &emptied.text)?;
        number += emptied.bodies.len();
    }
    let mut command = copy.cargo(&TESTS);
    command.args(packages(ws, chapter)).args(["--", GRADER]);
    let outcomes = run_tests(&mut command, Patience::None)
        .with_context(|| format!("{} without the bodies of `start`", chapter.name))?;
    if !outcomes.iter().any(|it| it.verdict == Verdict::Failed) {
        let pass = "its class tests pass without the bodies of `start`";
        bail!("{}: {pass}; nothing grades the student", chapter.name);
    }
    copy.restore()?;
    let number = counted(number, "body", "bodies");
    let seconds = began.elapsed().as_secs_f64();
    let text = format!("start: without {number} it compiles and its class tests fail");
    say(chapter, &format!("{text} ({seconds:.1} s)"))
}

/// Applies the reference patch in the copy.
fn apply(copy: &Copy, exercise: &Exercise) -> Result<()> {
    let patch = exercise.patch();
    let output = git::output(&copy.root, &["apply", &patch])?;
    let complaint = git::complaint(&output);
    ensure!(output.status.success(), "{patch}: {complaint}");
    Ok(())
}

/// The arguments that name a chapter, and the members that are none: so every crate has the features it has in the whole
/// workspace, and none is built once for each set of them.
fn packages<'a>(ws: &'a Workspace, chapter: &Chapter) -> Vec<&'a str> {
    let is_named = |it: &&Member| it.dir == chapter.name || chapter_number(&it.dir).is_none();
    let named = ws.members.iter().filter(is_named);
    let names = named.filter_map(Member::package);
    names.flat_map(|name| ["--package", name]).collect()
}

fn say(chapter: &Chapter, text: &str) -> Result<()> {
    Ok(terminal::print(&format!("{}  {text}\n", chapter.short()))?)
}
