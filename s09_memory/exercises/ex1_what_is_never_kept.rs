//! Exercise 1 · what is never kept (10 minutes).
//!
//! The question that extracts memories tells the model to leave out passwords and keys. A prompt is a request; what must
//! never happen is decided in code. Let `learn` keep no memory with a key in its name, its description or its content. A
//! key is a run of 20 or more letters, digits, `-` and `_` that begins with `sk-` or `ghp_`. What else the model has
//! extracted in the same answer is kept as before. For each memory that is left out, the user reads one line that begins
//! with `[not remembered: ` and does not show the key.
//!
//! Hint: `Memory::remember` has the memories in its hand before anything is written.
//!
//! Hint: a text is a list of such runs, cut at every other character. Whether one of them is a key is a question for a
//! function of its own, which takes a text and answers yes or no.

use mock_servers::model::{MockModel, says};
use serde_json::{Value, json};
use testkit::{Class, Ran};

use crate::stage::{EXTRACT, Stage, entry, turn};

const KEY: &str = "sk-ant-this-one-opens-nothing";
const TOKEN: &str = "ghp_ThisOneOpensNothingEither";

/// A session whose model has extracted these memories from its only turn.
fn learns(extracted: Value) -> (Class, Ran) {
    let model = MockModel::scripted([says("Fine.")]);
    model.script_for(EXTRACT, [says(extracted.to_string())]);
    let class = Class::new(env!("CARGO_BIN_EXE_s09_memory")).model(&model);
    let ran = class.types(&["deploy it"]);
    ran.succeeds();
    (class, ran)
}

#[test]
#[ignore = "exercise 1"]
fn a_memory_with_a_key_is_left_out_and_the_rest_is_kept() {
    let (class, ran) = learns(json!([
        entry("deploy", &format!("Deploy with the key {KEY}.")),
        entry("tabs", "Indent with tabs.")
    ]));
    assert!(
        !class.dir().join(".harness/memory/deploy.md").exists(),
        "the memory `deploy` has a key in its content and was to be left out; it was kept\n{}",
        ran.transcript()
    );
    ran.shows("[remembered: tabs]\n").shows("[not remembered: ");
    let index = class.read(".harness/memory/MEMORY.md");
    assert!(!index.contains("deploy"), "the index still lists it\n{index}");
}

#[test]
#[ignore = "exercise 1"]
fn the_line_about_it_does_not_show_the_key() {
    let (_, ran) = learns(json!([entry(&format!("the key {KEY}"), "For deploying.")]));
    ran.shows("[not remembered: ").never_shows(KEY);
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn a_key_is_found_wherever_it_stands() {
    for text in [
        format!("export TOKEN={TOKEN}"),
        format!("{{\"key\": \"{KEY}\"}}"),
        format!("first line\n{TOKEN}\nlast line"),
        format!("(https://user:{KEY}@example.org)"),
    ] {
        let stage = Stage::new();
        let mut described = entry("described", "Nothing here.");
        described["description"] = json!(text);
        stage.answers(EXTRACT, [json!([entry("written", &text), described])]);
        stage.memory().learn(&turn()).await;
        let kept = stage.names();
        assert!(
            kept.is_empty(),
            "there is a key in {text:?}, so no memory with this content or this description was to be kept; kept were {kept:?}"
        );
    }
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn a_word_that_only_looks_like_one_is_kept() {
    let stage = Stage::new();
    let looks_like_one = json!([
        entry("page", "Look at the task-management-dashboard-component first."),
        entry("library", "The project uses sk-learn."),
        entry("key", &format!("The key is {KEY}."))
    ]);
    stage.answers(EXTRACT, [looks_like_one]);
    stage.memory().learn(&turn()).await;
    assert_eq!(
        stage.names(),
        ["library.md", "page.md"],
        "`task-management-dashboard-component` begins with no `sk-`, and `sk-learn` is short: both memories were to be \
         kept, and the one with a key in it was not"
    );
}
