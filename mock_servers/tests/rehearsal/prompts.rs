//! The prompts of the first four chapters, with the tools of the first and of the others.

use crate::stage::{BASH, FILES, Stage};

#[test]
fn a_file_that_prints_a_text_is_created_and_runs() {
    for tools in [BASH, FILES] {
        let mut stage = Stage::new(tools);
        let play = stage.ask("Create a file called hello.py that prints \"Hello, World!\"");
        assert_eq!(stage.text("hello.py"), "print(\"Hello, World!\")\n");
        assert_eq!(play.calls.len(), 1);
        assert_eq!(play.answer, "I created hello.py.");
    }
}

#[test]
fn the_python_files_of_the_directory_are_listed() {
    for request in [
        "List all Python files in this directory",
        "Find all Python files in this directory",
    ] {
        for (tools, call) in [
            (BASH, "bash find . -name '*.py' -not -path '*/.*'"),
            (FILES, "glob **/*.py"),
        ] {
            let play = Stage::new(tools).ask(request);
            assert_eq!(play.lines(), [call]);
            assert!(
                play.answer.starts_with("I found 2 Python files: "),
                "{}",
                play.answer
            );
            assert!(
                play.answer.contains("boil.py") && play.answer.contains("src/pour.py"),
                "{}",
                play.answer
            );
        }
    }
}

#[test]
fn the_current_branch_is_asked_of_git() {
    for tools in [BASH, FILES] {
        let play = Stage::new(tools)
            .with_git()
            .ask("What is the current git branch?");
        assert_eq!(play.lines(), ["bash git branch --show-current"]);
        assert_eq!(play.answer, "The current git branch is main.");
    }
}

#[test]
fn the_readme_is_read_and_says_what_the_project_is_about() {
    for (tools, call) in [(BASH, "bash cat README.md"), (FILES, "read_file README.md")] {
        let play =
            Stage::new(tools).ask("Read the file README.md and tell me what this project is about");
        assert_eq!(play.lines(), [call]);
        assert_eq!(
            play.answer,
            "Tea timer. A small program that counts the minutes of a cup of tea."
        );
    }
}

#[test]
fn a_created_file_is_read_back_only_after_it_was_written() {
    for tools in [BASH, FILES] {
        let mut stage = Stage::new(tools);
        let play =
            stage.ask("Create a file called test.py that prints \"hello\", then read it back");
        let rounds: Vec<usize> = play.calls.iter().map(|(round, _, _)| *round).collect();
        assert_eq!(rounds, [0, 1]);
        assert_eq!(stage.text("test.py"), "print(\"hello\")\n");
        assert_eq!(play.answer, "I created test.py.\ntest.py: print(\"hello\")");
    }
}

#[test]
fn two_files_are_read_side_by_side_and_then_summed_up() {
    for tools in [BASH, FILES] {
        let mut stage = Stage::new(tools);
        let play = stage.ask("Read both README.md and Cargo.toml, then create a summary file");
        let rounds: Vec<usize> = play.calls.iter().map(|(round, _, _)| *round).collect();
        assert_eq!(rounds, [0, 0, 1]);
        let summary = "# Summary\n\n## README.md\n\nTea timer. A small program that counts the minutes of a cup of tea. \
                       (7 lines)\n\n## Cargo.toml\n\nthe package tea_timer, version 0.3.0 (5 lines)\n";
        assert_eq!(stage.text("SUMMARY.md"), summary);
        assert!(
            play.answer.ends_with("I wrote the summary to SUMMARY.md."),
            "{}",
            play.answer
        );
    }
}

#[test]
fn a_file_is_created_and_on_the_next_request_deleted() {
    for tools in [BASH, FILES] {
        for request in [
            "Create a file called test.txt in the current directory",
            "Create a file called test.txt",
        ] {
            let mut stage = Stage::new(tools);
            assert_eq!(stage.ask(request).answer, "I created test.txt.");
            assert!(stage.has("test.txt"));
            assert_eq!(
                stage.ask("Delete the file test.txt").lines(),
                ["bash rm test.txt"]
            );
            assert!(!stage.has("test.txt"));
        }
    }
}

#[test]
fn the_files_of_the_directory_are_listed() {
    for (tools, call) in [(BASH, "bash ls"), (FILES, "bash ls"), (&["glob"], "glob *")] {
        let play = Stage::new(tools).ask("What files are in the current directory?");
        assert_eq!(play.lines(), [call]);
        assert_eq!(
            play.answer,
            "I see 4 entries: Cargo.toml, README.md, boil.py, src."
        );
    }
}

#[test]
fn a_file_outside_the_workspace_is_tried_once_and_the_refusal_told() {
    for (tools, call) in [
        (
            BASH,
            "bash printf '%s\\n' 'This is something.' > /etc/something",
        ),
        (FILES, "write_file /etc/something"),
    ] {
        let play = Stage::new(tools).ask("Try to write a file to /etc/something");
        assert_eq!(play.lines(), [call]);
        assert_eq!(
            play.answer,
            "I did not create /etc/something: permission denied: this is outside the workspace. I did not try another way."
        );
    }
}

#[test]
fn a_short_readme_is_shown() {
    for tools in [BASH, FILES] {
        let answer = Stage::new(tools).ask("Read the file README.md").answer;
        assert!(
            answer.starts_with("README.md:\n```\n# Tea timer\n"),
            "{answer}"
        );
    }
}

#[test]
fn deleting_temporary_files_is_denied_and_not_tried_again() {
    for tools in [BASH, FILES] {
        let no = "permission denied: the user said no. Do not try to get there another way; tell the user.";
        let mut stage = Stage::new(tools).intercepting(move |_, _| Some((no.to_owned(), true)));
        let play = stage.ask("Delete all temporary files in /tmp");
        assert_eq!(play.lines(), ["bash rm -rf /tmp/*.tmp"]);
        assert_eq!(
            play.answer,
            "I did not delete the temporary files in /tmp: permission denied: the user said no. I did not try another way."
        );
    }
}
