//! What is typed, and what becomes of it.
//!
//! Invariant: answers go to standard output, all else to standard error; exit code 0 is all well, 1 is a server or a tool
//! that is not as it should be, 2 is a command line or a file that cannot be used.

mod evaluate;
mod serve;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::{Parser, Subcommand};
use mcp_client::fleet::Limits;
use mcp_client::sources::{Catalog, Places, Standing};
use mcp_client::{State, login};
use mcp_proxy::calls::{Account, Calls};
use mcp_proxy::proxy::{Proxy, Setup, discover};
use mcp_proxy::settings::Settings;
use mcp_proxy::store::Store;
use mcp_relay::front::{self, Common, Failure, say};
use serde_json::json;

/// In the environment of servers, so that a proxy that is its own server is found out.
const INSIDE: &str = "MCP_PROXY_INSIDE";
const EXAMPLES: &str = "Examples:
  mcp_proxy --config servers.json                  serves these servers' tools on standard input and output
  mcp_proxy discover \"open tickets about login\"     what discover_tools answers
  mcp_proxy account                                what tools cost, with the proxy and without

Without a configuration the servers are docs, deploy, jira and notion, which are built in.";

/// Many MCP tools behind two: discover_tools and call_tool.
#[derive(Parser)]
#[command(name = "mcp_proxy", version, after_help = EXAMPLES)]
#[command(mut_arg("config", |it| it.help("Servers of this file alone; without it those of Claude Code's files")))]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// always_on, split, synonyms, embeddings, least_share
    #[arg(long, global = true, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Where it is remembered which tools were seen and called
    #[arg(long, global = true, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    front: front::Args,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Connects to all servers and says how it went
    Check,
    /// What discover_tools answers
    Discover {
        query: String,
        #[arg(long, default_value = "5")]
        limit: u64,
        /// The whole schema of the best tool
        #[arg(long)]
        schema: bool,
    },
    /// What tools cost in tokens, with the proxy and without, and which to keep always on
    Account,
    /// Tools that are held back, and why
    Quarantine,
    /// Shows a tool as its server lists it, and releases it
    Trust {
        #[arg(value_name = "SERVER:TOOL")]
        tool: String,
    },
    /// Measures how well tools are found: R@1, R@5, R@10 and MRR by kind of query
    Recall(evaluate::Recall),
    /// Checks descriptions for instructions to the model: flagged and passed by category
    Scan(evaluate::Scan),
    /// Prints completions for a shell
    Completions { shell: front::Shell },
}

/// Does what was typed; returns the exit code.
pub async fn run(args: Args) -> Result<u8, Failure> {
    args.common.start_log("warn");
    Ok(perform(args).await?)
}

async fn perform(args: Args) -> Result<u8> {
    match &args.command {
        None => return serve::run(&args).await,
        Some(Command::Recall(recall)) => return recall.run().map(|()| 0),
        Some(Command::Scan(scan)) => return scan.run().map(|()| 0),
        Some(Command::Completions { shell }) => {
            front::completions::<Args>(*shell);
            return Ok(0);
        }
        Some(_) => {}
    }
    let setup = setup(&args)?;
    let store = setup.store.clone();
    let patience = setup.limits.connect;
    let proxy = Proxy::start(setup);
    // Somebody waits for it who wants to know of all servers.
    let mut views = proxy.views();
    let settled = views.wait_for(|view| view.connecting().is_empty());
    let _ = tokio::time::timeout(patience, settled).await;
    let view = proxy.view().await;
    match args.command.context("a command is there")? {
        Command::Discover {
            query,
            limit,
            schema,
        } => {
            let mut wanted = json!({"query": query, "limit": limit});
            if schema {
                wanted = json!({"query": query, "detail": "schema"});
            }
            say(discover(&view, &wanted).map_err(|why| anyhow!(why))?);
        }
        Command::Account => say(Account::new(&view, &Calls::new(&store))),
        Command::Quarantine => {
            for (listed, why) in &view.held {
                say(format!("{}: {why}", listed.tool.key()));
            }
            if view.held.is_empty() {
                say("No tool is held back.");
            }
        }
        Command::Trust { tool } => {
            let known = view.servers.iter().flat_map(|(_, it)| &it.tools);
            let Some(listed) = known.clone().find(|it| it.tool.key() == tool) else {
                bail!(
                    "there is no tool {tool}; `mcp_proxy quarantine` lists those that are held back"
                );
            };
            store.trust(listed)?;
            say(format!("{:#}\n{tool} is trusted as it stands here.", listed.whole));
            return Ok(0);
        }
        _ => {
            check(&view);
            return Ok(u8::from(!view.wrongs().is_empty()));
        }
    }
    view.wrongs().iter().for_each(|wrong| eprintln!("{wrong}"));
    Ok(0)
}

fn check(view: &mcp_proxy::view::View) {
    let head = ["SERVER", "TRANSPORT", "STATE", "TOOLS", "HELD", "TIME"].map(str::to_owned);
    let rows = view.servers.iter().map(|(server, standing)| {
        let state = match standing.state {
            State::Pending => "connecting",
            State::Connected => "connected",
            State::Failed(_) => "failed",
            State::NeedsAuth(_) => "needs-auth",
            State::Disabled => "disabled",
        };
        let held = view.held.iter().filter(|(it, _)| it.tool.server == server.name).count();
        [
            server.name.clone(),
            server.transport.to_string(),
            state.to_owned(),
            standing.tools.len().to_string(),
            held.to_string(),
            format!("{} ms", standing.took.as_millis()),
        ]
    });
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    front::table(&rows);
    view.wrongs().iter().for_each(say);
}

/// The configuration; what is wrong with single servers is said in it.
fn setup(args: &Args) -> Result<Setup> {
    ensure!(
        variable(INSIDE).is_none(),
        "it is one of its own servers; give it others with --config"
    );
    let catalog = match &args.common.config {
        Some(file) => Catalog::of_file(file, &variable),
        None => Catalog::read(&Places::usual(&variable), &variable),
    };
    ensure!(
        args.common.config.is_none() || catalog.wrong.is_empty(),
        "{}",
        catalog.wrong.join("; ")
    );
    let embedded =
        args.common.config.is_none() && catalog.found.is_empty() && catalog.wrong.is_empty();
    let catalog = if embedded { Catalog::embedded() } else { catalog };
    let mut wrong = catalog.wrong;
    let mut servers = Vec::new();
    for found in catalog.found {
        match (found.server, found.standing) {
            (Ok(mut server), Standing::Ready) => {
                server.env.insert(INSIDE.to_owned(), "1".to_owned());
                servers.push(server);
            }
            (Ok(_), Standing::Disabled) => {}
            (Ok(_), standing) => wrong.push(format!("{}: {standing}", found.name)),
            (Err(why), _) => wrong.push(kit::one_line(&why)),
        }
    }
    let settings = args.settings.as_deref().map(Settings::read).transpose()?.unwrap_or_default();
    let folder = args.state.clone().unwrap_or_else(state_folder);
    Ok(Setup {
        settings,
        servers,
        logins: Arc::new(login::Store::usual(&variable)),
        limits: Limits::from_env(&variable).map_err(|why| anyhow!(why))?,
        // The built-in jira is not the user's.
        store: Store::new(&if embedded { folder.join("embedded") } else { folder }),
        wrong,
    })
}

fn state_folder() -> PathBuf {
    let state = variable("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Path::new(&variable("HOME").unwrap_or_default()).join(".local/state");
    state.unwrap_or_else(home).join("mcp_proxy")
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
