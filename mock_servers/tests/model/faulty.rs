//! Faults on request: what arrives, once, and what arrives afterwards.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mock_servers::model::{Fault, MockModel, Options, Rehearsal, Reply, calls, says};
use serde_json::{Value, json};

use crate::client::{asks, hello, post, streamed};

/// A model with these faults and replies.
fn faulty<const N: usize>(faults: &[Fault], replies: [Reply; N]) -> MockModel {
    let options = Options {
        faults: faults.to_vec(),
        ..Options::strict()
    };
    MockModel::scripted_with(options, replies)
}

/// A reply of several events.
fn poem() -> Reply {
    says("Roses are red, violets are blue. ".repeat(10))
}

#[test]
fn an_error_comes_once_and_costs_no_reply() {
    let limited = Fault::RateLimited { retry_after: 7 };
    for (fault, status, kind, wait) in [
        (limited, 429, "rate_limit_error", Some("7")),
        (Fault::Overloaded, 529, "overloaded_error", None),
        (Fault::Internal, 500, "api_error", None),
        (Fault::TooLong, 400, "invalid_request_error", None),
    ] {
        let model = faulty(&[fault], [says("At last.")]);
        // A request that breaks a rule is refused for that and uses up no fault.
        assert_eq!(post(&model, &json!({})).status, 400);
        let response = post(&model, &hello());
        let error = &response.json()["error"];
        assert_eq!((response.status, &error["type"]), (status, &json!(kind)));
        assert_eq!(response.header("retry-after"), wait);
        if fault == Fault::TooLong {
            assert_eq!(error["message"], "prompt is too long: 2 tokens > 1 maximum");
        }
        assert_eq!(post(&model, &hello()).status, 200);
        assert_eq!((model.requests().len(), model.refusals().len()), (2, 1));
    }
}

#[test]
fn a_dropped_request_gets_no_byte() {
    let model = faulty(&[Fault::Drop], [says("At last.")]);
    assert_eq!(post(&model, &hello()).status, 0);
    assert_eq!(post(&model, &hello()).status, 200);
}

#[test]
fn a_broken_answer_begins_and_does_not_end_and_the_next_is_whole() {
    for request in [hello(), streamed(hello())] {
        let model = faulty(&[Fault::DropStream], [poem()]);
        let broken = post(&model, &request);
        assert_eq!(broken.status, 200);
        assert!(!broken.complete && !broken.body.is_empty(), "{broken:?}");
        assert!(!broken.text().contains("message_stop"));
        assert!(post(&model, &request).complete);
    }
}

#[test]
fn a_stalled_answer_begins_and_stays_open() {
    for request in [hello(), streamed(hello())] {
        let model = faulty(&[Fault::Stall], [poem()]);
        let address = model.url().trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("the mock model listens");
        let body = request.to_string();
        let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nanthropic-version: 2023-06-01";
        let length = body.len();
        write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").expect("it is sent");
        let mut seen = Vec::new();
        let mut buffer = [0; 4096];
        // Silence cannot be waited for, only be long: this is the one test that lets real time pass.
        let silence = Some(Duration::from_millis(100));
        stream.set_read_timeout(silence).expect("a timeout");
        let end = loop {
            match stream.read(&mut buffer) {
                Ok(0) => panic!("closed after {}", String::from_utf8_lossy(&seen)),
                Ok(length) => seen.extend_from_slice(&buffer[..length]),
                Err(error) if seen.is_empty() && error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => break error.kind(),
            }
        };
        assert_eq!(end, ErrorKind::WouldBlock);
        let seen = String::from_utf8_lossy(&seen);
        let begun = seen.contains("Rose") && !seen.contains("message_stop");
        assert!(begun, "{seen}");
        assert_eq!(post(&model, &request).status, 200);
    }
}

#[test]
fn a_stream_has_a_line_that_is_not_json_or_ends_with_an_error() {
    let model = faulty(&[Fault::Malformed, Fault::ErrorEvent], [poem()]);
    let broken = post(&model, &streamed(hello()));
    let lines = broken.text().lines();
    let data = lines.filter_map(|line| line.strip_prefix("data: "));
    let wrong = data.filter(|data| serde_json::from_str::<Value>(data).is_err());
    assert_eq!((wrong.count(), broken.complete), (1, true));
    let events = post(&model, &streamed(hello())).events();
    let (name, data) = events.last().expect("an event");
    assert_eq!(events[0].0, "message_start");
    assert_eq!((name.as_str(), &data["error"]["type"]), ("error", &json!("overloaded_error")));
    post(&model, &hello());
}

#[test]
fn a_cut_call_waits_for_a_call_and_holds_up_no_other_fault() {
    let write = || calls("write", json!({"append": true, "content": "all of it, word for word"}));
    let faults = [Fault::CutCall, Fault::Internal];
    let model = faulty(&faults, [says("Not yet."), write(), write()]);
    assert_eq!(post(&model, &hello()).json()["stop_reason"], "end_turn");
    assert_eq!(post(&model, &hello()).status, 500);
    let cut = post(&model, &hello()).json();
    assert_eq!(cut["stop_reason"], "max_tokens");
    assert_eq!(cut["content"][0]["input"], json!({"append": true}));
    assert_eq!(post(&model, &hello()).json()["stop_reason"], "tool_use");
}

#[test]
fn a_repeated_id_is_that_of_the_last_call_and_string_arguments_are_strings() {
    let ls = || calls("ls", json!({}));
    let model = faulty(&[Fault::RepeatedIds], [ls(), ls()]);
    let first = post(&model, &hello()).json()["content"][0].clone();
    let result = json!({"type": "tool_result", "tool_use_id": first["id"], "content": "a.txt"});
    let mut request = hello();
    request["messages"] = json!([
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": [first]},
        {"role": "user", "content": [result]},
    ]);
    let repeated = post(&model, &request).json();
    assert_eq!(repeated["content"][0]["id"], first["id"]);

    let input = json!({"path": "a", "limit": 20, "all": true, "lines": [1]});
    let model = faulty(&[Fault::StringArguments], [calls("read", input)]);
    let strings = json!({"path": "a", "limit": "20", "all": "true", "lines": "[1]"});
    let spoilt = post(&model, &hello()).json();
    assert_eq!(spoilt["content"][0]["input"], strings);
}

#[test]
fn faults_are_armed_through_the_handle_and_by_a_message() {
    let model = MockModel::start(Options::strict(), Rehearsal).expect("a free port");
    let statuses = |count| (0..count).map(|_| post(&model, &hello()).status).collect::<Vec<_>>();
    let said = |line| post(&model, &asks(line)).json()["content"][0]["text"].to_string();
    model.fault(Fault::Overloaded, 1);
    assert_eq!(statuses(2), [529, 200]);
    assert_eq!(said("/fault 500 2"), "\"Armed. The next 2 requests get a 500.\"");
    assert_eq!(statuses(3), [500, 500, 200]);
    let wrong = said("/fault 501");
    let listed = wrong.contains("there is no fault `501`") && wrong.contains("drop_stream");
    assert!(listed, "{wrong}");
}
