//! Claude Code as an agent's process, through the same code as s20, against the course's mock model.
//!
//! Invariant: without `cargo x external`, which installs it, the test says so in a line and passes.

use std::path::{Path, PathBuf};

use mcp_bridge::agent::Message;
use mcp_bridge::config::Config;
use mcp_bridge::host::{Host, Programs};
use mcp_bridge::relay;
use mock_servers::model::{MockModel, Options, Request, calls, says};
use s01_loop::{Client, Settings, Unobserved};
use serde_json::json;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp_bridge");
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
    let programs = Programs {
        shim: PROGRAM.into(),
        claude: home.join("node_modules/@anthropic-ai/claude-code-linux-x64/claude"),
        ..Programs::default()
    };
    let settings = Settings {
        base_url: Some("http://127.0.0.1:1".to_owned()),
        ..Settings::default()
    };
    let model = relay::model(Client::new(settings, std::sync::Arc::new(Unobserved)).unwrap());
    let host = Host::open(config, 0, model, programs).await.unwrap();
    let owner = host.owner.clone();
    let serving = tokio::spawn(host.serve());
    for at in 1..=3 {
        let message = Message {
            source: "test".to_owned(),
            prompt: format!("note {at}"),
            ..Message::default()
        };
        let reply = owner.agent("one").unwrap().post(message).await;
        let reply = reply.unwrap_or_else(|failure| panic!("{}", failure.message));
        assert_eq!(reply.by, "process", "{reply:?}");
        assert!(reply.text.contains(&format!("\"lines\":{at}")), "{reply:?}");
        assert!(reply.cost.is_some(), "{reply:?}");
    }
    let status = owner.status().remove(0);
    println!("Claude Code and its shim: {} MB", status.memory_kb / 1024);
    owner.stop(std::time::Duration::ZERO).await;
    serving.abort();
}

/// What the README shows was typed; figures and names that differ each time count as one.
#[test]
fn the_session_of_the_readme_is_what_the_demo_shows() {
    let program = Path::new(PROGRAM);
    if std::env::var_os("EXTERNAL_AGENTS").is_none() || !program.with_file_name("s20_full").exists()
    {
        println!("skipped: s20_full is not built, or nobody asked for it");
        return;
    }
    let output = std::process::Command::new(program).arg("demo").output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let (_, readme) =
        include_str!("../../README.md").split_once("mcp_bridge -- demo\n== ").unwrap();
    let readme = readme.split("\n```").next().unwrap();
    let shown = shown.split_once("\n== ").unwrap().1;
    let masked = |text: &str| -> Vec<String> {
        let figure = |word: &str| word.contains(|c: char| c.is_ascii_digit());
        let masked = |word| if figure(word) { "#" } else { word };
        let lines =
            text.lines().map(|line| line.split_whitespace().map(masked).collect::<Vec<_>>());
        lines.map(|words| words.join(" ")).collect()
    };
    assert_eq!(masked(shown.trim_end()), masked(readme));
}
