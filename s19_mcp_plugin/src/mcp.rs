//! The servers of a session: connect to one, offer its tools, notice that it is gone.
//!
//! What a session can do is not known when it starts: a tool call brings further tools, a server that ends takes them
//! away. So the pool is made anew for each request, and nothing here is kept that could be out of date. Invariants: a
//! server is started once, however many ask for it at a time; what was judged is what is started; a server that fails
//! takes away its own tools and nothing else.

use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use anyhow::{Result, bail};
use s01_loop::{Repl, ToolCall, ToolSpec};
use s02_tools::{Tool, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::timeout;

use crate::agreed::Agreed;
use crate::catalog::{Catalog, Known};
use crate::connection::Patience;
use crate::environment::{patience, variable};
use crate::launch::Launch;
use crate::plain::{list, one_line};
use crate::pool::{LeftOut, Pool, assemble_tool_pool};
use crate::prompt;
use crate::server::Server;

/// The mock servers that every session may connect to.
const MOCKS: [&str; 2] = ["docs", "deploy"];

/// The most names of tools in an answer of connect_mcp. The request that follows holds all of them.
const MOST_NAMED: usize = 50;

/// How long a start is waited for without a word.
const SILENT: Duration = Duration::from_secs(5);

/// The MCP servers of a session. Clones share them.
#[derive(Clone)]
pub struct Mcp {
    ws: Workspace,
    repl: Repl,
    own: Arc<[Launch]>,
    agreed: Agreed,
    patience: Patience,
    /// A std lock: nothing is awaited while it is held.
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// By the number of the call that connected them: a new server changes the end of the pool and not its middle, and
    /// of two that are connected at once the first one that was asked for comes first, however long it took.
    connected: BTreeMap<u64, Server>,
    /// How often connect_mcp was called.
    asked: u64,
    /// Why those are not connected that were, or were to be.
    failed: BTreeMap<String, Failed>,
    /// Held by whoever connects to a server of this name.
    gates: BTreeMap<String, Arc<tokio::sync::Mutex<()>>>,
    /// What the policy was told that a call would do, by the id of the call, until it runs. A refused one
    /// leaves a few words here.
    judged: HashMap<String, Judged>,
    /// What was last found wrong with the file, so that it is said once.
    complaints: Vec<String>,
}

struct Failed {
    why: String,
    /// It had been connected: the model has called its tools.
    was_there: bool,
}

/// Does this work, and tells when it takes long.
async fn told_when_slow<T>(work: impl Future<Output = T>, tell: impl FnOnce()) -> T {
    let mut work = pin!(work);
    match timeout(SILENT, &mut work).await {
        Ok(done) => done,
        Err(_) => {
            tell();
            work.await
        }
    }
}

/// What a call of connect_mcp would do to the server that it names.
#[derive(Clone)]
enum Judged {
    /// Nothing: there is none of this name. The complaint says why that may be so.
    Unknown(String),
    /// Nothing.
    IsConnected,
    /// Start this.
    Starts(Known),
}

/// How a server is, for `/mcp`.
pub(crate) enum Standing {
    Connected(usize),
    Available,
    /// What the file says about it, this: it goes on behind "it".
    Unusable(String),
    Failed(String),
}

#[derive(Deserialize, JsonSchema)]
struct ConnectMcp {
    /// The server's name.
    name: String,
}

impl Mcp {
    /// No server is connected yet; there are the two mock servers, and those that `.mcp.json` names. The environment says how
    /// long is waited for them.
    pub fn open(ws: &Workspace, repl: &Repl) -> Self {
        let mocks = MOCKS.map(|name| {
            let (command, args) = mock_servers::mcp::command(name);
            Launch {
                name: name.to_owned(),
                command,
                args,
                ..Launch::default()
            }
        });
        let (patience, wrong) = patience(variable);
        wrong.iter().for_each(|wrong| repl.say(wrong));
        Self {
            patience,
            ..Self::with_servers(ws, repl, mocks)
        }
    }

    /// The same with other servers than the mock servers. Nobody is asked before one of these is started.
    pub fn with_servers(
        ws: &Workspace,
        repl: &Repl,
        own: impl IntoIterator<Item = Launch>,
    ) -> Self {
        let mcp = Self {
            ws: ws.clone(),
            repl: repl.clone(),
            own: own.into_iter().collect(),
            agreed: Agreed::open(ws, repl),
            patience: Patience::default(),
            state: Arc::default(),
        };
        mcp.catalog();
        mcp
    }

    /// The tool connect_mcp.
    pub fn connect_tool(&self) -> Tool {
        let catalog = self.catalog();
        let description = format!(
            "Connect to an MCP server. From your next reply on you can call its tools, mcp__server__tool. Servers: {}.",
            list(catalog.names(), MOST_NAMED)
        );
        let spec = ToolSpec::new::<ConnectMcp>("connect_mcp", &description);
        let (mcp, judged) = (self.clone(), self.clone());
        let tool = Tool::new(spec, move |call| {
            let mcp = mcp.clone();
            async move {
                match call.args::<ConnectMcp>() {
                    Ok(input) => mcp.connect(&call.id, input.name.trim()).await.into(),
                    Err(error) => Err::<String, _>(error).into(),
                }
            }
        });
        tool.runs(move |call| judged.would_run(call)).side_by_side()
    }

    /// The tools of all connected servers, under their names in the pool.
    pub fn tools(&self) -> Vec<Tool> {
        self.pool().tools
    }

    /// The prompt's section on servers; empty when none is connected or gone.
    pub fn servers(&self) -> String {
        let connected = self.connected();
        let gone: Vec<_> = {
            let state = self.state();
            let gone = state.failed.iter().filter(|(_, failed)| failed.was_there);
            gone.map(|(name, failed)| (name.clone(), failed.why.clone()))
                .collect()
        };
        prompt::servers(&connected, &gone)
    }

    /// Ends all servers: closes their input, waits, and ends those that do not go by themselves.
    pub async fn shut_down(&self) {
        let servers = std::mem::take(&mut self.state().connected);
        // Side by side: one that does not want to go takes seconds.
        let ends = servers
            .into_values()
            .map(|server| tokio::spawn(async move { server.shut_down().await }));
        for end in ends.collect::<Vec<_>>() {
            // A panic in there has been shown already, and there is nobody left to tell.
            let _ = end.await;
        }
    }

    /// What all connected servers offer, and what of it stays out.
    pub(crate) fn pool(&self) -> Pool {
        assemble_tool_pool(&self.connected(), &self.agreed, &self.repl)
    }

    /// All servers there are, and how each is.
    pub(crate) fn standings(&self) -> BTreeMap<String, Standing> {
        let catalog = self.catalog();
        let available = catalog.iter().map(|(name, known)| {
            let standing = match known {
                Known::Own(_) | Known::Named(..) => Standing::Available,
                Known::Unusable(why) => Standing::Unusable(why.clone()),
            };
            (name.to_owned(), standing)
        });
        let mut standings: BTreeMap<_, _> = available.collect();
        let connected = self.connected();
        let failed = &self.state().failed;
        standings.extend(
            failed
                .iter()
                .map(|(name, failed)| (name.clone(), Standing::Failed(failed.why.clone()))),
        );
        let connected = connected.iter().map(|server| {
            (
                server.name().to_owned(),
                Standing::Connected(server.tools().len()),
            )
        });
        standings.extend(connected);
        standings
    }

    /// The servers there are now. What is wrong with the file is told when it is new.
    pub(crate) fn catalog(&self) -> Catalog {
        let catalog = Catalog::read(self.ws.root(), &self.own);
        let complaints = catalog.complaints();
        let told = std::mem::replace(&mut self.state().complaints, complaints.clone());
        let new = complaints
            .iter()
            .filter(|complaint| !told.contains(complaint));
        new.for_each(|complaint| self.repl.say(complaint));
        catalog
    }

    /// The command that a call would start, for the policy. What it is told is kept: the file may change before the
    /// user has answered, and two calls may name the same server.
    fn would_run(&self, call: &ToolCall) -> Option<String> {
        let judged = self.judge(call.input.get("name")?.as_str()?.trim());
        let command = match &judged {
            Judged::Starts(Known::Named(_, shown)) => Some(shown.clone()),
            Judged::Unknown(_)
            | Judged::IsConnected
            | Judged::Starts(Known::Own(_) | Known::Unusable(_)) => None,
        };
        self.state().judged.insert(call.id.clone(), judged);
        command
    }

    /// What a call that names this server would do now.
    fn judge(&self, name: &str) -> Judged {
        if self.server(name).is_some() {
            return Judged::IsConnected;
        }
        let catalog = self.catalog();
        match catalog.get(name) {
            Some(known) => Judged::Starts(known.clone()),
            None => {
                let why = catalog.complaint.as_ref();
                Judged::Unknown(format!(
                    "there is no server '{}'; there are {}{}",
                    one_line(name, 100),
                    list(catalog.names(), MOST_NAMED),
                    why.map_or_else(String::new, |why| format!(" ({why})"))
                ))
            }
        }
    }

    /// Does what was judged of the call of this id, and nothing else.
    async fn connect(&self, id: &str, name: &str) -> Result<String> {
        let number = self.number();
        let judged = self.state().judged.remove(id);
        let judged = judged.unwrap_or_else(|| self.judge(name));
        if let Judged::Unknown(why) = judged {
            bail!(why);
        }
        let gate = self.gate(name);
        let _alone = gate.lock().await;
        if let Some(server) = self.server(name) {
            return Ok(format!(
                "Already connected to '{name}'. Its tools: {}",
                self.named_tools(&server)
            ));
        }
        match judged {
            Judged::Starts(Known::Own(launch)) => {
                let shown = launch.command.display().to_string();
                self.start(number, launch, &shown).await
            }
            Judged::Starts(Known::Named(launch, shown)) => self.start(number, launch, &shown).await,
            Judged::Starts(Known::Unusable(why)) => bail!("the server '{name}' {why}"),
            Judged::Unknown(_) | Judged::IsConnected => {
                bail!("the server '{name}' has just ended; call connect_mcp again to start it anew")
            }
        }
    }

    /// What is held by whoever connects to a server of this name.
    fn gate(&self, name: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut state = self.state();
        state.gates.entry(name.to_owned()).or_default().clone()
    }

    /// The number of this call.
    fn number(&self) -> u64 {
        let mut state = self.state();
        state.asked += 1;
        state.asked
    }

    async fn start(&self, number: u64, launch: Launch, shown: &str) -> Result<String> {
        let name = launch.name.clone();
        let start = Server::start_with(launch, &self.ws, self.patience);
        let started = told_when_slow(start, || {
            let (name, shown) = (one_line(&name, 100), one_line(shown, 200));
            let most = self.patience.start;
            self.repl.remark(&format!(
                "[mcp: waiting for {name} to start, {most:?} at most: {shown}]"
            ));
        });
        let started = started.await;
        let mut state = self.state();
        match started {
            Ok(server) => {
                state.failed.remove(&name);
                state.connected.insert(number, server.clone());
                drop(state);
                Ok(format!(
                    "Connected to '{name}'. Discovered: {}",
                    self.named_tools(&server)
                ))
            }
            Err(error) => {
                let why = format!("{error:#}");
                // One that has gone is gone until it is there again, however often it is asked for.
                let was_there = state.failed.get(&name).is_some_and(|past| past.was_there);
                state.failed.insert(name, Failed { why, was_there });
                Err(error)
            }
        }
    }

    /// The tools of one server under the names it gave them, and those that stay out.
    fn named_tools(&self, server: &Server) -> String {
        let pool = assemble_tool_pool(std::slice::from_ref(server), &self.agreed, &self.repl);
        let mut text = match pool.originals.is_empty() {
            true => "no tools".to_owned(),
            false => list(pool.originals.iter().map(String::as_str), MOST_NAMED),
        };
        for LeftOut { tool, why, .. } in pool.left_out.iter().take(MOST_NAMED) {
            text.push_str(&format!(". Left out: {} {why}", one_line(tool, 100)));
        }
        match pool.left_out.len().saturating_sub(MOST_NAMED) {
            0 => text,
            more => format!("{text}. Left out: {more} more"),
        }
    }

    /// The connected server of this name, if it lives.
    fn server(&self, name: &str) -> Option<Server> {
        self.connected()
            .into_iter()
            .find(|server| server.name() == name)
    }

    /// The servers that are connected and live. One that has failed since the last look is said to be gone.
    fn connected(&self) -> Vec<Server> {
        let mut gone = Vec::new();
        let connected = {
            let mut state = self.state();
            state.connected.retain(|_, server| match server.failure() {
                None => true,
                Some(why) => {
                    gone.push((server.name().to_owned(), why));
                    false
                }
            });
            for (name, why) in gone.iter().cloned() {
                let was_there = true;
                state.failed.insert(name, Failed { why, was_there });
            }
            state.connected.values().cloned().collect()
        };
        for (name, why) in gone {
            let (name, why) = (one_line(&name, 100), one_line(&why, 300));
            self.repl.remark(&format!("[mcp: {name} is gone: {why}]"));
        }
        connected
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_start_that_takes_five_seconds_is_told_once_and_goes_on() {
        for (seconds, told) in [(4, 0), (6, 1), (29, 1)] {
            let mut times = 0;
            let work = told_when_slow(pending::<()>(), || times += 1);
            let ended = timeout(Duration::from_secs(seconds), work).await;
            assert_eq!((ended.is_ok(), times), (false, told), "{seconds} s");
        }
        assert_eq!(told_when_slow(ready(7), || panic!("it is there")).await, 7);
    }
}
