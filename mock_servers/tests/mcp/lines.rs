//! Raw lines to the real process, in both versions of the protocol.
//!
//! The course's client is written by hand, so what it meets is pinned as it is on the pipe.
//! Invariant: standard output carries protocol and nothing else.

use serde_json::{Value, json};

use crate::talk::{Talk, meta, names, start, text};

fn shaken(server: &str) -> Talk {
    let mut talk = start(&[server, "--stdio"]);
    talk.shake_hands();
    talk
}

#[test]
fn the_handshake_of_2025_11_25() {
    let mut talk = start(&["docs", "--stdio"]);
    let answer = talk.shake_hands();
    let result = &answer["result"];
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["capabilities"], json!({"tools": {}}));
    assert_eq!(result["serverInfo"]["name"], "docs");
    assert!(result["instructions"].is_string());
    let answer = talk.answer("tools/list", json!({}));
    assert_eq!(names(&answer), ["search", "get_version"]);
    assert_eq!(talk.answer("ping", json!({}))["result"], json!({}));
    let (rest, errors, status) = talk.end();
    assert_eq!((rest, errors.as_str()), (Vec::new(), ""));
    assert!(status.success());
}

#[test]
fn the_requests_of_2026_07_28_need_no_handshake() {
    let mut talk = start(&["deploy", "--stdio"]);
    let answer = talk.answer("server/discover", json!({"_meta": meta()}));
    let versions = answer["result"]["supportedVersions"]
        .as_array()
        .expect("it lists them");
    assert!(versions.contains(&json!("2026-07-28")));
    assert!(versions.contains(&json!("2025-11-25")));
    let answer = talk.answer("tools/list", json!({"_meta": meta()}));
    assert_eq!(names(&answer), ["trigger", "status", "logs"]);
    let params = json!({"name": "status", "arguments": {"service": "web"}, "_meta": meta()});
    let answer = talk.answer("tools/call", params);
    assert_eq!(text(&answer), "deploy-2: web version 17 is live");
}

#[test]
fn an_answer_is_text_and_data() {
    let mut talk = shaken("deploy");
    let answer = talk.call("trigger", json!({"service": "api"}));
    assert_eq!(text(&answer), "deploy-4: api version 42 is queued");
    let data =
        json!({"deployment": "deploy-4", "service": "api", "state": "queued", "version": 42});
    assert_eq!(answer["result"]["structuredContent"], data);
    assert_eq!(answer["result"]["isError"], false);
}

/// A client that reads the text alone misses nothing.
#[test]
fn the_text_says_all_that_the_data_says() {
    fn is_told(data: &Value, text: &str) -> bool {
        match data {
            Value::Object(fields) => fields.values().all(|value| is_told(value, text)),
            Value::Array(items) => items.iter().all(|item| is_told(item, text)),
            Value::String(word) => text.contains(word),
            other => text.contains(&other.to_string()),
        }
    }
    for (server, tool, arguments) in [
        ("docs", "search", json!({"query": "agent loop"})),
        ("docs", "get_version", json!({})),
        ("deploy", "trigger", json!({"service": "api"})),
        ("deploy", "status", json!({"service": "web"})),
        ("deploy", "logs", json!({"service": "web"})),
        ("jira", "search_issues", json!({"query": "web"})),
        ("jira", "get_issue", json!({"key": "WEB-3"})),
        ("notion", "search_pages", json!({"query": "the"})),
        ("notion", "get_page", json!({"id": "page-1"})),
    ] {
        let answer = shaken(server).call(tool, arguments);
        let data = &answer["result"]["structuredContent"];
        assert!(is_told(data, text(&answer)), "{tool}: {answer:#}");
    }
}

/// Calls a tool and finds the name of `field` in its complaint.
fn refuses(talk: &mut Talk, tool: &str, arguments: Value, field: &str) {
    let answer = talk.call(tool, arguments);
    assert_eq!(answer["result"]["isError"], true, "{tool}: {answer}");
    assert!(text(&answer).contains(field), "{tool}: {answer}");
}

#[test]
fn a_bad_argument_is_a_tool_error_that_names_the_field() {
    let docs = &mut shaken("docs");
    refuses(docs, "search", json!({}), "query");
    refuses(docs, "search", json!({"query": 5}), "query");
    refuses(docs, "search", json!({"query": " "}), "query");
    refuses(docs, "search", json!({"query": "a", "limit": 3}), "limit");
    refuses(docs, "get_version", json!({"of": "x"}), "of");

    let deploy = &mut shaken("deploy");
    refuses(deploy, "trigger", json!({"service": "db"}), "service");
    refuses(
        deploy,
        "logs",
        json!({"service": "api", "lines": 0}),
        "lines",
    );
    refuses(
        deploy,
        "logs",
        json!({"service": "api", "lines": "5"}),
        "lines",
    );

    let jira = &mut shaken("jira");
    let closed = json!({"key": "WEB-1", "status": "Closed"});
    refuses(jira, "get_issue", json!({"key": "WEB-99"}), "key");
    refuses(
        jira,
        "create_issue",
        json!({"project": "X", "summary": "a"}),
        "project",
    );
    refuses(
        jira,
        "create_issue",
        json!({"project": "WEB", "summary": "a\nb"}),
        "summary",
    );
    refuses(jira, "transition_issue", closed, "status");

    let notion = &mut shaken("notion");
    refuses(notion, "get_page", json!({"id": "page-99"}), "id");
    refuses(
        notion,
        "create_page",
        json!({"title": "a", "content": ""}),
        "content",
    );
    refuses(
        notion,
        "create_page",
        json!({"title": "", "content": "a"}),
        "title",
    );
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    let mut talk = shaken("docs");
    let answer = talk.call("find", json!({"query": "x"}));
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["message"], "Unknown tool: find");
    assert_eq!(talk.answer("no/such", json!({}))["error"]["code"], -32601);
    let answer = talk.answer("tools/list", json!({"cursor": "x"}));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn several_requests_may_be_under_way() {
    let mut talk = shaken("docs");
    let ids = [json!("a"), json!(0), json!(3)];
    for id in &ids {
        let params = json!({"name": "get_version", "arguments": {}});
        talk.ask(id.clone(), "tools/call", params);
    }
    let mut answered = ids.clone().map(|_| talk.message()["id"].to_string());
    answered.sort();
    assert_eq!(answered, ["\"a\"", "0", "3"]);
}

#[test]
fn a_wrong_command_line_is_a_sentence_on_standard_error() {
    let wrong: [(&[&str], &str); 6] = [
        (&["docs", "--port"], "There is no option `--port`."),
        (&["docs", "--fault"], "--fault needs a value."),
        (&["docs", "--fault", "x"], "There is no fault `x`."),
        (
            &["docs", "--http", "x"],
            "--http x: expected a port, 0 for a free one.",
        ),
        (
            &["docs", "--http", "0", "--fault", "hang"],
            "Over HTTP only the list of tools can be at fault.",
        ),
        (&["doc"], "There is no server `doc`."),
    ];
    for (words, sentence) in wrong {
        let (output, errors, status) = start(words).end();
        assert_eq!(errors.lines().next(), Some(sentence), "{words:?}");
        assert_eq!((output, status.code()), (Vec::new(), Some(2)), "{words:?}");
    }
}

#[test]
fn help_lists_every_fault() {
    let (output, _, status) = start(&["jira", "--help"]).end();
    let help = String::from_utf8(output).expect("help is text");
    assert!(status.success());
    for line in mock_servers::mcp::Fault::list().lines() {
        assert!(help.contains(line), "{line}");
        let name = line.split_whitespace().next().expect("a line has a name");
        assert!(mock_servers::mcp::Fault::named(name).is_ok(), "{name}");
    }
}
