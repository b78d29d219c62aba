//! What a peer promises to those who ask and to those who answer.

use std::time::Duration;

use mcp_wire::peer::{CallError, Incoming};
use mcp_wire::{Cause, Connection, Error, Frame, Id, Peer, body};
use serde_json::json;
use tokio::time::{Instant, advance, timeout};

async fn asked(server: &mut Connection) -> Frame {
    server.reader.recv().await.unwrap().unwrap()
}

#[tokio::test]
async fn answers_find_their_requests_in_any_order_and_however_the_id_is_written() {
    let (client, mut server) = Connection::pair();
    let (peer, _incoming) = Peer::new(client);
    let (one, two) = (peer.call("a", ()).await, peer.call("b", json!([1])).await);
    let (first, second) = (asked(&mut server).await, asked(&mut server).await);
    let text = second.id.unwrap().as_json().to_owned();
    server.writer.send(Frame::result(Id::from(text.as_str()), json!("two"))).await.unwrap();
    server.writer.send(Frame::result(Id::from(99), json!("nobody's"))).await.unwrap();
    server.writer.send(Frame::error(first.id, -32001, "no")).await.unwrap();
    assert_eq!(two.result().await.unwrap().get(), "\"two\"");
    assert_eq!(one.result().await.unwrap_err().to_string(), "no");
}

#[tokio::test(start_paused = true)]
async fn progress_starts_the_time_anew_and_what_is_given_up_is_cancelled_once() {
    let (client, mut server) = Connection::pair();
    let (peer, _incoming) = Peer::new(client);
    let limit = Duration::from_secs(10);
    let mut call = peer.call_with_progress("slow", json!({ "x": 1.0 })).await.timeout(limit);
    let frame = asked(&mut server).await;
    let token = body::get(frame.params.as_deref().unwrap(), &["_meta", "progressToken"]).unwrap();
    let report = json!({ "progressToken": token, "progress": 1 });
    for _ in 0..5 {
        advance(Duration::from_secs(9)).await;
        let told = Frame::notification("notifications/progress", report.clone());
        server.writer.send(told).await.unwrap();
        assert!(call.progress().await.is_some());
    }
    let before = Instant::now();
    assert!(call.progress().await.is_none());
    assert_eq!(before.elapsed(), limit);
    let cancelled = asked(&mut server).await;
    assert!(cancelled.calls("notifications/cancelled"));
    let named = body::get(cancelled.params.as_deref().unwrap(), &["requestId"]).unwrap();
    assert_eq!(Id::parse(named), frame.id);
    let error = call.result().await.unwrap_err();
    assert_eq!(error.to_string(), "no answer and no progress within 10s");
    // Its late answer is nobody's; the next request has its own.
    server.writer.send(Frame::result(frame.id.unwrap(), ())).await.unwrap();
    let next = peer.call("next", ()).await;
    let frame = asked(&mut server).await;
    assert!(frame.calls("next"), "{frame:?}");
    server.writer.send(Frame::result(frame.id.unwrap(), json!(1))).await.unwrap();
    next.result().await.unwrap();
    // A call that is dropped is cancelled too.
    drop(peer.call("forgotten", ()).await);
    assert!(asked(&mut server).await.calls("forgotten"));
    assert!(asked(&mut server).await.calls("notifications/cancelled"));
}

#[tokio::test]
async fn requests_of_the_other_side_are_answered_reported_on_cancelled_and_never_left_open() {
    let (client, mut server) = Connection::pair();
    let (peer, mut incoming) = Peer::new(client);
    let meta = json!({ "_meta": { "progressToken": "t" } });
    for (id, method) in [(1, "roots/list"), (2, "slow"), (3, "dropped")] {
        server.writer.send(Frame::request(id, method, meta.clone())).await.unwrap();
    }
    let cancel = Frame::notification("notifications/cancelled", json!({ "requestId": 2 }));
    server.writer.send(cancel.clone()).await.unwrap();
    server.writer.send(cancel).await.unwrap();
    server.writer.send(Frame::notification("note", ())).await.unwrap();
    let Some(Incoming::Request(request)) = incoming.recv().await else { panic!() };
    request.report(json!({ "progress": 1 })).await;
    request.answer(json!({ "roots": [] })).await;
    let told = asked(&mut server).await;
    assert_eq!(told.params.unwrap().get(), r#"{"progress":1,"progressToken":"t"}"#);
    assert_eq!(asked(&mut server).await.id, Some(Id::from(1)));
    let Some(Incoming::Request(mut slow)) = incoming.recv().await else { panic!() };
    slow.cancelled().await;
    slow.answer("too late").await;
    let Some(Incoming::Request(dropped)) = incoming.recv().await else { panic!() };
    drop(dropped);
    let refused = asked(&mut server).await;
    assert_eq!((refused.id, refused.error.is_some()), (Some(Id::from(3)), true));
    assert!(matches!(incoming.recv().await, Some(Incoming::Notification(_))));
    // Nobody listens any more: what is asked is refused all the same.
    drop(incoming);
    server.writer.send(Frame::request(4, "ping", ())).await.unwrap();
    assert_eq!(asked(&mut server).await.id, Some(Id::from(4)));
    drop(peer);
    assert!(server.reader.recv().await.is_none());
}

#[tokio::test]
async fn an_end_tells_every_waiter_why() {
    let (client, server) = Connection::pair();
    let (peer, _incoming) = Peer::new(client);
    let waiting = [peer.call("a", ()).await, peer.call("b", ()).await];
    drop(server);
    for call in waiting {
        let error = call.result().await.unwrap_err();
        assert_eq!(error.to_string(), "the connection has ended: the other side has closed it");
    }
    let error = peer.call("late", ()).await.result().await.unwrap_err();
    assert!(matches!(error, CallError::Transport(Error::Broken(_))), "{error}");

    let (listener, options) = crate::links::listen(Default::default()).await;
    drop(listener);
    let (peer, _incoming) = Peer::new(mcp_wire::http::connect(options));
    let asked = timeout(Duration::from_secs(60), peer.call("initialize", json!({})).await.result());
    let error = asked.await.unwrap().unwrap_err();
    let CallError::Transport(Error::Failed { cause, .. }) = error else { panic!("{error:?}") };
    assert_eq!(cause, Cause::Unsent);
}
