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

#[test]
fn reference_servers_are_connected_listed_and_called() {
    for (server, args, env, tools, story) in [
        (
            "everything",
            "stdio",
            json!({}),
            10,
            r#"
echo {"message": "good morning"} -> Echo: good morning
get-sum {"a": 2, "b": 40} -> 42
get-tiny-image {} -> image/png
get-resource-links {"count": 2} -> resource
get-structured-content {"location": "Chicago"} -> temperature
trigger-long-running-operation {"duration": 0.2, "steps": 2} -> completed
get-sum {"a": "two", "b": 40} -> !a
toggle-simulated-logging {} -> Started"#,
        ),
        (
            "filesystem",
            ".",
            json!({}),
            11,
            r#"
list_allowed_directories {} -> workspace
read_text_file {"path": "notes.txt"} -> The meeting is at ten.
write_file {"path": "new.txt", "content": "new"} -> Successfully wrote
list_directory {"path": "."} -> [FILE] new.txt
read_text_file {"path": "/etc/hosts"} -> !denied"#,
        ),
        (
            "memory",
            "",
            json!({"MEMORY_FILE_PATH": "{workspace}/graph.jsonl"}),
            9,
            r#"
create_entities {"entities": [{"name": "Ada", "entityType": "person", "observations": ["likes tabs"]}]} -> Ada
search_nodes {"query": "tabs"} -> likes tabs
read_graph {} -> person"#,
        ),
    ] {
        let Some(home) = installed("EXTERNAL_NODE") else {
            return;
        };
        let program = format!("node_modules/.bin/mcp-server-{server}");
        let args = args.split_whitespace().map(str::to_owned).collect();
        let listed = tells((server, home.join(program), args, env), story);
        assert!(listed.len() >= tools, "{listed:?}");
    }
}

#[test]
fn a_server_on_fastmcp_with_pages_errors_structure_progress_and_logs() {
    let Some(home) = installed("EXTERNAL_PYTHON") else {
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/external/habits.py");
    let python = home.join("bin/python");
    let listed = tells(
        ("habits", python, vec![script.to_owned()], json!({})),
        r#"
weather {"city": "Köln"} -> 21
broken {} -> !the thermometer is frozen
slow {"steps": 3} -> 3 steps done
nothing {} ->
weather {} -> !city
forget {} -> forgotten"#,
    );
    let names = ["broken", "forget", "nothing", "slow", "weather"];
    assert_eq!(listed, names.map(|name| format!("mcp__habits__{name}")));
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
        r#"get_issue {"key": "WEB-1"} -> WEB-1"#,
    );
    assert_eq!(listed.len(), 4, "{listed:?}");
}

/// Connects to the server, makes the calls of the story in one turn, and checks each result; after `!` stands what an
/// error says. Returns the server's tools as the model was sent them in the request after the connection.
fn tells(plugged: Plugged<'_>, story: &str) -> Vec<String> {
    let server = plugged.0;
    let row = |line: &'_ str| {
        let (call, expected) = line.split_once("->").expect("a call and what it says");
        let (name, input) = call.split_once(' ').expect("a tool and its arguments");
        let input: Value = serde_json::from_str(input).expect("JSON");
        (name.to_owned(), input, expected.trim().to_owned())
    };
    let story: Vec<_> = story.lines().filter(|line| !line.is_empty()).map(row).collect();
    let mut script = vec![calls("connect_mcp", json!({"name": server}))];
    let call = |(name, input, _): &(String, Value, String)| {
        calls(format!("mcp__{server}__{name}"), input.clone())
    };
    script.extend(story.iter().map(call));
    script.push(says("All of it is done."));
    let model = MockModel::scripted(script);
    let class = plug(plugged).model(&model);
    class.types(&["Try all of it"]).succeeds().shows("All of it is done.");

    // Each call is answered in the request that follows it; later ones may hold less of an old result.
    let requests = model.requests();
    let result = |index: usize| requests[index + 1].results().pop().unwrap();
    let (_, connected) = result(0);
    assert!(connected.starts_with(&format!("Connected to '{server}'")), "{connected}");
    for (index, (name, input, expected)) in (1..).zip(&story) {
        let (is_error, text) = result(index);
        let (wrong, expected) = match expected.strip_prefix('!') {
            Some(expected) => (true, expected),
            None => (false, expected.as_str()),
        };
        assert!(is_error == wrong && text.contains(expected), "{name} {input}: {is_error} {text}");
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
    let env = env.to_string().replace("{workspace}", &class.dir().display().to_string());
    let env: Value = serde_json::from_str(&env).unwrap();
    let entry = json!({"command": program, "args": args, "env": env});
    let allow = ["connect_mcp".to_owned(), format!("mcp__{server}__*")];
    class
        .file("notes.txt", "The meeting is at ten.\n")
        .file(".mcp.json", json!({"mcpServers": {server: entry}}).to_string())
        .file(".harness/settings.json", json!({"permissions": {"allow": allow}}).to_string())
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
