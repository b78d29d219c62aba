//! Failures: what is tried again, how often, after which waits, and what ends the turn at once.

use std::net::TcpListener;

use mock_servers::model::Fault;
use s01_loop::{Repl, Settings, ToolCall};
use s02_tools::{Toolbox, Workspace};
use s03_permission::Policy;
use s04_hooks::Hooks;
use s06_subagent::Subagents;
use s09_memory::Memory;
use s11_recovery::Recovery;
use serde_json::json;

use super::{send, send_with, tools};
use crate::diary::{Diary, SENTENCE, asking, client, failing, recovery, settings};

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
        let waits = if fault == LIMITED { [7.0, 7.0] } else { [0.5, 1.0] };
        assert_eq!(sent.diary.waits(), waits, "{fault:?}");
        assert_eq!(model.requests().len(), 3, "{fault:?}");
        for (number, said) in (1..).zip(sent.diary.remarks()) {
            let seconds = waits[number - 1];
            let begin = format!("retrying in {seconds:.1} s ({number}/10): {begin}");
            assert!(said.starts_with(&begin) && said.ends_with(end), "{fault:?}: {said}");
        }
        sent.goes_on_with(&model).await;
    }
}

#[tokio::test]
async fn an_error_is_told_by_its_status_and_type_and_one_that_comes_again_ends_the_turn() {
    const KEY: &str = "check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN";
    // Without a status the error comes in the stream.
    for (status, kind, is_tried_again, shown) in [
        ("400 Bad", "invalid_request_error", false, "no (529) — if"),
        ("401 Who", "authentication_error", false, KEY),
        ("403 No", "permission_error", false, KEY),
        ("404 None", "not_found_error", false, "check MODEL_ID and"),
        ("413 Large", "request_too_large", false, "ask for less"),
        ("429 Wait", "rate_limit_error", true, "429 (rate_limit_error)"),
        ("", "invalid_request_error", false, "invalid_request_error"),
        ("", "billing_error", false, "billing_error"),
        ("", "api_error", true, "api_error"),
        ("", "timeout_error", true, "timeout_error"),
        ("", "some_new_error", true, "some_new_error"),
        ("", "a page", false, "check ANTHROPIC_BASE_URL"),
    ] {
        // The number in the text is no status.
        let error = json!({"type": "error", "error": {"type": kind, "message": "no (529)"}});
        let answer = match (status, kind) {
            ("", "a page") => answer("200 OK\r\ncontent-type: text/html", "<html>"),
            ("", _) => answer(
                "200 OK\r\ncontent-type: text/event-stream",
                &format!("event: error\ndata: {error}\n\n"),
            ),
            _ => answer(status, &error.to_string()),
        };
        let client = client(settings(&server_that_answers(answer)));
        let sent = send_with(client, Diary::default()).await;
        assert!(sent.error().contains(shown), "{shown}: {}", sent.error());
        let waits = if is_tried_again { &ALL_WAITS[..] } else { &[] };
        assert_eq!(sent.diary.waits(), waits, "{shown}");
        let last = sent.diary.remarks().pop();
        let gave_up = last.as_deref() == Some("giving up after 10 tries");
        assert_eq!(gave_up, is_tried_again, "{last:?}");
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
    assert_eq!(models, ["first", "first", "first", "second", "second", "first"]);
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
    format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
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
