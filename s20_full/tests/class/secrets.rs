//! The key: it leaves in one header of a request, and nothing that is written down or started ever holds it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use mock_servers::model::{MockModel, Reply, Request, calls, says};
use serde_json::json;
use testkit::Class;

use super::{PROMPT, background, bash, class, is_subagent, model, session};

const KEY: &str = "sk-recognisable-1f7c";
const TOKEN: &str = "token-recognisable-9d2e";

/// Stands before git in the path and writes down what it is given.
const GIT: &str = "#!/bin/sh\nenv >> captured/git\nPATH=${PATH#*:} exec git \"$@\"\n";

/// What the lead does: it starts everything that can be started. The large output goes to a file, the compacted
/// conversation to a transcript, each call to the log.
fn steps() -> [Reply; 8] {
    [
        bash("sh dump bash; seq 20000"),
        background("sh dump job"),
        calls("create_task", json!({"subject": "api"})),
        calls("create_worktree", json!({"name": "api"})),
        calls("connect_mcp", json!({"name": "odd"})),
        calls("task", json!({"description": "look", "prompt": "look around"})),
        calls(
            "schedule_cron",
            json!({"cron": "0 9 * * *", "prompt": "good morning", "durable": true}),
        ),
        calls("compact", json!({})),
    ]
}

/// A model that takes these steps. They are counted here: a compacted conversation does not say what was called before.
fn busy() -> MockModel {
    let (steps, done) = (steps(), AtomicUsize::new(0));
    model(move |request: &Request| match (is_subagent(request), request.calls().len()) {
        (true, 0) => bash("sh dump subagent"),
        (true, _) => says("Nothing there."),
        (false, _) => {
            let step = steps.get(done.fetch_add(1, Relaxed)).cloned();
            step.unwrap_or_else(|| says("All done."))
        }
    })
}

/// A workspace in which whatever is started writes down its environment.
fn curious() -> Class {
    let hook = json!([{"hooks": [{"type": "command", "command": "sh dump hook"}]}]);
    let settings = json!({
        "permissions": {"allow": ["bash", "connect_mcp", "create_worktree", "schedule_cron"]},
        "hooks": {"UserPromptSubmit": hook, "PreToolUse": hook, "PostToolUse": hook, "Stop": hook},
    });
    let line = "sh dump mcp; exec \"$0\" mock-mcp docs";
    let server = json!({"command": "sh", "args": ["-c", line, env!("CARGO_BIN_EXE_s20_full")]});
    let servers = json!({"mcpServers": {"odd": server}});
    let class = class(&[])
        .file(".harness/settings.json", settings.to_string())
        .file(".mcp.json", servers.to_string())
        .file("dump", "env >> captured/$1\n")
        .file("captured/.gitignore", "*\n")
        .file("bin/git", GIT);
    let bin = class.dir().join("bin");
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = OsString::from(bin);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    class.env("PATH", path)
}

#[test]
fn the_key_is_in_no_file_and_in_no_environment() {
    let model = busy();
    let class =
        curious().model(&model).env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_AUTH_TOKEN", TOKEN);
    let mut terminal = session(&class);
    terminal.type_line("do it all");
    terminal.wait_for("All done.").wait_for("dump job: finished, exit code 0");
    terminal.wait_for(PROMPT).type_line("exit");
    assert_eq!(terminal.wait_exit(), 0);

    for who in ["bash", "job", "git", "mcp", "subagent", "hook"] {
        let seen = class.read(Path::new("captured").join(who));
        assert!(seen.contains("PATH="), "{who} was not started");
    }
    for folder in ["sessions", "outputs", "transcripts"] {
        let folder = class.dir().join(".harness").join(folder);
        let is_used = fs::read_dir(&folder).is_ok_and(|files| files.count() > 0);
        assert!(is_used, "{folder:?}");
    }
    for file in ["log.jsonl", "history", "cron.json"] {
        let content = class.read(Path::new(".harness").join(file));
        assert!(!content.is_empty(), "{file}");
    }
    let root = class.dir().parent().unwrap().to_owned();
    search(&root, &mut |file, bytes| holds_no_secret(&file.display().to_string(), bytes));
    holds_no_secret("the screen", terminal.screen().as_bytes());
    for request in model.requests() {
        holds_no_secret("a request", &request.body);
    }
}

#[track_caller]
fn holds_no_secret(what: &str, bytes: &[u8]) {
    for secret in [KEY, TOKEN] {
        let mut pieces = bytes.windows(secret.len());
        let found = pieces.any(|piece| piece == secret.as_bytes());
        assert!(!found, "{secret} stands in {what}");
    }
}

/// Shows each regular file below a directory.
fn search(folder: &Path, see: &mut impl FnMut(&Path, &[u8])) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            search(&entry.path(), see);
        } else if kind.is_file() {
            see(&entry.path(), &fs::read(entry.path()).unwrap());
        }
    }
}
