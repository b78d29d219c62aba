//! What a server answered, kept in a file; and words of a follow-up that a command or another server could claim.
//!
//! Invariant: what stands in the file is what the server said.

use mock_servers::model::Tool;
use serde_json::json;

use super::played::with;
use super::{stage, talk};

const FOUND: &str = "1. s01_loop: found hooks\n2. s04_hooks: found it, too\n";

#[test]
fn what_a_server_found_is_what_is_written() {
    for requests in [
        &["Connect to docs, search for hooks and write the result to notes.md"][..],
        &["Connect to the docs server, search it for hooks and save the results in notes.md"],
        &["Connect to docs, search for hooks and save it to notes.md"],
        &["Search the docs for hooks, then put what you find into notes.md"],
        &["search the docs for hooks", "write the result to notes.md"],
        &["search the docs for hooks", "save it to notes.md"],
    ] {
        let mut served = stage();
        let mut answer = String::new();
        for request in requests {
            answer = served.ask(request).answer;
        }
        assert_eq!(
            served.stage.text("notes.md"),
            FOUND,
            "{requests:?}: {answer}"
        );
        assert!(
            answer.ends_with("I wrote the result to notes.md."),
            "{requests:?}: {answer}"
        );
    }
}

#[test]
fn without_a_result_nothing_is_written() {
    let mut served = stage();
    served.answering(|name, _| {
        (name == "mcp__docs__search").then(|| ("the server has ended".to_owned(), true))
    });
    let play = served.ask("Connect to docs, search for hooks and write the result to notes.md");
    assert!(!served.stage.has("notes.md"), "{}", play.answer);
    let told = "So I did not write the result to notes.md.";
    assert!(play.answer.ends_with(told), "{}", play.answer);
    let (calls, answer) = talk(stage(), &["write the result to notes.md"]);
    assert!(calls.is_empty(), "{calls:?}");
    assert_eq!(
        answer,
        "There is no result yet that I could write to a file."
    );
}

#[test]
fn a_word_that_is_also_a_program_is_for_the_server_spoken_to() {
    let echo = Tool {
        name: "echo".to_owned(),
        description: "Echoes back the input string (readOnly)".to_owned(),
        input_schema: json!({"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}),
    };
    let server = || {
        with([(
            "everything",
            vec![(echo.clone(), said as super::played::Answer)],
        )])
    };
    let expected = r#"mcp__everything__echo {"message":"good morning"}"#;
    for requests in [
        &[
            "Connect to the everything server and echo hello",
            "and echo good morning",
        ],
        &[
            "Use the everything server to echo hello",
            "echo good morning",
        ],
    ] {
        let (calls, answer) = talk(server(), requests);
        assert_eq!(calls, [expected], "{requests:?}: {answer}");
    }
    let (calls, _) = talk(server(), &["echo good morning"]);
    assert!(
        calls[0].starts_with("bash "),
        "nobody spoke of a server: {calls:?}"
    );
}

fn said(input: &serde_json::Value) -> (String, bool) {
    (
        format!("Echo: {}", input["message"].as_str().unwrap_or_default()),
        false,
    )
}

#[test]
fn a_server_is_meant_by_its_place_in_what_was_told() {
    for (request, server) in [
        ("connect to the first one", "deploy"),
        ("Connect the second one", "docs"),
        ("connect to the last one please", "docs"),
    ] {
        let (calls, answer) = talk(stage(), &["Which MCP servers are there?", request]);
        assert_eq!(
            calls,
            [format!("connect_mcp {{\"name\":\"{server}\"}}")],
            "{request}: {answer}"
        );
    }
    let (calls, _) = talk(stage(), &["connect to docs", "now connect the other one"]);
    assert_eq!(calls, [r#"connect_mcp {"name":"deploy"}"#]);
}

#[test]
fn whoever_asks_for_help_is_told_which_servers_there_are() {
    let (_, answer) = talk(stage(), &["what else can you do?"]);
    assert!(
        answer.contains("- MCP servers (deploy, docs): connect to a server, "),
        "{answer}"
    );
    let (_, answer) = talk(stage(), &["what can you do?"]);
    assert!(
        answer.contains("\n- Connect to the docs MCP server"),
        "{answer}"
    );
    let (_, answer) = talk(stage(), &["solve world hunger"]);
    assert!(answer.contains("connect to a server"), "{answer}");
    assert!(answer.lines().count() <= 5, "{answer}");
}
