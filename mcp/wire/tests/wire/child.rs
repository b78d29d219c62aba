//! A server on stdio is a process group: it is spoken to, and nothing of it is left.

use mcp_wire::{Frame, stdio};
use serde_json::json;
use tokio::process::Command;

/// Whether a process still runs; one that nobody has buried yet does not.
fn runs(pid: u64) -> bool {
    let mut ps = std::process::Command::new("ps");
    let said = ps.args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
    let state = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[tokio::test]
async fn a_child_that_ends_with_its_input_is_not_signalled() {
    let (mut connection, mut child) = stdio::spawn(&mut shell("cat; exit 7"), 1 << 20).unwrap();
    let sent = Frame::request("x", "echo", json!({ "n": 1.0 }));
    connection.writer.send(sent.clone()).await.unwrap();
    let came = connection.reader.recv().await.unwrap().unwrap();
    assert_eq!(came.to_line(), sent.to_line());
    drop(connection.writer);
    assert!(connection.reader.recv().await.is_none());
    assert_eq!(child.wait().await.unwrap().code(), Some(7));
}

#[tokio::test(start_paused = true)]
async fn a_deaf_child_and_its_own_child_are_ended_together() {
    let script = r#"trap "" INT TERM; sleep 1000 & echo '{"jsonrpc":"2.0","method":"pid","params":'$!'}'; sleep 1000"#;
    for dropped in [false, true] {
        let (mut connection, child) = stdio::spawn(&mut shell(script), 1 << 20).unwrap();
        let told = connection.reader.recv().await.unwrap().unwrap();
        let pid = told.params.unwrap().get().parse().unwrap();
        assert!(runs(pid));
        if dropped {
            drop(child);
        } else {
            child.stop().await;
        }
        // Both ends of its pipe are closed only when the last of the group is gone.
        assert!(connection.reader.recv().await.is_none());
        assert!(!runs(pid));
    }
}
