//! The database: one file, one connection, one thread that uses it.
//!
//! Several writers at one SQLite file wait for each other by polling, or are refused. Here they stand in a queue. Invariants:
//! each piece of work is a transaction that begins as a writer, so none is refused half way; what was answered is in the file,
//! whatever becomes of this process.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row, Transaction, TransactionBehavior};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::owner::Failure;

/// What was added to the tables, in order; `user_version` counts what a file has.
const MIGRATIONS: [&str; 2] = [
    "CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL,
        assignee TEXT, notes TEXT NOT NULL, made_by TEXT NOT NULL, changed TEXT NOT NULL);
     CREATE TABLE memories (agent TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL,
        changed TEXT NOT NULL, PRIMARY KEY (agent, key));
     CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT NOT NULL, agent TEXT NOT NULL,
        text TEXT NOT NULL, at TEXT NOT NULL);
     CREATE TABLE spent (agent TEXT NOT NULL, day TEXT NOT NULL, units INTEGER NOT NULL,
        PRIMARY KEY (agent, day));",
    "CREATE TABLE audit (id INTEGER PRIMARY KEY, at TEXT NOT NULL, agent TEXT NOT NULL,
        tool TEXT NOT NULL, arguments TEXT NOT NULL, outcome TEXT NOT NULL, ms INTEGER NOT NULL);
     CREATE INDEX audit_of ON audit (agent, id);",
];

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// The queue in front of the database. Clones share it; the last one closes the file.
#[derive(Clone)]
pub struct Database(mpsc::Sender<Work>);

impl Database {
    /// Opens the file, makes it if need be, and brings its tables up to date.
    ///
    /// # Errors
    /// When it is none of ours, or cannot be written.
    pub fn open(path: &Path) -> Result<Self, String> {
        let wrong = |error: rusqlite::Error| format!("{}: {error}", path.display());
        let mut file = Connection::open(path).map_err(wrong)?;
        let version = prepare(&mut file).map_err(wrong)?;
        if version > MIGRATIONS.len() {
            let why = format!("it is of version {version}, from a newer mcp_bridge");
            return Err(format!("{}: {why}", path.display()));
        }
        let (works, mut queue) = mpsc::channel::<Work>(1024);
        std::thread::spawn(move || {
            while let Some(work) = queue.blocking_recv() {
                work(&mut file);
            }
        });
        Ok(Self(works))
    }

    /// Does this in a transaction, after what was asked before, unless nobody waits any more when its turn comes. An error
    /// takes back all of it.
    ///
    /// # Errors
    /// Its own, or the database's.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let (done, answer) = oneshot::channel();
        let work: Work = Box::new(move |file| {
            if done.is_closed() {
                return;
            }
            let work = || {
                let change = file.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let value = work(&change)?;
                change.commit()?;
                Ok(value)
            };
            let _ = done.send(work());
        });
        let ended = || Failure::new(500, "broken", "the database has ended");
        self.0.send(work).await.map_err(|_| ended())?;
        answer.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Puts this behind what was asked before, from where nobody waits.
    pub(crate) fn post(&self, work: impl FnOnce(&mut Connection) + Send + 'static) {
        if let Err(mpsc::error::TrySendError::Full(work)) = self.0.try_send(Box::new(work)) {
            let queue = self.0.clone();
            tokio::spawn(async move { queue.send(work).await.is_ok() });
        }
    }
}

/// Brings the tables up to date; which version they had.
fn prepare(file: &mut Connection) -> rusqlite::Result<usize> {
    file.busy_timeout(Duration::from_secs(5))?;
    file.pragma_update(None, "journal_mode", "WAL")?;
    file.pragma_update(None, "synchronous", "NORMAL")?;
    let change = file.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: usize = change.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    MIGRATIONS.iter().skip(version).try_for_each(|tables| change.execute_batch(tables))?;
    change.pragma_update(None, "user_version", version.max(MIGRATIONS.len()))?;
    change.commit()?;
    Ok(version)
}

/// What a statement finds: an object for each row, with its columns.
pub(crate) fn rows(
    file: &Connection,
    sql: &str,
    values: impl Params,
) -> rusqlite::Result<Vec<Value>> {
    let mut statement = file.prepare_cached(sql)?;
    let names: Vec<_> = statement.column_names().into_iter().map(str::to_owned).collect();
    let object = |row: &Row<'_>| {
        let cells = names.iter().enumerate().map(|(at, name)| {
            let value = match row.get_ref(at)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => number.into(),
                text => text.as_str()?.into(),
            };
            Ok((name.clone(), value))
        });
        cells.collect()
    };
    statement.query_map(values, object)?.collect()
}
