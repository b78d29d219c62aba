//! What is typed, and what becomes of it.
//!
//! Invariant: answers go to standard output, all else to standard error; exit code 0 is all well, 1 is a server or a tool
//! that is not as it should be, 2 is a command line or a file that cannot be used.

mod evaluate;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::{Parser, Subcommand};
use mcp_client::fleet::Limits;
use mcp_client::sources::{Catalog, Places, Source, Standing};
use mcp_client::{State, login};
use mcp_proxy::calls::{Calls, account};
use mcp_proxy::proxy::{Proxy, Setup, discover};
use mcp_proxy::settings::Settings;
use mcp_proxy::store::Store;
use mcp_proxy::view::View;
use mcp_relay::front::{self, Common, Failure, Ready, say};
use mcp_relay::service;
use serde_json::json;
use tokio::time::timeout;

/// In the environment of servers, so that a proxy that is its own server is found out.
const INSIDE: &str = "MCP_PROXY_INSIDE";
/// For servers before the first client is answered: what it lists first is what its user agrees to.
const FIRST: Duration = Duration::from_secs(3);
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
        None => return serve(&args).await,
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
    let _ = timeout(patience, settled).await;
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
        Command::Account => say(account(&view, &Calls::new(&store))),
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

/// The proxy as a server. What is not there after three seconds, or has failed, stands on `/readyz`.
async fn serve(args: &Args) -> Result<u8> {
    let files =
        [("--config", args.common.config.as_deref()), ("--settings", args.settings.as_deref())];
    if let Some(text) = args.front.explain("mcp_proxy", "many tools behind two.", &files) {
        eprintln!("{text}");
        return Ok(0);
    }
    let proxy = Proxy::start(setup(args)?);
    let (ready, mut views) = (Ready::default(), proxy.views());
    let (told, mut shown) = (ready.clone(), proxy.views());
    tokio::spawn(async move {
        loop {
            match shown.borrow_and_update().wrongs().as_slice() {
                [] => told.has("view"),
                wrongs => told.lacks("view", wrongs.join("\n")),
            }
            if shown.changed().await.is_err() {
                return;
            }
        }
    });
    let front = args.front.open(ready, None).await.map_err(|why| anyhow!(why))?;
    if let Some(address) = front.address() {
        eprintln!("http://{address}/mcp");
    }
    let settled = views.wait_for(|view| view.connecting().is_empty());
    let _ = timeout(FIRST, settled).await;
    let proxy = Arc::new(proxy);
    front.serve(|client| service::serve(proxy.clone(), client)).await;
    Ok(0)
}

fn check(view: &View) {
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
    let file = args.common.config.as_deref();
    let catalog = Catalog::open(file, &Places::usual(&variable), &variable);
    ensure!(file.is_none() || catalog.wrong.is_empty(), "{}", catalog.wrong.join("; "));
    let embedded = catalog.found.iter().any(|found| found.source == Source::Embedded);
    let (mut servers, others) = catalog.usable();
    for server in &mut servers {
        server.env.insert(INSIDE.to_owned(), "1".to_owned());
    }
    let disabled = Standing::Disabled.to_string();
    let others = others.into_iter().filter(|(_, why)| *why != disabled);
    let others = others.map(|(name, why)| format!("{name}: {}", kit::one_line(&why)));
    let settings = args.settings.as_deref().map(Settings::read).transpose()?.unwrap_or_default();
    let folder = args.state.clone().unwrap_or_else(state_folder);
    Ok(Setup {
        settings,
        servers,
        logins: Arc::new(login::Store::usual(&variable)),
        limits: Limits::from_env(&variable).map_err(|why| anyhow!(why))?,
        // The built-in jira is not the user's.
        store: Store::new(&if embedded { folder.join("embedded") } else { folder }),
        wrong: catalog.wrong.into_iter().chain(others).collect(),
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
