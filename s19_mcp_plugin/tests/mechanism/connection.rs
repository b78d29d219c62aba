//! What a server may do, and what it must not: each was seen at a server that nobody here wrote, or is allowed by the
//! protocol, or would hurt.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::peer::{GREETS, TIMEOUTS, call, connected, names, pass, peer, said};

const FAILED: &str = "the MCP server 'docs' is disconnected: ";
const SILENT: &str = "the MCP server 'docs' did not answer tools/call within 10s";

#[tokio::test(start_paused = true)]
async fn initialize_list_and_call_are_what_the_specification_wants() {
    let (mut peer, server) = peer();
    // It asks before it answers, under ids of its own; and some make a string of our id.
    let scene = r#"
> 1 initialize {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "s19_mcp_plugin", "version": "VERSION"}}
< 0 roots/list
< "a" ping
< . notifications/of/tomorrow [1]
> 0 ! {"code": -32601, "message": "method not found"}
> "a" = {}
< 1 = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "instructions": "Be brief."}
> . notifications/initialized {}
> 2 tools/list {}
< 2 = {"tools": [{"name": "a"}, {"name": "b"}], "nextCursor": "two"}
> 3 tools/list {"cursor": "two"}
< 3 = {"tools": [{"name": "c"}], "nextCursor": ""}
> 4 tools/call {"name": "b", "arguments": {"query": "a\nb"}, "_meta": {"progressToken": 4}}
< "4" = {"content": [], "structuredContent": {"a": 1}, "isError": true}
"#;
    let scene = scene.replace("VERSION", env!("CARGO_PKG_VERSION"));
    let use_it = async {
        let server = server.await.unwrap();
        assert_eq!(names(&server), ["a", "b", "c"]);
        assert_eq!(server.instructions(), Some("Be brief."));
        let query = json!({ "query": "a\nb" });
        let failed = server.call("b", query, |_| {}).await.unwrap();
        assert!(failed.is_error, "a tool that fails is no error of the call");
        assert_eq!(failed.structured_content, Some(json!({ "a": 1 })));
        server
    };
    let (server, ()) = tokio::join!(use_it, peer.plays(&scene));
    assert_eq!(server.failure(), None);
}

#[tokio::test(start_paused = true)]
async fn calls_are_in_flight_together_and_one_that_is_dropped_is_cancelled() {
    let (server, mut peer) = connected("[]").await;
    let serve = peer.plays(
        r#"
> 3 tools/call …
> 4 tools/call …
< 4 = {"content": [{"text": "second"}]}
< 3 = {"content": [{"text": "first"}]}
"#,
    );
    let (first, second, ()) = tokio::join!(biased; said(&server, "a"), said(&server, "b"), serve);
    assert_eq!((&*first, &*second), ("first", "second"));
    tokio::select! {
        _ = call(&server, "slow") => panic!("it does not answer"),
        () = peer.plays("> 5 tools/call …") => {}
    }
    let late = r#"
> . notifications/cancelled {"requestId": 5}
< 5 = {"content": [{"text": "late"}]}"#;
    peer.plays(late).await;
    assert_eq!(said(&server, "slow").await, SILENT);
    let cancelled = "> 6 tools/call …\n> . notifications/cancelled {\"requestId\": 6}";
    peer.plays(cancelled).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_the_start_is_given_up_and_initialize_is_not_cancelled() {
    let (mut silent, server) = peer();
    let why = "the MCP server 'docs' did not answer initialize within 10s";
    assert_eq!(server.await.err().unwrap().to_string(), why);
    silent.plays("> 1 initialize …").await;
    assert_eq!(silent.hear().await, Value::Null, "nothing more");
    // Both share the time of a start, also when each page comes in time.
    let (mut peer, server) = peer();
    let began = Instant::now();
    let serve = async {
        pass(TIMEOUTS.start / 2).await;
        peer.plays(GREETS).await;
        for id in 2.. {
            pass(TIMEOUTS.start / 4).await;
            let page = format!(r#"< {id} = {{"tools": [], "nextCursor": "more"}}"#);
            peer.plays(&page).await;
        }
    };
    let why = tokio::select! {
        biased;
        server = server => server.err().unwrap().to_string(),
        () = serve => unreachable!(),
    };
    let expected = "the MCP server 'docs' did not list all of its tools within 10s";
    assert_eq!(why, expected);
    assert!(began.elapsed() < TIMEOUTS.start + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_start_that_cannot_be_is_one_sentence() {
    let words = "x".repeat(9_000_000);
    let large = format!(
        r#"{{"tools": [{{"name": "a", "description": "{words}"}}], "nextCursor": "more"}}"#
    );
    let endless = r#"{"tools": [], "nextCursor": "more"}"#;
    let future = r#"{"protocolVersion": "2031-01-01", "capabilities": {}}"#;
    for (hello, page, why) in [
        (None, &*large, "lists more than 16 MB of tools"),
        (None, endless, "lists its tools on more than 1000 pages"),
        (
            Some(future),
            "",
            "speaks version 2031-01-01 of MCP; known here are 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05",
        ),
    ] {
        let (mut peer, server) = peer();
        let serve = async {
            if let Some(hello) = hello {
                peer.plays(&format!("> 1 initialize …\n< 1 = {hello}")).await;
                return std::future::pending().await;
            }
            peer.plays(GREETS).await;
            for id in 2.. {
                peer.plays(&format!("< {id} = {page}")).await;
                peer.hear().await;
            }
        };
        let error = tokio::select! {
            server = server => server.err().unwrap().to_string(),
            () = serve => unreachable!(),
        };
        assert_eq!(error, format!("the MCP server 'docs' {why}"));
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_fails_one_call_or_one_tool_and_the_connection_lives_on() {
    let begin = r#"{"properties":{"a":"#.repeat(70);
    let deep = format!("{begin}{{}}{}", "}}".repeat(70));
    let (mut peer, server) = peer();
    let serve = async {
        peer.plays(GREETS).await;
        // Written by hand: a parser of JSON refuses some of it.
        let tools = format!(
            r#"{{"description":"?"}},5,{{"name":"b","description":"\ud800"}},{{"name":"c","inputSchema":{deep}}},{{"name":"a","inputSchema":"none"}}"#
        );
        let mut results = vec![format!(r#"{{"tools":[{tools}]}}"#)];
        let text = |text: &str| format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#);
        let texts = [r#""\ud800""#, &deep].map(text);
        results.extend(texts.into_iter().chain([r#""yes""#.to_owned(), text(r#""found""#)]));
        for (id, result) in (2..).zip(results) {
            if id > 2 {
                peer.hear().await;
            }
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
            peer.write(line + "\n").await;
        }
        let refused = r#"
> 7 tools/call …
< 7 ! {"code": -32602, "message": "Unknown tool: b"}"#;
        peer.plays(refused).await;
    };
    let use_it = async {
        let server = server.await.unwrap();
        assert_eq!(names(&server), ["a"]);
        let malformed = server.malformed();
        let told = malformed.iter().map(|out| format!("{} {}", out.tool, out.why));
        let parts = [
            "a tool without a name",
            "a tool without a name",
            "b cannot be read at `description`",
            "c cannot be read",
        ];
        assert_eq!(malformed.len(), parts.len());
        for (told, part) in told.zip(parts) {
            assert!(told.starts_with(part), "{told}");
        }
        for why in [
            "answered tools/call with what cannot be read: unexpected end of hex escape",
            "answered tools/call with what cannot be read: recursion limit exceeded",
            "answered tools/call with what cannot be read: invalid type",
            "found",
            "refused tools/call: Unknown tool: b (code -32602)",
        ] {
            let said = said(&server, "a").await;
            let words = said.trim_start_matches("the MCP server 'docs' ");
            assert!(words.starts_with(why), "{said}");
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
        (b"{\"jsonrpc\": \"2.0\", \"id\"", "its output ended in the middle of a line"),
        (&b"no\n".repeat(2_000), "it writes text instead of messages; it last wrote: …"),
        (b"", "it closed the connection"),
    ] {
        let (server, mut peer) = connected("[]").await;
        let serve = async {
            peer.hear().await;
            peer.write(bytes).await;
            drop(peer);
        };
        let (error, ()) = tokio::join!(said(&server, "a"), serve);
        assert!(error.starts_with(&format!("{FAILED}{why}")), "{error}");
        assert_eq!(server.failure().as_ref(), Some(&error));
        let later = said(&server, "a").await;
        assert_eq!(later, error, "a later call fails at once, for the same reason");
        server.shut_down().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_says_what_was_written_since() {
    let (server, mut peer) = connected("[]").await;
    peer.write("listening\n").await;
    for (id, writes, said_last) in [
        (3, "", ""),
        (4, "Traceback:\u{1b}[31m\n  here\n", "; it last wrote: Traceback: [31m here"),
        (
            5,
            "{\"level\":30,\"error\":\"none\"}\n",
            r#"; it last wrote: {"level":30,"error":"none"}"#,
        ),
        (6, "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n", ""),
    ] {
        let serve = async {
            while peer.hear().await["id"] != id {}
            peer.write(writes).await;
        };
        let (error, ()) = tokio::join!(said(&server, "a"), serve);
        assert_eq!(error, format!("{SILENT}{said_last}"));
    }
    assert_eq!(server.failure(), None);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_holds_up_nobody_and_is_given_up_when_it_asks_without_end() {
    let unread = "it has not read the last 1000 messages it was sent";
    for (times, why) in [(1_100, unread), (100, "it was shut down")] {
        let (server, mut peer) = connected("[]").await;
        for _ in 0..2 {
            let large = json!({ "text": "x".repeat(1_000_000) });
            let error = server.call("a", large, |_| {}).await.unwrap_err();
            assert_eq!(error.to_string(), SILENT);
        }
        peer.plays(&"< 1 ping\n".repeat(times)).await;
        pass(Duration::from_secs(1)).await;
        server.shut_down().await;
        assert_eq!(server.failure(), Some(format!("{FAILED}{why}")));
    }
}

#[tokio::test(start_paused = true)]
async fn what_it_answers_counts_although_it_reads_no_more() {
    let (server, mut peer) = connected("[]").await;
    let second = async {
        tokio::task::yield_now().await;
        peer.hear().await;
        peer.input = None;
        let (second, ()) = tokio::join!(said(&server, "b"), async {
            pass(Duration::from_millis(500)).await;
            let found = r#"< 3 = {"content": [{"text": "found"}]}"#;
            peer.plays(found).await;
        });
        second
    };
    let (first, second) = tokio::join!(said(&server, "a"), second);
    let closed = format!("{FAILED}it closed the connection");
    assert_eq!((first, second), ("found".to_owned(), closed));
}

#[tokio::test(start_paused = true)]
async fn progress_reaches_the_call_that_asked_for_it_and_nothing_else_does() {
    let (server, mut peer) = connected("[]").await;
    let serve = peer.plays(
        r#"
> 3 tools/call …
< . notifications/progress {"progressToken": 3, "progress": 1, "total": 4, "message": "reading\u001b[2J\na"}
< . notifications/progress {"progressToken": 4, "progress": 2}
< . notifications/progress {"progressToken": "3", "progress": "much"}
< . notifications/progress null
< . notifications/progress {"progressToken": "3", "progress": 2.5}
< 3 = {"content": []}
"#,
    );
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = heard.clone();
    let on_progress = move |how_far: &str| hear.lock().unwrap().push(how_far.to_owned());
    let (result, ()) = tokio::join!(server.call("a", json!({}), on_progress), serve);
    assert!(result.is_ok());
    assert_eq!(*heard.lock().unwrap(), ["1 of 4, reading [2J a", "2.5"]);
}

#[tokio::test(start_paused = true)]
async fn a_list_is_read_again_when_it_changes_once_at_a_time_and_not_without_a_pause() {
    const CHANGED: &str = "< . notifications/tools/list_changed\n";
    let (server, mut peer) = connected(r#"[{"name": "a"}]"#).await;
    let many = CHANGED.repeat(500);
    peer.plays(&format!("{many}> 3 tools/list {{}}")).await;
    // What comes while a list is under way counts once more, after a pause.
    peer.plays(&many).await;
    let first = Instant::now();
    peer.plays("< 3 = {\"tools\": [{\"name\": \"b\"}]}\n> 4 tools/list {}").await;
    assert!(first.elapsed() >= Duration::from_millis(900));
    peer.plays(r#"< 4 = {"tools": [{"name": "c"}]}"#).await;
    pass(Duration::from_secs(5)).await;
    assert_eq!(names(&server), ["c"]);
    // Nobody asked in between. One that is refused leaves the list as it was.
    let refused = "> 5 tools/list {}\n< 5 ! {\"code\": -1, \"message\": \"busy\"}";
    peer.plays(&format!("{CHANGED}{refused}")).await;
    pass(Duration::from_secs(5)).await;
    // A call waits for a list that was announced before its answer, for a while.
    for (id, is_listed) in [(6, true), (8, false)] {
        let list = id + 1;
        let mut scene = format!(
            "> {id} tools/call …\n{CHANGED}< {id} = {{\"content\": [{{\"text\": \"found\"}}]}}\n> {list} tools/list {{}}\n"
        );
        if is_listed {
            scene += &format!("< {list} = {{\"tools\": [{{\"name\": \"d\"}}]}}");
        }
        let began = Instant::now();
        let (found, ()) = tokio::join!(said(&server, "a"), peer.plays(&scene));
        assert_eq!((&*found, names(&server)), ("found", vec!["d".to_owned()]));
        assert_eq!(began.elapsed() >= Duration::from_secs(5), !is_listed);
    }
}
