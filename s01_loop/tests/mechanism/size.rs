//! How large a conversation may be and is.

use std::sync::Arc;

use mock_servers::model::{MockModel, says};
use s01_loop::{Client, Settings, Unobserved};
use serde_json::json;

use super::client::{asking, client_of, tools};

#[test]
fn the_context_window_is_a_setting_and_must_be_a_number() {
    let client = |written: &str| {
        let settings = Settings {
            base_url: Some("http://localhost:1".into()),
            context_tokens: Some(written.into()),
            ..Settings::default()
        };
        Client::new(settings, Arc::new(Unobserved))
    };
    assert_eq!(client("32_000").unwrap().context_tokens(), 32_000);
    // Also where the mock model knows better, so that a class can see what a wrong belief leads to.
    let believing = Settings {
        context_tokens: Some("1,000".into()),
        ..Settings::default()
    };
    let client_of_mock = Client::new(believing, Arc::new(Unobserved)).unwrap();
    assert_eq!(client_of_mock.context_tokens(), 1_000);
    let error = client("many").err().unwrap().to_string();
    assert!(error.starts_with("MODEL_CONTEXT_TOKENS is no number"), "{error}");
}

#[tokio::test]
async fn the_history_sums_up_what_the_replies_of_a_turn_cost() {
    let model = MockModel::scripted([says("One."), says("Two."), says("Three.")]);
    let client = client_of(&model);
    let mut history = asking("go");
    let mut last = 0;
    for _ in 0..2 {
        let reply = client.send("", &history, &[]).await.unwrap();
        history.reply(&reply);
        history.remind(["and?"]);
        last = reply.usage.total();
    }
    assert!(history.tokens() > last);
    assert!(history.spent().total() > last);
    history.user("next");
    assert_eq!(history.spent().total(), 0);
    history.reply(&client.send("", &history, &[]).await.unwrap());
    assert_eq!(history.spent().total(), history.tokens());
}

#[tokio::test]
async fn a_reply_in_parts_has_no_seam_and_costs_all_of_them_but_is_as_large_as_it_is() {
    let model = MockModel::scripted([
        says("One, two, "),
        says("three.").and_calls("bash", json!({"command": "ls"})),
    ]);
    let client = client_of(&model);
    let mut history = asking("count");
    let first = client.send("", &history, &tools()).await.unwrap();
    let mut aside = history.clone();
    aside.reply(&first);
    aside.remind(["go on"]);
    let second = client.send("", &aside, &tools()).await.unwrap();
    let size = second.usage.total();
    let cost = first.usage.total() + size;
    let joined = first.followed_by(second);
    assert_eq!(joined.message().text(), "One, two, three.");
    assert_eq!(joined.message().blocks().len(), 2);
    assert!(joined.wants_tools());
    assert_eq!((joined.stop_reason.as_str(), joined.usage.total()), ("tool_use", cost));
    history.reply(&joined);
    assert_eq!(history.tokens(), size);
    assert_eq!(history.spent().total(), cost);
}
