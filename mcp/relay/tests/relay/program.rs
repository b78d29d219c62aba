//! The program itself: how it ends while a call is under way.

use std::process::Stdio;

use mcp_wire::http::{self, ClientOptions};
use mcp_wire::{Frame, stdio};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::both_ways::{heard, puppet};
use crate::scene::{greet, said};

#[tokio::test]
async fn told_to_stop_it_waits_for_the_call_under_way_and_ends_well() {
    for http in [true, false] {
        let (url, mut frames, backend) = puppet("2025-11-25").await;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("backends: [{{name: b, url: '{url}'}}]")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp_relay"));
        command.arg("--config").arg(file.path()).stderr(Stdio::piped()).kill_on_drop(true);
        command.args(if http { &["--http", "0"][..] } else { &[] }).env("RUST_LOG", "off");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let connection = if http {
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
            http::connect(ClientOptions::new(&lines.next_line().await.unwrap().unwrap()))
        } else {
            let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            stdio::lines(output, input, 1 << 20)
        };
        let client = greet(connection, json!({})).await;
        let call = client.peer.call("tools/call", json!({ "name": "ask" })).await;
        let asked = heard(&mut frames, "tools/call").await;
        let id = Pid::from_raw(child.id().unwrap().cast_signed());
        kill(id, Signal::SIGTERM).unwrap();
        backend.say(Frame::result(asked.id.unwrap(), said("at last"))).await;
        assert!(call.result().await.unwrap().get().contains("at last"), "http: {http}");
        assert!(child.wait().await.unwrap().success(), "http: {http}");
    }
}
