//! The rules of bodies, headers and routes.

use mock_servers::model::{MockModel, Options};

use super::assert_refused;
use crate::client::{post_bytes, send};

#[test]
fn a_body_is_json() {
    let model = MockModel::scripted([]);
    let rows: [(&[u8], &str); 6] = [
        (b"", "EOF while parsing a value at line 1 column 0"),
        (
            b"[]",
            "expected one object, nested less than 128 levels deep",
        ),
        (
            b"{\"model\": \"m\",}",
            "key must be a string at line 1 column 15",
        ),
        (
            b"{\"messages\": [{\"role\": nope}]}",
            "expected ident at line 1 column 25",
        ),
        (
            b"{\"model\": \"m\"} x",
            "trailing characters at line 1 column 16",
        ),
        (
            b"{\"model\": \"\xff\"}",
            "invalid utf-8 sequence of 1 bytes from index 11",
        ),
    ];
    for (body, reason) in rows {
        let response = post_bytes(&model, "/v1/messages", body);
        let message = format!("The request body is not valid JSON: {reason}");
        assert_refused(&response, 400, "invalid_request_error", &message);
    }
    model.refusals();
}

#[test]
fn a_body_over_32_megabytes_is_refused() {
    let model = MockModel::scripted([]);
    let body = vec![b' '; 32 * 1024 * 1024 + 1];
    let response = post_bytes(&model, "/v1/messages", &body);
    assert_refused(
        &response,
        413,
        "request_too_large",
        "Request exceeds the maximum size",
    );
}

#[test]
fn headers_and_routes_are_those_of_the_api() {
    let model = MockModel::scripted_with(
        Options {
            require_key: true,
            ..Options::strict()
        },
        [],
    );
    let version = ("anthropic-version", "2023-06-01");
    let no_key = send(&model, "POST", "/v1/messages", &[version], b"{}");
    assert_refused(
        &no_key,
        401,
        "authentication_error",
        "x-api-key header is required",
    );
    let empty = send(
        &model,
        "GET",
        "/v1/models",
        &[version, ("x-api-key", " ")],
        b"",
    );
    assert_refused(
        &empty,
        401,
        "authentication_error",
        "x-api-key header is required",
    );
    let bearer = send(
        &model,
        "GET",
        "/v1/models",
        &[version, ("authorization", "Bearer abc")],
        b"",
    );
    assert_eq!(bearer.status, 200);
    let key = ("x-api-key", "abc");
    let no_version = send(&model, "POST", "/v1/messages", &[key], b"{}");
    let message = "anthropic-version: header is required";
    assert_refused(&no_version, 400, "invalid_request_error", message);
    let nowhere = send(&model, "POST", "/v1/chat", &[version, key], b"{}");
    assert_refused(&nowhere, 404, "not_found_error", "Not found");
    let unknown = send(&model, "GET", "/v1/models/gpt", &[version, key], b"");
    assert_refused(&unknown, 404, "not_found_error", "model: gpt");
    let get = send(&model, "GET", "/v1/messages", &[version, key], b"");
    assert_refused(&get, 405, "invalid_request_error", "Method Not Allowed");
}

#[test]
fn a_page_of_another_machine_reaches_nothing() {
    let model = MockModel::scripted([]);
    let ask = |header, path| send(&model, "GET", path, &[header], b"");
    for (name, value) in [
        ("host", "evil.example"),
        ("host", "evil.example:8080"),
        ("host", "localhost.evil.example"),
        ("host", "localhost@evil.example"),
        ("host", "127.0.0.1.evil.example"),
        ("origin", "https://evil.example"),
        ("origin", "http://localhost.evil.example"),
        ("origin", "null"),
    ] {
        for path in ["/", "/v1/models"] {
            let message = format!("{name} {value}: this server is for this machine alone");
            assert_refused(&ask((name, value), path), 403, "permission_error", &message);
        }
    }
    for header in [
        ("host", "localhost"),
        ("host", "LOCALHOST:1"),
        ("host", "127.0.0.1:9"),
        ("host", "[::1]:9"),
        ("origin", "http://localhost:3000"),
        ("origin", "https://127.0.0.1"),
        ("origin", "http://[::1]"),
    ] {
        assert_eq!(ask(header, "/").status, 200, "{header:?}");
    }
}
