//! What the HTTP client makes of a server's answers: scripted ones, and those of the official SDK.

use std::time::Duration;

use mcp_wire::http::{ClientOptions, ServerOptions};
use mcp_wire::{Cause, Connection, Error, Frame};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::links::listen;

/// Whether it is what a client must make of an answer.
type Wanted = fn(Result<Frame, Error>) -> bool;

fn failed(came: Result<Frame, Error>, wanted: &Cause) -> bool {
    matches!(came, Err(Error::Failed { id: Some(_), cause, .. }) if cause == *wanted)
}

/// Answers each request with the next of these, whatever it is.
async fn scripted(answers: Vec<String>) -> (ClientOptions, tokio::task::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let mut seen = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = String::new();
            while !request.contains("\r\n\r\n")
                || request.starts_with("POST") && !request.ends_with('}')
            {
                let mut some = [0; 4096];
                let length = stream.read(&mut some).await.unwrap();
                request.push_str(&String::from_utf8_lossy(&some[..length]));
            }
            seen.push(request);
            let answer = answer.replace('\n', "\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        seen
    });
    (ClientOptions::new(&url), serving)
}

fn says(status: &str, headers: &str, body: &str) -> String {
    let length = body.len() + body.matches('\n').count();
    let headers = if headers.is_empty() { String::new() } else { format!("\n{headers}") };
    format!("HTTP/1.1 {status}\nConnection: close{headers}\nContent-Length: {length}\n\n{body}")
}

async fn first(connection: &mut Connection, frame: Frame) -> Result<Frame, Error> {
    connection.writer.send(frame).await.unwrap();
    connection.reader.recv().await.unwrap()
}

#[tokio::test]
async fn a_client_tells_a_lost_session_a_login_and_an_answer_apart() {
    let error = |code: i32, message: &str| {
        let error =
            json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
        error.to_string()
    };
    let json = "Content-Type: application/json";
    let begun = || {
        says(
            "200 OK",
            &format!("{json}\nMcp-Session-Id: s"),
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}"#,
        )
    };
    let lost_ts =
        says("400 Bad Request", json, &error(-32000, "Bad Request: No valid session ID provided"));
    let table: [(String, Wanted); 6] = [
        (says("404 Not Found", "", ""), |it| failed(it, &Cause::SessionLost)),
        (lost_ts, |it| failed(it, &Cause::SessionLost)),
        (says("400 Bad Request", json, &error(-32602, "bad params")), |it| {
            it.is_ok_and(|it| it.error.is_some())
        }),
        (
            says("401 Unauthorized", "WWW-Authenticate: Bearer x", "who?"),
            |it| matches!(it, Err(Error::Failed { cause: Cause::Refused(401, Some(_)), reason, .. }) if reason.ends_with("401: who?")),
        ),
        (says("200 OK", json, "<html>"), |it| failed(it, &Cause::Unanswered)),
        (says("202 Accepted", "", ""), |it| failed(it, &Cause::Unanswered)),
    ];
    for (answer, wanted) in table {
        let (options, serving) = scripted(vec![begun(), answer.clone()]).await;
        let mut client = mcp_wire::http::connect(options);
        first(&mut client, Frame::request(1, "initialize", json!({}))).await.unwrap();
        let came = first(&mut client, Frame::request(2, "tools/list", json!({}))).await;
        assert!(wanted(came), "{answer}");
        let seen = serving.await.unwrap()[1].to_lowercase();
        assert!(
            seen.contains("mcp-session-id: s") && seen.contains("mcp-protocol-version: 2025-11-25")
        );
    }
}

#[tokio::test]
async fn a_client_resumes_a_stream_after_the_time_that_the_server_wants() {
    let stream = "Content-Type: text/event-stream";
    let answer = r#"data: {"jsonrpc":"2.0","id":1,"result":{}}"#;
    let (options, serving) = scripted(vec![
        says("200 OK", stream, "id: 5\nretry: 30\ndata:\n\n"),
        says("503 Service Unavailable", "", ""),
        says("200 OK", stream, &format!("id: 6\n{answer}\n\n")),
    ])
    .await;
    let mut client = mcp_wire::http::connect(options);
    let began = std::time::Instant::now();
    let came = first(&mut client, Frame::request(1, "tools/list", json!({}))).await.unwrap();
    assert!(came.result.is_some() && began.elapsed() >= Duration::from_millis(90));
    let seen = serving.await.unwrap();
    assert!(
        seen[1..]
            .iter()
            .all(|it| it.starts_with("GET") && it.to_lowercase().contains("last-event-id: 5"))
    );
}

#[tokio::test]
async fn the_official_sdk_is_met_at_both_ends() {
    use rmcp::ServiceExt;
    use rmcp::transport::StreamableHttpClientTransport;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(mcp_everything::serve_http(listener));
    let (mut front, options) = listen(ServerOptions::default()).await;
    // Our client behind our server, the SDK at both far ends: what a relay is.
    tokio::spawn(async move {
        while let Some(client) = front.accept().await {
            let back = mcp_wire::http::connect(ClientOptions::new(&url));
            let (mut up, mut down) = (client.reader, back.reader);
            tokio::spawn(async move {
                while let Some(Ok(frame)) = up.recv().await {
                    back.writer.send(frame).await.unwrap();
                }
            });
            tokio::spawn(async move {
                while let Some(came) = down.recv().await {
                    client.writer.send(came.unwrap()).await.unwrap();
                }
            });
        }
    });
    let transport = StreamableHttpClientTransport::from_uri(options.url.clone());
    let client = ().serve(transport).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool.name == "test_simple_text"));
    let call = rmcp::model::CallToolRequestParams::new("test_tool_with_progress");
    let result: Value = serde_json::to_value(client.call_tool(call).await.unwrap()).unwrap();
    assert!(result["content"][0]["text"].as_str().unwrap().contains("reported"));
    client.cancel().await.unwrap();
}
