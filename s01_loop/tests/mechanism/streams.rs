//! Streams that the mock model does not send: of other servers, of models that think, of models that write bad JSON.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use s01_loop::{ApiError, Credentials, Reply};
use serde_json::{Value, json};

use super::client::{Notebook, asking, client_at, server_that_answers, tools};

/// A server that streams these blocks, each with one delta, and ends with this stop reason.
fn server_of(blocks: &[(Value, Value)], stop_reason: &str) -> String {
    let mut events = vec![json!({"type": "message_start", "message": {"usage": null}})];
    for (index, (start, delta)) in blocks.iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(
        json!({"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": null}),
    );
    events.push(json!({"type": "message_stop"}));
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close";
    server_that_answers(format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
}

/// A server that begins like this and goes on for ever, and how many bytes it got rid of.
fn server_that_pours(begin: &'static str, piece: String) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let poured = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&poured);
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(format!("HTTP/1.1 {begin}").as_bytes());
        while stream.write_all(piece.as_bytes()).is_ok() {
            counted.fetch_add(piece.len(), Relaxed);
        }
    });
    (url, poured)
}

fn thinking() -> (Value, Value) {
    (
        json!({"type": "thinking", "thinking": "hm", "signature": ""}),
        json!({"type": "signature_delta", "signature": "c2ln"}),
    )
}

fn text(text: &str) -> (Value, Value) {
    (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
}

fn call(input: &str) -> (Value, Value) {
    (
        json!({"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}}),
        json!({"type": "input_json_delta", "partial_json": input}),
    )
}

/// The reply to a request, and what a user saw of it.
async fn reply_of(blocks: &[(Value, Value)], stop_reason: &str) -> (Reply, Arc<Notebook>) {
    let notebook = Arc::new(Notebook::default());
    let client =
        client_at(&server_of(blocks, stop_reason), Default::default()).watched_by(notebook.clone());
    (client.send("", &asking("go"), &tools()).await.unwrap(), notebook)
}

#[tokio::test]
async fn a_reply_that_breaks_off_has_cost_what_the_api_had_said() {
    let event = json!({"type": "message_start", "message": {"usage": {"input_tokens": 7}}});
    let address = server_that_answers(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {event}\n\n"
    ));
    let client = client_at(&address, Default::default());
    let broken = client.send("", &asking("go"), &tools()).await;
    assert!(matches!(broken, Err(ApiError::Interrupted { .. })));
    assert_eq!(client.spent().input_tokens, 7);
}

#[tokio::test]
async fn thinking_is_kept_with_its_signature_before_what_follows_it() {
    let (reply, _) = reply_of(&[thinking(), text("Hi.")], "end_turn").await;
    let sent: Value = serde_json::from_str(reply.message().wire()).unwrap();
    assert_eq!(
        sent["content"][0],
        json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"})
    );
    assert_eq!(reply.message().text(), "Hi.");
}

#[tokio::test]
async fn a_reply_never_ends_in_thinking() {
    for blocks in
        [vec![thinking()], vec![text("Hi."), thinking()], vec![thinking(), call(r#"{"comm"#)]]
    {
        let (reply, _) = reply_of(&blocks, "max_tokens").await;
        let last = reply.message().blocks().last().map(|block| json!(block)["type"].clone());
        assert!(last.is_none() || last == Some("text".into()), "{last:?}");
    }
}

#[tokio::test]
async fn a_whole_call_with_bad_json_reaches_its_tool_which_says_what_is_missing() {
    let (reply, notebook) = reply_of(&[call("{command: ls}")], "tool_use").await;
    let calls = reply.tool_calls();
    let unreadable = json!({"unreadable_input": "{command: ls}"});
    assert_eq!(calls[0].input, unreadable);
    let output = s01_loop::bash::run("/".as_ref(), &calls[0]).await;
    let said = "bash: the input is no JSON object, ";
    assert!(output.text.starts_with(said), "{}", output.text);
    assert!(notebook.kinds().contains(&"call".to_owned()));
}

#[tokio::test]
async fn of_two_calls_with_bad_json_a_cut_takes_the_last_and_the_other_is_seen() {
    let blocks = [call("{command: ls}"), call(r#"{"comm"#)];
    let (reply, notebook) = reply_of(&blocks, "max_tokens").await;
    assert!(reply.lost_a_call);
    assert_eq!(reply.tool_calls().len(), 1);
    assert!(notebook.lines().contains(&"call bash".to_owned()));
}

#[tokio::test]
async fn how_a_reply_ended_is_said_when_it_is_unusual() {
    for (blocks, stop_reason, said) in [
        (vec![], "refusal", "notice the model ended its reply with `refusal`"),
        (vec![], "end_turn", "notice the model answered nothing"),
        (vec![text("Hi")], "model_context_window_exceeded", "notice the reply was cut"),
        (
            vec![call(r#"{"comm"#)],
            "max_tokens",
            "notice the reply was cut in the middle of a tool call",
        ),
    ] {
        let (_, notebook) = reply_of(&blocks, stop_reason).await;
        assert!(
            notebook.lines().iter().any(|line| line.starts_with(said)),
            "{said}: {:?}",
            notebook.lines()
        );
    }
    let (_, notebook) = reply_of(&[text("Hi.")], "end_turn").await;
    assert!(!notebook.kinds().contains(&"notice".to_owned()));
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_one_sentence_without_the_key() {
    const NO: &str =
        r#"{"error": {"type": "authentication_error", "message": "invalid key sk-secret-1"}}"#;
    const EVENT: &str = "data: {\"type\": \"error\", \"error\": \"invalid key sk-secret-1\"}\n\n";
    for (head, body, said) in [
        (
            "502 Bad Gateway",
            "Bad proxy",
            "answered 502 (no Messages API error): Bad proxy — ask again",
        ),
        ("401 No", NO, "answered 401 (authentication_error): invalid key [key] — "),
        (
            "200 OK\r\ncontent-type: text/html",
            "<p>",
            "answered 200 (no Messages API stream): its content type is text/html — ",
        ),
        ("200 OK\r\ncontent-type: text/event-stream", EVENT, "invalid key [key]"),
    ] {
        let length = body.len();
        let answer = format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\n\r\n{body}");
        let client =
            client_at(&server_that_answers(answer), Credentials::ApiKey("sk-secret-1".into()));
        let error = client.send("", &asking("hi"), &[]).await.unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert!(!format!("{error:?}").contains("sk-secret-1"), "{error:?}");
    }
}

#[tokio::test]
async fn what_does_not_end_is_given_up() {
    const STREAM: &str = "200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    const MIB: usize = 1024 * 1024;
    const TOO_MUCH: &str =
        "the answer is not a Messages API stream: the reply has more than 64 MiB";
    let block = "x".repeat(MIB);
    for (begin, piece, said, most) in [
        (STREAM, format!(": {block}\n"), TOO_MUCH, 64 * MIB),
        (
            STREAM,
            format!("data: {{\"type\": \"ping\", \"more\": \"{block}\"}}\n\n"),
            TOO_MUCH,
            64 * MIB,
        ),
        (
            "500 No\r\n\r\n",
            block.clone(),
            "the model's API answered 500 (no Messages API error): xxxx",
            0,
        ),
    ] {
        let (url, poured) = server_that_pours(begin, piece);
        let client = client_at(&url, Default::default());
        let error = client.send("", &asking("hi"), &[]).await.unwrap_err();
        assert!(error.to_string().starts_with(said), "{error}");
        assert!(error.to_string().len() < 300);
        // What lies in the buffers of two sockets comes on top.
        assert!(poured.load(Relaxed) < most + 16 * MIB, "{poured:?}");
    }
}
