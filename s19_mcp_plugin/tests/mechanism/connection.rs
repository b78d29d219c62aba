//! What a server may do, and what it must not: each was seen at a server that nobody here wrote, or is allowed by the
//! protocol, or would hurt.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::peer::{TIMEOUTS, call, connected, names, pass, peer, said};

const FAILED: &str = "the MCP server 'docs' is disconnected: ";
const SILENT: &str = "the MCP server 'docs' did not answer tools/call within 10s";

#[tokio::test(start_paused = true)]
async fn initialize_list_and_call_are_what_the_specification_wants() {
    let (mut peer, server) = peer();
    let client = json!({ "name": "s19_mcp_plugin", "version": env!("CARGO_PKG_VERSION") });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "instructions": "Be brief." });
    let serve = async {
        let request = |id: u64, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        assert_eq!(peer.hear().await, request(1, "initialize", params));
        // It asks before it answers, under ids of its own.
        for (id, method) in [(json!(0), "roots/list"), (json!("a"), "ping")] {
            peer.say(json!({ "jsonrpc": "2.0", "id": id, "method": method }))
                .await;
        }
        peer.notify("of/tomorrow", json!([1])).await;
        let error = json!({ "code": -32601, "message": "method not found" });
        assert_eq!(
            peer.hear().await,
            json!({ "jsonrpc": "2.0", "id": 0, "error": error })
        );
        assert_eq!(
            peer.hear().await,
            json!({ "jsonrpc": "2.0", "id": "a", "result": {} })
        );
        peer.answer(1, hello).await;
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": {} });
        assert_eq!(peer.hear().await, told);
        assert_eq!(peer.hear().await, request(2, "tools/list", json!({})));
        peer.answer(
            2,
            json!({ "tools": [{ "name": "a" }, { "name": "b" }], "nextCursor": "two" }),
        )
        .await;
        assert_eq!(
            peer.hear().await,
            request(3, "tools/list", json!({ "cursor": "two" }))
        );
        peer.answer(3, json!({ "tools": [{ "name": "c" }], "nextCursor": "" }))
            .await;
        let params = json!({ "name": "b", "arguments": { "query": "a\nb" }, "_meta": { "progressToken": 4 } });
        assert_eq!(peer.hear().await, request(4, "tools/call", params));
        // Some make a string of our id.
        let found = json!({ "content": [], "structuredContent": { "a": 1 }, "isError": true });
        peer.say(json!({ "jsonrpc": "2.0", "id": "4", "result": found }))
            .await;
    };
    let use_it = async {
        let server = server.await.unwrap();
        assert_eq!(names(&server), ["a", "b", "c"]);
        assert_eq!(server.instructions(), Some("Be brief."));
        let failed = server
            .call("b", json!({ "query": "a\nb" }), |_| {})
            .await
            .unwrap();
        assert!(failed.is_error, "a tool that fails is no error of the call");
        assert_eq!(failed.structured_content, Some(json!({ "a": 1 })));
        server
    };
    let (server, ()) = tokio::join!(use_it, serve);
    assert_eq!(server.failure(), None);
}

#[tokio::test(start_paused = true)]
async fn calls_are_in_flight_together_and_one_that_is_dropped_is_cancelled() {
    let (server, mut peer) = connected(json!([])).await;
    let serve = async {
        peer.hear().await;
        peer.hear().await;
        peer.text(4, "second").await;
        peer.text(3, "first").await;
    };
    let (first, second, ()) = tokio::join!(biased; said(&server, "a"), said(&server, "b"), serve);
    assert_eq!((&*first, &*second), ("first", "second"));
    let asked = async { peer.hear().await };
    tokio::select! {
        _ = call(&server, "slow") => panic!("it does not answer"),
        asked = asked => assert_eq!(asked["id"], 5),
    }
    let cancelled = |id: u64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    assert_eq!(peer.hear().await, cancelled(5));
    peer.text(5, "late").await;
    assert_eq!(said(&server, "slow").await, SILENT);
    assert_eq!(peer.hear().await["id"], 6);
    assert_eq!(peer.hear().await, cancelled(6));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_the_start_is_given_up_and_initialize_is_not_cancelled() {
    let (mut silent, server) = peer();
    let why = "the MCP server 'docs' did not answer initialize within 10s";
    assert_eq!(server.await.err().unwrap().to_string(), why);
    assert_eq!(silent.hear().await["method"], "initialize");
    assert_eq!(silent.hear().await, Value::Null, "nothing more");
    // Both share the time of a start, also when each page comes in time.
    let (mut peer, server) = peer();
    let began = Instant::now();
    let serve = async {
        pass(TIMEOUTS.start / 2).await;
        peer.greet().await;
        for id in 2.. {
            pass(TIMEOUTS.start / 4).await;
            peer.answer(id, json!({ "tools": [], "nextCursor": "more" }))
                .await;
        }
    };
    let why = tokio::select! {
        biased;
        server = server => server.err().unwrap().to_string(),
        () = serve => unreachable!(),
    };
    assert_eq!(
        why,
        "the MCP server 'docs' did not list all of its tools within 10s"
    );
    assert!(began.elapsed() < TIMEOUTS.start + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_start_that_cannot_be_is_one_sentence() {
    let pages = |page: Value| async move {
        let (mut peer, server) = peer();
        let serve = async {
            peer.greet().await;
            for id in 2.. {
                peer.answer(id, page.clone()).await;
                peer.hear().await;
            }
        };
        tokio::select! {
            server = server => server.err().unwrap().to_string(),
            () = serve => unreachable!(),
        }
    };
    let words = "x".repeat(9_000_000);
    for (page, why) in [
        (
            json!({ "tools": [{ "name": "a", "description": words }], "nextCursor": "more" }),
            "lists more than 16 MB of tools",
        ),
        (
            json!({ "tools": [], "nextCursor": "more" }),
            "lists its tools on more than 1000 pages",
        ),
    ] {
        assert_eq!(pages(page).await, format!("the MCP server 'docs' {why}"));
    }
    let (mut peer, server) = peer();
    let hello = json!({ "protocolVersion": "2031-01-01", "capabilities": {} });
    let serve = async {
        peer.hear().await;
        peer.answer(1, hello).await;
    };
    let (server, ()) = tokio::join!(server, serve);
    let why = server.err().unwrap().to_string();
    assert!(
        why.contains("2031-01-01") && why.contains("2025-11-25"),
        "{why}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_fails_one_call_or_one_tool_and_the_connection_lives_on() {
    let deep = format!(
        "{}{{}}{}",
        r#"{"properties":{"a":"#.repeat(70),
        "}}".repeat(70)
    );
    let (mut peer, server) = peer();
    let serve = async {
        peer.greet().await;
        let tools = format!(
            r#"{{"description":"?"}},5,{{"name":"b","description":"\ud800"}},{{"name":"c","inputSchema":{deep}}},{{"name":"a","inputSchema":"none"}}"#
        );
        let page = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{tools}]}}}}"#);
        peer.write(page + "\n").await;
        let content = |text: &str| format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#);
        for (id, result) in (3..).zip([
            content(r#""\ud800""#),
            content(&deep),
            r#""yes""#.to_owned(),
            content(r#""found""#),
        ]) {
            peer.hear().await;
            peer.write(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}{}"#,
                "\n"
            ))
            .await;
        }
        let error = json!({ "code": -32602, "message": "Unknown tool: b" });
        peer.hear().await;
        peer.say(json!({ "jsonrpc": "2.0", "id": 7, "error": error }))
            .await;
    };
    let use_it = async {
        let server = server.await.unwrap();
        assert_eq!(names(&server), ["a"]);
        let malformed = server.malformed();
        let told: Vec<_> = malformed
            .iter()
            .map(|out| (&*out.tool, &*out.why))
            .collect();
        assert!(
            matches!(told[..], [("a tool without a name", _), ("a tool without a name", _), ("b", b), ("c", c)]
                if b.contains("at `description`") && c.contains("recursion limit")),
            "{told:?}"
        );
        for why in [
            "answered tools/call with what cannot be read: unexpected end of hex escape",
            "answered tools/call with what cannot be read: recursion limit exceeded",
            "answered tools/call with what cannot be read: invalid type",
            "found",
            "refused tools/call: Unknown tool: b (code -32602)",
        ] {
            let said = said(&server, "a").await;
            assert!(
                said.trim_start_matches("the MCP server 'docs' ")
                    .starts_with(why),
                "{said}"
            );
        }
        server
    };
    let (server, ()) = tokio::join!(use_it, serve);
    assert_eq!(server.failure(), None);
}

#[tokio::test(start_paused = true)]
async fn what_breaks_the_protocol_ends_the_connection_in_a_sentence() {
    let long = "x".repeat(20_000_000);
    for (bytes, why) in [
        (
            &b"{\"jsonrpc\": \"2.0\", \"id\": 3, \"result\": {\"con\n"[..],
            "it sent invalid JSON: EOF while parsing",
        ),
        (b"\xff\xfe\n", "it sent a line that is no UTF-8"),
        (long.as_bytes(), "it sent a line of more than 16 MB"),
        (
            b"{\"jsonrpc\": \"2.0\", \"id\"",
            "its output ended in the middle of a line",
        ),
        (
            &b"no\n".repeat(2_000),
            "it writes text instead of messages; it last wrote: …",
        ),
        (b"", "it closed the connection"),
    ] {
        let ((server, mut peer), (good, mut other)) =
            tokio::join!(connected(json!([])), connected(json!([])));
        let serve = async {
            peer.hear().await;
            peer.write(bytes).await;
            drop(peer);
            other.hear().await;
            other.text(3, "found").await;
        };
        let (error, found, ()) = tokio::join!(said(&server, "a"), said(&good, "a"), serve);
        assert!(error.starts_with(&format!("{FAILED}{why}")), "{error}");
        assert_eq!(
            (&*found, good.failure()),
            ("found", None),
            "a failure is a server's own"
        );
        assert_eq!(server.failure().as_ref(), Some(&error));
        assert_eq!(
            said(&server, "a").await,
            error,
            "a later call fails at once, for the same reason"
        );
        server.shut_down().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_says_what_was_written_since() {
    let (server, mut peer) = connected(json!([])).await;
    peer.write("listening\n").await;
    let error = json!({ "level": 30, "error": "none" });
    for (id, writes, said_last) in [
        (3, vec![], ""),
        (
            4,
            vec!["Traceback:\u{1b}[31m\n".to_owned(), "  here\n".to_owned()],
            "; it last wrote: Traceback: [31m here",
        ),
        (
            5,
            vec![format!("{error}\n")],
            r#"; it last wrote: {"error":"none","level":30}"#,
        ),
        (
            6,
            vec!["{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n".to_owned()],
            "",
        ),
    ] {
        let serve = async {
            while peer.hear().await["id"] != id {}
            for line in writes {
                peer.write(line).await;
            }
        };
        let (error, ()) = tokio::join!(said(&server, "a"), serve);
        assert_eq!(error, format!("{SILENT}{said_last}"));
    }
    assert_eq!(server.failure(), None);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_holds_up_nobody_and_is_given_up_when_it_asks_without_end() {
    let asks = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let unread = "it has not read the last 1000 messages it was sent";
    for (times, why) in [(1_100, unread), (100, "it was shut down")] {
        let (server, mut peer) = connected(json!([])).await;
        for _ in 0..2 {
            let large = json!({ "text": "x".repeat(1_000_000) });
            let error = server.call("a", large, |_| {}).await.unwrap_err();
            assert_eq!(error.to_string(), SILENT);
        }
        for _ in 0..times {
            peer.say(asks.clone()).await;
        }
        pass(Duration::from_secs(1)).await;
        server.shut_down().await;
        assert_eq!(server.failure(), Some(format!("{FAILED}{why}")));
    }
}

#[tokio::test(start_paused = true)]
async fn what_it_answers_counts_although_it_reads_no_more() {
    let (server, mut peer) = connected(json!([])).await;
    let second = async {
        tokio::task::yield_now().await;
        peer.hear().await;
        peer.input = None;
        let (second, ()) = tokio::join!(said(&server, "b"), async {
            pass(Duration::from_millis(500)).await;
            peer.text(3, "found").await;
        });
        second
    };
    let (first, second) = tokio::join!(said(&server, "a"), second);
    assert_eq!(
        (first, second),
        (
            "found".to_owned(),
            format!("{FAILED}it closed the connection")
        )
    );
}

#[tokio::test(start_paused = true)]
async fn progress_reaches_the_call_that_asked_for_it_and_nothing_else_does() {
    let (server, mut peer) = connected(json!([])).await;
    let serve = async {
        peer.hear().await;
        for params in [
            json!({ "progressToken": 3, "progress": 1, "total": 4, "message": "reading\u{1b}[2J\na" }),
            json!({ "progressToken": 4, "progress": 2 }),
            json!({ "progressToken": "3", "progress": "much" }),
            json!(null),
            json!({ "progressToken": "3", "progress": 2.5 }),
        ] {
            peer.notify("progress", params).await;
        }
        peer.text(3, "found").await;
    };
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = heard.clone();
    let on_progress = move |how_far: &str| hear.lock().unwrap().push(how_far.to_owned());
    let (result, ()) = tokio::join!(server.call("a", json!({}), on_progress), serve);
    assert!(result.is_ok());
    assert_eq!(*heard.lock().unwrap(), ["1 of 4, reading [2J a", "2.5"]);
}

#[tokio::test(start_paused = true)]
async fn a_list_is_read_again_when_it_changes_once_at_a_time_and_not_without_a_pause() {
    let (server, mut peer) = connected(json!([{ "name": "a" }])).await;
    let page = |name: &str| json!({ "tools": [{ "name": name }] });
    for _ in 0..500 {
        peer.changes().await;
    }
    assert_eq!(peer.hear().await["id"], 3);
    // What comes while a list is under way counts once more, after a pause.
    for _ in 0..500 {
        peer.changes().await;
    }
    let first = Instant::now();
    peer.answer(3, page("b")).await;
    assert_eq!(peer.hear().await["id"], 4);
    assert!(first.elapsed() >= Duration::from_millis(900));
    peer.answer(4, page("c")).await;
    // One that is refused leaves the list as it was.
    pass(Duration::from_secs(5)).await;
    assert_eq!(names(&server), ["c"]);
    peer.changes().await;
    assert_eq!(peer.hear().await["id"], 5, "nobody asked in between");
    let error = json!({ "code": -1, "message": "busy" });
    peer.say(json!({ "jsonrpc": "2.0", "id": 5, "error": error }))
        .await;
    pass(Duration::from_secs(5)).await;
    // A call waits for a list that was announced before its answer, for a while.
    for (id, is_listed) in [(6, true), (8, false)] {
        let serve = async {
            peer.hear().await;
            peer.changes().await;
            peer.text(id, "found").await;
            peer.hear().await;
            if is_listed {
                peer.answer(id + 1, page("d")).await;
            }
        };
        let began = Instant::now();
        let (found, ()) = tokio::join!(said(&server, "a"), serve);
        assert_eq!((&*found, names(&server)), ("found", vec!["d".to_owned()]));
        assert_eq!(began.elapsed() >= Duration::from_secs(5), !is_listed);
    }
}
