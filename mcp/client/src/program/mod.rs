//! What is typed, and what becomes of it.
//!
//! Each command is a few lines over the library. Invariant: a failure ends in one sentence on standard error and in the exit
//! code of its kind.

mod adaptor;
mod arguments;
mod conformance;
mod login;
mod session;
mod show;
mod survey;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use mcp_client::start::{self, CONFIG, Failure};
use session::Session;
use tokio::signal::unix::{SignalKind, signal};

const EXAMPLES: &str = "Examples:
  mcp_client tools                                     the tools of all servers
  mcp_client call docs search query=\"agent loop\"       calls one
  mcp_client --config some.mcp.json check              connects to everything a file names

Without a configuration the servers are docs, deploy, jira and notion, which are built in.
Exit codes: 0 all well, 1 a tool or a check failed, 2 configuration, 3 connection, 4 login needed.";

/// One connection to an MCP server: any transport, any login, it survives.
#[derive(Parser)]
#[command(name = "mcp_client", version, after_help = EXAMPLES)]
#[command(mut_arg("config", |it| it.help("Servers of this file alone")))]
pub struct Args {
    #[command(flatten)]
    common: start::Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Servers, who configured them and what they override
    List,
    /// Connects to all servers and says how it went
    Check,
    /// Tools of all servers, or of one
    Tools { server: Option<String> },
    /// Calls a tool
    Call(Call),
    /// Resources of all servers, or of one
    Resources { server: Option<String> },
    /// Prompts of all servers, or of one
    Prompts { server: Option<String> },
    /// Speaks MCP on standard input and output for a server on any transport
    Connect {
        /// The name of a configured server, or a URL
        target: String,
        /// Sent to a URL with each request: 'Name: value'
        #[arg(long, value_name = "HEADER")]
        header: Vec<String>,
    },
    /// Logs in to a server in the browser
    Login {
        server: String,
        /// Only prints the address, and takes the one that the browser was sent to
        #[arg(long)]
        no_browser: bool,
    },
    /// Forgets the login of a server
    Logout { server: String },
    /// Prints completions for a shell
    Completions { shell: start::Shell },
    /// What the conformance suite wants of a client
    #[command(hide = true)]
    Conformance { url: String },
}

#[derive(clap::Args)]
struct Call {
    server: String,
    tool: String,
    /// As key=value
    arguments: Vec<String>,
    /// All arguments as one JSON object
    #[arg(long, conflicts_with = "arguments")]
    json: Option<String>,
    /// Writes images and other data of the result into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

fn config(why: impl Into<String>) -> Failure {
    Failure(CONFIG, why.into())
}

/// Does what was typed; returns the exit code.
pub async fn run(args: Args) -> Result<u8, Failure> {
    args.common.start_log("error");
    let work = async { perform(Session::open(args.common.config.as_deref())?, args.command).await };
    let ended = async {
        let terminate = signal(SignalKind::terminate());
        let terminate = async { terminate.ok()?.recv().await };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => 130,
            Some(()) = terminate => 143,
        }
    };
    tokio::select! {
        done = work => done,
        code = ended => Ok(code),
    }
}

async fn perform(mut session: Session, command: Command) -> Result<u8, Failure> {
    match command {
        Command::List => Ok(session.list()),
        Command::Check => Ok(session.check().await),
        Command::Tools { server } => session.show(server, "tools").await,
        Command::Resources { server } => session.show(server, "resources").await,
        Command::Prompts { server } => session.show(server, "prompts").await,
        Command::Call(call) => session.call(&call).await,
        Command::Connect { target, header } => session.connect(&target, &header).await,
        Command::Login { server, no_browser } => session.log_in(&server, !no_browser).await,
        Command::Logout { server } => session.log_out(&server),
        Command::Conformance { url } => conformance::run(&url).await,
        Command::Completions { shell } => {
            start::completions::<Args>(shell);
            Ok(0)
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
