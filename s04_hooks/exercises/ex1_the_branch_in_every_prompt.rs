//! Exercise 1 · the branch in every prompt (10 minutes).
//!
//! A model that does not know on which branch it works commits to the wrong one. Ship one more hook, on
//! UserPromptSubmit: it adds the line `branch: main` to what the user typed, with the branch of that moment. In a
//! directory that is no repository, and in one where no branch is checked out, it adds nothing, and nobody reads a
//! message of git's.
//!
//! Hint: `src/shipped.rs` has four hooks to copy from, and `Agent::new` in `src/main.rs` is where they are attached.
//! What a hook says to the model, it says with `HookOutput::Context`.
//!
//! Hint: `git branch --show-current` prints what you need, or nothing. `s01_loop::Process` runs a command without
//! holding up the loop.

use mock_servers::model::{MockModel, calls, says};
use serde_json::json;

use super::{class, types, with_context};

fn with_branch(prompt: &str, branch: &str) -> String {
    with_context(prompt, &format!("branch: {branch}"))
}

#[test]
#[ignore = "exercise 1"]
fn the_model_reads_the_branch_beside_the_prompt() {
    let (_, texts) = types(class().git(), 1, &["Hello"]);
    assert!(
        texts == [with_branch("Hello", "main")],
        "in a repository on branch main the model should read {:?}; it read {texts:?}",
        with_branch("Hello", "main")
    );
}

/// The first trap: when is the branch read?
#[test]
#[ignore = "exercise 1"]
fn the_branch_is_that_of_the_moment() {
    let settings = json!({"permissions": {"allow": ["bash(git switch:*)"]}});
    let switch = json!({"command": "git switch --quiet --create feature"});
    let model = MockModel::scripted([calls("bash", switch), says("Done."), says("Fine.")]);
    let class = class().file(".harness/settings.json", settings.to_string());
    let class = class.git().model(&model);
    class.types(&["begin the feature", "and go on"]).succeeds();
    let texts = model.last_request().user_texts();
    let expected = [("begin the feature", "main"), ("and go on", "feature")];
    assert!(
        texts == expected.map(|(prompt, branch)| with_branch(prompt, branch)),
        "the model switched from main to feature between the two prompts, and should read that; it read {texts:#?}"
    );
}

/// The second trap: there may be no branch to speak of.
#[test]
#[ignore = "exercise 1"]
fn where_there_is_no_branch_nothing_is_added() {
    let (_, in_a_repository) = types(class().git(), 1, &["Hello"]);
    assert!(
        in_a_repository == [with_branch("Hello", "main")],
        "in a repository the branch should be added; the model read {in_a_repository:?}"
    );
    let (_, outside) = types(class(), 1, &["Hello"]);
    assert!(
        outside == ["Hello"],
        "outside a repository nothing should be added; the model read {outside:?}"
    );
    let repository = class().git();
    let commit = repository.read(".git/refs/heads/main");
    let (_, detached) = types(repository.file(".git/HEAD", commit), 1, &["Hello"]);
    assert!(
        detached == ["Hello"],
        "with a commit checked out instead of a branch nothing should be added; the model read {detached:?}"
    );
}
