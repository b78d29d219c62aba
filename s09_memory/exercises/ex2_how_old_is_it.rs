//! Exercise 2 · how old is it? (15 minutes).
//!
//! A memory says what was true when it was written, and the model takes it for true now. Let the note of `recall` say of
//! each memory whose file was last changed two days ago or earlier how old it is, in a line of its own beside the
//! memory: `(written 47 days ago)`. Younger ones have no such line. Growing older is no news: a memory that the
//! conversation still shows is not recalled again, and is chosen for what it says, not for its age. A person who saves
//! a file without changing a word has confirmed it: it is new again.
//!
//! Hint: `std::fs::Metadata::modified` knows when. `Store` knows the folder, and remembers by their text what it has read.
//!
//! Hint: `section` makes the text of a memory for three readers: the note, `is_shown`, and the choice by words in common.
//! Which of them is to see the line?

use std::fs::File;
use std::time::{Duration, SystemTime};

use s01_loop::Message;
use serde_json::json;

use crate::stage::{CHOOSE, Stage, asking, file};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Writes a memory, or leaves the one there is, and makes its file so many days old.
fn written(stage: &Stage, name: &str, days: u32) {
    let path = format!("memory/{name}.md");
    if !stage.path(&path).exists() {
        stage.write(&path, &file(name));
    }
    let then = SystemTime::now() - DAY * days - DAY / 24;
    let opened = File::options().write(true).open(stage.path(&path));
    opened.unwrap().set_modified(then).unwrap();
}

/// Asserts that the note has a line that says how old the memory is.
#[track_caller]
fn says_its_age(note: &str, days: u32) {
    let line = format!("(written {days} days ago)");
    assert!(
        note.lines().any(|shown| shown == line),
        "the note was to have the line {line:?}\n{note}"
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn the_note_says_how_old_what_it_tells_is() {
    let stage = Stage::new();
    written(&stage, "tabs", 47);
    written(&stage, "quotes", 1);
    stage.answers(CHOOSE, [json!(["tabs", "quotes"])]);
    let note = stage.memory().recall(&asking("write code")).await.unwrap();
    says_its_age(&note, 47);
    let (old, young) = note.split_once("## quotes").expect("both are in the note");
    assert!(
        old.contains("(written 47 days ago)"),
        "the line was to stand with the memory `tabs`, which it is about\n{note}"
    );
    assert!(
        !young.contains("(written "),
        "`quotes` is one day old and was to have no such line\n{note}"
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn growing_older_is_no_news() {
    let stage = Stage::new();
    written(&stage, "tabs", 47);
    stage.answers(CHOOSE, [json!(["tabs"]), json!(["tabs"])]);
    let memory = stage.memory();
    let mut history = asking("write code");
    let note = memory.recall(&history).await.unwrap();
    says_its_age(&note, 47);
    history.remind([note]);
    history.push(Message::assistant("done"));
    for days in [47, 48] {
        written(&stage, "tabs", days);
        let again = memory.recall(&history).await;
        assert_eq!(
            (again.as_deref(), stage.asked(CHOOSE)),
            (None, 1),
            "the conversation shows `tabs` already; it is {days} days old now, and was recalled (or asked about) again"
        );
    }
    // The script above had a second answer, for whoever asks; this is who may.
    history.replace(vec![Message::user("a summary")]);
    let note = memory.recall(&history).await.unwrap();
    says_its_age(&note, 48);
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn nobody_is_reminded_of_a_memory_because_it_is_old() {
    let stage = Stage::new();
    written(&stage, "tabs", 47);
    stage.says(CHOOSE, "nonsense").says(CHOOSE, "nonsense");
    let memory = stage.memory();
    let note = memory.recall(&asking("Which tabs?")).await.unwrap();
    says_its_age(&note, 47);
    let note = memory.recall(&asking("What was written some days ago?")).await;
    assert_eq!(
        note, None,
        "the request and the memory `tabs` have no word in common but those of the line about its age"
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_file_that_was_saved_again_is_new() {
    let stage = Stage::new();
    written(&stage, "tabs", 47);
    stage.answers(CHOOSE, [json!(["tabs"]), json!(["tabs"])]);
    let memory = stage.memory();
    let note = memory.recall(&asking("write code")).await.unwrap();
    says_its_age(&note, 47);
    written(&stage, "tabs", 0);
    let note = memory.recall(&asking("write more code")).await.unwrap();
    assert!(
        !note.contains("(written "),
        "the file was saved a moment ago, with the same text; the note was to say nothing about its age\n{note}"
    );
}
