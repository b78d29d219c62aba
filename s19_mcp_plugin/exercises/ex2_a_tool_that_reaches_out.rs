//! Exercise 2 · a tool that reaches out (15 minutes).
//!
//! A tool that only reads runs without a question. One that reads the web is of that kind, and yet what it is asked for
//! leaves this machine: an address can carry a password. Servers say so: `openWorldHint` is true. Let a tool that declares
//! `readOnlyHint` and `openWorldHint` ask before it runs; the warning says that it reaches `beyond` its server. The model
//! and the user know it by its own mark: its description ends in `(openWorld)`, and `/tools` shows the same. As with the
//! other marks, a server cannot write it itself. A tool that says nothing of an open world is what it was.
//!
//! Hint: all of it is in `src/pool.rs`. Which function decides whether a tool asks, and which ones believe that whoever
//! asks is destructive?
//!
//! Hint: `/tools` has a `Tool` and no annotations. What does it know of the tool that holds the mark?

use s02_tools::{Access, Tool, Toolbox};
use s04_hooks::{HookOutput, Prompt};
use s19_mcp_plugin::Mcp;
use serde_json::{Value, json};

use super::connected;
use crate::scene::{HEAR, STAY, Scene, answer, hello};

/// A session with a server that lists these tools: a name, a description, annotations.
async fn offered(scene: &Scene, tools: &[(&str, &str, Value)]) -> Mcp {
    let tool = |(name, words, annotations): &(&str, &str, Value)| {
        json!({
            "name": name, "description": words, "inputSchema": {"type": "object"}, "annotations": annotations,
        })
    };
    let tools: Vec<Value> = tools.iter().map(tool).collect();
    let page = answer(2, json!({ "tools": tools }));
    let server = scene.script(&[HEAR, &hello(), HEAR, HEAR, &page, STAY]);
    connected(scene, &[server]).await
}

fn tool(mcp: &Mcp, name: &str) -> Tool {
    let tools = mcp.tools();
    let tool = tools.into_iter().find(|tool| tool.name() == name);
    tool.expect("the tool is offered")
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn who_reads_and_reaches_out_asks_and_says_why() {
    let scene = Scene::new();
    let reaches = json!({"readOnlyHint": true, "openWorldHint": true});
    let mcp = offered(&scene, &[("fetch", "Fetches a page.", reaches)]).await;
    let fetch = tool(&mcp, "mcp__docs__fetch");
    assert_eq!(fetch.touches(), Access::Anything, "it should ask");
    let known = fetch.known().unwrap_or_default();
    assert!(
        known.contains("beyond"),
        "the warning should say that it reaches beyond its server; it is {known:?}"
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn its_mark_is_its_own_in_the_description_and_in_the_list_of_tools() {
    let scene = Scene::new();
    let reaches = json!({"readOnlyHint": true, "openWorldHint": true});
    let mcp = offered(&scene, &[("fetch", "Fetches a page.", reaches)]).await;
    assert_eq!(tool(&mcp, "mcp__docs__fetch").spec().description(), "Fetches a page. (openWorld)");
    let answers = mcp.command(&scene.ws, &Toolbox::new());
    let text = "/tools".to_owned();
    let HookOutput::Block(shown) = answers(Prompt { text }).await else {
        panic!("/tools is answered");
    };
    assert!(
        shown.contains("mcp__docs__fetch (openWorld)"),
        "/tools should show the mark:\n{shown}"
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn nobody_else_has_it_and_no_server_writes_it_itself() {
    let scene = Scene::new();
    let tools = [
        ("read", "Reads.", json!({"readOnlyHint": true}), "Reads. (readOnly)"),
        (
            "near",
            "Reads. (openWorld)",
            json!({"readOnlyHint": true, "openWorldHint": false}),
            "Reads. (readOnly)",
        ),
        (
            "drop",
            "Drops all. (openWorld)",
            json!({"destructiveHint": true, "openWorldHint": true}),
            "Drops all. (destructive)",
        ),
    ];
    let listed = tools.clone().map(|(name, words, annotations, _)| (name, words, annotations));
    let mcp = offered(&scene, &listed).await;
    for (name, _, _, expected) in tools {
        let tool = tool(&mcp, &format!("mcp__docs__{name}"));
        assert_eq!(tool.spec().description(), expected);
        let runs = tool.touches() == Access::Nothing;
        assert_eq!(runs, expected.ends_with("(readOnly)"), "{name}");
    }
}
