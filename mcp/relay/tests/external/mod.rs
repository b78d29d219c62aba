//! The relay, in front of the everything server, against clients that nobody here wrote and the official conformance suite.
//!
//! Invariant: without `cargo x external`, which installs them, the tests say so in a line and pass.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::path::{Path, PathBuf};
use std::process::Stdio;

use clap::Parser;
use mcp_relay::front::{self, Ready};
use mcp_relay::{Relay, config};
use serde_json::json;
use tempfile::NamedTempFile;
use tokio::process::Command;

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    front: front::Args,
}

/// Where `cargo x external` has put it.
fn installed(variable: &str) -> Option<PathBuf> {
    let home = std::env::var_os(variable).map(PathBuf::from);
    if home.is_none() {
        println!("skipped: {variable} is not set; cargo x external sets it");
    }
    home
}

/// A script of mcp_wire's, which examines whatever is at an address.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/external").join(name)
}

/// `backends.yaml` with the everything server on stdio.
fn backends() -> String {
    let own = std::env::current_exe().unwrap();
    let everything = own.ancestors().nth(2).unwrap().join("examples/everything");
    format!("backends:\n  - name: everything\n    command: {}\n", everything.display())
}

/// A relay over HTTP, and its URL.
async fn relay() -> String {
    let entries = config::parse(&backends(), &|_| None).unwrap();
    let relay = Relay::start(entries, None, Relay::patience(), Ready::default());
    let front = Program::parse_from(["program", "--http", "0"]).front;
    let front = front.open(Ready::default(), None).await.unwrap();
    let url = format!("http://{}/mcp", front.address().unwrap());
    tokio::spawn(front.serve(move |client| relay.clone().serve(client)));
    url
}

/// Runs a referee to its end.
async fn referee(command: &mut Command) -> String {
    let output = command.env("NO_PROXY", "127.0.0.1").stdin(Stdio::null()).output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{text}\n{errors}");
    text
}

#[tokio::test]
async fn the_conformance_suite_strictly_and_one_scenario_at_a_time() {
    let Some(home) = installed("EXTERNAL_SUITE") else { return };
    let url = relay().await;
    for (revision, scored) in [("2025-11-25", 30), ("2026-07-28", 37)] {
        let mut suite = Command::new(home.join("node_modules/.bin/node"));
        let said = referee(suite.arg(script("suite.mjs")).arg(&home).args([&url, revision])).await;
        assert!(said.contains(&format!("{scored} of them scored")), "{said}");
        println!("{revision}: {said}");
    }
}

#[tokio::test]
async fn the_inspector_over_http_and_started_from_an_mcp_json() {
    let Some(home) = installed("EXTERNAL_NODE") else { return };
    let url = relay().await;
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), backends()).unwrap();
    let entry =
        json!({ "command": env!("CARGO_BIN_EXE_mcp_relay"), "args": ["--config", file.path()] });
    let snippet = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    std::fs::write(snippet.path(), json!({ "mcpServers": { "relay": entry } }).to_string())
        .unwrap();
    let ways: [&[&str]; 3] = [
        &[&url, "--protocol-era", "legacy"],
        &[&url, "--protocol-era", "modern"],
        &["--config", snippet.path().to_str().unwrap(), "--server", "relay"],
    ];
    for way in ways {
        let ask = async |method: &[&str]| {
            let mut inspector = Command::new(home.join("node_modules/.bin/mcp-inspector"));
            referee(inspector.arg("--cli").args(way).arg("--method").args(method)).await
        };
        let listed = ask(&["tools/list"]).await;
        assert!(
            listed.contains("test_simple_text") && listed.contains("relay_get_status"),
            "{listed}"
        );
        let called = ask(&["tools/call", "--tool-name", "test_simple_text"]).await;
        assert!(called.contains("a simple text"), "{called}");
    }
}

#[tokio::test]
async fn clients_on_the_sdks_for_python_and_typescript() {
    let url = relay().await;
    if let Some(home) = installed("EXTERNAL_PYTHON") {
        for kind in ["mcp", "fastmcp"] {
            let mut python = Command::new(home.join("bin/python"));
            referee(python.arg(script("client.py")).args([kind, &url])).await;
        }
    }
    if let Some(home) = installed("EXTERNAL_SUITE") {
        for kind in ["v1", "v2", "v2-modern"] {
            let mut node = Command::new(home.join("node_modules/.bin/node"));
            referee(node.arg(script("client.mjs")).arg(&home).args([kind, &url])).await;
        }
    }
}
