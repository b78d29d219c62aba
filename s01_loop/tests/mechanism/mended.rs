//! Replies that the API itself would refuse to be sent back, from servers that are not the API. The mock model is the referee:
//! it checks the request behind each of them.

use mock_servers::model::{MockModel, Reply as Sent, calls, says};
use s01_loop::{History, Message, Output, Reply};
use serde_json::{Value, json};

use crate::client::{asking, client_of, tools};

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
    let block = |block: Value| says("So.").and_block(block);
    for (sent, kept) in [
        (block(call("a.b/c", "bash")), Some(call("a_b_c", "bash"))),
        (
            block(call("", "web.search")),
            Some(call("call", "web_search")),
        ),
        (block(call("a", "")), Some(call("a", "unnamed"))),
        (
            block(call("a", &"n".repeat(200))),
            Some(call("a", &"n".repeat(128))),
        ),
        (
            block(json!({"type": "tool_use"})),
            Some(call("call", "unnamed")),
        ),
        (
            block(
                json!({"type": "tool_use", "id": 7, "name": "bash", "input": ["ls"], "index": 0}),
            ),
            Some(
                json!({"type": "tool_use", "id": "7", "name": "bash", "input": {"not_an_object": ["ls"]}}),
            ),
        ),
        (block(json!({"type": "reasoning", "summary": []})), None),
        (
            block(
                json!({"type": "web_search_tool_result", "tool_use_id": "a", "content": [], "cache_control": 7}),
            ),
            Some(json!({"type": "web_search_tool_result", "tool_use_id": "a", "content": []})),
        ),
        (
            block(json!({"type": "server_tool_use", "id": "a.b", "name": "x", "input": {}})),
            None,
        ),
        (
            block(json!({"type": "thinking", "thinking": "without a signature"})),
            None,
        ),
        (block(json!({"type": "text"})), None),
        (block(json!({"text": "no type"})), None),
        (
            block(json!({"type": "tool_result", "tool_use_id": "a", "content": "b"})),
            None,
        ),
        (
            block(json!({"type": "text", "text": "a", "logprobs": []})),
            Some(json!({"type": "text", "text": "a"})),
        ),
    ] {
        let what = format!("{sent:?}");
        let (replies, _) = next_request_after([sent]).await;
        let blocks = json!(replies[0].message());
        assert_eq!(blocks["content"].get(1), kept.as_ref(), "{what}");
    }
}

#[tokio::test]
async fn an_id_is_used_once_in_a_conversation() {
    let twice = says("So.")
        .and_block(call("a b", "bash"))
        .and_block(call("a/b", "bash"));
    let (replies, _) = next_request_after([twice.clone(), twice]).await;
    let ids = replies
        .iter()
        .flat_map(Reply::tool_calls)
        .map(|call| call.id);
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
        if (101..128).contains(&levels) {
            let output = s01_loop::bash::run("/".as_ref(), call).await;
            assert_eq!(
                output.text,
                "bash: the input was nested more than 100 levels deep and was left out; write it flatter"
            );
        }
        let saved = json!({ "messages": &history[..] }).to_string();
        assert!(serde_json::from_str::<Value>(&saved).is_ok(), "{levels}");
    }
}

#[tokio::test]
async fn a_conversation_that_was_saved_with_all_this_can_be_sent() {
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": id});
    let saved = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [call("a b", "x.y"), call("a b", "z"), {"type": "reasoning"}, {"type": "tool_use"}]},
        {"role": "user", "content": [result("a b"), result("a b")]},
        {"role": "assistant", "content": [{"type": "reasoning"}]},
        {"role": "user", "content": "and now"},
        {"role": "assistant", "content": [{"type": "text", "text": " "}, call("a_b", "bash")]},
        {"role": "user", "content": [result("a_b")]},
    ]);
    let messages: Vec<Message> = serde_json::from_value(saved).unwrap();
    let mut history = History::default();
    history.replace(messages);
    let answered: Vec<_> = history.iter().flat_map(Message::answered_ids).collect();
    assert_eq!(answered, ["a_b", "a_b_2", "call", "a_b_3"]);
    let model = MockModel::scripted([says("Done.")]);
    let sent = client_of(&model).send("", &history, &tools()).await;
    sent.expect("the conversation can be sent");
    let results = model.last_request().results();
    let texts: Vec<_> = results.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!((texts[0], texts[1], texts[3]), ("a b", "a b", "a_b"));
}

#[test]
fn what_is_fit_stays_as_it_is() {
    let saved = json!([
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            {"type": "text", "text": "Hi", "citations": []},
        ]},
    ]);
    let mut history = History::default();
    history.replace(serde_json::from_value(saved.clone()).unwrap());
    assert_eq!(json!(&history[..]), saved);
}
