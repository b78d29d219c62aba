//! Servers that nobody here wrote, plugged into the chapter by a `.mcp.json`: connected, listed, called.
//!
//! Three reference servers of the protocol's makers, and one on FastMCP with the habits that servers have.
//! Invariant: without `cargo x external`, which installs them, the tests say so in a line and pass.

use std::path::PathBuf;

use mock_servers::model::{MockModel, Request, calls, says};
use serde_json::{Value, json};
use testkit::Class;

/// A server's name, the program and its arguments, and its environment, where `{workspace}` is the workspace.
type Plugged<'a> = (&'a str, PathBuf, Vec<String>, Value);

/// One call and what its result must say; an error when it begins with `!`.
type Called<'a> = (&'a str, Value, &'a str);

#[test]
fn server_everything_is_connected_listed_and_called() {
    let Some(program) = node("mcp-server-everything") else {
        return;
    };
    let args = vec!["stdio".to_owned()];
    let listed = tells(
        ("everything", program, args, json!({})),
        &[
            (
                "echo",
                json!({"message": "good morning"}),
                "Echo: good morning",
            ),
            ("get-sum", json!({"a": 2, "b": 40}), "42"),
            ("get-tiny-image", json!({}), "image/png"),
            ("get-resource-links", json!({"count": 2}), "resource"),
            (
                "get-structured-content",
                json!({"location": "Chicago"}),
                "temperature",
            ),
            (
                "trigger-long-running-operation",
                json!({"duration": 0.2, "steps": 2}),
                "completed",
            ),
            ("get-sum", json!({"a": "two", "b": 40}), "!a"),
            ("toggle-simulated-logging", json!({}), "Started"),
        ],
    );
    assert!(listed.len() >= 10, "{listed:?}");
}

#[test]
fn server_filesystem_is_connected_listed_and_called() {
    let Some(program) = node("mcp-server-filesystem") else {
        return;
    };
    let listed = tells(
        ("filesystem", program, vec![".".to_owned()], json!({})),
        &[
            ("list_allowed_directories", json!({}), "workspace"),
            (
                "read_text_file",
                json!({"path": "notes.txt"}),
                "The meeting is at ten.",
            ),
            (
                "write_file",
                json!({"path": "new.txt", "content": "new"}),
                "Successfully wrote",
            ),
            ("list_directory", json!({"path": "."}), "[FILE] new.txt"),
            ("read_text_file", json!({"path": "/etc/hosts"}), "!denied"),
        ],
    );
    assert!(
        listed.contains(&"mcp__filesystem__move_file".to_owned()),
        "{listed:?}"
    );
}

#[test]
fn server_memory_is_connected_listed_and_called() {
    let Some(program) = node("mcp-server-memory") else {
        return;
    };
    let ada = json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["likes tabs"]}]});
    let listed = tells(
        (
            "memory",
            program,
            vec![],
            json!({"MEMORY_FILE_PATH": "{workspace}/graph.jsonl"}),
        ),
        &[
            ("create_entities", ada, "Ada"),
            ("search_nodes", json!({"query": "tabs"}), "likes tabs"),
            ("read_graph", json!({}), "person"),
        ],
    );
    assert_eq!(listed.len(), 9, "{listed:?}");
}

#[test]
fn a_server_on_fastmcp_with_pages_errors_structure_progress_and_logs() {
    let Some(home) = installed("EXTERNAL_PYTHON") else {
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/external/habits.py");
    let listed = tells(
        (
            "habits",
            home.join("bin/python"),
            vec![script.to_owned()],
            json!({}),
        ),
        &[
            ("weather", json!({"city": "Köln"}), "21"),
            ("broken", json!({}), "!the thermometer is frozen"),
            ("slow", json!({"steps": 3}), "3 steps done"),
            ("nothing", json!({}), ""),
            ("weather", json!({}), "!city"),
            ("forget", json!({}), "forgotten"),
        ],
    );
    let names = ["broken", "forget", "nothing", "slow", "weather"]
        .map(|name| format!("mcp__habits__{name}"));
    assert_eq!(listed, names);
}

/// It runs cargo, which may have to build.
#[test]
fn the_entry_of_the_readme_works_from_an_empty_directory() {
    if installed("EXTERNAL_NODE").is_none() {
        return;
    }
    let readme = include_str!("../../../README.md");
    let start = readme.find("    \"jira\": {").unwrap();
    let entry = &readme[start..start + readme[start..].find("\n    }\n").unwrap()];
    let clone = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let entry = format!("{{{entry}}}}}").replace("PATH/", &format!("{clone}/"));
    let entry: Value = serde_json::from_str(&entry).unwrap();
    let args = entry["jira"]["args"].as_array().unwrap();
    let args = args.iter().map(|arg| arg.as_str().unwrap().to_owned());
    let program = PathBuf::from(entry["jira"]["command"].as_str().unwrap());
    // The class has one of its own, where no toolchain is.
    let home = std::env::var("HOME").unwrap();
    let listed = tells(
        ("jira", program, args.collect(), json!({"HOME": home})),
        &[("get_issue", json!({"key": "WEB-1"}), "WEB-1")],
    );
    assert_eq!(listed.len(), 4, "{listed:?}");
}

/// Connects to the server, makes these calls in one turn, and checks each result. Returns the server's tools as the
/// model was sent them in the request after the connection.
fn tells(plugged: Plugged<'_>, story: &[Called<'_>]) -> Vec<String> {
    let server = plugged.0;
    let tool = |name: &str| format!("mcp__{server}__{name}");
    let mut script = vec![calls("connect_mcp", json!({"name": server}))];
    script.extend(
        story
            .iter()
            .map(|(name, input, _)| calls(tool(name), input.clone())),
    );
    script.push(says("All of it is done."));
    let model = MockModel::scripted(script);
    let class = plug(plugged).model(&model);
    class
        .types(&["Try all of it"])
        .succeeds()
        .shows("All of it is done.");

    // Each call is answered in the request that follows it; later ones may hold less of an old result.
    let requests = model.requests();
    let result = |index: usize| requests[index + 1].results().pop().unwrap();
    let (_, connected) = result(0);
    assert!(
        connected.starts_with(&format!("Connected to '{server}'")),
        "{connected}"
    );
    for (index, (name, input, expected)) in (1..).zip(story) {
        let (is_error, text) = result(index);
        let (wrong, expected) = match expected.strip_prefix('!') {
            Some(expected) => (true, expected),
            None => (false, *expected),
        };
        assert!(
            is_error == wrong && text.contains(expected),
            "{name} {input}: {is_error} {text}"
        );
    }
    let offered = |request: &Request| {
        let mut names = request.tool_names();
        names.retain(|name| name.starts_with("mcp__"));
        names.sort();
        names
    };
    assert_eq!(offered(&requests[0]), [""; 0]);
    offered(&requests[1])
}

/// A workspace whose files plug the server in and allow its tools.
fn plug((server, program, args, env): Plugged<'_>) -> Class {
    let class = Class::new(env!("CARGO_BIN_EXE_s19_mcp_plugin"));
    let env = env
        .to_string()
        .replace("{workspace}", &class.dir().display().to_string());
    let env: Value = serde_json::from_str(&env).unwrap();
    let entry = json!({"command": program, "args": args, "env": env});
    let allow = ["connect_mcp".to_owned(), format!("mcp__{server}__*")];
    class
        .file("notes.txt", "The meeting is at ten.\n")
        .file(
            ".mcp.json",
            json!({"mcpServers": {server: entry}}).to_string(),
        )
        .file(
            ".harness/settings.json",
            json!({"permissions": {"allow": allow}}).to_string(),
        )
}

fn node(program: &str) -> Option<PathBuf> {
    Some(
        installed("EXTERNAL_NODE")?
            .join("node_modules/.bin")
            .join(program),
    )
}

/// Where `cargo x external` has put it.
fn installed(variable: &str) -> Option<PathBuf> {
    let home = std::env::var_os(variable).map(PathBuf::from);
    if home.is_none() {
        println!(
            "skipped: {variable} is not set; cargo x external installs what it needs and sets it"
        );
    }
    home
}
