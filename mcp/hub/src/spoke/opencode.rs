//! A spoke that is opencode: a child `opencode serve`, and a session for each question.
//!
//! Invariants: nobody without the password that this process made up can talk to the child; a question that is taken back is
//! aborted there; nothing in it asks for a permission, because nobody is there to answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kit::BoxFuture;
use mcp_client::child::{Child, without_keys};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::{ENDING, Question, Reply, Spoke, http, json};
use crate::capability::Grant;
use crate::config;
use crate::guard::CHAIN;

/// How long the child may take to listen.
const START: Duration = Duration::from_secs(60);

/// The child, and how to start it.
pub struct Opencode {
    entry: config::Spoke,
    project: PathBuf,
    running: Mutex<Option<Running>>,
    /// Its endpoint serves one question at a time, so that each call is charged to the right one.
    turn: Mutex<()>,
}

struct Running {
    child: Child,
    server: Arc<Server>,
    endpoint: Endpoint,
    /// It is told of it with the first question: what it may use is not known before.
    knows_endpoint: bool,
}

/// Where the child listens.
struct Server {
    name: String,
    url: String,
    password: String,
    http: reqwest::Client,
}

impl Server {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        request
            .basic_auth("opencode", Some(&self.password))
            .header("content-type", "application/json")
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        json(self.request(Method::POST, path).body(body.to_string()), &self.name).await
    }
}

/// A session under way: aborted and removed when it is dropped.
struct Session(Arc<Server>, String);

impl Drop for Session {
    fn drop(&mut self) {
        let (server, path) = (self.0.clone(), format!("/session/{}", self.1));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = server.post(&format!("{path}/abort"), &json!({})).await;
                let _ = server.request(Method::DELETE, &path).send().await;
            });
        }
    }
}

impl Opencode {
    pub(super) fn new(entry: &config::Spoke, project: &Path) -> Self {
        let (running, turn) = (Mutex::default(), Mutex::default());
        Self {
            entry: entry.clone(),
            project: project.to_owned(),
            running,
            turn,
        }
    }

    /// The child, started when it is not there or has ended.
    async fn running(&self, grant: &Grant) -> Result<MutexGuard<'_, Option<Running>>, String> {
        let mut running = self.running.lock().await;
        if running.as_mut().is_none_or(|running| !running.child.is_running()) {
            *running = None;
            let started = timeout(START, self.start(Endpoint::open(grant.clone()).await?)).await;
            *running =
                Some(started.map_err(|_| format!("opencode does not listen within {START:?}"))??);
        }
        Ok(running)
    }

    async fn start(&self, endpoint: Endpoint) -> Result<Running, String> {
        let line = if self.entry.command.is_empty() {
            vec!["opencode".to_owned()]
        } else {
            self.entry.command.clone()
        };
        let password = endpoint.token.clone();
        let deny = json!({ "edit": "deny", "bash": "deny", "webfetch": "deny", "external_directory": "deny" });
        let settings = json!({ "permission": deny, "share": "disabled", "autoupdate": false });
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).args(["serve", "--port", "0", "--hostname", "127.0.0.1"]);
        command.current_dir(&self.project).env("OPENCODE_CONFIG_CONTENT", settings.to_string());
        command
            .env("OPENCODE_SERVER_PASSWORD", &password)
            .env(CHAIN, &self.entry.name)
            .envs(&self.entry.env);
        let failed = |error| format!("{} does not start: {error}", line[0]);
        without_keys(&mut command);
        let (mut child, _, output) = Child::start(&mut command, ENDING).map_err(failed)?;
        let mut lines = BufReader::new(output).lines();
        let url = loop {
            match lines.next_line().await {
                Ok(Some(line)) => {
                    match line.split_whitespace().find(|word| word.starts_with("http://")) {
                        Some(url) => break url.trim_end_matches('/').to_owned(),
                        None => continue,
                    }
                }
                _ => {
                    return Err(format!("opencode has ended: {}", child.last_words().await.1));
                }
            }
        };
        // What it prints later is read, too, so that it does not wait for a reader.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let (name, http) = (self.entry.name.clone(), http(&url)?);
        Ok(Running {
            child,
            server: Arc::new(Server {
                name,
                url,
                password,
                http,
            }),
            endpoint,
            knows_endpoint: false,
        })
    }

    async fn message(&self, question: &Question<'_>) -> Result<Reply, String> {
        let scope = &question.grant.scope;
        scope.take_request()?;
        let _turn = self.turn.lock().await;
        let server = {
            let mut running = self.running(&question.grant).await?;
            let running = running.as_mut().expect("it was started");
            running.endpoint.offer(question.grant.clone());
            if !running.knows_endpoint {
                let added =
                    running.server.post("/mcp", &running.endpoint.entry("remote", "hub")).await?;
                if added["hub"]["status"] != "connected" {
                    return Err(format!("opencode does not reach its tools: {}", added["hub"]));
                }
                running.knows_endpoint = true;
            }
            running.server.clone()
        };
        let created = server.post("/session", &json!({ "title": "a question of the hub" })).await?;
        let id = created["id"].as_str().ok_or("opencode gives a session no id")?;
        let session = Session(server.clone(), id.to_owned());
        let text = question.conversation(&question.full_prompt());
        let mut message = json!({
            "agent": self.entry.agent.as_deref().unwrap_or("plan"),
            "system": question.system,
            "parts": [{ "type": "text", "text": text }],
        });
        if let Some((provider, model)) = self.entry.model.as_ref().and_then(|it| it.split_once('/'))
        {
            message["model"] = json!({ "providerID": provider, "modelID": model });
        }
        let answer = server.post(&format!("/session/{}/message", session.1), &message).await?;
        let info = &answer["info"];
        if let Some(error) = info.get("error") {
            let why = error["data"]["message"]
                .as_str()
                .or(error["name"].as_str())
                .unwrap_or("no word why");
            return Err(format!("{} failed: {}", server.name, kit::cut(&kit::one_line(why), 300)));
        }
        let parts = answer["parts"].as_array().into_iter().flatten();
        let texts =
            parts.filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n\n");
        if text.trim().is_empty() {
            return Err(format!("{} answers without a text", server.name));
        }
        let count = |path: &str| info["tokens"].pointer(path).and_then(Value::as_u64).unwrap_or(0);
        let input = count("/input") + count("/cache/read") + count("/cache/write");
        let model = info["modelID"].as_str().map(str::to_owned);
        Ok(Reply {
            text,
            tokens: Some((input, count("/output") + count("/reasoning"))),
            model,
        })
    }
}

impl Spoke for Opencode {
    fn check(&self, grant: Grant) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async move {
            let running = self.running(&grant).await?;
            let server = running.as_ref().expect("it was started").server.clone();
            drop(running);
            let health = json(server.request(Method::GET, "/global/health"), &server.name).await?;
            Ok(format!("opencode {} at {}", health["version"].as_str().unwrap_or("?"), server.url))
        })
    }

    fn ask<'a>(&'a self, question: &'a Question<'a>) -> BoxFuture<'a, Result<Reply, String>> {
        Box::pin(self.message(question))
    }
}
