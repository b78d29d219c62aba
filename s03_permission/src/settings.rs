//! The settings file: what the user has decided once for this workspace.
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
/// When the file cannot be read or is no JSON object; the error names the file and the line.
pub fn read_settings(ws: &Workspace) -> Result<Value> {
    let path = ws.state(SETTINGS_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Value::Object(Default::default()));
        }
        Err(error) => return Err(error).with_context(|| format!("reading {}", ws.shown(&path))),
    };
    let settings: Value = serde_json::from_str(&text).with_context(|| {
        format!(
            "{} is not JSON and is not used until it is mended",
            ws.shown(&path)
        )
    })?;
    ensure!(
        settings.is_object(),
        "{} holds no JSON object and is not used",
        ws.shown(&path)
    );
    Ok(settings)
}
