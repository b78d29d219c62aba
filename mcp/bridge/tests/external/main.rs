//! Claude Code as an agent's process, through the same code as s20, against the course's mock model.
//!
//! Invariant: without `cargo x external`, which installs it, the test says so in a line and passes.

use std::path::PathBuf;

use mcp_bridge::agent::Message;
use mcp_bridge::config::Config;
use mcp_bridge::host::{Host, Programs};
use mcp_bridge::owner::Profile;
use mcp_bridge::queue::Class;
use mcp_bridge::relay;
use mcp_client::fleet::Limits;
use mcp_relay::front;
use mock_servers::model::{MockModel, Options, Request, calls, says};
use s01_loop::{Client, Settings, Unobserved};
use serde_json::json;

const TOOL: &str = "mcp__bridge__note_append";

/// Appends each prompt to a note, and says how long the note is then.
fn plays(request: &Request) -> mock_servers::model::Reply {
    let prompts: Vec<_> =
        request.user_texts().into_iter().filter(|text| text.starts_with("note ")).collect();
    match request.tool_names().iter().any(|name| *name == TOOL) {
        true if request.results().len() < prompts.len() => {
            calls(TOOL, json!({"note": "n", "text": prompts.last().unwrap()}))
        }
        true => says(request.results().last().map(|(_, text)| text.clone()).unwrap_or_default()),
        false => says("a title"),
    }
}

#[tokio::test]
async fn claude_code_is_an_agent() {
    let Some(home) = std::env::var_os("EXTERNAL_AGENTS").map(PathBuf::from) else {
        println!("skipped: `cargo x external` installs Claude Code");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mock = MockModel::start(Options::default(), plays).unwrap();
    let quiet = "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC";
    let home_of_agent = folder.path().display().to_string();
    let env = json!({"HOME": home_of_agent, "ANTHROPIC_BASE_URL": mock.url(), "ANTHROPIC_API_KEY": "any", quiet: "1",
        "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "IS_SANDBOX": "1"});
    let agent = json!({"name": "one", "tools": ["note_*"], "process": "claude", "model": "claude-sonnet-4-5", "env": env});
    let config =
        Config::parse(&json!({ "agents": [agent] }).to_string(), folder.path(), &|_| None).unwrap();
    let front = front::Args {
        http: Some("0".parse().unwrap()),
        token_file: None,
        allow_host: Vec::new(),
    };
    let programs = Programs {
        clock: jiff::Timestamp::now,
        shim: env!("CARGO_BIN_EXE_mcp_bridge").into(),
        s20: "s20_full".into(),
        claude: home.join("node_modules/@anthropic-ai/claude-code-linux-x64/claude"),
    };
    let settings = Settings {
        base_url: Some("http://127.0.0.1:1".to_owned()),
        ..Settings::default()
    };
    let model = relay::model(Client::new(settings, std::sync::Arc::new(Unobserved)).unwrap());
    let host = Host::open(config, &front, model, programs, Limits::from_env(&|_| None).unwrap())
        .await
        .unwrap();
    let agents = host.agents.clone();
    let serving = tokio::spawn(host.serve());
    for at in 1..=3 {
        let message = Message {
            source: "test".to_owned(),
            prompt: format!("note {at}"),
            profile: Profile::Full,
            class: Class::User,
            deadline: None,
        };
        let reply = agents
            .post("one", message)
            .await
            .unwrap_or_else(|failure| panic!("{}", failure.message));
        assert_eq!(reply.by, "process", "{reply:?}");
        assert!(reply.text.contains(&format!("\"lines\":{at}")), "{reply:?}");
        assert!(reply.cost.is_some(), "{reply:?}");
    }
    let status = agents.status().remove(0);
    println!("Claude Code and its shim: {} MB", status.memory_kb / 1024);
    agents.stop(std::time::Duration::ZERO).await;
    serving.abort();
}
