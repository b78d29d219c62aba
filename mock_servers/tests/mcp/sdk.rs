//! The SDK's own client, in memory: what each server offers and does.
//!
//! A client that nobody here wrote must understand them. Invariant: the table of servers and annotations is this one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mock_servers::mcp::{Fault, MockServer, NAMES};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion, Tool, object};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use serde_json::{Value, json};

type Client = RunningService<RoleClient, ()>;

async fn connect(mock: MockServer) -> Client {
    connect_with(mock, ClientLifecycleMode::Initialize).await
}

async fn connect_with(mock: MockServer, lifecycle: ClientLifecycleMode) -> Client {
    let (near, far) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        let running = mock.serve(far).await.expect("the client shakes hands");
        running.waiting().await
    });
    let client = ().serve_with_lifecycle(near, lifecycle).await;
    client.expect("the server shakes hands")
}

fn named(name: &str) -> MockServer {
    MockServer::named(name).expect("the server exists")
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let params = CallToolRequestParams::new(tool).with_arguments(object(arguments));
    client.call_tool(params).await.expect("the tool exists")
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().expect("it is text").text
}

/// A line of the table: the name, what is required, and the hints.
fn row(tool: &Tool) -> String {
    let hints = tool
        .annotations
        .as_ref()
        .expect("every tool has annotations");
    let said = [
        ("readOnly", hints.read_only_hint),
        ("destructive", hints.destructive_hint),
        ("idempotent", hints.idempotent_hint),
        ("openWorld", hints.open_world_hint),
    ];
    let said = said.iter().filter(|(_, hint)| *hint == Some(true));
    let said = said.map(|(name, _)| *name).collect::<Vec<_>>().join(" ");
    let required = tool.input_schema.get("required");
    let required = required.map_or("[]".to_owned(), Value::to_string);
    assert_eq!(
        tool.input_schema["additionalProperties"], false,
        "{}",
        tool.name
    );
    format!("{}{required} {said}", tool.name)
}

#[tokio::test]
async fn the_table_of_tools() {
    let mut table = Vec::new();
    for name in NAMES {
        let client = connect(named(name)).await;
        let tools = client.list_all_tools().await.expect("it lists them");
        table.extend(tools.iter().map(|tool| format!("{name}.{}", row(tool))));
    }
    let expected = [
        r#"docs.search["query"] readOnly"#,
        "docs.get_version[] readOnly",
        r#"deploy.trigger["service"] destructive"#,
        r#"deploy.status["service"] readOnly"#,
        r#"deploy.logs["service"] readOnly"#,
        r#"jira.search_issues["query"] readOnly"#,
        r#"jira.get_issue["key"] readOnly"#,
        r#"jira.create_issue["project","summary"] "#,
        r#"jira.transition_issue["key","status"] destructive idempotent"#,
        r#"notion.search_pages["query"] readOnly"#,
        r#"notion.get_page["id"] readOnly"#,
        r#"notion.create_page["title","content"] "#,
    ];
    assert_eq!(table, expected);
}

#[tokio::test]
async fn the_client_of_2026_07_28_discovers_and_calls() {
    for name in NAMES {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let lifecycle = ClientLifecycleMode::Discover { preferred_versions };
        let client = connect_with(named(name), lifecycle).await;
        let tools = client.list_all_tools().await.expect("it lists them");
        let unknown = client.call_tool(CallToolRequestParams::new("none")).await;
        assert!(!tools.is_empty() && unknown.is_err(), "{name}");
    }
}

#[tokio::test]
async fn a_deployment_goes_live_over_seconds_and_a_service_has_one_under_way() {
    let now = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&now);
    let mock = MockServer::deploy(move || Duration::from_millis(clock.load(Ordering::Relaxed)));
    let client = connect(mock).await;
    for (at, tool, service, said) in [
        (0, "trigger", "api", "deploy-4: api version 42 is queued"),
        (
            0,
            "trigger",
            "api",
            "service: deploy-4: api version 42 is queued; wait until it is live",
        ),
        (0, "trigger", "web", "deploy-5: web version 18 is queued"),
        (0, "status", "worker", "deploy-3: worker version 8 is live"),
        (1_999, "status", "api", "deploy-4: api version 42 is queued"),
        (
            2_000,
            "status",
            "api",
            "deploy-4: api version 42 is running",
        ),
        (
            5_999,
            "status",
            "api",
            "deploy-4: api version 42 is running",
        ),
        (6_000, "status", "api", "deploy-4: api version 42 is live"),
    ] {
        now.store(at, Ordering::Relaxed);
        let answer = call(&client, tool, json!({"service": service})).await;
        assert_eq!(text(&answer), said, "{at}");
        assert_eq!(answer.is_error == Some(true), said.contains("wait until"));
    }
    let logs = call(&client, "logs", json!({"service": "api", "lines": 2})).await;
    let expected = "    5.0s 2 of 2 instances answer their health check\n    6.0s api 42 is live";
    assert_eq!(text(&logs), expected);
    let again = call(&client, "trigger", json!({"service": "api"})).await;
    assert_eq!(text(&again), "deploy-6: api version 43 is queued");
}

#[tokio::test]
async fn an_issue_is_created_found_and_moved() {
    let client = connect(named("jira")).await;
    let new = json!({"project": "OPS", "summary": "Order a printer"});
    let created = call(&client, "create_issue", new).await;
    assert_eq!(text(&created), "OPS-6 [To Do] Order a printer");
    let to = json!({"key": "ops-6", "status": "In Progress"});
    for _ in 0..2 {
        let moved = call(&client, "transition_issue", to.clone()).await;
        assert_eq!(text(&moved), "OPS-6 [In Progress] Order a printer");
    }
    let found = call(
        &client,
        "search_issues",
        json!({"query": "printer progress"}),
    )
    .await;
    assert_eq!(text(&found), "OPS-6 [In Progress] Order a printer");
    let read = call(&client, "get_issue", json!({"key": "OPS-5"})).await;
    assert!(text(&read).ends_with("no permission on the new bucket."));
}

#[tokio::test]
async fn a_page_is_created_found_and_read() {
    let client = connect(named("notion")).await;
    let new = json!({"title": "Printer", "content": "It stands on the second floor."});
    call(&client, "create_page", new).await;
    let found = call(&client, "search_pages", json!({"query": "second floor"})).await;
    assert_eq!(text(&found), "page-6 · Printer");
    let read = call(&client, "get_page", json!({"id": "page-6"})).await;
    assert_eq!(
        text(&read),
        "page-6 · Printer\n\nIt stands on the second floor."
    );
}

#[tokio::test]
async fn the_client_reads_all_pages_of_a_long_list() {
    let fault = Fault::named("500-tools").expect("the fault exists");
    let client = connect(named("docs").fault(fault)).await;
    let page = client.list_tools(None).await.expect("it lists them");
    assert_eq!(page.tools.len(), 100);
    let all = client.list_all_tools().await.expect("it lists them");
    assert_eq!(all.len(), 502);
    let last = call(&client, "tool_499", json!({})).await;
    assert_eq!(text(&last), "This is tool_499.");
}
