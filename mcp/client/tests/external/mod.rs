//! The client against programs that nobody here wrote: servers on every transport, and the official conformance suite.
//!
//! Invariant: without `cargo x external`, which installs them, the tests say so in a line and pass.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mcp_client::{Client, Options, Server};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

/// Where `cargo x external` has put it.
fn installed(variable: &str) -> Option<PathBuf> {
    let home = std::env::var_os(variable).map(PathBuf::from);
    if home.is_none() {
        println!("skipped: {variable} is not set; cargo x external sets it");
    }
    home
}

/// A program with a port of its own, listening; it ends when it is dropped.
async fn serving(command: &mut Command) -> (Child, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    // The servers on Python take it from an argument, the others from the environment.
    let python = command.as_std().get_program().to_string_lossy().contains("python");
    if python {
        command.arg(port.to_string());
    }
    let command = command.env("PORT", port.to_string()).env("NO_PROXY", "127.0.0.1");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let child = command.spawn().unwrap();
    let mut every = tokio::time::interval(Duration::from_millis(50));
    for _ in 0..1200 {
        every.tick().await;
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok() {
            return (child, port);
        }
    }
    panic!("{command:?} does not listen");
}

fn stdio(program: &Path, args: &[&str]) -> Server {
    Server {
        name: "external".to_owned(),
        command: program.to_string_lossy().into_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        ..Server::default()
    }
}

/// Connects, lists and calls: the tool, its arguments, what its answer says, and how often it reports progress before.
async fn examine(
    server: &Server,
    version: Option<&str>,
    tool: &str,
    arguments: Value,
    says: &str,
    reports: usize,
) {
    let options = Options {
        version: version.map(str::to_owned),
        ..Options::default()
    };
    let client = Client::connect(server, options).await.unwrap();
    assert!(client.tools().await.unwrap().iter().any(|it| it.name == tool));
    for _ in 0..3 {
        let mut seen = 0;
        let answer = client.call(tool, arguments.clone(), |_| seen += 1).await.unwrap();
        assert!(answer.get().contains(says), "{answer}");
        assert_eq!(seen, reports);
    }
    client.close().await;
}

fn at(scheme: &str, port: u16, path: &str) -> Server {
    Server::at(&format!("{scheme}://127.0.0.1:{port}{path}")).unwrap()
}

#[tokio::test]
async fn the_official_servers_answer_over_stdio_http_and_sse() {
    let Some(home) = installed("EXTERNAL_NODE") else {
        return;
    };
    let bin = home.join("node_modules/.bin");
    let everything = bin.join("mcp-server-everything");
    let long = json!({ "duration": 0.2, "steps": 4 });
    let tool = "trigger-long-running-operation";
    examine(&stdio(&everything, &["stdio"]), None, tool, long.clone(), "completed", 4).await;
    for (kind, path) in [("streamableHttp", "/mcp"), ("sse", "/sse")] {
        let (_server, port) = serving(Command::new(&everything).arg(kind)).await;
        examine(&at("http", port, path), None, tool, long.clone(), "completed", 4).await;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "what is in it").unwrap();
    let file = folder.path().join("a.txt");
    let filesystem = stdio(&bin.join("mcp-server-filesystem"), &[folder.path().to_str().unwrap()]);
    examine(&filesystem, None, "read_text_file", json!({ "path": file }), "what is in it", 0).await;
}

/// It answers a lost session with 400, and so does its successor that has never known the session.
#[tokio::test]
async fn the_official_server_is_killed_and_started_again() {
    let Some(home) = installed("EXTERNAL_NODE") else {
        return;
    };
    let everything = home.join("node_modules/.bin/mcp-server-everything");
    let (mut server, port) = serving(Command::new(&everything).arg("streamableHttp")).await;
    let client = Client::connect(&at("http", port, "/mcp"), Options::default()).await.unwrap();
    client.tools().await.unwrap();
    server.kill().await.unwrap();
    let again = Command::new(&everything)
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    let _again = again.unwrap();
    let answer = client.call("echo", json!({ "message": "still here" }), |_| {}).await.unwrap();
    assert!(answer.get().contains("still here"), "{answer}");
}

#[tokio::test]
async fn servers_on_the_python_sdks_answer_over_every_transport() {
    let Some(home) = installed("EXTERNAL_PYTHON") else {
        return;
    };
    let python = home.join("bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/external/server.py");
    let script = script.to_str().unwrap();
    let steps = json!({ "steps": 5 });
    for version in [None, Some("2026-07-28")] {
        let server = stdio(&python, &[script, "mcp-stdio"]);
        examine(&server, version, "count", steps.clone(), "counted to 5", 5).await;
    }
    for kind in ["mcp-http", "fastmcp-http", "mcp-sse"] {
        let (_server, port) = serving(Command::new(&python).args([script, kind])).await;
        let (path, modern) =
            if kind == "mcp-sse" { ("/sse", None) } else { ("/mcp", Some("2026-07-28")) };
        for version in [None, modern] {
            examine(&at("http", port, path), version, "count", steps.clone(), "counted to 5", 5)
                .await;
        }
    }
}

#[tokio::test]
async fn the_last_python_sdk_with_websocket_answers_over_it() {
    let Some(home) = installed("EXTERNAL_PYTHON_WS") else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/external/server.py");
    let (_server, port) =
        serving(Command::new(home.join("bin/python")).arg(script).arg("ws")).await;
    examine(&at("ws", port, "/"), None, "count", json!({ "steps": 5 }), "counted to 5", 5).await;
}

/// Over TLS the certificate is the test's own, so a program of its own trusts it.
#[tokio::test]
async fn over_wss_the_certificate_is_checked() {
    let Some(home) = installed("EXTERNAL_PYTHON_WS") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
                   -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE";
    let mut make = Command::new("openssl");
    make.args(request.split_whitespace()).arg("-out").arg(&certificate).arg("-keyout").arg(&key);
    let Ok(made) = make.stderr(Stdio::null()).status().await else {
        return println!("skipped: there is no openssl, which makes a certificate");
    };
    assert!(made.success());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/external/server.py");
    let mut server = Command::new(home.join("bin/python"));
    server.arg(script).arg("wss").env("CERTIFICATE", &certificate).env("KEY", key);
    let (_server, port) = serving(&mut server).await;
    let config = folder.path().join("servers.json");
    let entry = json!({ "url": format!("wss://localhost:{port}/") });
    std::fs::write(&config, json!({ "mcpServers": { "tls": entry } }).to_string()).unwrap();
    let call = |roots: Option<&Path>| {
        let mut call = Command::new(env!("CARGO_BIN_EXE_mcp_client"));
        call.arg("--config").arg(&config).args(["call", "tls", "count", "steps=3"]);
        call.env_remove("SSL_CERT_FILE").envs(roots.map(|roots| ("SSL_CERT_FILE", roots)));
        call.env("NO_PROXY", "localhost").env("HOME", folder.path()).output()
    };
    let trusted = call(Some(&certificate)).await.unwrap();
    let said = String::from_utf8_lossy(&trusted.stdout);
    assert!(said.contains("counted to 3"), "{said}{}", String::from_utf8_lossy(&trusted.stderr));
    let refused = call(None).await.unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(3) && said.contains("certificate"), "{said}");
}

/// The server is the Python SDK's, behind an editor's check of the token.
#[tokio::test]
async fn an_editor_lets_in_who_has_read_its_lock_file() {
    let Some(home) = installed("EXTERNAL_PYTHON") else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/external/server.py");
    let mut server = Command::new(home.join("bin/python"));
    let (_server, port) =
        serving(server.arg(script).arg("ide").env("TOKEN", "of the editor")).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("ide")).unwrap();
    let lock = folder.path().join(format!("ide/{port}.lock"));
    let config = folder.path().join("servers.json");
    let entry = json!({ "type": "sse-ide", "url": format!("http://127.0.0.1:{port}/sse") });
    std::fs::write(&config, json!({ "mcpServers": { "ide": entry } }).to_string()).unwrap();
    for (token, code, says) in
        [("of the editor", 0, "counted to 3"), ("another", 4, "/sse wants a login\n")]
    {
        std::fs::write(&lock, json!({ "authToken": token }).to_string()).unwrap();
        let mut call = Command::new(env!("CARGO_BIN_EXE_mcp_client"));
        call.arg("--config").arg(&config).args(["call", "ide", "count", "steps=3"]);
        call.env("CLAUDE_CONFIG_DIR", folder.path()).env("NO_PROXY", "127.0.0.1");
        let done = call.output().await.unwrap();
        let said = [done.stdout, done.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(done.status.code() == Some(code) && said.contains(says), "{said}");
    }
}

/// Scenarios by revision.
#[tokio::test]
async fn the_conformance_suite_passes_strictly() {
    let Some(home) = installed("EXTERNAL_SUITE") else {
        return;
    };
    for (revision, expected) in [("2025-11-25", 18), ("2026-07-28", 32)] {
        let output = Command::new(home.join("node_modules/.bin/node"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external/suite.mjs"))
            .arg(&home)
            .args([env!("CARGO_BIN_EXE_mcp_client"), revision])
            .env("NO_PROXY", "127.0.0.1,localhost")
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains(&format!("passed {expected} of {expected}")), "{said}");
        println!("{revision}: {said}");
    }
}
