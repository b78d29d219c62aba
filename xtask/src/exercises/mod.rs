//! The exercises of a chapter: a test to switch on, hints, and a reference patch.
//!
//! The opening comment of the test's file is the task, so that a student reads and runs one file.
//! Invariant: exercises are numbered from 1 without a gap; `tidy` sees to it.

mod outcome;
pub mod prove;

use anyhow::anyhow;

use crate::header;
use crate::workspace::{Chapter, Workspace};

pub use outcome::{Outcome, Patience, Verdict, run_tests};

/// The folder of a chapter's exercises.
pub const FOLDER: &str = "exercises";
/// How the names of their tests begin.
pub const MODULE: &str = "exercises::";

/// The module of class tests that compares the README's session with the program: a solution may change what it prints.
pub const SESSION: &str = "session";
const HINT: &str = "Hint: ";

/// One exercise, as its files describe it.
#[derive(Debug, PartialEq)]
pub struct Exercise {
    /// Counted from 1.
    pub number: usize,
    /// Its module: `ex1_progress_in_the_prompt`.
    pub module: String,
    /// What it is about, in a few words.
    pub title: String,
    /// How long it takes.
    pub minutes: u32,
    /// What to build, in Markdown.
    pub task: String,
    /// From the first push to the last step before the solution.
    pub hints: Vec<String>,
    /// The file with the task and the tests, relative to the workspace.
    pub path: String,
}

impl Exercise {
    /// The file of the reference solution, relative to the workspace.
    pub fn patch(&self) -> String {
        self.path.replace(".rs", ".patch")
    }

    /// The exercise in the file at `path`.
    ///
    /// # Errors
    /// What is wrong with its opening comment, in a sentence.
    fn read(path: &str, text: &str) -> Result<Self, String> {
        let (_, file) = path.rsplit_once('/').unwrap_or(("", path));
        let module = file.trim_end_matches(".rs");
        let comment = header::lines(text).collect::<Vec<_>>().join("\n");
        let (title, rest) = comment.split_once('\n').unwrap_or((&comment, ""));
        let (number, title, minutes) = title_of(title)
            .ok_or("opens with another line than `Exercise N · title (M minutes).`")?;
        let paragraphs = rest.split("\n\n").map(str::trim);
        let paragraphs = paragraphs.filter(|it| !it.is_empty());
        let (hints, task): (Vec<&str>, Vec<&str>) = paragraphs.partition(|it| it.starts_with(HINT));
        if task.is_empty() || hints.is_empty() {
            return Err("needs a task and at least one paragraph that begins with `Hint: `".into());
        }
        if !module.starts_with(&format!("ex{number}_")) {
            return Err(format!("is exercise {number}; name the file ex{number}_….rs"));
        }
        let hints = hints.iter().map(|hint| hint[HINT.len()..].trim());
        Ok(Self {
            number,
            module: module.to_owned(),
            title: title.to_owned(),
            minutes,
            task: task.join("\n\n"),
            hints: hints.map(str::to_owned).collect(),
            path: path.to_owned(),
        })
    }
}

/// The parts of `Exercise 1 · progress in the prompt (10 minutes).`
fn title_of(line: &str) -> Option<(usize, &str, u32)> {
    let (number, rest) = line.strip_prefix("Exercise ")?.split_once(" · ")?;
    let (title, minutes) = rest.strip_suffix(" minutes).")?.rsplit_once(" (")?;
    Some((number.parse().ok()?, title, minutes.parse().ok()?))
}

/// The exercises of a chapter in their order; of a file that is none, its path and what is wrong with it.
pub fn of(ws: &Workspace, chapter: &Chapter) -> Vec<Result<Exercise, (String, String)>> {
    let start = chapter.path(&format!("{FOLDER}/ex"));
    let is_one = |path: &str| path.starts_with(&start) && path.ends_with(".rs");
    let files = ws.tree.iter().filter(|(path, _)| is_one(path));
    let read =
        |(path, text)| Exercise::read(path, text).map_err(|problem| (path.to_owned(), problem));
    files.map(read).collect()
}

/// The exercises of a chapter in their order.
///
/// # Errors
/// When a file of them is not in order.
pub fn all(ws: &Workspace, chapter: &Chapter) -> anyhow::Result<Vec<Exercise>> {
    let all = of(ws, chapter).into_iter();
    all.map(|it| it.map_err(|(path, problem)| anyhow!("{path} {problem}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! Exercise 2 · nothing is undone (15 minutes).\n//!\n//! Refuse a list.\n//! Say why.\n//!\n\
        //! Keep the old one.\n//!\n//! Hint: look at\n//! `Plan::new`.\n//!\n//! Hint: compare.\n\n\
        #[test]\n#[ignore = \"exercise 2\"]\nfn it_is_refused() {}\n";

    #[test]
    fn the_opening_comment_is_the_task_and_the_hints() {
        let read = |text: &str| Exercise::read("s05_todo/exercises/ex2_nothing.rs", text);
        let exercise = read(TEXT).unwrap();
        let expected = Exercise {
            number: 2,
            module: "ex2_nothing".into(),
            title: "nothing is undone".into(),
            minutes: 15,
            task: "Refuse a list.\nSay why.\n\nKeep the old one.".into(),
            hints: vec!["look at\n`Plan::new`.".into(), "compare.".into()],
            path: "s05_todo/exercises/ex2_nothing.rs".into(),
        };
        assert_eq!(exercise, expected);
        assert_eq!(exercise.patch(), "s05_todo/exercises/ex2_nothing.patch");

        let wrong = |text: &str| read(text).unwrap_err();
        assert!(wrong("//! A test: it fails.\n").starts_with("opens with another line"));
        assert!(wrong(&TEXT.replace("Hint", "Note")).starts_with("needs a task"));
        assert!(wrong(&TEXT.replace("Exercise 2", "Exercise 3")).starts_with("is exercise 3"));
    }
}
