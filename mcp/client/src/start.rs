//! How a program around MCP starts and ends: what all of them are told alike, their log, their exit code.
//!
//! Invariant: a failure is one sentence on standard error, behind the program's name, and an exit code that says what kind
//! of thing went wrong.

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, ValueEnum};
pub use clap_complete::Shell;
use tracing_subscriber::EnvFilter;

use crate::Error;

/// The exit code when something was not as it should be: a tool that failed, a server in `check`.
pub const FAILED: u8 = 1;
/// When a configuration or a command line cannot be used.
pub const CONFIG: u8 = 2;
/// When a server cannot be reached.
pub const CONNECTION: u8 = 3;
/// When a server wants a login.
pub const LOGIN: u8 = 4;

/// What every program is told; `#[command(flatten)]` it.
#[derive(clap::Args, Clone, Debug)]
pub struct Common {
    /// The configuration
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How log lines look on standard error; RUST_LOG says which
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub log: Log,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Log {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl Common {
    /// The configuration that was named, or the one that usually lies here, when it is there.
    pub fn file(&self, usual: &str) -> Option<PathBuf> {
        self.config.clone().or_else(|| Some(PathBuf::from(usual)).filter(|file| file.exists()))
    }

    /// Sends the log to standard error; without `RUST_LOG` what `default` says of it, for instance `mcp_relay=info`.
    pub fn start_log(&self, default: &str) {
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
        let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
        match self.log {
            Log::Text => lines.init(),
            Log::Json => lines.json().init(),
        }
    }
}

/// The exit code, and a sentence. A sentence alone speaks of the configuration.
#[derive(Debug)]
pub struct Failure(pub u8, pub String);

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self(CONFIG, why)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self(CONFIG, format!("{error:#}"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Config(_) => CONFIG,
            Error::Connection(_) | Error::Unknown(_) => CONNECTION,
            Error::NeedsLogin(_) => LOGIN,
            Error::Server(_) => FAILED,
        };
        Self(code, error.to_string())
    }
}

/// The `main` of a program: does what was typed, or is one of the embedded servers, when it was started as that.
pub fn main<A, F, E>(run: impl FnOnce(A) -> F) -> ExitCode
where
    A: Parser,
    F: Future<Output = Result<u8, E>>,
    E: Into<Failure>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.map_err(|error| Failure(FAILED, error.to_string())).and_then(|runtime| {
        let done = runtime.block_on(async {
            mock_servers::mcp::serve_when_asked().await;
            run(A::parse()).await.map_err(Into::into)
        });
        // Servers that were started end with their tasks; standard input may be read still.
        runtime.shutdown_background();
        done
    });
    ExitCode::from(done.unwrap_or_else(|Failure(code, why)| {
        eprintln!("{}: {why}", A::command().get_name());
        code
    }))
}

/// Prints completions for a shell.
pub fn completions<A: CommandFactory>(shell: Shell) {
    let mut command = A::command();
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    let _ = std::io::stdout().write_all(&text);
}

/// Prints rows under each other. What a server says moves no cursor, and a cell ends somewhere.
pub fn table(rows: &[impl AsRef<[String]>]) {
    let clean = |cell: &String| kit::cut(&kit::one_line(cell), 300);
    let rows: Vec<Vec<_>> =
        rows.iter().map(|row| row.as_ref().iter().map(clean).collect()).collect();
    let width = |at: usize| rows.iter().filter_map(|row| Some(row.get(at)?.chars().count())).max();
    for row in &rows {
        let cells = row.iter().enumerate();
        let cells = cells.map(|(at, cell)| format!("{cell:0$}", width(at).unwrap_or_default()));
        say(cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

/// A line of an answer. When nobody reads any more there is nothing left to do.
pub fn say(line: impl Display) {
    if writeln!(std::io::stdout(), "{line}").is_err() {
        std::process::exit(0);
    }
}
