//! Jobs for subagents: what the lead hands on, and what the subagent does with it.

use crate::stage::{FILES, Stage};

/// The tools of the lead that can delegate.
const LEAD: &[&str] = &[
    "bash",
    "read_file",
    "write_file",
    "edit_file",
    "glob",
    "todo_write",
    "task",
];

/// Plays subagents with the tools of the second chapter in the directory of the lead.
fn with_subagents(stage: Stage) -> Stage {
    let dir = stage.dir.clone();
    stage.intercepting(move |name, input| {
        let description = input["description"].as_str().filter(|_| name == "task")?;
        let mut subagent = Stage::in_directory(FILES, &dir).with_system("You are a subagent.");
        Some((subagent.ask(description).answer, false))
    })
}

/// The descriptions handed on, with the round.
fn handed_on(request: &str) -> Vec<(usize, String)> {
    let mut stage = with_subagents(Stage::new(LEAD));
    let play = stage.ask(request);
    let tasks = play.calls.into_iter().filter(|(_, name, _)| name == "task");
    tasks
        .map(|(round, _, input)| {
            (
                round,
                input["description"].as_str().unwrap_or("").to_owned(),
            )
        })
        .collect()
}

#[test]
fn a_job_is_handed_on_in_the_users_words() {
    for (request, job) in [
        (
            "Use a subtask to find what testing framework this project uses",
            "find what testing framework this project uses",
        ),
        (
            "Delegate: read all .rs files in src and summarize what each one does",
            "read all .rs files in src and summarize what each one does",
        ),
        (
            "have a subagent count the lines of README.md",
            "count the lines of README.md",
        ),
        (
            "Please hand counting the lines of README.md to a helper",
            "count the lines of README.md",
        ),
        (
            "ask a subagent to read README.md and Cargo.toml and list the files",
            "read README.md and Cargo.toml and list the files",
        ),
        ("Could you let a helper read boil.py?", "read boil.py"),
        (
            "In a subtask, find all Python files",
            "find all Python files",
        ),
        (
            "find all Python files using a subagent",
            "find all Python files",
        ),
        (
            "spawn a separate subagent that reads README.md.",
            "read README.md",
        ),
    ] {
        assert_eq!(handed_on(request), [(0, job.to_owned())], "{request}");
    }
}

#[test]
fn several_jobs_run_side_by_side() {
    for request in [
        "use two subtasks: one counts the lines of README.md, the other lists the Python files",
        "Use a subagent to count the lines of README.md and another to list the Python files",
        "Delegate to two subagents: count the lines of README.md, and list the Python files",
        "Start 2 helpers. Have one helper count the lines of README.md. Have another helper list the Python files.",
    ] {
        let expected = ["count the lines of README.md", "list the Python files"];
        let expected: Vec<_> = expected.map(|job| (0, job.to_owned())).into();
        assert_eq!(handed_on(request), expected, "{request}");
    }
    let mut stage = with_subagents(Stage::new(LEAD));
    let answer = stage
        .ask(
            "use two subtasks: one counts the lines of README.md, the other lists the Python files",
        )
        .answer;
    assert_eq!(
        answer,
        "The subagent for “count the lines of README.md” reports: README.md has 7 lines.\n\
         The subagent for “list the Python files” reports: I found 2 Python files: boil.py, src/pour.py."
    );
}

#[test]
fn what_a_subagent_made_is_checked_by_the_lead() {
    for request in [
        "Use a task to create string_tools.py with a slugify(text: str) function, then verify it from the parent agent",
        "Have a subagent create string_tools.py with a slugify(text: str) function and verify it yourself",
        "Delegate creating string_tools.py with a function slugify(text: str) to a subagent, then check the file yourself",
        "let a helper write string_tools.py with a slugify function. Then verify it.",
        "Use a subagent to create string_tools.py containing a function called slugify, then confirm it.",
    ] {
        let mut stage = with_subagents(Stage::new(LEAD));
        let play = stage.ask(request);
        let lines = play.lines();
        assert!(
            lines[0].starts_with("task create string_tools.py with")
                || lines[0].starts_with("task write string_tools.py with")
                || lines[0].starts_with("task create string_tools.py containing"),
            "{lines:?}"
        );
        assert_eq!(lines[1..], ["read_file string_tools.py"], "{request}");
        assert!(
            stage
                .text("string_tools.py")
                .contains("def slugify(text: str) -> str:\n"),
            "{}",
            stage.text("string_tools.py")
        );
        assert!(
            play.answer
                .contains("I checked it myself: string_tools.py is there and defines slugify"),
            "{}",
            play.answer
        );
    }
}

#[test]
fn a_subagent_finds_the_testing_framework_in_the_files() {
    for request in [
        "find what testing framework this project uses",
        "which test framework is used here?",
        "determine the testing library of this project",
        "how is this project tested?",
        "tell me what test runner the code uses",
    ] {
        let mut stage = Stage::new(FILES).with_system("You are a subagent.");
        stage.put("src/test_tea.rs", "#[test]\nfn tea_is_hot() {}\n");
        stage.put(
            "Cargo.toml",
            "[package]\nname = \"tea\"\n\n[dev-dependencies]\ninsta = \"1\"\n",
        );
        let answer = stage.ask(request).answer;
        assert_eq!(
            answer,
            "The project uses Rust's built-in test framework (`cargo test`); I see it in Cargo.toml and src/test_tea.rs.\n\
             It tests with these crates besides: insta.",
            "{request}"
        );
    }
    let mut stage = Stage::new(FILES).with_system("You are a subagent.");
    std::fs::remove_file(stage.dir.join("Cargo.toml")).expect("there is a manifest");
    stage.put(
        "pyproject.toml",
        "[project.optional-dependencies]\ntest = [\"pytest\"]\n",
    );
    let answer = stage
        .ask("find what testing framework this project uses")
        .answer;
    assert_eq!(
        answer,
        "The project uses pytest; I see it in pyproject.toml."
    );
}

#[test]
fn a_subagent_sums_up_what_it_read() {
    let mut stage = with_subagents(Stage::new(LEAD));
    stage.put("src/pour.rs", "//! Pours the tea.\n\npub fn pour() {}\n");
    let play = stage.ask("Delegate: read all .rs files in src and summarize what each one does");
    assert_eq!(
        play.answer,
        "The subagent reports:\nsrc/main.rs: Counts down.\nsrc/pour.rs: Pours the tea."
    );
}
