//! The lesson as a class sees it: two agents, two tasks, two directories, and nothing of either in the third.

mod session;

use mock_servers::model::{MockModel, calls, says};
use serde_json::json;
use testkit::{Class, leaves_no_trace, team};

const PROMPT: &str = "Create two tasks, then create worktrees for each (bind with task_id). Spawn alice and bob and give each one of the tasks to do in its worktree.";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s17_worktree"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .git()
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    leaves_no_trace(env!("CARGO_BIN_EXE_s17_worktree"));
}

#[test]
fn a_worktree_with_work_in_it_stays_until_the_user_says_so_whatever_a_rule_allows() {
    let remove = |discard: bool| {
        let input = json!({"name": "api", "discard_changes": discard});
        calls("remove_worktree", input)
    };
    let model = MockModel::scripted([
        calls("create_worktree", json!({"name": "api"})),
        calls("write_file", json!({"path": ".harness/worktrees/api/new.txt", "content": "mine\n"})),
        remove(false),
        remove(true),
        says("It holds work. Shall I discard it?"),
        remove(true),
        says("It is gone."),
    ]);
    let settings = json!({"permissions": {"allow": ["remove_worktree"]}}).to_string();
    let class = class().file(".harness/settings.json", settings).model(&model);
    let mut terminal = class.terminal(100, 40);
    let asks = |why: &'static str| {
        move |screen: &str| screen.contains(why) && screen.trim_end().ends_with("[N]o:")
    };
    terminal
        .wait_for("s17 >>")
        .type_line("Create a worktree called api, add a file, and remove it.")
        .wait_until("the question of the file", asks("controls permissions"))
        .type_line("y")
        .wait_until("the question of the worktree", asks("would be lost"))
        .type_line("n")
        .wait_for("Shall I discard it?");
    assert!(class.dir().join(".harness/worktrees/api").exists());
    // An "always" would have been for this one, too.
    terminal
        .type_line("yes, discard it")
        .wait_until("another question", |screen| screen.trim_end().ends_with("[N]o:"));
    terminal.type_line("a").wait_for("It is gone.");
    let results = model.last_request().results();
    assert!(results[2].0 && results[2].1.contains("?? new.txt"), "{results:?}");
    assert!(results[3].0 && !results[4].0, "{results:?}");
    assert!(!class.dir().join(".harness/worktrees/api").exists());
}

/// The prompt and other words for it, with the model a newcomer meets: each file lies in the worktree of its task, also
/// where variables lead git elsewhere.
#[test]
fn the_rehearsal_does_the_prompt_in_other_words_as_well_and_the_tool_pool_is_known() {
    for prompt in [
        PROMPT,
        "Make two tasks, make worktrees for each of them bound by task_id, spawn alice and bob, and give each one of the tasks.",
        "Put two tasks on the board, create a worktree for each and bind it with task_id. Spawn alice and bob and give each of them one of the tasks to do in its worktree.",
        "Add two tasks to the board, add a worktree for each task (bind it), spawn alice and bob and give each a task.",
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class()
            .model(&model)
            .env("GIT_DIR", "/nowhere/.git")
            .env("GIT_WORK_TREE", "/nowhere")
            .env("GIT_INDEX_FILE", "/nowhere/index")
            .env("GIT_TRACE", "1")
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "core.bare")
            .env("GIT_CONFIG_VALUE_0", "true");
        let ran = class.types(&[prompt]);
        ran.succeeds().shows("alice reports").shows("bob reports");
        let worktrees = std::fs::read_dir(class.dir().join(".harness/worktrees")).unwrap();
        let folders = worktrees.map(|entry| entry.unwrap().path());
        let with_notes = folders.filter(|folder| folder.join("notes").is_dir());
        assert_eq!(with_notes.count(), 2, "{}", ran.transcript());
        assert!(!class.dir().join("notes").exists(), "{}", ran.transcript());
        team::assert_both_pools(env!("CARGO_MANIFEST_DIR"), &model);
    }
}
