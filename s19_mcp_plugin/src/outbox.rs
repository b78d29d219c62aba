//! What is still to be written to a server.
//!
//! A server that does not read fills its pipe, and whoever writes to it waits; the loop must not. Invariant: posting a
//! line never waits, and what lies here unread has a limit.

use std::sync::Mutex;

use anyhow::{Result, bail};
use tokio::sync::Notify;

use crate::lines::MAX_LINE;

/// Lines on their way out. One task takes them, any number post them.
#[derive(Default)]
pub struct Outbox {
    /// A std lock: nothing is awaited while it is held.
    lines: Mutex<Vec<u8>>,
    posted: Notify,
}

impl Outbox {
    /// Adds a line.
    ///
    /// # Errors
    /// When so much lies here that nobody can be reading.
    pub fn post(&self, line: &str) -> Result<()> {
        let mut lines = self.lines.lock().unwrap();
        if lines.len() + line.len() > MAX_LINE {
            bail!("it has not read the last {} MB it was sent", MAX_LINE >> 20);
        }
        lines.extend_from_slice(line.as_bytes());
        self.posted.notify_one();
        Ok(())
    }

    /// All lines that lie here, once there are some.
    pub async fn take(&self) -> Vec<u8> {
        loop {
            let lines = std::mem::take(&mut *self.lines.lock().unwrap());
            if !lines.is_empty() {
                return lines;
            }
            self.posted.notified().await;
        }
    }
}
