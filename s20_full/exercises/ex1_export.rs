//! Exercise 1 · export (15 minutes).
//!
//! `/export FILE` writes the conversation as Markdown into a file of the workspace, for somebody who was not there: a
//! heading `## User` or `## Assistant` for each message, below it its texts, the name and arguments of each call, the
//! text of each result, all of it whole. The user is told the path. A file that is there already is not written over,
//! a path that leads out of the workspace is refused, without a name or a conversation nothing is written; each time a
//! sentence says why, and nothing is sent to the model. `/help` lists the command.
//!
//! Hint: `s08_compact::transcript` has made a conversation into text already. Read what it does to a long one.
//!
//! Hint: [`Sessions::open`](s20_full::Sessions::open) is given a workspace, so nothing in `main.rs` has to change.
//!
//! Hint: `Workspace::resolve` knows where a path leads, `write_whole` how a file is written.

use mock_servers::model::{Request, calls, says};
use serde_json::json;
use testkit::Class;

use super::{asked, class, echo, model};

fn exported(class: &Class, file: &str, shown: &str) -> String {
    let path = class.dir().join(file);
    let read = std::fs::read_to_string(path);
    read.unwrap_or_else(|error| {
        panic!("{file} should have been written ({error}); the user saw\n{shown}")
    })
}

#[test]
#[ignore = "exercise 1"]
fn a_conversation_is_written_whole() {
    let long = "All work and no play. ".repeat(300);
    let answer = format!("{long}And that was all.");
    let said = answer.clone();
    let model = model(move |request: &Request| match request.calls().len() {
        0 => calls("read_file", json!({"path": "README.md"})),
        _ => says(&said),
    });
    let class = class().model(&model);
    let ran = class.types(&["What is this about?", "/export notes/talk.md", "/help"]);
    ran.succeeds().shows("/export FILE");
    let text = exported(&class, "notes/talk.md", &ran.transcript());
    for part in [
        "## User\n",
        "What is this about?",
        "## Assistant\n",
        "read_file",
        "README.md",
        "A small project.",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    assert!(
        text.contains(&answer),
        "an answer of {} characters should be there whole; the file has {}",
        answer.len(),
        text.len()
    );
    assert!(ran.stdout.contains("notes/talk.md"), "{}", ran.transcript());
    assert!(!text.contains("/export"), "a command is no part of the conversation");
}

#[test]
#[ignore = "exercise 1"]
fn nothing_is_written_over_and_nothing_outside() {
    let model = model(echo);
    let class = class().model(&model);
    let outside = class.dir().join("../talk.md");
    let ran = class.types(&[
        "hi",
        "/export README.md",
        "/export ../talk.md",
        "/export",
        "/export good.md",
    ]);
    exported(&class, "good.md", &ran.transcript());
    assert_eq!(
        class.read("README.md"),
        "# Demo\n\nA small project.\n",
        "a file that was there should be left alone"
    );
    assert!(!outside.exists(), "{} is outside the workspace", outside.display());
    ran.shows("README.md").shows("outside the workspace");
    assert_eq!(asked(&model), 1, "no command should reach the model");
}

#[test]
#[ignore = "exercise 1"]
fn without_a_conversation_there_is_no_file() {
    let model = model(echo);
    let class = class().model(&model);
    let ran = class.types(&["/export talk.md", "hi", "/export talk.md"]);
    let text = exported(&class, "talk.md", &ran.transcript());
    assert!(
        text.contains("You said: hi"),
        "the first /export should write nothing, so that the second one can write: {text:?}"
    );
}
