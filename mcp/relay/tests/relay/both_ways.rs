//! What backends ask and tell, which client hears it, and what each side gives up, over real sockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_relay::Relay;
use mcp_relay::front::Ready;
use mcp_wire::frame::{Frame, Id, Kind};
use mcp_wire::http::ClientOptions;
use mcp_wire::peer::{Incoming, Request};
use mcp_wire::{Connection, Writer, http};
use serde_json::{Value, json};
use tokio::sync::{Barrier, mpsc};

use crate::front::args;
use crate::scene::{Client, actor, client, greet, relay, said};

/// Says `by: name` to whatever it is asked.
async fn http_client(url: &str, name: &'static str) -> Client {
    let able = json!({ "sampling": {}, "elicitation": {}, "roots": {} });
    let (client, mut told) = greet(http::connect(ClientOptions::new(url)), able).await.split();
    tokio::spawn(async move {
        while let Some(came) = told.recv().await {
            if let Incoming::Request(request) = came {
                request.answer(json!({ "by": name })).await;
            }
        }
    });
    client
}

async fn served(relay: &Arc<Relay>) -> String {
    let front = args(&["--http", "0"]).open(Ready::default(), None).await.unwrap();
    let url = format!("http://{}/mcp", front.address().unwrap());
    let relay = relay.clone();
    tokio::spawn(front.serve(move |client| relay.clone().serve(client)));
    url
}

fn value(frame: &Frame) -> Value {
    serde_json::from_str(&frame.to_string()).unwrap()
}

/// A backend whose one tool asks the question that it is given; the answer is the tool's.
async fn asking(together: Option<Arc<Barrier>>, connections: Arc<AtomicUsize>) -> String {
    actor("2025-11-25", &["ask"], move |number, writer: Writer, frame| {
        let together = together.clone();
        connections.fetch_max(number + 1, Ordering::Relaxed);
        async move {
            let id = frame.id.as_ref().map(|id| id.as_json().trim_matches('"').to_owned());
            if frame.calls("tools/call") {
                if let Some(together) = together {
                    together.wait().await;
                }
                let question = value(&frame)["params"]["arguments"]["question"].clone();
                let question = Frame::request(&*id.unwrap(), question.as_str().unwrap(), json!({}));
                writer.send(question).await.unwrap();
            } else if frame.kind() == Kind::Response {
                let text = frame.result.or(frame.error).unwrap().get().to_owned();
                let id = Id::from(id.unwrap().parse::<u64>().unwrap());
                writer.send(Frame::result(id, said(&text))).await.unwrap();
            }
        }
    })
    .await
}

const META: &str = "io.modelcontextprotocol/subscriptionId";
const QUESTIONS: [&str; 3] = ["sampling/createMessage", "elicitation/create", "roots/list"];

#[tokio::test]
async fn with_isolate_two_clients_whose_calls_overlap_are_each_asked_their_own_question() {
    let connections = Arc::new(AtomicUsize::new(0));
    let url = asking(Some(Arc::new(Barrier::new(2))), connections.clone()).await;
    let relay = relay(&format!("backends: [{{name: b, url: '{url}', isolate: true}}]"));
    let front = served(&relay).await;
    let (one, two) = (http_client(&front, "one").await, http_client(&front, "two").await);
    for question in QUESTIONS {
        let asked = json!({ "question": question });
        let (by_one, by_two) = tokio::join!(one.call("ask", asked.clone()), two.call("ask", asked));
        assert_eq!(by_one.unwrap(), r#"{"by":"one"}"#, "{question}");
        assert_eq!(by_two.unwrap(), r#"{"by":"two"}"#, "{question}");
    }
    // The relay's own, and one for each of the two.
    assert_eq!(connections.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn on_a_shared_connection_whoever_calls_is_asked_and_who_is_unable_refuses() {
    let connections = Arc::new(AtomicUsize::new(0));
    let url = asking(None, connections.clone()).await;
    let relay = relay(&format!("backends: [{{name: b, url: '{url}'}}]"));
    let front = served(&relay).await;
    let (one, two) = (http_client(&front, "one").await, http_client(&front, "two").await);
    let unable = client(&relay).await;
    for question in QUESTIONS {
        let asked = json!({ "question": question });
        assert_eq!(two.call("ask", asked.clone()).await.unwrap(), r#"{"by":"two"}"#);
        assert_eq!(one.call("ask", asked.clone()).await.unwrap(), r#"{"by":"one"}"#);
        let refused = unable.call("ask", asked).await.unwrap();
        assert!(refused.contains("the client does not do this"), "{refused}");
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

/// A backend that hands on all it hears but its lists, and says what it is given.
pub async fn puppet(revision: &'static str) -> (String, mpsc::UnboundedReceiver<Frame>, Puppet) {
    let (seen, frames) = mpsc::unbounded_channel();
    let strings = Puppet::default();
    let held = strings.clone();
    let url = actor(revision, &["ask"], move |_, writer, frame| {
        *held.0.lock().unwrap() = Some(writer);
        let _ = seen.send(frame);
        async {}
    });
    (url.await, frames, strings)
}

#[derive(Clone, Default)]
pub struct Puppet(Arc<std::sync::Mutex<Option<Writer>>>);

impl Puppet {
    pub async fn say(&self, frame: Frame) {
        let writer = self.0.lock().unwrap().clone().unwrap();
        writer.send(frame).await.unwrap();
    }
}

/// The next frame with this method.
pub async fn heard(frames: &mut mpsc::UnboundedReceiver<Frame>, method: &str) -> Frame {
    loop {
        let frame = frames.recv().await.unwrap();
        if frame.calls(method) {
            return frame;
        }
    }
}

#[tokio::test]
async fn a_cancellation_reaches_the_other_side_once_under_its_own_id() {
    let (url, mut frames, backend) = puppet("2025-11-25").await;
    let relay = relay(&format!("backends: [{{name: b, url: '{url}'}}]"));
    let (near, far) = Connection::pair();
    tokio::spawn(relay.clone().serve(far));
    let (client, mut told) = greet(near, json!({ "elicitation": {} })).await.split();
    assert_eq!(client.tools().await, ["ask"]);
    let call = client.peer.call("tools/call", json!({ "name": "ask" })).await;
    let asked = heard(&mut frames, "tools/call").await.id.unwrap();
    backend.say(Frame::request("q", "elicitation/create", json!({}))).await;
    let mut question: Request = loop {
        if let Incoming::Request(request) = told.recv().await.unwrap() {
            break request;
        }
    };
    let taken_back = json!({ "requestId": "q" });
    backend.say(Frame::notification("notifications/cancelled", taken_back)).await;
    question.cancelled().await;
    drop(call);
    let cancelled = heard(&mut frames, "notifications/cancelled").await;
    assert_eq!(value(&cancelled)["params"]["requestId"].to_string(), asked.as_json());
    // Nothing follows: not a second one, and no answer to what was taken back.
    client.peer.notify("notifications/roots/list_changed", ()).await.unwrap();
    assert_eq!(
        frames.recv().await.unwrap().method.as_deref(),
        Some("notifications/roots/list_changed")
    );
}

/// What a client that listens is told, as JSON.
async fn listen(client: &mut Connection, id: u64, filter: Value) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta, "notifications": filter });
    client.writer.send(Frame::request(id, "subscriptions/listen", params)).await.unwrap();
}

#[tokio::test]
async fn a_resource_is_told_of_to_those_who_subscribed_and_acknowledged_after_the_backend() {
    let (url, mut frames, backend) = puppet("2025-11-25").await;
    let relay = relay(&format!("backends: [{{name: b, url: '{url}'}}]"));
    let mut session = client(&relay).await;
    session.tools().await;
    let (mut listener, far) = Connection::pair();
    tokio::spawn(relay.clone().serve(far));
    listen(
        &mut listener,
        7,
        json!({ "toolsListChanged": true, "resourceSubscriptions": ["test://a", "test://none"] }),
    )
    .await;
    let subscribe = heard(&mut frames, "resources/subscribe").await;
    assert_eq!(value(&subscribe)["params"]["uri"], "test://a");
    // The backend has not agreed yet: an answer to what was asked behind it comes first.
    let mut ask = async |id: u64| {
        listener.writer.send(Frame::request(id, "ping", ())).await.unwrap();
        value(&listener.reader.recv().await.unwrap().unwrap())
    };
    assert_eq!(ask(8).await["id"], 8);
    backend.say(Frame::result(subscribe.id.unwrap(), json!({}))).await;
    let told = value(&listener.reader.recv().await.unwrap().unwrap());
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
    let agreed = json!({ "toolsListChanged": true, "resourceSubscriptions": ["test://a"] });
    assert_eq!(
        (&told["params"]["notifications"], &told["params"]["_meta"][META]),
        (&agreed, &json!(7))
    );

    let subscribing = session.peer.call("resources/subscribe", json!({ "uri": "test://a" })).await;
    let subscribe = heard(&mut frames, "resources/subscribe").await;
    backend.say(Frame::result(subscribe.id.unwrap(), json!({}))).await;
    subscribing.result().await.unwrap();
    for uri in ["test://other", "test://a"] {
        backend
            .say(Frame::notification("notifications/resources/updated", json!({ "uri": uri })))
            .await;
    }
    let told = value(&listener.reader.recv().await.unwrap().unwrap());
    assert_eq!(told["params"], json!({ "uri": "test://a", "_meta": { META: 7 } }));
    let told = loop {
        let told = value(&session.told().await);
        if told["method"] == "notifications/resources/updated" {
            break told;
        }
    };
    assert_eq!(told["params"], json!({ "uri": "test://a" }));
    // One of the two goes: the backend is told nothing, and the other still hears.
    session.ask("resources/unsubscribe", json!({ "uri": "test://a" })).await.unwrap();
    backend
        .say(Frame::notification("notifications/resources/updated", json!({ "uri": "test://a" })))
        .await;
    let told = value(&listener.reader.recv().await.unwrap().unwrap());
    assert_eq!(told["params"]["_meta"][META], 7);
}

#[tokio::test]
async fn a_backend_without_sessions_is_listened_to_and_its_acknowledgement_is_the_clients() {
    let (url, mut frames, backend) = puppet("2026-07-28").await;
    let relay = relay(&format!("backends: [{{name: b, url: '{url}'}}]"));
    let mut clients = Vec::new();
    for id in [4, 5] {
        let (mut listener, far) = Connection::pair();
        tokio::spawn(relay.clone().serve(far));
        listen(&mut listener, id, json!({ "resourceSubscriptions": ["test://a"] })).await;
        clients.push((id, listener));
    }
    let mut numbers = Vec::new();
    while numbers.len() < 3 {
        let listen = heard(&mut frames, "subscriptions/listen").await;
        let wanted = value(&listen)["params"].clone();
        let number = listen.id.unwrap().to_raw();
        let filter = json!({ "_meta": { META: number }, "notifications": wanted["notifications"] });
        backend.say(Frame::notification("notifications/subscriptions/acknowledged", filter)).await;
        numbers.push(number);
    }
    for (id, listener) in &mut clients {
        let told = value(&listener.reader.recv().await.unwrap().unwrap());
        assert_eq!(
            told["params"]["notifications"],
            json!({ "resourceSubscriptions": ["test://a"] })
        );
        assert_eq!(told["params"]["_meta"][META], *id);
    }
    // The last one is the second client's.
    let updated = json!({ "uri": "test://a", "_meta": { META: numbers[2] } });
    backend.say(Frame::notification("notifications/resources/updated", updated)).await;
    let told = value(&clients[1].1.reader.recv().await.unwrap().unwrap());
    assert_eq!(told["params"]["_meta"][META], 5);
    // It hangs up: so does the relay.
    let gone = json!({ "requestId": 5 });
    clients[1].1.writer.send(Frame::notification("notifications/cancelled", gone)).await.unwrap();
    let cancelled = heard(&mut frames, "notifications/cancelled").await;
    assert_eq!(value(&cancelled)["params"]["requestId"].to_string(), numbers[2].get());
}

#[tokio::test]
async fn what_nobody_knows_goes_through_byte_for_byte_and_in_order() {
    let (url, mut frames, backend) = puppet("2025-11-25").await;
    let relay = relay(&format!("backends: [{{name: b, url: '{url}'}}]"));
    client(&relay).await.tools().await;
    let (mut near, far) = Connection::pair();
    tokio::spawn(relay.clone().serve(far));
    let send = |text: &str| near.writer.send(Frame::parse(text.as_bytes()).unwrap());
    let arguments = r#"{"big":123456789012345678901234567890,"exact":1.10, "a\u0062":null}"#;
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":"ü-1","method":"tools/call","params":{{"name":"ask","arguments":{arguments},"x-new":[ 1 ],"_meta":{{"progressToken":"t"}}}},"member":true}}"#
    );
    send(&call).await.unwrap();
    let heard_call = heard(&mut frames, "tools/call").await;
    let number = heard_call.id.clone().unwrap();
    let token = number.as_json();
    let params = heard_call.params.as_deref().unwrap().get();
    let wanted = format!(
        r#"{{"name":"ask","arguments":{arguments},"x-new":[ 1 ],"_meta":{{"progressToken":{token}}}}}"#
    );
    assert_eq!((params, &*heard_call.extra), (&*wanted, r#","member":true"#));
    let result =
        r#"{"content":[{"type":"hologram","rays":1e400}],"task":{"id":7},"resultType":"odd"}"#;
    for at in 0..300 {
        let told = match at % 2 {
            0 => format!(
                r#""notifications/progress","params":{{"progressToken":{token},"progress":{at}}}"#
            ),
            _ => format!(r#""notifications/vendor","params":[{at}]"#),
        };
        let told = format!(r#"{{"jsonrpc":"2.0","method":{told}}}"#);
        backend.say(Frame::parse(told.as_bytes()).unwrap()).await;
    }
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{token},"result":{result}}}"#);
    backend.say(Frame::parse(answer.as_bytes()).unwrap()).await;
    for at in 0..300 {
        let told = near.reader.recv().await.unwrap().unwrap();
        let wanted = match at % 2 {
            0 => format!(r#"{{"progressToken":"t","progress":{at}}}"#),
            _ => format!("[{at}]"),
        };
        assert_eq!(told.params.unwrap().get(), wanted);
    }
    let answer = near.reader.recv().await.unwrap().unwrap();
    assert_eq!(answer.id.unwrap(), Id::from("ü-1"));
    assert_eq!(answer.result.unwrap().get(), result);
    // A method that nobody knows goes to the only backend there is.
    let send = |text: &str| near.writer.send(Frame::parse(text.as_bytes()).unwrap());
    send(r#"{"jsonrpc":"2.0","id":2,"method":"vendor/thing","params":[1, 2]}"#).await.unwrap();
    let asked = heard(&mut frames, "vendor/thing").await;
    assert_eq!(asked.params.unwrap().get(), "[1, 2]");
}
