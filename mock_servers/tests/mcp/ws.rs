//! A server over WebSocket, on a free port.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::talk::{hello, start};

#[tokio::test]
async fn it_answers_a_client_and_refuses_a_page_of_another_origin() {
    let mut talk = start(&["docs", "--ws", "0"]);
    let url = String::from_utf8(talk.line()).expect("an address is text");
    assert!(url.starts_with("ws://127.0.0.1:"), "{url}");
    for (origin, welcome) in [
        ("http://localhost:3000", true),
        ("https://evil.example", false),
        ("http://127.0.0.1.evil.example", false),
    ] {
        let mut request = url.as_str().into_client_request().expect("it is a URL");
        let headers = request.headers_mut();
        headers.insert("sec-websocket-protocol", "mcp".parse().expect("it is ASCII"));
        headers.insert("origin", origin.parse().expect("it is ASCII"));
        match connect_async(request).await {
            Ok((mut socket, _)) => {
                assert!(welcome, "{origin}");
                let talk = [
                    json!({ "id": 1, "method": "initialize", "params": hello() }),
                    json!({ "method": "notifications/initialized" }),
                    json!({ "id": 2, "method": "tools/list", "params": {} }),
                ];
                for mut said in talk {
                    said["jsonrpc"] = "2.0".into();
                    socket.send(Message::text(said.to_string())).await.expect("it reads");
                }
                let mut answer = async || {
                    let answer = socket.next().await.expect("it answers").expect("it is open");
                    serde_json::from_str::<Value>(answer.to_text().expect("it is text")).unwrap()
                };
                assert_eq!(answer().await["result"]["serverInfo"]["name"], "docs");
                let listed = answer().await;
                assert!(listed["result"]["tools"].is_array(), "{listed}");
            }
            Err(Error::Http(refused)) => {
                assert_eq!((welcome, refused.status().as_u16()), (false, 403), "{origin}");
            }
            Err(error) => panic!("{origin}: {error}"),
        }
    }
}
