//! Rules for the exercises: a student finds them, switches them on, and can finish each.
//!
//! Whether they fail without their patches and pass with them is proved by `cargo x exercises`.

use super::{Finding, Rule, Subject, line_of};
use crate::bodies;
use crate::exercises::{Exercise, FOLDER, all, of};
use crate::workspace::{Chapter, Workspace};

pub(super) const RULES: [Rule; 4] = [in_order, switched_off, patches, start];

const NUMBER: std::ops::RangeInclusive<usize> = 2..=3;

/// A chapter has two or three exercises, numbered from 1; each is in the test target and in the README.
fn in_order(subject: &Subject<'_>) -> Vec<Finding> {
    let ws = subject.ws;
    let mut findings = Vec::new();
    for chapter in &ws.chapters {
        let main = chapter.path(&format!("{FOLDER}/main.rs"));
        let exercises = of(ws, chapter);
        if !NUMBER.contains(&exercises.len()) {
            let text = format!(
                "{} exercises; write two or three, exN_….rs",
                exercises.len()
            );
            findings.push(Finding::file(&main, text));
        }
        for (index, exercise) in exercises.into_iter().enumerate() {
            match exercise {
                Ok(exercise) => findings.extend(placed(ws, chapter, &exercise, index + 1)),
                Err((path, problem)) => findings.push(Finding::file(&path, problem)),
            }
        }
    }
    findings
}

/// Whether an exercise has its number, its module and its line in the README.
fn placed(ws: &Workspace, chapter: &Chapter, exercise: &Exercise, number: usize) -> Vec<Finding> {
    let file = |name: &str| ws.text(chapter, name).unwrap_or_default();
    let module = format!("mod {};", exercise.module);
    let link = format!("({FOLDER}/{}.rs)", exercise.module);
    let problems = [
        (exercise.number != number)
            .then(|| format!("the numbers have a gap; this is exercise {number}")),
        (!file(&format!("{FOLDER}/main.rs")).contains(&module))
            .then(|| format!("does not run; write `{module}` into main.rs")),
        (!file("README.md").contains(&link))
            .then(|| format!("the README does not name it; link {link}")),
    ];
    let problems = problems.into_iter().flatten();
    problems
        .map(|text| Finding::file(&exercise.path, text))
        .collect()
}

/// Every test of an exercise waits to be switched on.
fn switched_off(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for exercise in exercises(subject.ws) {
        let off = format!("#[ignore = \"exercise {}\"]", exercise.number);
        let text = subject.ws.tree.text(&exercise.path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (line, _) in lines.iter().enumerate().filter(|(_, text)| is_test(text)) {
            if lines.get(line + 1) != Some(&off.as_str()) {
                findings.push(Finding::at(
                    &exercise.path,
                    line,
                    format!("a test that is on; write {off} under it"),
                ));
            }
        }
    }
    findings
}

fn is_test(line: &str) -> bool {
    line == "#[test]" || line.starts_with("#[tokio::test")
}

/// Each exercise has a solution, within its chapter.
fn patches(subject: &Subject<'_>) -> Vec<Finding> {
    let ws = subject.ws;
    let mut findings = Vec::new();
    for chapter in &ws.chapters {
        for exercise in of(ws, chapter).into_iter().flatten() {
            let patch = exercise.patch();
            let Some(text) = ws.tree.text(&patch) else {
                findings.push(Finding::file(
                    &exercise.path,
                    format!("has no reference patch; write {patch}"),
                ));
                continue;
            };
            let own = format!("+++ b/{}/", chapter.name);
            let is_outside = |line: &str| line.starts_with("+++ ") && !line.starts_with(&own);
            if let Some(line) = text.lines().position(is_outside) {
                let text = format!("changes a file of others; stay in {}", chapter.name);
                findings.push(Finding::at(&patch, line, text));
            }
        }
    }
    findings
}

/// A chapter says which bodies a student writes who builds its mechanism, and they are there.
fn start(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for chapter in &subject.ws.chapters {
        let path = chapter.path("Cargo.toml");
        let line = line_of(subject.ws.tree.text(&path).unwrap_or_default(), "start");
        let problem = match bodies::take_out(subject.ws, chapter) {
            Ok(emptied) if emptied.is_empty() => {
                "the chapter does not say what a student builds; write start = [\"src/…\"]"
                    .to_owned()
            }
            Ok(_) => continue,
            Err(error) => error.to_string().replacen(&format!("{path}: "), "", 1),
        };
        findings.push(Finding::at(&path, line, problem));
    }
    findings
}

fn exercises(ws: &Workspace) -> Vec<Exercise> {
    let chapters = ws.chapters.iter();
    chapters
        .flat_map(|chapter| all(ws, chapter).unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;
    use crate::fixture::{exercise, manifest};

    const FIRST: &str = "s01_loop/exercises/ex1_first.rs";
    const SECOND: &str = "s01_loop/exercises/ex2_second.rs";

    #[test]
    fn exercises_are_numbered_and_named_where_a_student_looks() {
        assert_eq!(found(in_order, &[]), [""; 0]);
        assert_eq!(
            found(in_order, &[(SECOND, "//! A test: it runs.\n")]),
            [
                "s01_loop/exercises/ex2_second.rs:1: opens with another line than `Exercise N · title (M minutes).`"
            ]
        );
        let main = "s01_loop/exercises/main.rs";
        assert_eq!(
            found(
                in_order,
                &[(main, "//! The exercises.\n\nmod ex2_second;\n")]
            ),
            [
                "s01_loop/exercises/ex1_first.rs:1: does not run; write `mod ex1_first;` into main.rs"
            ]
        );
        assert_eq!(
            found(
                in_order,
                &[("s01_loop/exercises/ex4_fourth.rs", &exercise("s01_loop", 4))]
            ),
            [
                "s01_loop/exercises/ex4_fourth.rs:1: the numbers have a gap; this is exercise 3",
                "s01_loop/exercises/ex4_fourth.rs:1: does not run; write `mod ex4_fourth;` into main.rs",
                "s01_loop/exercises/ex4_fourth.rs:1: the README does not name it; link (exercises/ex4_fourth.rs)",
            ]
        );
    }

    #[test]
    fn an_exercise_is_committed_switched_off() {
        let on = exercise("s01_loop", 1).replace("#[ignore = \"exercise 1\"]\n", "");
        assert_eq!(
            found(switched_off, &[(FIRST, &on)]),
            [
                "s01_loop/exercises/ex1_first.rs:7: a test that is on; write #[ignore = \"exercise 1\"] under it"
            ]
        );
        assert_eq!(found(switched_off, &[]), [""; 0]);
    }

    #[test]
    fn a_solution_stays_in_its_chapter() {
        let patch = "s02_tools/exercises/ex1_first.patch";
        assert_eq!(found(patches, &[]), [""; 0]);
        assert_eq!(
            found(
                patches,
                &[(
                    patch,
                    "--- a/s01_loop/src/bash.rs\n+++ b/s01_loop/src/bash.rs\n"
                )]
            ),
            ["s02_tools/exercises/ex1_first.patch:2: changes a file of others; stay in s02_tools"]
        );
        assert_eq!(
            found(
                patches,
                &[("s01_loop/exercises/ex3_third.rs", &exercise("s01_loop", 3))]
            ),
            [
                "s01_loop/exercises/ex3_third.rs:1: has no reference patch; write s01_loop/exercises/ex3_third.patch"
            ]
        );
    }

    #[test]
    fn a_chapter_says_what_a_student_builds() {
        assert_eq!(found(start, &[]), [""; 0]);
        let without =
            manifest("s01_loop", "adds = \"the loop\"", "").replace("start = ", "begin = ");
        assert_eq!(
            found(start, &[("s01_loop/Cargo.toml", &without)]),
            [
                "s01_loop/Cargo.toml:1: the chapter does not say what a student builds; write start = [\"src/…\"]"
            ]
        );
    }
}
