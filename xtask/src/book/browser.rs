//! `cargo x book --test`: the book in a real browser.
//!
//! A page can be well formed and still throw, scroll sideways or lead nowhere; only a browser tells.
//! Invariant: what the page of pairs shows is held against what `cargo x diff` prints. What is not installed is one line.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use crate::cargo::{cargo, succeeds, target};
use crate::external;
use crate::workspace::{CARRIED, Workspace};
use crate::{diff, step};

/// The script that drives the browser.
const SCRIPT: &str = "book/tests/main.mjs";
/// The names under which systems have it.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The pairs that the script compares line by line; the last one also on the page of its chapter.
const COMPARED: &str = "s03..s07 s07..s03 s11..s12 s15..s18 s18..s19";

/// Makes the book and tries it.
///
/// # Errors
/// When the browser finds a fault, or something is not installed.
pub fn test(ws: &Workspace, pictures: Option<&Path>) -> Result<()> {
    let (browser, kit) = tools()?;
    let folder = super::make(ws)?;
    let expected = folder.join("expected.json");
    super::put(&expected, &comparisons(ws)?)?;
    // The page of the mock model is tried, too.
    // Beside an example it has the features that it has beside tests: nothing is built anew.
    let model = ["build", "--quiet", "--workspace", "--bin", "mock_servers", "--examples"];
    let built = succeeds(cargo(&model).current_dir(&ws.root))?;
    ensure!(built, "mock_servers does not build");
    let mut node = Command::new("node");
    node.arg(ws.root.join(SCRIPT))
        .env("BOOK", folder.join("html"))
        .env("EXPECTED", &expected)
        .env("CHROMIUM", browser)
        .env("MODEL", target()?.join("debug/mock_servers"))
        .env("KIT", kit)
        .stdin(Stdio::null());
    if let Some(folder) = pictures {
        node.env("SCREENSHOTS", folder);
    }
    let passed = node.status().context("starting node")?.success();
    ensure!(passed, "the book has faults in a browser");
    Ok(())
}

/// The browser, and the kit that drives it, which is installed when it is not there.
///
/// # Errors
/// What is missing, mdbook or one of these, in one line.
pub fn tools() -> Result<(PathBuf, PathBuf)> {
    super::mdbook_is_there()?;
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut places =
        std::env::split_paths(&paths).flat_map(|folder| BROWSERS.map(|name| folder.join(name)));
    let browser = places
        .find(|path| path.is_file())
        .context("chromium is missing; install it, for example with: apt-get install chromium")?;
    let (_, kit) = external::prepare("playwright").context("playwright cannot be installed")?;
    Ok((browser, kit))
}

/// What `cargo x diff` prints of the carried files, by pair: `{"s03..s07": "…"}`.
fn comparisons(ws: &Workspace) -> Result<String> {
    let mut all = Map::new();
    for compared in COMPARED.split(' ') {
        let (from, to) = compared.split_once("..").unwrap_or_default();
        let (from, to) = (ws.chapter(from)?, ws.chapter(to)?);
        let pairs = CARRIED.map(|file| step::pair(ws, from, to, file));
        let shown: String = pairs.iter().flatten().map(diff::unified).collect();
        all.insert(compared.to_owned(), shown.into());
    }
    Ok(Value::Object(all).to_string())
}
