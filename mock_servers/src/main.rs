//! `cargo run -p mock_servers -- model`: the mock model as a server of its own.
//!
//! A class may share one, a client in another language may be tried against it, and its log shows what a harness sends.
//! `cargo run -p mock_servers -- watch`: a proxy before a real model, whose loop becomes visible.
//! Invariant: the first line of standard output is the address; everything else goes to standard error.

use std::process::ExitCode;
use std::sync::Arc;

use mock_servers::model::{Fault, Log, MockModel, Options, Rehearsal, faults};

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    match start(&arguments) {
        Ok(Start::Model(model)) => {
            println!("{}", model.url());
            // The server has its own thread and runs until the process is ended.
            loop {
                std::thread::park();
            }
        }
        #[cfg(feature = "watch")]
        Ok(Start::Watch(proxy)) => {
            println!("{}", proxy.url());
            runtime().map_or_else(failed, |runtime| {
                runtime.block_on(proxy.run());
                ExitCode::SUCCESS
            })
        }
        #[cfg(feature = "mcp")]
        Ok(Start::Mcp(served)) => serve(served),
        Ok(Start::Help) => {
            println!("{}", usage());
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::from(2)
        }
    }
}

enum Start {
    Model(MockModel),
    #[cfg(feature = "watch")]
    Watch(mock_servers::watch::proxy::Proxy),
    #[cfg(feature = "mcp")]
    Mcp(mock_servers::mcp::Served),
    Help,
}

/// Serves one MCP server until its client is gone.
#[cfg(feature = "mcp")]
fn serve(served: mock_servers::mcp::Served) -> ExitCode {
    runtime().map_or_else(failed, |runtime| {
        let ended = runtime.block_on(served.run());
        // A thread may still wait for a terminal's next line.
        runtime.shutdown_background();
        ended.map_or_else(failed, |()| ExitCode::SUCCESS)
    })
}

#[cfg(any(feature = "mcp", feature = "watch"))]
fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build();
    runtime.map_err(|error| error.to_string())
}

#[cfg(any(feature = "mcp", feature = "watch"))]
fn failed(wrong: String) -> ExitCode {
    eprintln!("{wrong}");
    ExitCode::FAILURE
}

fn start(arguments: &[String]) -> Result<Start, String> {
    #[cfg(feature = "mcp")]
    if let Some(name) = arguments.first()
        && mock_servers::mcp::MockServer::named(name).is_some()
    {
        if arguments.iter().any(|flag| flag == "-h" || flag == "--help") {
            return Ok(Start::Help);
        }
        let served = mock_servers::mcp::Served::parse(arguments.iter().cloned())?;
        return Ok(Start::Mcp(served));
    }
    let mut arguments = arguments.iter().map(String::as_str);
    match arguments.next() {
        Some("model") => {}
        #[cfg(feature = "watch")]
        Some("watch") => return watch(arguments),
        Some("help" | "-h" | "--help") => return Ok(Start::Help),
        Some(other) => return Err(format!("There is no server `{other}`.\n\n{}", usage())),
        None => return Err(usage()),
    }
    let Some(options) = options(arguments)? else {
        return Ok(Start::Help);
    };
    let port = options.port;
    let model = MockModel::start(options, Rehearsal);
    let model = model.map_err(|error| format!("Port {port} cannot be taken: {error}"))?;
    Ok(Start::Model(model))
}

/// The proxy of `watch`.
#[cfg(feature = "watch")]
fn watch<'a>(mut flags: impl Iterator<Item = &'a str>) -> Result<Start, String> {
    let (mut port, mut show) = (0, None);
    let mut upstream = "https://api.anthropic.com";
    while let Some(flag) = flags.next() {
        let mut value = || flags.next().ok_or_else(|| format!("{flag} needs a value."));
        match flag {
            "-h" | "--help" => return Ok(Start::Help),
            "--http" => port = number(flag, value()?)?,
            "--upstream" => upstream = value()?,
            "--show" => show = Some(to_standard_error()),
            other => return Err(format!("There is no option `{other}`.\n\n{}", usage())),
        }
    }
    mock_servers::watch::proxy::Proxy::bind(port, upstream, show).map(Start::Watch)
}

fn to_standard_error() -> Log {
    Arc::new(|line| eprintln!("{line}"))
}

/// The options of the environment, changed by flags; `None` when help is asked for.
fn options<'a>(mut flags: impl Iterator<Item = &'a str>) -> Result<Option<Options>, String> {
    let mut options = Options::from_env()?;
    options.log = Some(to_standard_error());
    while let Some(flag) = flags.next() {
        let mut value = || flags.next().ok_or_else(|| format!("{flag} needs a value."));
        match flag {
            "-h" | "--help" => return Ok(None),
            "--http" => options.port = number(flag, value()?)?,
            "--show" => options.show = Some(to_standard_error()),
            "--require-key" => options.require_key = true,
            "--context-tokens" => options.context_tokens = number(flag, value()?)?,
            "--tokens-per-second" => options.tokens_per_second = Some(number(flag, value()?)?),
            "--faults" => {
                options.faults = faults(value()?).map_err(|wrong| format!("{flag}: {wrong}"))?;
            }
            other => return Err(format!("There is no option `{other}`.\n\n{}", usage())),
        }
    }
    if options.tokens_per_second == Some(0) {
        return Err("--tokens-per-second 0: nothing would ever arrive.".to_owned());
    }
    Ok(Some(options))
}

fn number<T: std::str::FromStr>(flag: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{flag} {text}: expected a whole number in range."))
}

fn usage() -> String {
    let model = format!(
        "Usage: mock_servers model [OPTIONS]

The mock model: a Messages API on 127.0.0.1 that needs neither key nor network.
It prints its address, which shows every request as it arrives when it is opened in a browser, and runs until it is
ended. Requests are logged to standard error.

Options:
  --http PORT               the port; a free one without it
  --show                    print what is new in each request, and the answer
  --require-key             refuse requests without a key
  --context-tokens N        the size of the context window (MOCK_CONTEXT_TOKENS)
  --tokens-per-second N     how fast replies come; at once without it (MOCK_TOKENS_PER_SECOND)
  --faults LIST             what the first requests get, as in 429:2,stall (MOCK_MODEL_FAULTS)

Faults:
{}",
        Fault::list()
    );
    #[cfg(feature = "watch")]
    let model = format!("{model}\n\n{WATCH_USAGE}");
    #[cfg(feature = "mcp")]
    let model = format!("{model}\n\n{}", mcp_usage());
    model
}

#[cfg(feature = "watch")]
const WATCH_USAGE: &str = "Usage: mock_servers watch [OPTIONS]

A proxy on 127.0.0.1 before a real Messages API. It prints its address: set ANTHROPIC_BASE_URL to it, and open it in a
browser to see every request as it arrives. Keys pass through and are not kept.

Options:
  --http PORT               the port; a free one without it
  --upstream URL            the API; https://api.anthropic.com without it
  --show                    print what is new in each request, and the answer, to standard error";

#[cfg(feature = "mcp")]
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
        mock_servers::mcp::NAMES.join("|"),
        mock_servers::mcp::ALERTS,
        mock_servers::mcp::Fault::list()
    )
}
