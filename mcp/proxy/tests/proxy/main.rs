//! The proxy in front of the course's servers: found, called, held back, missing.
//!
//! Invariant: each test has a memory of its own, and servers that are processes of the program itself.

#[path = "../external/mod.rs"]
mod external;
mod program;
mod recall;
mod s20;
mod templates;
mod trust;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use kit::BoxFuture;
use mcp_client::fleet::Limits;
use mcp_client::{Client, Options, Server, State, Transport, login};
use mcp_proxy::backends::{Standing, read};
use mcp_proxy::index::Tool;
use mcp_proxy::proxy::{Proxy, Setup, discover};
use mcp_proxy::recall::Queries;
use mcp_proxy::settings::Settings;
use mcp_proxy::store::Store;
use mcp_proxy::view::View;
use mcp_relay::service::{self, About, Refusal, Service};
use mcp_wire::Connection;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp_proxy");

fn server(name: &str, arguments: &[&str]) -> Server {
    Server {
        name: name.to_owned(),
        command: PROGRAM.to_owned(),
        args: [&["mock-mcp"], arguments].concat().into_iter().map(str::to_owned).collect(),
        ..Server::default()
    }
}

fn start(folder: &Path, settings: Settings, servers: Vec<Server>) -> Proxy {
    Proxy::start(Setup {
        settings,
        servers,
        logins: Arc::new(login::Store::new(folder, None)),
        limits: Limits::default(),
        store: Store::new(folder),
        wrong: Vec::new(),
    })
}

/// The text of a result, and whether it is an error.
async fn call(proxy: &Proxy, tool: &str, arguments: Value) -> (String, bool) {
    let arguments = to_raw_value(&arguments).unwrap();
    let result = proxy.call(tool, &arguments, |_| {}).await.expect("the tool is listed");
    let result: Value = serde_json::from_str(result.get()).unwrap();
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
}

fn names(view: &View) -> Vec<&str> {
    view.tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[tokio::test]
async fn what_is_found_is_called_as_it_was_answered() {
    let folder = TempDir::new().unwrap();
    let proxy = start(
        folder.path(),
        Settings::default(),
        ["docs", "jira"].map(|it| server(it, &[it])).into(),
    );
    let (found, _) =
        call(&proxy, "discover_tools", json!({"query": "search the documentation", "limit": 1}))
            .await;
    let template = found.lines().find(|line| line.starts_with('{')).expect(&found);
    let mut wanted: Value = serde_json::from_str(template).unwrap();
    assert_eq!(wanted, json!({"tool_name": "search", "arguments": {"query": "<query>"}}));
    wanted["arguments"]["query"] = "agent loop".into();
    let (answer, failed) = call(&proxy, "call_tool", wanted).await;
    assert!(!failed && answer.contains("loop"), "{answer}");
    let log = fs::read_to_string(folder.path().join("calls.jsonl")).unwrap();
    assert!(log.contains(r#""tool":"docs:search""#) && !log.contains("agent loop"), "{log}");
    let (schema, _) =
        call(&proxy, "discover_tools", json!({"query": "jira:create_issue", "detail": "schema"}))
            .await;
    assert!(schema.starts_with("create_issue\n") && schema.contains("\nSchema: {"), "{schema}");
}

#[tokio::test]
async fn an_error_is_the_next_step() {
    let folder = TempDir::new().unwrap();
    let proxy = start(
        folder.path(),
        Settings::default(),
        vec![server("jira", &["jira"]), server("trac", &["jira"])],
    );
    for (arguments, expected) in [
        (
            json!({"tool_name": "log_activity"}),
            "Unknown tool: 'log_activity'. Use discover_tools(\"log activity\") to find the right tool name.",
        ),
        (json!({"tool_name": "creat_isue"}), "Did you mean 'jira:create_issue'?"),
        (
            json!({"tool_name": "create_issue"}),
            "Several servers have 'create_issue'. Use one of: jira:create_issue, trac:create_issue.",
        ),
        (json!({}), "call_tool needs `tool_name`, as discover_tools has answered it"),
        (
            json!({"tool_name": "jira:create_issue", "arguments": "x"}),
            "`arguments` must be an object",
        ),
        (
            json!({"tool_name": "trac:create_issue", "arguments": {"project": "NO", "summary": 3}}),
            "project: \"NO\" is not one of",
        ),
        (
            json!({"tool_name": "trac:create_issue", "arguments": {"project": "NO", "summary": 3}}),
            "summary: 3 is not of type \"string\"",
        ),
        (
            json!({"tool_name": "trac:create_issue"}),
            "{\"tool_name\":\"trac:create_issue\",\"arguments\":{\"project\":\"WEB\",\"summary\":\"<summary>\"}}",
        ),
    ] {
        let (answer, failed) = call(&proxy, "call_tool", arguments.clone()).await;
        assert!(failed && answer.contains(expected), "{arguments}: {answer}");
    }
    for (arguments, expected) in [
        (json!({}), "needs `query`"),
        (json!({"query": "x", "limit": 0}), "`limit` is a number"),
        (json!({"query": "x", "detail": 1}), "`detail` is"),
    ] {
        let (answer, failed) = call(&proxy, "discover_tools", arguments).await;
        assert!(failed && answer.contains(expected), "{answer}");
    }
    let (nothing, failed) =
        call(&proxy, "discover_tools", json!({"query": "zebra crossing"})).await;
    assert_eq!(
        nothing,
        "No tool matches \"zebra crossing\". Try broader terms.\nNo tool knows: zebra, crossing."
    );
    assert!(!failed);
    assert!(proxy.call("create_issue", RawValue::NULL, |_| {}).await.is_none(), "it is not listed");
}

#[tokio::test]
async fn a_tool_that_changes_is_held_back_until_a_person_trusts_it() {
    let folder = TempDir::new().unwrap();
    let proxy = start(
        folder.path(),
        Settings::default(),
        vec![server("docs", &["docs", "--fault", "rug-pull"])],
    );
    let page = json!({"tool_name": "page", "arguments": {}});
    assert!(!call(&proxy, "call_tool", page.clone()).await.1);
    let mut views = proxy.views();
    let view = views.wait_for(|view| !view.held.is_empty()).await.unwrap().clone();
    assert_eq!(view.held[0].1, "it has changed since it was first seen");
    let (answer, failed) = call(&proxy, "call_tool", page.clone()).await;
    assert!(
        failed && answer.starts_with("'page' is held back until the user has looked at it"),
        "{answer}"
    );
    let (found, _) = call(&proxy, "discover_tools", json!({"query": "page"})).await;
    assert!(!found.contains("tool_name") && found.contains("1 tool held back"), "{found}");
    // Another process releases it as it stands; this one notices.
    Store::new(folder.path()).trust(&view.held[0].0).unwrap();
    assert!(!call(&proxy, "call_tool", page).await.1);
    let mode = fs::metadata(folder.path().join("tools.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_list_that_changes_is_followed_and_always_on_tools_appear_as_themselves() {
    let folder = TempDir::new().unwrap();
    let settings = Settings {
        always_on: vec!["docs:*".to_owned(), "create_issue".to_owned()],
        split: true,
        ..Settings::default()
    };
    let servers =
        vec![server("docs", &["docs", "--fault", "list-changed"]), server("jira", &["jira"])];
    let proxy = start(folder.path(), settings, servers);
    let before = proxy.view().await;
    let own = ["discover_tools", "call_tool_read", "call_tool_write"];
    assert_eq!(names(&before)[..3], own);
    assert_eq!(names(&before)[3..], ["search", "get_version", "create_issue"]);
    let hint = |view: &View, at: usize| view.tools[at]["annotations"]["readOnlyHint"].clone();
    assert_eq!((hint(&before, 1), hint(&before, 2)), (json!(true), json!(false)));
    let (answer, failed) =
        call(&proxy, "call_tool_read", json!({"tool_name": "create_issue"})).await;
    assert!(failed && answer.ends_with("Use call_tool_write."), "{answer}");
    assert!(!call(&proxy, "get_version", json!({})).await.1);
    let mut views = proxy.views();
    views.wait_for(|view| names(view).contains(&"late")).await.unwrap();
}

#[tokio::test]
async fn what_is_missing_is_said_everywhere() {
    let folder = TempDir::new().unwrap();
    let synonyms = folder.path().join("synonyms.yaml");
    fs::write(&synonyms, "groups: 7").unwrap();
    let settings = Settings {
        always_on: vec!["nothing".to_owned()],
        synonyms: Some(synonyms),
        embeddings: Some(folder.path().join("none")),
        ..Settings::default()
    };
    let away = server("away", &["docs", "--fault", "exit"]);
    let proxy = start(folder.path(), settings, vec![server("docs", &["docs"]), away]);
    let (found, _) = call(&proxy, "discover_tools", json!({"query": "search"})).await;
    let view = proxy.view().await;
    for said in ["synonyms ", "embeddings: ", "always_on: there is no tool nothing", "away"] {
        assert!(view.instructions().contains(said), "{said}: {}", view.instructions());
        assert!(found.contains(said), "{said}: {found}");
        assert!(
            view.wrongs().iter().any(|wrong| wrong.contains(said)),
            "{said}: {:?}",
            view.wrongs()
        );
    }
    assert!(found.starts_with("search\n"), "what is there is found: {found}");
    fs::write(folder.path().join("tools.json"), "{").unwrap();
    let (found, _) = call(&proxy, "discover_tools", json!({"query": "search"})).await;
    assert!(found.contains("repair it or move it away") && !found.contains("tool_name"), "{found}");
}

/// A server in this process whose only tool answers with its arguments.
struct Echo;

impl Service for Echo {
    fn about(&self) -> About {
        About {
            name: "echo".to_owned(),
            version: "1".to_owned(),
            capabilities: json!({}),
            instructions: String::new(),
        }
    }

    fn tools(&self) -> Vec<Box<RawValue>> {
        let schema = json!({"type": "object", "properties": {"number": {"type": "integer"}}});
        vec![service::raw(json!({"name": "echo", "inputSchema": schema}))]
    }

    fn call(&self, call: service::Call) -> BoxFuture<'static, Result<Box<RawValue>, Refusal>> {
        Box::pin(async move {
            call.progress.report(json!({"progress": 1})).await;
            Ok(service::text(call.arguments.get()))
        })
    }

    fn changes(&self) -> watch::Receiver<()> {
        watch::channel(()).1
    }
}

fn in_process(service: impl Service) -> Server {
    let service = Arc::new(service);
    Server {
        name: "echo".to_owned(),
        transport: Transport::Sdk,
        sdk: Some(Arc::new(move || {
            let (near, far) = Connection::pair();
            tokio::spawn(service::serve(service.clone(), far));
            Box::pin(std::future::ready(Ok(near)))
        })),
        ..Server::default()
    }
}

#[tokio::test]
async fn arguments_reach_the_server_as_they_were_written_and_progress_the_client() {
    let folder = TempDir::new().unwrap();
    let proxy = start(folder.path(), Settings::default(), vec![in_process(Echo)]);
    let client = Client::connect(&in_process(proxy), Options::default()).await.unwrap();
    for number in ["123456789012345678901234567890", "18446744073709551617", "-9223372036854775809"]
    {
        let arguments = format!("{{\"number\": {number}}}");
        let wanted = format!("{{\"tool_name\":\"echo\",\"arguments\":{arguments}}}");
        let wanted = RawValue::from_string(wanted).unwrap();
        let mut reports = 0;
        let answer = client.call("call_tool", wanted, |_| reports += 1).await.unwrap();
        let answer: Value = serde_json::from_str(answer.get()).unwrap();
        assert_eq!((&answer["content"][0]["text"], reports), (&arguments.into(), 1));
    }
}

/// All tools of the data set, as their servers would list them.
fn data() -> Vec<(Server, Standing)> {
    let file: Value = serde_json::from_str(include_str!("../../data/livemcp_tools.json")).unwrap();
    let mut servers: Vec<(Server, Standing)> = Vec::new();
    let mut tools: Vec<_> = file["tools"].as_array().unwrap().iter().collect();
    tools.sort_by_key(|tool| tool["server"].as_str());
    for of in tools.chunk_by(|a, b| a["server"] == b["server"]) {
        let name = of[0]["server"].as_str().unwrap().to_owned();
        let raw: Vec<_> = of.iter().map(|tool| to_raw_value(tool).unwrap()).collect();
        let (tools, left_out) = read(&name, &raw);
        let state = State::Connected;
        let standing = Standing {
            tools,
            left_out,
            state,
            ..Standing::default()
        };
        servers.push((
            Server {
                name,
                ..Server::default()
            },
            standing,
        ));
    }
    servers
}

#[test]
fn many_tools_cost_few_tokens() {
    let tokenizer = tiktoken_rs::o200k_base().unwrap();
    let tokens = |text: &str| tokenizer.encode_ordinary(text).len();
    let folder = TempDir::new().unwrap();
    let view = View::build(&Settings::default(), &Store::new(folder.path()), &[], data());
    let start = serde_json::to_string(&view.tools).unwrap() + &view.instructions();
    assert!(tokens(&start) <= 300, "{} tokens: {start}", tokens(&start));
    assert!(view.held.len() <= 10, "{:?}", view.held);
    let queries: Queries =
        serde_json::from_str(include_str!("../../data/livemcp_step_queries.json")).unwrap();
    let queries = &queries.queries;
    let answers = queries.iter().map(|it| discover(&view, &json!({"query": it.query})).unwrap());
    let answers: Vec<_> = answers.collect();
    let average = answers.iter().map(|answer| tokens(answer)).sum::<usize>() / queries.len();
    let bytes = answers.iter().map(String::len).sum::<usize>() / queries.len();
    println!("tokens: start {}, an answer {average}, at {bytes} bytes", tokens(&start));
    let listed = |tool: &Tool| {
        json!({"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}).to_string()
    };
    let all: Vec<_> = view.index.tools().iter().map(listed).collect();
    let bytes: usize = all.iter().map(String::len).sum();
    let whole: usize = all.iter().map(|tool| tokens(tool)).sum();
    println!(
        "{} tools as listed: {whole} tokens, {bytes} bytes; start {} bytes",
        all.len(),
        start.len()
    );
    assert!(average <= 510, "{average} tokens an answer");
}
