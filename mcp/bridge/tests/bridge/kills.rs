//! kill -9 at any moment: what was answered is in the file.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use mcp_bridge::shim::http;
use serde_json::Value;

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
        let mut owner = Command::new(env!("CARGO_BIN_EXE_mcp_bridge"))
            .args(["serve", "--port", "0", "--config", "agents.yaml"])
            .env_remove("RUST_LOG")
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(owner.stderr.take().unwrap()).lines();
        let line =
            lines.find_map(|line| line.ok().filter(|line| line.contains("http://"))).unwrap();
        let base =
            line.split(' ').find(|word| word.starts_with("http")).unwrap().trim_end_matches(',');
        let token = std::fs::read_to_string(folder.path().join(".mcp_bridge/tokens/one")).unwrap();
        let call = async |tool: &str, body: &'static str| -> Option<u64> {
            let url = format!("{base}/api/internal/tools/one/{tool}");
            let answer = http().post(url).bearer_auth(&token).body(body).send().await.ok()?;
            let answer: Value = serde_json::from_str(&answer.text().await.ok()?).ok()?;
            answer["structuredContent"]["spent"].as_u64()
        };
        let spent = call("budget_check", "{}").await.unwrap();
        // Each client may have one under way that was done and not answered.
        assert!((sum..=sum + CLIENTS).contains(&spent), "kill {kill}: {spent} of {sum}");
        sum = spent;
        let acked = std::cell::Cell::new(0);
        let client = async || {
            while call("budget_spend", "{\"units\":1}").await.is_some() {
                acked.set(acked.get() + 1);
                // As good as random: another moment each time.
                if acked.get() == 1 + kill * 7 % 23 {
                    owner_kill(&owner);
                }
            }
        };
        futures_util::future::join_all((0..CLIENTS).map(|_| client())).await;
        owner.wait().unwrap();
        sum += acked.get();
    }
    let file = rusqlite::Connection::open(folder.path().join(".mcp_bridge/bridge.db")).unwrap();
    let whole: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(whole, "ok");
}

fn owner_kill(owner: &std::process::Child) {
    let id = nix::unistd::Pid::from_raw(owner.id().cast_signed());
    let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGKILL);
}
