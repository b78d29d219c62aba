//! Failures: what is tried again, how often, after which waits, and what ends the turn at once.

use std::net::TcpListener;

use mock_servers::model::Fault;
use s01_loop::{ApiError, Repl, Settings, ToolCall};
use s02_tools::{Toolbox, Workspace};
use s03_permission::Policy;
use s04_hooks::Hooks;
use s06_subagent::Subagents;
use s09_memory::Memory;
use s11_recovery::Recovery;
use serde_json::json;

use crate::diary::{Diary, SENTENCE, asking, client, failing, recovery, settings};
use crate::{send, send_with, tools};

const LIMITED: Fault = Fault::RateLimited { retry_after: 7 };
/// The waits between ten tries, in seconds, when chance adds nothing.
const ALL_WAITS: [f64; 9] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0, 32.0];

#[tokio::test]
async fn what_passes_is_tried_again_and_the_reply_is_as_if_nothing_had_been() {
    let again = "; the reply begins again";
    for (fault, begin, end) in [
        (LIMITED, "rate limited", "; Ctrl-C ends the turn"),
        (Fault::Internal, "500 Internal server error", ""),
        (Fault::Drop, "no answer from http://127.0.0.1:", ""),
        (Fault::DropStream, "the connection closed", again),
        (Fault::Malformed, "an event cannot be read ", again),
        (Fault::ErrorEvent, "overloaded", again),
    ] {
        let model = failing([fault, fault]);
        let sent = send(&model).await;
        assert_eq!(sent.text(), SENTENCE, "{fault:?}");
        let waits = if fault == LIMITED {
            [7.0, 7.0]
        } else {
            [0.5, 1.0]
        };
        assert_eq!(sent.diary.waits(), waits, "{fault:?}");
        assert_eq!(model.requests().len(), 3, "{fault:?}");
        for (number, said) in (1..).zip(sent.diary.remarks()) {
            let seconds = waits[number - 1];
            let begin = format!("retrying in {seconds:.1} s ({number}/10): {begin}");
            assert!(
                said.starts_with(&begin) && said.ends_with(end),
                "{fault:?}: {said}"
            );
        }
        sent.goes_on_with(&model).await;
    }
}

#[tokio::test]
async fn an_error_is_told_by_its_status_and_type_and_one_that_comes_again_ends_the_turn() {
    const KEY: &str = "check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN";
    // The number in the text is no status.
    let error = |kind: &str| {
        format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"no (529)"}}}}"#)
    };
    let status = |line: &str, kind: &str| answer(&format!("HTTP/1.1 {line}"), &error(kind));
    let stream = |kind: &str| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream";
        answer(head, &format!("event: error\ndata: {}\n\n", error(kind)))
    };
    let page = answer("HTTP/1.1 200 OK\r\ncontent-type: text/html", "<html>");
    let invalid = "invalid_request_error";
    for (answer, is_tried_again, shown) in [
        (
            status("400 Bad Request", invalid),
            false,
            "400 (invalid_request_error): no (529) — if",
        ),
        (
            status("401 Unauthorized", "authentication_error"),
            false,
            KEY,
        ),
        (status("403 Forbidden", "permission_error"), false, KEY),
        (
            status("404 Not Found", "not_found_error"),
            false,
            "check MODEL_ID and ANTHROPIC_BASE_URL",
        ),
        (
            status("413 Too Large", "request_too_large"),
            false,
            "start a new session and ask for less",
        ),
        (page, false, "check ANTHROPIC_BASE_URL"),
        (stream(invalid), false, invalid),
        (stream("billing_error"), false, "billing_error"),
        (stream("api_error"), true, "api_error"),
        (stream("timeout_error"), true, "timeout_error"),
        (stream("some_new_error"), true, "some_new_error"),
        (
            status("429 Too Many Requests", "rate_limit_error"),
            true,
            "429 (rate_limit_error)",
        ),
    ] {
        let sent = send_with(
            client(settings(&server_that_answers(answer))),
            Diary::default(),
        )
        .await;
        assert!(sent.error().contains(shown), "{shown}: {}", sent.error());
        let waits = if is_tried_again { &ALL_WAITS[..] } else { &[] };
        assert_eq!(sent.diary.waits(), waits, "{shown}");
        assert_eq!(sent.diary.remarks().is_empty(), !is_tried_again, "{shown}");
        sent.goes_on_with(&failing([])).await;
    }
}

#[tokio::test]
async fn an_overloaded_model_is_left_for_the_other_one_after_three_times() {
    let model = failing([Fault::Overloaded; 4]);
    let settings = Settings {
        model: Some("first".into()),
        fallback_model: Some("second".into()),
        ..settings(model.url())
    };
    let (diary, history) = (Diary::default(), &mut asking("go"));
    let recovery = Recovery::with_clock(client(settings), diary.clone());
    let reply = recovery.send("", history, &tools()).await.unwrap();
    assert_eq!(reply.message().text(), SENTENCE);
    // The fourth failure is the second model's first; there is no third model.
    assert_eq!(diary.waits(), [0.5, 1.0, 0.5]);
    assert_eq!(
        diary.remarks(),
        [
            "retrying in 0.5 s (1/10): overloaded",
            "retrying in 1.0 s (2/10): overloaded",
            "overloaded 3 times in a row: asking `second` for this reply",
            "retrying in 0.5 s (4/10): overloaded",
        ]
    );
    // It was for this request: the next one goes to the first model.
    recovery.send("", history, &tools()).await.unwrap();
    let requests = model.requests();
    let models: Vec<&str> = requests.iter().map(|request| &*request.model).collect();
    assert_eq!(
        models,
        ["first", "first", "first", "second", "second", "first"]
    );
}

#[tokio::test]
async fn without_another_model_an_overloaded_one_is_asked_ten_times() {
    for fallback in [None, Some("same".to_owned())] {
        let model = failing([Fault::Overloaded; 10]);
        let settings = Settings {
            model: Some("same".into()),
            fallback_model: fallback,
            ..settings(model.url())
        };
        let sent = send_with(client(settings), Diary::default()).await;
        assert!(
            sent.error()
                .ends_with("Overloaded — wait a little and ask again")
        );
        assert_eq!(sent.diary.waits(), ALL_WAITS, "no wait behind the last try");
        let remarks = sent.diary.remarks();
        assert!(remarks[8].starts_with("retrying in 32.0 s (9/10): overloaded; Ctrl-C"));
        assert_eq!(remarks[9], "giving up after 10 tries");
        assert_eq!(model.requests().len(), 10);
        sent.goes_on_with(&model).await;
    }
}

/// Real waits, in time that is paused: the terminal's own, not a diary's. Nobody listens, so there is nothing to wait for
/// but the waits.
#[tokio::test]
async fn a_connection_refused_by_a_model_that_was_there_is_tried_ten_times_in_two_minutes() {
    let model = failing([]);
    let client = client(settings(model.url()));
    let recovery = Recovery::new(client, &Repl::typed("test").quiet());
    let mut history = asking("go");
    recovery.send("", &mut history, &[]).await.unwrap();
    drop(model);
    tokio::time::pause();
    let started = tokio::time::Instant::now();
    let error = recovery.send("", &mut history, &[]).await.unwrap_err();
    assert!(matches!(&error, ApiError::Unreachable { .. }), "{error:?}");
    let least = ALL_WAITS.iter().sum::<f64>();
    let waited = started.elapsed().as_secs_f64();
    assert!((least..=least * 1.25 + 0.1).contains(&waited), "{waited}");
}

#[tokio::test]
async fn where_nobody_was_ever_met_the_first_line_says_what_to_check_and_the_turn_ends_soon() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let sent = send_with(client(settings(&url)), Diary::default()).await;
    let why = format!("no answer from {url}: connection refused");
    let check = format!("{why} — check the network and ANTHROPIC_BASE_URL");
    assert_eq!(sent.error(), check);
    assert_eq!(sent.diary.waits(), ALL_WAITS[..3]);
    let remarks = [
        format!("retrying in 0.5 s (1/4): {check}; Ctrl-C ends the turn"),
        format!("retrying in 1.0 s (2/4): {why}"),
        format!("retrying in 2.0 s (3/4): {why}"),
        "giving up after 4 tries".to_owned(),
    ];
    assert_eq!(sent.diary.remarks(), remarks);
}

#[tokio::test]
async fn a_memory_that_can_be_chosen_without_a_model_does_not_wait_for_a_dead_one() {
    let (model, diary) = (failing([Fault::Internal; 20]), Diary::default());
    let recovery = recovery(&model, &diary);
    let dir = tempfile::tempdir().unwrap();
    let ws = Workspace::at(dir.path()).unwrap();
    let tabs = "---\nname: tabs\ndescription: indent with tabs\ntype: user\n---\nUse tabs.\n";
    kit::write_whole(&ws.state("memory/tabs.md"), tabs.as_bytes()).unwrap();
    let memory = Memory::open(&ws, &recovery, &Repl::typed("test").quiet());
    let mut history = asking("Indent this file with tabs.");
    let note = memory.recall(&history).await.unwrap();
    assert!(note.contains("Use tabs."), "words in common choose: {note}");
    let remarks = diary.remarks();
    assert!(remarks[0].contains("(1/4)"), "{remarks:?}");
    assert_eq!(remarks[3], "memory: giving up after 4 tries");
    // The conversation itself is as patient as ever, and so is a subagent's.
    assert!(recovery.send("", &mut history, &[]).await.is_err());
    assert_eq!(model.requests().len(), 14);
}

#[tokio::test]
async fn a_subagents_requests_are_tried_again_too_and_once_a_level() {
    let (model, diary) = (failing([Fault::Overloaded; 2]), Diary::default());
    let recovery = recovery(&model, &diary);
    let dir = tempfile::tempdir().unwrap();
    let ws = Workspace::at(dir.path()).unwrap();
    let repl = Repl::typed("test").quiet();
    let policy = Policy::open(&ws, repl.clone());
    let (tools, hooks) = (Toolbox::new(), Hooks::new());
    let subagents = Subagents::new(&recovery, &tools, &hooks, &policy, &repl);
    let call = ToolCall::new("toolu_1", "task", json!({"description": "look around"}));
    let output = subagents.tool().call(call).await;
    assert!(output.text.contains(SENTENCE), "{output:?}");
    assert_eq!(model.requests().len(), 3);
    assert_eq!(
        diary.remarks(),
        [
            "task 1: retrying in 0.5 s (1/10): overloaded",
            "task 1: retrying in 1.0 s (2/10): overloaded",
        ]
    );
}

fn answer(head: &str, body: &str) -> String {
    let length = body.len();
    format!("{head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// A server that answers every request with these bytes.
fn server_that_answers(answer: String) -> String {
    use std::io::{Read, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 65_536]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}
