//! The program, as it is typed.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

struct Typed {
    home: tempfile::TempDir,
}

impl Typed {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp_client"));
        command.args(args).current_dir(self.home.path()).env("HOME", self.home.path());
        command.env_remove("CLAUDE_CONFIG_DIR").stdin(Stdio::null());
        command
    }

    /// Exit code, standard output, standard error.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    /// Runs it with this configuration.
    fn with(&self, servers: &Value, args: &[&str]) -> (i32, String, String) {
        let file = self.home.path().join("some.mcp.json");
        fs::write(&file, json!({ "mcpServers": servers }).to_string()).unwrap();
        self.run(&[&["--config", "some.mcp.json"], args].concat())
    }
}

#[test]
fn without_a_configuration_the_servers_of_the_course_are_there() {
    let typed = Typed::new();
    let (code, out, _) = typed.run(&["tools"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("docs:\n  search(query) ") && out.contains("  trigger(service) "),
        "{out}"
    );
    let (code, out, _) = typed.run(&["call", "docs", "search", "query=agent loop"]);
    assert!(code == 0 && out.contains("The agent loop"), "{out}");
    let (code, out, err) = typed.run(&["check"]);
    assert_eq!((code, out.matches("connected").count()), (0, 4), "{out}{err}");
    let (code, out, _) = typed.run(&["list"]);
    assert_eq!((code, out.matches("embedded").count()), (0, 4));
    let (code, out, _) = typed.run(&["tools", "jira"]);
    assert!(code == 0 && out.contains("get_issue(key)") && !out.contains("docs"), "{out}");
}

#[test]
fn each_failure_has_its_sentence_and_its_exit_code() {
    let typed = Typed::new();
    let docs = json!({ "command": env!("CARGO_BIN_EXE_mcp_client"), "args": ["mock-mcp", "docs"] });
    let says = "echo 'no licence' >&2; exit 7";
    let servers = json!({
        "docs": docs, "dies": { "command": "sh", "args": ["-c", says] },
        "none": { "command": "no-such-program" }, "closed": { "url": "http://127.0.0.1:9/mcp" },
    });
    for (args, code, sentence) in [
        (&["call", "docs", "get_version"][..], 0, ""),
        (&["call", "docs", "search", "query="], 1, ""),
        (&["call", "docs", "serach"], 1, "docs has no tool serach; it has: search, get_version"),
        (&["call", "docs", "search"], 2, "search needs query=…"),
        (&["call", "docs", "search", "--json", "[]"], 2, "--json: it must be an object"),
        (&["call", "docs", "search", "loop"], 2, "loop: an argument is key=value"),
        (&["tools", "dosc"], 2, "there is no server dosc; there are: closed, dies, docs, none"),
        (&["tools", "dies"], 3, "the server has ended (exit status: 7): no licence"),
        (&["tools", "none"], 3, "no-such-program does not start"),
        (&["tools", "closed"], 3, "Connection refused"),
        (&["check"], 1, "docs: connected"),
        (&["frobnicate"], 2, "unrecognized subcommand"),
    ] {
        let (is, out, err) = typed.with(&servers, args);
        assert_eq!(is, code, "{args:?}\n{out}\n{err}");
        assert!(err.contains(sentence), "{args:?}: {err}");
    }
    let (code, out, _) = typed.with(&json!({ "x": { "comand": "a" }, "docs": docs }), &["check"]);
    assert_eq!(code, 2);
    assert!(out.contains("some.mcp.json: mcpServers.x.comand: unknown field"), "{out}");
    assert!(out.contains("connected"), "{out}");
    assert_eq!(typed.run(&["--config", "none.json", "check"]).0, 2);
}

#[test]
fn a_projects_entry_is_not_started_before_it_is_approved() {
    let typed = Typed::new();
    let touch = json!({ "mcpServers": { "x": { "command": "touch", "args": ["started"] } } });
    fs::write(typed.home.path().join(".mcp.json"), touch.to_string()).unwrap();
    let (code, _, err) = typed.run(&["tools", "x"]);
    assert_eq!(code, 2);
    assert!(err.contains("x comes with this project and is not approved"), "{err}");
    let (_, out, _) = typed.run(&["check"]);
    assert!(out.contains("not approved"), "{out}");
    assert!(!typed.home.path().join("started").exists());
}

#[test]
fn connect_passes_frames_through_as_they_are() {
    let typed = Typed::new();
    let mut child = typed
        .command(&["connect", "docs"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let frames = [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"me","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":"zero","method":"tools/call","params":{"name":"get_version","arguments":{}}}"#,
        "hello",
    ];
    child.stdin.take().unwrap().write_all(format!("{}\n", frames.join("\n")).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let lines: Vec<_> = std::str::from_utf8(&output.stdout).unwrap().lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let has = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(has(r#""id":0,"result":{"protocolVersion":"2025-11-25""#), "{lines:?}");
    assert!(has(r#""id":"zero","result""#) && has("-32700"), "{lines:?}");
    assert!(output.status.success());
}

#[test]
fn help_has_three_examples_and_shells_get_completions() {
    let typed = Typed::new();
    let (code, out, _) = typed.run(&["--help"]);
    assert_eq!((code, out.matches("\n  mcp_client ").count()), (0, 3), "{out}");
    let (code, out, _) = typed.run(&["completions", "bash"]);
    assert!(code == 0 && out.contains("_mcp_client()"));
}

#[test]
fn nothing_of_a_server_that_hangs_is_left_behind() {
    let typed = Typed::new();
    let deaf = json!({ "command": "sh", "args": ["-c", "echo $$ > pid; exec tail -f /dev/null"] });
    fs::write(
        typed.home.path().join("x.json"),
        json!({ "mcpServers": { "deaf": deaf } }).to_string(),
    )
    .unwrap();
    let mut check = typed.command(&["--config", "x.json", "check"]);
    let output = check.env("MCP_TIMEOUT", "100").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("does not answer within 100ms"));
    let pid = fs::read_to_string(typed.home.path().join("pid")).unwrap();
    // One that nobody has waited for has no command line any more; a killed one may have it for a moment.
    let left = || fs::read(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
    let patience = std::time::Instant::now();
    while !left().is_empty() {
        assert!(patience.elapsed().as_secs() < 30, "{}", String::from_utf8_lossy(&left()));
        std::thread::yield_now();
    }
}

#[test]
fn a_configuration_that_starts_itself_ends_with_a_sentence() {
    let typed = Typed::new();
    let connect = ["--config", "some.mcp.json", "connect", "own"];
    let own = json!({ "own": { "command": env!("CARGO_BIN_EXE_mcp_client"), "args": connect } });
    let (code, out, _) = typed.with(&own, &["check"]);
    assert!(code == 1 && out.contains("start one another without end; mend"), "{out}");
}
