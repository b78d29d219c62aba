//! Lists of tools, and results, that cannot be read or have no end.
//!
//! Invariant: what is wrong with one tool or one result is no fault of the others.

use std::time::Duration;

use s19_mcp_plugin::{Patience, Server};
use serde_json::{Value, json};

use crate::scene::{HEAR, LONG, STAY, Scene, answer, hello, names, until};

#[tokio::test]
async fn a_tool_that_cannot_be_read_is_named_and_the_others_are_not_its_fault() {
    let scene = Scene::new();
    let wrong = json!({ "name": "b", "annotations": { "readOnlyHint": "yes" } });
    let tools = json!([{ "description": "?" }, 5, wrong, { "name": "a", "inputSchema": "none" }]);
    let server = scene.greeted(tools, &[STAY], LONG).await;
    let tools = server.tools();
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0].input_schema, Value::from("none"));
    let unreadable = server.unreadable();
    let names: Vec<&str> = unreadable.iter().map(|entry| &*entry.tool).collect();
    assert_eq!(
        names,
        ["a tool without a name", "a tool without a name", "b"]
    );
}

#[tokio::test]
async fn what_cannot_be_read_fails_one_call_or_one_tool_and_the_connection_lives_on() {
    let scene = Scene::new();
    let nested = |depth| {
        format!(
            "{}{{}}{}",
            r#"{"properties":{"a":"#.repeat(depth),
            "}}".repeat(depth)
        )
    };
    let (surrogate, deep) = (r#"{"name":"b","description":"\ud800"}"#, nested(70));
    let page = format!(
        r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{surrogate},{{"name":"c","inputSchema":{deep}}},{{"name":"a"}}]}}}}"#
    );
    let says = |line: &str| format!("printf '%s\\n' '{line}'");
    let result = |id: u64, text: &str| {
        says(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#
        ))
    };
    let (hello, page) = (hello(), says(&page));
    let results = [
        result(3, r#""\ud800""#),
        result(4, &nested(70)),
        result(5, r#""found""#),
    ];
    let [surrogate, deep, found] = &results;
    let steps = [
        HEAR, &hello, HEAR, HEAR, &page, HEAR, surrogate, HEAR, deep, HEAR, found, STAY,
    ];
    let server = scene.start(&steps).await.unwrap();
    assert_eq!(names(&server), ["a"]);
    let unreadable = server.unreadable();
    let told: Vec<_> = unreadable
        .iter()
        .map(|entry| (&*entry.tool, &*entry.why))
        .collect();
    assert!(
        matches!(told[..], [("b", b), ("c", c)] if b.contains("at `description`") && c.contains("recursion limit")),
        "{told:?}"
    );
    for why in ["unexpected end of hex escape", "recursion limit exceeded"] {
        let error = format!("{:#}", server.call("a", json!({})).await.unwrap_err());
        let start = "the MCP server 'docs' answered tools/call with what cannot be read: ";
        assert!(error.starts_with(start) && error.contains(why), "{error}");
    }
    assert_eq!(
        server.call("a", json!({})).await.unwrap().content[0]["text"],
        "found"
    );
    assert_eq!(server.failure(), None);
}

#[tokio::test]
async fn a_list_of_more_than_16_mb_is_given_up() {
    let scene = Scene::new();
    let words = "words=$(head -c 9000000 /dev/zero | tr '\\0' x)";
    let page = r#"while read -r line; do n=$((n+1)); printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"a","description":"%s"}],"nextCursor":"more"}}\n' $((n+1)) "$words"; done"#;
    let script = scene.script(&[HEAR, &hello(), HEAR, words, page]);
    let error = Server::start_with(script, &scene.ws, LONG).await.err();
    assert_eq!(
        error.unwrap().to_string(),
        "the MCP server 'docs' lists more than 16 MB of tools"
    );
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_list_that_takes_too_long_is_given_up_although_each_page_comes_in_time() {
    let scene = Scene::new();
    let page = answer(
        2,
        json!({ "tools": [{ "name": "a" }], "nextCursor": "more" }),
    );
    let script = scene.script(&[HEAR, &hello(), HEAR, HEAR, "sleep 0.6", &page, STAY]);
    let patience = Patience {
        start: Duration::from_secs(1),
        ..LONG
    };
    let error = Server::start_with(script, &scene.ws, patience).await.err();
    assert_eq!(
        error.unwrap().to_string(),
        "the MCP server 'docs' did not list all of its tools within 1s"
    );
    scene.nothing_is_left();
}

#[tokio::test(start_paused = true)]
async fn handshake_and_list_have_the_time_of_a_start_together() {
    let scene = Scene::new();
    let exists = |name: &str| scene.ws.root().join(name).exists();
    let waits = "touch asked; until [ -e go ]; do :; done";
    let script = scene.script(&[HEAR, waits, &hello(), HEAR, HEAR, "touch listing", STAY]);
    let clock = async {
        until(|| exists("asked")).await;
        tokio::time::advance(LONG.start / 2).await;
        std::fs::write(scene.ws.root().join("go"), "").unwrap();
        until(|| exists("listing")).await;
    };
    let began = tokio::time::Instant::now();
    let (started, ()) = tokio::join!(Server::start_with(script, &scene.ws, LONG), clock);
    assert_eq!(
        started.err().unwrap().to_string(),
        "the MCP server 'docs' did not list all of its tools within 10s"
    );
    assert!(
        began.elapsed() < LONG.start + Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_list_without_end_is_given_up() {
    let scene = Scene::new();
    let page = r#"while read -r line; do n=$((n+1)); printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[],"nextCursor":"more"}}\n' $((n+1)); done"#;
    let script = scene.script(&[HEAR, &hello(), HEAR, page]);
    let error = Server::start_with(script, &scene.ws, LONG)
        .await
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        "the MCP server 'docs' lists its tools on more than 1000 pages"
    );
    scene.nothing_is_left();
}
