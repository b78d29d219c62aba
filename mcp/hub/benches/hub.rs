//! What the hub adds to a question: the same `run` spoke asked directly and through the hub, in turn, as a table for the
//! README.

use std::path::Path;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use mcp_hub::config::Config;
use mcp_hub::hub::{Ask, Hub};
use serde_json::json;
use tokio::net::TcpListener;

const ROUNDS: usize = 300;

async fn spoke() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("it listens"));
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let _ = client.set_nodelay(true);
            let respond = service_fn(|request: Request<Incoming>| async {
                request.into_body().collect().await?;
                Ok::<_, hyper::Error>(Response::new(Full::<Bytes>::from(r#"{"response":"yes"}"#)))
            });
            tokio::spawn(
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(client), respond),
            );
        }
    });
    url
}

fn row(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1000.0;
    println!("| {name} | {:.2} | {:.2} |", at(50), at(99));
}

fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("plan.md"), "# Plan\nship it\n".repeat(1000))
        .expect("a file");
    let url = spoke().await;
    let file = format!("spokes: [{{name: gpt, kind: run, url: '{url}'}}]");
    let config = Config::parse(&file, Path::new(folder.path()), &|_| None).expect("it is right");
    let hub = Hub::new(config, folder.path(), &|_| None).expect("it is right");
    hub.start(|_, _| ()).await;
    let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
    let body =
        json!({ "prompt": "Review", "context": { "plan.md": "# Plan\nship it\n".repeat(1000) } })
            .to_string();
    let mut times = [const { Vec::new() }; 4];
    for round in 0..ROUNDS + 20 {
        for (at, times) in times.iter_mut().enumerate() {
            let mut ask = Ask {
                agent: "gpt".to_owned(),
                prompt: "Review".to_owned(),
                ..Ask::default()
            };
            if at > 1 {
                ask.context = json!({ "files": ["plan.md"] });
            }
            if at > 2 {
                ask.thread = Some(format!("t{round}"));
            }
            let began = Instant::now();
            if at == 0 {
                let sent = http
                    .post(format!("{url}/run"))
                    .body(body.clone())
                    .send()
                    .await
                    .expect("an answer");
                sent.bytes().await.expect("an answer");
            } else {
                hub.ask(ask, &hub.scope("gpt")).await.expect("an answer");
            }
            if round >= 20 {
                times.push(began.elapsed());
            }
        }
    }
    println!("| a question to a spoke that answers at once | p50 ms | p99 ms |\n|---|--:|--:|");
    let names = ["directly", "through the hub", "with a file of 15 kB", "in a thread"];
    names.into_iter().zip(times).for_each(|(name, times)| row(name, times));
    println!("\nPeak memory: {} MB.", memory());
}
