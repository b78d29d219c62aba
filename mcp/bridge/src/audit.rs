//! The audit: a line for every call.
//!
//! Invariant: a call that began has its line, also when nobody waited for its end; arguments stand in it as a hash alone.

use std::time::Instant;

use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::database::{Database, rows};
use crate::owner::Failure;

/// A line of the audit, written when it is dropped: by its end, or because nobody waits any more.
pub struct Audit {
    database: Database,
    /// The agent, the tool, and a hash of its arguments.
    call: [String; 3],
    began: Instant,
    /// What came of it.
    pub outcome: String,
}

impl Audit {
    /// A call begins.
    pub fn new(database: Database, agent: &str, tool: &str, arguments: &RawValue) -> Self {
        let hash = Sha256::digest(arguments.get());
        let hash = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self {
            database,
            call: [agent.to_owned(), kit::cut(tool, 100), hash],
            began: Instant::now(),
            outcome: "499 cancelled".to_owned(),
        }
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        let [agent, tool, arguments] = std::mem::take(&mut self.call);
        let outcome = std::mem::take(&mut self.outcome);
        let ms = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        let at = Timestamp::now().to_string();
        self.database.post(move |file| {
            let sql = "INSERT INTO audit (at, agent, tool, arguments, outcome, ms) VALUES (?, ?, ?, ?, ?, ?)";
            let line = (at, agent, tool, arguments, outcome, ms);
            if let Err(error) = file.prepare_cached(sql).and_then(|mut it| it.execute(line)) {
                tracing::error!(%error, "a line of the audit is lost");
            }
        });
    }
}

/// The newest lines, of one agent or of all.
pub async fn read(
    database: &Database,
    agent: Option<String>,
    limit: u32,
) -> Result<Vec<Value>, Failure> {
    let sql = "SELECT at, agent, tool, arguments, outcome, ms FROM audit
        WHERE ?1 IS NULL OR agent = ?1 ORDER BY id DESC LIMIT ?2";
    database.run(move |tx| Ok(rows(tx, sql, (agent, limit))?)).await
}
