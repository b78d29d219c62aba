//! What spokes may use: the tools of other servers, through the hub.
//!
//! An MCP server cannot see its client's tools, so the hub is a client of the servers itself. Invariants: a spoke is offered
//! what its list allows and nothing else, and a call is checked again when it comes; what is not read-only must be named; a
//! refusal is a sentence for the spoke and a line in the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kit::BoxFuture;
use mcp_client::fleet::{self, Limits};
use mcp_client::{Client, Options, Server};
use mcp_wire::body;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::config::{HUB, Spoke};
use crate::guard::Scope;

/// What a description may hold, in characters.
const DESCRIPTION: usize = 1000;
/// What the Messages API allows as the name of a tool.
const NAME: usize = 64;

/// Answers a call of one of the hub's own tools, for the question that it belongs to.
pub type Own =
    Arc<dyn Fn(Scope, Value) -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// A tool that spokes may be granted.
pub struct Tool {
    /// The server that has it.
    pub server: String,
    /// Its name there.
    pub name: String,
    /// Its name for spokes: `server__name`.
    pub public: String,
    /// In one line, cut.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// Whether it says that it only reads.
    pub reads: bool,
    source: Source,
}

enum Source {
    Server(Arc<Client>),
    Own(Own),
}

/// A server, and what became of connecting to it.
pub struct Introspected {
    /// Its name.
    pub name: String,
    /// What is spoken with it.
    pub transport: String,
    /// How many tools it has, or why it has none.
    pub tools: Result<usize, String>,
    /// How long it took.
    pub took: Duration,
}

/// All tools there are.
#[derive(Default)]
pub struct Registry {
    /// By server, in its order.
    pub tools: Vec<Arc<Tool>>,
    /// The servers.
    pub servers: Vec<Introspected>,
}

impl Tool {
    /// A tool of the hub's own.
    pub fn own(name: &str, description: &str, schema: Value, own: Own) -> Self {
        Self {
            server: HUB.to_owned(),
            name: name.to_owned(),
            public: format!("{HUB}__{name}"),
            description: description.to_owned(),
            schema,
            reads: false,
            source: Source::Own(own),
        }
    }

    fn listed(server: &str, client: &Arc<Client>, tool: &mcp_client::Tool) -> Self {
        let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let public = format!("{server}__{}", tool.name).chars().map(safe).take(NAME).collect();
        let schema = body::get(&tool.raw, &["inputSchema"]);
        let schema = schema.and_then(|schema| serde_json::from_str(schema.get()).ok());
        let schema = schema.filter(Value::is_object);
        let description = body::text(&tool.raw, &["description"]).unwrap_or_default();
        let reads = body::get(&tool.raw, &["annotations", "readOnlyHint"]);
        Self {
            server: server.to_owned(),
            name: tool.name.clone(),
            public,
            description: kit::cut(&kit::one_line(&description), DESCRIPTION),
            schema: schema.unwrap_or_else(|| json!({ "type": "object" })),
            reads: reads.is_some_and(|reads| reads.get() == "true"),
            source: Source::Server(client.clone()),
        }
    }

    /// Whether a list of capabilities allows it.
    fn is_allowed(&self, allowed: &[String]) -> bool {
        let by_name = format!("{}:{}", self.server, self.name);
        let all = format!("{}:*", self.server);
        allowed.iter().any(|pattern| {
            *pattern == by_name
                || self.reads && [self.server.as_str(), "*", &all].contains(&pattern.as_str())
        })
    }
}

impl Registry {
    /// Connects to the servers and reads their tools; one that cannot be used is remembered with the reason.
    pub async fn introspect(servers: &[Server], limits: Limits) -> Self {
        let work = |at: usize| async move {
            let began = Instant::now();
            let mut options = Options::default();
            options.patience.connect = limits.connect;
            let found = async {
                let client = Arc::new(Client::connect(&servers[at], options).await?);
                let tools = client.tools().await?;
                Ok::<_, mcp_client::Error>((client, tools))
            };
            (found.await, began.elapsed())
        };
        let mut found = Vec::new();
        fleet::each(servers, limits, work, |at, outcome| found.push((at, outcome))).await;
        found.sort_by_key(|(at, _)| *at);
        let mut registry = Self::default();
        for (at, (outcome, took)) in found {
            let name = &servers[at].name;
            let tools = outcome.map_err(|error| error.to_string()).map(|(client, tools)| {
                let listed = tools.iter().map(|tool| Arc::new(Tool::listed(name, &client, tool)));
                registry.tools.extend(listed);
                tools.len()
            });
            let transport = servers[at].transport.to_string();
            registry.servers.push(Introspected {
                name: name.clone(),
                transport,
                tools,
                took,
            });
        }
        registry
    }

    /// What a spoke may use for a question; without a list, all that only reads.
    pub fn grant(self: &Arc<Self>, spoke: &Spoke, scope: Scope) -> Grant {
        let allowed = spoke.capabilities.clone().unwrap_or_else(|| vec!["*".to_owned()]);
        Grant {
            registry: self.clone(),
            spoke: spoke.name.clone(),
            allowed,
            scope,
        }
    }
}

/// What a spoke may use for one question.
#[derive(Clone)]
pub struct Grant {
    registry: Arc<Registry>,
    /// Who.
    pub spoke: String,
    allowed: Vec<String>,
    /// The question.
    pub scope: Scope,
}

impl Grant {
    /// The tools.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.registry.tools.iter().map(AsRef::as_ref).filter(|tool| tool.is_allowed(&self.allowed))
    }

    /// Calls a tool by the name that spokes have for it; the result as its server gives it.
    ///
    /// # Errors
    /// Why it was not called, or failed, for the spoke to read.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Box<RawValue>, String> {
        let tool = self.checked(name).inspect_err(|why| {
            tracing::warn!(spoke = self.spoke, tool = name, "refused: {why}");
        })?;
        tracing::info!(spoke = self.spoke, tool = name, "calls a tool");
        match &tool.source {
            Source::Server(client) => {
                let called = client.call(&tool.name, arguments, |_| ()).await;
                called.map_err(|error| format!("{name}: {error}"))
            }
            Source::Own(own) => {
                let text = own(self.scope.clone(), arguments).await?;
                let result = json!({ "content": [{ "type": "text", "text": text }] });
                Ok(to_raw_value(&result).expect("a text is JSON"))
            }
        }
    }

    fn checked(&self, name: &str) -> Result<&Tool, String> {
        let spoke = &self.spoke;
        let Some(tool) = self.registry.tools.iter().find(|tool| tool.public == name) else {
            let offered: Vec<_> = self.tools().map(|tool| tool.public.as_str()).collect();
            return Err(format!(
                "there is no tool {name}; {spoke} may use: {}",
                offered.join(", ")
            ));
        };
        if !tool.is_allowed(&self.allowed) {
            let pattern = format!("{}:{}", tool.server, tool.name);
            let why = if tool.reads {
                "is not on its list"
            } else {
                "does not only read, and is not named there"
            };
            return Err(format!(
                "{spoke} may not use {name}: it {why} ({pattern} in its capabilities would allow it)"
            ));
        }
        self.scope.take_tool_call()?;
        Ok(tool)
    }

    /// The same as text, for spokes that read nothing else; whether the tool failed.
    pub async fn call_for_text(&self, name: &str, arguments: Value) -> (String, bool) {
        match self.call(name, arguments).await {
            Ok(result) => text(&result),
            Err(why) => (why, true),
        }
    }
}

/// The text of a result; other content is described.
fn text(result: &RawValue) -> (String, bool) {
    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let content = result["content"].as_array().map_or(&[][..], Vec::as_slice);
    let block = |block: &Value| match block["text"].as_str().or(block["resource"]["text"].as_str())
    {
        Some(text) => text.to_owned(),
        None => format!("[{}]", kit::cut(&block.to_string(), 100)),
    };
    let text = content.iter().map(block).collect::<Vec<_>>().join("\n");
    (text, result["isError"] == true)
}
