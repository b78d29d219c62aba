//! What is typed, and what becomes of it.
//!
//! Invariant: exit code 1 is a question or a check that failed, 2 a configuration or a command line that cannot be used.

use std::path::Path;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use mcp_hub::config::Config;
use mcp_hub::hub::{Ask, Health, Hub};
use mcp_hub::mode::Mode;
use mcp_hub::server::Server;
use mcp_hub::telemetry;
use mcp_relay::front::{self, Common, FAILED, Failure, say};
use mcp_relay::service;
use serde_json::json;

const EXAMPLES: &str = "Examples:
  mcp_hub ask gpt \"Review this plan\" --file plan.md --mode challenge
  mcp_hub check                          starts every agent and server, and says how it went
  mcp_hub --config spokes.yaml           serves the four tools on standard input and output

Without spokes.yaml in this directory there is one agent, gpt, which is built in and needs no key.
Exit codes: 0 all well, 1 a question or a check failed, 2 the configuration or the command line.";

/// Agents behind tools: an MCP client asks other agents, in four modes.
#[derive(Parser)]
#[command(name = "mcp_hub", version, after_help = EXAMPLES)]
#[command(mut_arg("config", |it| it.help("The agents and servers; spokes.yaml when it is here")))]
pub struct Args {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    front: front::Args,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Asks an agent
    Ask {
        agent: String,
        prompt: String,
        /// PATH, PATH:LINE or PATH:FIRST-LAST; may be given again
        #[arg(long, value_name = "PATH")]
        file: Vec<String>,
        /// challenge, agree, collaborate or deduce
        #[arg(long, value_parser = Mode::named)]
        mode: Option<Mode>,
        /// Continues the conversation of this name
        #[arg(long)]
        thread: Option<String>,
    },
    /// Agents, as list_agents lists them
    List,
    /// Starts every agent and server, and says how it went
    Check,
    /// The last questions
    Log {
        /// How many
        #[arg(long, default_value_t = 20)]
        last: usize,
    },
    /// How each agent has done, with bars of its latency
    Stats,
    /// Prints completions for a shell
    Completions { shell: front::Shell },
}

/// Does what was typed; returns the exit code.
pub async fn run(args: Args) -> Result<u8, Failure> {
    args.common.start_log(if args.command.is_none() { "warn,mcp_hub=info" } else { "warn" });
    if let Some(Command::Completions { shell }) = args.command {
        front::completions::<Args>(shell);
        return Ok(0);
    }
    Ok(perform(args).await?)
}

async fn perform(args: Args) -> Result<u8, String> {
    let project = std::env::current_dir().map_err(|error| format!("this directory: {error}"))?;
    let variable = |name: &str| std::env::var(name).ok();
    let file = args.common.file("spokes.yaml");
    let config = match &file {
        Some(file) => Config::read(file, &variable)?,
        None => Config::embedded(&project),
    };
    let hub = Hub::new(config, &project, &variable)?;
    match args.command {
        None => serve(args.front, file.as_deref(), hub).await,
        Some(Command::Ask {
            agent,
            prompt,
            file,
            mode,
            thread,
        }) => {
            let ask = Ask {
                agent,
                prompt,
                mode,
                thread,
                context: json!({ "files": file }),
            };
            ask_once(&hub, ask).await
        }
        Some(Command::List) => {
            hub.start(|_, _| ()).await;
            say(hub.listed().trim_end());
            Ok(0)
        }
        Some(Command::Check) => Ok(check(&hub).await),
        Some(Command::Log { last }) => {
            let records = records(&hub)?;
            records[records.len().saturating_sub(last)..].iter().for_each(|it| say(it.line()));
            Ok(0)
        }
        Some(Command::Stats) => {
            say(telemetry::stats(&records(&hub)?).trim_end());
            Ok(0)
        }
        Some(Command::Completions { .. }) => unreachable!("it was answered above"),
    }
}

async fn serve(args: front::Args, file: Option<&Path>, hub: Arc<Hub>) -> Result<u8, String> {
    if let Some(text) = args.explain("mcp_hub", "agents behind tools.", &[("--config", file)]) {
        eprintln!("{text}");
        return Ok(0);
    }
    let ready = front::Ready::default();
    ready.lacks("start", "agents and servers are being started");
    let front = args.open(ready.clone(), None).await?;
    if let Some(address) = front.address() {
        eprintln!("http://{address}/mcp");
    }
    let starting = hub.clone();
    tokio::spawn(async move {
        starting
            .start(|name, health| {
                if let Health::Away(why) = health {
                    ready.lacks(name, format!("{name} is away: {why}"));
                }
            })
            .await;
        for server in &starting.registry().await.servers {
            if let Err(why) = &server.tools {
                ready.lacks(
                    &format!("server {}", server.name),
                    format!("the server {} cannot be used: {why}", server.name),
                );
            }
        }
        ready.has("start");
    });
    let server = Server::new(hub);
    front.serve(|client| service::serve(server.clone(), client)).await;
    Ok(0)
}

async fn ask_once(hub: &Arc<Hub>, ask: Ask) -> Result<u8, String> {
    let scope = hub.scope(&ask.agent);
    let asking = async {
        let (_, answered) = tokio::join!(hub.start(|_, _| ()), hub.ask(ask, &scope));
        answered
    };
    let answered = tokio::select! {
        answered = asking => answered,
        _ = tokio::signal::ctrl_c() => Err("taken back".to_owned()),
    };
    Ok(match answered {
        Ok(answer) => {
            say(&answer);
            0
        }
        Err(why) => {
            eprintln!("mcp_hub: {why}");
            FAILED
        }
    })
}

async fn check(hub: &Arc<Hub>) -> u8 {
    hub.start(|_, _| ()).await;
    let mut rows = Vec::new();
    for (spoke, health) in hub.spokes() {
        let (state, what) = match health {
            Health::Ready(what) => ("ready", what),
            Health::Away(why) => ("away", why),
            Health::Starting => ("starting", String::new()),
        };
        rows.push([
            "agent".to_owned(),
            spoke.name.clone(),
            spoke.kind.to_string(),
            state.to_owned(),
            what,
        ]);
    }
    for server in &hub.registry().await.servers {
        let (state, what) = match &server.tools {
            Ok(tools) => (
                "ready",
                format!("{}, {} ms", kit::counted(*tools, "tool"), server.took.as_millis()),
            ),
            Err(why) => ("failed", why.clone()),
        };
        let (name, transport) = (server.name.clone(), server.transport.clone());
        rows.push(["server".to_owned(), name, transport, state.to_owned(), what]);
    }
    front::table(&rows);
    if rows.iter().any(|row| row[3] != "ready") { FAILED } else { 0 }
}

fn records(hub: &Hub) -> Result<Vec<telemetry::Record>, String> {
    let (records, odd) =
        telemetry::read(&hub.log()).map_err(|error| format!("{}: {error}", hub.log().display()))?;
    if odd > 0 {
        eprintln!(
            "mcp_hub: {} of {} cannot be read",
            kit::counted(odd, "line"),
            hub.log().display()
        );
    }
    Ok(records)
}
