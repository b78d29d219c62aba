//! `mcp_relay`: many MCP servers behind one.
//!
//! Invariant: standard output has frames, or the table that was asked for; all else goes to standard error, and the exit
//! code says what kind of thing went wrong.

mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory, Parser, Subcommand};
use mcp_relay::config::Entry;
use mcp_relay::front::{self, Ready};
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
struct Args {
    /// The backends; `backends.yaml` in this directory when it is there
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
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
    Completions { shell: clap_complete::Shell },
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let code = match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(async {
                mock_servers::mcp::serve_when_asked().await;
                run(Args::parse()).await
            });
            // Standard input may be read still.
            runtime.shutdown_background();
            code
        }
        Err(error) => Err(error.to_string()),
    };
    ExitCode::from(code.unwrap_or_else(|why| {
        eprintln!("mcp_relay: {why}");
        2
    }))
}

async fn run(args: Args) -> Result<u8, String> {
    let check = matches!(args.command, Some(Command::Check));
    args.front.start_log(if check { "error" } else { "warn,mcp_relay=info" });
    match args.command {
        None => serve(args).await,
        Some(Command::Check) => {
            let (entries, _) = read(args.config)?;
            let relay = Relay::start(entries, None, Relay::patience(), Ready::default());
            relay.settled(Instant::now() + Duration::from_secs(30)).await;
            let rows = relay.rows();
            let failed = rows.iter().any(|row| row.failed);
            table::print(&rows.into_iter().map(|row| row.cells).collect::<Vec<_>>());
            relay.close().await;
            Ok(u8::from(failed))
        }
        Some(Command::Status {
            relay,
            watch,
            token,
        }) => table::status(&relay, watch, token).await,
        Some(Command::Completions { shell }) => {
            let mut out = std::io::stdout();
            clap_complete::generate(shell, &mut Args::command(), "mcp_relay", &mut out);
            Ok(0)
        }
    }
}

/// The backends, and the file they stand in.
fn read(config: Option<PathBuf>) -> Result<(Vec<Entry>, Option<PathBuf>), String> {
    let file = config.or_else(|| Some(PathBuf::from(FILE)).filter(|file| file.exists()));
    match file {
        Some(file) => Ok((watcher::read(&file)?, Some(file))),
        None => Ok((config::embedded(), None)),
    }
}

async fn serve(args: Args) -> Result<u8, String> {
    let words = args.config.iter().flat_map(|file| {
        let file = file.canonicalize().unwrap_or_else(|_| file.clone());
        ["--config".to_owned(), file.display().to_string()]
    });
    if let Some(text) =
        args.front.explain("mcp_relay", "many MCP servers behind one.", &words.collect::<Vec<_>>())
    {
        eprintln!("{text}");
        return Ok(0);
    }
    let (entries, file) = read(args.config)?;
    let ready = Ready::default();
    let front = args.front.open(ready.clone(), None).await?;
    if let Some(address) = front.address() {
        eprintln!("http://{address}/mcp");
    }
    let relay = Relay::start(entries, file.clone(), Relay::patience(), ready);
    let watching = file.as_ref().map(|file| watcher::watch(&relay, file)).transpose();
    if let Err(why) = &watching {
        tracing::error!("{why}; changes of the file are not seen");
    }
    front.serve(|client| relay.clone().serve(client)).await;
    relay.close().await;
    Ok(0)
}
