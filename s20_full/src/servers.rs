//! MCP servers, as far as s19 leaves them to the harness: those with a `url`, their channels, what subagents see of them, and
//! `/mcp`.
//!
//! Invariant: a subagent has a server's tools only when the settings say so, and then under the policy of everybody else.

use kit::{BoxFuture, cut, one_line};
use s01_loop::Repl;
use s02_tools::Workspace;
use s03_permission::{SETTINGS_FILE, read_settings};
use s04_hooks::{HookOutput, Prompt};
use s06_subagent::Subagents;
use s13_background::Notices;
use s19_mcp_plugin::{Extension, Mcp};
use serde_json::Value;

use crate::adaptor::{adaptor, log_in, wants_login};
use crate::channels::Channels;

/// The most characters of how a server is.
const MAX_STATE: usize = 320;

/// The servers of a session. Clones share them.
#[derive(Clone)]
pub struct Servers {
    mcp: Mcp,
    channels: Channels,
    repl: Repl,
    /// Whether subagents see them.
    lent: bool,
}

impl Servers {
    /// The servers, and what s19 knows of them. What they say of their own accord becomes notices; what they ask is asked
    /// here.
    pub fn open(ws: &Workspace, notices: &Notices, repl: &Repl) -> (Self, Mcp) {
        let channels = Channels::new(notices, repl);
        let extension = Extension {
            adaptor: Some(adaptor()),
            listener: Some(channels.listener()),
        };
        let mcp = Mcp::extended(ws, repl, extension);
        // What is wrong with the file as a whole the policy has told.
        let settings = read_settings(ws).unwrap_or_default();
        let given = settings.pointer("/mcp/subagents");
        if given.is_some_and(|given| !given.is_boolean()) {
            repl.say(&format!(
                "mcp.subagents in {SETTINGS_FILE} is neither true nor false; subagents see no server"
            ));
        }
        let servers = Self {
            mcp: mcp.clone(),
            channels,
            repl: repl.clone(),
            lent: given.and_then(Value::as_bool).unwrap_or(false),
        };
        (servers, mcp)
    }

    /// Lends the tools of connected servers, and the section on them, to subagents when `mcp.subagents` in the settings is
    /// true.
    pub fn lend(&self, subagents: Subagents) -> Subagents {
        let mcp = self.mcp.clone();
        if !self.lent {
            return subagents;
        }
        subagents.with_more(move || (mcp.tools(), mcp.servers()))
    }

    /// UserPromptSubmit: `/mcp`, `/mcp login NAME`, and the answers to what servers ask; nothing of it is sent.
    pub fn command(
        &self,
    ) -> impl Fn(Prompt) -> BoxFuture<'static, HookOutput> + Send + Sync + 'static {
        let servers = self.clone();
        move |prompt| {
            let servers = servers.clone();
            Box::pin(async move {
                let line = prompt.text.trim();
                let told = match line.strip_prefix("/mcp") {
                    Some("") => Some(shown(&servers.mcp)),
                    Some(words) => match words.trim().strip_prefix("login ") {
                        Some(name) => Some(servers.log_in(name.trim()).await),
                        None => Some("/mcp shows the servers, /mcp login NAME logs in".to_owned()),
                    },
                    None => servers.channels.answered(line),
                };
                told.map_or(HookOutput::Go, HookOutput::Block)
            })
        }
    }

    async fn log_in(&self, name: &str) -> String {
        let server = self.mcp.configuration(name).filter(|server| !server.through.is_empty());
        let Some(server) = server else {
            return format!("there is no server {name} with a `url`; /mcp shows the servers");
        };
        match log_in(&server, &self.repl).await {
            Ok(()) => format!("logged in to {name}; ask to connect to it"),
            Err(error) => format!("{error:#}"),
        }
    }
}

/// All servers, one a line: the name, what is spoken to it, who named it, and how it is.
fn shown(mcp: &Mcp) -> String {
    let (statuses, complaint) = mcp.statuses();
    let rows = statuses.into_iter().map(|(name, status)| {
        let state = if wants_login(&status.state) {
            format!("needs a login: /mcp login {}", one_line(&name))
        } else {
            cut(&one_line(&status.state), MAX_STATE)
        };
        [cut(&one_line(&name), 40), cut(&status.transport, 20), status.source.to_owned(), state]
    });
    let rows: Vec<_> = rows.collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row: &[String; 4]| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let [first, second, third] = [0, 1, 2].map(width);
    let lines = rows.iter().map(|[name, transport, source, state]| {
        format!("{name:first$}  {transport:second$}  {source:third$}  {state}")
    });
    lines.chain(complaint).collect::<Vec<_>>().join("\n")
}
