//! Exercise 3 · what was changed (15 minutes).
//!
//! Which files were changed is nothing that a summary should have to remember: the harness knows it. Below the text of
//! the summary, above the line `(the whole conversation: …)`, put one line `(changed: src/a.rs)` for each file that
//! `write_file` or `edit_file` has changed in what the summary replaces; each file once, in the order of the first
//! change, and none whose calls have all failed. With no such file the summary looks as before. A second summary takes
//! the place of the first: what the first one named is still changed.
//!
//! Hint: `Parts` knows what is replaced. Whether a call has failed stands in the message behind it.
//!
//! Hint: when the second summary is made, the calls of the first part are long gone. Where do their paths still stand?

use mock_servers::model::says;
use s01_loop::{History, Output};

use super::{round, three_reads};
use crate::stage::{SMALL, Stage};

/// The text of the summary, without the two lines of its tag.
fn summary(history: &History) -> String {
    let text = history[0].text();
    let (summary, _) = text
        .split_once("\n</conversation-summary>")
        .unwrap_or_else(|| panic!("the conversation was to begin with a summary: {text:.300}"));
    summary.replace("<conversation-summary>\n", "")
}

/// The lines in it that name a changed file.
fn changed(summary: &str) -> Vec<&str> {
    let lines = summary.lines();
    lines.filter(|line| line.starts_with("(changed: ")).collect()
}

fn written() -> Output {
    Output::ok("written")
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn the_summary_names_the_files_that_were_changed() {
    let stage = Stage::scripted(SMALL, [says("Work was done.")]);
    let mut history = History::default();
    history.user("mend it");
    round(
        &mut history,
        &[
            ("write_file", "src/a.rs", written()),
            ("edit_file", "src/b.rs", Output::error("the text does not occur")),
            ("read_file", "src/c.rs", Output::ok("c")),
        ],
    );
    round(
        &mut history,
        &[("edit_file", "src/a.rs", written()), ("edit_file", "src/d.rs", written())],
    );
    three_reads(&mut history, 20_000);
    stage.compactor.shrink(&mut history).await;
    let summary = summary(&history);
    assert_eq!(
        changed(&summary),
        ["(changed: src/a.rs)", "(changed: src/d.rs)"],
        "src/a.rs was written and edited, src/d.rs edited; the edit of src/b.rs failed, and src/c.rs was read\n{summary}"
    );
    assert!(
        summary.starts_with("Work was done.\n(changed: ")
            && summary.contains(")\n(the whole conversation: "),
        "the lines stand below the text and above `(the whole conversation: …)`\n{summary}"
    );
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn a_second_summary_knows_what_the_first_one_named() {
    let stage = Stage::scripted(SMALL, [says("First."), says("Second.")]);
    let mut history = History::default();
    history.user("mend it");
    round(
        &mut history,
        &[("write_file", "src/a.rs", written()), ("write_file", "src/z.rs", written())],
    );
    three_reads(&mut history, 20_000);
    stage.compactor.shrink(&mut history).await;
    round(
        &mut history,
        &[("write_file", "src/b.rs", written()), ("edit_file", "src/a.rs", written())],
    );
    three_reads(&mut history, 20_000);
    stage.compactor.shrink(&mut history).await;
    assert_eq!(stage.model.requests().len(), 2, "two summaries were asked for");
    let summary = summary(&history);
    assert!(summary.starts_with("Second."), "{summary}");
    assert_eq!(
        changed(&summary),
        ["(changed: src/a.rs)", "(changed: src/z.rs)", "(changed: src/b.rs)"],
        "a.rs and z.rs were changed before the first summary, b.rs and again a.rs after it\n{summary}"
    );
}
