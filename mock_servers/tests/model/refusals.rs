//! Every rule of the Messages API that the mock enforces: `refusals.txt` has one row a request.
//!
//! Invariant: a refusal has the status, the error type and the message of the API, and an id that its header repeats.

use mock_servers::model::{MockModel, Options, Request, says};
use serde_json::{Value, json};

use crate::client::{Response, asks, hello, post, post_beta, post_bytes, send};

const ROWS: &str = include_str!("refusals.txt");

/// What a row sends, in the words that the table explains at its top.
fn request(what: &str) -> Value {
    let mut request = hello();
    let parsed = |json: &str| -> Value {
        let json = json
            .replace("A129", &"a".repeat(129))
            .replace("A65", &"a".repeat(65))
            .replace("[U, ", &format!("[{}, ", message("u")))
            .replace(", C, ", &format!(", {}, ", message("a:c1")))
            .replace(
                "MARK",
                r#"{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}"#,
            );
        serde_json::from_str(&json).unwrap_or_else(|error| panic!("{what}: {error}"))
    };
    match what.split_once(' ') {
        Some(("tool", tool)) => request["tools"] = json!([parsed(tool)]),
        Some(("schema", schema)) => {
            request["tools"] = json!([{"name": "read", "input_schema": parsed(schema)}]);
        }
        Some(("block", block)) => {
            request["messages"] = json!([{"role": "user", "content": [parsed(block)]}]);
        }
        Some(("call", fields)) => {
            let mut messages = ["u", "a:c1", "u:r1"].map(message);
            let call = &mut messages[1]["content"][0];
            for (name, value) in parsed(fields).as_object().expect(what) {
                call[name] = value.clone();
            }
            request["messages"] = json!(messages);
        }
        _ if what.starts_with('{') => {
            for (name, value) in parsed(what).as_object().expect(what) {
                request[name] = value.clone();
            }
        }
        _ => match what.strip_prefix('-') {
            Some(name) => drop(request.as_object_mut().expect("an object").remove(name)),
            None => request["messages"] = what.split(' ').map(message).collect(),
        },
    }
    request
}

/// A message by its letters.
fn message(word: &str) -> Value {
    let (role, blocks) = word.split_once(':').unwrap_or((word, ""));
    let block = |letters: &str| match letters.split_at(1) {
        ("t", _) => json!({"type": "text", "text": "a"}),
        ("e", _) => json!({"type": "text", "text": ""}),
        ("w", _) => json!({"type": "web_search_tool_result", "content": []}),
        ("c", n) => {
            json!({"type": "tool_use", "id": format!("toolu_{n}"), "name": "ls", "input": {}})
        }
        (_, n) => {
            json!({"type": "tool_result", "tool_use_id": format!("toolu_{n}"), "content": "done"})
        }
    };
    let content = match blocks {
        "" => json!("Hi."),
        blocks => blocks.split(',').map(block).collect(),
    };
    match role {
        "u" => json!({"role": "user", "content": content}),
        "a" => json!({"role": "assistant", "content": content}),
        "s" => json!({"role": "system", "content": "Be brief."}),
        "d" => json!({"role": "system", "content": [], "output_config": {"effort": "low"}}),
        _ => panic!("{word} is no message"),
    }
}

/// What is wrong with the answer; `None` when it is as the row says.
fn wrong(model: &MockModel, betas: &str, what: &str, refusal: Option<&str>) -> Option<String> {
    let response = post_beta(model, betas, &request(what));
    let body = response.json();
    let found = body["error"]["message"].as_str().unwrap_or_default();
    let is_right = match refusal {
        None => response.status == 200,
        Some(refusal) => {
            let (start, end) = refusal.split_once('…').unwrap_or((refusal, ""));
            let is_whole = refusal.contains('…') || found == refusal;
            let fits = found.starts_with(start) && found.ends_with(end) && is_whole;
            fits && is_error(&response, 400, "invalid_request_error")
        }
    };
    let row = format!("[{betas}] {what}");
    (!is_right).then(|| format!("{row}\n  {} {found}", response.status))
}

fn is_error(response: &Response, status: u16, kind: &str) -> bool {
    let body = response.json();
    let id = body["request_id"].as_str().unwrap_or_default();
    let shape = (&body["type"], &body["error"]["type"]) == (&json!("error"), &json!(kind));
    response.status == status
        && shape
        && id.starts_with("req_")
        && response.header("request-id") == Some(id)
}

#[test]
fn every_row_of_the_table() {
    let model = MockModel::start(Options::default(), |_: &Request| says("Fine."));
    let model = model.expect("a free port");
    let rows = ROWS.lines().filter(|row| !row.is_empty() && !row.starts_with('#'));
    let mut found = Vec::new();
    for row in rows.clone() {
        let (betas, row) = match row.strip_prefix('[') {
            Some(row) => row.split_once("] ").expect("betas end with a bracket"),
            None => ("", row),
        };
        let (what, refusal) = match row.split_once(" -> ") {
            Some((what, refusal)) => (what, Some(refusal)),
            None => (row, None),
        };
        let mut check = |betas: &str, refusal| found.extend(wrong(&model, betas, what, refusal));
        match betas.strip_prefix("? ") {
            None => check(betas, refusal),
            Some(beta) => {
                const OTHER: &str = "files-api-2025-04-14";
                check("", refusal);
                check(OTHER, refusal);
                check(beta, None);
                check(&format!("{OTHER}, {beta}"), None);
            }
        }
    }
    assert!(rows.count() > 180 && found.is_empty(), "{}", found.join("\n"));
}

/// What the tool runners of the official SDKs ask for first; at this code they go on without a thread.
#[test]
fn a_thread_is_refused_with_the_code_that_clients_know() {
    let model = MockModel::scripted([]);
    let continued = json!({"type": "continue", "previous_message_id": "msg_1"});
    // The second sends only the new turn along: the place of what is wrong with it would say nothing.
    for (thread, messages) in
        [(json!({"type": "create"}), json!([message("u")])), (continued, json!([]))]
    {
        let mut request = hello();
        (request["thread"], request["messages"]) = (thread, messages);
        let refused = post_beta(&model, "message-threads-2026-08-12", &request);
        assert!(is_error(&refused, 400, "invalid_request_error"));
        let error = &refused.json()["error"];
        let message = "thread: message threads are not kept here. Send the full conversation without `thread`.";
        assert_eq!(error["message"], message);
        assert_eq!(error["details"], json!({"error_code": "thread_unsupported_request"}));
    }
    model.refusals();
}

#[test]
fn a_body_is_json_of_at_most_32_megabytes() {
    let model = MockModel::scripted([]);
    let rows: [(&[u8], &str); 6] = [
        (b"", "EOF while parsing a value at line 1 column 0"),
        (b"[]", "expected one object, nested less than 128 levels deep"),
        (b"{\"model\": \"m\",}", "key must be a string at line 1 column 15"),
        (b"{\"messages\": [nope]}", "expected ident at line 1 column 16"),
        (b"{\"model\": \"m\"} x", "trailing characters at line 1 column 16"),
        (b"{\"model\": \"\xff\"}", "invalid utf-8 sequence of 1 bytes from index 11"),
    ];
    for (body, reason) in rows {
        let response = post_bytes(&model, "/v1/messages", body);
        assert!(is_error(&response, 400, "invalid_request_error"));
        let message = format!("The request body is not valid JSON: {reason}");
        assert_eq!(response.json()["error"]["message"], message);
    }
    let large = post_bytes(&model, "/v1/messages", &vec![b' '; 32 * 1024 * 1024 + 1]);
    assert!(is_error(&large, 413, "request_too_large"), "{large:?}");
    model.refusals();
}

#[test]
fn a_prompt_longer_than_the_window_is_refused() {
    let options = Options {
        context_tokens: 10,
        ..Options::strict()
    };
    let model = MockModel::scripted_with(options, [says("Fine.")]);
    let refused = post(&model, &asks(&"a".repeat(41)));
    assert!(is_error(&refused, 400, "invalid_request_error"));
    let message = "prompt is too long: 11 tokens > 10 maximum";
    assert_eq!(refused.json()["error"]["message"], message);
    assert_eq!(post(&model, &asks(&"a".repeat(40))).status, 200);
    model.refusals();
}

#[test]
fn headers_and_routes_are_those_of_the_api() {
    let options = Options {
        require_key: true,
        ..Options::strict()
    };
    let model = MockModel::scripted_with(options, []);
    let (version, key) = (("anthropic-version", "2023-06-01"), ("x-api-key", "abc"));
    let refused = |headers: &[(&str, &str)], row: &str| {
        let [method, path, status, kind, message] = row.splitn(5, ' ').collect::<Vec<_>>()[..]
        else {
            panic!("{row}");
        };
        let response = send(&model, method, path, headers, b"{}");
        let status = status.parse().expect(row);
        assert!(is_error(&response, status, kind), "{row}: {response:?}");
        assert_eq!(response.json()["error"]["message"], message, "{row}");
    };
    let no_key = "401 authentication_error x-api-key header is required";
    refused(&[version], &format!("POST /v1/messages {no_key}"));
    refused(&[version, ("x-api-key", " ")], &format!("GET /v1/models {no_key}"));
    refused(
        &[key],
        "POST /v1/messages 400 invalid_request_error anthropic-version: header is required",
    );
    for row in [
        "POST /v1/chat 404 not_found_error Not found",
        "GET /v1/models/gpt 404 not_found_error model: gpt",
        "GET /v1/messages 405 invalid_request_error Method Not Allowed",
    ] {
        refused(&[version, key], row);
    }
    let bearer = ("authorization", "Bearer abc");
    let listed = send(&model, "GET", "/v1/models", &[version, bearer], b"");
    assert_eq!(listed.status, 200);
}

#[test]
fn a_page_of_another_machine_reaches_nothing() {
    let model = MockModel::scripted([]);
    let others = [
        "host evil.example:8080",
        "host localhost.evil.example",
        "host localhost@evil.example",
        "host 127.0.0.1.evil.example",
        "origin https://evil.example",
        "origin http://localhost.evil.example",
        "origin null",
    ];
    let own = [
        "host LOCALHOST:1",
        "host 127.0.0.1:9",
        "host [::1]:9",
        "origin http://localhost:3000",
        "origin https://127.0.0.1",
        "origin http://[::1]",
    ];
    let ask = |header: &str| {
        let header = header.split_once(' ').expect("a value");
        send(&model, "GET", "/", &[header], b"")
    };
    for header in others {
        let refused = ask(header);
        assert!(is_error(&refused, 403, "permission_error"), "{header}");
        let message = format!("{header}: this server is for this machine alone");
        assert_eq!(refused.json()["error"]["message"], message);
    }
    for header in own {
        assert_eq!(ask(header).status, 200, "{header}");
    }
}
