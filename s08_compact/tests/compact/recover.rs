//! The emergency: the API has refused a prompt as too long.

use mock_servers::model::says;
use s01_loop::ApiError;

use crate::stage::{Stage, asking, results, round, rounds, shape, short_rounds, wire};

fn refused(message: &str) -> ApiError {
    ApiError::Status {
        status: 400,
        kind: "invalid_request_error".into(),
        message: message.into(),
        retry_after: None,
    }
}

fn too_long() -> ApiError {
    refused("prompt is too long: 210000 tokens > 200000 maximum")
}

#[tokio::test]
async fn it_helps_once_until_a_request_went_through() {
    let stage = Stage::scripted(200_000, [says("Read."), says("fine"), says("Read on.")]);
    let mut history = rounds("the request", 4, 20_000);
    assert!(stage.compactor.recover(&too_long(), &mut history).await);
    assert!(shape(&history)[0].ends_with("</conversation-summary> | the request"));
    assert!(!stage.compactor.recover(&too_long(), &mut history).await, "twice in a row");
    let reply = stage.send(&history).await;
    history.reply(&reply);
    history.user("and now this");
    round(&mut history, &[("n1", &"x".repeat(9_000))]);
    round(&mut history, &[("n2", "short")]);
    assert!(stage.compactor.recover(&too_long(), &mut history).await);
}

#[tokio::test]
async fn a_newest_round_that_is_too_large_by_itself_goes_into_files() {
    let stage = Stage::scripted(200_000, [says("fine")]);
    let mut history = asking("read them all");
    let text = "x".repeat(29_000);
    round(&mut history, &[("a", &text), ("b", &text), ("c", "short")]);
    assert!(stage.compactor.recover(&too_long(), &mut history).await);
    let results = results(&history);
    assert!(results[0].starts_with("<persisted-output"), "{}", results[0]);
    assert_eq!(results[2], "short");
    stage.send(&history).await;
}

#[tokio::test]
async fn where_nothing_helps_the_answer_is_no_and_nothing_is_lost() {
    let alone = asking(&"x".repeat(900_000));
    let mut noted = asking("go");
    for id in ["a", "b"] {
        short_rounds(&mut noted, &[id]);
        noted.remind(["<mail>".to_owned() + &id.repeat(2_000)]);
    }
    noted.user("the next request");
    let reads = || rounds("the request", 4, 20_000);
    let at_least = "messages: at least one message is required";
    for (mut history, error, replies) in [
        (alone, too_long(), vec![]),
        (noted, too_long(), vec![says(" ")]),
        (reads(), refused("max_tokens: 413 > 400"), vec![]),
        (reads(), refused(at_least), vec![]),
    ] {
        let stage = Stage::scripted(200_000, replies);
        let before = wire(&history);
        assert!(!stage.compactor.recover(&error, &mut history).await);
        assert_eq!(wire(&history), before);
    }
}
