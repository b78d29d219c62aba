//! The SDK's own client, in memory: what each server offers and does.
//!
//! A client that nobody here wrote must understand them. Invariant: the table of servers and annotations is this one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mock_servers::mcp::{ALERTS, Fault, MockServer, NAMES};
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

async fn call(client: &Client, tool: &str, arguments: Value) -> CallToolResult {
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(object(arguments));
    client.call_tool(params).await.expect("the tool exists")
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().expect("it is text").text
}

/// A line of the table: the name, what is required, and the hints.
fn row(tool: &Tool) -> String {
    let hints = tool.annotations.as_ref().expect("every tool has annotations");
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
    assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
    format!("{}{required} {said}", tool.name)
}

#[tokio::test]
async fn the_table_of_tools() {
    let mut table = Vec::new();
    for name in NAMES.into_iter().chain([ALERTS]) {
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
        r#"alerts.push["text"] "#,
        r#"alerts.restart["service"] "#,
        "alerts.status[] readOnly",
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
    for row in [
        "0 trigger api deploy-4: api version 42 is queued",
        "0 trigger api service: deploy-4: api version 42 is queued; wait until it is live",
        "0 trigger web deploy-5: web version 18 is queued",
        "0 status worker deploy-3: worker version 8 is live",
        "1999 status api deploy-4: api version 42 is queued",
        "2000 status api deploy-4: api version 42 is running",
        "5999 status api deploy-4: api version 42 is running",
        "6000 status api deploy-4: api version 42 is live",
    ] {
        let [at, tool, service, said] = row.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let at = at.parse().expect(row);
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
async fn what_is_created_is_found_and_moved() {
    for row in [
        r#"jira create_issue {"project": "OPS", "summary": "Order a printer"} => OPS-6 [To Do] Order a printer"#,
        r#"jira transition_issue {"key": "ops-6", "status": "In Progress"} => OPS-6 [In Progress] Order a printer"#,
        r#"jira transition_issue {"key": "ops-6", "status": "In Progress"} => OPS-6 [In Progress] Order a printer"#,
        r#"jira search_issues {"query": "printer progress"} => OPS-6 [In Progress] Order a printer"#,
        r#"notion create_page {"title": "Printer", "content": "Second floor."} => page-6 · Printer"#,
        r#"notion search_pages {"query": "second floor"} => page-6 · Printer"#,
        r#"notion get_page {"id": "page-6"} => Second floor."#,
    ]
    .chunk_by(|one, other| one[..4] == other[..4])
    {
        let (server, _) = row[0].split_once(' ').expect("a server");
        let client = connect(named(server)).await;
        for step in row {
            let (call_of, said) = step.split_once(" => ").expect(step);
            let [_, tool, arguments] = call_of.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{step}");
            };
            let arguments = serde_json::from_str(arguments).expect(step);
            let answer = call(&client, tool, arguments).await;
            let text = text(&answer);
            assert!(text.starts_with(said) || text.ends_with(said), "{step}: {text}");
        }
    }
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
