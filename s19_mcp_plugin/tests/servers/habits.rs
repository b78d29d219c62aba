//! Habits of good servers that a client must survive.
//!
//! Each was seen at a server that nobody here wrote, or is allowed by the protocol. Invariant: the server can be called
//! afterwards.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::scene::{HEAR, LONG, STAY, Scene, answer, hello, names, say, text, until};
use s19_mcp_plugin::Server;

/// Calls a tool and gives the text it answers with.
async fn call(server: &Server, tool: &str) -> String {
    let result = server.call(tool, json!({})).await.unwrap();
    result.content[0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_handshake_is_what_the_protocol_wants() {
    let scene = Scene::new();
    let (hello, page) = (hello(), answer(2, json!({ "tools": [] })));
    let hear = "read -r line; printf '%s\\n' \"$line\" >>heard";
    let steps = [
        hear,
        &hello,
        hear,
        hear,
        &page,
        hear,
        &text(3, "found"),
        STAY,
    ];
    let server = scene.start(&steps).await.unwrap();
    let result = server
        .call("search", json!({ "query": "a\nb" }))
        .await
        .unwrap();
    assert_eq!(result.content, [json!({ "type": "text", "text": "found" })]);
    let lines: Vec<Value> = scene
        .written("heard")
        .lines()
        .map(|line| line.parse().unwrap())
        .collect();
    let client = json!({ "name": "s19_mcp_plugin", "version": env!("CARGO_PKG_VERSION") });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let arguments = json!({
        "name": "search", "arguments": { "query": "a\nb" }, "_meta": { "progressToken": 3 }
    });
    assert_eq!(
        lines,
        [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": {} }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} }),
            json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": arguments }),
        ]
    );
}

#[tokio::test]
async fn a_list_is_read_page_by_page() {
    let scene = Scene::new();
    let first = json!({ "tools": [{ "name": "a" }, { "name": "b" }], "nextCursor": "two" });
    let second = json!({ "tools": [{ "name": "c" }], "nextCursor": "" });
    let (hello, first, second) = (hello(), answer(2, first), answer(3, second));
    let note = "printf '%s' \"$line\" >third";
    let steps = [HEAR, &hello, HEAR, HEAR, &first, HEAR, note, &second, STAY];
    let server = scene.start(&steps).await.unwrap();
    assert_eq!(names(&server), ["a", "b", "c"]);
    let asked: Value = scene.written("third").parse().unwrap();
    assert_eq!(asked["params"], json!({ "cursor": "two" }));
}

#[tokio::test]
async fn calls_are_under_way_together_and_answered_in_any_order() {
    let scene = Scene::new();
    let (first, second) = (text(3, "first"), text(4, "second"));
    let steps = [HEAR, HEAR, &second, &first, STAY];
    let server = scene.greeted(json!([]), &steps, LONG).await;
    let both = tokio::join!(biased; call(&server, "a"), call(&server, "b"));
    assert_eq!(both, ("first".to_owned(), "second".to_owned()));
}

#[tokio::test]
async fn a_server_that_asks_before_it_answers_is_answered() {
    let scene = Scene::new();
    let hello = hello();
    let asks = [
        say(json!({ "jsonrpc": "2.0", "id": 0, "method": "roots/list" })),
        say(json!({ "jsonrpc": "2.0", "method": "notifications/of/tomorrow", "params": [1] })),
        say(json!({ "jsonrpc": "2.0", "id": "a", "method": "ping", "params": {} })),
    ];
    let keep = "read -r line; printf '%s\n' \"$line\" >>kept";
    let page = answer(2, json!({ "tools": [{ "name": "a" }] }));
    let steps = [
        HEAR, &hello, HEAR, &asks[0], &asks[1], &asks[2], keep, keep, keep, &page, STAY,
    ];
    let server = scene.start(&steps).await.unwrap();
    assert_eq!(names(&server), ["a"]);
    let kept = scene.written("kept");
    let mut kept: Vec<Value> = kept.lines().map(|line| line.parse().unwrap()).collect();
    kept.retain(|message| message["method"] != "tools/list");
    let error = json!({ "code": -32601, "message": "method not found" });
    assert_eq!(
        kept,
        [
            json!({ "jsonrpc": "2.0", "id": 0, "error": error }),
            json!({ "jsonrpc": "2.0", "id": "a", "result": {} }),
        ]
    );
}

#[tokio::test]
async fn a_list_that_changes_right_after_the_handshake_is_read_again() {
    let scene = Scene::new();
    let changed = say(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let (hello, old) = (hello(), answer(2, json!({ "tools": [{ "name": "old" }] })));
    let new = answer(3, json!({ "tools": [{ "name": "new" }] }));
    let steps = [
        HEAR, &hello, HEAR, &changed, &changed, HEAR, &old, HEAR, &new, STAY,
    ];
    let server = scene.start(&steps).await.unwrap();
    until(|| names(&server) == ["new"]).await;
}

#[tokio::test]
async fn a_list_is_read_once_at_a_time_however_often_it_changes() {
    let scene = Scene::new();
    let changed = say(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let flood = format!("for n in {{1..500}}; do {changed}; done");
    let (second, third) = (
        json!({ "tools": [{ "name": "b" }] }),
        json!({ "tools": [{ "name": "c" }] }),
    );
    let (second, third) = (answer(3, second), answer(4, third));
    // What comes while a list is under way counts once more.
    let count = "while read -r line; do echo more >>more; done";
    let steps = [&flood, HEAR, &flood, &second, HEAR, &third, count];
    let server = scene.greeted(json!([{ "name": "a" }]), &steps, LONG).await;
    until(|| names(&server) == ["c"]).await;
    server.shut_down().await;
    assert_eq!(scene.written("more"), "");
}

#[tokio::test]
async fn a_server_that_answers_each_list_with_another_change_is_not_asked_without_a_pause() {
    let scene = Scene::new();
    let changed = say(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let page = r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}\n' "$((n+2))""#;
    let ask = format!("while read -r line; do n=$((n+1)); echo >>asked; {changed}; {page}; done");
    let server = scene.greeted(json!([]), &[&changed, &ask], LONG).await;
    let asked = |times| scene.written("asked").lines().count() >= times;
    until(|| asked(1)).await;
    let first = Instant::now();
    until(|| asked(2)).await;
    assert!(first.elapsed() >= Duration::from_millis(900));
    assert_eq!(server.failure(), None);
    server.shut_down().await;
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_list_that_cannot_be_read_again_stays_as_it_was() {
    let scene = Scene::new();
    let changed = say(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let no = say(json!({ "jsonrpc": "2.0", "id": 3, "error": { "code": -1, "message": "busy" } }));
    let steps = [
        &changed,
        HEAR,
        &no,
        "touch refused",
        HEAR,
        &text(4, "still here"),
        STAY,
    ];
    let server = scene.greeted(json!([{ "name": "a" }]), &steps, LONG).await;
    until(|| scene.ws.root().join("refused").exists()).await;
    assert_eq!(call(&server, "a").await, "still here");
    assert_eq!(names(&server), ["a"]);
}

#[tokio::test]
async fn progress_reaches_the_call_that_asked_for_it_and_nothing_else_does() {
    let scene = Scene::new();
    let progress = |params: Value| {
        say(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))
    };
    let told = [
        progress(
            json!({ "progressToken": 3, "progress": 1, "total": 4, "message": "reading\u{1b}[2J" }),
        ),
        progress(json!({ "progressToken": 4, "progress": 2 })),
        progress(json!({ "progressToken": "3", "progress": "much" })),
        progress(json!(null)),
        progress(json!({ "progressToken": "3", "progress": 2.5 })),
    ];
    let (told, found) = (told.join("\n"), text(3, "found"));
    let steps = [HEAR, &*told, &*found, STAY];
    let server = scene.greeted(json!([]), &steps, LONG).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = heard.clone();
    let call = server.call_with_progress("a", json!({}), move |how_far| {
        hear.lock().unwrap().push(how_far.to_owned());
    });
    assert!(call.await.is_ok());
    assert_eq!(*heard.lock().unwrap(), ["1 of 4, reading [2J", "2.5"]);
}

#[tokio::test]
async fn an_older_version_is_spoken_and_an_unknown_one_is_not() {
    let scene = Scene::new();
    let old =
        json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "instructions": "Be brief." });
    let server = scene.start(&[HEAR, &answer(1, old), STAY]).await.unwrap();
    assert_eq!(server.instructions(), Some("Be brief."));
    assert!(server.tools().is_empty());
    drop(server);
    let new = json!({ "protocolVersion": "2031-01-01", "capabilities": {} });
    let why = scene.refused(&[HEAR, &answer(1, new), STAY]).await;
    assert!(
        why.contains("2031-01-01") && why.contains("2025-11-25"),
        "{why}"
    );
}

#[tokio::test]
async fn a_log_on_the_wrong_stream_and_noise_on_the_right_one_hurt_nobody() {
    let scene = Scene::new();
    let log = r#"echo "[INFO] got it"; echo; echo '{"level": 30, "error": "none"}'"#;
    // More than a pipe holds.
    let noise = "head -c 1000000 /dev/zero | tr '\\0' x >&2";
    let steps = [HEAR, log, noise, &text(3, "found"), STAY];
    let server = scene.greeted(json!([]), &steps, LONG).await;
    assert_eq!(call(&server, "a").await, "found");
    assert_eq!(server.failure(), None);
}

#[tokio::test]
async fn an_answer_under_the_number_as_a_string_arrives() {
    let scene = Scene::new();
    let found = text(3, "found").replace(r#""id":3"#, r#""id":"3""#);
    let server = scene.greeted(json!([]), &[HEAR, &found, STAY], LONG).await;
    assert_eq!(call(&server, "a").await, "found");
}

#[tokio::test]
async fn a_tool_that_fails_is_no_error_and_a_call_that_is_refused_is_one() {
    let scene = Scene::new();
    let failed = json!({ "content": [], "isError": true, "structuredContent": { "a": 1 } });
    let error = json!({ "code": -32602, "message": "Unknown tool: b" });
    let refused = say(json!({ "jsonrpc": "2.0", "id": 4, "error": error }));
    let nonsense = answer(5, json!("yes"));
    let steps = [
        HEAR,
        &answer(3, failed),
        HEAR,
        &refused,
        HEAR,
        &nonsense,
        STAY,
    ];
    let server = scene.greeted(json!([]), &steps, LONG).await;
    let failed = server.call("a", json!({})).await.unwrap();
    assert!(failed.is_error);
    assert_eq!(failed.structured_content, Some(json!({ "a": 1 })));
    let refused = server.call("b", json!({})).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the MCP server 'docs' refused tools/call: Unknown tool: b (code -32602)"
    );
    let nonsense = server.call("c", json!({})).await.unwrap_err();
    assert_eq!(
        nonsense.to_string(),
        "the MCP server 'docs' answered tools/call with what cannot be read"
    );
    assert_eq!(server.failure(), None);
}

#[tokio::test]
async fn a_key_is_in_the_environment_only_when_the_description_puts_it_there() {
    // No test changes its environment, so one that has a key in it starts another that has it.
    if std::env::var_os("ANTHROPIC_API_KEY").is_none() {
        let this = "habits::a_key_is_in_the_environment_only_when_the_description_puts_it_there";
        let again = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", this])
            .env("ANTHROPIC_API_KEY", "secret")
            .output()
            .unwrap();
        assert!(
            again.status.success(),
            "{}",
            String::from_utf8_lossy(&again.stdout)
        );
        return;
    }
    let scene = Scene::new();
    let show = "printf %s \"$ANTHROPIC_API_KEY\" >key";
    scene.refused(&[show]).await;
    assert_eq!(scene.written("key"), "");
    let mut launch = scene.script(&[show]);
    launch
        .env
        .insert("ANTHROPIC_API_KEY".to_owned(), "given".to_owned());
    assert!(Server::start(launch, &scene.ws).await.is_err());
    assert_eq!(scene.written("key"), "given");
}

#[tokio::test]
async fn the_mock_servers_habits_are_survived() {
    for fault in [
        &[][..],
        &["asks-first"],
        &["noise"],
        &["pages-of-2"],
        &["flood"],
        &["string-ids"],
    ] {
        let scene = Scene::new();
        let server = Server::start_with(scene.docs(fault), &scene.ws, LONG).await;
        let server = server.unwrap_or_else(|error| panic!("{fault:?}: {error:#}"));
        assert!(names(&server).starts_with(&["search".to_owned(), "get_version".to_owned()]));
        let version = call(&server, "get_version").await;
        assert!(version.contains('.'), "{fault:?}: {version}");
        assert_eq!(server.failure(), None, "{fault:?}");
        server.shut_down().await;
        scene.nothing_is_left();
    }
}

#[tokio::test]
async fn a_tool_that_comes_with_the_first_call_is_there_after_it() {
    let scene = Scene::new();
    let server = Server::start_with(scene.docs(&["list-changed"]), &scene.ws, LONG)
        .await
        .unwrap();
    assert_eq!(names(&server).len(), 2);
    call(&server, "get_version").await;
    assert_eq!(names(&server).len(), 3, "at once");
}

#[tokio::test]
async fn a_list_that_is_announced_in_a_call_and_never_comes_holds_up_the_call_for_a_while() {
    let scene = Scene::new();
    let changed = say(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let steps = [
        HEAR,
        &changed,
        &text(3, "found"),
        "read -r line; touch asked",
        STAY,
    ];
    let server = scene.greeted(json!([{ "name": "a" }]), &steps, LONG).await;
    let asked = async {
        until(|| scene.ws.root().join("asked").exists()).await;
        tokio::time::pause();
    };
    let (found, ()) = tokio::join!(call(&server, "a"), asked);
    assert_eq!(
        (found.as_str(), names(&server)),
        ("found", vec!["a".to_owned()])
    );
}
