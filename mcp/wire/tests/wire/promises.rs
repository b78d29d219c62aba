//! Order and fidelity: what the programs on top of the crate are built for.

use mcp_wire::{Frame, Id, Kind};
use serde_json::json;
use serde_json::value::RawValue;

use crate::links::{self, Link};

/// Bodies that a typed model would change: unknown members, order, spaces, long numbers, doubled keys, arrays.
const BODIES: [&str; 9] = [
    r#"{"zzz":{"nobody":["knows"]},"name":"x","arguments":{"b":1,"a":2}}"#,
    r#"{"n":123456789012345678901234567890,"f":1.000000000000000000001,"e":1E400,"z":-0.0}"#,
    r#"[1,"two",{"three":3},null,[]]"#,
    r#"{"content":[{"type":"hologram","data":"…","_meta":{"x":1}}],"isError":false,"unknown":null}"#,
    r#"{"text":"\u00e9\ud83d\ude00 é 😀 \/ \u2028","":{"":""}}"#,
    r#"{ "spaced" : [ 1 , 2 ] }"#,
    r#"{"twice":1,"twice":2}"#,
    r#"{"deep":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[{}]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}"#,
    "{}",
];

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn ids() -> [Id; 4] {
    let long = raw("987654321098765432109876543210");
    [Id::from(7), Id::from("seven"), Id::from(""), Id::parse(&long).unwrap()]
}

/// Sends it from one end and receives it at the other.
async fn carried(link: &mut Link, up: bool, frame: Frame) -> Frame {
    let (from, to) =
        if up { (&link.client, &mut link.server) } else { (&link.server, &mut link.client) };
    from.writer.send(frame).await.unwrap();
    to.reader.recv().await.unwrap().unwrap()
}

#[tokio::test]
async fn every_body_arrives_as_it_was_sent_in_every_place() {
    for mut link in links::all().await {
        let name = link.name;
        // What a request must have without a session is in none of these.
        if link.stateless {
            continue;
        }
        for (body, id) in BODIES.iter().zip(ids().iter().cycle()) {
            let mut asked = Frame::request(id.clone(), "no/such/method", raw(body));
            asked.extra = ",\"trace\":[0,1.50]".into();
            let came = carried(&mut link, true, asked).await;
            assert_eq!(came.params.unwrap().get(), *body, "{name}");
            assert_eq!(&*came.extra, ",\"trace\":[0,1.50]", "{name}");
            assert_eq!(
                (came.id.as_ref(), came.method.as_deref()),
                (Some(id), Some("no/such/method"))
            );
            let told = Frame::notification("notifications/nobody/knows", raw(body));
            let told = carried(&mut link, false, told).await;
            assert_eq!(told.params.unwrap().get(), *body, "{name}");
            let back = Frame::request(id.clone(), "elicitation/none", raw(body));
            let back = carried(&mut link, false, back).await;
            assert_eq!(back.params.unwrap().get(), *body, "{name}");
            let answer = Frame::result(id.clone(), raw(body));
            let answer = carried(&mut link, true, answer).await;
            assert_eq!(answer.result.unwrap().get(), *body, "{name}");
            let answer = carried(&mut link, false, Frame::result(id.clone(), raw(body))).await;
            assert_eq!(answer.result.unwrap().get(), *body, "{name}");
            assert_eq!(answer.id.as_ref(), Some(id), "{name}");
        }
    }
}

#[tokio::test]
async fn without_a_session_only_ids_and_tokens_change_and_the_client_sees_its_own() {
    let mut link = links::stateless().await;
    for (body, id) in BODIES.iter().filter(|body| body.starts_with("{\"")).zip(ids().iter().cycle())
    {
        let meta =
            link.params(json!({ "_meta": { "progressToken": "mine" } }))["_meta"].to_string();
        let params = format!("{},\"_meta\":{meta}}}", &body[..body.len() - 1]);
        let asked = Frame::request(id.clone(), "no/such/method", raw(&params));
        let came = carried(&mut link, true, asked).await;
        let known = came.id.unwrap();
        let renamed = params.replace("\"mine\"", known.as_json());
        assert_eq!(came.params.unwrap().get(), renamed);
        let report = |token: &str| format!("{{\"x\":1.50,\"progressToken\":{token} ,\"y\":[]}}");
        let told = Frame::notification("notifications/progress", raw(&report(known.as_json())));
        let told = carried(&mut link, false, told).await;
        assert_eq!(told.params.unwrap().get(), report("\"mine\""));
        let answer = carried(&mut link, false, Frame::result(known, raw(body))).await;
        assert_eq!(answer.result.unwrap().get(), *body);
        assert_eq!(answer.id.as_ref(), Some(id));
    }
}

#[tokio::test]
async fn three_hundred_notifications_come_before_the_answer_and_in_order() {
    for mut link in links::all().await {
        let name = link.name;
        let mut server = std::mem::replace(&mut link.server, links::in_process().server);
        let serving = tokio::spawn(async move {
            while let Some(Ok(asked)) = server.reader.recv().await {
                let Some(id) = asked.id.filter(|_| asked.method.is_some()) else {
                    continue;
                };
                for n in 0..300 {
                    let params = json!({ "progressToken": &id.to_raw(), "progress": n });
                    // Two thirds are logs: they name no request.
                    let method = ["notifications/progress", "notifications/message"]
                        [n.min(1) * (n % 3).min(1)];
                    server.writer.send(Frame::notification(method, params)).await.unwrap();
                }
                server.writer.send(Frame::result(id, json!({}))).await.unwrap();
            }
        });
        for round in 1..=30_u64 {
            let params = link.params(json!({ "_meta": { "progressToken": round } }));
            let asked = Frame::request(round, "tools/call", params);
            link.client.writer.send(asked).await.unwrap();
            for n in 0..300 {
                let told = link.client.reader.recv().await.unwrap().unwrap();
                assert_eq!(told.kind(), Kind::Notification, "{name}, round {round}");
                let params: serde_json::Value =
                    serde_json::from_str(told.params.unwrap().get()).unwrap();
                assert_eq!(params["progress"], n, "{name}, round {round}");
            }
            let answer = link.client.reader.recv().await.unwrap().unwrap();
            assert_eq!(answer.id, Some(Id::from(round)), "{name}");
        }
        drop(link);
        serving.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_sleeps_makes_its_sender_wait_and_nobody_else() {
    const FLOOD: u64 = 600;
    // The clock of a runtime that is never idle stands still: nobody is cut off for being slow.
    tokio::spawn(async {
        loop {
            tokio::task::yield_now().await;
        }
    });
    for mut link in links::all().await {
        let name = link.name;
        // What is told during a request belongs to its response.
        let asked = Frame::request(1, "tools/call", link.params(json!({})));
        let asked = carried(&mut link, true, asked).await;
        let writer = link.server.writer.clone();
        let flood = tokio::spawn(async move {
            let text = "x".repeat(32 << 10);
            for n in 0..FLOOD {
                let params = json!({ "n": n, "text": text });
                let told = Frame::notification("notifications/x", params);
                writer.send(told).await.unwrap();
            }
            let answer = Frame::result(asked.id.unwrap(), json!({}));
            writer.send(answer).await.unwrap();
        });
        let mut other = links::lines();
        for n in 0..100_u64 {
            let asked = Frame::request(n, "ping", ());
            assert_eq!(carried(&mut other, true, asked).await.id, Some(Id::from(n)));
        }
        assert!(!flood.is_finished(), "{name}");
        for n in 0..FLOOD {
            let told = link.client.reader.recv().await.unwrap().unwrap();
            let came = mcp_wire::body::get(told.params.as_deref().unwrap(), &["n"]).unwrap();
            assert_eq!(came.get(), n.to_string(), "{name}");
        }
        let answer = link.client.reader.recv().await.unwrap().unwrap();
        assert_eq!(answer.id, Some(Id::from(1)), "{name}");
        flood.await.unwrap();
    }
}
