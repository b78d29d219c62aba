//! What is typed, and what becomes of it.
//!
//! Each command is a few lines over the library. Invariant: a failure ends in one sentence on standard error and in the exit
//! code of its kind.

mod adaptor;
mod arguments;
mod conformance;
mod show;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use mcp_client::fleet::{self, Limits};
use mcp_client::sources::{Catalog, Found, Places, Standing};
use mcp_client::{Client, Error, Options, Patience, Server};
use mcp_wire::body;
use serde_json::value::RawValue;

/// A tool that failed, or a server in `check`.
const FAILED: i32 = 1;
/// A configuration that cannot be used.
const CONFIG: i32 = 2;
/// A server that cannot be reached.
pub const CONNECTION: i32 = 3;
/// A server that wants a login.
const LOGIN: i32 = 4;

const EXAMPLES: &str = "Examples:
  mcp_client tools                                     the tools of all servers
  mcp_client call docs search query=\"agent loop\"       calls one
  mcp_client --config some.mcp.json check              connects to everything a file names

Without a configuration the servers are docs, deploy, jira and notion, which are built in.
Exit codes: 0 all well, 1 a tool or a check failed, 2 configuration, 3 connection, 4 login needed.";

/// One connection to an MCP server: any transport, any login, it survives.
#[derive(Parser)]
#[command(name = "mcp_client", version, after_help = EXAMPLES)]
struct Args {
    /// Servers of this file alone
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// How log lines look on standard error; RUST_LOG says which
    #[arg(long, global = true, default_value = "text")]
    log: Log,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, ValueEnum)]
enum Log {
    Text,
    Json,
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
    Call {
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
    },
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
    /// Prints completions for a shell
    Completions { shell: clap_complete::Shell },
    /// What the conformance suite wants of a client
    #[command(hide = true)]
    Conformance { url: String },
}

/// What a server lists.
type Listed = Result<Vec<Box<RawValue>>, Error>;

/// A sentence, and the exit code of its kind.
struct Failure(i32, String);

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

fn config(why: impl Into<String>) -> Failure {
    Failure(CONFIG, why.into())
}

/// Does what was typed; returns the exit code.
pub async fn run() -> i32 {
    let args = Args::parse();
    start_log(args.log);
    let session = match Session::open(args.config.as_deref()) {
        Ok(session) => session,
        Err(Failure(code, why)) => {
            eprintln!("mcp_client: {why}");
            return code;
        }
    };
    let done = tokio::select! {
        done = session.perform(args.command) => done,
        _ = tokio::signal::ctrl_c() => Err(Failure(130, "interrupted".to_owned())),
    };
    done.unwrap_or_else(|Failure(code, why)| {
        eprintln!("mcp_client: {why}");
        code
    })
}

fn start_log(log: Log) {
    let filter = tracing_subscriber::EnvFilter::from_default_env();
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match log {
        Log::Text => lines.init(),
        Log::Json => lines.json().init(),
    }
}

/// A line of an answer. When nobody reads any more there is nothing left to do.
fn say(line: &str) {
    if writeln!(std::io::stdout(), "{line}").is_err() {
        std::process::exit(0);
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

struct Session {
    places: Places,
    catalog: Catalog,
    limits: Limits,
}

impl Session {
    fn open(file: Option<&std::path::Path>) -> Result<Self, Failure> {
        let places = Places::usual(&variable);
        let mut catalog = match file {
            Some(file) => Catalog::of_file(file, &variable),
            None => Catalog::read(&places, &variable),
        };
        if catalog.found.is_empty() && catalog.wrong.is_empty() && file.is_none() {
            catalog = Catalog::embedded();
        }
        let limits = Limits::from_env(&variable).map_err(config)?;
        Ok(Self {
            places,
            catalog,
            limits,
        })
    }

    async fn perform(mut self, command: Command) -> Result<i32, Failure> {
        match command {
            Command::Completions { shell } => {
                clap_complete::generate(
                    shell,
                    &mut Args::command(),
                    "mcp_client",
                    &mut std::io::stdout(),
                );
                return Ok(0);
            }
            Command::Conformance { url } => return conformance::run(&url).await,
            Command::Connect { target, header } => return self.connect(&target, &header).await,
            _ => {}
        }
        let wrong = self.catalog.wrong.iter();
        wrong.for_each(|wrong| eprintln!("mcp_client: {wrong}"));
        match command {
            Command::List => Ok(self.list()),
            Command::Check => Ok(self.check().await),
            Command::Call {
                server,
                tool,
                arguments,
                json,
                out,
            } => {
                let server = self.choose(&server)?;
                self.call(&server, &tool, &arguments, json.as_deref(), out)
                    .await
            }
            Command::Tools { server } => self.show(server, "tools").await,
            Command::Resources { server } => self.show(server, "resources").await,
            Command::Prompts { server } => self.show(server, "prompts").await,
            Command::Completions { .. } | Command::Conformance { .. } | Command::Connect { .. } => {
                Ok(0)
            }
        }
    }

    fn options(&self) -> Options {
        let patience = Patience {
            connect: self.limits.connect,
            ..Patience::default()
        };
        Options {
            patience,
            call: self.limits.call,
            ..Options::default()
        }
    }

    /// The server of this name; asks whether an entry of the project is meant.
    fn choose(&mut self, name: &str) -> Result<Server, Failure> {
        let Some(found) = self.catalog.get(name).cloned() else {
            let names: Vec<_> = self
                .catalog
                .found
                .iter()
                .map(|found| found.name.as_str())
                .collect();
            return Err(config(format!(
                "there is no server {name}; there are: {}",
                names.join(", ")
            )));
        };
        self.allow(&found).map_err(config)?;
        found.server.map_err(config)
    }

    fn allow(&mut self, found: &Found) -> Result<(), String> {
        let name = &found.name;
        let why = match found.standing {
            Standing::Ready => return Ok(()),
            Standing::Disabled => {
                return Err(format!(
                    "{name} is among `disabledMcpjsonServers` of the local settings"
                ));
            }
            Standing::New => "comes with this project",
            Standing::Changed => "has changed since you approved it",
        };
        if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            eprint!(
                "{name} {why}: {}\nUse it? [y/N] ",
                show::clean(&found.entry.to_string(), 500)
            );
            let mut answer = String::new();
            let _ = std::io::stdin().read_line(&mut answer);
            if matches!(answer.trim(), "y" | "Y" | "yes") {
                self.places.approve(found)?;
                let stored = self.catalog.found.iter_mut().filter(|it| it.name == *name);
                stored.for_each(|it| it.standing = Standing::Ready);
                return Ok(());
            }
        }
        Err(format!(
            "{name} {why} and is not approved; `mcp_client tools {name}` in a terminal asks, or name it in \
             `enabledMcpjsonServers` of .claude/settings.local.json"
        ))
    }

    fn list(&self) -> i32 {
        let mut rows = vec![["SERVER", "SOURCE", "TRANSPORT", "OVERRIDES", ""].map(str::to_owned)];
        for found in &self.catalog.found {
            let overrides: Vec<_> = found.overrides.iter().map(ToString::to_string).collect();
            let (kind, note) = match &found.server {
                Err(why) => ("?".to_owned(), why.clone()),
                Ok(server) => (server.transport.to_string(), found.standing.to_string()),
            };
            rows.push([
                found.name.clone(),
                found.source.to_string(),
                kind,
                overrides.join(", "),
                note,
            ]);
        }
        show::table(&rows);
        self.wrong()
    }

    /// Whether the configuration is all right.
    fn wrong(&self) -> i32 {
        let entries = self.catalog.found.iter().any(|found| found.server.is_err());
        if entries || !self.catalog.wrong.is_empty() {
            CONFIG
        } else {
            0
        }
    }

    /// The servers that can be used, and why the others cannot.
    fn usable(&self) -> (Vec<Server>, Vec<(String, String)>) {
        let (mut servers, mut others) = (Vec::new(), Vec::new());
        for found in &self.catalog.found {
            match (&found.server, found.standing) {
                (Ok(server), Standing::Ready) => servers.push(server.clone()),
                (Ok(_), standing) => others.push((found.name.clone(), standing.to_string())),
                (Err(why), _) => others.push((found.name.clone(), why.clone())),
            }
        }
        (servers, others)
    }

    /// What each server lists, and how long that took.
    async fn gather(&self, servers: &[Server], what: &'static str) -> Vec<(Listed, Duration)> {
        let mut gathered = Vec::new();
        let work = |at: usize| async move {
            let began = Instant::now();
            let listed = async {
                let client = Client::connect(&servers[at], self.options()).await?;
                let items = match what {
                    "tools" => client
                        .tools()
                        .await
                        .map(|tools| tools.into_iter().map(|tool| tool.raw).collect()),
                    _ if body::get(&client.hello, &["capabilities", what]).is_none() => {
                        Ok(Vec::new())
                    }
                    _ => client.list(&format!("{what}/list"), what).await,
                };
                client.close().await;
                items
            };
            (listed.await, began.elapsed())
        };
        fleet::each(
            servers,
            self.limits,
            work,
            |at, (listed, time): (Listed, _)| {
                match &listed {
                    Ok(items) => eprintln!(
                        "{}: connected, {}",
                        servers[at].name,
                        kit::counted(items.len(), &what[..what.len() - 1])
                    ),
                    Err(error) => eprintln!("{}: {error}", servers[at].name),
                }
                gathered.push((at, listed, time));
            },
        )
        .await;
        gathered.sort_by_key(|(at, ..)| *at);
        gathered
            .into_iter()
            .map(|(_, listed, time)| (listed, time))
            .collect()
    }

    async fn check(&self) -> i32 {
        let (servers, others) = self.usable();
        let dash = || "-".to_owned();
        let mut rows =
            vec![["SERVER", "TRANSPORT", "STATE", "TOOLS", "TIME", ""].map(str::to_owned)];
        let mut code = self.wrong();
        let gathered = self.gather(&servers, "tools").await;
        for (server, (listed, time)) in servers.iter().zip(gathered) {
            let (state, count, why) = match &listed {
                Ok(tools) => ("connected", tools.len().to_string(), String::new()),
                Err(error @ Error::NeedsLogin(_)) => ("needs-auth", dash(), error.to_string()),
                Err(error) => ("failed", dash(), error.to_string()),
            };
            if listed.is_err() && code == 0 {
                code = FAILED;
            }
            let time = format!("{} ms", time.as_millis());
            rows.push([
                server.name.clone(),
                server.transport.to_string(),
                state.into(),
                count,
                time,
                why,
            ]);
        }
        let others = others
            .into_iter()
            .map(|(name, why)| [name, dash(), "unused".into(), dash(), dash(), why]);
        rows.extend(others);
        show::table(&rows);
        code
    }

    /// Tools, resources or prompts, of one server or of all.
    async fn show(mut self, server: Option<String>, what: &'static str) -> Result<i32, Failure> {
        let (servers, others) = match server {
            Some(name) => (vec![self.choose(&name)?], Vec::new()),
            None => self.usable(),
        };
        others
            .iter()
            .for_each(|(name, why)| eprintln!("{name}: {why}"));
        let mut code = self.wrong();
        for (server, (listed, _)) in servers.iter().zip(self.gather(&servers, what).await) {
            match listed {
                Ok(items) if items.is_empty() => {}
                Ok(items) => {
                    say(&format!("{}:", show::clean(&server.name, 100)));
                    items
                        .iter()
                        .for_each(|item| say(&format!("  {}", show::item(item))));
                }
                Err(error) => code = Failure::from(error).0,
            }
        }
        Ok(code)
    }

    async fn call(
        &self,
        server: &Server,
        tool: &str,
        pairs: &[String],
        json: Option<&str>,
        out: Option<PathBuf>,
    ) -> Result<i32, Failure> {
        let client = Client::connect(server, self.options()).await?;
        let tools = client.tools().await?;
        let Some(known) = tools.iter().find(|it| it.name == tool) else {
            let names: Vec<_> = tools.iter().map(|it| show::clean(&it.name, 60)).collect();
            let why = format!(
                "{} has no tool {tool}; it has: {}",
                server.name,
                names.join(", ")
            );
            return Err(Failure(FAILED, why));
        };
        let arguments = arguments::read(known, pairs, json).map_err(config)?;
        let mut bar = show::Bar::default();
        let answer = client
            .call(tool, arguments, |report| bar.report(report))
            .await;
        bar.clear();
        let code = show::result(&answer?, out.as_deref()).map_err(config)?;
        client.close().await;
        Ok(if code { 0 } else { FAILED })
    }

    async fn connect(&mut self, target: &str, headers: &[String]) -> Result<i32, Failure> {
        let server = if target.contains("://") {
            let split = |header: &String| {
                let (name, value) = header.split_once(':')?;
                Some((name.trim().to_owned(), value.trim().to_owned()))
            };
            let headers = headers.iter().map(|header| {
                split(header).ok_or_else(|| config(format!("--header {header}: it has no colon")))
            });
            Server::at(target, headers.collect::<Result<_, _>>()?).map_err(config)?
        } else {
            self.choose(target)?
        };
        if std::io::stdin().is_terminal() {
            eprintln!("{}", adaptor::explain(target));
            return Ok(0);
        }
        adaptor::run(&server, &self.options())
            .await
            .map_err(config)?;
        Ok(0)
    }
}
