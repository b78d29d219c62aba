//! What newcomers typed and the rehearsal model did not understand, or understood wrongly.

use crate::stage::{BASH, FILES, Stage};

/// All tools of a lead that plans, delegates and loads skills.
const LEAD: &[&str] = &[
    "bash",
    "read_file",
    "write_file",
    "edit_file",
    "glob",
    "todo_write",
    "task",
    "load_skill",
];

const SYSTEM: &str = "You are a coding agent.\n\n# Skills\n\nLoad one when it fits.\n\n- code-review: Review code for faults.\n- pdf: Work with PDF files.\n\n# Memory\n\n- [indentation-preference](indentation-preference.md) — The user prefers tabs for indentation, not spaces\n";

const HELLO: &str = "def greet(name):\n    return \"Hello, \" + name\n\nprint(greet(\"World\"))\n";

fn stage() -> Stage {
    let stage = Stage::new(LEAD)
        .with_system(SYSTEM)
        .intercepting(|name, _| {
            let skill = "# PDF\n\n1. Find the PDF files.\n2. Extract their text.\n";
            (name == "load_skill").then(|| (skill.to_owned(), false))
        });
    std::fs::create_dir(stage.dir.join("examples")).expect("the workspace is writable");
    stage.put("examples/hello.py", HELLO);
    stage.put(
        "examples/words.py",
        "import os, sys\ndef count( text ):\n  return text\n",
    );
    stage
}

/// The calls without those that keep a plan.
fn work(stage: &mut Stage, request: &str) -> Vec<String> {
    let lines = stage.ask(request).lines().into_iter();
    lines
        .filter(|line| !line.starts_with("todo_write"))
        .collect()
}

#[test]
fn a_file_that_is_there_is_never_written_over_with_the_words_of_a_request() {
    for request in [
        "Put type hints into examples/hello.py",
        "add docstrings and type hints to examples/hello.py",
        "put a docstring into examples/hello.py",
        "add a comment to examples/hello.py",
        "put a comment at the top of examples/hello.py",
        "write tests for examples/hello.py",
        "create unit tests for examples/hello.py",
        "add tests to examples/hello.py",
        "add logging to examples/hello.py",
        "put error handling into examples/hello.py",
        "write error handling into examples/hello.py",
        "insert a main function into examples/hello.py",
        "include a license header in examples/hello.py",
        "add a function slugify to examples/hello.py",
        "generate documentation for examples/hello.py",
        "write a README for examples/hello.py",
        "make examples/hello.py faster",
        "make examples/hello.py executable",
        "make sure examples/hello.py works",
        "fix the bug in examples/hello.py",
        "rewrite examples/hello.py in a better way",
        "update examples/hello.py so that it says goodbye",
        "make a backup of examples/hello.py",
        "create a copy of examples/hello.py called heat.py",
        "save examples/hello.py as heat.py",
        "document examples/hello.py",
        "comment examples/hello.py",
        "read examples/hello.py and save it as heat.py",
    ] {
        let mut stage = stage();
        let play = stage.ask(request);
        let text = stage.text("examples/hello.py");
        assert!(
            text.contains("return \"Hello, \" + name") && text.contains("greet(\"World\")"),
            "{request}: {:?}\n{text}",
            play.lines()
        );
        assert!(!play.calls.is_empty(), "{request}: {}", play.answer);
    }
}

#[test]
fn what_was_asked_for_is_put_into_the_file() {
    let mut stage = stage();
    stage.ask("add docstrings and type hints to examples/hello.py");
    let text = stage.text("examples/hello.py");
    assert!(
        text.contains("name: str") && text.contains("\"\"\"Greet, given name.\"\"\""),
        "{text}"
    );
    stage.ask("put a comment at the top of examples/words.py");
    let text = stage.text("examples/words.py");
    assert!(
        text.starts_with("# words.py: defines count.\nimport os, sys\n"),
        "{text}"
    );
    stage.ask("write tests for examples/hello.py");
    let text = stage.text("examples/test_hello.py");
    assert!(text.contains("import hello\n"), "{text}");
}

#[test]
fn a_short_turn_says_nothing_twice_and_counts_no_rounds() {
    for request in [
        "Put type hints into examples/hello.py",
        "read every file here",
    ] {
        let mut stage = stage();
        stage.ask(request);
        let said: Vec<String> = stage
            .messages
            .iter()
            .flat_map(|message| &message.blocks)
            .filter_map(|block| match block {
                mock_servers::model::Block::Text(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
        let early = &said[..said.len().min(5)];
        assert!(
            early.iter().all(|text| !text.contains("ound ")
                && !text.contains("\n- ")
                && !text.starts_with("- ")),
            "{said:#?}"
        );
    }
}

#[test]
fn a_plan_is_made_and_then_carried_out() {
    for requests in [
        &["make a todo list for tidying the examples folder, then do it"][..],
        &["Make a todo list for tidying the examples folder and do it"],
        &["make a plan for tidying the examples folder", "go ahead"],
        &[
            "make a plan for tidying the examples folder",
            "Yes, please go ahead!",
        ],
        &["plan tidying the examples folder", "execute the plan"],
    ] {
        let mut stage = stage();
        for request in requests {
            stage.ask(request);
        }
        let text = stage.text("examples/words.py");
        assert!(
            text.starts_with("import os\nimport sys\n"),
            "{requests:?}\n{text}"
        );
    }
}

#[test]
fn style_is_checked_without_a_change_and_repaired_when_that_was_asked_for() {
    let mut stage = stage();
    let answer = stage
        .ask("check the style of the Python code in examples")
        .answer;
    assert!(answer.contains("I would fix indentation"), "{answer}");
    assert!(
        stage
            .text("examples/words.py")
            .starts_with("import os, sys")
    );
    stage.ask("lint the files under examples and repair what you find");
    assert!(
        stage
            .text("examples/words.py")
            .starts_with("import os\nimport sys")
    );
}

#[test]
fn all_files_of_a_kind_get_their_docstrings() {
    let mut stage = stage();
    let play = stage.ask("Add a docstring to every Python file under examples");
    for path in ["examples/hello.py", "examples/words.py"] {
        assert!(
            stage.text(path).contains("\"\"\""),
            "{path}: {:?}",
            play.lines()
        );
    }
    assert!(!stage.has("new_file.py"));
}

/// A request, the calls without those that keep a plan, and a part of the answer.
const REQUESTS: &[(&str, &str, &str)] = &[
    ("count the Rust files", "glob **/*.rs", "1 Rust file"),
    (
        "find all files with \"beep\" in them",
        "bash grep -rnI --exclude-dir='.?*' -e beep .",
        "TODO beep",
    ),
    (
        "have a helper agent look for TODO comments in src",
        "task look for TODO comments in src",
        "subagent",
    ),
    (
        "Use three subagents:\n1. count the Rust files\n2. read README.md\n3. list the Python files",
        "task count the Rust files | task read README.md | task list the Python files",
        "subagent",
    ),
    (
        "Use two subagents for these jobs:\n- count the Rust files\n- read README.md and summarize it",
        "task count the Rust files | task read README.md and summarize it",
        "subagent",
    ),
    (
        "write haiku.txt with a haiku",
        "write_file haiku.txt",
        "I created haiku.txt.",
    ),
    (
        "Please remember: always indent with tabs.",
        "",
        "Noted: you prefer tabs",
    ),
    (
        "FYI: my indentation style is tabs",
        "",
        "Noted: you prefer tabs",
    ),
    (
        "I need a Python file with the name test.py",
        "write_file test.py",
        "I created test.py.",
    ),
    (
        "Could you set up a Python module called util.py?",
        "write_file util.py",
        "I created util.py.",
    ),
    ("Which preferences did I mention?", "", "you prefer tabs"),
    ("Tell me what you remember about me", "", "you prefer tabs"),
    (
        "Forget that I like tabs.",
        "",
        "Say `run rm .harness/memory/indentation-preference.md`",
    ),
    (
        "I need a long library of 42 functions, put it into lib.py",
        "write_file lib.py",
        "42 functions",
    ),
    (
        "Load the pdf skill and follow its instructions",
        "load_skill pdf | glob *",
        "1. Find the PDF files.",
    ),
];

#[test]
fn what_newcomers_say_is_understood() {
    for (request, calls, answer) in REQUESTS {
        let mut stage = stage();
        let play = stage.ask(request);
        let made: Vec<String> = play.lines();
        assert_eq!(made.join(" | "), *calls, "{request}: {}", play.answer);
        assert!(play.answer.contains(answer), "{request}\n{}", play.answer);
    }
}

#[test]
fn every_file_is_read_whatever_that_is_called() {
    for request in [
        "show me each file of this directory",
        "read all of the files in this folder",
        "have a look at every file in here",
        "Summarize every file in this workspace",
    ] {
        let made = work(&mut Stage::new(FILES), request);
        assert_eq!(made.len(), 1 + 5, "{request}: {made:?}");
        assert_eq!(made[0], "glob **/*", "{request}");
    }
}

#[test]
fn a_skill_that_was_loaded_before_is_followed() {
    let mut stage = stage();
    stage.ask("load the pdf skill");
    let play = stage.ask("now follow its instructions");
    assert_eq!(play.lines(), ["load_skill pdf", "glob *"]);
    assert!(
        play.answer.contains("1. Find the PDF files."),
        "{}",
        play.answer
    );
}

#[test]
fn what_help_shows_can_be_typed_as_it_stands_in_an_empty_directory() {
    for tools in [BASH, FILES] {
        let help = Stage::bare(tools).ask("help").answer;
        let requests: Vec<&str> = help
            .lines()
            .filter_map(|line| line.strip_prefix("- "))
            .collect();
        assert!((4..=8).contains(&requests.len()), "{help}");
        for request in requests {
            let mut stage = Stage::new(tools);
            std::fs::remove_dir_all(&stage.dir).expect("it is the stage's own");
            std::fs::create_dir(&stage.dir).expect("it was there");
            let play = stage.ask(request);
            assert!(!play.calls.is_empty(), "{request}");
            for bad in ["I could not", "I did not", "I am only"] {
                assert!(!play.answer.contains(bad), "{request}: {}", play.answer);
            }
        }
    }
}
