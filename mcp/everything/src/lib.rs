//! An MCP server with everything in it, on the official SDK.
//!
//! What stands between a client and its servers is tried with this behind it: each kind of content, progress, logs, requests
//! to the client, subscriptions and several rounds of input, under the names that the official conformance suite asks for.
//! Invariant: by itself it passes the whole suite in both lifecycles, so what fails through a program is the program's.

#![expect(deprecated, reason = "sampling and logs belong to the revisions before 2026-07-28")]

mod fixtures;
mod rounds;

use std::convert::Infallible;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CreateMessageRequestParams, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, SamplingMessage,
    ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServiceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::broadcast;

use fixtures::{IMAGE, RESOURCES, TOOLS, prompts};

type Context = RequestContext<RoleServer>;

/// The server; clones share their subscriptions.
#[derive(Clone)]
pub struct Everything {
    changes: broadcast::Sender<Change>,
}

/// What a subscriber is told of.
#[derive(Clone, Copy)]
enum Change {
    Tools,
    Prompts,
}

impl Default for Everything {
    fn default() -> Self {
        let (changes, _) = broadcast::channel(16);
        Self { changes }
    }
}

/// Serves one client on standard input and output.
///
/// # Errors
/// When the client does not begin as the protocol says.
pub async fn serve_stdio() -> Result<(), Box<dyn std::error::Error>> {
    let running = Everything::default().serve(rmcp::transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}

/// Serves all clients of a socket, over streamable HTTP on every path.
pub async fn serve_http(listener: TcpListener) {
    let everything = Everything::default();
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(["http://127.0.0.1:*", "http://localhost:*"]);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(everything.clone()), sessions, config);
    while let Ok((client, _)) = listener.accept().await {
        let _ = client.set_nodelay(true);
        let service = service.clone();
        tokio::spawn(async move {
            let respond = service_fn(move |request| {
                let service = service.clone();
                async move { Ok::<_, Infallible>(service.handle(request).await) }
            });
            let served = http1::Builder::new().serve_connection(TokioIo::new(client), respond);
            let _ = served.await;
        });
    }
}

/// A value of the SDK's from the JSON that it stands for.
fn model<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the fixtures are valid")
}

/// A result that ends the request, as the revisions from 2026-07-28 on want to know.
fn result<T: DeserializeOwned>(mut value: Value) -> T {
    value["resultType"] = json!("complete");
    model(value)
}

fn says(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn refuse(why: String) -> ErrorData {
    ErrorData::invalid_params(why, None)
}

impl Everything {
    /// Tools that speak to the client before they answer.
    async fn talk(&self, name: &str, arguments: &Value, cx: &Context) -> Result<Value, ErrorData> {
        let asked = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
        match name {
            "test_tool_with_progress" => {
                let token = cx.meta.get_progress_token();
                for step in [0.0, 50.0, 100.0] {
                    if let Some(token) = &token {
                        let report = ProgressNotificationParam::new(token.clone(), step);
                        let report = report.with_total(100.0);
                        let _ = cx.peer.notify_progress(report).await;
                    }
                }
                Ok(says("three steps, each reported"))
            }
            "test_tool_with_logging" => {
                for line in ["started", "working", "done"] {
                    let line =
                        LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(line));
                    let _ = cx.peer.notify_logging_message(line).await;
                }
                Ok(says("three lines, each logged"))
            }
            "test_sampling" => {
                let message = SamplingMessage::user_text(asked("prompt"));
                let request = CreateMessageRequestParams::new(vec![message], 100);
                match cx.peer.create_message(request).await {
                    Ok(answer) => {
                        Ok(says(&format!("the model says: {}", json!(answer)["content"])))
                    }
                    Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
                }
            }
            _ => {
                let (message, schema) = fixtures::form(name)
                    .ok_or_else(|| refuse(format!("there is no tool {name}")))?;
                let message = match asked("message") {
                    own if own.is_empty() => message.to_owned(),
                    own => own,
                };
                let form = json!({ "mode": "form", "message": message, "requestedSchema": schema });
                match cx.peer.create_elicitation(model(form)).await {
                    Ok(answer) => Ok(says(&format!("the user says: {}", json!(answer)))),
                    Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
                }
            }
        }
    }
}

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        let capabilities = json!({
            "completions": {}, "logging": {},
            "prompts": { "listChanged": true },
            "resources": { "subscribe": true },
            "tools": { "listChanged": true }
        });
        ServerConfig::new(model(capabilities))
            .with_server_info(Implementation::new("everything", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(result(json!({ "tools": fixtures::tools(), "ttlMs": 1000, "cacheScope": "public" })))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        fixtures::tools().into_iter().find(|tool| tool["name"] == name).map(model)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        if !TOOLS.iter().any(|(known, _)| *known == name) {
            return Err(refuse(format!("there is no tool {name}")));
        }
        if let Some(rounds) = rounds::of(&name) {
            let capabilities = cx.client_capabilities().unwrap_or_default();
            let answers = request.input_responses.unwrap_or_default();
            let state = request.request_state.as_deref();
            let next = rounds.next(&json!(capabilities), &answers, state)?;
            return Ok(match next {
                rounds::Next::Ask(asked) => CallToolResponse::InputRequired(asked),
                rounds::Next::Done(text) => CallToolResponse::Complete(result(says(&text))),
            });
        }
        let answer = match name.as_str() {
            "test_missing_capability" => {
                let able = cx.client_capabilities().is_some_and(|it| it.sampling.is_some());
                if !able {
                    let needed = model(json!({ "sampling": {} }));
                    return Err(ErrorData::missing_required_client_capability(needed));
                }
                says("the client can sample")
            }
            "test_trigger_tool_change" | "test_trigger_prompt_change" => {
                let prompts = name.contains("prompt");
                let _ = self.changes.send(if prompts { Change::Prompts } else { Change::Tools });
                says("told all subscribers")
            }
            "test_headers" => says(&json!(request.arguments).to_string()),
            _ => match fixtures::content(&name) {
                Some(content) => content,
                None => self.talk(&name, &json!(request.arguments), &cx).await?,
            },
        };
        Ok(CallToolResponse::Complete(result(answer)))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources: Vec<_> = RESOURCES
            .iter()
            .map(|(uri, kind)| json!({ "uri": uri, "name": uri, "mimeType": kind }))
            .collect();
        Ok(result(json!({ "resources": resources, "ttlMs": 1000, "cacheScope": "public" })))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = json!({ "uriTemplate": "test://template/{id}/data", "name": "template" });
        let templates = json!({
            "resourceTemplates": [template], "ttlMs": 1000, "cacheScope": "public"
        });
        Ok(result(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|it| it.strip_suffix("/data"));
        let content = match (uri, id) {
            ("test://static-binary", _) => {
                json!({ "uri": uri, "mimeType": "image/png", "blob": IMAGE })
            }
            ("test://static-text" | "test://watched-resource", _) => {
                json!({ "uri": uri, "mimeType": "text/plain", "text": "what stands there" })
            }
            (_, Some(id)) => {
                json!({ "uri": uri, "mimeType": "text/plain", "text": format!("the data of {id}") })
            }
            _ => {
                let data = Some(json!({ "uri": uri }));
                return Err(ErrorData::invalid_params("there is no such resource", data));
            }
        };
        let read = json!({ "contents": [content], "ttlMs": 1000, "cacheScope": "public" });
        Ok(ReadResourceResponse::Complete(result(read)))
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        wanted: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(wanted.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = context.cancelled() => return Ok(()),
            };
            // One that was not asked for is refused by the sink.
            let _ = match change {
                Ok(Change::Tools) => context.sink().notify_tool_list_changed().await,
                Ok(Change::Prompts) => context.sink().notify_prompt_list_changed().await,
                Err(broadcast::error::RecvError::Lagged(_)) => Ok(()),
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            };
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(result(json!({ "prompts": prompts(), "ttlMs": 1000, "cacheScope": "public" })))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = json!(request.arguments);
        let content = match request.name.as_str() {
            "test_simple_prompt" => json!({ "type": "text", "text": "a simple prompt" }),
            "test_prompt_with_arguments" => {
                let text = format!("arg1={} arg2={}", arguments["arg1"], arguments["arg2"]);
                json!({ "type": "text", "text": text })
            }
            "test_prompt_with_embedded_resource" => json!({ "type": "resource", "resource": {
                "uri": arguments["resourceUri"], "mimeType": "text/plain", "text": "embedded"
            }}),
            "test_prompt_with_image" => {
                json!({ "type": "image", "data": IMAGE, "mimeType": "image/png" })
            }
            "test_input_required_result_prompt" => {
                let answers = request.input_responses.unwrap_or_default();
                let Some(answer) = answers.get("user_context") else {
                    return Ok(GetPromptResponse::InputRequired(rounds::context()));
                };
                json!({ "type": "text", "text": format!("in this context: {answer}") })
            }
            name => return Err(refuse(format!("there is no prompt {name}"))),
        };
        let prompt = json!({ "messages": [{ "role": "user", "content": content }] });
        Ok(GetPromptResponse::Complete(result(prompt)))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let values =
            [format!("{}-1", request.argument.value), format!("{}-2", request.argument.value)];
        Ok(result(json!({ "completion": { "values": values, "total": 2, "hasMore": false } })))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }
}

/// What the program does with these arguments; examples of other crates are the same program.
///
/// # Errors
/// When the arguments or the port are wrong, or the client is.
pub async fn main(
    mut args: impl Iterator<Item = String>,
) -> Result<(), Box<dyn std::error::Error>> {
    match (args.next().as_deref(), args.next()) {
        (None, _) => serve_stdio().await,
        (Some("--http"), Some(port)) => {
            let listener = TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
            eprintln!("http://{}/mcp", listener.local_addr()?);
            serve_http(listener).await;
            Ok(())
        }
        _ => Err("usage: everything [--http PORT]".into()),
    }
}
