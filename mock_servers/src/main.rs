//! `cargo run -p mock_servers -- model`: the mock model as a server of its own.
//!
//! A class may share one, a client in another language may be tried against it, and its log shows what a harness sends.
//! `cargo run -p mock_servers -- watch`: a proxy before a real model, whose loop becomes visible.
//! Invariant: the first line of standard output is the address; everything else goes to standard error.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, value_parser};
use mock_servers::mcp::{self, Served};
use mock_servers::model::{Fault, Log, MockModel, Options, Rehearsal, faults};
use mock_servers::watch::proxy::Proxy;

/// The mock model, a proxy that shows what a real one is sent, and the mock MCP servers.
#[derive(Parser)]
#[command(name = "mock_servers", disable_help_subcommand = true, after_help = mcp_usage())]
enum Start {
    /// A Messages API on 127.0.0.1 that needs neither key nor network
    ///
    /// It prints its address, which shows every request as it arrives when it is opened in a browser, and runs until it is
    /// ended. Requests are logged to standard error.
    Model(Model),
    /// A proxy on 127.0.0.1 before a real Messages API
    ///
    /// It prints its address: set ANTHROPIC_BASE_URL to it, and open it in a browser to see every request as it arrives. Keys
    /// pass through and are not kept.
    Watch {
        /// The port; a free one without it
        #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
        http: u16,
        /// The API
        #[arg(long, value_name = "URL", default_value = "https://api.anthropic.com")]
        upstream: String,
        /// Print what is new in each request, and the answer, to standard error
        #[arg(long)]
        show: bool,
    },
    /// A mock MCP server, by its name.
    #[command(external_subcommand)]
    Mcp(Vec<String>),
}

#[derive(Args)]
#[command(after_help = format!("Faults:\n{}", Fault::list()))]
struct Model {
    /// The port; a free one without it
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    http: u16,
    /// Print what is new in each request, and the answer
    #[arg(long)]
    show: bool,
    /// Refuse requests without a key
    #[arg(long)]
    require_key: bool,
    /// The size of the context window (MOCK_CONTEXT_TOKENS)
    #[arg(long, value_name = "N")]
    context_tokens: Option<u32>,
    /// How fast replies come; at once without it (MOCK_TOKENS_PER_SECOND)
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    tokens_per_second: Option<u32>,
    /// What the first requests get, as in 429:2,stall (MOCK_MODEL_FAULTS)
    #[arg(long, value_name = "LIST")]
    faults: Option<String>,
}

fn main() -> ExitCode {
    let (ended, code) = match Start::parse() {
        Start::Mcp(words) if words.iter().any(|word| word == "-h" || word == "--help") => {
            println!("{}", mcp_usage());
            (Ok(()), 0)
        }
        // A command line that is wrong has another code than a server that fails.
        Start::Mcp(words) => match Served::parse(words.into_iter()) {
            Ok(served) => (until_ended(served.run()), 1),
            Err(wrong) => (Err(wrong), 2),
        },
        Start::Watch {
            http,
            upstream,
            show,
        } => (watch(http, &upstream, show), 2),
        Start::Model(flags) => (serve(flags), 2),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::from(code)
        }
    }
}

/// Runs the mock model until the process is ended.
fn serve(flags: Model) -> Result<(), String> {
    let mut options = Options::from_env()?;
    options.port = flags.http;
    options.require_key = flags.require_key;
    options.log = Some(to_standard_error());
    options.show = flags.show.then(to_standard_error);
    options.context_tokens = flags.context_tokens.unwrap_or(options.context_tokens);
    options.tokens_per_second = flags.tokens_per_second.or(options.tokens_per_second);
    if let Some(list) = flags.faults {
        options.faults = faults(&list).map_err(|wrong| format!("--faults: {wrong}"))?;
    }
    let model = MockModel::start(options, Rehearsal);
    let model = model.map_err(|error| format!("Port {} cannot be taken: {error}", flags.http))?;
    println!("{}", model.url());
    loop {
        std::thread::park();
    }
}

fn watch(port: u16, upstream: &str, show: bool) -> Result<(), String> {
    let proxy = Proxy::bind(port, upstream, show.then(to_standard_error))?;
    println!("{}", proxy.url());
    until_ended(async {
        proxy.run().await;
        Ok(())
    })
}

fn until_ended(server: impl Future<Output = Result<(), String>>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let ended = runtime.block_on(server);
    // A thread may still wait for a terminal's next line.
    runtime.shutdown_background();
    ended
}

fn to_standard_error() -> Log {
    Arc::new(|line| eprintln!("{line}"))
}

fn mcp_usage() -> String {
    format!(
        "Usage: mock_servers {}|{} [OPTIONS]

A mock MCP server. Over HTTP it prints its address and runs until it is ended.

Options:
  --stdio                   over standard input and output, which is the default
  --http PORT               over streamable HTTP on 127.0.0.1; 0 takes a free port
  --ws PORT                 over WebSocket on 127.0.0.1; 0 takes a free port
  --fault NAME[,NAME]       what goes wrong; may be repeated

Faults:
{}

Those from `hang` on spoil the answer to a call, and with -start or -list behind the name
the answer to initialize or tools/list.",
        mcp::NAMES.join("|"),
        mcp::ALERTS,
        mcp::Fault::list()
    )
}
