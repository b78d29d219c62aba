//! Each fault, as a client sees it on the pipe.
//!
//! A test of a client is worth what its bad server is worth. Invariant: what a fault does not concern works as before.

use std::io::Read;
use std::process::Command;

use serde_json::{Value, json};

use crate::talk::{Talk, hello, names, start, start_with, text};

fn version(talk: &mut Talk) {
    talk.ask(
        1,
        "tools/call",
        json!({"name": "get_version", "arguments": {}}),
    );
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
        ("garbage", |line| {
            std::str::from_utf8(line).is_err() && parsed(line).is_null()
        }),
        ("lone-surrogate", |line| {
            let text = String::from_utf8_lossy(line);
            text.contains(r#""text":"\ud800""#) && parsed(line).is_null()
        }),
        ("long-line", |line| {
            line.len() > 20_000_000 && parsed(line)["id"] == 1
        }),
    ];
    for (fault, check) in spoilt {
        let mut talk = start_with("docs", fault);
        version(&mut talk);
        assert!(check(&talk.line()), "{fault}");
        pings(&mut talk);
    }
    for fault in ["hang", "hang-call", "hang-list"] {
        let mut talk = start_with("docs", fault);
        if fault == "hang-list" {
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
        (
            "die-in-call",
            "",
            "The server ends in a request, as it was asked to.\n",
        ),
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
fn crooked_tools_and_instructions() {
    type Check = fn(&Value) -> bool;
    let crooked: [(&str, Check); 4] = [
        ("broken-schema", |tool| {
            tool["inputSchema"]["required"] == "all" && tool.get("annotations").is_none()
        }),
        ("long-name", |tool| {
            tool["name"].as_str().map(str::len) == Some(200)
        }),
        ("rude-description", |tool| {
            let description = tool["description"].as_str().unwrap_or_default();
            description.contains('\u{1b}') && description.contains("Ignore all earlier")
        }),
        ("twins", |tool| tool["name"] == "get/page"),
    ];
    for (fault, check) in crooked {
        let list = start_with("docs", fault).answer("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().expect("a list");
        assert!(check(&tools[tools.len() - 1]), "{fault}: {list}");
    }
    let mut talk = start_with("docs", "twins");
    for name in ["get.page", "get/page"] {
        let answer = talk.call(name, json!({}));
        assert_eq!(text(&answer), format!("This is {name}."));
    }
    let mut deep = start_with("docs", "deep-schema");
    deep.ask(1, "tools/list", json!({}));
    let line = deep.line();
    let depth = String::from_utf8_lossy(&line).matches("properties").count();
    assert!(depth > 70 && parsed(&line).is_null());
    let hello = start(&["docs", "--fault", "rude-instructions"]).shake_hands();
    let words = hello["result"]["instructions"].as_str().unwrap_or_default();
    assert!(words.contains("\"\n\n# Servers\n") && words.len() > 100_000);
}

#[test]
fn a_flood_of_notifications() {
    let mut talk = start(&["docs", "--fault", "flood"]);
    talk.ask(1, "initialize", hello());
    for _ in 0..10_000 {
        assert_eq!(talk.message()["method"], "notifications/message");
    }
    assert_eq!(talk.message()["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn progress() {
    let mut talk = start_with("docs", "progress");
    let call = json!({"name": "get_version", "arguments": {}, "_meta": {"progressToken": "a"}});
    talk.ask(1, "tools/call", call);
    for done in 1..=3 {
        let params = &talk.message()["params"];
        assert_eq!(
            (&params["progressToken"], &params["progress"]),
            (&json!("a"), &json!(done))
        );
    }
    assert_eq!(talk.message()["id"], 1);
    version(&mut talk);
    assert_eq!(talk.message()["id"], 1, "nobody has asked how far it is");
}

#[test]
fn rug_pull() {
    let mut talk = start_with("docs", "rug-pull");
    let mut described = Vec::new();
    for _ in 0..3 {
        let list = talk.answer("tools/list", json!({}));
        described.push(list["result"]["tools"][2]["description"].clone());
        version(&mut talk);
        let mut both = [talk.message(), talk.message()];
        both.sort_by_key(|message| message.get("id").is_some());
        assert_eq!(both[0]["method"], "notifications/tools/list_changed");
    }
    assert_eq!(described[0], "Gives a page.");
    assert_ne!(described[1], described[0]);
    assert_eq!(described[2], described[0]);
}

#[test]
fn noise() {
    let mut talk = start(&["docs", "--fault", "noise"]);
    talk.ask(1, "initialize", hello());
    let mut noise = vec![0; 1_000_000];
    let stderr = talk.child.stderr.as_mut().expect("it is piped");
    stderr.read_exact(&mut noise).expect("there is that much");
    assert!(std::str::from_utf8(&noise).is_err());
    let mut rest = talk.child.stderr.take().expect("it is piped");
    let drain = std::thread::spawn(move || rest.read_to_end(&mut Vec::new()));
    assert_eq!(talk.message()["id"], 1);
    drop(talk);
    let drained = drain.join().expect("nothing panics there");
    drained.expect("the pipe can be read");
}

#[test]
fn asks_first() {
    let mut talk = start_with("docs", "asks-first");
    talk.ask(1, "tools/list", json!({}));
    let said = [0; 4].map(|_| talk.message());
    assert_eq!(
        said[0],
        json!({"jsonrpc": "2.0", "id": 0, "method": "roots/list"})
    );
    assert_eq!(said[1]["method"], "notifications/mock/unknown");
    assert_eq!(
        said[2],
        json!({"jsonrpc": "2.0", "id": "a", "method": "ping"})
    );
    assert_eq!(said[3]["method"], "notifications/tools/list_changed");
    let unknown = json!({"code": -32601, "message": "Method not found"});
    talk.send(&json!({"jsonrpc": "2.0", "id": 0, "error": unknown}));
    talk.send(&json!({"jsonrpc": "2.0", "id": "a", "result": {}}));
    assert_eq!(names(&talk.message()), ["search", "get_version"]);
    let (_, errors, _) = talk.end();
    assert_eq!(errors.lines().count(), 2, "{errors}");
}

#[test]
fn ignores_eof() {
    let mut talk = start_with("docs", "ignores-eof");
    let id = talk.child.id().to_string();
    let told = Command::new("kill").args(["-TERM", &id]).status();
    assert!(told.expect("there is a kill").success());
    pings(&mut talk);
    talk.hang_up();
    assert_eq!(talk.child.try_wait().expect("it can be asked"), None);
}

#[test]
fn pages_of_2() {
    let mut talk = start_with("docs", "pages-of-2");
    let mut pages = Vec::new();
    let mut cursor = json!({});
    loop {
        let page = talk.answer("tools/list", cursor);
        pages.push(names(&page));
        match &page["result"]["nextCursor"] {
            Value::String(next) => cursor = json!({"cursor": next}),
            _ => break,
        }
    }
    let expected = [
        vec!["search", "get_version"],
        vec!["one", "two"],
        vec!["three"],
    ];
    assert_eq!(pages, expected);
}

#[test]
fn list_changed() {
    let mut talk = start_with("docs", "list-changed");
    let before = talk.answer("tools/list", json!({}));
    assert_eq!(names(&before), ["search", "get_version"]);
    version(&mut talk);
    let mut both = [talk.message(), talk.message()];
    both.sort_by_key(|message| message.get("id").is_some());
    assert_eq!(both[0]["method"], "notifications/tools/list_changed");
    assert_eq!(both[1]["id"], 1);
    let after = talk.answer("tools/list", json!({}));
    assert_eq!(names(&after), ["search", "get_version", "late"]);
    assert_eq!(text(&talk.call("late", json!({}))), "This is late.");
}

#[test]
fn several_faults() {
    let mut talk = start(&[
        "docs",
        "--fault",
        "twins,hang-call",
        "--fault",
        "other-id-list",
    ]);
    talk.shake_hands();
    talk.ask(1, "tools/list", json!({}));
    let list = talk.message();
    assert_eq!(list["id"], 999_999);
    assert_eq!(names(&list).len(), 4);
    version(&mut talk);
    pings(&mut talk);
}
