//! Servers that nobody here wrote: the model reads what their tools are for and what they take.
//!
//! Invariant: a call has all that its schema requires.

use mock_servers::model::Tool;
use serde_json::{Value, json};

use super::played::{Served, Server, with};
use crate::everything::tool;

fn echoed(input: &Value) -> (String, bool) {
    (input.to_string(), false)
}

fn shaped(name: &str, description: &str, properties: Value) -> Tool {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: json!({"type": "object", "properties": properties, "required": required}),
    }
}

fn memory() -> Server {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    vec![
        (
            lists(
                "create_entities",
                "Create multiple new entities in the knowledge graph",
                "entities",
                &["name", "entityType", "observations"],
            ),
            echoed,
        ),
        (
            lists(
                "create_relations",
                "Create multiple new relations between entities in the knowledge graph. Relations should be in active voice",
                "relations",
                &["from", "to", "relationType"],
            ),
            echoed,
        ),
        (
            lists(
                "add_observations",
                "Add new observations to existing entities in the knowledge graph",
                "observations",
                &["entityName", "contents"],
            ),
            echoed,
        ),
        (
            shaped(
                "delete_entities",
                "Delete multiple entities and their associated relations from the knowledge graph",
                json!({"entityNames": texts}),
            ),
            echoed,
        ),
        (
            tool("read_graph", "Read the entire knowledge graph", &[], &[]),
            echoed,
        ),
        (
            tool(
                "search_nodes",
                "Search for nodes in the knowledge graph based on a query",
                &["query"],
                &[],
            ),
            echoed,
        ),
    ]
}

/// A tool that takes a list of objects with these properties.
fn lists(name: &str, description: &str, list: &str, properties: &[&str]) -> Tool {
    let property = |name: &&str| {
        let texts = ["observations", "contents"].contains(name);
        let kind = if texts {
            json!({"type": "array", "items": {"type": "string"}})
        } else {
            json!({"type": "string"})
        };
        (name.to_string(), kind)
    };
    let all: Value = properties.iter().map(property).collect();
    let items = json!({"type": "object", "properties": all, "required": properties});
    shaped(
        name,
        description,
        json!({list: {"type": "array", "items": items}}),
    )
}

fn everything() -> Server {
    let number = json!({"type": "number"});
    let cities = json!({"type": "string", "enum": ["New York", "Chicago", "Los Angeles"]});
    vec![
        (
            tool("echo", "Echoes back the input string", &["message"], &[]),
            echoed,
        ),
        (
            shaped(
                "get-sum",
                "Returns the sum of two numbers",
                json!({"a": number, "b": number}),
            ),
            echoed,
        ),
        (
            tool("get-tiny-image", "Returns a tiny MCP logo image.", &[], &[]),
            echoed,
        ),
        (
            shaped(
                "get-structured-content",
                "Returns structured content along with an output schema for client data validation",
                json!({"location": cities}),
            ),
            echoed,
        ),
    ]
}

fn filesystem() -> Server {
    vec![
        (
            tool(
                "read_text_file",
                "Read the complete contents of a file from the file system as text.",
                &["path"],
                &["head", "tail"],
            ),
            echoed,
        ),
        (
            tool(
                "write_file",
                "Create a new file or completely overwrite an existing file with new content.",
                &["path", "content"],
                &[],
            ),
            echoed,
        ),
        (
            tool(
                "list_directory",
                "Get a detailed listing of all files and directories in a specified path.",
                &["path"],
                &[],
            ),
            echoed,
        ),
        (
            tool(
                "search_files",
                "Recursively search for files and directories matching a pattern.",
                &["path", "pattern"],
                &[],
            ),
            echoed,
        ),
        (
            tool(
                "list_allowed_directories",
                "Returns the list of directories that this server is allowed to access.",
                &[],
                &[],
            ),
            echoed,
        ),
    ]
}

/// All of them.
pub fn stage() -> Served {
    with([
        ("memory", memory()),
        ("everything", everything()),
        ("filesystem", filesystem()),
    ])
}

/// The last call of a request on a stage of strangers.
fn last_call(request: &str) -> String {
    let play = stage().ask(request);
    let (_, name, input) = play
        .calls
        .last()
        .unwrap_or_else(|| panic!("{request}: {}", play.answer));
    format!("{name} {input}")
}

#[test]
fn a_tool_nobody_told_of_is_called_with_what_its_schema_wants() {
    for (request, expected) in [
        (
            "Use the echo tool of everything to say hi",
            r#"mcp__everything__echo {"message":"hi"}"#,
        ),
        (
            "Connect to the everything server and use its echo tool to say \"hello there\"",
            r#"mcp__everything__echo {"message":"hello there"}"#,
        ),
        (
            "call the echo tool of the everything server with the message good night",
            r#"mcp__everything__echo {"message":"good night"}"#,
        ),
        (
            "Ask the everything server to echo tea is ready",
            r#"mcp__everything__echo {"message":"tea is ready"}"#,
        ),
        (
            "Connect to everything and add 3 and 4",
            r#"mcp__everything__get-sum {"a":3,"b":4}"#,
        ),
        (
            "use everything's get-sum tool with a=2 and b=5",
            r#"mcp__everything__get-sum {"a":2,"b":5}"#,
        ),
        (
            "use get-structured-content of everything for Chicago",
            r#"mcp__everything__get-structured-content {"location":"Chicago"}"#,
        ),
        (
            "Connect to the filesystem server and list the allowed directories",
            "mcp__filesystem__list_allowed_directories {}",
        ),
        (
            "Use the filesystem server to list the directory src",
            r#"mcp__filesystem__list_directory {"path":"src"}"#,
        ),
        (
            "with the filesystem server, read the file Cargo.toml",
            r#"mcp__filesystem__read_text_file {"path":"Cargo.toml"}"#,
        ),
        (
            "Ask the memory server to search for Bob",
            r#"mcp__memory__search_nodes {"query":"Bob"}"#,
        ),
        (
            "Connect to the memory server and read the graph",
            "mcp__memory__read_graph {}",
        ),
        (
            "delete the entity Bob on the memory server",
            r#"mcp__memory__delete_entities {"entityNames":["Bob"]}"#,
        ),
    ] {
        assert_eq!(last_call(request), expected, "{request}");
    }
}

#[test]
fn lists_of_objects_are_filled_from_the_words() {
    let alice = json!({"entities": [{"name": "Alice", "entityType": "person", "observations": ["likes tea"]}]});
    for request in [
        "Ask the memory server to create an entity named Alice of type person with the observation \"likes tea\"",
        "Connect to the memory server and create an entity called Alice of type person with observation \"likes tea\"",
        "use the memory server to make a new entity named Alice of type person, observation: likes tea",
    ] {
        assert_eq!(
            last_call(request),
            format!("mcp__memory__create_entities {alice}"),
            "{request}"
        );
    }
    let likes = json!({"relations": [{"from": "Alice", "to": "Tea", "relationType": "likes"}]});
    let request = "use the memory server to relate Alice to Tea with relationType likes";
    assert_eq!(
        last_call(request),
        format!("mcp__memory__create_relations {likes}")
    );
}

#[test]
fn what_no_tool_of_a_server_can_do_is_said() {
    let play = stage().ask("use everything to fly to the moon");
    assert_eq!(play.lines(), ["connect_mcp everything"]);
    assert!(
        play.answer.contains("it offers echo, get-sum, "),
        "{}",
        play.answer
    );
    let play = stage().ask("Connect to the filesystem server and fly to the moon");
    assert!(
        play.answer
            .contains("I did not understand “fly to the moon”"),
        "{}",
        play.answer
    );
}
