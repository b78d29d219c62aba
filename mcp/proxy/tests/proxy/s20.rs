//! The course's harness and its mock model before the proxy: they discover a tool and call it.
//!
//! Invariant: what is called was found in this session.

use std::path::Path;
use std::process::Command;

use mock_servers::model::MockModel;
use serde_json::{Value, json};
use testkit::Class;

use super::PROGRAM;

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
    let model = MockModel::strict_rehearsal();
    let class = Class::new(s20)
        .file("servers.json", servers.to_string())
        .file(".mcp.json", json!({"mcpServers": {"proxy": proxy}}).to_string())
        .file(".harness/settings.json", allowed.to_string())
        .model(&model);
    let ran = class.types(&["Connect to the proxy server", "search the issues for login"]);
    ran.succeeds().shows("> mcp__proxy__discover_tools").shows("proxy: WEB-");
    assert!(class.read("state/calls.jsonl").contains(r#""tool":"jira:search_issues""#));
}
