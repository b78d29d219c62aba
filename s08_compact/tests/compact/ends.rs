//! The end of a conversation: what the compactor kept of it is no business of the next one.

use mock_servers::model::says;
use s01_loop::ToolCall;

use serde_json::{Map, json};

use crate::stage::{Stage, rounds, shape, wire};

#[tokio::test]
async fn what_a_conversation_that_is_over_has_asked_for_is_forgotten() {
    let replies = std::iter::repeat_n(says(" "), 3).chain([says("On its own.")]);
    let stage = Stage::scripted(20_000, replies);
    let mut full = rounds("go", 3, 20_000);
    for _ in 0..3 {
        stage.compactor.shrink(&mut full).await;
    }
    let asks = ToolCall {
        id: "compact_1".into(),
        name: "compact".into(),
        input: json!({}),
        extra: Map::new(),
    };
    assert!(!stage.compactor.tool().call(asks).await.is_error);
    stage.compactor.clear();
    let mut small = rounds("another", 2, 500);
    let before = wire(&small);
    stage.compactor.shrink(&mut small).await;
    assert_eq!(wire(&small), before, "nobody has asked for this one");
    stage.compactor.shrink(&mut full).await;
    assert!(shape(&full)[0].contains("On its own."));
}
