//! Replies that reach their token limit: more room once, then the rest, then an end that can be seen.

use std::sync::Arc;

use mock_servers::model::{Fault, MockModel, Options, Reply, Role, calls, says};
use s01_loop::Settings;
use serde_json::json;

use super::{Sent, send, send_with};
use crate::diary::{Diary, asking, client, recovery, settings};

const RAISED: &str = "asking again with a limit of 64,000 tokens; the reply begins again";

/// Text of so many tokens, which ends in white space.
fn text(tokens: usize) -> String {
    "it ".repeat(tokens * 4 / 3 + 1)
}

/// A call of so many tokens.
fn long_call(tokens: usize) -> Reply {
    calls("bash", json!({"command": "x".repeat(tokens * 4)}))
}

/// The limits that were asked for.
fn limits(model: &MockModel) -> Vec<u32> {
    let requests = model.requests();
    requests.iter().map(|request| request.max_tokens).collect()
}

/// The last line of the conversation that was sent.
fn last_line(model: &MockModel) -> String {
    model.last_request().user_texts().pop().unwrap_or_default()
}

/// A request whose faults begin at this remark.
async fn send_failing(
    model: &Arc<MockModel>,
    remark: &'static str,
    fault: Fault,
    times: u32,
) -> Sent {
    let diary = Diary::failing_at(remark, model, fault, times);
    send_with(client(settings(model.url())), diary).await
}

/// Pitfall 33, too: an escalated limit never taken back.
#[tokio::test]
async fn a_cut_reply_is_asked_for_again_with_more_room_which_is_for_this_request_alone() {
    let whole = text(9_000);
    let model = MockModel::scripted([says(&whole), says(&whole), says("Hi.")]);
    let (diary, mut history) = (Diary::default(), asking("go"));
    let recovery = recovery(&model, &diary);
    let reply = recovery.send("", &mut history, &[]).await.unwrap();
    assert_eq!(reply.message().text(), whole);
    assert_eq!(diary.remarks(), [RAISED]);
    let output = reply.usage.output_tokens;
    assert!(output > 17_000, "both were paid for: {output}");
    history.reply(&reply);
    history.user("next");
    recovery.send("", &mut history, &[]).await.unwrap();
    assert_eq!(limits(&model), [8_000, 64_000, 8_000]);
}

#[tokio::test]
async fn the_rest_is_asked_for_and_becomes_one_reply_without_a_seam() {
    let (long, end) = (text(64_000), "and so it ends.");
    let replies = [&text(8_001), &long, &long, end, "Hi."];
    let model = MockModel::scripted(replies.map(says));
    let sent = send(&model).await;
    // What fits of a part, as the model cuts it.
    let part = &long[..256_000];
    assert_eq!(sent.text(), format!("{part}{part}{end}"));
    let rest = ["asking for the rest (1/3)", "asking for the rest (2/3)"];
    assert_eq!(sent.diary.remarks(), [RAISED, rest[0], rest[1]]);
    assert!(last_line(&model).starts_with("<continue>\nYour reply reached its token limit."));
    let sent_part = &model.last_request().messages[1];
    assert_eq!((sent_part.role, sent_part.blocks.len()), (Role::Assistant, 1));
    let reply = sent.reply();
    assert!(!reply.is_cut());
    let mut history = sent.history.clone();
    history.reply(reply);
    assert_eq!(history.len(), 2, "one message of the user, one of the model");
    let size = reply.message().wire().len() as u64 / 4;
    assert!(history.tokens() < size + 1_000, "the size is not the cost");
    sent.goes_on_with(&model).await;
}

#[tokio::test]
async fn what_has_no_end_and_what_fits_nowhere_end_after_three_continuations() {
    let options = Options {
        context_tokens: 1_000_000,
        ..Options::strict()
    };
    let wordy = || says(text(64_001));
    for (reply, end) in [
        (wordy as fn() -> Reply, "the reply ends here: ask for the rest if you need it"),
        (
            || long_call(65_000),
            "the tool call does not fit into a reply: ask for it in smaller parts",
        ),
    ] {
        let replies = (0..5).map(|_| reply()).chain([says("Hi.")]);
        let model = MockModel::scripted_with(options.clone(), replies);
        let sent = send(&model).await;
        assert!(sent.reply().is_cut() && !sent.reply().wants_tools());
        assert_eq!(limits(&model).len(), 5);
        let remarks = sent.diary.remarks();
        assert!(remarks[3].ends_with("(3/3)"), "{remarks:?}");
        assert_eq!(remarks[4..], [end]);
        sent.goes_on_with(&model).await;
    }
}

/// Pitfall 2: max_tokens cuts a tool_use and the half call stays in the history.
#[tokio::test]
async fn a_call_that_never_fits_is_asked_for_in_smaller_parts() {
    let small = says("In parts, then.").and_calls("bash", json!({"command": "ls"}));
    let wordy = says("I write it.").and_calls("bash", json!({"command": "x".repeat(300_000)}));
    let model = MockModel::scripted([long_call(9_000), wordy, small]);
    let sent = send(&model).await;
    let smaller = "asking for the call in smaller parts (1/3)";
    assert_eq!(sent.diary.remarks(), [RAISED, smaller]);
    assert!(last_line(&model).contains("Make it again in smaller parts"), "{}", last_line(&model));
    let reply = sent.reply();
    assert_eq!(reply.message().text(), "I write it.\nIn parts, then.");
    assert_eq!(reply.tool_calls()[0].input, json!({"command": "ls"}));
}

#[tokio::test]
async fn a_whole_call_beside_a_lost_one_runs_first() {
    let model = MockModel::scripted([calls("bash", json!({"command": "ls"}))
        .and_calls("bash", json!({"command": "x".repeat(40_000)}))]);
    let sent = send(&model).await;
    assert_eq!(sent.reply().tool_calls().len(), 1);
    assert_eq!(sent.diary.remarks(), [""; 0]);
}

#[tokio::test]
async fn a_limit_that_the_model_refuses_is_taken_back_and_the_rest_asked_for() {
    let model = Arc::new(MockModel::scripted([says(text(8_001)), says("the end."), says("Hi.")]));
    // Any 400 will do: the request was fine before, so the new limit is at fault.
    let sent = send_failing(&model, RAISED, Fault::TooLong, 1).await;
    assert!(sent.text().ends_with("the end."), "{}", sent.text().len());
    let remarks = [RAISED, "that limit was refused: asking for the rest (1/3)"];
    assert_eq!(sent.diary.remarks(), remarks);
    assert_eq!(limits(&model), [8_000, 64_000, 8_000]);
    sent.goes_on_with(&model).await;
}

#[tokio::test]
async fn a_limit_never_exceeds_what_is_left_of_the_context_window() {
    // The prompt is what is not left: system, tools and request, some hundred tokens.
    for (window, raised) in [("20000", 19_500..20_000), ("8000", 8_000..8_001)] {
        let model = MockModel::scripted([says(text(8_001)), says("so.")]);
        let settings = Settings {
            context_tokens: Some(window.into()),
            ..settings(model.url())
        };
        let sent = send_with(client(settings), Diary::default()).await;
        assert!(sent.text().ends_with("so."));
        let asked = limits(&model);
        assert_eq!(asked[0], 8_000);
        assert!(raised.contains(&asked[1]), "{asked:?}");
    }
}

#[tokio::test]
async fn what_has_arrived_is_kept_when_no_more_can_be_had() {
    for (remark, parts) in [(RAISED, 1), ("asking for the rest (1/3)", 2)] {
        let replies = [says(text(8_001)), says(text(64_001))].into_iter().take(parts);
        let model = Arc::new(MockModel::scripted(replies.chain([says("Hi.")])));
        let sent = send_failing(&model, remark, Fault::Internal, 10).await;
        assert!(sent.text().len() >= 32_000 && sent.reply().is_cut());
        let remarks = sent.diary.remarks();
        let end = "the reply ends here: the model's API answered 500 (api_error): Internal server error — ask again";
        assert_eq!(remarks[remarks.len() - 2..], ["giving up after 10 tries", end]);
        sent.goes_on_with(&model).await;
    }
}

#[tokio::test]
async fn half_a_call_is_nothing_to_keep() {
    let wordy = says("I write it.").and_calls("bash", json!({"command": "x".repeat(40_000)}));
    let model = Arc::new(MockModel::scripted([wordy, says("Hi.")]));
    let sent = send_failing(&model, RAISED, Fault::Internal, 10).await;
    assert!(sent.error().contains("500"), "{}", sent.error());
    sent.goes_on_with(&model).await;
}
