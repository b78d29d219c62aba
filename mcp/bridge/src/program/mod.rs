//! What is typed, and what becomes of it.
//!
//! Invariant: a failure ends in one sentence on standard error and in the exit code of its kind: 1 when something failed, 2
//! when the configuration cannot be used.

mod demo;
mod look;

use std::path::Path;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use look::{Look, word};
use mcp_bridge::config::Config;
use mcp_bridge::database::Database;
use mcp_bridge::host::{Host, Programs};
use mcp_bridge::owner::{Owner, Profile};
use mcp_bridge::relay;
use mcp_bridge::shim::Shim;
use mcp_bridge::tokens::OWNER;
use mcp_client::fleet::Limits;
use mcp_relay::front::{self, Common, FAILED, Failure};
use mcp_relay::service;
use s01_loop::{Client, Unobserved};
use s11_recovery::Recovery;
use serde_json::json;

const EXAMPLES: &str = "Examples:
  mcp_bridge demo                                     an owner with two agents and a schedule, for a minute
  mcp_bridge serve --config agents.yaml               the owner, on port 3847
  mcp_bridge send chief \"What is there to do?\"        a message to an agent
  mcp_bridge top                                      agents, queues, memory, calls

An agent's harness starts the shim: mcp_bridge shim, with RELAY_PORT, AGENT_NAME and BRIDGE_TOKEN_FILE.
Exit codes: 0 all well, 1 something failed, 2 configuration.";

/// Without it, and without another, the agents of the demo.
const FILE: &str = "agents.yaml";

/// Tools that live in one process, for agents that live in others.
#[derive(Parser)]
#[command(name = "mcp_bridge", version, after_help = EXAMPLES)]
#[command(mut_arg("config", |it| it.help("Who there is; agents.yaml when it is here, else the agents of the demo")))]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// Where the owner is
    #[arg(long, global = true, default_value_t = 3847)]
    port: u16,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Owns the tools, and keeps the agents
    Serve,
    /// Speaks MCP for an agent on standard input and output
    Shim,
    /// Sends an agent a message, and prints its reply
    Send {
        agent: String,
        prompt: String,
        /// Without the tools that act on the world
        #[arg(long)]
        lean: bool,
    },
    /// Shows agents, queues, memory and the last calls
    Top {
        /// Shows them once
        #[arg(long)]
        once: bool,
    },
    /// Prints who called what, the newest first
    Audit {
        #[arg(long)]
        agent: Option<String>,
        #[arg(long, default_value_t = 50)]
        limit: u32,
    },
    /// Reads the configuration, connects all servers, and says what each agent has
    Check,
    /// Shows all of it, without a key or a network
    Demo,
    /// Prints completions for a shell
    Completions { shell: front::Shell },
}

fn failed(why: impl Into<String>) -> Failure {
    Failure(FAILED, why.into())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Does what was typed; returns the exit code.
pub async fn run(args: Args) -> Result<u8, Failure> {
    let look = || -> Result<Look, Failure> {
        let config = settings(&args.common)?;
        Ok(Look::new(args.port, config.state.join("tokens").join(OWNER)))
    };
    match &args.command {
        Command::Serve => {
            args.common.start_log("warn,mcp_bridge=info");
            let host = open(settings(&args.common)?, args.port, programs()?).await?;
            let token = host.tokens.file(OWNER);
            eprintln!("mcp_bridge: http://{}, its token is in {}", host.address(), token.display());
            host.serve().await;
        }
        Command::Shim => shim(&args.common).await?,
        Command::Send {
            agent,
            prompt,
            lean,
        } => {
            let profile = if *lean { "lean" } else { "full" };
            let message = json!({ "source": "user", "prompt": prompt, "profile": profile });
            let reply = look()?.send(agent, message).await?;
            front::say(word(&reply["reply"]));
            if let Some(note) = reply["note"].as_str() {
                eprintln!("(answered by the owner: {note})");
            }
        }
        Command::Top { once } => look()?.top(*once).await?,
        Command::Audit { agent, limit } => look()?.audit(agent.as_deref(), *limit).await?,
        Command::Check => return check(settings(&args.common)?).await,
        Command::Demo => demo::run().await?,
        Command::Completions { shell } => front::completions::<Args>(*shell),
    }
    Ok(0)
}

/// What the file says; where there is none and none was named, the agents of the demo.
fn settings(common: &Common) -> Result<Config, Failure> {
    let config = match common.file(FILE) {
        Some(file) => Config::read(&file, &variable),
        None => Config::parse(&demo::agents(&programs()?.shim), Path::new("."), &variable),
    };
    Ok(config?)
}

/// The model that the environment names.
fn model() -> Result<Recovery, Failure> {
    Ok(relay::model(Client::from_env(Arc::new(Unobserved))?))
}

async fn open(settings: Config, port: u16, programs: Programs) -> Result<Host, Failure> {
    let host = Host::open(settings, port, model()?, programs).await?;
    for why in host.owner.ready.missing() {
        eprintln!("mcp_bridge: not connected, and tried again: {why}");
    }
    Ok(host)
}

fn programs() -> Result<Programs, Failure> {
    let shim = std::env::current_exe().unwrap_or_else(|_| "mcp_bridge".into());
    let beside = Some(shim.with_file_name("s20_full")).filter(|it| it.is_file());
    Ok(Programs {
        limits: Limits::from_env(&variable)?,
        s20: beside.unwrap_or_else(|| "s20_full".into()),
        shim,
        ..Programs::default()
    })
}

async fn shim(common: &Common) -> Result<(), Failure> {
    common.start_log("warn");
    if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        let env = json!({ "RELAY_PORT": "3847", "AGENT_NAME": "chief", "BRIDGE_TOKEN_FILE": ".mcp_bridge/tokens/chief" });
        let entry = json!({ "command": programs()?.shim, "args": ["shim"], "env": env });
        eprintln!(
            "mcp_bridge shim: the tools of an agent, over MCP on standard input and output, for the harness that starts it.\n\
             Put this into the agent's .mcp.json, with its name in it:\n  {}\n\
             The owner is `mcp_bridge serve`. All else: mcp_bridge --help",
            json!({ "mcpServers": { "bridge": entry } })
        );
        return Ok(());
    }
    let needed = |name: &str| variable(name).ok_or_else(|| format!("{name} is not set"));
    let port = needed("RELAY_PORT")?;
    let port = port.parse().map_err(|_| format!("RELAY_PORT is no port: {port:?}"))?;
    let shim = Shim::start(port, &needed("AGENT_NAME")?, needed("BRIDGE_TOKEN_FILE")?.into()).await;
    let front = front::Args::default().open(front::Ready::default(), None).await.map_err(failed)?;
    front.serve(|client| service::serve(shim.clone(), client)).await;
    Ok(())
}

/// Connects all servers and prints what each agent has.
async fn check(settings: Config) -> Result<u8, Failure> {
    model()?;
    let owner = Owner::new(settings, Database::open(Path::new(":memory:"))?);
    owner.connect(programs()?.limits).await;
    owner.verify()?;
    let missing = owner.ready.missing();
    for why in &missing {
        eprintln!("mcp_bridge: not connected: {why}");
    }
    for agent in &owner.config.agents {
        let names = |profile| {
            let tools = owner.tools(agent, profile);
            tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        println!("{}: {}", agent.name, names(Profile::Full));
        println!("  when nobody watches: {}", names(Profile::Lean));
    }
    Ok(u8::from(!missing.is_empty()))
}
