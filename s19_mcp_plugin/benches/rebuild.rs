//! What it costs to make pool and prompt anew for each request, with few tools and with thousands.
//!
//! The chapter gives up the prompt cache of s10, because what servers offer changes while the session runs. This is the
//! price, beside the request that follows. Invariant: nothing here asserts; figures are for a reader.
//!
//! `cargo bench -p s19_mcp_plugin --bench rebuild`, and with `--profile dev` for what a class runs.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mock_servers::mcp::{MockServer, MockTool};
use mock_servers::model::{MockModel, Options, Request, says};
use rmcp::ServiceExt;
use rmcp::model::{Tool, ToolAnnotations, object};
use rmcp::transport::stdio_pipes;
use s01_loop::{Client, History, Repl, Settings, System, ToolCall, ToolSpec, Unobserved};
use s02_tools::{Toolbox, Workspace, bash, read_file, write_file};
use s10_cache::{Context, PromptCache, assemble};
use s19_mcp_plugin::{Mcp, StdioServerConfig};
use serde_json::{Map, json};

const COUNTS: [usize; 4] = [10, 100, 1_000, 5_000];
const REQUESTS: usize = 15;
/// The word after which this program is a server with as many tools as the next word says.
const SERVE: &str = "serve";

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, count] = &arguments[..]
        && word == SERVE
    {
        let count = count.parse().expect("a number of tools");
        return runtime.block_on(serve(count));
    }
    println!(
        "| tools | bytes | pool, µs | prompt, µs | … with s10's cache, µs | request, µs | share of a turn | … with s10's cache |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|");
    for count in COUNTS {
        runtime.block_on(row(count));
    }
}

async fn row(count: usize) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ws = Workspace::at(directory.path()).expect("a workspace");
    let built_in = Toolbox::new().with(bash(&ws)).with(read_file(&ws)).with(write_file(&ws));
    let mcp = connected(&ws, count).await;

    let pool = || built_in.clone().with_all(mcp.tools());
    let tools = pool();
    let context = || Context::read(&ws, &tools).servers(mcp.servers());
    let fresh = || {
        let context = context();
        (assemble(&context), tools.specs())
    };
    let mut cache = PromptCache::new(&Repl::typed("s19").quiet());
    cache.assemble(context());
    let made = median(pool);
    let anew = median(fresh);
    let kept = median(|| cache.assemble(context()));
    let (system, specs) = fresh();
    let request = request(&system, &specs).await;

    let share = |prompt: Duration| {
        let harness = (made + prompt).as_secs_f64();
        format!("{:.0} %", 100.0 * harness / (harness + request.as_secs_f64()))
    };
    let bytes = system.size() + specs.iter().map(|spec| spec.wire().len()).sum::<usize>();
    println!(
        "| {count} | {bytes} | {} | {} | {} | {} | {} | {} |",
        made.as_micros(),
        anew.as_micros(),
        kept.as_micros(),
        request.as_micros(),
        share(anew),
        share(kept)
    );
    mcp.shut_down().await;
}

/// A session with a server that has this many tools.
async fn connected(ws: &Workspace, count: usize) -> Mcp {
    let config = StdioServerConfig {
        name: "many".to_owned(),
        command: std::env::current_exe().expect("this program"),
        args: vec![SERVE.to_owned(), count.to_string()],
        ..StdioServerConfig::default()
    };
    let mcp = Mcp::with_servers(ws, &Repl::typed("bench").quiet(), [config]);
    let call = ToolCall {
        id: "toolu_1".to_owned(),
        name: "connect_mcp".to_owned(),
        input: json!({"name": "many"}),
        extra: Map::new(),
    };
    let answer = mcp.connect_tool().call(call).await;
    assert!(!answer.is_error, "{}", answer.text);
    mcp
}

/// The median time of a request with these tools, to the mock model.
async fn request(system: &System, specs: &[ToolSpec]) -> Duration {
    let options = Options {
        context_tokens: 10_000_000,
        ..Options::default()
    };
    let model = MockModel::start(options, |_: &Request| says("Yes.")).expect("a mock model");
    let settings = Settings {
        base_url: Some(model.url().to_owned()),
        ..Settings::default()
    };
    let client = Client::new(settings, Arc::new(Unobserved)).expect("a client");
    let mut history = History::default();
    history.user("Is it there?");
    let mut times = Vec::new();
    for _ in 0..REQUESTS {
        let start = Instant::now();
        let reply = client.send(system.clone(), &history, specs).await;
        black_box(reply.expect("a reply"));
        times.push(start.elapsed());
    }
    times.sort();
    times[times.len() / 2]
}

fn median<T>(mut work: impl FnMut() -> T) -> Duration {
    let began = Instant::now();
    let mut times = Vec::new();
    while times.len() < 500 && (times.len() < 15 || began.elapsed() < Duration::from_secs(2)) {
        let start = Instant::now();
        black_box(work());
        times.push(start.elapsed());
    }
    times.sort();
    times[times.len() / 2]
}

/// A server with this many tools.
async fn serve(count: usize) {
    let server = (0..count).fold(MockServer::new("many", ""), |server, number| {
        server.tool(MockTool::dummy(tool(number)))
    });
    let running = server.serve(stdio_pipes()).await.expect("the client shakes hands");
    let _ = running.waiting().await;
}

fn tool(number: usize) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "key": {"type": "string", "description": "The key of the record."},
            "version": {"type": "integer", "minimum": 1, "description": "Which version of it."},
        },
        "required": ["key"],
        "additionalProperties": false,
    });
    let description = "Looks up a record by its key and gives its fields, the newest version unless another is named.";
    let reads = ToolAnnotations::new().read_only(number.is_multiple_of(2));
    Tool::new(format!("look_up_record_{number}"), description, object(schema)).annotate(reads)
}
