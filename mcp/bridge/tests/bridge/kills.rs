//! kill -9 at any moment: what was answered is in the file.

use std::path::Path;

use mcp_bridge::database::Database;
use nix::sys::signal::Signal;
use serde_json::json;

use crate::program::Serving;

const CLIENTS: u64 = 4;

/// `KILLS=100 cargo test -p mcp_bridge kills`.
#[tokio::test]
async fn the_file_survives_kills() {
    let kills: u64 = std::env::var("KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(5);
    let folder = tempfile::tempdir().unwrap();
    let text = "agents: [{name: one, tools: ['budget_*'], process: none, allowance: 100000000}]";
    std::fs::write(folder.path().join("agents.yaml"), text).unwrap();
    let mut sum = 0;
    for kill in 0..=kills {
        let mut owner = Serving::start(folder.path(), "one");
        let call = async |tool: &str, body| -> Option<u64> {
            let (_, answer) = owner.post(&format!("/api/internal/tools/one/{tool}"), &body).await?;
            answer["structuredContent"]["spent"].as_u64()
        };
        let spent = call("budget_check", json!({})).await.unwrap();
        // Each client may have one under way that was done and not answered.
        assert!((sum..=sum + CLIENTS).contains(&spent), "kill {kill}: {spent} of {sum}");
        sum = spent;
        let acked = std::cell::Cell::new(0);
        let client = async || {
            while call("budget_spend", json!({"units": 1})).await.is_some() {
                acked.set(acked.get() + 1);
                // As good as random: another moment each time.
                if acked.get() == 1 + kill * 7 % 23 {
                    owner.send(Signal::SIGKILL);
                }
            }
        };
        futures_util::future::join_all((0..CLIENTS).map(|_| client())).await;
        owner.child.wait().unwrap();
        sum += acked.get();
    }
    let file = rusqlite::Connection::open(folder.path().join(".mcp_bridge/bridge.db")).unwrap();
    let whole: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(whole, "ok");
}

#[tokio::test]
async fn work_whose_caller_has_left_the_queue_is_not_done() {
    let database = Database::open(Path::new(":memory:")).unwrap();
    let (let_go, held) = std::sync::mpsc::channel::<()>();
    let (before, left) = (database.clone(), database.clone());
    let before = tokio::spawn(async move { before.run(move |_| Ok(held.recv())).await });
    let sql = "INSERT INTO notes (note, agent, text, at) VALUES ('n', 'a', 't', '')";
    let left = tokio::spawn(async move { left.run(move |tx| Ok(tx.execute(sql, [])?)).await });
    // Both are in the queue then.
    tokio::task::yield_now().await;
    left.abort();
    assert!(left.await.unwrap_err().is_cancelled());
    let_go.send(()).unwrap();
    before.await.unwrap().unwrap().unwrap();
    let sql = "SELECT count(*) FROM notes";
    let count = database.run(move |tx| Ok(tx.query_row(sql, [], |row| row.get::<_, i64>(0))?));
    assert_eq!(count.await.unwrap(), 0);
}
