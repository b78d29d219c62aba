//! Reads the configuration again when its file has changed.
//!
//! The directory is watched, since editors put a new file in the place of the old one. Invariant: a file that is half
//! written, broken or gone changes nothing, and the log says why.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::config::{self, Entry};
use crate::relay::Relay;

/// The quiet after which a change is taken for whole.
pub const QUIET: Duration = Duration::from_millis(250);

/// Reads a configuration.
///
/// # Errors
/// What is wrong, with the path of the file in front.
pub fn read(file: &Path) -> Result<Vec<Entry>, String> {
    let named = |why: String| format!("{}: {why}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
    config::parse(&text, &|name| std::env::var(name).ok()).map_err(named)
}

/// Watches the file, as long as the watcher that it returns lives. A change is taken for whole after this much `quiet`.
///
/// # Errors
/// When it cannot be watched.
pub fn watch(
    relay: &Arc<Relay>,
    file: &Path,
    quiet: Duration,
) -> Result<RecommendedWatcher, String> {
    let failed = |error: &dyn std::fmt::Display| format!("watching {}: {error}", file.display());
    let file = file.canonicalize().map_err(|error| failed(&error))?;
    let (changed, mut changes) = mpsc::channel(1);
    let name = file.file_name().map(ToOwned::to_owned);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let ours = |event: &notify::Event| {
            !event.kind.is_access()
                && event.paths.iter().any(|path| path.file_name() == name.as_deref())
        };
        if event.as_ref().is_ok_and(ours) {
            // One that waits already stands for all.
            let _ = changed.try_send(());
        }
    })
    .map_err(|error| failed(&error))?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    watcher.watch(folder, RecursiveMode::NonRecursive).map_err(|error| failed(&error))?;
    let relay = Arc::downgrade(relay);
    tokio::spawn(async move {
        let mut last = None;
        while changes.recv().await.is_some() {
            while let Ok(Some(())) = timeout(quiet, changes.recv()).await {}
            let Some(relay) = relay.upgrade() else { return };
            match read(&file) {
                Ok(entries) => {
                    last = None;
                    relay.reload(entries).await;
                }
                Err(why) if last.as_ref() == Some(&why) => {}
                Err(why) => {
                    tracing::error!("{why}; what runs goes on unchanged");
                    last = Some(why);
                }
            }
        }
    });
    Ok(watcher)
}
