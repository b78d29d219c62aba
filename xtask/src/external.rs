//! `cargo x external`: our MCP servers and our MCP client against programs that nobody here wrote.
//!
//! The official Inspector and SDK examine the mock servers; the official servers, and one on FastMCP, are plugged into
//! s19; two agents of others ask the mock model; the transports of `mcp/wire` meet SDKs in three languages and the
//! conformance suite. The tests `external` of the crates do the examining; this installs what they need, once, below the target
//! folder, in fixed versions, so that a test means the same next year.
//! Invariant: what cannot be installed is skipped with one line that says why, and is no failure; half an installation is
//! never taken for a whole one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::cargo::{cargo, target};
use crate::terminal;
use crate::workspace::{Member, Workspace};

/// What is installed together, and with what.
pub struct Kit {
    /// Its folder, and what it is called in a message.
    pub name: &'static str,
    /// Tells the tests where it is; unset, they skip what needs it.
    pub variable: &'static str,
    /// With their versions.
    pub packages: &'static [&'static str],
    /// Without it the kit neither installs nor runs.
    pub program: &'static str,
    /// Installs the packages into the folder.
    pub install: fn(&Path, &[&str]) -> Result<(), String>,
}

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
        install: npm,
    },
    Kit {
        name: "python",
        variable: "EXTERNAL_PYTHON",
        packages: &["mcp==2.3.0", "fastmcp==4.0.11"],
        program: "python3",
        install: pip,
    },
    Kit {
        name: "agents",
        variable: "EXTERNAL_AGENTS",
        packages: &["@anthropic-ai/claude-code@2.1.197", "opencode-ai@1.18.33"],
        program: "node",
        install: npm,
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
        install: npm_with_node,
    },
    Kit {
        name: "python-ws",
        variable: "EXTERNAL_PYTHON_WS",
        // The last version with a WebSocket transport.
        packages: &["mcp[ws]==1.30.0", "uvicorn"],
        program: "python3",
        install: pip,
    },
];

/// Installs what is missing and runs the tests `external`: of all crates, or of one.
///
/// # Errors
/// When a test fails, or the crate has none.
pub fn run(ws: &Workspace, only: Option<&str>) -> Result<()> {
    let has_test = |member: &&Member| {
        let test = format!("{}/tests/external/main.rs", member.dir);
        ws.tree.text(&test).is_some()
    };
    let examined = ws
        .members
        .iter()
        .filter(has_test)
        .filter_map(Member::package);
    let names: Vec<_> = examined
        .filter(|name| only.is_none_or(|only| only == *name))
        .collect();
    if let (Some(only), []) = (only, &names[..]) {
        bail!("{only} is no crate with a test that is called external");
    }
    let mut installed = Vec::new();
    for kit in &KITS {
        match prepare(kit) {
            Ok(home) => installed.push((kit.variable, home)),
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
        let built = built.context("starting cargo build")?.success();
        ensure!(built, "the examples of {name} do not build");
        let args = ["test", "--quiet", "--package", name, "--test", "external"];
        let mut test = cargo(&args);
        test.args(["--", "--nocapture"])
            .envs(installed.iter().cloned());
        let passed = test
            .current_dir(&ws.root)
            .status()
            .context("starting cargo test")?;
        let understood = passed.success();
        ensure!(
            understood,
            "{name} and a program from outside do not understand each other"
        );
    }
    Ok(())
}

/// Installs a kit that is not there in these versions, and says where it is. The list of its packages, written last, tells a
/// whole installation from half of one.
///
/// # Errors
/// Why it is not there, in one line.
pub fn prepare(kit: &Kit) -> Result<PathBuf, String> {
    // Also for a kit that is there: what it was installed with may be gone.
    succeed(kit.program, Path::new("."), "--version", &[])?;
    let home = target().map_err(|error| error.to_string())?;
    let home = home.join("external").join(kit.name);
    install(kit, &home)?;
    Ok(home)
}

fn install(kit: &Kit, home: &Path) -> Result<(), String> {
    let mark = home.join("installed");
    let wanted = kit.packages.join("\n");
    if std::fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    let io = |error: std::io::Error| format!("{}: {error}", home.display());
    if home.exists() {
        std::fs::remove_dir_all(home).map_err(io)?;
    }
    std::fs::create_dir_all(home).map_err(io)?;
    (kit.install)(home, kit.packages)?;
    std::fs::write(mark, wanted).map_err(io)
}

/// Installs with npm.
///
/// # Errors
/// What npm says is wrong, in one line.
pub fn npm(home: &Path, packages: &[&str]) -> Result<(), String> {
    let install = "install --prefix . --loglevel=error --no-audit --no-fund --ignore-scripts --fetch-retries=1";
    succeed("npm", home, install, packages)
}

/// With npm, and node among the packages: its own script fetches the program for this machine.
fn npm_with_node(home: &Path, packages: &[&str]) -> Result<(), String> {
    npm(home, packages)?;
    succeed("npm", home, "rebuild --prefix . --loglevel=error node", &[])
}

/// With pip, in an environment of its own.
fn pip(home: &Path, packages: &[&str]) -> Result<(), String> {
    let install = "-m pip install --quiet --disable-pip-version-check --retries=1 --timeout=30";
    succeed("python3", home, "-m venv .", &[])?;
    succeed(
        &home.join("bin/python").display().to_string(),
        home,
        install,
        packages,
    )
}

/// Runs a program in a folder; why it failed is one line.
fn succeed(program: &str, folder: &Path, args: &str, more: &[&str]) -> Result<(), String> {
    let mut command = Command::new(program);
    command
        .args(args.split(' '))
        .args(more)
        .current_dir(folder)
        .stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|error| format!("{program} does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said);
    // Advice and warnings stand around it; without a line that calls itself an error, the last one is the best there is.
    let error = said
        .lines()
        .find(|line| line.to_lowercase().contains("error"));
    let line = error
        .or(said.trim().lines().next_back())
        .unwrap_or("no word why");
    Err(format!(
        "{program} ended with {}: {}",
        output.status,
        line.trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kit whose installation leaves a file, or fails.
    fn kit(
        packages: &'static [&'static str],
        install: fn(&Path, &[&str]) -> Result<(), String>,
    ) -> Kit {
        Kit {
            name: "kit",
            variable: "EXTERNAL_KIT",
            packages,
            program: "no-such-program",
            install,
        }
    }

    #[test]
    fn a_kit_is_installed_once_and_again_in_other_versions() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("kit");
        let leaves_a_file = |home: &Path, packages: &[&str]| {
            std::fs::write(home.join(packages[0]), "").map_err(|error| error.to_string())
        };
        let fails = |_: &Path, _: &[&str]| Err("the registry is not there".to_owned());

        install(&kit(&["a@1"], leaves_a_file), &home).unwrap();
        install(&kit(&["a@1"], fails), &home).unwrap();
        let why = install(&kit(&["a@2"], fails), &home).unwrap_err();
        assert_eq!(why, "the registry is not there");
        assert!(!home.join("a@1").exists() && !home.join("installed").exists());
        install(&kit(&["a@2"], leaves_a_file), &home).unwrap();
        assert!(home.join("a@2").exists());
    }

    #[test]
    fn why_a_kit_is_missing_is_one_line() {
        let missing = prepare(&kit(&[], |_, _| Ok(()))).unwrap_err();
        assert!(
            missing.starts_with("no-such-program does not start: "),
            "{missing}"
        );
        let fails = |script: &str| succeed("sh", Path::new("."), "-c", &[script]).unwrap_err();
        assert_eq!(fails("exit 3"), "sh ended with exit status: 3: no word why");
        assert_eq!(
            fails("echo advice >&2; echo 'npm error code ENOTFOUND' >&2; echo more >&2; exit 1"),
            "sh ended with exit status: 1: npm error code ENOTFOUND"
        );
    }
}
