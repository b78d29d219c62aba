//! Long outputs: a module that no small token limit lets pass, and a text that goes on where it was cut.

use std::collections::HashSet;

use mock_servers::model::{Block, Role};

use crate::stage::{BASH, FILES, Stage};

/// The names of the functions in a Python text.
fn functions(text: &str) -> HashSet<&str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("def ")?.split('(').next())
        .collect()
}

#[test]
fn a_very_long_module_is_one_call_with_as_many_functions_as_asked_for() {
    for (request, count, path) in [
        (
            "Write a very long module: 40 functions with docstrings",
            40,
            "long_module.py",
        ),
        ("write 60 functions with docstrings", 60, "long_module.py"),
        (
            "a huge module with 50 documented functions",
            50,
            "long_module.py",
        ),
        (
            "Please create a large Python module of 45 functions called tea.py",
            45,
            "tea.py",
        ),
        ("generate a really long script", 40, "long_module.py"),
        (
            "I need an enormous module, 80 functions, each with a docstring",
            80,
            "long_module.py",
        ),
        ("Create big.py with 100 small functions", 100, "big.py"),
        (
            "write a giant library with 55 distinct functions to lib/all.py",
            55,
            "lib/all.py",
        ),
    ] {
        for tools in [BASH, FILES] {
            let mut stage = Stage::new(tools);
            let play = stage.ask(request);
            assert_eq!(play.calls.len(), 1, "{request}: {:?}", play.lines());
            assert!(stage.has(path), "{request}: {:?}", play.lines());
            let text = stage.text(path);
            assert_eq!(functions(&text).len(), count, "{request}");
            assert!(
                (8_000..40_000).contains(&(text.len() / 4)),
                "{request}: {}",
                text.len() / 4
            );
            assert_eq!(
                play.answer,
                format!("I wrote {count} functions with docstrings to {path}."),
                "{request}"
            );
        }
    }
}

#[test]
fn an_ordinary_file_is_no_long_module() {
    for request in [
        "Create a file called hello.py that prints \"hello\"",
        "write a poem to poem.txt",
    ] {
        let mut stage = Stage::new(FILES);
        stage.ask(request);
        assert!(!stage.has("long_module.py"), "{request}");
    }
}

#[test]
fn a_long_module_may_be_shown_instead() {
    for (request, count) in [
        ("show me a very long module with 42 functions", 42),
        (
            "print 40 functions with docstrings, do not write a file",
            40,
        ),
        (
            "write 50 functions with docstrings, but don't create a file",
            50,
        ),
        (
            "Write a very long module of 45 functions here in the chat",
            45,
        ),
        ("give me 40 documented functions", 40),
        ("display a huge Python module", 40),
        ("write 41 functions without using a tool", 41),
    ] {
        let play = Stage::new(FILES).ask(request);
        assert!(play.calls.is_empty(), "{request}: {:?}", play.lines());
        assert_eq!(functions(&play.answer).len(), count, "{request}");
        assert!(
            (8_000..40_000).contains(&(play.answer.len() / 4)),
            "{request}"
        );
    }
}

/// What the model says when its replies are cut after so many bytes and it is asked to go on.
fn in_parts(request: &str, bytes: usize, ask: &str) -> Vec<String> {
    let mut stage = Stage::new(FILES);
    stage.push(Role::User, vec![Block::Text(request.to_owned())]);
    let mut parts: Vec<String> = Vec::new();
    for round in 0..30 {
        let [Block::Text(text)] = &stage.reply(round)[..] else {
            panic!("a text is said");
        };
        let part = text.get(..bytes).unwrap_or(text).to_owned();
        let is_whole = part.len() == text.len();
        parts.push(part.clone());
        if is_whole {
            return parts;
        }
        stage.push(Role::Assistant, vec![Block::Text(part)]);
        stage.push(Role::User, vec![Block::Text(ask.to_owned())]);
    }
    panic!("no end");
}

#[test]
fn a_cut_text_goes_on_exactly_where_it_stopped() {
    let request = "show me a very long module with 40 functions";
    let whole = Stage::new(FILES).ask(request).answer;
    for ask in [
        "<continue>\nGo on exactly where it stopped.\n</continue>",
        "<go-on>please</go-on>",
    ] {
        for bytes in [7_001, 20_003, 100_000] {
            let parts = in_parts(request, bytes, ask);
            assert_eq!(parts.len(), whole.len().div_ceil(bytes));
            assert_eq!(parts.concat(), whole);
        }
    }
}

#[test]
fn parts_joined_in_one_message_go_on_as_well() {
    let request = "show me a very long module with 40 functions";
    let whole = Stage::new(FILES).ask(request).answer;
    let mut stage = Stage::new(FILES);
    stage.push(Role::User, vec![Block::Text(request.to_owned())]);
    let parts = [&whole[..9_000], whole[9_000..12_000].trim_end()];
    stage.push(
        Role::Assistant,
        parts.map(|part| Block::Text(part.to_owned())).to_vec(),
    );
    stage.push(
        Role::User,
        vec![Block::Text("<continue>Go on.</continue>".to_owned())],
    );
    let rest = stage.play().answer;
    assert_eq!(format!("{}{rest}", parts.concat()), whole);
}

#[test]
fn an_answer_of_any_kind_can_be_cut() {
    let mut stage = Stage::new(FILES);
    let whole = stage.ask("read README.md").answer;
    stage.messages.pop();
    stage.push(Role::Assistant, vec![Block::Text(whole[..20].to_owned())]);
    stage.push(
        Role::User,
        vec![Block::Text("<continue>Go on.</continue>".to_owned())],
    );
    assert_eq!(stage.play().answer, &whole[20..]);
}

#[test]
fn a_call_that_was_dropped_is_made_again() {
    let mut stage = Stage::new(FILES);
    stage.push(Role::User, vec![Block::Text("read README.md".to_owned())]);
    stage.push(
        Role::Assistant,
        vec![Block::Text("I will read README.md.".to_owned())],
    );
    stage.push(
        Role::User,
        vec![Block::Text(
            "<continue>It was dropped.</continue>".to_owned(),
        )],
    );
    assert_eq!(stage.play().lines(), ["read_file README.md"]);
}
