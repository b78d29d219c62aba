//! A hub in a directory of its own, and spokes that do what a test wants.

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use kit::BoxFuture;
use mcp_hub::config::Config;
use mcp_hub::hub::{Ask, Hub};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// This program, which is also every mock server.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp_hub");

/// What a server answers to a body, at `METHOD /path`; None hangs up.
pub type Server = Arc<dyn Fn(String, Value) -> BoxFuture<'static, Option<String>> + Send + Sync>;
/// What a `run` spoke answers to a request.
pub type Answers = Arc<dyn Fn(Value) -> BoxFuture<'static, Option<String>> + Send + Sync>;

/// Serves `POST /run`; its address.
pub async fn run(answers: Answers) -> String {
    serve(Arc::new(move |_, asked| answers(asked))).await
}

/// Serves; its address.
pub async fn serve(answers: Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let answers = answers.clone();
            let respond = service_fn(move |request: Request<Incoming>| {
                let answers = answers.clone();
                async move {
                    let path = format!("{} {}", request.method(), request.uri().path());
                    let body = request.into_body().collect().await.unwrap().to_bytes();
                    let asked = serde_json::from_slice(&body).unwrap_or_default();
                    let answer = answers(path, asked).await.ok_or("hangs up")?;
                    Ok::<_, &str>(Response::new(Full::<Bytes>::from(answer)))
                }
            });
            let serving = hyper::server::conn::http1::Builder::new();
            tokio::spawn(serving.serve_connection(TokioIo::new(client), respond));
        }
        Ok::<_, Infallible>(())
    });
    url
}

/// Answers at once.
pub fn says(answer: impl Fn(Value) -> Value + Send + Sync + 'static) -> Answers {
    Arc::new(move |asked| Box::pin(std::future::ready(Some(answer(asked).to_string()))))
}

/// Answers with the prompt.
pub fn echoes() -> Answers {
    says(|asked| json!({ "response": asked["prompt"] }))
}

/// A hub of this file, in this directory, with docs and deploy as servers.
pub async fn hub(project: &Path, spokes: &str) -> Arc<Hub> {
    let servers = ["docs", "deploy"]
        .map(|name| format!("  {name}: {{command: {PROGRAM}, args: [mock-mcp, {name}]}}\n"));
    let file = format!("servers:\n{}spokes:\n{spokes}", servers.concat());
    let config = Config::parse(&file, project, &|_| None).unwrap();
    let hub = Hub::new(config, project, &|_| None).unwrap();
    hub.start(|_, _| ()).await;
    hub
}

/// A question.
pub fn question(agent: &str) -> Ask {
    Ask {
        agent: agent.to_owned(),
        prompt: "Review this plan".to_owned(),
        ..Ask::default()
    }
}

/// Asks it.
pub async fn ask(hub: &Arc<Hub>, ask: Ask) -> Result<String, String> {
    let scope = hub.scope(&ask.agent);
    hub.ask(ask, &scope).await
}

/// A pipe that one side writes and the other reads, once.
pub fn pipe(folder: &Path, name: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    path
}

/// What is written into a pipe.
pub async fn from(path: std::path::PathBuf) -> String {
    tokio::task::spawn_blocking(move || fs::read_to_string(path).unwrap()).await.unwrap()
}
