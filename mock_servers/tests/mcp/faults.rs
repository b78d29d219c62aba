//! Each fault that spoils an answer, as a client sees it on the pipe. The tests of s19 connect to servers with the others.
//!
//! A test of a client is worth what its bad server is worth. Invariant: what a fault does not concern works as before.

use serde_json::{Value, json};

use crate::talk::{Talk, hello, names, start, start_with, text};

fn version(talk: &mut Talk) {
    talk.ask(1, "tools/call", json!({"name": "get_version", "arguments": {}}));
}

/// The answer to a ping that follows: what was asked before it has not been answered.
fn pings(talk: &mut Talk) {
    assert_eq!(talk.answer("ping", json!({}))["result"], json!({}));
}

/// A line as JSON; null when it is none.
fn parsed(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap_or_default()
}

#[test]
fn an_answer_is_spoilt_or_never_comes_and_the_server_lives_on() {
    type Check = fn(&[u8]) -> bool;
    let spoilt: [(&str, Check); 5] = [
        ("other-id", |line| parsed(line)["id"] == 999_999),
        ("string-ids", |line| parsed(line)["id"] == "1"),
        ("garbage", |line| std::str::from_utf8(line).is_err() && parsed(line).is_null()),
        ("lone-surrogate", |line| {
            let text = String::from_utf8_lossy(line);
            text.contains(r#""text":"\ud800""#) && parsed(line).is_null()
        }),
        ("long-line", |line| line.len() > 20_000_000 && parsed(line)["id"] == 1),
    ];
    for (fault, check) in spoilt {
        let mut talk = start_with("docs", fault);
        version(&mut talk);
        assert!(check(&talk.line()), "{fault}");
        pings(&mut talk);
    }
    for fault in ["hang", "hang-call", "twins,hang-list"] {
        let mut talk = start_with("docs", fault);
        if fault.ends_with("list") {
            talk.ask(1, "tools/list", json!({}));
        } else {
            version(&mut talk);
        }
        pings(&mut talk);
    }
    let mut talk = start(&["docs", "--fault", "hang-start"]);
    talk.ask(1, "initialize", hello());
    talk.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    pings(&mut talk);
}

#[test]
fn a_server_ends_at_once_in_a_request_or_in_an_answer() {
    for (fault, begun, sentence) in [
        ("exit", "", "The server ends at once, as it was asked to.\n"),
        ("die-in-call", "", "The server ends in a request, as it was asked to.\n"),
        (
            "half-message",
            r#"{"jsonrpc":"2.0","id":1,"result""#,
            "The server ends in an answer, as it was asked to.\n",
        ),
    ] {
        let mut talk = start(&["docs", "--fault", fault]);
        if fault != "exit" {
            talk.shake_hands();
            version(&mut talk);
        }
        let (output, errors, status) = talk.end();
        assert!(output.starts_with(begun.as_bytes()), "{fault}");
        assert!(!output.ends_with(b"\n") && output.is_empty() == begun.is_empty());
        assert_eq!((errors.as_str(), status.code()), (sentence, Some(1)));
    }
}

#[test]
fn a_list_changes_with_a_call() {
    let mut talk = start_with("docs", "list-changed,twins");
    let before = names(&talk.answer("tools/list", json!({})));
    version(&mut talk);
    let mut both = [talk.message(), talk.message()];
    both.sort_by_key(|message| message.get("id").is_some());
    assert_eq!(both[0]["method"], "notifications/tools/list_changed");
    assert_eq!(both[1]["id"], 1);
    let after = names(&talk.answer("tools/list", json!({})));
    assert_eq!([&before[..], &["late".to_owned()]].concat(), after);
    for name in ["late", "get.page", "get/page"] {
        assert_eq!(text(&talk.call(name, json!({}))), format!("This is {name}."));
    }
}

#[test]
fn a_server_that_asks_first_answers_afterwards() {
    let mut talk = start_with("docs", "asks-first");
    talk.ask(1, "tools/list", json!({}));
    let said = [0; 4].map(|_| talk.message());
    let ids = said.map(|message| message["id"].clone());
    assert_eq!(ids, [json!(0), Value::Null, json!("a"), Value::Null]);
    let unknown = json!({"code": -32601, "message": "Method not found"});
    talk.send(&json!({"jsonrpc": "2.0", "id": 0, "error": unknown}));
    talk.send(&json!({"jsonrpc": "2.0", "id": "a", "result": {}}));
    assert_eq!(names(&talk.message()), ["search", "get_version"]);
}
