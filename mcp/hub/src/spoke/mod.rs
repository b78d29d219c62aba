//! The agents, however they are spoken to.
//!
//! Invariants: a question that is no longer waited for is taken back from its spoke, which is what dropping the future does;
//! a spoke that fails costs the others nothing.

mod command;
mod embedded;
mod endpoint;
mod model;
mod opencode;
mod run;

use std::path::Path;
use std::time::Duration;

use kit::BoxFuture;
use mcp_client::child::Ending;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::capability::Grant;
use crate::config::{self, Kind, Variables};
use crate::context::Fitted;
use crate::threads::Turn;

/// The longest answer that is taken, in bytes.
const LONGEST: usize = 16 << 20;
/// How a program is ended. One that was started in the background of a shell ignores the first.
const ENDING: Ending =
    &[(Signal::SIGINT, Duration::from_secs(2)), (Signal::SIGTERM, Duration::from_secs(2))];

/// A question as a spoke is asked it.
pub struct Question<'a> {
    /// The mode's prompt.
    pub system: String,
    /// What was said before.
    pub turns: &'a [Turn],
    /// What the client asks.
    pub prompt: &'a str,
    /// What it sends along, made to fit.
    pub context: &'a Fitted,
    /// What the spoke may use.
    pub grant: Grant,
}

/// What a spoke answers.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// The answer.
    pub text: String,
    /// Tokens in and out, when the spoke counts them.
    pub tokens: Option<(u64, u64)>,
    /// The model, when the spoke says so.
    pub model: Option<String>,
}

/// An agent that can be asked.
pub trait Spoke: Send + Sync {
    /// Whether it can be asked now, and what it is; starts what has to be started, which may use what is granted.
    fn check(&self, grant: Grant) -> BoxFuture<'_, Result<String, String>>;

    /// Asks it.
    fn ask<'a>(&'a self, question: &'a Question<'a>) -> BoxFuture<'a, Result<Reply, String>>;
}

/// Makes a spoke of its entry.
///
/// # Errors
/// What is missing.
pub fn of(
    entry: &config::Spoke,
    project: &Path,
    variable: Variables<'_>,
) -> Result<Box<dyn Spoke>, String> {
    let key = entry.key_env.as_ref().map(|name| {
        variable(name)
            .ok_or_else(|| format!("{}.key_env: the variable {name} is not set", entry.name))
    });
    let key = key.transpose()?;
    Ok(match entry.kind {
        Kind::Model => Box::new(model::Model::new(entry, key)?),
        Kind::Command => Box::new(command::Program::new(entry, project)),
        Kind::Run => Box::new(run::Run::new(entry, key)?),
        Kind::Opencode => Box::new(opencode::Opencode::new(entry, project)),
    })
}

impl Question<'_> {
    /// The question with what goes with it.
    pub fn full_prompt(&self) -> String {
        match self.context.text() {
            text if text.is_empty() => self.prompt.to_owned(),
            text => format!("{}\n\n{text}", self.prompt),
        }
    }

    /// What was said before and the question, as one text for spokes that keep no conversation.
    fn conversation(&self, prompt: &str) -> String {
        if self.turns.is_empty() {
            return prompt.to_owned();
        }
        let said = self.turns.iter();
        let said = said
            .map(|turn| format!("Question: {}\n\nYour answer: {}\n", turn.question, turn.answer));
        let said = said.collect::<Vec<_>>().join("\n");
        format!("{}\n\n{prompt}", kit::tagged("earlier", &said))
    }
}

/// An HTTP client for a spoke: no redirect, which would carry the key elsewhere, and no proxy to this machine.
fn http(url: &str) -> Result<reqwest::Client, String> {
    // Fails when the program has chosen one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let parsed = reqwest::Url::parse(url).map_err(|error| format!("{url}: {error}"))?;
    let mut client =
        reqwest::Client::builder().tcp_nodelay(true).redirect(reqwest::redirect::Policy::none());
    if matches!(parsed.host_str(), Some("127.0.0.1" | "localhost" | "[::1]")) {
        client = client.no_proxy();
    }
    if parsed.scheme() == "http" {
        client = client.tls_certs_only([]);
    }
    client.build().map_err(|error| format!("{url}: {error}"))
}

/// The JSON that a request answers with.
async fn json(request: reqwest::RequestBuilder, who: &str) -> Result<Value, String> {
    let failed = |error| format!("{who}: {}", causes(&error));
    let mut response = request.send().await.map_err(failed)?;
    let status = response.status();
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LONGEST {
            return Err(format!("{who}: its answer is longer than {} MiB", LONGEST >> 20));
        }
    }
    let said = || kit::cut(&kit::one_line(&String::from_utf8_lossy(&bytes)), 200);
    if !status.is_success() {
        return Err(format!("{who} answers HTTP {}: {}", status.as_u16(), said()));
    }
    if bytes.trim_ascii().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&bytes).map_err(|_| format!("{who} answers what is no JSON: {}", said()))
}

/// The innermost cause: the outer ones say only that sending failed.
fn causes(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
