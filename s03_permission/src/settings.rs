//! The settings file: the user's decisions for this workspace.
//!
//! Several chapters read their own part of `.harness/settings.json`. Invariant: a file that cannot be read is reported
//! and left as it is, never taken for an empty one and never overwritten.

use std::fs;
use std::io::ErrorKind;

use anyhow::{Context, Result, ensure};
use s02_tools::Workspace;
use serde_json::Value;

/// The name of the file in the state folder.
pub const SETTINGS_FILE: &str = "settings.json";

/// Reads the settings; without a file they are an empty object.
///
/// # Errors
/// When the file cannot be read or is not a JSON object; the error names the file and the line.
pub fn read_settings(ws: &Workspace) -> Result<Value> {
    let path = ws.state(SETTINGS_FILE);
    let shown = ws.shown(&path);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => "{}".to_owned(),
        text => text.with_context(|| format!("reading {shown}"))?,
    };
    let settings: Value = serde_json::from_str(&text)
        .with_context(|| format!("{shown} is not valid JSON and is ignored until it is fixed"))?;
    ensure!(settings.is_object(), "{shown} is not a JSON object and is ignored");
    Ok(settings)
}
