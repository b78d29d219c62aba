//! The mock model, asked by agents that nobody here wrote: Claude Code and opencode.
//!
//! Their tools have other names and schemas than ours, so each request shows that a tool is known by what it says of
//! itself. Invariant: without `cargo x external`, which installs both, the tests say so in a line and pass.

use std::fs;
use std::path::Path;
use std::process::Command;

use mock_servers::model::MockModel;
use serde_json::json;

use super::{SERVERS, installed, run};

/// A request, what the answer must say, and a file with what it must hold afterwards.
type Asked = (&'static str, &'static str, Option<(&'static str, &'static str)>);

const REQUESTS: [Asked; 5] = [
    ("read README.md", "A small project.", None),
    ("create notes.md with the text hello", "I created notes.md.", Some(("notes.md", "hello\n"))),
    (
        "replace small with tiny in README.md",
        "tiny",
        Some(("README.md", "# Demo\n\nA tiny project.\n")),
    ),
    ("run `echo out loud`", "out loud", None),
    ("search the docs for hooks", "s04_hooks/README.md", None),
];

/// Asks five times in a fresh directory, where `command` makes a program of the request.
fn asks(name: &str, command: impl Fn(&Path, &str, &str) -> Command) {
    let model = MockModel::rehearsal();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a directory");
    fs::write(folder.join("README.md"), "# Demo\n\nA small project.\n").expect("a file");
    for (request, shown, file) in REQUESTS {
        let mut command = command(&folder, model.url(), request);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &folder)
            .envs([("ANTHROPIC_BASE_URL", model.url()), ("ANTHROPIC_API_KEY", "any")])
            .envs(
                ["DISABLE_AUTOUPDATER", "IS_SANDBOX", "DISABLE_TELEMETRY"].map(|name| (name, "1")),
            )
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .envs(
                ["OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH"]
                    .map(|name| (name, "1")),
            )
            .current_dir(&folder);
        let output = run(&mut command);
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(shown), "{name}: {request}: {said}");
        if let Some((path, text)) = file {
            let held = fs::read_to_string(folder.join(path)).unwrap_or_default();
            assert_eq!(held, text, "{name}: {request}: {said}");
        }
    }
}

#[test]
fn claude_code_is_answered() {
    let Some(home) = installed("EXTERNAL_AGENTS") else {
        return;
    };
    let program = home.join("node_modules/@anthropic-ai/claude-code-linux-x64/claude");
    asks("Claude Code", |folder, _, request| {
        let servers =
            json!({"mcpServers": {"docs": {"command": SERVERS, "args": ["docs", "--stdio"]}}});
        fs::write(folder.join("mcp.json"), servers.to_string()).expect("a file");
        let mut command = Command::new(&program);
        command.args(["-p", request, "--mcp-config", "mcp.json", "--strict-mcp-config"]).args([
            "--model",
            "claude-sonnet-4-5",
            "--dangerously-skip-permissions",
        ]);
        command
    });
}

#[test]
fn opencode_is_answered() {
    let Some(home) = installed("EXTERNAL_AGENTS") else {
        return;
    };
    let program = home.join("node_modules/opencode-linux-x64/bin/opencode");
    asks("opencode", |folder, url, request| {
        let options = json!({"baseURL": format!("{url}/v1"), "apiKey": "any"});
        let provider = json!({"npm": "@ai-sdk/anthropic", "options": options, "models": {"claude-sonnet-4-5": {}}});
        let settings = json!({"provider": {"fake": provider}, "enabled_providers": ["fake"], "share": "disabled",
            "mcp": {"docs": {"type": "local", "command": [SERVERS, "docs", "--stdio"]}}});
        fs::write(folder.join("opencode.json"), settings.to_string()).expect("a file");
        let mut command = Command::new(&program);
        command.args(["run", "-m", "fake/claude-sonnet-4-5", request]);
        command
    });
}
