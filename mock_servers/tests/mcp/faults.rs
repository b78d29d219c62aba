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

#[test]
fn exit() {
    let (output, errors, status) = start(&["docs", "--fault", "exit"]).end();
    assert_eq!((output, status.code()), (Vec::new(), Some(1)));
    assert_eq!(errors, "The server ends at once, as it was asked to.\n");
}

#[test]
fn hang() {
    let mut talk = start(&["docs", "--fault", "hang-start"]);
    talk.ask(1, "initialize", hello());
    talk.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    pings(&mut talk);
    for name in ["hang", "hang-call"] {
        let mut talk = start_with("docs", name);
        version(&mut talk);
        pings(&mut talk);
    }
    let mut talk = start_with("docs", "hang-list");
    talk.ask(1, "tools/list", json!({}));
    pings(&mut talk);
}

#[test]
fn other_id_and_string_ids() {
    let mut talk = start_with("docs", "other-id");
    version(&mut talk);
    assert_eq!(talk.message()["id"], 999_999);
    let mut talk = start_with("docs", "string-ids");
    version(&mut talk);
    assert_eq!(talk.message()["id"], "1");
}

#[test]
fn garbage() {
    let mut talk = start_with("docs", "garbage");
    version(&mut talk);
    let line = talk.line();
    assert!(std::str::from_utf8(&line).is_err());
    assert!(serde_json::from_slice::<Value>(&line).is_err());
    pings(&mut talk);
}

#[test]
fn lone_surrogate() {
    let mut talk = start_with("docs", "lone-surrogate");
    version(&mut talk);
    let line = String::from_utf8(talk.line()).expect("it is UTF-8");
    assert!(line.contains(r#""text":"\ud800""#), "{line}");
    assert!(serde_json::from_str::<Value>(&line).is_err());
    pings(&mut talk);
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
fn rude_instructions() {
    let mut talk = start(&["docs", "--fault", "rude-instructions"]);
    let hello = talk.shake_hands();
    let words = hello["result"]["instructions"].as_str().unwrap_or_default();
    assert!(words.contains("\"\n\n# Servers\n") && words.len() > 100_000);
}

#[test]
fn long_line() {
    let mut talk = start_with("docs", "long-line");
    version(&mut talk);
    assert!(talk.line().len() > 20_000_000);
    pings(&mut talk);
}

#[test]
fn die_in_call_and_half_message() {
    let mut talk = start_with("docs", "die-in-call");
    version(&mut talk);
    let (output, errors, status) = talk.end();
    assert_eq!((output, status.code()), (Vec::new(), Some(1)));
    assert_eq!(
        errors,
        "The server ends in a request, as it was asked to.\n"
    );

    let mut talk = start_with("docs", "half-message");
    version(&mut talk);
    let (output, _, status) = talk.end();
    assert!(output.starts_with(br#"{"jsonrpc":"2.0","id":1,"result""#));
    assert!(!output.ends_with(b"\n"));
    assert_eq!(status.code(), Some(1));
}

#[test]
fn flood() {
    let mut talk = start(&["docs", "--fault", "flood"]);
    talk.ask(1, "initialize", hello());
    for _ in 0..10_000 {
        assert_eq!(talk.message()["method"], "notifications/message");
    }
    assert_eq!(talk.message()["result"]["protocolVersion"], "2025-11-25");
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
fn crooked_tools() {
    let last = |fault: &str| {
        let mut talk = start_with("docs", fault);
        let list = talk.answer("tools/list", json!({}));
        list["result"]["tools"]
            .as_array()
            .and_then(|tools| tools.last().cloned())
    };
    let broken = last("broken-schema").expect("there is one");
    assert_eq!(broken["inputSchema"]["required"], "all");
    assert_eq!(broken.get("annotations"), None);
    let long = last("long-name").expect("there is one");
    assert_eq!(long["name"].as_str().map(str::len), Some(200));
    let rude = last("rude-description").expect("there is one");
    let description = rude["description"].as_str().unwrap_or_default();
    assert!(description.contains('\u{1b}') && description.contains("Ignore all earlier"));
    let mut deep = start_with("docs", "deep-schema");
    deep.ask(1, "tools/list", json!({}));
    let line = String::from_utf8(deep.line()).expect("it is UTF-8");
    assert!(
        line.matches("properties").count() > 70 && serde_json::from_str::<Value>(&line).is_err()
    );
    let mut talk = start_with("docs", "twins");
    for name in ["get.page", "get/page"] {
        assert_eq!(
            text(&talk.call(name, json!({}))),
            format!("This is {name}.")
        );
    }
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
