//! Failures: what is tried again, how often, after which waits, and what ends the turn at once.

use std::net::TcpListener;
use std::sync::Arc;

use mock_servers::model::{Fault, MockModel, Options, Request, says};
use s01_loop::{
    ApiError, Credentials, Event, Observer, Repl, Settings, SharedObserver, System, Unobserved,
};
use s06_subagent::Model;
use s11_recovery::{MAX_TRIES, Recovery};
use tokio::sync::Notify;

use crate::{Diary, SENTENCE, asking, client, send, send_with, settings, talkative, tools};

const LIMITED: Fault = Fault::RateLimited { retry_after: 7 };
/// The waits between ten tries, in milliseconds, when chance adds nothing.
const ALL_WAITS: [u128; 9] = [
    500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000,
];

#[tokio::test]
async fn a_429_is_tried_again_when_the_server_says() {
    let model = talkative([LIMITED, LIMITED]);
    let sent = send(&model).await;
    assert_eq!(sent.text(), SENTENCE);
    let remarks = [
        "retrying in 7.0 s (1/10): rate limited; Ctrl-C ends the turn",
        "retrying in 7.0 s (2/10): rate limited; Ctrl-C ends the turn",
    ];
    sent.took(&model, 3, &[7_000, 7_000], &remarks);
    sent.goes_on_with(&model).await;
}

#[tokio::test]
async fn a_429_that_asks_for_nothing_is_waited_for_as_any_other_failure() {
    let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}"#;
    let url = server_that_answers(status("429 Too Many Requests", body));
    let sent = send_with(client(settings(&url))).await;
    assert_eq!(sent.diary.waits(), ALL_WAITS);
    assert!(
        sent.error().contains("429 (rate_limit_error): Slow down"),
        "{}",
        sent.error()
    );
    sent.goes_on_with(&talkative([])).await;
}

#[tokio::test]
async fn a_wait_that_nobody_would_sit_through_ends_the_turn_at_once() {
    let model = talkative([Fault::RateLimited { retry_after: 3_600 }]);
    let sent = send(&model).await;
    assert!(sent.error().contains("429"), "{}", sent.error());
    sent.took(
        &model,
        1,
        &[],
        &["giving up: the server asks for a wait of 3600 s"],
    );
    sent.goes_on_with(&model).await;
}

#[tokio::test]
async fn an_overloaded_model_is_left_for_the_other_one_after_three_times() {
    let model = talkative([Fault::Overloaded; 4]);
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
    assert_eq!(diary.waits(), [500, 1_000, 500]);
    assert_eq!(
        diary.remarks(),
        [
            "retrying in 0.5 s (1/10): overloaded",
            "retrying in 1.0 s (2/10): overloaded",
            "overloaded 3 times in a row: asking `second` for this reply",
            "retrying in 0.5 s (4/10): overloaded",
        ]
    );
    assert_eq!(
        models(&model),
        ["first", "first", "first", "second", "second"]
    );
    // It was for this request: the next one goes to the first model.
    recovery.send("", history, &tools()).await.unwrap();
    assert_eq!(model.last_request().model, "first");
}

#[tokio::test]
async fn without_another_model_an_overloaded_one_is_asked_ten_times() {
    for fallback in [None, Some("same".to_owned())] {
        let model = talkative([Fault::Overloaded; 10]);
        let settings = Settings {
            model: Some("same".into()),
            fallback_model: fallback,
            ..settings(model.url())
        };
        let sent = send_with(client(settings)).await;
        assert_eq!(
            sent.error(),
            "the model's API answered 529 (overloaded_error): Overloaded — wait a little and ask again"
        );
        assert_eq!(sent.diary.waits(), ALL_WAITS, "no wait behind the last try");
        assert_eq!(
            sent.diary.remarks()[8],
            "retrying in 32.0 s (9/10): overloaded; Ctrl-C ends the turn"
        );
        assert_eq!(sent.diary.remarks()[9], "giving up after 10 tries");
        assert_eq!(model.requests().len(), MAX_TRIES as usize);
        sent.goes_on_with(&model).await;
    }
}

#[tokio::test]
async fn three_overloads_that_are_not_in_a_row_leave_the_model_as_it_is() {
    let (busy, broken) = (Fault::Overloaded, Fault::Internal);
    let model = talkative([busy, busy, broken, busy]);
    let settings = Settings {
        fallback_model: Some("second".into()),
        ..settings(model.url())
    };
    let sent = send_with(client(settings)).await;
    assert_eq!(sent.text(), SENTENCE);
    assert!(!models(&model).contains(&"second".to_owned()));
}

#[tokio::test]
async fn what_passes_is_tried_again_and_the_reply_is_as_if_nothing_had_been() {
    for (fault, remark) in [
        (Fault::Internal, "500 Internal server error"),
        (Fault::Drop, "no answer from http://127.0.0.1:"),
        (
            Fault::DropStream,
            "the connection closed…; the reply begins again",
        ),
        (
            Fault::Malformed,
            "an event cannot be read …; the reply begins again",
        ),
        (Fault::ErrorEvent, "overloaded; the reply begins again"),
    ] {
        let model = talkative([fault, fault]);
        let sent = send(&model).await;
        assert_eq!(sent.text(), SENTENCE, "{fault:?}");
        assert_eq!(sent.diary.waits(), [500, 1_000], "{fault:?}");
        assert_eq!(model.requests().len(), 3, "{fault:?}");
        for (number, said) in (1..).zip(sent.diary.remarks()) {
            let (begin, end) = remark.split_once('…').unwrap_or((remark, ""));
            let seconds = ["0.5", "1.0"][number - 1];
            let begin = format!("retrying in {seconds} s ({number}/10): {begin}");
            assert!(
                said.starts_with(&begin) && said.ends_with(end),
                "{fault:?}: {said}"
            );
        }
        sent.goes_on_with(&model).await;
    }
}

#[tokio::test]
async fn an_answer_ends_the_count_of_failures() {
    let model = talkative([Fault::Internal; 9]);
    let sent = send(&model).await;
    assert_eq!(
        (sent.text().as_str(), sent.diary.waits().len()),
        (SENTENCE, 9)
    );
    model.fault(Fault::Internal, 1);
    assert_eq!(send(&model).await.diary.waits(), [500]);
}

/// Real waits, in time that is paused: the terminal's own, not a diary's. Nobody listens, so there is nothing to wait for
/// but the waits.
#[tokio::test]
async fn a_connection_refused_by_a_model_that_was_there_is_tried_ten_times_in_two_minutes() {
    let model = talkative([]);
    let client = client(settings(model.url()));
    let recovery = Recovery::new(client, &Repl::typed("test").quiet());
    let mut history = asking("go");
    recovery.send("", &mut history, &[]).await.unwrap();
    drop(model);
    tokio::time::pause();
    let started = tokio::time::Instant::now();
    let error = recovery.send("", &mut history, &[]).await.unwrap_err();
    assert!(matches!(&error, ApiError::Unreachable { .. }), "{error:?}");
    let least = ALL_WAITS.iter().sum::<u128>();
    let waited = started.elapsed().as_millis();
    assert!((least..=least * 5 / 4 + 100).contains(&waited), "{waited}");
}

#[tokio::test]
async fn where_nobody_was_ever_met_the_first_line_says_what_to_check_and_the_turn_ends_soon() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let sent = send_with(client(settings(&url))).await;
    assert_eq!(
        sent.error(),
        format!(
            "no answer from {url}: connection refused — check the network and ANTHROPIC_BASE_URL"
        )
    );
    assert_eq!(sent.diary.waits(), ALL_WAITS[..3]);
    assert_eq!(
        sent.diary.remarks(),
        [
            &format!(
                "retrying in 0.5 s (1/4): no answer from {url}: connection refused — check the network and ANTHROPIC_BASE_URL; Ctrl-C ends the turn"
            ),
            &format!("retrying in 1.0 s (2/4): no answer from {url}: connection refused"),
            &format!("retrying in 2.0 s (3/4): no answer from {url}: connection refused"),
            "giving up after 4 tries",
        ]
    );
}

/// Tells when text arrives.
struct Bell(Arc<Notify>);

impl Observer for Bell {
    fn see(&self, event: Event<'_>) {
        if let Event::Text(_) = event {
            self.0.notify_one();
        }
    }
}

#[tokio::test]
async fn a_stream_that_stands_still_is_tried_again() {
    let model = talkative([Fault::Stall]);
    let bell = Arc::new(Notify::new());
    let client = client(settings(model.url())).watched_by(Arc::new(Bell(bell.clone())));
    let mut sending = tokio::spawn(send_with(client));
    tokio::select! {
        () = bell.notified() => {}
        _ = &mut sending => panic!("the request ended before any text had arrived"),
    }
    // Only the silence is cut short; the rest of the test has real time and real sockets.
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(301)).await;
    tokio::time::resume();
    let sent = sending.await.unwrap();
    assert_eq!(sent.text(), SENTENCE);
    let remark = "retrying in 0.5 s (1/10): operation timed out; the reply begins again";
    sent.took(&model, 2, &[500], &[remark]);
    sent.goes_on_with(&model).await;
}

#[tokio::test]
async fn what_comes_again_however_often_one_asks_ends_the_turn_with_the_servers_words() {
    for (line, kind, advice) in [
        (
            "400 Bad Request",
            "invalid_request_error",
            "if it comes again, start a new session",
        ),
        (
            "401 Unauthorized",
            "authentication_error",
            "check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN",
        ),
        (
            "403 Forbidden",
            "permission_error",
            "check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN",
        ),
        (
            "404 Not Found",
            "not_found_error",
            "check MODEL_ID and ANTHROPIC_BASE_URL",
        ),
        (
            "413 Too Large",
            "request_too_large",
            "start a new session and ask for less at once",
        ),
    ] {
        // The number in the text is no status.
        let message = "no, says the server (529)";
        let body =
            format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#);
        let sent = send_with(client(settings(&server_that_answers(status(line, &body))))).await;
        let number = &line[..3];
        assert_eq!(
            sent.error(),
            format!("the model's API answered {number} ({kind}): {message} — {advice}")
        );
        assert!(
            sent.diary.waits().is_empty() && sent.diary.remarks().is_empty(),
            "{line}"
        );
        sent.goes_on_with(&talkative([])).await;
    }
}

#[tokio::test]
async fn a_page_from_somebody_else_is_not_asked_for_ten_times() {
    let page = answer("HTTP/1.1 200 OK\r\ncontent-type: text/html", "<html>");
    let sent = send_with(client(settings(&server_that_answers(page)))).await;
    assert!(
        sent.error().ends_with("check ANTHROPIC_BASE_URL"),
        "{}",
        sent.error()
    );
    assert!(sent.diary.waits().is_empty());
}

#[tokio::test]
async fn a_missing_key_is_asked_for_once() {
    let options = Options {
        require_key: true,
        ..Options::strict()
    };
    let model = MockModel::start(options, |_: &Request| says("Hi.")).unwrap();
    let settings = Settings {
        credentials: Credentials::None,
        ..settings(model.url())
    };
    let sent = send_with(client(settings)).await;
    assert!(
        sent.error().contains("401 (authentication_error)"),
        "{}",
        sent.error()
    );
    assert!(sent.diary.remarks().is_empty());
    sent.goes_on_with(&model).await;
}

#[tokio::test]
async fn an_error_inside_a_stream_is_told_by_its_type() {
    for (kind, is_tried_again) in [
        ("api_error", true),
        ("timeout_error", true),
        ("some_new_error", true),
        ("invalid_request_error", false),
        ("billing_error", false),
    ] {
        let event = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"sorry"}}}}"#);
        let body = format!("event: error\ndata: {event}\n\n");
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream";
        let url = server_that_answers(answer(head, &body));
        let sent = send_with(client(settings(&url))).await;
        assert!(sent.error().contains(kind), "{}", sent.error());
        let waits = if is_tried_again { ALL_WAITS.len() } else { 0 };
        assert_eq!(sent.diary.waits().len(), waits, "{kind}");
    }
}

#[tokio::test]
async fn a_retry_says_whose_it_is_when_it_is_not_the_conversations() {
    let repl = Repl::typed("test").quiet();
    for (watcher, name) in [
        (repl.named("task 1").watcher(), "task 1"),
        (Arc::new(Unobserved) as SharedObserver, "side call"),
    ] {
        let model = talkative([Fault::Overloaded]);
        let diary = Diary::default();
        let recovery = Recovery::with_clock(client(settings(model.url())), diary.clone());
        let aside = recovery.watched_by(watcher);
        let system = System::from("");
        aside.send(&system, &mut asking("go"), &[]).await.unwrap();
        let remark = format!("{name}: retrying in 0.5 s (1/10): overloaded");
        assert_eq!(diary.remarks(), [remark]);
    }
}

/// The ids of the models that were asked.
fn models(model: &MockModel) -> Vec<String> {
    let requests = model.requests();
    requests
        .iter()
        .map(|request| request.model.clone())
        .collect()
}

fn status(line: &str, body: &str) -> String {
    answer(&format!("HTTP/1.1 {line}"), body)
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
