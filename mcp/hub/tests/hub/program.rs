//! The program, as it is typed and as a client starts it.

use std::process::{Command, Output, Stdio};

use mcp_client::{Client, Options, Server};
use serde_json::json;

use crate::stage::PROGRAM;

fn typed(folder: &std::path::Path, words: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(PROGRAM)
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn the_embedded_spoke_answers_in_the_shape_of_the_mode() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plan.md"), "# Ship it\nTest it. Ask the team.\n").unwrap();
    let ask = ["ask", "gpt", "Review this plan", "--file", "plan.md", "--mode", "challenge"];
    let (code, answer, _) = typed(dir.path(), &ask);
    assert_eq!(code, Some(0), "{answer}");
    for part in [
        "─── gpt · challenge mode",
        "## Concerns",
        "“Ship it”",
        "how it is taken back",
        "## Verdict",
        "tokens in",
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let (code, answer, _) = typed(dir.path(), &["ask", "gpt", "search the docs for hooks"]);
    assert!(
        code == Some(0) && answer.contains("s04_hooks/README.md") && answer.contains("1 tool call"),
        "{answer}"
    );
    let (code, answer, _) =
        typed(dir.path(), &["ask", "gpt", "Review plan.md.", "--mode", "challenge"]);
    assert!(code == Some(0) && answer.contains("“Ship it”"), "{answer}");
    let (code, _, error) = typed(dir.path(), &["ask", "gpt", "Review", "--file", "../x"]);
    assert!(code == Some(1) && error.contains("mcp_hub: ../x: "), "{error}");
    let (code, log, _) = typed(dir.path(), &["log"]);
    assert!(
        code == Some(0) && log.lines().count() == 4 && log.contains("  gpt  challenge  "),
        "{log}"
    );
    let (code, stats, _) = typed(dir.path(), &["stats"]);
    assert!(code == Some(0) && stats.contains("gpt        4       1"), "{stats}");
    let (code, checked, _) = typed(dir.path(), &["check"]);
    assert!(
        code == Some(0) && checked.contains("server  docs  stdio  ready  2 tools"),
        "{checked}"
    );
    std::fs::write(dir.path().join("spokes.yaml"), "spokes: [{name: a, kind: run}]").unwrap();
    let (code, _, error) = typed(dir.path(), &["list"]);
    assert!(
        code == Some(2)
            && error.contains("spokes.yaml: spokes[0].url: a spoke of kind run needs it"),
        "{error}"
    );
}

#[tokio::test]
async fn a_client_finds_the_four_tools_on_standard_input_and_output() {
    let dir = tempfile::tempdir().unwrap();
    let command = format!("cd {} && exec {PROGRAM}", dir.path().display());
    let entry = Server {
        name: "hub".to_owned(),
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), command],
        ..Server::default()
    };
    let client = Client::connect(&entry, Options::default()).await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 4);
    let answer = client
        .call("ask_gpt", json!({ "prompt": "Review this", "mode": "agree" }), |_| ())
        .await
        .unwrap();
    assert!(answer.get().contains("## What holds"), "{}", answer.get());
    client.close().await;
}
