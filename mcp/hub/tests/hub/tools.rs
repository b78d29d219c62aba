//! What spokes may use, in three forms; who asks whom; and the four tools for clients.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_client::{Client, Options, Server as Entry, Transport};
use mcp_hub::server::Server;
use mcp_relay::service;
use mcp_wire::Connection;
use serde_json::{Value, json};

use crate::stage::{ask, echoes, from, hub, pipe, question, run, says};

#[tokio::test]
async fn a_tool_request_is_executed_or_refused_and_sent_back() {
    let dir = tempfile::tempdir().unwrap();
    let url = run(says(|asked| match asked["tool_results"].as_array() {
        None => json!({ "tool_requests": [
            { "id": 1, "name": "docs__search", "arguments": { "query": "hooks" } },
            { "id": 2, "name": "deploy__trigger", "arguments": {} },
            { "id": 3, "name": "docs__burn" },
        ] }),
        Some(results) => json!({ "response": format!("{}\n{}", asked["tools"].as_array().unwrap().len(), json!(results)) }),
    }))
    .await;
    let spoke = |more: &str| format!("  - {{name: gpt, kind: run, url: '{url}'{more}}}");
    let answer = ask(&hub(dir.path(), &spoke("")).await, question("gpt")).await.unwrap();
    assert!(answer.contains("s04_hooks/README.md"), "{answer}");
    let refusal = "gpt may not use deploy__trigger: it does not only read, and is not named there (deploy:trigger in its capabilities would allow it)";
    assert!(answer.contains(refusal), "{answer}");
    assert!(answer.contains("there is no tool docs__burn; gpt may use: deploy__"), "{answer}");
    let answer =
        ask(&hub(dir.path(), &spoke(", capabilities: ['deploy:trigger']")).await, question("gpt"))
            .await
            .unwrap();
    assert!(answer.contains("gpt may not use docs__search: it is not on its list"), "{answer}");
    assert!(!answer.contains(refusal) && answer.contains("\n1\n"), "{answer}");
    let few = spoke(", limits: {tool_calls: 0}");
    let answer = ask(&hub(dir.path(), &few).await, question("gpt")).await.unwrap();
    assert!(
        answer.contains("the question has used up its 0 tool_calls (limits.tool_calls)"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_program_has_an_endpoint_with_a_token_as_long_as_its_question_lasts() {
    let dir = tempfile::tempdir().unwrap();
    let (out, back) = (pipe(dir.path(), "out"), pipe(dir.path(), "back"));
    let script = "echo '{url}' $MCP_HUB_TOKEN $MCP_HUB_CHAIN > out; cat back";
    let hub = hub(
        dir.path(),
        &format!("  - {{name: gpt, kind: command, command: [sh, -c, \"{script}\"]}}"),
    )
    .await;
    let spoke = async {
        let said = from(out).await;
        let [url, token, chain] = said.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{said}")
        };
        assert_eq!(chain, "gpt");
        let entry = |token: &str| {
            let headers = BTreeMap::from([("Authorization".to_owned(), format!("Bearer {token}"))]);
            Entry {
                name: "hub".to_owned(),
                transport: Transport::Http,
                url: url.to_owned(),
                headers,
                ..Entry::default()
            }
        };
        let client = Client::connect(&entry(token), Options::default()).await.unwrap();
        let names: Vec<_> =
            client.tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
        assert!(
            names.contains(&"docs__search".to_owned())
                && !names.contains(&"deploy__trigger".to_owned()),
            "{names:?}"
        );
        let found = client.call("docs__search", json!({ "query": "hooks" }), |_| ()).await.unwrap();
        assert!(found.get().contains("s04_hooks/README.md"));
        let refused = client.call("deploy__trigger", json!({}), |_| ()).await.unwrap();
        assert!(
            refused.get().contains("may not use deploy__trigger")
                && refused.get().contains("\"isError\":true")
        );
        assert!(Client::connect(&entry("wrong"), Options::default()).await.is_err());
        tokio::task::spawn_blocking(move || std::fs::write(back, "done").unwrap()).await.unwrap();
    };
    let (answer, ()) = tokio::join!(ask(&hub, question("gpt")), spoke);
    assert!(answer.unwrap().contains("\ndone\n"));
}

#[tokio::test]
async fn a_spoke_that_asks_its_asker_is_told_of_the_cycle() {
    let dir = tempfile::tempdir().unwrap();
    let asks = |other: &'static str| {
        says(move |asked| match asked["tool_results"][0]["content"].as_str() {
            None => {
                json!({ "tool_requests": [{ "name": "hub__ask_agent", "arguments": { "agent": other, "prompt": "and you?" } }] })
            }
            Some(text) => json!({ "response": format!("{other} says: {text}") }),
        })
    };
    let (a, b) = (run(asks("b")).await, run(asks("a")).await);
    let may = "capabilities: ['hub:ask_agent']";
    let spokes = format!(
        "  - {{name: a, kind: run, url: '{a}', {may}}}\n  - {{name: b, kind: run, url: '{b}', {may}}}"
    );
    let hub = hub(dir.path(), &spokes).await;
    let answer = ask(&hub, question("a")).await.unwrap();
    assert!(answer.contains("a says: a → b → a is a cycle: a is being asked already"), "{answer}");
    let (records, _) = mcp_hub::telemetry::read(&hub.log()).unwrap();
    assert_eq!(records.iter().map(|it| it.chain.join(">")).collect::<Vec<_>>(), ["a>b", "a"]);
}

async fn client(server: &Arc<Server>) -> Client {
    let server = server.clone();
    let sdk: mcp_client::config::Sdk = Arc::new(move || {
        let (near, far) = Connection::pair();
        tokio::spawn(service::serve(server.clone(), far));
        Box::pin(std::future::ready(Ok(near)))
    });
    let entry = Entry {
        name: "hub".to_owned(),
        transport: Transport::Sdk,
        sdk: Some(sdk),
        ..Entry::default()
    };
    Client::connect(&entry, Options::default()).await.unwrap()
}

async fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let result = client.call(tool, arguments, |_| ()).await.unwrap();
    mcp_wire::body::text(&result, &["content"]).unwrap_or_else(|| result.get().to_owned())
}

#[tokio::test]
async fn a_mode_holds_for_the_session_that_has_set_it() {
    let dir = tempfile::tempdir().unwrap();
    let hub =
        hub(dir.path(), &format!("  - {{name: gpt, kind: run, url: '{}'}}", run(echoes()).await))
            .await;
    let server = Server::new(hub);
    let (one, other) = (client(&server).await, client(&server).await);
    let names: Vec<_> = one.tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["ask_gpt", "ask_agent", "list_agents", "set_mode"]);
    assert!(
        call(&one, "set_mode", json!({ "mode": "deduce" })).await.contains("asked in deduce mode")
    );
    assert!(call(&one, "set_mode", json!({ "mode": "shout" })).await.contains("there is no mode"));
    let prompt = json!({ "prompt": "why?" });
    assert!(call(&one, "ask_gpt", prompt.clone()).await.contains("[DEDUCE MODE]"));
    assert!(call(&other, "ask_gpt", prompt).await.contains("[COLLABORATE MODE]"));
    let named = json!({ "agent": "gpt", "prompt": "why?", "mode": "agree" });
    assert!(call(&one, "ask_agent", named).await.contains("[AGREE MODE]"));
    let wrong = json!({ "prompt": "why?", "context": { "file": "x" } });
    assert!(call(&one, "ask_gpt", wrong).await.contains("context.file: unknown field"));
    assert!(call(&one, "list_agents", json!({})).await.contains("gpt (run, its own model): ready"));
}

#[tokio::test]
async fn a_question_that_takes_long_reports_progress() {
    let dir = tempfile::tempdir().unwrap();
    let (done, waits) = tokio::sync::watch::channel(false);
    let url = run(Arc::new(move |_| {
        let mut waits = waits.clone();
        Box::pin(async move {
            waits.wait_for(|done| *done).await.unwrap();
            Some(json!({ "response": "at last" }).to_string())
        })
    }))
    .await;
    let hub = hub(dir.path(), &format!("  - {{name: gpt, kind: run, url: '{url}'}}")).await;
    let client = client(&Server::new(hub)).await;
    let reports = std::sync::Mutex::new(Vec::new());
    tokio::time::pause();
    let result = client.call("ask_gpt", json!({ "prompt": "why?" }), |report| {
        let mut reports = reports.lock().unwrap();
        reports.push(mcp_wire::body::text(report, &["message"]).unwrap());
        if reports.len() == 2 {
            tokio::time::resume();
            done.send_replace(true);
        }
    });
    assert!(result.await.unwrap().get().contains("at last"));
    assert_eq!(*reports.lock().unwrap(), ["gpt: 5 s, 0 tool calls", "gpt: 10 s, 0 tool calls"]);
}
