//! The exercises of a chapter on its page: the task, hints one by one, the tests, the reference solution.
//!
//! A student reads the task, thinks, and opens one fold after another; nothing is given away by scrolling.
//! Invariant: everything but the task is folded.

use anyhow::Result;

use super::fences::{folded, quoted};
use super::links::anchor;
use crate::exercises::{self, Exercise};
use crate::workspace::{Chapter, Workspace};

const WARNING: &str =
    "One way to do it. Read it when your tests are green, or when an hour has passed.";

/// The section; nothing for a chapter without exercises.
///
/// # Errors
/// When a file of them is not in order.
pub fn section(ws: &Workspace, chapter: &Chapter) -> Result<Option<String>> {
    let mut text = format!(
        "## The exercises, with hints and tests\n\nTake `#[ignore]` off a test and run `cargo x check {}`.\n\n",
        chapter.short()
    );
    let exercises = exercises::all(ws, chapter)?;
    for exercise in &exercises {
        text += &one(ws, chapter, exercise);
    }
    Ok((!exercises.is_empty()).then_some(text))
}

fn one(ws: &Workspace, chapter: &Chapter, exercise: &Exercise) -> String {
    let Exercise {
        number,
        title,
        minutes,
        task,
        path,
        ..
    } = exercise;
    let (first, rest) = title.split_at_checked(1).unwrap_or(("", title));
    let id = anchor(&path[chapter.name.len() + 1..]);
    let first = first.to_uppercase();
    let mut page =
        format!("### {number}. {first}{rest} ({minutes} minutes) {{#{id}}}\n\n{task}\n\n");
    for (index, hint) in exercise.hints.iter().enumerate() {
        page += &folded(None, &format!("Hint {}", index + 1), hint);
    }
    let tests = ws.tree.text(path).unwrap_or_default().lines();
    let tests = tests.skip_while(|line| line.starts_with("//!") || line.is_empty());
    let tests = tests.collect::<Vec<_>>().join("\n");
    let summary = format!("The tests: <code>{path}</code>");
    page += &folded(None, &summary, &quoted("rust", &tests));
    if let Some(patch) = ws.tree.text(&exercise.patch()) {
        let body = format!("{WARNING}\n\n{}", quoted("diff", patch));
        page += &folded(None, "A solution", &body);
    }
    page + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    const EXERCISE: &str = "//! Exercise 1 · more tools (10 minutes).\n//!\n//! Add a tool\n//! called `date`.\n//!\n//! Hint: look at `bash`.\n//!\n\
        //! Hint: copy it.\n\nuse x;\n\n#[test]\n#[ignore = \"exercise 1\"]\nfn it_is_there() {}\n";

    #[test]
    fn the_task_is_open_and_the_rest_is_folded() {
        let ws = fixture::course(&[
            ("s02_tools/exercises/ex1_first.rs", EXERCISE),
            ("s02_tools/exercises/ex1_first.patch", "-old\n+new\n"),
        ]);

        let section = section(&ws, ws.chapter("s02").unwrap()).unwrap().unwrap();

        let start = "## The exercises, with hints and tests\n\nTake `#[ignore]` off a test and run `cargo x check s02`.\n\n\
            ### 1. More tools (10 minutes) {#exercises-ex1-first-rs}\n\nAdd a tool\ncalled `date`.\n\n\
            <details><summary>Hint 1</summary>\n\nlook at `bash`.\n\n</details>\n";
        assert!(section.starts_with(start), "{section}");
        let tests = "<summary>The tests: <code>s02_tools/exercises/ex1_first.rs</code></summary>\n\n<script type=\"text/plain\" class=\"file\" data-language=\"rust\">\nuse x;\n";
        assert!(section.contains(tests), "{section}");
        let patch = "data-language=\"diff\">\n-old\n+new\n</script>";
        assert!(section.contains(patch), "{section}");
    }
}
