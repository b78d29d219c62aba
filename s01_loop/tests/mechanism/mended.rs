//! Replies that the API itself would refuse to be sent back, from servers that are not the API. The mock model is the referee:
//! it checks the request behind each of them.

use mock_servers::model::{MockModel, Reply as Sent, calls, says};
use s01_loop::{History, Output, Reply};
use serde_json::{Value, json};

use super::client::{asking, client_of, tools};

/// What becomes of a reply: it is kept, its calls are answered, and the next request is sent.
async fn next_request_after(replies: impl IntoIterator<Item = Sent>) -> (Vec<Reply>, History) {
    let model = MockModel::scripted(replies.into_iter().chain([says("Done.")]));
    let (client, mut history, mut kept) = (client_of(&model), asking("go"), Vec::new());
    loop {
        let reply = client.send("", &history, &tools()).await;
        let reply = reply.expect("the conversation can be sent");
        history.reply(&reply);
        for call in reply.tool_calls() {
            history.answer(&call, Output::ok("done"));
        }
        if reply.message().text() == "Done." {
            return (kept, history);
        }
        if !reply.wants_tools() {
            history.user("go on");
        }
        kept.push(reply);
    }
}

fn call(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {}})
}

#[tokio::test]
async fn whatever_a_reply_holds_the_next_request_can_be_sent() {
    let unreadable = json!({"type": "tool_use", "id": "7", "name": "bash", "input": {"unreadable_input": ["ls"]}});
    for (block, kept) in [
        (call("a.b/c", "bash"), Some(call("a_b_c", "bash"))),
        (call("", "web.search"), Some(call("call", "web_search"))),
        (call("a", ""), Some(call("a", "unnamed"))),
        (call("a", &"n".repeat(200)), Some(call("a", &"n".repeat(128)))),
        (json!({"type": "tool_use"}), Some(call("call", "unnamed"))),
        (
            json!({"type": "tool_use", "id": 7, "name": "bash", "input": ["ls"], "index": 0}),
            Some(unreadable),
        ),
        (json!({"type": "reasoning", "summary": []}), None),
        (json!({"type": "thinking", "thinking": "unsigned"}), None),
        (json!({"type": "text"}), None),
        (json!({"text": "no type"}), None),
        (json!({"type": "tool_result", "tool_use_id": "a", "content": "b"}), None),
        (
            json!({"type": "text", "text": "a", "logprobs": []}),
            Some(json!({"type": "text", "text": "a"})),
        ),
    ] {
        let (replies, _) = next_request_after([says("So.").and_block(block.clone())]).await;
        let blocks = json!(replies[0].message());
        assert_eq!(blocks["content"].get(1), kept.as_ref(), "{block}");
    }
}

#[tokio::test]
async fn an_id_is_used_once_in_a_conversation() {
    let twice = says("So.").and_block(call("a b", "bash")).and_block(call("a/b", "bash"));
    let (replies, _) = next_request_after([twice.clone(), twice]).await;
    let ids = replies.iter().flat_map(Reply::tool_calls).map(|call| call.id);
    assert_eq!(ids.collect::<Vec<_>>(), ["a_b", "a_b_2", "a_b_3", "a_b_4"]);
}

/// An object of so many levels.
fn nested(levels: usize) -> Value {
    (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }))
}

#[tokio::test]
async fn what_is_nested_too_deeply_is_left_out_and_a_conversation_can_be_read_again() {
    for levels in [99, 100, 101, 122, 123, 127, 128, 200] {
        let (replies, history) = next_request_after([calls("bash", nested(levels))]).await;
        let call = &replies[0].tool_calls()[0];
        assert_eq!(call.input == nested(levels), levels <= 100, "{levels}");
        if levels > 100 {
            let output = s01_loop::bash::run("/".as_ref(), call).await;
            assert!(output.text.contains("100 levels deep"), "{levels}");
        }
        let saved = json!({ "messages": &history[..] }).to_string();
        assert!(serde_json::from_str::<Value>(&saved).is_ok(), "{levels}");
    }
}
