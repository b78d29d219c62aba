//! Memory: what the user prefers is noted, obeyed and told again, from whichever place it is known.

use mock_servers::model::{Block, Role};

use crate::stage::{BASH, FILES, Stage};

const INDEX: &str = "You are a coding agent.\n\n# Memory\n\nWhat is known from earlier sessions: an index of the files in \
                     .harness/memory.\n\n\
                     - [indentation-preference](indentation-preference.md) — The user prefers tabs for indentation, not spaces\n\
                     - [user-name](user-name.md) — The user's name is Anna\n\n# Date\n\nToday is 2026-11-22.";

const NOTE: &str = "<memory>\nFrom earlier sessions; this is data, not a request of the user.\n\n\
                    ## quote-preference: The user prefers single quotes for strings, not double quotes\n\
                    The user said: “I also prefer single quotes over double quotes for strings.”\n</memory>";

/// The lines of a Python file that are indented with a tab, with spaces.
fn indented(text: &str) -> (usize, usize) {
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    (count("\t"), count(" "))
}

#[test]
fn a_preference_is_noted_without_a_tool() {
    let mut stage = Stage::new(FILES);
    let play = stage.ask("I prefer using tabs for indentation, not spaces. Remember that.");
    assert!(play.calls.is_empty());
    assert_eq!(
        play.answer,
        "Noted: you prefer tabs for indentation, not spaces. I keep to it in this conversation."
    );
    let play = stage.ask("I also prefer single quotes over double quotes for strings.");
    assert_eq!(
        play.answer,
        "Noted: you prefer single quotes for strings, not double quotes. I keep to it in this conversation."
    );
}

#[test]
fn other_words_are_noted_as_well() {
    for (request, noted) in [
        ("please use tabs, never spaces", "you prefer tabs"),
        ("from now on indent with tabs", "you prefer tabs"),
        ("From now on, please indent with tabs.", "you prefer tabs"),
        ("Never use double quotes", "you prefer single quotes"),
        ("No tabs, please. I like 2 spaces.", "you prefer 2 spaces"),
        ("Tabs, not spaces, please", "you prefer tabs"),
        (
            "remember that we use pytest and run it in CI",
            "“we use pytest and run it in CI”",
        ),
        ("my name is Anna", "your name is Anna"),
        ("We use pytest for testing", "“We use pytest for testing”"),
        (
            "This project uses Python 3.12",
            "“This project uses Python 3.12”",
        ),
        (
            "Always run the tests before you commit",
            "“Always run the tests before you commit”",
        ),
        (
            "Keep in mind that releases happen on Tuesdays",
            "“releases happen on Tuesdays”",
        ),
    ] {
        let play = Stage::new(FILES).ask(request);
        assert!(play.calls.is_empty(), "{request}: {:?}", play.lines());
        assert!(
            play.answer.starts_with(&format!("Noted: {noted}")),
            "{request}: {}",
            play.answer
        );
    }
}

#[test]
fn a_python_file_has_a_block_and_takes_the_users_style() {
    for tools in [BASH, FILES] {
        let mut stage = Stage::new(tools);
        stage.ask("Create a Python file called test.py");
        assert!(
            stage
                .text("test.py")
                .contains("\ndef main() -> None:\n    print(\"Hello from test.\")\n")
        );
        stage.ask("I prefer using tabs for indentation, not spaces. Remember that.");
        stage.ask("make a Python script demo.py");
        let text = stage.text("demo.py");
        assert_eq!(indented(&text), (2, 0), "{text}");
        stage.ask("I also prefer single quotes over double quotes for strings.");
        stage.ask("create tea.py that prints \"tea\"");
        assert_eq!(stage.text("tea.py"), "print('tea')\n");
    }
}

#[test]
fn a_package_takes_the_users_style_and_a_file_that_is_there_keeps_its_own() {
    let tools = &[
        "bash",
        "read_file",
        "write_file",
        "edit_file",
        "glob",
        "todo_write",
    ];
    let mut stage = Stage::new(tools).with_system(INDEX);
    stage.ask("Create a Python package under demo_pkg with __init__.py, utils.py, and tests/test_utils.py");
    let text = stage.text("demo_pkg/utils.py");
    let (tabs, spaces) = indented(&text);
    assert!(tabs > 1 && spaces == 0, "{text}");
    stage.put(
        "hello.py",
        "def greet(name):\n    print(\"Hello \" + name)\n\ngreet(\"tea\")\n",
    );
    stage.ask("Refactor hello.py: add type hints, docstrings, and a main guard");
    assert_eq!(indented(&stage.text("hello.py")).0, 0);
}

#[test]
fn the_style_is_known_from_the_index_and_from_a_recalled_note() {
    for request in [
        "Create a Python file called test.py",
        "write a Python script named test.py",
        "please make test.py",
        "add a new Python module test.py",
        "I need a file called test.py",
    ] {
        let mut stage = Stage::new(FILES).with_system(INDEX);
        stage.push(
            Role::User,
            vec![
                Block::Text(request.to_owned()),
                Block::Text(NOTE.to_owned()),
            ],
        );
        let play = stage.play();
        assert_eq!(play.lines(), ["write_file test.py"], "{request}");
        let text = stage.text("test.py");
        assert_eq!(indented(&text), (2, 0), "{request}: {text}");
        assert!(
            text.contains("print('Hello from test.')"),
            "{request}: {text}"
        );
    }
}

#[test]
fn what_the_user_says_now_wins_over_what_is_remembered() {
    let mut stage = Stage::new(FILES).with_system(INDEX);
    stage.ask("Please use 2 spaces from now on, no tabs.");
    stage.ask("create a.py");
    let text = stage.text("a.py");
    assert!(text.contains("\n  main()\n"), "{text}");
    let answer = stage.ask("what are my preferences?").answer;
    assert_eq!(
        answer,
        "This I know from you: you prefer 2 spaces for indentation, not tabs."
    );
}

#[test]
fn a_content_the_user_gives_is_written_as_it_is() {
    let mut stage = Stage::new(FILES).with_system(INDEX);
    stage.ask("create b.py with content:\n```python\nif 1:\n    print(\"b\")\n```");
    assert_eq!(stage.text("b.py"), "if 1:\n    print(\"b\")\n");
}

#[test]
fn what_is_known_is_told_from_every_place() {
    for request in [
        "What did I tell you about my preferences?",
        "do you remember what I like?",
        "What are my preferences?",
        "what do you know about me",
        "Which quotes and what indentation do I prefer?",
        "Tell me what I told you",
        "do you remember my preferences?",
    ] {
        let mut stage = Stage::new(FILES).with_system(INDEX);
        stage.ask("We use pytest for testing. Remember that.");
        stage.push(
            Role::User,
            vec![
                Block::Text(request.to_owned()),
                Block::Text(NOTE.to_owned()),
            ],
        );
        let play = stage.play();
        assert!(play.calls.is_empty(), "{request}");
        for known in [
            "you prefer tabs for indentation",
            "you prefer single quotes for strings",
        ] {
            assert_eq!(
                play.answer.matches(known).count(),
                1,
                "{request}: {}",
                play.answer
            );
        }
    }
    let answer = Stage::new(FILES)
        .with_system(INDEX)
        .ask("What is my name?")
        .answer;
    assert_eq!(answer, "This I know from you: your name is Anna.");
}

#[test]
fn nothing_is_made_up_when_nothing_is_known() {
    for tools in [BASH, FILES, &[]] {
        let answer = Stage::new(tools)
            .ask("What did I tell you about my preferences?")
            .answer;
        assert_eq!(
            answer,
            "I know nothing of that: you have not told me in this conversation, and I was given no memory of it."
        );
    }
}

#[test]
fn a_preference_and_a_request_in_one_line_are_both_heard() {
    let mut stage = Stage::new(FILES);
    let play = stage.ask("I like tabs more than spaces. Create demo.py");
    assert_eq!(play.lines(), ["write_file demo.py"]);
    assert!(
        play.answer.starts_with("Noted: you prefer tabs"),
        "{}",
        play.answer
    );
    assert!(
        play.answer.ends_with("I created demo.py."),
        "{}",
        play.answer
    );
    assert_eq!(indented(&stage.text("demo.py")), (2, 0));
}
