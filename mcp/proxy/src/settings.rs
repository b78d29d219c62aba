//! What a user may say about the proxy, beside the servers.
//!
//! Invariant: a field that nobody knows is refused with its place; paths are relative to the file that names them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// The settings of a proxy, a YAML file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Tools that appear as themselves: `name`, `server:name` or `server:*`.
    pub always_on: Vec<String>,
    /// Reading and writing apart: `call_tool_read` and `call_tool_write`.
    pub split: bool,
    /// Groups of synonyms beside the built-in ones.
    pub synonyms: Option<PathBuf>,
    /// Static token embeddings in the model2vec layout.
    pub embeddings: Option<PathBuf>,
    /// The share of a query's idf that its best tool must match; unset, the index's own.
    pub least_share: Option<f32>,
}

impl Settings {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong in it, and where.
    pub fn read(path: &Path) -> Result<Self> {
        let wrong = || format!("the settings {}", path.display());
        let text = std::fs::read_to_string(path).with_context(wrong)?;
        let mut settings: Self = serde_saphyr::from_str(&text).with_context(wrong)?;
        let share = settings.least_share;
        ensure!(
            share.is_none_or(|share| (0.0..=1.0).contains(&share)),
            "{}: least_share must be 0 to 1",
            wrong()
        );
        let folder = path.parent().unwrap_or(Path::new(""));
        for path in [&mut settings.synonyms, &mut settings.embeddings].into_iter().flatten() {
            *path = folder.join(&*path);
        }
        Ok(settings)
    }
}
