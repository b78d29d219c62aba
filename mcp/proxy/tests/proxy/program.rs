//! The program as its users start it: what it prints, what it serves, and how it ends.
//!
//! Invariant: each run has a home of its own, and its servers are processes of the program itself.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use mcp_client::{Client, Options, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{PROGRAM, server};

fn run(folder: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env("XDG_STATE_HOME", folder).env("HOME", folder).current_dir(folder);
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(stdout), text(stderr), status.code())
}

/// What a URL answers, head and body.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test]
async fn each_failure_is_said_by_check_and_readyz_in_the_instructions_and_in_an_answer() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let entry = |arguments: &[&str]| {
        let arguments = [&["mock-mcp", "docs"], arguments].concat();
        json!({"command": PROGRAM, "args": arguments})
    };
    let servers = |all| fs::write(path("servers.json"), json!({ "mcpServers": all }).to_string());
    let failures: [(&str, Value, &str, &str); 4] = [
        ("", json!({"away": entry(&["--fault", "exit"])}), "{}", "away"),
        ("synonyms: broken.yaml", json!({"docs": entry(&[])}), "{}", "broken.yaml"),
        ("embeddings: nowhere", json!({"docs": entry(&[])}), "{}", "words alone are searched"),
        ("", json!({"docs": entry(&[])}), "{", "until then no tool is shown"),
    ];
    fs::write(path("broken.yaml"), "groups: 7").unwrap();
    fs::create_dir(path("state")).unwrap();
    for (settings, all, memory, said) in failures {
        servers(all).unwrap();
        fs::write(path("settings.yaml"), format!("{settings}\nsplit: false")).unwrap();
        fs::write(path("state/tools.json"), memory).unwrap();
        let arguments =
            [("--config", "servers.json"), ("--settings", "settings.yaml"), ("--state", "state")];
        let arguments: Vec<_> =
            arguments.iter().flat_map(|(name, file)| [(*name).to_owned(), path(file)]).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (table, _, code) = run(folder.path(), &[&arguments[..], &["check"]].concat());
        assert!(table.contains(said) && code == Some(1), "{said}: {table}");
        let mut program = Command::new(PROGRAM);
        program.args(&arguments).args(["--http", "0"]).env("HOME", folder.path());
        let mut program = program.stderr(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(program.stderr.take().unwrap()).read_line(&mut address).unwrap();
        let client = Client::connect(&Server::at(address.trim()).unwrap(), Options::default())
            .await
            .unwrap();
        assert!(client.hello.get().contains(said), "{said}: {}", client.hello);
        let found =
            client.call("discover_tools", json!({"query": "search"}), |_| {}).await.unwrap();
        assert!(found.get().contains(said), "{said}: {found}");
        let host = address.trim().trim_start_matches("http://").trim_end_matches("/mcp");
        let ready = get(host, "/readyz");
        assert!(ready.starts_with("HTTP/1.1 503") && ready.contains(said), "{said}: {ready}");
        assert!(get(host, "/healthz").starts_with("HTTP/1.1 200"));
        program.kill().unwrap();
        program.wait().unwrap();
    }
}

#[test]
fn the_program_answers_and_its_exit_code_says_how_it_went() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let entry =
        |fault: &str| json!({"command": PROGRAM, "args": ["mock-mcp", "docs", "--fault", fault]});
    let itself = json!({"command": PROGRAM});
    fs::write(
        path("rude.json"),
        json!({"mcpServers": {"a": entry("rude-description")}}).to_string(),
    )
    .unwrap();
    fs::write(
        path("wrong.json"),
        json!({"mcpServers": {"a": entry("exit"), "b": itself, "c": {"x": 1}}}).to_string(),
    )
    .unwrap();
    fs::write(path("settings.yaml"), "splitt: true").unwrap();
    let (found, _, code) = run(folder.path(), &["discover", "open tickets about the login page"]);
    for call in [
        r#"{"tool_name":"search_issues","arguments":{"query":"<query>"}}"#,
        r#"{"tool_name":"get_issue","arguments":{"key":"<key>"}}"#,
    ] {
        assert!(found.contains(call) && code == Some(0), "{call}: {found}");
    }
    let (account, _, _) = run(folder.path(), &["account"]);
    assert!(account.contains("12 tools as their servers list them"), "{account}");
    let (held, _, _) = run(folder.path(), &["--config", &path("rude.json"), "quarantine"]);
    assert!(held.starts_with("a:rude: "), "{held}");
    assert_eq!(run(folder.path(), &["--config", &path("rude.json"), "trust", "a:rude"]).2, Some(0));
    let (held, _, _) = run(folder.path(), &["--config", &path("rude.json"), "quarantine"]);
    assert_eq!(held, "No tool is held back.\n");
    let (table, _, code) = run(folder.path(), &["--config", &path("wrong.json"), "check"]);
    for said in ["\na: ", "\nb: ", "it is one of its own servers", "mcpServers.c"] {
        assert!(table.contains(said), "{said}: {table}");
    }
    assert_eq!(code, Some(1));
    for (arguments, said) in [
        (["--settings", &path("settings.yaml")], "splitt"),
        (["--config", "none.json"], "there is no such file"),
    ] {
        let (_, errors, code) = run(folder.path(), &[&arguments[..], &["check"]].concat());
        assert!(errors.contains(said) && code == Some(2), "{errors}");
    }
}

#[tokio::test]
async fn over_standard_input_and_output_a_client_sees_two_tools() {
    let folder = TempDir::new().unwrap();
    let mut server = server("proxy", &[]);
    server.args = vec!["--state".to_owned(), folder.path().to_str().unwrap().to_owned()];
    server.env.insert("HOME".to_owned(), folder.path().to_str().unwrap().to_owned());
    let client = Client::connect(&server, Options::default()).await.unwrap();
    let tools = client.tools().await.unwrap();
    let tools: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["discover_tools", "call_tool"]);
    let wanted = json!({"tool_name": "get_version", "arguments": {}});
    let answer = client.call("call_tool", wanted, |_| {}).await.unwrap();
    assert!(
        answer.get().contains("content") && !answer.get().contains("isError\":true"),
        "{answer}"
    );
}
