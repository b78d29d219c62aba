//! MCP servers beside everything else: hooked, compacted away from, out of a subagent's reach, and gone after a resume.

use mock_servers::model::{Request, calls, says};
use serde_json::{Value, json};

use super::{class, is_subagent, model, news, of_the_lead, spawn, teammate};

fn search() -> (&'static str, Value) {
    ("mcp__docs__search", json!({"query": "agent loop"}))
}

#[test]
fn a_hook_a_summary_and_a_subagent_beside_a_connected_server() {
    let refuses = json!([{"matcher": "mcp__docs__get_version", "hooks": [{"type": "command",
        "command": "cat > seen.json; echo 'not today' >&2; exit 2"}]}]);
    let settings = json!({"hooks": {"PreToolUse": refuses}}).to_string();
    let model = model(|request: &Request| {
        let (tool, input) = search();
        match (&*news(request), is_subagent(request)) {
            (_, true) if request.calls().is_empty() => calls(tool, input),
            ("connect", _) => calls("connect_mcp", json!({"name": "docs"})),
            ("search", _) => calls(tool, input),
            ("delegate", _) => calls("task", json!({"description": "search the docs"})),
            ("version", _) => calls("mcp__docs__get_version", json!({})),
            (news, _) => says(format!("told: {news}")),
        }
    });
    let class = class(&[]).file(".harness/settings.json", settings).model(&model);
    // The tools of a server are no part of the conversation, so a summary does not take them away.
    let ran = class.types(&["connect", "/compact", "search", "delegate", "version"]);
    ran.succeeds().shows("[compacted: ").shows("Discovered: ");
    let requests = of_the_lead(&model);
    let found = |(is_error, text): (bool, String)| !is_error && text.contains("loop");
    let results = requests.iter().flat_map(|request| request.results());
    assert!(results.into_iter().any(found), "{}", ran.transcript());
    ran.shows("there is no tool `mcp__docs__search`").shows("told: not today");
    assert!(class.read("seen.json").contains("mcp__docs__get_version"));
}

/// What ran in the earlier process does not run in this one, and the model knows.
#[test]
fn a_resumed_session_has_neither_its_servers_nor_its_team() {
    let model = model(|request: &Request| {
        let news = news(request);
        let is = |line: &str| news.lines().any(|said| said == line);
        let connect = || calls("connect_mcp", json!({"name": "docs"}));
        match teammate(request) {
            Some(_) => says("I am ready."),
            None if is("begin") => connect()
                .and_calls("create_task", json!({"subject": "schema"}))
                .and_calls("spawn_teammate", spawn("alice")),
            None if is("go on") => {
                let (tool, input) = search();
                let mail = json!({"to": "alice", "content": "Hello."});
                calls(tool, input).and_calls("send_message", mail)
            }
            None if news.contains("there is no tool `mcp__docs__search`") => {
                connect().and_calls("spawn_teammate", spawn("alice"))
            }
            None => says("Noted."),
        }
    });
    let class = class(&[]).model(&model);
    class.types(&["begin"]).succeeds().shows("[mail from alice: result]");
    let ran = class.arg("--resume").types(&["go on"]);
    ran.succeeds();
    let last = of_the_lead(&model).pop().unwrap();
    let has_tool = last.tool_names().contains(&search().0.to_owned());
    assert!(has_tool, "{}", ran.transcript());
    let texts = last.user_texts().join("\n");
    assert!(texts.contains("<resumed-session>"), "{texts}");
    let results = last.results();
    let failed: Vec<_> = results.iter().filter(|(is_error, _)| *is_error).collect();
    assert!(matches!(failed[..], [_, (_, text)] if text.contains("alice")), "{failed:#?}");
}
