//! Bad servers: what each does wrong is said in one sentence, and nothing of it stays.
//!
//! A server fails alone: its calls end at once, and those of others go on. Invariant: the sentence names the server and
//! says why.

use s19_mcp_plugin::Server;
use serde_json::json;

use crate::scene::{HEAR, LONG, SHORT, STAY, Scene, text, until};

/// A greeted server that answers a call with these steps: the sentence of the failure.
async fn broke(steps: &[&str]) -> String {
    let scene = Scene::new();
    let steps = [&[HEAR], steps].concat();
    let server = scene.greeted(json!([]), &steps, SHORT).await;
    let error = server.call("search", json!({})).await.unwrap_err();
    let failure = server.failure().expect("it is disconnected");
    assert_eq!(error.to_string(), failure);
    // A later call fails at once, and for the same reason.
    let later = server.call("search", json!({})).await.unwrap_err();
    assert_eq!(later.to_string(), failure);
    server.shut_down().await;
    scene.nothing_is_left();
    failure
}

/// A greeted server that answers a call with these steps, in vain: the sentence of the call.
async fn timed_out(steps: &[&str]) -> String {
    let scene = Scene::new();
    let steps = [&[HEAR], steps, &["touch done", STAY]].concat();
    let server = scene.greeted(json!([]), &steps, LONG).await;
    let call = server.call("search", json!({}));
    let done = async {
        until(|| scene.ws.root().join("done").exists()).await;
        // From here on the clock runs ahead as soon as there is nothing to do.
        tokio::time::pause();
    };
    let (result, ()) = tokio::join!(call, done);
    assert_eq!(server.failure(), None);
    tokio::time::resume();
    server.shut_down().await;
    scene.nothing_is_left();
    result.unwrap_err().to_string()
}

#[tokio::test]
async fn it_does_not_start_and_its_passwords_are_not_told() {
    let scene = Scene::new();
    let mut launch = scene.launch("/nowhere/server", &["--token", "s3cret"]);
    launch.env.insert("TOKEN".to_owned(), "s3cret".to_owned());
    let error = Server::start(launch, &scene.ws).await.err().unwrap();
    assert_eq!(
        format!("{error:#}"),
        "starting the program /nowhere/server: No such file or directory (os error 2)"
    );
}

#[tokio::test]
async fn it_exits_at_once() {
    let why = Scene::new()
        .refused(&["echo 'no module' >&2; exit 3"])
        .await;
    assert_eq!(
        why,
        "the MCP server 'docs' is disconnected: it ended with exit code 3; it last wrote: no module"
    );
}

#[tokio::test]
async fn it_prints_its_usage_and_exits() {
    let why = Scene::new()
        .refused(&["echo 'Usage: server'; exit 2"])
        .await;
    assert_eq!(
        why,
        "the MCP server 'docs' is disconnected: it ended with exit code 2; it last wrote: Usage: server"
    );
}

#[tokio::test(start_paused = true)]
async fn it_never_answers_the_handshake() {
    let why = Scene::new().refused(&[STAY]).await;
    assert_eq!(
        why,
        "the MCP server 'docs' did not answer initialize within 10s"
    );
}

#[tokio::test]
async fn it_never_answers_a_call() {
    assert_eq!(
        timed_out(&[]).await,
        "the MCP server 'docs' did not answer tools/call within 10s"
    );
}

#[tokio::test]
async fn it_answers_another_id() {
    assert_eq!(
        timed_out(&[&text(99, "found")]).await,
        "the MCP server 'docs' did not answer tools/call within 10s"
    );
}

#[tokio::test]
async fn it_prints_text_instead_of_an_answer() {
    let traceback = "printf 'Traceback:\\033[31m\\n  here\\n'";
    assert_eq!(
        timed_out(&[traceback]).await,
        "the MCP server 'docs' did not answer tools/call within 10s; it last wrote: Traceback: [31m here"
    );
}

#[tokio::test]
async fn what_it_wrote_before_the_call_explains_nothing() {
    let old = "echo 'listening' >&2";
    for (steps, end) in [
        (&["exit 3"][..], "it ended with exit code 3"),
        (
            &["echo 'no such table' >&2", "exit 3"],
            "it ended with exit code 3; it last wrote: no such table",
        ),
        (
            &["touch done", STAY],
            "did not answer tools/call within 10s",
        ),
        (
            &["echo 'no such table' >&2; touch done", STAY],
            "did not answer tools/call within 10s; it last wrote: no such table",
        ),
    ] {
        let scene = Scene::new();
        let found = text(3, "found");
        let steps = [&[HEAR, old, &*found, HEAR], steps].concat();
        let server = scene.greeted(json!([]), &steps, LONG).await;
        server.call("search", json!({})).await.unwrap();
        let done = async {
            let done = || scene.ws.root().join("done").exists() || server.failure().is_some();
            until(done).await;
            // What it wrote is heard before the clock runs ahead.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            tokio::time::pause();
        };
        let (result, ()) = tokio::join!(server.call("search", json!({})), done);
        let error = result.unwrap_err().to_string();
        assert!(error.ends_with(end), "{error}");
        tokio::time::resume();
        drop(server);
        until(|| scene.left().is_empty()).await;
    }
}

#[tokio::test]
async fn it_prints_text_without_end() {
    let why = broke(&["yes"]).await;
    assert!(
        why.starts_with("the MCP server 'docs' is disconnected: it writes text instead of messages; it last wrote: …"),
        "{why}"
    );
}

#[tokio::test]
async fn it_prints_broken_json() {
    let why = broke(&[
        r#"echo '{"jsonrpc": "2.0", "id": 3, "result": {"con'"#,
        STAY,
    ])
    .await;
    let start = "the MCP server 'docs' is disconnected: it sent invalid JSON: EOF while parsing";
    assert!(why.starts_with(start), "{why}");
}

#[tokio::test]
async fn it_prints_bytes() {
    let why = broke(&[r"printf '\xff\xfe\n'", STAY]).await;
    let start = "the MCP server 'docs' is disconnected: it sent a line that is no UTF-8";
    assert!(why.starts_with(start), "{why}");
}

#[tokio::test]
async fn it_prints_a_line_of_20_mb() {
    let why = broke(&["head -c 20000000 /dev/zero | tr '\\0' x", STAY]).await;
    assert_eq!(
        why,
        "the MCP server 'docs' is disconnected: it sent a line of more than 16 MB"
    );
}

#[tokio::test]
async fn it_dies_in_mid_call() {
    let why = broke(&["echo 'out of luck' >&2", "kill -9 $$"]).await;
    assert_eq!(
        why,
        "the MCP server 'docs' is disconnected: it ended with signal 9; it last wrote: out of luck"
    );
}

#[tokio::test]
async fn it_sends_half_a_message() {
    let why = broke(&[r#"printf '{"jsonrpc": "2.0", "id"'"#, "exit 1"]).await;
    assert_eq!(
        why,
        "the MCP server 'docs' is disconnected: its output ended in the middle of a line"
    );
}

#[tokio::test]
async fn what_it_answers_counts_although_it_reads_no_more() {
    let scene = Scene::new();
    let wait = "until [ -e asked ]; do :; done";
    let steps = [HEAR, "exec <&-; touch closed", wait, &text(3, "found")];
    let server = scene.greeted(json!([]), &steps, LONG).await;
    let first = server.call("search", json!({}));
    let second = async {
        until(|| scene.ws.root().join("closed").exists()).await;
        server.call("search", json!({})).await
    };
    let answer = async {
        until(|| scene.ws.root().join("closed").exists()).await;
        // The second call is written by then, into a broken pipe.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        std::fs::write(scene.ws.root().join("asked"), "").unwrap();
    };
    let (first, second, ()) = tokio::join!(first, second, answer);
    assert_eq!(first.unwrap().content[0]["text"], "found");
    assert_eq!(
        second.unwrap_err().to_string(),
        "the MCP server 'docs' is disconnected: it ended with exit code 0"
    );
    scene.nothing_is_left();
}

#[tokio::test]
async fn it_closes_its_output_and_stays() {
    let why = broke(&["exec >&-; sleep 1000"]).await;
    assert_eq!(
        why,
        "the MCP server 'docs' is disconnected: it closed the connection"
    );
}

#[tokio::test]
async fn it_reads_nothing_and_asks_without_end() {
    let scene = Scene::new();
    let long = "id=$(head -c 1000000 /dev/zero | tr '\\0' x)";
    let ping = r#"printf '{"jsonrpc":"2.0","id":"%s","method":"ping"}\n' "$id""#;
    let ask = format!("while :; do {ping}; done");
    let server = scene.greeted(json!([]), &[long, &ask], LONG).await;
    until(|| server.failure().is_some()).await;
    assert_eq!(
        server.failure().unwrap(),
        "the MCP server 'docs' is disconnected: it has not read the last 16 MB it was sent"
    );
    drop(server);
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_server_that_reads_nothing_keeps_nobody_waiting() {
    let scene = Scene::new();
    let server = scene.greeted(json!([]), &["sleep 1000"], SHORT).await;
    tokio::time::pause();
    let large = json!({ "text": "x".repeat(1_000_000) });
    for _ in 0..3 {
        let error = server.call("search", large.clone()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the MCP server 'docs' did not answer tools/call within 10s"
        );
    }
    server.shut_down().await;
    scene.nothing_is_left();
}

#[tokio::test]
async fn it_floods_us_with_notifications_and_is_asked_and_others_are_heard() {
    let (scene, other) = (Scene::new(), Scene::new());
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/message" });
    let flood = format!("yes '{notification}' &");
    let flooding = scene
        .greeted(json!([]), &[&flood, HEAR, "touch asked", STAY], LONG)
        .await;
    let answers = [HEAR, &text(3, "found"), STAY];
    let server = other.greeted(json!([]), &answers, LONG).await;
    assert!(server.call("search", json!({})).await.is_ok());
    tokio::select! {
        _ = flooding.call("search", json!({})) => panic!("it does not answer"),
        () = until(|| scene.ws.root().join("asked").exists()) => {}
    }
    assert_eq!(flooding.failure(), None);
    flooding.shut_down().await;
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_failure_is_one_server_s_own() {
    let (scene, other) = (Scene::new(), Scene::new());
    let bad = scene.greeted(json!([]), &[HEAR, "exit 1"], LONG).await;
    let good = other
        .greeted(json!([]), &[HEAR, &text(3, "found"), STAY], LONG)
        .await;
    let (bad_call, good_call) = tokio::join!(bad.call("a", json!({})), good.call("a", json!({})));
    assert!(bad_call.is_err() && good_call.is_ok());
    assert_eq!(good.failure(), None);
}

/// Starts the mock server with this fault and calls it: the sentence, and whether it came from the start.
async fn faulty(scene: &Scene, fault: &str) -> (bool, String) {
    let started = Server::start_with(scene.docs(&[fault]), &scene.ws, LONG).await;
    let Ok(server) = started else {
        return (true, format!("{:#}", started.err().unwrap()));
    };
    if matches!(fault, "hang-call" | "other-id") {
        tokio::time::pause();
    }
    let error = server.call("get_version", json!({})).await.unwrap_err();
    server.shut_down().await;
    (false, format!("{error:#}"))
}

#[tokio::test]
async fn the_mock_servers_faults_end_in_a_sentence() {
    for (fault, sentence) in [
        ("die-in-call", "it ended with exit code 1"),
        ("garbage", "it sent a line that is no UTF-8"),
        ("half-message", "its output ended in the middle of a line"),
        ("long-line", "it sent a line of more than 16 MB"),
        ("hang-call", "did not answer tools/call within 10s"),
    ] {
        let scene = Scene::new();
        let (at_start, error) = faulty(&scene, fault).await;
        assert!(!at_start && error.contains(sentence), "{fault}: {error}");
        scene.nothing_is_left();
    }
}

#[tokio::test]
async fn the_mock_server_that_answers_another_id_is_given_up() {
    let scene = Scene::new();
    let (at_start, error) = faulty(&scene, "other-id").await;
    let sentence = "did not answer tools/call within 10s";
    assert!(!at_start && error.contains(sentence), "{error}");
    scene.nothing_is_left();
}

#[tokio::test]
async fn the_mock_servers_faults_at_the_start_end_in_a_sentence() {
    let scene = Scene::new();
    let (at_start, error) = faulty(&scene, "exit").await;
    let sentence = "it ended with exit code 1";
    assert!(at_start && error.contains(sentence), "{error}");
    tokio::time::pause();
    let (at_start, error) = faulty(&scene, "hang-start").await;
    let sentence = "did not answer initialize within 10s";
    assert!(at_start && error.contains(sentence), "{error}");
    scene.nothing_is_left();
}
