//! `cargo x external`: our MCP servers and our MCP client against programs that nobody here wrote.
//!
//! The official Inspector and SDK examine the mock servers; the official servers, and one on FastMCP, are plugged into
//! s19; two agents of others ask the mock model; the transports of `mcp/wire` meet SDKs in three languages and the
//! conformance suite. The tests `external` of the crates do the examining; this installs what they need, once, below the target
//! folder, in fixed versions, so that a test means the same next year.
//! Invariant: what cannot be installed is skipped with one line that says why, and is no failure; half an installation is
//! never taken for a whole one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Deserialize;

use crate::cargo::{cargo, succeeds, target};
use crate::terminal;
use crate::workspace::{Member, Workspace};

/// What is installed together, and where that is.
const KITS: &str = include_str!("../kits.toml");

const NPM: &str =
    "install --prefix . --loglevel=error --no-audit --no-fund --ignore-scripts --fetch-retries=1";
const PIP: &str = "-m pip install --quiet --disable-pip-version-check --retries=1 --timeout=30";

/// What is installed together, and with what.
#[derive(Deserialize)]
struct Kit {
    /// Tells the tests where it is; unset, they skip what needs it.
    variable: String,
    /// Without it the kit neither installs nor runs.
    program: String,
    /// With their versions.
    packages: Vec<String>,
}

/// Installs what is missing and runs the tests `external`: of all crates, or of one.
///
/// # Errors
/// When a test fails, or the crate has none.
pub fn run(ws: &Workspace, only: Option<&str>) -> Result<()> {
    let has_test = |member: &&Member| {
        let test = format!("{}/tests/external/mod.rs", member.dir);
        ws.tree.text(&test).is_some()
    };
    let examined = ws.members.iter().filter(has_test);
    let mut names: Vec<_> = examined.filter_map(Member::package).collect();
    names.retain(|name| only.is_none_or(|only| only == *name));
    ensure!(!names.is_empty(), "this is no crate with a test that is called external");
    let mut installed = Vec::new();
    for name in kits()?.into_keys().filter(|name| name != "playwright") {
        match prepare(&name) {
            Ok(kit) => installed.push(kit),
            Err(why) => terminal::print(&format!("skipped: what needs {name}; {why}\n"))?,
        }
    }
    if installed.is_empty() {
        return Ok(());
    }
    for name in names {
        // Programs that the tests start; `cargo test --examples` would make tests of them.
        let examples = ["build", "--quiet", "--package", name, "--examples"];
        let built = succeeds(cargo(&examples).current_dir(&ws.root))?;
        ensure!(built, "the examples of {name} do not build");
        let args = ["test", "--quiet", "--package", name, "external::"];
        let mut test = cargo(&args);
        test.args(["--", "--nocapture"]).current_dir(&ws.root);
        if !succeeds(test.envs(installed.iter().cloned()))? {
            bail!("{name} and a program from outside do not understand each other");
        }
    }
    Ok(())
}

fn kits() -> Result<BTreeMap<String, Kit>> {
    toml::from_str(KITS).context("reading kits.toml")
}

/// Installs a kit that is not there in these versions, and says where it is, with the variable that says so.
///
/// # Errors
/// Why it is not there, in one line.
pub fn prepare(name: &str) -> Result<(String, PathBuf)> {
    let kit = kits()?.remove(name).context("there is no such kit")?;
    let home = target()?.join("external").join(name);
    // Also for a kit that is there: what it was installed with may be gone.
    succeed(&kit.program, Path::new("."), "--version", &[])?;
    once(&kit.packages, &home, || {
        if kit.program == "python3" {
            succeed("python3", &home, "-m venv .", &[])?;
            let python = home.join("bin/python").display().to_string();
            return succeed(&python, &home, PIP, &kit.packages);
        }
        succeed("npm", &home, NPM, &kit.packages)?;
        if kit.packages.iter().any(|it| it.starts_with("node@")) {
            // The script of node itself fetches the program for this machine.
            succeed("npm", &home, "rebuild --prefix . --loglevel=error node", &[])?;
        }
        Ok(())
    })?;
    Ok((kit.variable, home))
}

/// Installs into a folder what is not there in these versions. The list of the packages, written last, tells a whole
/// installation from half of one.
fn once(packages: &[String], home: &Path, install: impl FnOnce() -> Result<()>) -> Result<()> {
    let mark = home.join("installed");
    let wanted = packages.join("\n");
    if std::fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    if home.exists() {
        std::fs::remove_dir_all(home)?;
    }
    std::fs::create_dir_all(home)?;
    install()?;
    Ok(std::fs::write(mark, wanted)?)
}

/// Runs a program in a folder; why it failed is one line.
fn succeed(program: &str, folder: &Path, args: &str, more: &[String]) -> Result<()> {
    let mut command = Command::new(program);
    command.args(args.split(' ')).args(more).current_dir(folder);
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| anyhow!("{program} does not start: {error}"))?;
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said);
    // Advice and warnings stand around it; without a line that calls itself an error, the last one is the best there is.
    let error = said.lines().find(|line| line.to_lowercase().contains("error"));
    let line = error.or(said.trim().lines().next_back()).unwrap_or("no word why").trim();
    ensure!(output.status.success(), "{program} ended with {}: {line}", output.status);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kit_is_installed_once_and_again_in_other_versions() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("kit");
        let installed = |version: &str, works: bool| {
            let install = || {
                ensure!(works, "the registry is not there");
                Ok(std::fs::write(home.join(version), "")?)
            };
            once(&[version.to_owned()], &home, install).map_err(|error| error.to_string())
        };
        installed("a@1", true).unwrap();
        installed("a@1", false).unwrap();
        assert_eq!(installed("a@2", false).unwrap_err(), "the registry is not there");
        assert!(!home.join("a@1").exists() && !home.join("installed").exists());
        installed("a@2", true).unwrap();
        assert!(home.join("a@2").exists());
    }

    #[test]
    fn why_a_kit_is_missing_is_one_line() {
        let fails = |program: &str, script: &str| {
            let error = succeed(program, Path::new("."), "-c", &[script.to_owned()]);
            error.unwrap_err().to_string()
        };
        let missing = fails("no-such-program", "");
        assert!(missing.starts_with("no-such-program does not start: "), "{missing}");
        assert_eq!(fails("sh", "exit 3"), "sh ended with exit status: 3: no word why");
        let script = "echo advice >&2; echo 'npm error code ENOTFOUND' >&2; echo more >&2; exit 1";
        let line = "sh ended with exit status: 1: npm error code ENOTFOUND";
        assert_eq!(fails("sh", script), line);
    }
}
