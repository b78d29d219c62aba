//! The official SDKs against the mock, unchanged: what they can do with the API they can do with it.
//!
//! The scripts beside this file do the talking. Each SDK is installed once, below the target directory.
//! Invariant: without the language or its registry the test says so in one line and passes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mock_servers::model::{Block, MockModel, Options, Reply, Request, says};
use serde_json::json;

/// The versions that were current when the scripts were written; a newer one is tried by hand.
const PYTHON_SDK: &str = "anthropic==2.12.0";
const TYPESCRIPT_SDK: &str = "@anthropic-ai/sdk@1.12.0";

#[test]
fn the_python_sdk_works_unchanged() {
    let home = directory("python-sdk");
    let python = home.join("bin/python");
    let installed = install(&home, |home| {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(home))?;
        let pip = ["-m", "pip", "install", "--quiet", "--retries=0", "--timeout=10", PYTHON_SDK];
        run(Command::new(&python).args(pip))
    });
    match installed {
        Ok(()) => examine(Command::new(python).arg(script("sdk.py"))),
        Err(reason) => skip("Python", &reason),
    }
}

#[test]
fn the_typescript_sdk_works_unchanged() {
    let home = directory("typescript-sdk");
    let installed = install(&home, |home| {
        run(Command::new("node").arg("--version"))?;
        let npm = ["install", "--loglevel=error", "--fetch-retries=0", "--fetch-timeout=10000"];
        run(Command::new("npm").args(npm).arg("--prefix").arg(home).arg(TYPESCRIPT_SDK))
    });
    match installed {
        Ok(()) => {
            // Node looks for packages beside the script.
            let copy = home.join("sdk.mjs");
            std::fs::copy(script("sdk.mjs"), &copy).expect("a copy of the script");
            examine(Command::new("node").arg(copy));
        }
        Err(reason) => skip("TypeScript", &reason),
    }
}

/// Calls the first tool on offer, and tells its result.
fn brain(request: &Request) -> Reply {
    let last = request.messages.last().and_then(|message| message.blocks.first());
    match (last, request.tools.first()) {
        (Some(Block::ToolResult { content, .. }), _) => says(format!("The tool says: {content}")),
        (_, Some(tool)) => {
            says("Let me look.").and_calls(tool.name.as_str(), json!({"city": "Köln", "days": 3}))
        }
        (_, None) => says("Hello from the mock model."),
    }
}

/// Runs a script against a fresh model; it ends with an error where something is not as in the API.
fn examine(command: &mut Command) {
    let options = Options {
        require_key: true,
        ..Options::default()
    };
    let model = MockModel::start(options, brain).expect("a free port");
    // Neither a key nor a login of the machine belongs to the test.
    for variable in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"] {
        command.env_remove(variable);
    }
    command.env("HOME", env!("CARGO_TARGET_TMPDIR")).env("NO_PROXY", "127.0.0.1");
    let output = command.arg(model.url()).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success() && stdout.ends_with("all as in the API\n"),
        "{stdout}\n{stderr}"
    );
}

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model").join(name)
}

/// Installs once; a mark tells a whole installation from half of one.
fn install(home: &Path, steps: impl Fn(&Path) -> Result<(), String>) -> Result<(), String> {
    let mark = home.join("installed");
    if mark.exists() {
        return Ok(());
    }
    let io = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(home).map_err(io)?;
    steps(home)?;
    std::fs::write(mark, "").map_err(io)
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.trim().lines().last().unwrap_or("failed");
    Err(format!("{program}: {last}"))
}

/// Straight to standard error, past the capture of the test harness.
fn skip(language: &str, reason: &str) {
    let _ = writeln!(
        std::io::stderr(),
        "skipped: the {language} SDK cannot be installed here ({reason})"
    );
}
