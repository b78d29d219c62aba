//! `cargo x book --test`: the book in a real browser.
//!
//! A page can be well formed and still throw, scroll sideways or lead nowhere; only a browser tells.
//! Invariant: what the page of pairs shows is held against what `cargo x diff` prints. What is not installed is one line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::Value;

use super::{Place, mdbook};
use crate::kit::{self, Kit};
use crate::terminal::Paint;
use crate::workspace::{CARRIED, Chapter, Workspace};
use crate::{diff, step};

/// The script that drives the browser.
const SCRIPT: &str = "book/tests/main.mjs";
/// The library that it drives it with; it brings no browser.
const PLAYWRIGHT: Kit = Kit {
    name: "playwright",
    variable: "KIT",
    packages: &["playwright-core@1.65.1"],
    program: "node",
    install: kit::install_node,
};
/// The names under which systems have it.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The pairs that the script compares line by line; the last one also on the page of its chapter.
const COMPARED: [(&str, &str); 5] = [
    ("s03", "s07"),
    ("s07", "s03"),
    ("s11", "s12"),
    ("s15", "s18"),
    ("s18", "s19"),
];

/// What the test needs and this machine has.
pub struct Tools {
    mdbook: PathBuf,
    browser: PathBuf,
    kit: PathBuf,
}

/// Makes the book and tries it.
///
/// # Errors
/// When the browser finds a fault, or something is not installed.
pub fn test(ws: &Workspace, place: &Place, pictures: Option<&Path>) -> Result<()> {
    let tools = tools()?;
    super::write(ws, place)?;
    mdbook::build(&tools.mdbook, place)?;
    let expected = place.folder.join("expected.json");
    fs::write(&expected, comparisons(ws))
        .with_context(|| format!("writing {}", expected.display()))?;
    let mut node = Command::new("node");
    node.arg(ws.root.join(SCRIPT))
        .env("BOOK", place.html())
        .env("EXPECTED", &expected)
        .env("CHROMIUM", &tools.browser)
        .env("MODEL", model(ws)?)
        .env(PLAYWRIGHT.variable, &tools.kit)
        .stdin(Stdio::null());
    if let Some(folder) = pictures {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        node.env("SCREENSHOTS", folder);
    }
    let status = node.status().context("starting node")?;
    if !status.success() {
        bail!("the book has faults in a browser; to repeat it: cargo x book --test");
    }
    Ok(())
}

/// Finds everything, and installs the kit.
///
/// # Errors
/// What is missing, in one line.
pub fn tools() -> Result<Tools> {
    let mdbook = mdbook::find()?;
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&paths).collect();
    let browser = BROWSERS
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file())
        .context("chromium is missing; install it, for example with: apt-get install chromium")?;
    let kit = kit::target()?.join("external").join(PLAYWRIGHT.name);
    kit::prepare(&PLAYWRIGHT, &kit)
        .map_err(|why| anyhow!("{} cannot be installed: {why}", PLAYWRIGHT.packages[0]))?;
    Ok(Tools {
        mdbook,
        browser,
        kit,
    })
}

/// The program of the mock model, built: its page is tried, too.
fn model(ws: &Workspace) -> Result<PathBuf> {
    let built = Command::new("cargo")
        .args(["build", "--quiet", "--package", "mock_servers"])
        .current_dir(&ws.root)
        .status()
        .context("starting cargo")?;
    ensure!(built.success(), "mock_servers does not build");
    Ok(kit::target()?.join("debug/mock_servers"))
}

/// What `cargo x diff` prints of the carried files, by pair: `{"s03..s07": "…"}`.
fn comparisons(ws: &Workspace) -> String {
    let shown = |from: &Chapter, to: &Chapter| {
        let files = CARRIED
            .iter()
            .filter_map(|file| Some((file, step::pair(ws, from, to, file)?)));
        files
            .map(|(file, pair)| diff::unified(file, &pair, Paint::PLAIN))
            .collect::<String>()
    };
    let entries = COMPARED.iter().filter_map(|(from, to)| {
        let (one, other) = (ws.chapter(from).ok()?, ws.chapter(to).ok()?);
        Some((format!("{from}..{to}"), shown(one, other).into()))
    });
    Value::Object(entries.collect()).to_string()
}
