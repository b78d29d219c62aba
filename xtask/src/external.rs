//! `cargo x external`: our MCP servers and our MCP client against programs that nobody here wrote.
//!
//! The official Inspector and SDK examine the mock servers; the official servers, and one on FastMCP, are plugged into
//! s19; two agents of others ask the mock model; the transports of `mcp/wire` meet SDKs in three languages and the
//! conformance suite. The tests `external` of the crates do the examining; this installs what they need, once, below the target folder.
//! Invariant: what cannot be installed is skipped with one line that says why, and is no failure.

use anyhow::{Context, Result, bail};

use crate::cargo::cargo;
use crate::kit::{Kit, install_node, install_node_itself, install_python, prepare, target};
use crate::terminal;
use crate::workspace::{Member, Workspace};

/// The versions that were current when the tests were written; newer ones are tried by hand.
const KITS: [Kit; 5] = [
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
    Kit {
        name: "suite",
        variable: "EXTERNAL_SUITE",
        packages: &[
            // The suite wants a newer node than many machines have.
            "node@22.23.3",
            "@modelcontextprotocol/conformance@0.2.0-alpha.12",
            "@modelcontextprotocol/sdk@1.32.2",
            "@modelcontextprotocol/client@2.4.0",
        ],
        program: "node",
        install: install_node_itself,
    },
    Kit {
        name: "python-ws",
        variable: "EXTERNAL_PYTHON_WS",
        // The last version with a WebSocket transport.
        packages: &["mcp[ws]==1.30.0", "uvicorn"],
        program: "python3",
        install: install_python,
    },
];

/// Installs what is missing and runs the tests `external`: of all crates, or of one.
///
/// # Errors
/// When a test fails, or the crate has none.
pub fn run(ws: &Workspace, only: Option<&str>) -> Result<()> {
    let examined = ws.members.iter().filter(|member| {
        let test = format!("{}/tests/external/main.rs", member.dir);
        ws.tree.text(&test).is_some()
    });
    let names = examined.filter_map(Member::package);
    let names: Vec<_> = names
        .filter(|name| only.is_none_or(|only| only == *name))
        .collect();
    if let (Some(only), true) = (only, names.is_empty()) {
        bail!("{only} is no crate with a test that is called external");
    }
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
    for name in names {
        // Programs that the tests start; `cargo test --examples` would make tests of them.
        let examples = ["build", "--quiet", "--package", name, "--examples"];
        let built = cargo(&examples).current_dir(&ws.root).status();
        if !built.context("starting cargo build")?.success() {
            bail!("the examples of {name} do not build");
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
