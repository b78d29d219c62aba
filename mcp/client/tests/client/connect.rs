//! Many servers at once, and what servers do right after they are greeted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_client::fleet::{Limits, each};
use mcp_client::{Client, Error, Options, Patience, Server, Transport, link};
use mcp_wire::frame::{Frame, Id, Kind};
use mcp_wire::{Connection, Peer, body};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::server::{answer, kind, mock, options, seconds, served, server};

/// A server that takes this long to answer `initialize`; without a time it hangs.
fn late(name: &str, time: Option<u64>) -> Server {
    let open = served(move |connection| async move {
        match time {
            Some(time) => seconds(time).await,
            None => std::future::pending().await,
        }
        kind(connection).await;
    });
    server(name, open)
}

#[tokio::test(start_paused = true)]
async fn servers_are_connected_side_by_side_and_one_that_hangs_delays_nobody() {
    let mut servers: Vec<_> = (0..29).map(|number| late(&format!("s{number}"), Some(1))).collect();
    servers.insert(0, late("hangs", None));
    let began = Instant::now();
    let told = Mutex::new(Vec::new());
    let work = |at: usize| Client::connect(&servers[at], options());
    each(&servers, Limits::default(), work, |at, outcome| {
        let after = began.elapsed().as_secs();
        told.lock().unwrap().push((at, outcome.is_ok(), after));
    })
    .await;
    let told = told.into_inner().unwrap();
    // Twenty at a time: nineteen after a second, the other ten after two, the one that hangs at its limit.
    assert_eq!(told.iter().filter(|(.., after)| *after == 1).count(), 19);
    assert_eq!(told.iter().filter(|(.., after)| *after == 2).count(), 10);
    assert_eq!(told.last(), Some(&(0, false, 30)));
}

#[tokio::test(start_paused = true)]
async fn processes_of_this_machine_are_started_three_at_a_time() {
    let stdio = |name: String| Server {
        name,
        command: "true".to_owned(),
        ..Server::default()
    };
    let servers: Vec<_> = (0..40)
        .map(|number| match number % 4 {
            0 => stdio(format!("local {number}")),
            _ => late(&format!("remote {number}"), None),
        })
        .collect();
    let (local, remote) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let most = Mutex::new((0, 0));
    let work = |at: usize| {
        let running = if servers[at].transport == Transport::Stdio { &local } else { &remote };
        let (local, remote, most) = (&local, &remote, &most);
        async move {
            running.fetch_add(1, Ordering::Relaxed);
            let now = (local.load(Ordering::Relaxed), remote.load(Ordering::Relaxed));
            let mut most = most.lock().map(|most| *most).unwrap();
            most = (most.0.max(now.0), most.1.max(now.1));
            seconds(1).await;
            running.fetch_sub(1, Ordering::Relaxed);
            most
        }
    };
    each(&servers, Limits::default(), work, |_, seen| {
        let mut most = most.lock().unwrap();
        *most = (most.0.max(seen.0), most.1.max(seen.1));
    })
    .await;
    assert_eq!(*most.lock().unwrap(), (3, 20));
}

#[test]
fn the_environment_sets_the_limits() {
    let set = |name: &str| match name {
        "MCP_TIMEOUT" => Some("1500".to_owned()),
        "MCP_SERVER_CONNECTION_BATCH_SIZE" => Some("7".to_owned()),
        _ => None,
    };
    let limits = Limits::from_env(&set).unwrap();
    let expected = Limits {
        local: 7,
        connect: Duration::from_millis(1500),
        ..Limits::default()
    };
    assert_eq!(limits, expected);
    for wrong in ["0", "-1", "soon", ""] {
        let error =
            Limits::from_env(&|name| (name == "MCP_TOOL_TIMEOUT").then(|| wrong.to_owned()));
        assert_eq!(error.unwrap_err(), "MCP_TOOL_TIMEOUT must be a whole number above 0");
    }
}

/// As server-everything does it: five notifications, and a question, right behind the handshake.
#[tokio::test]
async fn what_a_server_says_right_after_the_handshake_is_heard_and_answered() {
    let open = served(|mut connection: Connection| async move {
        while let Some(Ok(frame)) = connection.reader.recv().await {
            if frame.calls("notifications/initialized") {
                for _ in 0..5 {
                    let changed = Frame::notification("notifications/tools/list_changed", ());
                    connection.writer.send(changed).await.unwrap();
                }
                // Ids as they come: 0, and strings.
                for id in [Id::from(0), Id::from("zero"), Id::from("0")] {
                    connection.writer.send(Frame::request(id, "ping", ())).await.unwrap();
                }
                connection.writer.send(Frame::request(7, "roots/list", ())).await.unwrap();
            }
            if frame.kind() == Kind::Response {
                let text = Frame::notification(
                    "seen",
                    json!({ "id": frame.id.as_ref().unwrap().to_raw(), "error": frame.error }),
                );
                connection.writer.send(text).await.unwrap();
            }
            answer(&connection, frame).await;
        }
    });
    let (heard, mut hears) = mpsc::channel(64);
    let options = Options {
        notifications: Some(heard),
        ..options()
    };
    let client = Client::connect(&server("eager", open), options).await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 3);
    for _ in 0..5 {
        assert!(hears.recv().await.unwrap().calls("notifications/tools/list_changed"));
    }
    let mut seen = Vec::new();
    for _ in 0..4 {
        let params = hears.recv().await.unwrap().params.unwrap();
        seen.push((
            body::get(&params, &["id"]).unwrap().get().to_owned(),
            params.get().contains("-32601"),
        ));
    }
    seen.sort();
    let expected = [("\"0\"", false), ("\"zero\"", false), ("0", false), ("7", true)];
    assert_eq!(seen, expected.map(|(id, refused)| (id.to_owned(), refused)));
}

/// What stands behind `connect`: the client's own ids and its cancellation, a server that is opened anew between.
#[tokio::test(start_paused = true)]
async fn frames_go_through_with_the_ids_of_the_client_over_a_new_connection_too() {
    let open = served(|mut connection: Connection| async move {
        while let Some(Ok(frame)) = connection.reader.recv().await {
            let last = frame.params.as_deref().is_some_and(|params| params.get().contains("die"));
            answer(&connection, frame).await;
            if last {
                return;
            }
        }
    });
    let at = server("plain", open);
    let dialer = mcp_client::transport::Dialer::new(&at).unwrap();
    let (mut client, _, _) = link::hold(
        dialer,
        options().login,
        Patience {
            jitter: Arc::new(|_| Duration::ZERO),
            ..Patience::default()
        },
    );
    let mut ask = async |id: Id, method: &str, params: serde_json::Value| {
        client.writer.send(Frame::request(id.clone(), method, params)).await.unwrap();
        let answer = client.reader.recv().await.unwrap().unwrap();
        assert_eq!(answer.id, Some(id));
        answer.result.unwrap()
    };
    ask(Id::from(0), "initialize", json!({})).await;
    for round in 0..3 {
        let huge =
            json!({ "name": "look", "arguments": { "die": round, "unknown": [1, { "a": null }] } });
        let result = ask(Id::from("zero"), "tools/call", huge.clone()).await;
        assert_eq!(body::text(&result, &["content"]), None);
        assert!(result.get().contains("unknown"), "{result}");
        ask(Id::from(0), "anything/at-all", json!([1, 2])).await;
    }
}

/// A service of the SDK in this process, over a pair of streams.
#[tokio::test]
async fn a_service_on_the_sdk_is_called_in_process() {
    let client = Client::connect(&mock("docs"), options()).await.unwrap();
    let answer = client.call("search", json!({ "query": "agent loop" }), |_| {}).await.unwrap();
    assert!(answer.get().contains("The agent loop"), "{answer}");
    let error = client.call("nothing", json!({}), |_| {}).await.unwrap_err();
    assert!(matches!(error, Error::Server(_)), "{error:?}");
    client.close().await;
}

/// A server that knows no `initialize` is asked without a session.
#[tokio::test]
async fn a_server_without_handshake_is_spoken_to_without_one() {
    let open = served(|connection: Connection| async move {
        let (_peer, mut incoming) = Peer::new(connection);
        while let Some(came) = incoming.recv().await {
            let mcp_wire::peer::Incoming::Request(request) = came else {
                continue;
            };
            let params = request.frame.params.clone();
            let version = params.and_then(|params| {
                body::text(&params, &["_meta", "io.modelcontextprotocol/protocolVersion"])
            });
            match (request.frame.method.as_deref(), version.as_deref()) {
                (Some("initialize"), _) => request.refuse(-32601, "Method not found").await,
                (_, Some("2026-07-28")) => request.answer(json!({ "tools": [] })).await,
                _ => request.refuse(-32602, "_meta is missing").await,
            }
        }
    });
    let client = Client::connect(&server("modern", open), options()).await.unwrap();
    assert!(client.tools().await.unwrap().is_empty());
}
