//! Long conversations: many files in one request, many requests in one conversation, and small talk between them.

use crate::stage::{BASH, FILES, Stage};

const COMPACT: &[&str] = &[
    "bash",
    "read_file",
    "write_file",
    "edit_file",
    "glob",
    "compact",
];

/// A crate in a folder.
fn with_crate() -> Stage {
    let stage = Stage::new(FILES);
    let folders = "s08_compact/src/layers s08_compact/tests";
    for folder in folders.split(' ') {
        std::fs::create_dir_all(stage.dir.join(folder)).expect("the workspace is writable");
    }
    for name in [
        "Cargo.toml",
        "README.md",
        "src/lib.rs",
        "src/main.rs",
        "src/layers/mod.rs",
        "tests/class.rs",
    ] {
        stage.put(
            &format!("s08_compact/{name}"),
            &format!("//! The file {name}.\n"),
        );
    }
    stage
}

#[test]
fn a_memory_index_is_written_word_for_word() {
    let content = "- [test](test.md) — test memory";
    for request in [
        "Create a file called .harness/memory/MEMORY.md with content \"- [test](test.md) — test memory\"",
        "create .harness/memory/MEMORY.md containing \"- [test](test.md) — test memory\"",
        "Write \"- [test](test.md) — test memory\" to .harness/memory/MEMORY.md",
        "make a file named .harness/memory/MEMORY.md with the content `- [test](test.md) — test memory`",
        "put “- [test](test.md) — test memory” into .harness/memory/MEMORY.md",
        "Please save '- [test](test.md) — test memory' as .harness/memory/MEMORY.md",
    ] {
        for tools in [BASH, FILES] {
            let mut stage = Stage::new(tools);
            let play = stage.ask(request);
            assert_eq!(play.calls.len(), 1, "{request}: {:?}", play.lines());
            assert_eq!(
                stage.text(".harness/memory/MEMORY.md"),
                format!("{content}\n"),
                "{request}"
            );
        }
    }
}

#[test]
fn three_files_are_read_one_after_the_other() {
    for request in [
        "Read the file README.md, then read Cargo.toml, then read s08_compact/README.md",
        "read README.md, then Cargo.toml, then s08_compact/README.md",
        "First read README.md. Then read Cargo.toml. Finally read s08_compact/README.md.",
        "open README.md, after that open Cargo.toml, and then open s08_compact/README.md",
        "1. read README.md\n2. read Cargo.toml\n3. read s08_compact/README.md",
        "Read README.md and then Cargo.toml and then s08_compact/README.md, please",
    ] {
        let play = with_crate().ask(request);
        let expected = [
            "read_file README.md",
            "read_file Cargo.toml",
            "read_file s08_compact/README.md",
        ];
        assert_eq!(play.lines(), expected, "{request}");
        assert!(
            !play.answer.contains("did not understand"),
            "{request}: {}",
            play.answer
        );
    }
}

#[test]
fn every_file_of_a_folder_is_read_some_in_each_reply() {
    for request in [
        "Read every file in s08_compact/",
        "read all files in s08_compact",
        "Read all the files under s08_compact/",
        "please read each file in s08_compact",
        "Open every file inside s08_compact/ and summarize it",
        "go through all files in s08_compact/",
        "Read everything in s08_compact/",
    ] {
        let play = with_crate().ask(request);
        let lines = play.lines();
        assert_eq!(
            lines.first().map(String::as_str),
            Some("glob s08_compact/**/*"),
            "{request}"
        );
        assert_eq!(lines.len(), 7, "{request}: {lines:?}");
        assert_eq!(
            play.calls.iter().map(|call| call.0).max(),
            Some(2),
            "{request}: two replies read"
        );
        for name in [
            "Cargo.toml",
            "README.md",
            "src/lib.rs",
            "src/main.rs",
            "src/layers/mod.rs",
            "tests/class.rs",
        ] {
            assert!(
                play.answer.contains(&format!("s08_compact/{name}: ")),
                "{request}: {}",
                play.answer
            );
        }
    }
}

#[test]
fn every_file_of_the_workspace_is_read_and_summed_up() {
    for request in [
        "Read every file in this workspace",
        "read all files in this project",
        "Read all the files here",
        "Please read every single file in the repository",
        "read each file in the workspace",
        "read everything in this workspace",
    ] {
        let play = with_crate().ask(request);
        assert_eq!(
            play.lines().first().map(String::as_str),
            Some("glob **/*"),
            "{request}"
        );
        assert_eq!(play.calls.len(), 1 + 11, "{request}: {:?}", play.lines());
        assert!(
            play.answer.starts_with("I read 11 files:\n"),
            "{request}: {}",
            play.answer
        );
        assert!(
            play.answer.contains("README.md: Tea timer."),
            "{request}: {}",
            play.answer
        );
    }
}

#[test]
fn a_huge_workspace_is_read_up_to_a_bound_and_that_is_said() {
    let listing: Vec<String> = (0..500).map(|number| format!("file{number}.txt")).collect();
    let listing = listing.join("\n");
    let mut stage = Stage::bare(FILES).intercepting(move |name, _| {
        Some((
            if name == "glob" {
                listing.clone()
            } else {
                "tea".to_owned()
            },
            false,
        ))
    });
    let play = stage.ask("Read every file in this workspace");
    assert_eq!(play.calls.len(), 1 + 60);
    assert!(
        play.answer
            .ends_with("I stopped at 60 files; 440 more are left."),
        "{}",
        play.answer
    );
}

#[test]
fn twenty_turns_of_small_talk_are_short_and_sensible() {
    let mut stage = Stage::new(FILES);
    for (request, expected) in [
        ("Hello!", "Hello!"),
        ("How are you?", "I am deterministic"),
        ("My name is Anna.", "Noted: your name is Anna."),
        (
            "What is my name?",
            "This I know from you: your name is Anna.",
        ),
        ("We use pytest.", "Noted: “We use pytest”."),
        ("thanks a lot", "You are welcome."),
        ("list the files", "I see 4 entries"),
        ("What did you just do?", "I see 4 entries"),
        ("What did I ask you first?", "You asked first: “Hello!”"),
        (
            "what did I just ask you?",
            "You asked before that: “What did I ask you first?”",
        ),
        ("ok", "All right."),
        ("Tell me a joke", "A cup of tea"),
        ("How many lines has README.md?", "README.md has 7 lines."),
        ("nice", "You are welcome."),
        (
            "how long have we been talking?",
            "This is your request number 15 ",
        ),
        ("I like tea", "Noted: you like tea."),
        ("What do I like?", "you like tea"),
        ("who are you?", "I am the rehearsal model"),
        ("what have you done so far?", "README.md has 7 lines."),
        ("bye", "Goodbye."),
    ] {
        let play = stage.ask(request);
        assert!(play.answer.contains(expected), "{request}: {}", play.answer);
        assert!(play.answer.len() < 400, "{request}: {}", play.answer);
    }
}

#[test]
fn what_was_asked_for_is_told() {
    let mut stage = Stage::new(FILES);
    stage.ask("What did I ask for?");
    stage.ask("list the files");
    let all = "You asked:\n- “What did I ask for?”\n- “list the files”";
    for request in [
        "What have I asked for?",
        "What did I ask you to do?",
        "Which requests have I made?",
        "what have I asked you so far?",
        "list my requests",
    ] {
        let answer = stage.ask(request).answer;
        assert!(answer.starts_with(all), "{request}: {answer}");
    }
    let first = Stage::new(FILES).ask("What have I asked for?").answer;
    assert_eq!(
        first,
        "This is the first thing you ask me in this conversation."
    );
}

#[test]
fn the_conversation_is_compacted_when_the_user_wants_it() {
    for (request, focus) in [
        ("Compact the conversation", ""),
        (
            "please compact the history, keep the file names",
            "the file names",
        ),
        ("compact the context and focus on the tests", "the tests"),
        ("make room in the context", ""),
        ("Shrink our conversation", ""),
        ("use the compact tool", ""),
    ] {
        let play = Stage::new(COMPACT).ask(request);
        let calls: Vec<_> = play
            .calls
            .iter()
            .map(|(_, name, input)| (name.as_str(), input["focus"].as_str()))
            .collect();
        assert_eq!(
            calls,
            [("compact", Some(focus).filter(|focus| !focus.is_empty()))],
            "{request}"
        );
    }
    let play = Stage::new(FILES).ask("Compact the conversation");
    assert!(play.calls.is_empty(), "{:?}", play.lines());
}

#[test]
fn front_matter_is_not_what_a_file_is_about() {
    let mut stage = Stage::new(FILES);
    stage.put(
        "lesson.md",
        "---\nminutes: 45\n---\n\n# Tea\n\nHow to brew it. And more.\n",
    );
    assert_eq!(
        stage.ask("summarize lesson.md").answer,
        "lesson.md: Tea. How to brew it."
    );
}
