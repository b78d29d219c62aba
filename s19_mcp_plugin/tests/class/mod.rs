//! The lesson as a class sees it: a server is connected, its tools are there at once, and the harness stays in charge.
//!
//! Invariant: after each run nothing that it started is left.

mod bad_days;
mod rehearsed;
mod session;

use std::sync::Arc;

use mock_servers::model::{Block, Brain, MockModel, Options, Reply, Request, calls, says};
use serde_json::json;
use testkit::team::teammate;
use testkit::{Class, Ran, assert_pool};

const SEARCH: &str = "Connect to the docs MCP server and search for something";
const DEPLOY: &str = "Connect to the deploy server and trigger a deployment";
const BOTH: &str = "Connect both servers — what tools are now available?";

const EXE: &str = env!("CARGO_BIN_EXE_s19_mcp_plugin");

fn class() -> Class {
    Class::new(EXE).file("README.md", "# Demo\n\nA small project.\n")
}

/// A class with a `.mcp.json` that names these servers: mock servers, started as NAME with FAULT.
fn class_with(servers: &[(&str, &str, &str)]) -> Class {
    let entry = |(name, mock, fault): &(&str, &str, &str)| {
        let args = ["mock-mcp", mock, "--fault", fault];
        let args = if fault.is_empty() { &args[..2] } else { &args[..] };
        ((*name).to_owned(), json!({"command": EXE, "args": args}))
    };
    let mut servers: serde_json::Map<_, _> = servers.iter().map(entry).collect();
    servers.insert("nowhere".to_owned(), json!({"command": "/nowhere/server"}));
    class().file(".mcp.json", json!({ "mcpServers": servers }).to_string())
}

/// Nobody is asked before a server of the file is started.
fn trusting(class: Class) -> Class {
    let settings = json!({"permissions": {"allow": ["connect_mcp"]}});
    class.file(".harness/settings.json", settings.to_string())
}

fn model(brain: impl Brain + 'static) -> MockModel {
    MockModel::start(Options::strict(), brain).unwrap()
}

fn connect(name: &str) -> Reply {
    calls("connect_mcp", json!({ "name": name }))
}

/// Runs, and looks at what is left of it: nothing.
#[track_caller]
fn run(class: &Class, lines: &[&str]) -> Ran {
    let ran = class.types(lines);
    ran.succeeds();
    class.nothing_runs_there();
    ran
}

/// What each request of the lead offers from servers.
fn offers(model: &MockModel) -> Vec<Vec<String>> {
    let mut requests = model.requests();
    requests.retain(|request| teammate(request).is_none());
    let from_servers = |request: &Arc<Request>| {
        let mut names = request.tool_names();
        names.retain(|name| name.starts_with("mcp__"));
        names
    };
    requests.iter().map(from_servers).collect()
}

/// A reply is answered with the pool that it was sent with: a tool that is called beside its connect_mcp is not there yet.
#[test]
fn a_server_brings_its_tools_in_the_same_turn_and_not_in_the_same_reply() {
    let search = || ("mcp__docs__search", json!({"query": "agent loop"}));
    let model = model(move |request: &Request| match request.calls().len() {
        0 => connect("docs").and_calls(search().0, search().1),
        1 => calls(search().0, search().1),
        _ => says("Found it."),
    });
    run(&class().model(&model), &[SEARCH]).shows("Found it.").never_shows("needs permission");
    let requests = model.requests();
    let counts: Vec<usize> = requests.iter().map(|request| request.tools.len()).collect();
    assert_eq!(counts, [18, 20, 20]);
    let results = requests[2].results();
    let [(false, connected), (true, unknown), (false, found)] = &results[..] else {
        panic!("{results:?}");
    };
    let discovered = "Connected to 'docs'. Discovered: search, get_version";
    assert_eq!(connected, discovered);
    assert!(unknown.starts_with("there is no tool `mcp__docs__search`"), "{unknown}");
    assert!(found.contains("s01"), "{found}");
    assert!(!requests[0].system.contains("# Servers"));
    let section = requests[1].system.split_once("# Servers\n").unwrap().1;
    assert!(section.contains("\n- docs: 2 tools. It says of itself: \""), "{section}");
    for tool in &*requests[1].tools {
        let is_theirs = tool.name.starts_with("mcp__docs__");
        assert_eq!(tool.description.ends_with("(readOnly)"), is_theirs, "{tool:?}");
    }
}

/// Triggers a deployment of web, asks for its status, and says what came of both.
fn deploys(request: &Request) -> Reply {
    let web = || json!({"service": "web"});
    match request.calls().len() {
        0 => connect("deploy"),
        1 => calls("mcp__deploy__trigger", web()).and_calls("mcp__deploy__status", web()),
        _ => says(match &request.results()[1] {
            (false, _) => "It is on its way.",
            (true, _) => "You said no.",
        }),
    }
}

#[test]
fn what_a_server_calls_destructive_asks_and_what_reads_does_not() {
    let yes = model(deploys);
    let ran = run(&class().model(&yes), &[DEPLOY, "y"]);
    ran.shows(
        "mcp__deploy__trigger needs permission:\n  service: web\nits server calls it destructive; ",
    );
    ran.shows("It is on its way.").never_shows("mcp__deploy__status needs permission");
    let offered = ["trigger", "status", "logs"].map(|tool| format!("mcp__deploy__{tool}"));
    assert_eq!(offers(&yes)[1..], [&offered, &offered]);

    let no = model(deploys);
    run(&class().model(&no), &[DEPLOY, "n"]).shows("You said no.");
    let results = no.last_request().results();
    let [_, (true, refused), (false, status)] = &results[..] else {
        panic!("{results:?}");
    };
    assert!(refused.contains("permission denied"), "{refused}");
    assert!(status.contains("live") && !status.contains("queued"), "{status}");
}

#[test]
fn the_tool_pool() {
    let model = model(|request: &Request| {
        match (teammate(request).is_some(), request.calls().len()) {
            (true, 0) => calls("mcp__docs__search", json!({"query": "agent loop"})),
            (true, _) => says("I do not have that tool."),
            (false, 0) => connect("docs"),
            (false, 1) => calls(
                "spawn_teammate",
                json!({"name": "alice", "role": "reader", "prompt": "Call mcp__docs__search for agent loop."}),
            ),
            (false, _) => says("Waiting for alice."),
        }
    });
    let class = class().git().model(&model);
    run(&class, &["Let alice search the docs"]);
    let requests = model.requests();
    let mut mates = requests.iter();
    let mate = mates.rfind(|request| teammate(request).is_some()).unwrap();
    let results = mate.results();
    let [(true, answer)] = &results[..] else {
        panic!("{results:?}");
    };
    assert!(answer.starts_with("there is no tool `mcp__docs__search`"), "{answer}");
    assert!(!mate.system.contains("# Servers"));
    let lead = requests[1].tool_names();
    let (built_in, servers) = lead.split_at(lead.len() - 2);
    assert_eq!(servers, ["mcp__docs__search", "mcp__docs__get_version"]);
    let pools = [("lead", built_in.to_vec()), ("teammate", mate.tool_names())];
    assert_pool(env!("CARGO_MANIFEST_DIR"), pools);
}

#[test]
fn a_server_of_the_file_is_started_when_the_user_says_so() {
    for (answer, is_started) in [("n", false), ("y", true)] {
        let model = model(|request: &Request| match request.calls().len() {
            0 => connect("team docs"),
            _ => says("Done."),
        });
        let class = class_with(&[("team docs", "docs", "")]).model(&model);
        let ran = run(&class, &["Connect to the team's docs", answer]);
        ran.shows(&format!(
            "connect_mcp needs permission:\n  name: team docs\n  runs: {EXE} mock-mcp docs\n"
        ));
        let (is_error, text) = model.last_request().results().remove(0);
        assert_eq!(is_error, !is_started, "{text}");
        let offered = offers(&model).pop().unwrap();
        let tools = ["mcp__team_docs__search", "mcp__team_docs__get_version"];
        let expected = if is_started { &tools[..] } else { &[] };
        assert_eq!(offered, expected);
    }
}

#[test]
fn a_rule_lets_a_server_start_and_another_lets_its_tools_run() {
    let settings = json!({"permissions": {
        "allow": [format!("connect_mcp({EXE} mock-mcp:*)"), "mcp__ops__*"], "deny": ["mcp__ops__trigger"],
    }});
    let model = model(|request: &Request| match request.calls().len() {
        0 => connect("ops"),
        1 => calls("mcp__ops__trigger", json!({"service": "web"})),
        _ => says("Done."),
    });
    let class =
        class_with(&[("ops", "deploy", "")]).file(".harness/settings.json", settings.to_string());
    let ran = run(&class.model(&model), &["Deploy web"]);
    ran.never_shows("needs permission");
    let results = model.last_request().results();
    assert!(
        matches!(&results[..], [(false, _), (true, why)] if why.contains("forbids it")),
        "{results:?}"
    );
}

#[test]
fn a_connection_that_cannot_be_says_what_there_is() {
    let file = json!({"mcpServers": {
        "remote": {"type": "http", "url": "https://example.com/mcp"},
        "gone": {"command": "no-such-program-anywhere"},
    }});
    let model = model(|request: &Request| match request.calls().len() {
        0 => connect("nobody").and_calls("connect_mcp", json!({"name": "remote"})),
        1 => connect("gone").and_calls("connect_mcp", json!({})),
        2 => connect("docs").and_calls("connect_mcp", json!({"name": " docs "})),
        _ => says("Done."),
    });
    let class = trusting(class().file(".mcp.json", file.to_string())).model(&model);
    let ran = run(&class, &["Connect to all", "/mcp"]);
    ran.shows(
        ".mcp.json: remote is of type http, and only stdio is supported here; \"command\": \"mcp_client\"",
    );
    ran.shows("gone    failed: ").shows("remote  cannot be used: it is of type http");
    let results = model.last_request().results();
    // Errors have a mark.
    let expected = [
        "!there is no server 'nobody'; there are deploy, docs, gone",
        "!the server 'remote' is of type http",
        "!no-such-program-anywhere",
        "!name",
        "Connected to 'docs'. Discovered: search, get_version",
        "Already connected to 'docs'. Its tools: search, get_version",
    ];
    assert_eq!(results.len(), expected.len());
    for ((is_error, text), part) in results.iter().zip(expected) {
        assert_eq!(*is_error, part.starts_with('!'), "{text}");
        assert!(text.contains(part.trim_start_matches('!')), "{text}");
    }
}

/// The texts that a reply was answered with, whatever came beside them.
fn last_results(request: &Request) -> Vec<String> {
    let last = request.messages.last().unwrap();
    let result = |block: &Block| match block {
        Block::ToolResult { content, .. } => Some(content.clone()),
        Block::Text(_) | Block::ToolUse { .. } | Block::Other(_) => None,
    };
    last.blocks.iter().filter_map(result).collect()
}
