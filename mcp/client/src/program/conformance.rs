//! `conformance URL`: what the official suite wants of a client.
//!
//! Invariant: it uses the library as any program does; only what to call comes from the scenario.

use mcp_client::start::Failure;
use mcp_client::{Client, Options, Server};
use serde_json::{Map, Value, json};

use super::{config, variable};

/// Runs the scenario of the environment against a server.
pub async fn run(url: &str) -> Result<u8, Failure> {
    let scenario = variable("MCP_CONFORMANCE_SCENARIO");
    let scenario = scenario.ok_or_else(|| {
        config("MCP_CONFORMANCE_SCENARIO is not set: the conformance suite sets it")
    })?;
    let context = variable("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let server = Server::at(url).map_err(config)?;
    let options = Options {
        version: variable("MCP_CONFORMANCE_PROTOCOL_VERSION"),
        capabilities: json!({ "elicitation": {} }),
        answers: Some(std::sync::Arc::new(|method, params| {
            Box::pin(std::future::ready(elicit(&method, &params.get().parse().unwrap_or_default())))
        })),
        login: super::login::of_the_suite(url, &context),
        ..Options::default()
    };
    let client = Client::connect(&server, options).await?;
    let tools = client.tools().await?;
    let calls: Vec<(String, Value)> = match context["toolCalls"].as_array() {
        Some(calls) => calls
            .iter()
            .map(|call| {
                (call["name"].as_str().unwrap_or_default().to_owned(), call["arguments"].clone())
            })
            .collect(),
        // Not to be followed, so not to be called.
        None if scenario.starts_with("json-schema") => Vec::new(),
        None => tools.iter().map(|tool| (tool.name.clone(), example(&tool.raw))).collect(),
    };
    for (tool, arguments) in calls {
        client.call(&tool, arguments, |_| {}).await?;
    }
    if scenario == "http-standard-headers" {
        for (what, verb, key) in [("resources", "read", "uri"), ("prompts", "get", "name")] {
            for item in client.list(&format!("{what}/list"), what).await? {
                let name = mcp_wire::body::text(&item, &[key]).unwrap_or_default();
                client.ask(&format!("{what}/{verb}"), json!({ key: name })).await?;
            }
        }
    }
    client.close().await;
    Ok(0)
}

/// Accepts a question with the defaults of its schema.
fn elicit(method: &str, params: &Value) -> Option<Value> {
    let schema = &params["requestedSchema"]["properties"];
    let content = schema.as_object().into_iter().flatten().filter_map(|(name, property)| {
        let value = property
            .get("default")
            .cloned()
            .or((property["type"] == "boolean").then_some(Value::Bool(true)))?;
        Some((name.clone(), value))
    });
    let content = content.collect::<Map<_, _>>();
    (method == "elicitation/create").then(|| json!({ "action": "accept", "content": content }))
}

/// Arguments that fit a tool's schema.
fn example(tool: &serde_json::value::RawValue) -> Value {
    let tool: Value = tool.get().parse().unwrap_or_default();
    let schema = tool["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
    let value = |property: &Value| match property["type"].as_str() {
        Some("number" | "integer") => json!(2),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    let example: Map<_, _> =
        schema.iter().map(|(name, property)| (name.clone(), value(property))).collect();
    Value::Object(example)
}
