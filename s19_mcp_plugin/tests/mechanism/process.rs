//! The life and the end of a server's process: by agreement, by force, by neglect.
//!
//! A harness that is left behind by its user must not leave processes behind itself. Invariant: every test ends with the
//! search for them.

use std::time::{Duration, Instant};

use s01_loop::Repl;
use s02_tools::Toolbox;
use s19_mcp_plugin::{Mcp, Server, StdioServerConfig, Timeouts};
use serde_json::json;

use super::peer::said;
use crate::scene::{HEAR, LONG, SHORT, STAY, Scene, answer, hello, tool_call, until};

/// Does not end with its input, and neither does its child.
const STAYS: &str = "sleep 1000 & sleep 1000";

/// Does not end when it is asked to, either.
const STUBBORN: &str = "trap '' TERM; sleep 1000 & sleep 1000";

#[tokio::test]
async fn how_a_program_failed_is_one_sentence_without_its_passwords() {
    for row in [
        "echo 'no module' >&2; exit 3 => it ended with exit code 3; it last wrote: no module",
        "echo 'Usage: server'; exit 2 => it ended with exit code 2; it last wrote: Usage: server",
        "exec >&-; sleep 1000 => it closed the connection",
    ] {
        let (steps, why) = row.split_once(" => ").unwrap();
        let scene = Scene::new();
        let started = Server::start(&scene.script(&[steps]), &scene.ws, SHORT).await;
        let why = format!("the MCP server 'docs' is disconnected: {why}");
        assert_eq!(started.err().unwrap().to_string(), why);
        scene.nothing_is_left();
    }
    let scene = Scene::new();
    // More than a pipe holds is written beside the protocol, and what is older than the call explains nothing.
    let steps = [
        "head -c 1000000 /dev/zero | tr '\\0' x >&2",
        HEAR,
        "echo 'out of luck' >&2",
        "kill -9 $$",
    ];
    let server = scene.connected(&steps, SHORT).await;
    let error = said(&server, "a").await;
    assert!(
        error.contains("it ended with signal 9; it last wrote: ") && error.ends_with("out of luck"),
        "{error}"
    );
    scene.nothing_is_left();
    let mut nowhere = scene.program("/nowhere/server", &["--token", "s3cret"]);
    nowhere.env.insert("TOKEN".to_owned(), "s3cret".to_owned());
    let error = Server::start(&nowhere, &scene.ws, SHORT).await.err().unwrap();
    let why = "starting the program /nowhere/server: No such file or directory (os error 2)";
    assert_eq!(format!("{error:#}"), why);
}

#[tokio::test]
async fn it_gets_what_it_was_sent_and_ends_with_its_input() {
    let scene = Scene::new();
    // What it still writes, more than a pipe holds, does not keep it from its end.
    let farewell = "for n in {1..20000}; do printf '{\"jsonrpc\":\"2.0\",\"method\":\"bye\"}\\n' || exit; done";
    let steps = ["cat >rest", farewell, "echo end >end"];
    let server = scene.connected(&steps, LONG).await;
    let end = async {
        // The call is asked first.
        tokio::task::yield_now().await;
        server.shut_down().await;
    };
    let (error, ()) = tokio::join!(said(&server, "search"), end);
    assert_eq!(error, "the MCP server 'docs' is disconnected: it was shut down");
    assert!(scene.written("rest").contains("search"));
    assert_eq!(scene.written("end"), "end\n");
    scene.nothing_is_left();
    // A second time there is nothing to wait for.
    server.shut_down().await;
}

#[tokio::test]
async fn one_that_stays_is_asked_and_a_stubborn_one_is_killed_with_its_children() {
    let orphan = format!("sleep 1000 </dev/null >/dev/null 2>&1 &\n{STAY}");
    for (steps, least) in [(STAYS, 1), (STUBBORN, 2), (&orphan, 0)] {
        let scene = Scene::new();
        let server = scene.connected(&[steps], SHORT).await;
        until(|| scene.left().len() >= 2).await;
        let began = Instant::now();
        server.shut_down().await;
        assert!(began.elapsed() >= SHORT.end * least);
        scene.nothing_is_left();
    }
}

#[tokio::test]
async fn the_last_handle_kills_it_and_so_does_a_start_that_is_dropped() {
    let scene = Scene::new();
    let server = scene.connected(&[STUBBORN], LONG).await;
    until(|| scene.left().len() >= 2).await;
    let other = server.clone();
    drop(server);
    tokio::task::yield_now().await;
    assert!(scene.left().len() >= 2);
    drop(other);
    // The task that holds the process ends when the loop comes round.
    until(|| scene.left().is_empty()).await;
    let stubborn = scene.script(&[STUBBORN]);
    tokio::select! {
        _ = Server::start(&stubborn, &scene.ws, LONG) => panic!("it never answers"),
        () = until(|| !scene.left().is_empty()) => {}
    }
    until(|| scene.left().is_empty()).await;
}

#[test]
fn the_end_of_the_program_kills_it() {
    let scene = Scene::new();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let server = runtime.block_on(scene.connected(&[STUBBORN], LONG));
    drop(runtime);
    scene.nothing_is_left();
    drop(server);
}

#[tokio::test]
async fn a_call_has_a_day_unless_its_server_has_a_timeout_of_its_own() {
    assert_eq!(Timeouts::default().call.as_secs(), 100_000);
    let scene = Scene::new();
    let config = StdioServerConfig {
        timeout: Some(Duration::from_secs(90)),
        ..scene.docs(&["hang-call"])
    };
    let server = Server::start(&config, &scene.ws, Timeouts::default()).await;
    let server = server.unwrap();
    tokio::time::pause();
    let why = "the MCP server 'docs' did not answer tools/call within 90s";
    assert_eq!(said(&server, "get_version").await, why);
    tokio::time::resume();
    drop(server);
    until(|| scene.left().is_empty()).await;
}

#[tokio::test]
async fn a_key_is_in_the_environment_only_when_the_configuration_puts_it_there() {
    // No test changes its environment, so one that has a key in it starts another that has it.
    if std::env::var_os("ANTHROPIC_API_KEY").is_none() {
        let this = "mechanism::process::a_key_is_in_the_environment_only_when_the_configuration_puts_it_there";
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", this]).env("ANTHROPIC_API_KEY", "secret");
        let again = again.output().unwrap();
        let told = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && told.contains("1 passed"), "{told}");
        return;
    }
    let scene = Scene::new();
    let mut config = scene.script(&["printf %s \"$ANTHROPIC_API_KEY\" >key"]);
    for key in ["", "given"] {
        if !key.is_empty() {
            config.env.insert("ANTHROPIC_API_KEY".to_owned(), key.to_owned());
        }
        assert!(Server::start(&config, &scene.ws, SHORT).await.is_err());
        assert_eq!(scene.written("key"), key);
    }
    scene.nothing_is_left();
}

#[tokio::test]
async fn who_has_gone_is_gone_until_it_is_there_again() {
    let scene = Scene::new();
    let (hello, page) = (hello(), answer(2, json!({ "tools": [] })));
    let once = "[ -e begun ] && exit 1; touch begun";
    let script = scene.script(&[once, HEAR, &hello, HEAR, HEAR, &page]);
    let mcp = Mcp::with_servers(&scene.ws, &Repl::typed("s19").quiet(), [script]);
    let tools = Toolbox::new().with(mcp.connect_tool());
    let connect = || tools.call(tool_call("connect_mcp", json!({ "name": "docs" })));
    let connected = connect().await;
    assert!(!connected.is_error, "{connected:?}");
    until(|| mcp.servers().contains("docs is gone")).await;
    let refused = connect().await;
    assert!(refused.is_error, "{refused:?}");
    assert!(mcp.servers().contains("docs is gone"), "{}", mcp.servers());
    scene.nothing_is_left();
}
