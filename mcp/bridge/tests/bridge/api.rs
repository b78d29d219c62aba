//! The owner over HTTP: each failure is a status, a word and a sentence.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kit::BoxFuture;
use mcp_bridge::config::Config;
use mcp_bridge::database::Database;
use mcp_bridge::host::{Host, Programs};
use mcp_bridge::owner::{Owner, Profile};
use mcp_bridge::schedule;
use mcp_bridge::shim::http;
use mcp_client::config::{Server, Transport};
use mcp_client::fleet::Limits;
use mcp_relay::service::{About, Call, Refusal, Service, raw, serve, text};
use mcp_wire::Connection;
use mock_servers::model::{Request, calls, says};
use s11_recovery::Recovery;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::agents::pass;
use crate::{model, parsed};

/// Who asks, for what, with which body, and what comes: a status, and a part of the answer.
const FAILURES: &str = include_str!("failures.txt");

/// A server of the world outside: it sends mail, hangs, reports, and has schemas of every sort.
pub struct World(pub watch::Sender<()>);

pub fn schemas() -> Vec<Value> {
    let union = json!({"type": "object", "properties": {"to": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"}]}}});
    let refs = json!({"type": "object", "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}, "properties": {"root": {"$ref": "#/$defs/node"}}, "$schema": "https://json-schema.org/draft/2020-12/schema"});
    let one_of = json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {"const": 1}, "b": {"enum": ["x", 2, null]}}});
    let open = json!({"type": "object", "additionalProperties": {"type": "number", "multipleOf": 0.01}, "patternProperties": {"^x-": true}, "x-own": [1e3, -0.5]});
    let closed = json!({"type": "object", "additionalProperties": false, "properties": {}, "not": {"required": ["z"]}, "allOf": [{"if": {"required": ["q"]}, "then": false}]});
    vec![union, refs, one_of, open, closed]
}

impl Service for World {
    fn about(&self) -> About {
        let (name, version) = ("world".to_owned(), "1".to_owned());
        About {
            name,
            version,
            capabilities: json!({}),
            instructions: String::new(),
        }
    }

    fn tools(&self) -> Vec<Box<RawValue>> {
        let tool = |name: &str, hints: Value, schema: &Value| {
            raw(
                json!({"name": name, "description": name, "inputSchema": schema, "annotations": hints, "x-more": {"kept": 12345678901234567890u64}}),
            )
        };
        let mut all = vec![
            tool(
                "send",
                json!({"destructiveHint": false, "openWorldHint": true}),
                &json!({"type": "object"}),
            ),
            tool("hang", json!({"readOnlyHint": true}), &json!({"type": "object"})),
            tool(
                "report",
                json!({"destructiveHint": false, "openWorldHint": false}),
                &json!({"type": "object"}),
            ),
        ];
        all.extend(
            schemas()
                .iter()
                .enumerate()
                .map(|(at, schema)| tool(&format!("schema{at}"), Value::Null, schema)),
        );
        all
    }

    fn call(&self, call: Call) -> BoxFuture<'static, Result<Box<RawValue>, Refusal>> {
        Box::pin(async move {
            match &*call.name {
                "hang" => std::future::pending().await,
                "report" => call.progress.report(json!({"progress": 1, "total": 2})).await,
                _ => {}
            }
            let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
            Ok(match &*call.name {
                "report" => raw(
                    json!({"content": [image], "structuredContent": {"big": 12345678901234567890u64}}),
                ),
                _ => text(format!("{} was done", call.name)),
            })
        })
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }
}

pub const AGENTS: &str = "
agents:
  - { name: one, tools: ['task_*', 'world_*'], tool_budget: 20, process: none, lean_without: [task_update] }
  - { name: two, tools: ['budget_*'], process: none, allowance: 10 }
call_s: 1
";

/// An owner with that server, and whoever changes its tools.
pub async fn host(folder: &Path, model: Recovery) -> (Host, watch::Sender<()>) {
    host_of(parsed(AGENTS, folder).unwrap(), model, jiff::Timestamp::now).await
}

pub async fn host_of(
    mut config: Config,
    model: Recovery,
    clock: schedule::Clock,
) -> (Host, watch::Sender<()>) {
    let changes = watch::channel(()).0;
    let world = Arc::new(World(changes.clone()));
    let sdk = Arc::new(move || -> BoxFuture<'static, _> {
        let (near, far) = Connection::pair();
        tokio::spawn(serve(world.clone(), far));
        Box::pin(async move { Ok(near) })
    });
    config.servers.push(Server {
        name: "world".to_owned(),
        transport: Transport::Sdk,
        sdk: Some(sdk),
        ..Server::default()
    });
    let programs = Programs {
        clock,
        ..Programs::default()
    };
    (Host::open(config, 0, model, programs).await.unwrap(), changes)
}

pub fn relayed() -> (mock_servers::model::MockModel, Recovery) {
    model(|request: &Request| match request.results().last() {
        None => calls("mcp__bridge__world_send", json!({})),
        Some((_, result)) => says(result.clone()),
    })
}

#[tokio::test]
async fn every_failure_has_its_status() {
    let folder = tempfile::tempdir().unwrap();
    let (_mock, model) = relayed();
    let (host, _) = host(folder.path(), model).await;
    let (base, owner) = (format!("http://{}", host.address()), host.owner.clone());
    let token = |name: &str| std::fs::read_to_string(host.tokens.file(name)).unwrap();
    let tokens = [
        ("owner", token("owner")),
        ("one", token("one")),
        ("two", token("two")),
        ("", "wrong".to_owned()),
    ];
    let state = folder.path().join(".mcp_bridge").metadata().unwrap();
    assert_eq!(state.mode() & 0o777, 0o700, "others may read the database");
    let serving = tokio::spawn(host.serve());
    let ask = async |who: &str, path: &str, body: Option<&str>| {
        let token = &tokens.iter().find(|(name, _)| *name == who).unwrap().1;
        let request = match body {
            None => http().get(format!("{base}{path}")),
            Some(body) => http().post(format!("{base}{path}")).body(body.to_owned()),
        };
        let response = request.bearer_auth(token).send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str::<Value>(&text).unwrap_or_else(|_| json!(text)))
    };
    for row in FAILURES.lines().filter(|row| !row.starts_with('#')) {
        let cells: Vec<_> = row.split(" | ").map(str::trim).collect();
        let [who, path, body, status, word] = cells[..] else { panic!("{row}") };
        let who = if who == "nobody" { "" } else { who };
        let (got, answer) = ask(who, path, (body != "-").then_some(body)).await;
        let said = answer["error"]["message"]
            .as_str()
            .map_or(answer.to_string(), |why| format!("{why} {}", answer["error"]["type"]));
        assert!(got.to_string() == status && said.contains(word), "{row}: {got} {answer}");
        assert_eq!(answer["error"]["type"].is_string(), got != 200, "{row}: {answer}");
    }
    let streamed = http().post(format!("{base}/api/internal/tools/two/nothing")).body("{}");
    let streamed = streamed.bearer_auth(&tokens[2].1).header("Accept", "text/event-stream");
    assert_eq!(streamed.send().await.unwrap().status(), 404);
    // A prompt that nobody watches has the lean profile, whoever calls for it.
    let one = owner.agent("one").unwrap();
    owner.begin(one, Profile::Lean);
    let tools = "/api/internal/tools";
    let (_, list) = ask("one", &format!("{tools}/one"), None).await;
    let names: Vec<_> =
        list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["task_create", "task_list", "world_hang", "world_report"]);
    for tool in ["world_send", "task_update", "world_schema0"] {
        let (status, answer) = ask("one", &format!("{tools}/one/{tool}"), Some("{}")).await;
        assert!(status == 403 && answer["error"]["type"] == "not_in_profile", "{tool}: {answer}");
    }
    owner.begin(one, Profile::Full);
    let (_, audit) = ask("owner", "/api/audit?limit=100", None).await;
    let audit: Vec<_> = audit
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            format!("{} {}", line["tool"].as_str().unwrap(), line["outcome"].as_str().unwrap())
        })
        .collect();
    for line in [
        "task_create ok",
        "task_update tool error",
        "world_hang 408 timed_out",
        "world_send ok",
        "nothing 404 no_such_tool",
    ] {
        assert!(audit.iter().any(|it| it == line), "{line}: {audit:?}");
    }
    serving.abort();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_is_missing_until_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = parsed("agents: [{name: a, tools: ['late_*']}]", folder.path()).unwrap();
    let world = Arc::new(World(watch::channel(()).0));
    let tries = Arc::new(AtomicUsize::new(0));
    let sdk = Arc::new(move || -> BoxFuture<'static, _> {
        let (near, far) = Connection::pair();
        if tries.fetch_add(1, Ordering::Relaxed) > 1 {
            tokio::spawn(serve(world.clone(), far));
        }
        Box::pin(async move { Ok(near) })
    });
    config.servers.push(Server {
        name: "late".to_owned(),
        transport: Transport::Sdk,
        sdk: Some(sdk),
        ..Server::default()
    });
    let owner = Owner::new(config, Database::open(Path::new(":memory:")).unwrap());
    owner.connect(Limits::default()).await;
    let missing = owner.ready.missing();
    assert!(missing.len() == 1 && missing[0].starts_with("late: "), "{missing:?}");
    let agent = &owner.config.agents[0];
    assert_eq!(owner.tools(agent, Profile::Full).len(), 0);
    while !owner.ready.missing().is_empty() {
        pass(1).await;
    }
    assert_eq!(owner.tools(agent, Profile::Full).len(), 8);
}
