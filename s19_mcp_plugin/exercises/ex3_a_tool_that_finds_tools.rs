//! Exercise 3 · a tool that finds tools (15 minutes).
//!
//! Two big servers list a thousand tools, and every request pays for all of them. When the connected servers list more
//! than 512 tools together, offer one tool in their place, `find_mcp_tools(query)`. It finds the tools whose name or
//! description holds every word of the query, in capital or small letters, and names the first 20; from the next
//! request on these are offered as well, behind `find_mcp_tools` and in the order of the pool, together with what was
//! found before. A search that finds nothing fails with a sentence. It asks for no permission. With 512 tools or fewer
//! all is as it was. What `Mcp::tools` returns is what counts here.
//!
//! Hint: which tools are offered follows from two things, what the servers list now and what was found so far. Only
//! one of them has to be kept.
//!
//! Hint: `Tool::blocking` makes a tool from a function with typed input. It needs an `Mcp` of its own, and that is
//! cheap.

use s02_tools::{Access, Tool};
use s19_mcp_plugin::{Mcp, StdioServerConfig};
use serde_json::json;

use super::{call, connected, offered};
use crate::scene::Scene;

async fn thousand(scene: &Scene) -> Mcp {
    let servers = ["a", "b"].map(|name| StdioServerConfig {
        name: name.to_owned(),
        ..scene.docs(&["500-tools"])
    });
    connected(scene, &servers).await
}

#[track_caller]
fn finder(mcp: &Mcp) -> Tool {
    let tools = mcp.tools();
    let count = tools.len();
    let finder = tools.into_iter().find(|tool| tool.name() == "find_mcp_tools");
    finder.unwrap_or_else(|| {
        panic!("find_mcp_tools should be offered; there are {count} other tools")
    })
}

async fn find(mcp: &Mcp, query: &str) -> String {
    call(&finder(mcp), json!({ "query": query })).await
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn what_is_found_is_offered_and_nothing_else() {
    let scene = Scene::new();
    let mcp = thousand(&scene).await;
    finder(&mcp);
    assert_eq!(offered(&mcp), ["find_mcp_tools"], "nothing was found yet");
    let touches = finder(&mcp).touches();
    assert!(
        matches!(touches, Access::Nothing | Access::Harness),
        "looking for a tool should ask for nothing; it touches {touches:?}"
    );
    let found = find(&mcp, "TOOL_007").await;
    for name in ["mcp__a__tool_007", "mcp__b__tool_007"] {
        assert!(found.contains(name), "{name} should be named: {found:?}");
    }
    assert_eq!(offered(&mcp), ["find_mcp_tools", "mcp__a__tool_007", "mcp__b__tool_007"]);
    let said = find(&mcp, "mcp__b__ version").await;
    assert!(said.contains("mcp__b__get_version"), "{said:?}");
    assert!(!said.contains("mcp__a__get_version"), "every word counts: {said:?}");
    let tools = offered(&mcp);
    let mut in_order = tools[1..].to_vec();
    in_order.sort_by_key(|name| !name.starts_with("mcp__a__"));
    assert_eq!(tools[1..], in_order, "those of a come first, whenever they were found");
    assert!(
        tools.contains(&"mcp__a__tool_007".to_owned()),
        "what was found before is still offered: {tools:?}"
    );
    let tool = mcp.tools().pop().unwrap();
    let answer = call(&tool, json!({})).await;
    assert!(!answer.is_empty());
    mcp.shut_down().await;
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn a_search_that_finds_too_much_or_nothing_says_so() {
    let scene = Scene::new();
    let mcp = thousand(&scene).await;
    let found = find(&mcp, "tool_").await;
    assert_eq!(found.matches("mcp__").count(), 20, "the first 20 should be named: {found:?}");
    assert_eq!(offered(&mcp).len(), 21, "only what was named is offered");
    let before = offered(&mcp);
    let said = find(&mcp, "no such thing anywhere").await;
    assert!(!said.is_empty() && !said.contains("mcp__a"), "{said:?}");
    assert_eq!(offered(&mcp), before);
    mcp.shut_down().await;
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn with_fewer_tools_or_without_their_server_all_is_as_it_was() {
    let scene = Scene::new();
    let mcp = thousand(&scene).await;
    find(&mcp, "tool_007").await;
    mcp.shut_down().await;
    assert_eq!(offered(&mcp), [""; 0], "their servers are gone");
    let mcp = connected(&scene, &[scene.docs(&["500-tools"])]).await;
    assert_eq!(offered(&mcp).len(), 502, "that is not more than 512");
    assert!(!offered(&mcp).contains(&"find_mcp_tools".to_owned()));
    mcp.shut_down().await;
}
