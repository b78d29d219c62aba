//! Exercise 3 · always, tomorrow too (15 minutes).
//!
//! The answer `a` allows a rule until the session ends; tomorrow you are asked again. Write the rule down: it goes to
//! the end of `permissions.allow` in `.harness/settings.json`, once, and the next session does not ask. The file
//! belongs to the user: all else in it stays as it is, parts of other chapters included, and a file that cannot be
//! read stays untouched. When the rule cannot be written down, the call runs all the same, and the user reads a line
//! with the words `is not remembered`.
//!
//! Hint: the answer is taken in `put_question` in `src/policy.rs`; reading the file is the business of
//! `src/settings.rs`, and so should writing be.
//!
//! Hint: two helpers are made for this: `kit::make_state_folder`, `kit::write_whole`. What does `read_settings` say when
//! there is no file, and what when the file is no JSON?

use mock_servers::model::{MockModel, calls, says};
use serde_json::{Value, json};
use testkit::Class;

const SETTINGS: &str = ".harness/settings.json";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s03_permission"))
}

/// A model that runs each of these in a turn of its own.
fn runs(commands: &[&str]) -> MockModel {
    let turn = |command: &&str| [calls("bash", json!({ "command": command })), says("Done.")];
    MockModel::scripted(commands.iter().flat_map(turn))
}

#[test]
#[ignore = "exercise 3"]
fn the_next_session_does_not_ask() {
    let model = runs(&["mkdir new", "rmdir new", "mkdir new"]);
    let class = class().model(&model);
    class.types(&["make it", "a", "and away with it", "y"]).succeeds();
    assert!(!class.dir().join("new").exists());
    // Nobody answers in this session.
    let ran = class.types(&["make it again"]);
    assert!(
        class.dir().join("new").is_dir(),
        "`mkdir new` was answered with `a` in the first session and should run in the second without a question:\n{}",
        ran.transcript()
    );
    let settings: Value = serde_json::from_str(&class.read(SETTINGS)).unwrap();
    assert!(
        settings["permissions"]["allow"] == json!(["bash(mkdir new)"]),
        "of two calls one was answered with `a`; one rule should stand in {SETTINGS}, which holds {settings:#}"
    );
}

/// The first trap: whose file is it?
#[test]
#[ignore = "exercise 3"]
fn all_else_in_the_file_stays() {
    let before = json!({
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
        "permissions": {"deny": ["bash(rm:*)"], "allow": ["bash(touch a)"], "mine": 1},
        "theme": "dark",
    });
    let model = runs(&["mkdir x", "mkdir x", "mkdir y"]);
    let class = class().file(SETTINGS, before.to_string()).model(&model);
    class.types(&["one", "a", "the same", "another one", "a"]).succeeds();
    let mut expected = before;
    expected["permissions"]["allow"] = json!(["bash(touch a)", "bash(mkdir x)", "bash(mkdir y)"]);
    let after: Value = serde_json::from_str(&class.read(SETTINGS)).unwrap();
    assert!(
        after == expected,
        "the two rules should be added and all else should stay: expected {expected:#}\n\nthe file holds {after:#}"
    );
}

/// The second trap: the file is broken between the start of the session and the answer.
#[test]
#[ignore = "exercise 3"]
fn a_file_that_cannot_be_read_is_left_alone() {
    let spoil = format!("mkdir -p .harness; echo oops > {SETTINGS}");
    let model = runs(&[&spoil, "mkdir new"]);
    let class = class().model(&model);
    let ran = class.types(&["spoil it", "y", "make it", "a"]);
    ran.shows("is not remembered");
    let settings = class.read(SETTINGS);
    assert!(settings == "oops\n", "the broken file should stay as it was; it holds {settings:?}");
    assert!(class.dir().join("new").is_dir(), "the call was allowed and should have run");
}
