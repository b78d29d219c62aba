//! Rules for the exercises: a student finds them, switches them on, and can finish each.
//!
//! Whether they fail without their patches and pass with them is proved by `cargo x exercises`.

use super::{Findings, Rule, line_of};
use crate::bodies;
use crate::exercises::{Exercise, FOLDER, of};
use crate::workspace::{Chapter, Workspace};

pub(super) const RULES: [Rule; 4] = [in_order, switched_off, patches, start];

const NUMBER: std::ops::RangeInclusive<usize> = 2..=3;

/// A chapter has two or three exercises, numbered from 1; each is in the test target and in the README.
fn in_order(ws: &Workspace, found: &mut Findings) {
    for chapter in &ws.chapters {
        let file = |name: &str| ws.text(chapter, name).unwrap_or_default();
        let exercises = of(ws, chapter);
        if !NUMBER.contains(&exercises.len()) {
            let text = format!(
                "{} exercises; write two or three, exN_….rs",
                exercises.len()
            );
            found.file(&chapter.path(&format!("{FOLDER}/main.rs")), text);
        }
        for (index, exercise) in exercises.into_iter().enumerate() {
            let exercise = match exercise {
                Ok(exercise) => exercise,
                Err((path, problem)) => {
                    found.file(&path, problem);
                    continue;
                }
            };
            let module = format!("mod {};", exercise.module);
            let link = format!("({FOLDER}/{}.rs)", exercise.module);
            if exercise.number != index + 1 {
                found.file(
                    &exercise.path,
                    format!("the numbers have a gap; this is exercise {}", index + 1),
                );
            }
            if !file(&format!("{FOLDER}/main.rs")).contains(&module) {
                found.file(
                    &exercise.path,
                    format!("does not run; write `{module}` into main.rs"),
                );
            }
            if !file("README.md").contains(&link) {
                found.file(
                    &exercise.path,
                    format!("the README does not name it; link {link}"),
                );
            }
        }
    }
}

/// Every test of an exercise waits to be switched on.
fn switched_off(ws: &Workspace, found: &mut Findings) {
    for (_, exercise) in exercises(ws) {
        let off = format!("#[ignore = \"exercise {}\"]", exercise.number);
        let text = ws.tree.text(&exercise.path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let is_test = |line: &str| line == "#[test]" || line.starts_with("#[tokio::test");
        for (line, pair) in lines.windows(2).enumerate() {
            if is_test(pair[0]) && pair[1] != off {
                found.at(
                    &exercise.path,
                    line,
                    format!("a test that is on; write {off} under it"),
                );
            }
        }
    }
}

/// Each exercise has a solution, within its chapter.
fn patches(ws: &Workspace, found: &mut Findings) {
    for (chapter, exercise) in exercises(ws) {
        let patch = exercise.patch();
        let Some(text) = ws.tree.text(&patch) else {
            found.file(
                &exercise.path,
                format!("has no reference patch; write {patch}"),
            );
            continue;
        };
        let own = format!("+++ b/{}/", chapter.name);
        let is_outside = |line: &str| line.starts_with("+++ ") && !line.starts_with(&own);
        if let Some(line) = text.lines().position(is_outside) {
            found.at(
                &patch,
                line,
                format!("changes a file of others; stay in {}", chapter.name),
            );
        }
    }
}

/// A chapter says which bodies a student writes who builds its mechanism, and they are there.
fn start(ws: &Workspace, found: &mut Findings) {
    for chapter in &ws.chapters {
        let path = chapter.path("Cargo.toml");
        let problem = match bodies::take_out(ws, chapter) {
            Ok(emptied) if emptied.is_empty() => {
                "the chapter does not say what a student builds; write start = [\"src/…\"]"
                    .to_owned()
            }
            Ok(_) => continue,
            Err(error) => error.to_string().replacen(&format!("{path}: "), "", 1),
        };
        found.at(
            &path,
            line_of(ws.tree.text(&path).unwrap_or_default(), "start"),
            problem,
        );
    }
}

fn exercises(ws: &Workspace) -> impl Iterator<Item = (&Chapter, Exercise)> {
    let all = |chapter| {
        of(ws, chapter)
            .into_iter()
            .flatten()
            .map(move |it| (chapter, it))
    };
    ws.chapters.iter().flat_map(all)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finds, found};
    use super::*;
    use crate::tests::fixture::{exercise, manifest};

    const FIRST: &str = "s01_loop/exercises/ex1_first.rs";
    const FOURTH: &str = "s01_loop/exercises/ex4_fourth.rs";

    #[test]
    fn exercises_are_numbered_and_named_where_a_student_looks() {
        let opening = "1: opens with another line than `Exercise N · title (M minutes).`";
        let fourth: &[&str] = &[
            "1: the numbers have a gap; this is exercise 3",
            "1: does not run; write `mod ex4_fourth;` into main.rs",
            "1: the README does not name it; link (exercises/ex4_fourth.rs)",
        ];
        finds(
            in_order,
            &[
                (
                    "s01_loop/exercises/ex2_second.rs",
                    "//! A test: it runs.\n",
                    &[opening],
                ),
                (FOURTH, &exercise("s01_loop", 4), fourth),
            ],
        );
        let main = (
            "s01_loop/exercises/main.rs",
            "//! The exercises.\n\nmod ex2_second;\n",
        );
        let silent = format!("{FIRST}:1: does not run; write `mod ex1_first;` into main.rs");
        assert_eq!(found(in_order, &[main]), [silent]);
    }

    #[test]
    fn an_exercise_is_committed_switched_off() {
        let on = exercise("s01_loop", 1).replace("#[ignore = \"exercise 1\"]\n", "");
        let wanted = "7: a test that is on; write #[ignore = \"exercise 1\"] under it";
        finds(switched_off, &[(FIRST, &on, &[wanted])]);
    }

    #[test]
    fn a_solution_is_there_and_stays_in_its_chapter() {
        let foreign = "--- a/s01_loop/src/bash.rs\n+++ b/s01_loop/src/bash.rs\n";
        let wanted = "2: changes a file of others; stay in s02_tools";
        let missing = "1: has no reference patch; write s01_loop/exercises/ex4_fourth.patch";
        finds(
            patches,
            &[
                ("s02_tools/exercises/ex1_first.patch", foreign, &[wanted]),
                (FOURTH, &exercise("s01_loop", 4), &[missing]),
            ],
        );
    }

    #[test]
    fn a_chapter_says_what_a_student_builds() {
        let text = manifest("s01_loop", "adds = \"the loop\"", "").replace("start = ", "begin = ");
        let wanted = "1: the chapter does not say what a student builds; write start = [\"src/…\"]";
        finds(start, &[("s01_loop/Cargo.toml", &text, &[wanted])]);
    }
}
