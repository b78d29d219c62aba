//! The official conformance suite through the relay, in front of the everything server.
//!
//! Invariant: without `cargo x external`, which installs it, the test says so in a line and passes.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::path::Path;
use std::sync::Arc;

use clap::Parser;
use mcp_relay::front::{self, Ready};
use mcp_relay::{Relay, config};
use tokio::process::Command;

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    front: front::Args,
}

#[tokio::test]
async fn the_conformance_suite_through_the_relay() {
    let Some(home) = std::env::var_os("EXTERNAL_SUITE") else {
        return println!("skipped: EXTERNAL_SUITE is not set; cargo x external sets it");
    };
    let everything = std::env::current_exe().unwrap();
    let everything = everything.ancestors().nth(2).unwrap().join("examples/everything");
    let yaml = format!("backends:\n  - name: everything\n    command: {}\n", everything.display());
    let relay = Relay::start(
        config::parse(&yaml, &|_| None).unwrap(),
        None,
        Relay::patience(),
        Ready::default(),
    );
    let front = Program::parse_from(["program", "--http", "0"]).front;
    let front = front.open(Ready::default(), None).await.unwrap();
    let url = format!("http://{}/mcp", front.address().unwrap());
    let serving: Arc<Relay> = relay.clone();
    tokio::spawn(front.serve(move |client| serving.clone().serve(client)));
    let home = Path::new(&home);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/external/suite.mjs");
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut suite = Command::new(home.join("node_modules/.bin/node"));
        let suite = suite.arg(&script).arg(home).arg(&url).arg(revision);
        let ended = suite.env("NO_PROXY", "127.0.0.1").output().await.unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        println!("{revision}: {said}");
        assert!(ended.status.success(), "{said}");
    }
    relay.close().await;
}
