//! All of it put together: a configuration becomes an owner with agents behind a front.
//!
//! Load, build, verify, then ready. Invariant: who is accepted finds everything there that the configuration promises, or
//! reads in `/readyz` what is missing.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcp_client::fleet::Limits;
use mcp_relay::front::{Address, Args, Front, LAST_CALLS};
use mcp_wire::Connection;
use s11_recovery::Recovery;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::api::Api;
use crate::config::{Agent, Config, Kind};
use crate::database::Database;
use crate::owner::Owner;
use crate::process::{LINES, Process};
use crate::schedule;
use crate::tokens::Tokens;

/// Claude Code has the tools of the shim, and asks nobody for them.
const CLAUDE: &str = "--mcp-config .mcp.json --strict-mcp-config --allowedTools mcp__bridge";

/// What is found outside.
#[derive(Clone, Debug)]
pub struct Programs {
    /// For the servers.
    pub limits: Limits,
    /// The time, for schedules.
    pub clock: schedule::Clock,
    /// This one, as the shim.
    pub shim: PathBuf,
    /// The course's harness.
    pub s20: PathBuf,
    /// Claude Code.
    pub claude: PathBuf,
}

impl Default for Programs {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            clock: jiff::Timestamp::now,
            shim: "mcp_bridge".into(),
            s20: "s20_full".into(),
            claude: "claude".into(),
        }
    }
}

/// A running owner.
pub struct Host {
    /// The tools and the agents.
    pub owner: Arc<Owner>,
    /// Who may ask.
    pub tokens: Tokens,
    front: Front,
    signals: [Signal; 2],
}

impl Host {
    /// Opens the database, connects the servers, and listens.
    ///
    /// # Errors
    /// Why it cannot be used, in a sentence.
    pub async fn open(
        config: Config,
        port: u16,
        model: Recovery,
        programs: Programs,
    ) -> Result<Self, String> {
        let state = config.state.clone();
        let tokens = Tokens::open(&state.join("tokens"), &config.agents)?;
        let database = Database::open(&state.join("bridge.db"))?;
        let owner = Owner::new(config, database);
        owner.connect(programs.limits).await;
        owner.verify()?;
        let args = Args {
            http: Some(Address(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))),
            ..Args::default()
        };
        let api = Api {
            owner: owner.clone(),
            tokens: tokens.clone(),
        };
        let front = args.open(owner.ready.clone(), Some(api.pages())).await?;
        let port = front.address().ok_or("it speaks HTTP only")?.port();
        let (clock, lender) = (programs.clock, tokens.clone());
        // What was posted meanwhile waits.
        owner.start(&model, move |agent| {
            let folder = state.join("agents").join(&agent.name);
            programs.start(agent, &folder, port, &lender)
        });
        let hear = |kind| signal(kind).map_err(|error| format!("waiting for signals: {error}"));
        let signals = [hear(SignalKind::interrupt())?, hear(SignalKind::terminate())?];
        for cron in &owner.config.schedule {
            tokio::spawn(schedule::run(owner.clone(), cron.clone(), clock));
        }
        Ok(Self {
            owner,
            tokens,
            front,
            signals,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.front.address().expect("it was there when this was opened")
    }

    /// Serves until SIGTERM or Ctrl-C, lets prompts under way end, and ends all processes.
    pub async fn serve(self) {
        let mut signals = self.signals;
        told(&mut signals).await;
        tokio::select! {
            () = self.owner.stop(LAST_CALLS) => {}
            () = told(&mut signals) => self.owner.stop(Duration::ZERO).await,
        }
        // Prompts that were under way have called tools meanwhile, so it closes behind them. It has heard the signal, too.
        // Those who speak MCP have the shim.
        self.front.serve(|client: Connection| async move { drop(client) }).await;
    }
}

async fn told([interrupt, terminate]: &mut [Signal; 2]) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

impl Programs {
    /// Starts the process of an agent in a folder of its own.
    fn start(
        &self,
        agent: &Agent,
        folder: &Path,
        port: u16,
        tokens: &Tokens,
    ) -> Result<Process, String> {
        let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder.join(".harness")).map_err(wrong)?;
        let folder = fs::canonicalize(folder).map_err(wrong)?;
        let token = folder.join("process.token");
        let lease = tokens.lend(&agent.name, &token)?;
        let env = json!({ "RELAY_PORT": port.to_string(), "AGENT_NAME": agent.name, "BRIDGE_TOKEN_FILE": token });
        let server = json!({ "command": self.shim, "args": ["shim"], "env": env });
        let settings = json!({ "permissions": { "allow": ["connect_mcp", "mcp__bridge__*"] } });
        let write = |name: &str, value: &Value| {
            kit::write_whole(&folder.join(name), value.to_string().as_bytes())
                .map_err(|error| format!("{error:#}"))
        };
        write(".mcp.json", &json!({ "mcpServers": { "bridge": server } }))?;
        write(".harness/settings.json", &settings)?;
        let (program, args): (&Path, Vec<&str>) = match agent.process {
            Kind::S20 => (&self.s20, LINES.split(' ').collect()),
            Kind::Claude => {
                let model = agent.model.iter().flat_map(|model| ["--model", model]);
                (&self.claude, LINES.split(' ').chain(CLAUDE.split(' ')).chain(model).collect())
            }
            Kind::Command => {
                let (program, args) =
                    agent.command.split_first().expect("the configuration has it");
                (program.as_ref(), args.iter().map(String::as_str).collect())
            }
            Kind::None => return Err("it has no process".to_owned()),
        };
        let mut command = Command::new(program);
        command.args(args).current_dir(folder).envs(&agent.env);
        command.envs(agent.model.iter().map(|model| ("MODEL_ID", model)));
        let mut process = Process::start(&mut command)?;
        process.lease = Some(lease);
        Ok(process)
    }
}
