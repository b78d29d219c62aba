//! Faults on request: what arrives, once, and what arrives afterwards.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mock_servers::model::{Fault, MockModel, Options, Rehearsal, Reply, calls, says};
use serde_json::{Value, json};

use crate::client::{asks, hello, post};

fn streamed(mut request: Value) -> Value {
    request["stream"] = json!(true);
    request
}

/// A model with one reply and one fault.
fn faulty(fault: Fault, reply: Reply) -> MockModel {
    MockModel::scripted_with(
        Options {
            faults: vec![fault],
            ..Options::strict()
        },
        [reply],
    )
}

/// A reply of several events.
fn poem() -> Reply {
    says("Roses are red, violets are blue. ".repeat(10))
}

#[test]
fn an_error_comes_once_and_costs_no_reply() {
    let limited = Fault::RateLimited { retry_after: 7 };
    for (fault, status, kind) in [
        (limited, 429, "rate_limit_error"),
        (Fault::Overloaded, 529, "overloaded_error"),
        (Fault::Internal, 500, "api_error"),
        (Fault::TooLong, 400, "invalid_request_error"),
    ] {
        let model = faulty(fault, says("At last."));
        let response = post(&model, &hello());
        assert_eq!(response.status, status);
        assert_eq!(response.json()["error"]["type"], kind);
        assert_eq!(
            response.header("retry-after"),
            (fault == limited).then_some("7")
        );
        assert_eq!(post(&model, &hello()).status, 200);
        assert_eq!(model.requests().len(), 2);
    }
}

#[test]
fn a_prompt_called_too_long_names_its_size() {
    let model = faulty(Fault::TooLong, says("At last."));
    let message = &post(&model, &hello()).json()["error"]["message"];
    assert_eq!(message, "prompt is too long: 2 tokens > 1 maximum");
    post(&model, &hello());
}

#[test]
fn a_dropped_request_gets_no_byte() {
    let model = faulty(Fault::Drop, says("At last."));
    assert_eq!(post(&model, &hello()).status, 0);
    assert_eq!(post(&model, &hello()).status, 200);
}

#[test]
fn a_broken_answer_begins_and_does_not_end_and_the_next_is_whole() {
    for request in [hello(), streamed(hello())] {
        let model = faulty(Fault::DropStream, poem());
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
        let model = faulty(Fault::Stall, poem());
        let address = model
            .url()
            .strip_prefix("http://")
            .expect("an http address");
        let mut stream = TcpStream::connect(address).expect("the mock model listens");
        let body = request.to_string();
        let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nanthropic-version: 2023-06-01";
        let length = body.len();
        write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").expect("it is sent");
        let mut seen = Vec::new();
        let mut buffer = [0; 4096];
        // Silence cannot be waited for, only be long: this is the one test that lets real time pass.
        stream
            .set_read_timeout(Some(Duration::from_millis(100)))
            .expect("a timeout");
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
        assert!(
            seen.contains("Rose") && !seen.contains("message_stop"),
            "{seen}"
        );
        assert_eq!(post(&model, &request).status, 200);
    }
}

#[test]
fn a_malformed_stream_has_a_line_that_is_not_json() {
    let model = faulty(Fault::Malformed, poem());
    let broken = post(&model, &streamed(hello()));
    let data = broken
        .text()
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let wrong = data
        .filter(|data| serde_json::from_str::<Value>(data).is_err())
        .count();
    assert_eq!(wrong, 1);
    assert!(broken.complete);
    post(&model, &hello());
}

#[test]
fn an_error_event_ends_the_stream() {
    let model = faulty(Fault::ErrorEvent, poem());
    let events = post(&model, &streamed(hello())).events();
    let (name, data) = events.last().expect("an event");
    assert_eq!(
        (name.as_str(), &data["error"]["type"]),
        ("error", &json!("overloaded_error"))
    );
    assert_eq!(events[0].0, "message_start");
    post(&model, &hello());
}

#[test]
fn a_cut_call_waits_for_a_call() {
    let write = calls(
        "write",
        json!({"append": true, "content": "all of it, word for word"}),
    );
    let options = Options {
        faults: vec![Fault::CutCall],
        ..Options::strict()
    };
    let model = MockModel::scripted_with(options, [says("Not yet."), write.clone(), write]);
    assert_eq!(post(&model, &hello()).json()["stop_reason"], "end_turn");
    let cut = post(&model, &hello()).json();
    assert_eq!(
        (&cut["stop_reason"], &cut["content"][0]["input"]),
        (&json!("max_tokens"), &json!({"append": true}))
    );
    assert_eq!(post(&model, &hello()).json()["stop_reason"], "tool_use");
}

#[test]
fn a_fault_that_finds_nothing_to_spoil_holds_up_no_other() {
    let options = Options {
        faults: vec![Fault::StringArguments, Fault::Internal],
        ..Options::strict()
    };
    let model = MockModel::scripted_with(options, [says("Nothing to spoil.")]);
    assert_eq!(post(&model, &hello()).status, 200);
    assert_eq!(post(&model, &hello()).status, 500);
}

#[test]
fn a_repeated_id_is_that_of_the_last_call() {
    let ls = || calls("ls", json!({}));
    let model = faulty(Fault::RepeatedIds, ls());
    model.script_for("", [ls()]);
    let first = post(&model, &hello()).json()["content"][0].clone();
    let mut request = hello();
    request["messages"] = json!([
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": [first]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": first["id"], "content": "a.txt"}]},
    ]);
    assert_eq!(
        post(&model, &request).json()["content"][0]["id"],
        first["id"]
    );
}

#[test]
fn string_arguments_are_strings() {
    let reply = calls(
        "read",
        json!({"path": "a", "limit": 20, "all": true, "lines": [1]}),
    );
    let model = faulty(Fault::StringArguments, reply);
    let input = &post(&model, &hello()).json()["content"][0]["input"];
    assert_eq!(
        *input,
        json!({"path": "a", "limit": "20", "all": "true", "lines": "[1]"})
    );
}

#[test]
fn faults_are_armed_through_the_handle_and_by_a_message() {
    let options = Options::strict();
    let model = MockModel::start(options, Rehearsal).expect("a free port");
    model.fault(Fault::Overloaded, 1);
    assert_eq!(post(&model, &hello()).status, 529);
    let armed = post(&model, &asks("/fault 500 2")).json();
    assert_eq!(
        armed["content"][0]["text"],
        "Armed. The next 2 requests get a 500."
    );
    assert_eq!(
        [(); 3].map(|()| post(&model, &hello()).status),
        [500, 500, 200]
    );
    assert_eq!(
        model.fault_command("/fault 529"),
        "Armed. The next request gets a 529, overloaded."
    );
    assert_eq!(post(&model, &hello()).status, 529);
    let wrong = post(&model, &asks("/fault 501")).json()["content"][0]["text"].to_string();
    assert!(
        wrong.contains("there is no fault `501`") && wrong.contains("drop_stream"),
        "{wrong}"
    );
}

#[test]
fn a_refused_request_does_not_use_up_a_fault() {
    let model = faulty(Fault::Overloaded, says("At last."));
    assert_eq!(post(&model, &json!({})).status, 400);
    assert_eq!(post(&model, &hello()).status, 529);
    assert_eq!(post(&model, &hello()).status, 200);
    model.refusals();
}
