//! The hub with agents that nobody here wrote: opencode, Claude Code as a spoke and as a server, and s20.
//!
//! All of them ask the mock model. Invariant: without `cargo x external`, which installs them, the tests say so in a line
//! and pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_hub::config::Config;
use mcp_hub::hub::{Ask, Hub};
use mock_servers::model::{Brain, MockModel, Options, Reply, Request, calls, says};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::watch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp_hub");

/// Where `cargo x external` has put the agents.
fn agents() -> Option<PathBuf> {
    let home = std::env::var_os("EXTERNAL_AGENTS").map(PathBuf::from);
    if home.is_none() {
        println!(
            "skipped: EXTERNAL_AGENTS is not set; cargo x external installs what it needs and sets it"
        );
    }
    home.map(|home| home.join("node_modules"))
}

/// Searches the docs with whatever tool there is for it, and tells what came of it.
struct Searches;

impl Brain for Searches {
    fn answer(&self, request: &Request) -> Reply {
        let tool = request.tool_names().into_iter().find(|name| name.ends_with("docs__search"));
        match (tool, request.results().as_slice()) {
            (Some(tool), []) => calls(tool, json!({ "query": "hooks" })),
            (_, results) => says(format!("{results:?}")),
        }
    }
}

/// A directory with a plan in it, and this `spokes.yaml`.
fn project(name: &str, spokes: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a directory");
    fs::write(folder.join("plan.md"), "# Ship it\nTest it on Monday.\n").expect("a file");
    fs::write(folder.join("spokes.yaml"), spokes).expect("a file");
    folder
}

fn typed(folder: &Path, words: &[&str]) -> (bool, String) {
    let mut command = Command::new(PROGRAM);
    command.args(words).current_dir(folder).env_clear().env("HOME", folder);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("NO_PROXY", "127.0.0.1");
    let output = command.output().expect("it starts");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

/// The environment of Claude Code, as an entry of YAML.
fn claude_env(model: &MockModel, home: &Path) -> String {
    json!({ "ANTHROPIC_BASE_URL": model.url(), "ANTHROPIC_API_KEY": "any", "HOME": home, "IS_SANDBOX": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1" })
    .to_string()
}

/// Whether a process still has this in its environment.
fn runs(what: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let environment = |it: fs::DirEntry| fs::read(it.path().join("environ")).unwrap_or_default();
    let mut all = processes.map(environment);
    all.any(|text| String::from_utf8_lossy(&text).contains(what))
}

/// A directory whose `gpt` is opencode, asking a model at this address.
fn opencode(name: &str, home: &Path, model: &str) -> PathBuf {
    let program = home.join("opencode-linux-x64/bin/opencode");
    let folder = project(name, "");
    let options = json!({ "baseURL": format!("{model}/v1"), "apiKey": "any" });
    let provider = json!({ "npm": "@ai-sdk/anthropic", "options": options, "models": { "claude-sonnet-4-5": {} } });
    let settings = json!({ "provider": { "fake": provider }, "enabled_providers": ["fake"] });
    fs::write(folder.join("opencode.json"), settings.to_string()).expect("a file");
    let env = json!({ "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "HUB_TEST": name,
        "HOME": folder });
    let spokes = format!(
        "servers: {{docs: {{command: {PROGRAM}, args: [mock-mcp, docs]}}}}
spokes: [{{name: gpt, kind: opencode, model: fake/claude-sonnet-4-5, command: [{}], env: {env}}}]",
        program.display()
    );
    fs::write(folder.join("spokes.yaml"), spokes).expect("a file");
    folder
}

#[test]
fn opencode_answers_uses_tools_and_ends_with_the_hub() {
    let Some(home) = agents() else { return };
    let model = MockModel::start(Options::default(), Searches).expect("a port");
    let folder = opencode("opencode-child", &home, model.url());
    let (good, said) = typed(&folder, &["ask", "gpt", "what are hooks?"]);
    assert!(good && said.contains("s04_hooks/README.md") && said.contains("1 tool call"), "{said}");
    let (good, said) = typed(&folder, &["check"]);
    assert!(good && said.contains("agent   gpt   opencode  ready  opencode 1."), "{said}");
    assert!(!runs("HUB_TEST=opencode-child"), "a child is left");
}

/// The model never answers; what opencode has asked it is taken back, and opencode lives.
#[tokio::test]
async fn a_question_that_is_taken_back_is_aborted_in_opencode() {
    let Some(home) = agents() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("it listens"));
    let (open, mut asked) = watch::channel(0);
    let model = tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let open = open.clone();
            tokio::spawn(async move {
                open.send_modify(|open| *open += 1);
                while client.read(&mut [0; 4096]).await.is_ok_and(|read| read > 0) {}
                open.send_modify(|open| *open -= 1);
            });
        }
    });
    let folder = opencode("opencode-abort", &home, &url);
    let config = Config::read(&folder.join("spokes.yaml"), &|_| None).expect("it is right");
    let hub = Hub::new(config, &folder, &|_| None).expect("it is right");
    hub.start(|_, _| ()).await;
    let ask = Ask {
        agent: "gpt".to_owned(),
        prompt: "what are hooks?".to_owned(),
        ..Ask::default()
    };
    let scope = hub.scope("gpt");
    tokio::select! {
        answer = hub.ask(ask, &scope) => panic!("{answer:?}"),
        asking = asked.wait_for(|open| *open > 0) => drop(asking.expect("the model lives")),
    }
    asked.wait_for(|open| *open == 0).await.expect("the model lives");
    assert!(runs("HUB_TEST=opencode-abort"), "it has not survived");
    model.abort();
}

#[test]
fn claude_code_answers_and_uses_tools() {
    let Some(home) = agents() else { return };
    let model = MockModel::start(Options::default(), Searches).expect("a port");
    let program = home.join("@anthropic-ai/claude-code-linux-x64/claude");
    let folder = project("claude", "");
    let spokes = format!(
        "servers: {{docs: {{command: {PROGRAM}, args: [mock-mcp, docs]}}}}
spokes: [{{name: fable, kind: command, preset: claude, model: claude-sonnet-4-5, command: [{}], env: {}}}]",
        program.display(),
        claude_env(&model, &folder)
    );
    fs::write(folder.join("spokes.yaml"), spokes).expect("a file");
    let (good, said) = typed(&folder, &["ask", "fable", "what are hooks?"]);
    assert!(good && said.contains("s04_hooks/README.md") && said.contains("1 tool call"), "{said}");
}

#[test]
fn the_tools_of_claude_code_are_used_as_far_as_the_list_allows() {
    let Some(home) = agents() else { return };
    let model = MockModel::rehearsal();
    let program = home.join("@anthropic-ai/claude-code-linux-x64/claude");
    let folder = project("serve", "");
    let spokes = format!(
        "servers: {{claude: {{command: {}, args: [mcp, serve], env: {}}}}}
spokes: [{{name: gpt, capabilities: ['claude:Read']}}]",
        program.display(),
        claude_env(&model, &folder)
    );
    fs::write(folder.join("spokes.yaml"), spokes).expect("a file");
    let plan = format!("read {}", folder.join("plan.md").display());
    let (good, said) = typed(&folder, &["ask", "gpt", &plan]);
    assert!(good && said.contains("Test it on Monday.") && said.contains("1 tool call"), "{said}");
    let (_, checked) = typed(&folder, &["check"]);
    assert!(checked.contains("server  claude  stdio  ready  2"), "{checked}");
}

#[test]
fn s20_answers() {
    let program = Path::new(PROGRAM).with_file_name("s20_full");
    if agents().is_none() || !program.exists() {
        println!("skipped: {} is not built", program.display());
        return;
    }
    let folder = project(
        "s20",
        &format!(
            "spokes: [{{name: s20, kind: command, preset: s20, command: [{}]}}]",
            program.display()
        ),
    );
    let (good, said) = typed(&folder, &["ask", "s20", "read plan.md"]);
    assert!(
        good && said.contains("s20 · collaborate mode") && said.contains("tokens in"),
        "{said}"
    );
}
