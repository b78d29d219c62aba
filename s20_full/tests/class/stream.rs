//! A session as lines of JSON, for a program that keeps it open.

use mock_servers::model::{Request, calls, says};
use serde_json::{Value, json};
use testkit::Ran;

use super::{bash, class, echoing, model};

const LINES: [&str; 5] = [
    "-p",
    "--input-format=stream-json",
    "--output-format=stream-json",
    "--verbose",
    "--replay-user-messages",
];

/// The lines; nothing else may be there.
fn lines(ran: &Ran) -> Vec<Value> {
    let lines = ran.succeeds().stdout.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}\n{}", ran.transcript()))
}

/// The lines of a type.
fn of<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

fn user(content: impl Into<Value>) -> String {
    json!({"type": "user", "message": {"role": "user", "content": content.into()}, "uuid": "u"})
        .to_string()
}

#[test]
fn each_line_gets_one_result_and_a_broken_one_loses_nothing() {
    let (_model, class) = echoing();
    let blocks = user(json!([{"type": "text", "text": "two"}, {"type": "text", "text": "texts"}]));
    let rows = [
        (user("one"), Ok("You said: one")),
        ("{\"type\":\"user\",".to_owned(), Err("it is not JSON")),
        ("quit".to_owned(), Err("it is not JSON")),
        (user("quit"), Ok("You said: quit")),
        ("[1]".to_owned(), Err("lacks the type")),
        (json!({"type": "control_request"}).to_string(), Err("\"control_request\"")),
        (json!({"type": "user"}).to_string(), Err("no message")),
        (user("  "), Err("it is empty")),
        (user(json!([{"type": "image"}])), Err("of type Some(\"image\")")),
        (user("one").replace("\"role\":\"user\"", "\"role\":\"assistant\""), Err("not the user's")),
        (blocks, Ok("You said: two\ntexts")),
        (user("/tasks"), Ok("the board is empty")),
    ];
    let piped: Vec<&str> = rows.iter().map(|(line, _)| line.as_str()).collect();
    let ran = class.runs(&LINES, &piped.join("\n"));
    let lines = lines(&ran);
    assert_eq!((&lines[0]["type"], &lines[0]["subtype"]), (&json!("system"), &json!("init")));
    assert!(lines[0]["tools"].as_array().unwrap().contains(&json!("bash")));
    let results = of(&lines, "result");
    assert_eq!(results.len(), rows.len(), "{}", ran.transcript());
    for (result, (line, expected)) in results.iter().zip(&rows) {
        let said = result["result"].as_str().unwrap();
        assert_eq!(result["is_error"], expected.is_err(), "{line}");
        match expected {
            Ok(text) => assert_eq!(said, *text),
            Err(why) => assert!(said.contains(why), "{line}: {said}"),
        }
    }
    assert_eq!(of(&lines, "user").iter().filter(|line| line["isReplay"] == true).count(), 4);
}

/// Each turn has its own failure, its own cost, its own denials.
#[test]
fn a_turn_is_told_as_it_happens_and_counts_for_itself() {
    let model = model(|request: &Request| match request.user_texts().last().map(String::as_str) {
        Some("refused") if request.results().is_empty() => bash("touch made"),
        Some("reads") if request.results().len() < 2 => {
            calls("read_file", json!({"path": "README.md"}))
        }
        _ => says("Done."),
    });
    let class = class(&[]).model(&model);
    let prompts = ["/halp", "refused", "reads"].map(user);
    let lines = lines(&class.runs(&LINES, &prompts.join("\n")));
    let results = of(&lines, "result");
    let errors: Vec<_> = results.iter().map(|result| result["is_error"].as_bool()).collect();
    assert_eq!(errors, [Some(true), Some(false), Some(false)]);
    let denied: Vec<_> = results
        .iter()
        .map(|result| result["permission_denials"].as_array().unwrap().len())
        .collect();
    assert_eq!((denied, class.dir().join("made").exists()), (vec![0, 1, 0], false));
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
    let told = ["user", "assistant", "user", "assistant", "result"];
    assert_eq!(kinds[kinds.len() - 5..], told);
    let [.., call, result, _, end] = &lines[..] else { panic!("{lines:?}") };
    let id = &call["message"]["content"][0]["id"];
    assert_eq!((&result["message"]["content"][0]["tool_use_id"], id.is_string()), (id, true));
    assert_eq!((&end["num_turns"], &end["session_id"]), (&json!(2), &call["session_id"]));
    let sum = |key: &str| {
        let own = of(&lines, "assistant").into_iter().rev().take(2);
        own.map(|line| line["message"]["usage"][key].as_u64().unwrap()).sum::<u64>()
    };
    assert!(end["usage"]["output_tokens"].as_u64() >= Some(sum("output_tokens")));
}

#[test]
fn the_servers_that_a_rule_allows_are_connected_before_the_first_prompt() {
    for (rules, status) in [(json!(["connect_mcp"]), "connected"), (json!([]), "available")] {
        let server =
            json!({"command": env!("CARGO_BIN_EXE_s20_full"), "args": ["mock-mcp", "jira"]});
        let ran = class(&[])
            .file(".mcp.json", json!({"mcpServers": {"jira": server}}).to_string())
            .file(".harness/settings.json", json!({"permissions": {"allow": rules}}).to_string())
            .runs(&LINES, "");
        let lines = lines(&ran);
        let servers = lines[0]["mcp_servers"].as_array().unwrap();
        let jira = servers.iter().find(|server| server["name"] == "jira").unwrap();
        assert_eq!((lines.len(), &jira["status"]), (1, &json!(status)));
        let offered = lines[0]["tools"].as_array().unwrap();
        assert_eq!(offered.contains(&json!("mcp__jira__get_issue")), status == "connected");
    }
}
