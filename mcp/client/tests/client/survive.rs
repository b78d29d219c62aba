//! Servers that die, forget, hang and talk nonsense.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_client::{Client, Error, Options, Server, State};
use mcp_wire::frame::{Frame, Kind};
use mcp_wire::http::{Listener, ServerOptions};
use mcp_wire::{Connection, body};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpSocket;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};

use super::server::{answer, manners, options, seconds, served, server};

/// Where in a call the server dies.
#[derive(Clone, Copy, Debug)]
enum Death {
    Unread,
    Before,
    After,
    Answered,
}

/// Counts what was done, and dies at every tenth call.
struct Mortal {
    done: Mutex<HashMap<String, u32>>,
    calls: AtomicUsize,
    deaths: AtomicUsize,
    most: usize,
}

impl Mortal {
    fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            done: Mutex::default(),
            calls: AtomicUsize::new(0),
            deaths: AtomicUsize::new(0),
            most,
        })
    }

    /// Serves; whether it has died of it.
    async fn live(&self, connection: &mut Connection) -> bool {
        while let Some(Ok(frame)) = connection.reader.recv().await {
            if !frame.calls("tools/call") {
                answer(connection, frame).await;
                continue;
            }
            let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
            let deaths = [Death::Unread, Death::Before, Death::After, Death::Answered];
            let death = (call.is_multiple_of(10)
                && self.deaths.load(Ordering::Relaxed) < self.most)
                .then(|| deaths[self.deaths.fetch_add(1, Ordering::Relaxed) % 4]);
            if matches!(death, Some(Death::Unread | Death::Before)) {
                return true;
            }
            let name = body::text(frame.params.as_deref().unwrap(), &["arguments", "tag"]).unwrap();
            *self.done.lock().unwrap().entry(name).or_default() += 1;
            if matches!(death, Some(Death::After)) {
                return true;
            }
            answer(connection, frame).await;
            if death.is_some() {
                return true;
            }
        }
        false
    }

    /// Ten calls for each death: of the safe ones none is lost, of the others none is made twice.
    async fn examine(&self, client: &Client) {
        assert_eq!(client.tools().await.unwrap().len(), 3);
        let mut unknown = 0;
        for number in 0..10 * self.most {
            let tool = ["look", "deploy", "set", "deploy"][number % 4];
            let tag = format!("{tool} {number}");
            let result = client.call(tool, json!({ "tag": tag }), |_| {}).await;
            let done = self.done.lock().unwrap().get(&tag).copied().unwrap_or_default();
            match (tool, result) {
                ("deploy", Ok(_)) => assert_eq!(done, 1, "{tag}"),
                ("deploy", Err(Error::Unknown(_))) => {
                    unknown += 1;
                    assert!(done <= 1, "{tag} was done {done} times");
                }
                (_, Ok(answer)) => {
                    assert!(done >= 1 && answer.get().contains(&tag), "{tag}: {answer}")
                }
                (_, result) => panic!("{tag}: {result:?}"),
            }
        }
        assert_eq!(self.deaths.load(Ordering::Relaxed), self.most);
        assert!((1..=self.most).contains(&unknown), "{unknown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_dies_a_hundred_times_in_a_thousand_calls() {
    let mortal = Mortal::new(100);
    let alive = mortal.clone();
    let open = served(move |mut connection| {
        let mortal = alive.clone();
        async move { _ = mortal.live(&mut connection).await }
    });
    let client = Client::connect(&server("mortal", open), options()).await.unwrap();
    mortal.examine(&client).await;
}

/// The same over HTTP: all sockets of the server close at once, and sessions are lost. Each
/// time a second goes by until a stream that broke off may be asked for again, so `KILLS=100` asks for all of it.
#[tokio::test]
async fn a_server_on_http_dies_and_ten_calls_go_by_until_the_next_time() {
    let kills = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok());
    let mortal = Mortal::new(kills.unwrap_or(4));
    let served = mortal.clone();
    let (started, mut port) = watch::channel(0);
    // Bound and deaf, it keeps the port for the next life: nobody else is given it meanwhile.
    let kept = TcpSocket::new_v4().unwrap();
    kept.set_reuseaddr(true).unwrap();
    kept.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    std::thread::spawn(move || {
        while !started.is_closed() {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let at = kept.local_addr().unwrap();
            let died = Arc::new(Notify::new());
            let live = async {
                let mut listener = Listener::bind(at, ServerOptions::default()).await.unwrap();
                started.send_replace(listener.address().port());
                while let Some(mut connection) = listener.accept().await {
                    let (mortal, died) = (served.clone(), died.clone());
                    tokio::spawn(async move {
                        if mortal.live(&mut connection).await {
                            died.notify_one();
                        }
                        std::future::pending::<()>().await;
                    });
                }
            };
            runtime.block_on(async {
                tokio::select! {
                    () = live => {}
                    () = died.notified() => {}
                    () = started.closed() => {}
                }
            });
            runtime.shutdown_background();
        }
    });
    let port = *port.wait_for(|port| *port != 0).await.unwrap();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let mut options = options();
    options.patience.jitter = Arc::new(|_| Duration::from_millis(1));
    let at = Server::at(&url).unwrap();
    let client = Client::connect(&at, options).await.unwrap();
    mortal.examine(&client).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_ten_seconds_for_a_server_that_is_away_and_attempts_go_on() {
    let opened = Arc::new(AtomicU32::new(0));
    let counter = opened.clone();
    let open: mcp_client::config::Sdk = Arc::new(move || {
        let attempt = counter.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            // Away from the first death on, for six attempts.
            if (1..=6).contains(&attempt) {
                return Err(mcp_wire::Error::Broken("connection refused".to_owned()));
            }
            let (near, mut far) = Connection::pair();
            tokio::spawn(async move {
                while let Some(Ok(frame)) = far.reader.recv().await {
                    if attempt == 0 && frame.calls("tools/call") {
                        return;
                    }
                    answer(&far, frame).await;
                }
            });
            Ok(near)
        })
    });
    let client = Client::connect(&server("away", open), options()).await.unwrap();
    client.tools().await.unwrap();
    let began = Instant::now();
    let error = client.call("look", json!({}), |_| {}).await.unwrap_err();
    assert!(matches!(error, Error::Connection(_)), "{error:?}");
    assert!(error.to_string().contains("connection refused"), "{error}");
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    assert!(matches!(client.state(), State::Failed(_)));
    // 1 + 2 + 4 + 8 + 16 + 32 s, and then a minute at most.
    seconds(125).await;
    assert_eq!(opened.load(Ordering::Relaxed), 8);
    client.call("look", json!({}), |_| {}).await.unwrap();
    assert_eq!(client.state(), State::Connected);
}

#[tokio::test]
async fn a_server_that_was_never_there_is_told_at_once() {
    let open: mcp_client::config::Sdk =
        Arc::new(|| Box::pin(async { Err(mcp_wire::Error::Broken("nobody is there".to_owned())) }));
    let error = Client::connect(&server("none", open), options()).await.err().unwrap();
    assert!(matches!(&error, Error::Connection(why) if why == "nobody is there"), "{error:?}");
    let at = Server::at("http://127.0.0.1:9/mcp").unwrap();
    let error = Client::connect(&at, options()).await.err().unwrap();
    assert!(matches!(&error, Error::Connection(why) if why.contains("refused")), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_call_begins_anew_with_each_progress_and_what_is_given_up_is_cancelled() {
    let (told, cancelled) = watch::channel(0);
    let told = Arc::new(told);
    let open = served(move |mut connection| {
        let told = told.clone();
        async move {
            while let Some(Ok(frame)) = connection.reader.recv().await {
                if frame.calls("notifications/cancelled") {
                    told.send_modify(|count| *count += 1);
                }
                if !frame.calls("tools/call") {
                    answer(&connection, frame).await;
                    continue;
                }
                let token =
                    body::get(frame.params.as_deref().unwrap(), &["_meta", "progressToken"])
                        .unwrap();
                for step in 1..=3 {
                    seconds(8).await;
                    let report = json!({ "progressToken": token, "progress": step });
                    let report = Frame::notification("notifications/progress", report);
                    connection.writer.send(report).await.unwrap();
                }
                if body::get(frame.params.as_deref().unwrap(), &["arguments", "hang"]).is_none() {
                    answer(&connection, frame).await;
                }
            }
        }
    });
    let options = Options {
        call: Duration::from_secs(10),
        ..options()
    };
    let client = Client::connect(&server("slow", open), options).await.unwrap();
    let mut seen = 0;
    client.call("look", json!({}), |_| seen += 1).await.unwrap();
    assert_eq!(seen, 3);
    let began = Instant::now();
    let error = client.call("look", json!({ "hang": true }), |_| {}).await.unwrap_err();
    assert!(matches!(error, Error::Connection(_)), "{error:?}");
    assert_eq!(began.elapsed(), Duration::from_secs(34));
    let mut cancelled = cancelled;
    cancelled.wait_for(|count| *count == 1).await.unwrap();
    // Dropped by whoever asked: told to the server, and the next call works.
    let dropped =
        timeout(Duration::from_secs(9), client.call("look", json!({ "hang": true }), |_| {}));
    dropped.await.unwrap_err();
    cancelled.wait_for(|count| *count == 2).await.unwrap();
    client.call("look", json!({}), |_| {}).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn nonsense_is_tolerated_twice_and_ends_the_connection_the_third_time() {
    let opened = Arc::new(AtomicU32::new(0));
    let counter = opened.clone();
    let open: mcp_client::config::Sdk = Arc::new(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(ours);
        let connection = mcp_wire::stdio::lines(read, write, 1 << 20);
        tokio::spawn(async move {
            let (read, mut write) = tokio::io::split(theirs);
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let frame = Frame::parse(line.as_bytes()).unwrap();
                if frame.calls("tools/call") {
                    write.write_all(b"what?\n{\"jsonrpc\":\"1.0\"}\n").await.unwrap();
                    if frame.params.as_deref().unwrap().get().contains("worse") {
                        write.write_all(b"[]\n").await.unwrap();
                        continue;
                    }
                }
                if frame.kind() != Kind::Request {
                    continue;
                }
                let result = manners(&frame).unwrap_or_else(|| json!({ "content": [] }));
                let answer = Frame::result(frame.id.unwrap(), result).to_line();
                write.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            }
        });
        Box::pin(std::future::ready(Ok(connection)))
    });
    let client = Client::connect(&server("odd", open), options()).await.unwrap();
    for _ in 0..3 {
        client.call("deploy", json!({}), |_| {}).await.unwrap();
    }
    assert_eq!(opened.load(Ordering::Relaxed), 1);
    let error = client.call("deploy", json!({ "how": "worse" }), |_| {}).await.unwrap_err();
    assert!(matches!(error, Error::Unknown(_)), "{error:?}");
    client.call("deploy", json!({}), |_| {}).await.unwrap();
    assert_eq!(opened.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_harmless_call_that_ends_its_server_each_time_is_not_made_for_ever() {
    let calls = Arc::new(AtomicU32::new(0));
    let counter = calls.clone();
    let open = served(move |mut connection| {
        let calls = counter.clone();
        async move {
            while let Some(Ok(frame)) = connection.reader.recv().await {
                if frame.calls("tools/call") {
                    calls.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                answer(&connection, frame).await;
            }
        }
    });
    let client = Client::connect(&server("poisoned", open), options()).await.unwrap();
    client.tools().await.unwrap();
    let error = client.call("look", json!({}), |_| {}).await.unwrap_err();
    assert!(matches!(error, Error::Unknown(_)), "{error:?}");
    assert_eq!(calls.load(Ordering::Relaxed), 4);
}
