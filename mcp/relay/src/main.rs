//! `mcp_relay`: many MCP servers behind one.
//!
//! Invariant: standard output has frames, or the table that was asked for; all else goes to standard error, and the exit
//! code says what kind of thing went wrong.

mod table;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use mcp_relay::config::Entry;
use mcp_relay::front::{self, Common, Failure, Ready};
use mcp_relay::{Relay, config, watcher};
use tokio::time::Instant;

/// The file that is looked for without `--config`.
const FILE: &str = "backends.yaml";

const EXAMPLES: &str = "Examples:
  mcp_relay check                           connects to every backend and says how it went
  mcp_relay --config backends.yaml          serves them on standard input and output
  mcp_relay --http 8080                     serves them at http://127.0.0.1:8080/mcp
  mcp_relay status 8080 --watch             how they are, in a relay that runs with --http 8080

Without --config and without a backends.yaml here the backends are docs, deploy, jira and notion, which are built in.
Exit codes: 0 all well, 1 a backend failed, 2 configuration.";

/// Many MCP servers behind one.
#[derive(Parser)]
#[command(name = "mcp_relay", version, after_help = EXAMPLES)]
#[command(mut_arg("config", |it| it.help("The backends; backends.yaml when it is here")))]
struct Args {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    front: front::Args,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Connects to every backend and prints a table
    Check,
    /// How the backends of a running relay are
    Status {
        /// Its port, or the URL of its endpoint
        #[arg(default_value = "8080")]
        relay: String,
        /// Shows it again every second until Ctrl-C
        #[arg(long)]
        watch: bool,
        /// Its token
        #[arg(long, value_name = "FILE")]
        token: Option<PathBuf>,
    },
    /// Prints completions for a shell
    Completions { shell: front::Shell },
}

fn main() -> std::process::ExitCode {
    front::main(run)
}

async fn run(args: Args) -> Result<u8, Failure> {
    let check = matches!(args.command, Some(Command::Check));
    args.common.start_log(if check { "error" } else { "warn,mcp_relay=info" });
    match args.command {
        None => serve(args).await,
        Some(Command::Check) => {
            let (entries, _) = read(&args.common)?;
            let relay = Relay::start(entries, None, Relay::patience(), Ready::default());
            relay.settled(Instant::now() + Duration::from_secs(30)).await;
            let (rows, failed) = relay.check();
            front::table(&rows);
            relay.close().await;
            Ok(u8::from(failed))
        }
        Some(Command::Status {
            relay,
            watch,
            token,
        }) => Ok(table::status(&relay, watch, token).await?),
        Some(Command::Completions { shell }) => {
            front::completions::<Args>(shell);
            Ok(0)
        }
    }
}

/// The backends, and the file they stand in.
fn read(common: &Common) -> Result<(Vec<Entry>, Option<PathBuf>), String> {
    match common.file(FILE) {
        Some(file) => Ok((watcher::read(&file)?, Some(file))),
        None => Ok((config::embedded(), None)),
    }
}

async fn serve(args: Args) -> Result<u8, Failure> {
    // Whoever starts it then may be in another directory.
    let file = args.common.file(FILE);
    let files = [("--config", file.as_deref())];
    if let Some(text) = args.front.explain("mcp_relay", "many MCP servers behind one.", &files) {
        eprintln!("{text}");
        return Ok(0);
    }
    let (entries, file) = read(&args.common)?;
    let ready = Ready::default();
    let front = args.front.open(ready.clone(), None).await?;
    if let Some(address) = front.address() {
        eprintln!("http://{address}/mcp");
    }
    let relay = Relay::start(entries, file.clone(), Relay::patience(), ready);
    let watching =
        file.as_ref().map(|file| watcher::watch(&relay, file, watcher::QUIET)).transpose();
    if let Err(why) = &watching {
        tracing::error!("{why}; changes of the file are not seen");
    }
    front.serve(|client| relay.clone().serve(client)).await;
    relay.close().await;
    Ok(0)
}
