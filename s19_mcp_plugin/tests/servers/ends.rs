//! The end of a server, and of a call: by agreement, by force, by neglect.
//!
//! A harness that is left behind by its user must not leave processes behind itself. Invariant: every test ends with the
//! search for them.

use std::time::{Duration, Instant};

use s01_loop::{Repl, ToolCall};
use s02_tools::Toolbox;
use s19_mcp_plugin::{Launch, Mcp, Patience, Server};
use serde_json::{Map, Value, json};

use crate::scene::{HEAR, LONG, SHORT, STAY, Scene, answer, hello, text, until};

/// Writes each line into a file, to the end of the input, and says so.
const KEEP: &str = "cat >rest; echo end >end";

/// Does not end with its input, and neither does its child.
const STAYS: &str = "sleep 1000 & sleep 1000";

/// Does not end when it is asked to, either.
const STUBBORN: &str = "trap '' TERM; sleep 1000 & sleep 1000";

#[tokio::test]
async fn it_ends_with_its_input() {
    let scene = Scene::new();
    let server = scene.greeted(json!([]), &[KEEP], LONG).await;
    server.shut_down().await;
    assert_eq!(
        (
            scene.written("rest").as_str(),
            scene.written("end").as_str()
        ),
        ("", "end\n")
    );
    scene.nothing_is_left();
    assert_eq!(
        server.failure().unwrap(),
        "the MCP server 'docs' is disconnected: it was shut down"
    );
    // A second time there is nothing to wait for.
    server.shut_down().await;
}

#[tokio::test]
async fn what_it_still_writes_when_it_is_to_end_does_not_kill_it() {
    let scene = Scene::new();
    // More than a pipe holds.
    let farewell = "for n in {1..20000}; do printf '{\"jsonrpc\":\"2.0\",\"method\":\"bye\"}\\n' || exit; done";
    let steps = [STAY, farewell, "echo end >end"];
    let server = scene.greeted(json!([]), &steps, LONG).await;
    server.shut_down().await;
    assert_eq!(scene.written("end"), "end\n");
    scene.nothing_is_left();
}

#[tokio::test]
async fn what_it_was_sent_before_the_end_reaches_it() {
    let scene = Scene::new();
    let server = scene.greeted(json!([]), &[KEEP], LONG).await;
    let call = server.call("search", json!({ "query": "what" }));
    let end = async {
        // The call is asked first.
        tokio::task::yield_now().await;
        server.shut_down().await;
    };
    let (call, ()) = tokio::join!(call, end);
    assert_eq!(
        call.unwrap_err().to_string(),
        "the MCP server 'docs' is disconnected: it was shut down"
    );
    assert!(scene.written("rest").contains("what"));
    scene.nothing_is_left();
}

#[tokio::test]
async fn one_that_stays_is_asked_and_a_stubborn_one_is_killed() {
    for (steps, least) in [(STAYS, 1), (STUBBORN, 2)] {
        let scene = Scene::new();
        let server = scene.greeted(json!([]), &[steps], SHORT).await;
        until(|| scene.left().len() >= 2).await;
        let began = Instant::now();
        server.shut_down().await;
        assert!(began.elapsed() >= SHORT.end * least);
        scene.nothing_is_left();
    }
}

#[tokio::test]
async fn the_mock_server_that_ignores_everything_is_killed() {
    let scene = Scene::new();
    let server = Server::start_with(scene.docs(&["ignores-eof"]), &scene.ws, SHORT).await;
    server.unwrap().shut_down().await;
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_child_that_outlives_its_parent_ends_with_the_group() {
    let scene = Scene::new();
    let server = scene
        .greeted(
            json!([]),
            &["sleep 1000 </dev/null >/dev/null 2>&1 &", KEEP],
            LONG,
        )
        .await;
    until(|| scene.left().len() >= 2).await;
    server.shut_down().await;
    scene.nothing_is_left();
}

#[tokio::test]
async fn the_last_handle_kills_it() {
    let scene = Scene::new();
    let server = scene.greeted(json!([]), &[STUBBORN], LONG).await;
    until(|| scene.left().len() >= 2).await;
    let other = server.clone();
    drop(server);
    tokio::task::yield_now().await;
    assert!(scene.left().len() >= 2);
    drop(other);
    // The task that holds the process ends when the loop comes round.
    until(|| scene.left().is_empty()).await;
}

#[test]
fn the_end_of_the_program_kills_it() {
    let scene = Scene::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(scene.greeted(json!([]), &[STUBBORN], LONG));
    drop(runtime);
    scene.nothing_is_left();
    drop(server);
}

#[tokio::test]
async fn a_start_that_nobody_waits_for_leaves_nothing() {
    let scene = Scene::new();
    let start = Server::start_with(scene.script(&[STUBBORN]), &scene.ws, LONG);
    tokio::select! {
        _ = start => panic!("it never answers"),
        () = until(|| !scene.left().is_empty()) => {}
    }
    until(|| scene.left().is_empty()).await;
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_and_a_late_answer_is_ignored() {
    let scene = Scene::new();
    let keep = "read -r line; printf '%s\\n' \"$line\" >>kept";
    let steps = [
        HEAR,
        "touch asked",
        keep,
        &text(3, "late"),
        HEAR,
        &text(4, "found"),
        STAY,
    ];
    let server = scene.greeted(json!([]), &steps, LONG).await;
    tokio::select! {
        _ = server.call("slow", json!({})) => panic!("it does not answer"),
        () = until(|| scene.ws.root().join("asked").exists()) => {}
    }
    let found = server.call("search", json!({})).await.unwrap();
    assert_eq!(found.content[0]["text"], "found");
    let cancelled: Value = scene.written("kept").parse().unwrap();
    let params = json!({ "requestId": 3 });
    assert_eq!(
        cancelled,
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
    );
}

#[tokio::test]
async fn a_call_without_an_answer_is_cancelled() {
    let scene = Scene::new();
    let server = scene.greeted(json!([]), &[HEAR, KEEP], LONG).await;
    tokio::time::pause();
    assert!(server.call("slow", json!({})).await.is_err());
    tokio::time::resume();
    server.shut_down().await;
    let cancelled: Value = scene.written("rest").parse().unwrap();
    assert_eq!(cancelled["params"], json!({ "requestId": 3 }));
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_handshake_is_never_cancelled() {
    let scene = Scene::new();
    let patience = Patience {
        start: Duration::from_secs(1),
        ..LONG
    };
    let keep = scene.script(&["cat >rest"]);
    assert!(Server::start_with(keep, &scene.ws, patience).await.is_err());
    assert!(!scene.written("rest").contains("cancelled"));
    scene.nothing_is_left();
}

#[tokio::test]
async fn a_call_has_a_day_unless_its_server_has_a_time_of_its_own() {
    for (own, within) in [(None, "100000s"), (Some(90), "90s")] {
        let scene = Scene::new();
        let launch = Launch {
            timeout: own.map(Duration::from_secs),
            ..scene.docs(&["hang-call"])
        };
        let server = Server::start(launch, &scene.ws).await.unwrap();
        tokio::time::pause();
        let error = server.call("get_version", json!({})).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the MCP server 'docs' did not answer tools/call within {within}")
        );
        tokio::time::resume();
        drop(server);
        until(|| scene.left().is_empty()).await;
    }
}

#[tokio::test]
async fn who_has_gone_is_gone_until_it_is_there_again() {
    let scene = Scene::new();
    let (hello, page) = (hello(), answer(2, json!({ "tools": [] })));
    let once = "[ -e begun ] && exit 1; touch begun";
    let script = scene.script(&[once, HEAR, &hello, HEAR, HEAR, &page]);
    let mcp = Mcp::with_servers(&scene.ws, &Repl::typed("s19").quiet(), [script]);
    let tools = Toolbox::new().with(mcp.connect_tool());
    let connect = || {
        tools.call(ToolCall {
            id: "toolu_1".into(),
            name: "connect_mcp".into(),
            input: json!({ "name": "docs" }),
            extra: Map::new(),
        })
    };
    let connected = connect().await;
    assert!(!connected.is_error, "{connected:?}");
    until(|| mcp.servers().contains("docs is gone")).await;
    let refused = connect().await;
    assert!(refused.is_error, "{refused:?}");
    let section = mcp.servers();
    assert!(section.contains("docs is gone"), "{section}");
    scene.nothing_is_left();
}
