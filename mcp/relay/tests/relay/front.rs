//! Who gets in, and what the two pages say.

use clap::Parser;
use mcp_relay::front::{self, Ready};

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    front: front::Args,
}

pub fn args(words: &[&str]) -> front::Args {
    Program::parse_from(std::iter::once(&"program").chain(words)).front
}

#[tokio::test]
async fn the_pages_are_open_and_all_else_wants_the_token() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "s3cret\n").unwrap();
    let ready = Ready::default();
    ready.lacks("docs", "docs: connecting");
    let front = args(&["--http", "0", "--token-file", file.path().to_str().unwrap()]);
    let front = front.open(ready.clone(), None).await.unwrap();
    let at = |path| format!("http://{}{path}", front.address().unwrap());
    let http = mcp_wire::http::ClientOptions::new("").http;
    let get = async |path| {
        let response = http.get(at(path)).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert_eq!(get("/healthz").await, (200, "ok\n".to_owned()));
    assert_eq!(get("/readyz").await, (503, "docs: connecting\n".to_owned()));
    ready.has("docs");
    assert_eq!(get("/readyz").await, (200, "ready\n".to_owned()));
    assert_eq!(get("/mcp").await.0, 401);
    for (token, status) in [("Bearer wrong", 401), ("Basic s3cret", 401), ("bearer s3cret", 400)] {
        let response = http.get(at("/mcp")).header("authorization", token).send().await.unwrap();
        assert_eq!(response.status(), status, "{token}");
    }
    let foreign = http.get(at("/healthz")).header("host", "evil.example").send().await.unwrap();
    assert_eq!(foreign.status(), 403);
}

#[tokio::test]
async fn other_machines_need_a_token() {
    let refused = args(&["--http", "0.0.0.0:0"]).open(Ready::default(), None).await;
    let why = refused.err().unwrap();
    assert!(why.contains("--token-file"), "{why}");
    let refused = args(&["--http", "0", "--token-file", "/nowhere/token"]);
    let why = refused.open(Ready::default(), None).await.err().unwrap();
    assert!(why.starts_with("/nowhere/token: "), "{why}");
    assert!(Program::try_parse_from(["program", "--http", "many"]).is_err());
    assert!(Program::try_parse_from(["program", "--token-file", "f"]).is_err());
}
