//! The mock MCP servers, examined by the official Inspector and the official Python SDK.
//!
//! The SDK they are written on has examined them already; these are two clients of other makers, in other languages.
//! Invariant: without `cargo x external`, which installs both, the tests say so in a line and pass.

mod agents;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use mock_servers::mcp::NAMES;
use serde_json::{Value, json};

/// A server, its tools, a call that only reads, and what its result must have in it.
struct Expected {
    server: &'static str,
    tools: Vec<&'static str>,
    call: [&'static str; 3],
    result: &'static str,
}

const EXPECTED: [&str; 4] = [
    "docs: get_version search: search query hooks: s04_hooks/README.md",
    "deploy: logs status trigger: status service api: live",
    "jira: create_issue get_issue search_issues transition_issue: search_issues query login: WEB-1",
    "notion: create_page get_page search_pages: search_pages query onboarding: nboarding",
];

fn expected() -> [Expected; 4] {
    EXPECTED.map(|row| {
        let parts: Vec<&str> = row.split(": ").collect();
        let call: Vec<&str> = parts[2].split(' ').collect();
        Expected {
            server: parts[0],
            tools: parts[1].split(' ').collect(),
            call: call.try_into().expect("tool, field and value"),
            result: parts[3],
        }
    })
}

const SERVERS: &str = env!("CARGO_BIN_EXE_mock_servers");

#[test]
fn every_server_is_examined() {
    assert_eq!(expected().map(|expected| expected.server), NAMES);
}

#[test]
fn the_inspector_lists_and_calls_their_tools() {
    let Some(home) = installed("EXTERNAL_NODE") else {
        return;
    };
    let inspector = home.join("node_modules/.bin/mcp-inspector");
    let ask = |target: &[&str], method: &[&str]| {
        let mut command = Command::new(&inspector);
        command.arg("--cli").args(target).args(method);
        said(&mut command)
    };
    for expected in expected() {
        let over_http = Http::start(expected.server);
        let stdio = [SERVERS, expected.server, "--stdio"];
        let http = [over_http.url.as_str(), "--transport", "http"];
        for target in [&stdio[..], &http[..]] {
            let (code, listed) = ask(target, &["--method", "tools/list"]);
            let names = listed["tools"].as_array().into_iter().flatten();
            let mut names: Vec<_> = names.filter_map(|tool| tool["name"].as_str()).collect();
            names.sort_unstable();
            assert_eq!(
                (code, names.as_slice()),
                (Some(0), expected.tools.as_slice()),
                "{target:?}: {listed}"
            );

            let [tool, field, value] = expected.call;
            let argument = format!("{field}={value}");
            let call = ["--method", "tools/call", "--tool-name", tool, "--tool-arg", &argument];
            let (code, result) = ask(target, &call);
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            let right = code == Some(0)
                && result["isError"] != json!(true)
                && text.contains(expected.result);
            assert!(right, "{target:?}: {code:?} {result}");

            let (code, refused) =
                ask(target, &["--method", "tools/call", "--tool-name", "no_such_tool"]);
            assert!(
                code != Some(0) && refused["error"].is_object(),
                "{target:?}: {code:?} {refused}"
            );
        }
    }
}

#[test]
fn the_python_sdk_lists_and_calls_their_tools() {
    let Some(home) = installed("EXTERNAL_PYTHON") else {
        return;
    };
    let expected = expected();
    let over_http = expected.each_ref().map(|expected| Http::start(expected.server));
    let story: Vec<_> = expected
        .iter()
        .zip(&over_http)
        .map(|(expected, http)| {
            let [tool, field, value] = expected.call;
            json!({
                "server": expected.server,
                "command": SERVERS,
                "url": http.url,
                "tools": expected.tools,
                "call": {"tool": tool, "field": field, "value": value},
                "result": expected.result,
            })
        })
        .collect();
    let mut python = Command::new(home.join("bin/python"));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/external/client.py");
    let output = run(python.arg(script).arg(json!(story).to_string()));
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stdout.ends_with("all as in the protocol\n"),
        "{stdout}\n{stderr}"
    );
}

/// Where `cargo x external` has put it.
fn installed(variable: &str) -> Option<PathBuf> {
    let home = std::env::var_os(variable).map(PathBuf::from);
    if home.is_none() {
        println!(
            "skipped: {variable} is not set; cargo x external installs what it needs and sets it"
        );
    }
    home
}

fn run(command: &mut Command) -> Output {
    command.env("NO_PROXY", "127.0.0.1").stdin(Stdio::null()).output().expect("it starts")
}

/// Its exit code, and the JSON that it printed: a result, or an error.
fn said(command: &mut Command) -> (Option<i32>, Value) {
    let output = run(command);
    let text = if output.status.success() { output.stdout } else { output.stderr };
    let json = serde_json::from_slice(&text);
    let json = json.unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&text)));
    (output.status.code(), json)
}

/// A server on a port of its own, until it drops.
struct Http {
    child: Child,
    url: String,
}

impl Http {
    fn start(server: &str) -> Self {
        let mut child = Command::new(SERVERS)
            .args([server, "--http", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("our own binary starts");
        let stdout = child.stdout.take().expect("stdout is piped");
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url).expect("its first line");
        Self {
            child,
            url: url.trim().to_owned(),
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
