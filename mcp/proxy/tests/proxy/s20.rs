//! The course's harness before the proxy: it discovers a tool, copies the call, and gets what the server wrote.
//!
//! Invariant: the model of the test knows the two tools and nothing of those behind them.

use std::path::Path;
use std::process::Command;

use mock_servers::model::{MockModel, Options, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::Class;

use super::PROGRAM;

/// Connects, asks what does the task, and makes the first call that it is answered.
fn plays(request: &Request) -> Reply {
    let results = request.results();
    match results.last() {
        None => calls("connect_mcp", json!({"name": "proxy"})),
        Some((false, text)) if text.starts_with("Connected to") => calls(
            "mcp__proxy__discover_tools",
            json!({"query": "open tickets about the login page"}),
        ),
        Some((false, text)) if text.contains("Ready to call with call_tool:") => {
            let mut templates = text.lines().filter_map(|line| serde_json::from_str(line).ok());
            let is_search = |call: &Value| call["tool_name"] == "search_issues";
            let mut call = templates.find(is_search).expect("the search is found");
            call["arguments"]["query"] = "login".into();
            calls("mcp__proxy__call_tool", call)
        }
        Some((failed, text)) => {
            says(format!("{}: {text}", if *failed { "failed" } else { "found" }))
        }
    }
}

#[test]
fn s20_discovers_and_calls() {
    let s20 = Path::new(PROGRAM).with_file_name("s20_full");
    if !s20.exists() {
        let mut build = Command::new(env!("CARGO"));
        assert!(
            build.args(["build", "--quiet", "--package", "s20_full"]).status().unwrap().success()
        );
    }
    // The servers of the project's own file would be the proxy itself.
    let entry = |name: &str| json!({"command": PROGRAM, "args": ["mock-mcp", name]});
    let servers = ["docs", "deploy", "jira", "notion"].map(|name| (name.to_owned(), entry(name)));
    let servers = json!({ "mcpServers": Value::Object(servers.into_iter().collect()) });
    let proxy =
        json!({"command": PROGRAM, "args": ["--config", "servers.json", "--state", "state"]});
    let allowed = json!({"permissions": {"allow": ["connect_mcp", "mcp__proxy"]}});
    let model = MockModel::start(Options::strict(), plays).unwrap();
    let class = Class::new(s20)
        .file("servers.json", servers.to_string())
        .file(".mcp.json", json!({"mcpServers": {"proxy": proxy}}).to_string())
        .file(".harness/settings.json", allowed.to_string())
        .model(&model);
    let ran = class.asks("Which tickets are about the login page?");
    ran.succeeds().shows("found: WEB-");
    assert!(class.read("state/calls.jsonl").contains(r#""tool":"jira:search_issues""#));
}
