//! A spoke behind `POST url/run`.
//!
//! It is sent `{prompt, context, tools, tool_results}` and answers `{response}`, or `{tool_requests}`: those are executed, as far
//! as it may, and sent back with the same prompt. Invariant: the rounds end, with the budget of the question at the latest.

use std::time::Duration;

use kit::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Question, Reply, Spoke, http, json};
use crate::capability::Grant;
use crate::config;

/// For a connection, when it is asked whether it is there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where it is.
pub struct Run {
    name: String,
    url: String,
    key: Option<String>,
    http: reqwest::Client,
}

/// What it answers.
#[derive(Deserialize)]
struct Answered {
    #[serde(default)]
    response: Option<String>,
    #[serde(default)]
    tool_requests: Vec<ToolRequest>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct ToolRequest {
    #[serde(default)]
    id: Value,
    name: String,
    #[serde(default)]
    arguments: Value,
}

#[derive(Deserialize)]
struct Usage {
    input_tokens: u64,
    output_tokens: u64,
}

impl Run {
    pub(super) fn new(entry: &config::Spoke, key: Option<String>) -> Result<Self, String> {
        let url = entry.url.clone().unwrap_or_default().trim_end_matches('/').to_owned();
        Ok(Self {
            name: entry.name.clone(),
            http: http(&url)?,
            url,
            key,
        })
    }

    async fn rounds(&self, question: &Question<'_>) -> Result<Reply, String> {
        let tools: Vec<_> = question
            .grant
            .tools()
            .map(|tool| json!({ "name": tool.public, "description": tool.description, "input_schema": tool.schema }))
            .collect();
        let prompt = format!("{}\n\n{}", question.system, question.conversation(question.prompt));
        let mut asked =
            json!({ "prompt": prompt, "context": question.context.json(), "tools": tools });
        let mut tokens: Option<(u64, u64)> = None;
        let mut results = Vec::new();
        loop {
            question.grant.scope.take_request()?;
            let mut request = self.http.post(format!("{}/run", self.url));
            if let Some(key) = &self.key {
                request = request.bearer_auth(key);
            }
            let request =
                request.header("content-type", "application/json").body(asked.to_string());
            let answer = json(request, &self.name).await?;
            let answer = Answered::deserialize(answer)
                .map_err(|error| format!("{} answers what is no answer: {error}", self.name))?;
            if let Some(Usage {
                input_tokens,
                output_tokens,
            }) = answer.usage
            {
                let (input, output) = tokens.unwrap_or_default();
                tokens = Some((input + input_tokens, output + output_tokens));
                question.grant.scope.spend(input_tokens + output_tokens)?;
            }
            if answer.tool_requests.is_empty() {
                let text = answer.response.ok_or_else(|| {
                    format!("{} answers with neither `response` nor `tool_requests`", self.name)
                })?;
                return Ok(Reply {
                    text,
                    tokens,
                    model: answer.model,
                });
            }
            for ToolRequest {
                id,
                name,
                arguments,
            } in answer.tool_requests
            {
                let (content, is_error) =
                    question.grant.call_for_text(&name, arguments.clone()).await;
                results.push(json!({ "id": id, "name": name, "arguments": arguments, "content": content, "is_error": is_error }));
            }
            asked["tool_results"] = json!(results);
        }
    }
}

impl Spoke for Run {
    fn check(&self, _: Grant) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async {
            // No request: one that hangs would hold up the start.
            let url = reqwest::Url::parse(&self.url).map_err(|error| error.to_string())?;
            let place =
                (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(80));
            let open = timeout(PATIENCE, TcpStream::connect(place)).await;
            match open.map_err(std::io::Error::from).flatten() {
                Ok(_) => Ok(self.url.clone()),
                Err(error) => Err(format!("{}: {error}", self.url)),
            }
        })
    }

    fn ask<'a>(&'a self, question: &'a Question<'a>) -> BoxFuture<'a, Result<Reply, String>> {
        Box::pin(self.rounds(question))
    }
}
