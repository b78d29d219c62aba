//! `cargo x external`: our MCP servers and our MCP client against programs that nobody here wrote.
//!
//! The official Inspector and SDK examine the mock servers; the official servers, and one on FastMCP, are plugged into
//! s19; two agents of others ask the mock model. The tests `external` of the crates do the examining; this installs what they need, once, below the target folder.
//! Invariant: what cannot be installed is skipped with one line that says why, and is no failure.

use anyhow::{Context, Result, bail};

use crate::cargo::cargo;
use crate::kit::{Kit, install_node, install_python, prepare, target};
use crate::terminal;
use crate::workspace::Workspace;

/// The versions that were current when the tests were written; newer ones are tried by hand.
const KITS: [Kit; 3] = [
    Kit {
        name: "node",
        variable: "EXTERNAL_NODE",
        packages: &[
            "@modelcontextprotocol/inspector@2.12.0",
            "@modelcontextprotocol/server-everything@2026.8.31",
            "@modelcontextprotocol/server-filesystem@2026.8.31",
            "@modelcontextprotocol/server-memory@2026.8.31",
        ],
        program: "node",
        install: install_node,
    },
    Kit {
        name: "python",
        variable: "EXTERNAL_PYTHON",
        packages: &["mcp==2.3.0", "fastmcp==4.0.11"],
        program: "python3",
        install: install_python,
    },
    Kit {
        name: "agents",
        variable: "EXTERNAL_AGENTS",
        packages: &["@anthropic-ai/claude-code@2.1.197", "opencode-ai@1.18.33"],
        program: "node",
        install: install_node,
    },
];

/// The crates that have a test `external`.
const EXAMINED: [&str; 2] = ["mock_servers", "s19_mcp_plugin"];

/// Installs what is missing and runs the tests.
///
/// # Errors
/// When a test fails.
pub fn run(ws: &Workspace) -> Result<()> {
    let folder = target()?.join("external");
    let mut installed = Vec::new();
    for kit in &KITS {
        let home = folder.join(kit.name);
        match prepare(kit, &home) {
            Ok(()) => installed.push((kit.variable, home)),
            Err(why) => terminal::print(&format!("skipped: what needs {}; {why}\n", kit.name))?,
        }
    }
    if installed.is_empty() {
        return Ok(());
    }
    for name in EXAMINED {
        let test = format!("{name}/tests/external/main.rs");
        if ws.tree.text(&test).is_none() {
            continue;
        }
        let args = ["test", "--quiet", "--package", name, "--test", "external"];
        let status = cargo(&args)
            .args(["--", "--nocapture"])
            .envs(installed.iter().map(|(variable, home)| (variable, home)))
            .current_dir(&ws.root)
            .status()
            .context("starting cargo test")?;
        if !status.success() {
            bail!("{name} and a program from outside do not understand each other");
        }
    }
    Ok(())
}
