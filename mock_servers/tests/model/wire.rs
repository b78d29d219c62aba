//! The forms of an answer: plain and streamed, counted tokens, lists of models.

use mock_servers::model::{Block, MockModel, Options, calls, says};
use serde_json::{Value, json};

use crate::client::{asks, hello, post, post_beta, post_bytes, send, streamed};

/// The same request with this limit on the reply.
fn limited(mut request: Value, max_tokens: u32) -> Value {
    request["max_tokens"] = json!(max_tokens);
    request
}

/// Puts the deltas of one block together.
fn joined(events: &[(String, Value)], field: &str) -> String {
    events.iter().filter_map(|(_, data)| data["delta"][field].as_str()).collect()
}

fn reads() -> mock_servers::model::Reply {
    says("I read it.").and_calls("read", json!({"path": "a.txt", "limit": 20}))
}

#[test]
fn a_plain_answer_is_one_message() {
    let model = MockModel::scripted([reads()]);
    let response = post(&model, &hello());
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert!(response.header("request-id").is_some_and(|id| id.starts_with("req_")));
    let mut body = response.json();
    for (place, prefix) in [("/id", "msg_01"), ("/content/1/id", "toolu_01")] {
        let id = body.pointer_mut(place).expect(place).take();
        assert!(id.as_str().is_some_and(|id| id.starts_with(prefix)), "{id}");
    }
    let expected = json!({
        "id": null,
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [
            {"type": "text", "text": "I read it."},
            {"type": "tool_use", "id": null, "name": "read", "input": {"path": "a.txt", "limit": 20}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": null,
        "usage": {
            "input_tokens": 2,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 11,
            "service_tier": "standard",
        },
    });
    assert_eq!(body, expected);
}

#[test]
fn a_streamed_answer_has_the_events_of_the_api() {
    let model = MockModel::scripted([reads()]);
    let response = post(&model, &streamed(hello()));
    let content_type = response.header("content-type");
    assert_eq!(content_type, Some("text/event-stream; charset=utf-8"));
    assert!(response.complete);
    let events = response.events();
    let names = events.iter().map(|(name, _)| name.as_str());
    assert_eq!(
        names.collect::<Vec<_>>().join(" "),
        "message_start ping content_block_start content_block_delta content_block_stop content_block_start \
         content_block_delta content_block_delta content_block_stop message_delta message_stop"
    );
    assert!(events.iter().all(|(name, data)| data["type"] == *name));
    assert_eq!(events[0].1["message"]["usage"]["input_tokens"], 2);
    assert_eq!(events[0].1["message"]["stop_reason"], Value::Null);
    assert_eq!(joined(&events, "text"), "I read it.");
    assert_eq!(events[5].1["content_block"]["input"], json!({}));
    let empty = json!({"type": "input_json_delta", "partial_json": ""});
    assert_eq!(events[6].1["delta"], empty);
    let arguments = r#"{"limit":20,"path":"a.txt"}"#;
    assert_eq!(joined(&events, "partial_json"), arguments);
    assert_eq!(events[9].1["delta"]["stop_reason"], "tool_use");
    assert_eq!(events[9].1["usage"]["output_tokens"], 11);
}

#[test]
fn text_comes_in_pieces_that_split_no_character_and_slower_in_more_of_them() {
    let poem = "Über den Flüssen, 你好, und weiter. ".repeat(20);
    let mut counts = Vec::new();
    for tokens_per_second in [None, Some(100_000)] {
        let options = Options {
            tokens_per_second,
            ..Options::strict()
        };
        let model = MockModel::scripted_with(options, [says(poem.as_str()), says(poem.as_str())]);
        let events = post(&model, &streamed(hello())).events();
        assert_eq!(joined(&events, "text"), poem);
        counts.push(events.len());
        assert_eq!(post(&model, &hello()).json()["content"][0]["text"], poem);
    }
    assert!(counts[0] > 10 && counts[1] > 10 * counts[0], "{counts:?}");
}

#[test]
fn what_is_longer_than_max_tokens_is_cut() {
    let input = json!({"append": true, "content": "all of it, word for word"});
    let (words, call) = (says("Four times four."), calls("write", input));
    let model = MockModel::scripted([words.clone(), words, call.clone(), call]);
    let ask = |max_tokens| {
        let request = limited(hello(), max_tokens);
        let plain = post(&model, &request).json();
        let events = post(&model, &streamed(request)).events();
        let reason = events[events.len() - 2].1["delta"]["stop_reason"].clone();
        assert_eq!((&plain["stop_reason"], &reason), (&json!("max_tokens"), &reason));
        assert_eq!(plain["usage"]["output_tokens"], max_tokens);
        (plain["content"][0].clone(), events)
    };
    let (plain, events) = ask(2);
    assert_eq!(
        (&plain["text"], joined(&events, "text").as_str()),
        (&json!("Four tim"), "Four tim")
    );
    let (plain, events) = ask(10);
    assert_eq!(plain["input"], json!({"append": true}));
    let half = r#"{"append":true,"content":"all of"#;
    assert_eq!(joined(&events, "partial_json"), half);
}

#[test]
fn tokens_are_counted_without_an_answer() {
    let model = MockModel::scripted([]);
    let request = json!({
        "model": "claude-sonnet-5-5",
        "system": "12345678",
        "tools": [{"name": "read", "description": "1234", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "12345"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "1234"},
                {"type": "image", "source": {"type": "file", "file_id": "a"}},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "12345678"}},
                {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}]},
        ],
    });
    let response = post_bytes(&model, "/v1/messages/count_tokens", request.to_string().as_bytes());
    assert_eq!(
        response.json(),
        json!({"input_tokens": 2 + (1 + 1 + 5) + 2 + (1 + 1) + 1 + 1600 + 2 + 3000})
    );
    let missing = post_bytes(&model, "/v1/messages/count_tokens", b"{}");
    assert_eq!(missing.status, 400);
    assert_eq!((model.requests().len(), model.refusals().len()), (0, 1));
}

#[test]
fn models_are_listed_in_pages() {
    let model = MockModel::scripted([]);
    let get = |path: &str| {
        let version = ("anthropic-version", "2023-06-01");
        send(&model, "GET", &format!("/v1/models{path}"), &[version], b"")
    };
    // The third is what the chapters ask for unless they are told another.
    let known = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-sonnet-4-6", "claude-haiku-4-5"];
    for (query, ids, has_more) in [
        ("", 0..4, false),
        ("?limit=1", 0..1, true),
        ("?limit=2&after_id=claude-opus-5-5", 1..3, true),
        ("?after_id=claude-haiku-4-5", 4..4, false),
        ("?limit=2&before_id=claude-haiku-4-5", 1..3, true),
    ] {
        let list = get(query).json();
        let data = list["data"].as_array().expect("a list");
        let listed: Vec<_> = data.iter().map(|model| &model["id"]).collect();
        assert_eq!(listed, known[ids.clone()], "{query}");
        assert_eq!(list["has_more"], has_more, "{query}");
        let ends = (&list["first_id"], &list["last_id"]);
        let expected = (json!(known[ids.clone()].first()), json!(known[ids].last()));
        assert_eq!(ends, (&expected.0, &expected.1), "{query}");
    }
    assert_eq!(get("/claude-opus-5-5").json()["display_name"], "Claude Opus 5.5");
    let limit = "limit: Input should be a whole number from 1 to 1000";
    for (query, message) in [
        ("?limit=0", limit),
        ("?limit=many", limit),
        ("?after_id=gpt", "after_id: no model has the id 'gpt'"),
    ] {
        let refused = get(query);
        assert_eq!(refused.status, 400, "{query}");
        assert_eq!(refused.json()["error"]["message"], message);
    }
}

#[test]
fn no_tokens_at_all_fill_the_cache_without_a_reply() {
    let model = MockModel::scripted([says("Fine.")]);
    let mut request = limited(hello(), 0);
    let control = json!({"type": "ephemeral"});
    request["system"] =
        json!([{"type": "text", "text": "s".repeat(8000), "cache_control": control}]);
    let warm = post(&model, &request).json();
    assert_eq!((&warm["content"], &warm["stop_reason"]), (&json!([]), &json!("max_tokens")));
    let usage = &warm["usage"];
    assert_eq!(usage["cache_creation_input_tokens"], 2000);
    assert_eq!(usage["output_tokens"], 0);
    let asked = post(&model, &limited(request, 100)).json();
    assert_eq!(asked["usage"]["cache_read_input_tokens"], 2000);
}

/// A brain reads what messages with the role `system` say at the end of the system prompt; they cost what they say, until
/// they end.
#[test]
fn instructions_in_mid_conversation_are_read_and_counted() {
    let says = |role: &str, words: &str| json!({"role": role, "content": words});
    let (user, assistant) = (says("user", "1234"), says("assistant", "1234"));
    let english = json!({"role": "system", "content": [{"type": "text", "text": "In English."}]});
    let (brief, now) = (says("system", "Be brief."), says("system", "Now."));
    let mut passing = says("system", "12345678");
    passing["clear_at"] = "next_user_message".into();
    let long = json!([user, brief, assistant, user, english, now]);
    let later = "Be brief.\n\nIn English.\n\nNow.";
    for (prompt, messages, tokens, system) in [
        ("", long.clone(), 10, later),
        ("1234", long, 11, &*format!("1234\n\n{later}")),
        ("", json!([user, passing]), 1 + 2, "12345678"),
        ("", json!([user, passing, assistant]), 1 + 2 + 1, "12345678"),
        ("", json!([user, passing, assistant, user]), 1 + 1 + 1, ""),
    ] {
        let model = MockModel::scripted([mock_servers::model::says("Fine.")]);
        let mut request = asks("");
        (request["system"], request["messages"]) = (json!(prompt), messages);
        let beta = "mid-conversation-system-clear-at-2026-08-21";
        let answer = post_beta(&model, beta, &request).json();
        assert_eq!(answer["usage"]["input_tokens"], tokens, "{request}");
        let seen = model.last_request();
        assert_eq!(&*seen.system, system, "{request}");
        assert!(seen.messages.len() <= 3, "instructions are no turn");
    }
}

#[test]
fn the_root_says_what_this_is() {
    let model = MockModel::scripted([]);
    let response = send(&model, "GET", "/", &[], b"");
    assert!(response.text().contains("mock model"), "{response:?}");
    // What a client sends that only asks whether anybody is there.
    let head = send(&model, "HEAD", "/", &[], b"");
    assert_eq!((head.status, head.text()), (200, ""));
}

#[test]
fn messages_of_one_role_are_combined_and_the_order_of_keys_does_not_matter() {
    let model = MockModel::scripted([says("One."), says("Two.")]);
    let head = r#""model":"m","max_tokens":10,"system":"S""#;
    let second = r#"{"role":"user","content":[{"type":"text","text":"Two."}]}"#;
    let talk = format!(r#""messages" : [ {{"content":"One.","role":"user"}}, {second} ]"#);
    for body in [format!("{{{head},{talk}}}"), format!(" {{ {talk} , {head} }} ")] {
        let response = post_bytes(&model, "/v1/messages", body.as_bytes());
        assert_eq!(response.status, 200, "{body}");
    }
    for seen in model.requests() {
        let texts = ["One.", "Two."].map(|text| Block::Text(text.to_owned()));
        assert_eq!(seen.messages.len(), 1);
        assert_eq!(seen.messages[0].blocks, texts);
    }
}
