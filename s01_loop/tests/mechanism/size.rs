//! How large a conversation may be and is.

use std::sync::Arc;

use mock_servers::model::{MockModel, says};
use s01_loop::{Client, Settings, Unwatched};

use crate::client::{asking, client_of};

#[test]
fn the_context_window_is_a_setting_and_must_be_a_number() {
    let client = |written: &str| {
        let settings = Settings {
            base_url: Some("http://localhost:1".into()),
            context_tokens: Some(written.into()),
            ..Settings::default()
        };
        Client::new(settings, Arc::new(Unwatched))
    };
    assert_eq!(client("32_000").unwrap().context_tokens(), 32_000);
    let error = client("many").err().unwrap().to_string();
    assert!(
        error.starts_with("MODEL_CONTEXT_TOKENS is no number"),
        "{error}"
    );
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
        history.note("and?");
        last = reply.usage.total();
    }
    assert!(history.tokens() > last);
    assert!(history.spent().total() > last);
    history.user("next");
    assert_eq!(history.spent().total(), 0);
    history.reply(&client.send("", &history, &[]).await.unwrap());
    assert_eq!(history.spent().total(), history.tokens());
}
