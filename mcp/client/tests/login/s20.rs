//! A login from the prompt of the course's harness: s20 shows the address, and the browser comes back to `mcp_client login`.
//!
//! Invariant: no browser of this machine is opened; the test is the browser.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use testkit::Class;
use tokio::runtime::Handle;

use super::browser;
use super::server::{Server, Told};

#[tokio::test]
async fn a_server_that_wants_a_login_is_connected_after_mcp_login() {
    let told = Told {
        expires_in: 3600,
        ..Told::default()
    };
    let server = Server::start(told).await;
    let url = server.url();
    tokio::task::spawn_blocking(move || typed(&url)).await.unwrap();
    assert_eq!(server.issued(), ["access-1"]);
}

/// What the user does, in a terminal and in a browser.
fn typed(url: &str) {
    let s20 = Path::new(env!("CARGO_BIN_EXE_mcp_client")).with_file_name("s20_full");
    if !s20.exists() {
        let mut build = Command::new(env!("CARGO"));
        let built = build.args(["build", "--quiet", "--package", "s20_full"]).status().unwrap();
        assert!(built.success());
    }
    let entry = json!({"mcpServers": {"files": {"url": url}}});
    let allowed = json!({"permissions": {"allow": ["connect_mcp"]}});
    let class = Class::new(s20)
        .file(".mcp.json", entry.to_string())
        .file(".harness/settings.json", allowed.to_string())
        // There is no program in it that opens a browser.
        .env("PATH", "");
    let mut terminal = class.terminal(1000, 60);
    let connect = "Connect to the files MCP server";
    terminal.wait_for("s20 >>").type_line(connect).wait_for("wants a login").wait_for("[summary]");
    terminal.type_line("/mcp").wait_for("needs a login: /mcp login files");
    terminal.type_line("/mcp login files").wait_for("/authorize?").wait_for("&resource=");
    let screen = terminal.screen();
    let address = screen.split_whitespace().find(|word| word.contains("/authorize?")).unwrap();
    Handle::current().block_on(async {
        let answer = browser().get(address).send().await.unwrap();
        let back = answer.headers()["location"].to_str().unwrap().to_owned();
        let page = browser().get(back).send().await.unwrap().text().await.unwrap();
        assert!(page.contains("You can close this page"), "{page}");
    });
    terminal.wait_for("logged in to files; ask to connect to it");
    terminal.type_line(connect).wait_for("Discovered: look");
    terminal.type_line("/mcp").wait_until("the server is connected", |screen| {
        screen.lines().any(|line| line.starts_with("files ") && line.contains("connected"))
    });
}
