//! Raw lines to the real process, in both versions of the protocol.
//!
//! The course's client is written by hand, so what it meets is pinned as it is on the pipe.
//! Invariant: standard output carries protocol and nothing else.

use mock_servers::mcp::{ALERTS, Fault, NAMES};
use serde_json::json;

use crate::talk::{Talk, names, start, text};

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
fn a_bad_argument_is_a_tool_error_that_names_the_field() {
    let rows = r#"
docs search query {}
docs search query {"query": 5}
docs search query {"query": " "}
docs search limit {"query": "a", "limit": 3}
docs get_version of {"of": "x"}
deploy trigger service {"service": "db"}
deploy logs lines {"service": "api", "lines": 0}
deploy logs lines {"service": "api", "lines": "5"}
jira get_issue key {"key": "WEB-99"}
jira create_issue project {"project": "X", "summary": "a"}
jira create_issue summary {"project": "WEB", "summary": "a\nb"}
jira transition_issue status {"key": "WEB-1", "status": "Closed"}
notion get_page id {"id": "page-99"}
notion create_page content {"title": "a", "content": ""}
notion create_page title {"title": "", "content": "a"}
alerts push text {"text": " "}
alerts push after_seconds {"text": "a", "after_seconds": 3601}
alerts restart service {"service": "a\nb"}
"#;
    let servers = NAMES.into_iter().chain([ALERTS]).map(|name| (name, shaken(name)));
    let mut servers = servers.collect::<Vec<_>>();
    for row in rows.lines().skip(1) {
        let [server, tool, field, arguments] = row.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let arguments = serde_json::from_str(arguments).expect(row);
        let talk = servers.iter_mut().find(|(name, _)| *name == server);
        let answer = talk.expect("a server").1.call(tool, arguments);
        assert_eq!(answer["result"]["isError"], true, "{row}: {answer}");
        assert!(text(&answer).contains(field), "{row}: {answer}");
    }
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
fn a_wrong_command_line_is_a_sentence_on_standard_error() {
    let wrong: [(&[&str], &str); 6] = [
        (&["docs", "--port"], "There is no option `--port`."),
        (&["docs", "--fault"], "--fault needs a value."),
        (&["docs", "--fault", "x"], "There is no fault `x`."),
        (&["docs", "--http", "x"], "--http x: expected a port, 0 for a free one."),
        (
            &["docs", "--http", "0", "--fault", "hang"],
            "Over HTTP and WebSocket only the list of tools can be at fault.",
        ),
        (&["doc"], "There is no MCP server `doc`."),
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
    assert_eq!(Fault::list().lines().count(), 24);
    for line in Fault::list().lines() {
        assert!(help.contains(line), "{line}");
        let name = line.split_whitespace().next().expect("a line has a name");
        assert!(Fault::named(name).is_ok(), "{name}");
    }
}
