//! A model behind the Messages API, asked with the course's own loop.
//!
//! It reads the same as every chapter: ask, run the calls, ask again. Invariant: the calls of a reply are answered, refused
//! ones too, before the model is asked again.

use std::sync::Arc;

use kit::BoxFuture;
use mock_servers::model::{MockModel, Options};
use s01_loop::{Client, Credentials, History, Message, Output, Settings, ToolSpec, Unobserved};

use super::embedded::Embedded;
use super::{Question, Reply, Spoke};
use crate::capability::Grant;
use crate::config;
use crate::context::{beginning, tokens};

/// What a model is shown of the result of a tool, in tokens.
const RESULT: usize = 10_000;

/// Where it is.
pub struct Model {
    client: Client,
    model: String,
    /// It lives in this process, as long as this.
    mock: Option<MockModel>,
}

impl Model {
    pub(super) fn new(entry: &config::Spoke, key: Option<String>) -> Result<Self, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", entry.name);
        let mock = match &entry.url {
            Some(_) => None,
            None => Some(
                MockModel::start(Options::default(), Embedded).map_err(|error| wrong(&error))?,
            ),
        };
        let url = entry.url.clone().or_else(|| Some(mock.as_ref()?.url().to_owned()));
        let credentials = key.map_or(Credentials::None, Credentials::ApiKey);
        let settings = Settings {
            credentials,
            base_url: url,
            model: entry.model.clone(),
            ..Settings::default()
        };
        let client = Client::new(settings, Arc::new(Unobserved))
            .map_err(|error| wrong(&format!("{error:#}")))?;
        let model =
            if mock.is_some() { "the mock model".to_owned() } else { client.model().to_owned() };
        Ok(Self {
            client,
            model,
            mock,
        })
    }

    async fn turn(&self, question: &Question<'_>) -> Result<Reply, String> {
        let mut history = History::default();
        let earlier = question.turns.iter().flat_map(|turn| {
            [Message::user(turn.question.as_str()), Message::assistant(turn.answer.as_str())]
        });
        history.replace(earlier.collect());
        history.user(question.full_prompt());
        let specs: Vec<_> = question
            .grant
            .tools()
            .map(|tool| ToolSpec::with_schema(&tool.public, &tool.description, tool.schema.clone()))
            .collect();
        let scope = &question.grant.scope;
        let (mut input, mut output) = (0, 0);
        loop {
            scope.take_request()?;
            let reply = self.client.send(question.system.as_str(), &history, &specs).await;
            let reply = reply.map_err(|error| error.to_string())?;
            history.reply(&reply);
            output += reply.usage.output_tokens;
            input += reply.usage.total() - reply.usage.output_tokens;
            scope.spend(reply.usage.total())?;
            if !reply.wants_tools() {
                let text = reply.message().text();
                return Ok(Reply {
                    text,
                    tokens: Some((input, output)),
                    model: Some(self.model.clone()),
                });
            }
            for call in reply.tool_calls() {
                let (text, failed) =
                    question.grant.call_for_text(&call.name, call.input.clone()).await;
                let text = cut(text);
                history.answer(&call, if failed { Output::error(text) } else { Output::ok(text) });
            }
        }
    }
}

fn cut(text: String) -> String {
    match beginning(&text, RESULT) {
        kept if kept.len() == text.len() => text,
        kept => format!("{kept}\n[cut here, of {} tokens]", tokens(&text)),
    }
}

impl Spoke for Model {
    fn check(&self, _: Grant) -> BoxFuture<'_, Result<String, String>> {
        let who = self.mock.as_ref().map_or_else(
            || format!("{} at {}", self.client.model(), self.client.address()),
            |mock| format!("the mock model at {}", mock.url()),
        );
        Box::pin(std::future::ready(Ok(who)))
    }

    fn ask<'a>(&'a self, question: &'a Question<'a>) -> BoxFuture<'a, Result<Reply, String>> {
        Box::pin(self.turn(question))
    }
}
