//! Servers that mean harm, or are broken, before our clients: each request ends, and nothing is left behind.
//!
//! Invariant of every test: time is paused, so that what waits for ever is seen at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::Response;
use hyper::http::HeaderValue;
use mcp_wire::frame::FRAME_LIMIT;
use mcp_wire::http::ClientOptions;
use mcp_wire::peer::CallError;
use mcp_wire::{Cause, Connection, Error, Frame, Kind, Peer, http, stdio, ws};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio::time::{advance, timeout};

use crate::hostile::{Dice, rounds};

/// Longer than a client waits for anything without a word from its server.
const EVER: Duration = Duration::from_secs(24 * 3600);

const JSON: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\nContent-Length: 0065\r\n\r\n\
    {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\"}}";
const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1-0\nretry: 30\ndata:\n\n\
    event: message\nid: 1-1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1}}\n\n\
    data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"x\",\"inputSchema\":{\"properties\":\
    {\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}}]}}\n\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n\
    5\r\nid: 7\r\n2\r\n\n:\r\n8\r\n x\ndata:\r\n2\r\n\n\n\r\n0\r\n\r\n";
const REFUSED: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 0078\r\n\r\n\
    {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"no such session\"}}";
const OTHERS: [&str; 4] = [
    "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 3\r\n\r\nwho",
    "HTTP/1.1 307 Temporary Redirect\r\nLocation: /mcp\r\nContent-Length: 0\r\n\r\n",
    // An answer that asks.
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}    ",
];

/// The head of a request, and what has come of its body.
async fn head(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    while !text.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read_buf(&mut text).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Answers each connection as `answer` says, and closes it.
async fn server(mut answer: impl FnMut(&str) -> Vec<u8> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer(&head(&mut stream).await);
            let _ = stream.write_all(&answer).await;
            // What has not been read would turn the answer into a reset.
            let _ = stream.shutdown().await;
            tokio::spawn(async move {
                let mut rest = Vec::new();
                let read = stream.read_to_end(&mut rest);
                let _ = timeout(Duration::from_secs(1), read).await;
            });
        }
    });
    url
}

/// What becomes of the request 1: all that comes before its end must be a frame or an error too.
async fn ends(connection: &mut Connection, what: &str) {
    let ended = async {
        loop {
            match connection.reader.recv().await {
                Some(Ok(frame)) if frame.kind() == Kind::Response => {
                    if frame.id == Some(1.into()) {
                        return;
                    }
                }
                Some(Err(Error::Broken(_))) | None => return,
                Some(Err(error)) if error.id() == Some(&1.into()) => return,
                Some(_) => {}
            }
        }
    };
    assert!(timeout(EVER, ended).await.is_ok(), "{what}: it hangs");
}

/// All tasks of the clients end, also those that listened.
async fn nothing_is_left(before: usize, what: &str) {
    for _ in 0..1000 {
        if Handle::current().metrics().num_alive_tasks() <= before {
            return;
        }
        advance(Duration::from_secs(60)).await;
        // Each lets the tasks that were woken go on.
        for _ in 0..100 {
            yield_now().await;
        }
    }
    let left = Handle::current().metrics().num_alive_tasks() - before;
    panic!("{what}: {left} tasks are left");
}

#[tokio::test(start_paused = true)]
async fn mutated_answers_end_each_request_of_the_http_client() {
    let seeds = [JSON, STREAM, CHUNKED, REFUSED].into_iter().chain(OTHERS);
    let seeds: Vec<_> = seeds.collect();
    let mut dice = Dice(5);
    let url = server(move |_| {
        let seed = seeds[dice.roll(seeds.len())];
        dice.mutate(seed)
    })
    .await;
    let before = Handle::current().metrics().num_alive_tasks();
    let meta = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } });
    let options = ClientOptions::new(&url);
    for n in 0..rounds(400) {
        let mut client = http::connect(options.clone());
        let (method, params) = match n % 4 {
            0 | 1 => ("initialize", json!({})),
            2 => ("tools/list", json!({})),
            _ => ("tools/call", meta.clone()),
        };
        let asked = Frame::request(1, method, params);
        client.writer.send(asked).await.unwrap();
        ends(&mut client, &format!("round {n}, {method}")).await;
        if n % 4 == 1 {
            // Opens the stream that belongs to no request, and asks on.
            for frame in [
                Frame::notification("notifications/initialized", ()),
                Frame::request(1, "tools/list", ()),
            ] {
                client.writer.send(frame).await.unwrap();
            }
            ends(&mut client, &format!("round {n}, tools/list")).await;
        }
    }
    drop(options);
    nothing_is_left(before, "all rounds").await;
}

#[tokio::test(start_paused = true)]
async fn mutated_streams_end_each_connection_of_the_old_client() {
    let mut dice = Dice(6);
    let url = server(move |head| {
        if !head.starts_with("GET") {
            return dice.mutate(OTHERS[dice.0 as usize % OTHERS.len()]);
        }
        let opening = STREAM.split("id: 1-0").next().unwrap();
        let endpoint = "event: endpoint\ndata: /post?session=1\n\n";
        let rest = &STREAM[opening.len()..];
        if dice.roll(4) == 0 {
            return dice.mutate(&[opening, endpoint, rest].concat());
        }
        [opening.as_bytes(), endpoint.as_bytes(), &dice.mutate(rest)].concat()
    })
    .await;
    let before = Handle::current().metrics().num_alive_tasks();
    let options = ClientOptions::new(&url);
    for n in 0..rounds(400) {
        let connecting = timeout(EVER, http::connect_sse(options.clone()));
        let Ok(mut client) = connecting.await.expect("connecting hangs") else {
            continue;
        };
        let _ = client.writer.send(Frame::request(1, "a", ())).await;
        ends(&mut client, &format!("round {n}")).await;
    }
    drop(options);
    nothing_is_left(before, "all rounds").await;
}

/// Accepts connections and says to each what `words` has for it; then it neither reads nor closes.
async fn deaf(words: fn(&str) -> &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = words(&head(&mut stream).await);
            let _ = stream.write_all(answer.as_bytes()).await;
            held.push(stream);
        }
    });
    address.to_string()
}

const SILENT_STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
const HALF: &str = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 99\r\n\r\nsor";

#[tokio::test(start_paused = true)]
async fn servers_that_stop_in_the_middle_do_not_keep_a_client_that_leaves() {
    let table: [fn(&str) -> &'static str; 4] = [
        |_| "",
        |_| "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
        |_| SILENT_STREAM,
        |_| HALF,
    ];
    for (n, words) in table.into_iter().enumerate() {
        let address = deaf(words).await;
        let before = Handle::current().metrics().num_alive_tasks();
        let options = ClientOptions::new(&format!("http://{address}/mcp"));
        for method in ["initialize", "tools/list"] {
            let client = http::connect(options.clone());
            let (peer, _) = Peer::new(client);
            let call = peer.call(method, ()).await.timeout(Duration::from_secs(60));
            let ended = timeout(EVER, call.result()).await;
            let why = ended.expect("it hangs").unwrap_err();
            // A refusal says more than silence, even half of one.
            let refused = matches!(
                why,
                CallError::Transport(Error::Failed {
                    cause: Cause::Refused(500, _),
                    ..
                })
            );
            assert!(refused == (n == 3), "{n}, {method}: {why}");
        }
        let old = timeout(EVER, http::connect_sse(options.clone())).await;
        assert!(old.expect("connecting hangs").is_err(), "{n}");
        drop(options);
        nothing_is_left(before, &format!("{n}")).await;
    }
}

/// Two hundred calls at once, more than any queue holds: each must end once the other side is known to be gone.
async fn all_end(name: &str, connection: Connection) {
    let (peer, _) = Peer::new(connection);
    let text = "x".repeat(64 << 10);
    let calls = (0..200).map(|_| {
        let (peer, text) = (peer.clone(), &text);
        async move {
            let call = peer.call("a", json!({ "text": text })).await;
            call.timeout(Duration::from_secs(60)).result().await.unwrap_err()
        }
    });
    let all = futures_util::future::join_all(calls);
    let ended = timeout(EVER, all).await;
    assert!(ended.is_ok(), "{name}: calls hang");
}

#[tokio::test(start_paused = true)]
async fn calls_end_however_the_other_side_stops_reading() {
    let (ours, theirs) = duplex(1024);
    let (input, output) = (duplex(64), ours);
    let connection = stdio::lines(input.0, output, 1 << 20);
    let leaves = async {
        advance(Duration::from_secs(5)).await;
        // Its output ends; its input is held and never read.
        drop(input.1);
    };
    tokio::join!(all_end("stdio", connection), leaves);
    drop(theirs);

    let silent = format!("http://{}/mcp", deaf(|_| "").await);
    let client = http::connect(ClientOptions::new(&silent));
    all_end("http", client).await;

    const OLD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /post\n\n";
    let silent: fn(&str) -> &'static str = |head| if head.starts_with("GET") { OLD } else { "" };
    let refuses = |head: &str| {
        if head.starts_with("GET") { OLD } else { REFUSED }
    };
    for old in [silent, refuses] {
        let options = ClientOptions::new(&format!("http://{}/sse", deaf(old).await));
        let client = http::connect_sse(options).await.unwrap();
        all_end("legacy sse", client).await;
    }

    let hosts = Default::default();
    for ours_accepts in [true, false] {
        let (ours, theirs) = duplex(1 << 12);
        let (url, name) = ("ws://localhost/", "sec-websocket-protocol");
        // The other side shakes hands, and that is all.
        if ours_accepts {
            use tokio_tungstenite::tungstenite::client::IntoClientRequest;
            let mut request = url.into_client_request().unwrap();
            request.headers_mut().insert(name, "mcp".parse().unwrap());
            let deaf = tokio_tungstenite::client_async(request, theirs);
            let (server, deaf) = tokio::join!(ws::accept(ours, &hosts, FRAME_LIMIT), deaf);
            all_end("websocket server", server.unwrap()).await;
            drop(deaf);
        } else {
            #[expect(clippy::result_large_err, reason = "tungstenite wants it so")]
            let deaf =
                tokio_tungstenite::accept_hdr_async(theirs, |_: &_, mut response: Response<()>| {
                    response.headers_mut().insert(name, HeaderValue::from_static("mcp"));
                    Ok(response)
                });
            let (client, deaf) = tokio::join!(ws::over(ours, ClientOptions::new(url)), deaf);
            all_end("websocket client", client.unwrap()).await;
            drop(deaf);
        }
    }
}

#[test]
fn a_tool_with_a_hundred_thousand_headers_is_refused_at_once() {
    let mark = |n| (format!("a{n}"), json!({ "type": "string", "x-mcp-header": format!("H{n}") }));
    let properties: serde_json::Map<_, _> = (0..100_000).map(mark).collect();
    let refused = mcp_wire::headers::marked(&json!({ "properties": properties }));
    assert!(refused.unwrap_err().contains("too many"));
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_not_read_to_its_end() {
    let opening = [
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: ",
        "HTTP/1.1 404 Not Found\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: ",
    ];
    for opening in opening {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let sending = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            head(&mut stream).await;
            stream.write_all(opening.as_bytes()).await.unwrap();
            let piece = vec![b'x'; 1 << 20];
            for sent in 0..100 {
                if stream.write_all(&piece).await.is_err() {
                    return sent;
                }
            }
            100
        });
        let options = ClientOptions {
            limit: 1 << 20,
            ..ClientOptions::new(&url)
        };
        let mut client = http::connect(options);
        let asked = Frame::request(1, "tools/list", ());
        client.writer.send(asked).await.unwrap();
        ends(&mut client, opening).await;
        // The socket's own buffers hold some megabytes.
        let sent = sending.await.unwrap();
        assert!(sent < 50, "{opening}: {sent} MiB were taken");
    }
}

#[tokio::test]
async fn large_answers_to_many_requests_wait_on_the_wire_while_nobody_reads() {
    const ASKED: usize = 16;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = taken.clone();
    tokio::spawn(async move {
        let text = "x".repeat(15 << 20);
        while let Ok((mut stream, _)) = listener.accept().await {
            let (counted, text) = (counted.clone(), text.clone());
            tokio::spawn(async move {
                let mut asked = Vec::new();
                while !asked.ends_with(b"}") {
                    stream.read_buf(&mut asked).await.unwrap();
                }
                let body = asked.iter().position(|byte| *byte == b'{').unwrap();
                let asked = Frame::parse(&asked[body..]).unwrap();
                let answer = Frame::result(asked.id.unwrap(), text).to_line();
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:";
                let answer = format!("{head} {}\r\n\r\n{answer}", answer.len());
                stream.write_all(answer.as_bytes()).await.unwrap();
                counted.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    let mut client = http::connect(ClientOptions::new(&url));
    for n in 0..ASKED as u64 {
        client.writer.send(Frame::request(n, "a", ())).await.unwrap();
    }
    // Eight are being read, one waits in the queue; what a socket holds of the others is less than an answer.
    let taken = || taken.load(Ordering::Relaxed);
    while taken() < 8 {
        yield_now().await;
    }
    for _ in 0..10_000 {
        yield_now().await;
    }
    assert!(taken() <= 10, "{} of {ASKED} were taken", taken());
    for _ in 0..ASKED {
        client.reader.recv().await.unwrap().unwrap();
    }
}
