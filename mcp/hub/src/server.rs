//! The four tools as a client sees them.
//!
//! Invariants: a mode that is set holds for that client's session and for no other; a question that takes long reports
//! progress, and one that is cancelled is taken back from its spoke.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kit::BoxFuture;
use mcp_relay::service::{self, About, Call, Refusal, Service, failed, raw, text};
use mcp_wire::frame::code;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::interval;

use crate::guard::Scope;
use crate::hub::{Ask, Hub, ask_schema, parse};
use crate::mode::Mode;

/// Between two reports of progress.
const TICK: Duration = Duration::from_secs(5);
/// The sessions whose mode is remembered.
const SESSIONS: usize = 4096;
/// The spoke that `ask_gpt` asks.
const GPT: &str = "gpt";

/// The hub, as an MCP server.
pub struct Server {
    hub: Arc<Hub>,
    /// By client.
    modes: Mutex<HashMap<u64, Mode>>,
    changes: watch::Sender<()>,
}

impl Server {
    /// Offers this hub.
    pub fn new(hub: Arc<Hub>) -> Arc<Self> {
        Arc::new(Self {
            hub,
            modes: Mutex::default(),
            changes: watch::channel(()).0,
        })
    }

    fn set_mode(&self, call: &Call, arguments: &Value) -> Result<String, String> {
        let mode = Mode::named(arguments["mode"].as_str().unwrap_or_default())?;
        if call.stateless {
            return Err("this client has no session in which a mode could hold; give `mode` with each question".to_owned());
        }
        let mut modes = self.modes.lock().unwrap();
        if modes.len() >= SESSIONS {
            // Clients are numbered as they come.
            let oldest = modes.keys().min().copied();
            oldest.and_then(|oldest| modes.remove(&oldest));
        }
        modes.insert(call.client, mode);
        Ok(format!("Questions of this session are asked in {mode} mode, unless they name another."))
    }

    fn ask(&self, call: &Call, mut arguments: Value) -> Result<Ask, String> {
        if call.name == "ask_gpt" {
            arguments["agent"] = GPT.into();
        }
        let mut ask = parse(&arguments)?;
        let set = self.modes.lock().unwrap().get(&call.client).copied();
        ask.mode = ask.mode.or(set.filter(|_| !call.stateless));
        Ok(ask)
    }
}

/// Reports that a question is still under way, for ever.
async fn report(call: &Call, agent: &str, scope: &Scope) {
    let mut ticks = interval(TICK);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let (seconds, used) = (scope.elapsed().as_secs(), scope.used());
        let message = format!(
            "{agent}: {seconds} s, {}",
            kit::counted(usize::try_from(used.tool_calls).unwrap_or(0), "tool call")
        );
        call.progress.report(json!({ "progress": seconds, "message": message })).await;
    }
}

impl Service for Server {
    fn about(&self) -> About {
        About {
            name: "mcp_hub".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: json!({}),
            instructions: format!(
                "Ask other agents for a second opinion. Name files in context.files instead of pasting them. Agents:\n{}",
                self.hub.listed()
            ),
        }
    }

    fn tools(&self) -> Vec<Box<RawValue>> {
        let tool = |name: &str, description: &str, schema: Value, reads: bool| {
            raw(json!({
                "name": name, "description": description, "inputSchema": schema,
                "annotations": { "readOnlyHint": reads, "destructiveHint": false, "openWorldHint": !reads },
            }))
        };
        let mode = json!({
            "type": "object", "properties": { "mode": { "enum": Mode::ALL } }, "required": ["mode"], "additionalProperties": false,
        });
        let none = json!({ "type": "object", "additionalProperties": false });
        let modes = "challenge looks for what is wrong, agree for what holds, collaborate builds on it, deduce reasons from evidence.";
        vec![
            tool(
                "ask_gpt",
                &format!("Asks the agent gpt. Modes: {modes}"),
                ask_schema(false),
                false,
            ),
            tool(
                "ask_agent",
                &format!("Asks one of the agents that list_agents lists. Modes: {modes}"),
                ask_schema(true),
                false,
            ),
            tool(
                "list_agents",
                "Lists the agents, their models and how it stands with them.",
                none,
                true,
            ),
            tool(
                "set_mode",
                "Sets the mode of this session's questions that name none.",
                mode,
                false,
            ),
        ]
    }

    fn call(&self, call: Call) -> BoxFuture<'static, Result<Box<RawValue>, Refusal>> {
        let arguments: Value = serde_json::from_str(call.arguments.get()).unwrap_or_default();
        let done = match call.name.as_str() {
            "list_agents" => Ok(self.hub.listed()),
            "set_mode" => self.set_mode(&call, &arguments),
            "ask_gpt" | "ask_agent" => match self.ask(&call, arguments) {
                Ok(ask) => {
                    let hub = self.hub.clone();
                    return Box::pin(async move {
                        let (agent, scope) = (ask.agent.clone(), hub.scope(&ask.agent));
                        let answered = tokio::select! {
                            answered = hub.ask(ask, &scope) => answered,
                            () = report(&call, &agent, &scope) => unreachable!("it reports for ever"),
                        };
                        Ok(answered.map_or_else(failed, text))
                    });
                }
                Err(why) => Err(why),
            },
            other => {
                let unknown = Refusal::new(code::INVALID_PARAMS, format!("Unknown tool: {other}"));
                return Box::pin(std::future::ready(Err(unknown)));
            }
        };
        Box::pin(std::future::ready(Ok(done.map_or_else(failed, service::text))))
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }
}
