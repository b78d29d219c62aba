//! Entries: types, variables, and what is refused with its path.

use mcp_client::config::expand;
use mcp_client::{Server, Transport};
use serde_json::{Value, json};

fn variable(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("s3cret".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

fn parse(entry: Value) -> Result<Server, String> {
    Server::parse("name", &entry, &variable)
}

#[test]
fn the_type_follows_from_the_entry_where_it_decides() {
    for (entry, kind) in [
        (json!({ "command": "server" }), "stdio"),
        (
            json!({ "type": "stdio", "command": "server", "args": ["a"], "env": { "A": "1" } }),
            "stdio",
        ),
        (json!({ "url": "https://host/mcp" }), "http"),
        (json!({ "url": "wss://host/mcp" }), "ws"),
        (json!({ "type": "sse", "url": "http://host/sse", "headers": { "A": "1" } }), "sse"),
        (json!({ "type": "ws", "url": "ws://host" }), "ws"),
        (
            json!({ "type": "sse-ide", "url": "http://127.0.0.1:7000/sse", "authToken": "t" }),
            "sse-ide",
        ),
    ] {
        assert_eq!(parse(entry.clone()).ok().unwrap().transport.to_string(), kind, "{entry}");
    }
    for (url, kind) in [("http://h/sse", "sse"), ("https://h/mcp", "http"), ("ws://h", "ws")] {
        assert_eq!(Server::at(url).unwrap().transport.to_string(), kind);
    }
    assert!(Server::at("ftp://h").is_err());
}

#[test]
fn variables_are_put_into_every_string() {
    for (text, expected) in [
        ("plain $TOKEN", Ok("plain $TOKEN")),
        ("Bearer ${TOKEN}", Ok("Bearer s3cret")),
        ("${NONE:-8080}", Ok("8080")),
        ("${NONE:-}", Ok("")),
        ("${EMPTY:-8080}", Ok("")),
        ("${not a name} ${", Ok("${not a name} ${")),
        ("${TOKEN}${NONE}", Err("NONE")),
    ] {
        let expanded = expand(text, &variable);
        assert_eq!(expanded.as_deref().map_err(String::as_str), expected, "{text}");
    }
    let entry = json!({ "type": "${KIND:-http}", "url": "http://${HOST:-h}/", "headers": { "A": "${TOKEN}" } });
    let server = parse(entry).ok().unwrap();
    let said = (server.transport, server.url.as_str(), server.headers["A"].as_str());
    assert_eq!(said, (Transport::Http, "http://h/", "s3cret"));
}

#[test]
fn what_is_wrong_is_said_with_its_path_and_without_its_value() {
    for (entry, expected) in [
        (json!({}), ".command: it is needed, or a `url`"),
        (json!(5), ": invalid type: integer `5`, expected struct Server"),
        (json!({ "command": "a", "url": "http://b" }), ": either `command` or `url`, or a `type`"),
        (json!({ "command": "a", "cwd": "/" }), ".cwd: unknown field `cwd`, expected one of"),
        (json!({ "command": "a", "oauth": { "id": 1 } }), ".oauth.id: unknown field `id`"),
        (
            json!({ "command": "a", "args": ["b", 5] }),
            ".args[1]: invalid type: integer `5`, expected a string",
        ),
        (
            json!({ "command": "a", "timeout": "${TOKEN}" }),
            ".timeout: a value of another type is needed",
        ),
        (json!({ "command": "a", "timeout": 0 }), ".timeout: it must be more than 0 ms"),
        (json!({ "command": " " }), ".command: it is needed, or a `url`"),
        (
            json!({ "type": "carrier-pigeon" }),
            ".type: unknown variant `carrier-pigeon`, expected one of",
        ),
        (json!({ "type": "http" }), ".url: it must begin with http:// or https://"),
        (json!({ "type": "ws", "url": "http://h" }), ".url: it must begin with ws:// or wss://"),
        (
            json!({ "command": "a", "env": { "A": "${NONE}" } }),
            ".env.A: the variable NONE is not set",
        ),
        (json!({ "command": "a", "args": ["${NONE}"] }), ".args[0]: the variable NONE is not set"),
    ] {
        let wrong = parse(entry.clone()).err().unwrap();
        assert!(wrong.starts_with(expected), "{entry}: {wrong}");
        assert!(!wrong.contains("s3cret"), "{wrong}");
    }
    assert!(Server::parse("two\nlines", &json!({ "command": "a" }), &variable).is_err());
}
