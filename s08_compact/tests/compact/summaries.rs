//! The layer that costs a request: a summary in place of the past.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mock_servers::model::{Fault, Reply, Request, StopReason, calls, says};
use s01_loop::{Block, History, Message, Output, Role, ToolCall};

use serde_json::{Value, json};

use crate::stage::{
    SMALL, Stage, asking, asks, call, is_summary_request, round, rounds, shape, wire,
};

/// Rounds of fresh results that no cheaper layer may touch: three are newest.
fn full(request: &str) -> History {
    rounds(request, 3, 20_000)
}

fn large_round(history: &mut History, number: usize) {
    round(history, &[(&format!("c{number}"), &"x".repeat(20_000))]);
}

fn compact(focus: Value) -> ToolCall {
    ToolCall::new("compact_1", "compact", focus)
}

#[tokio::test]
async fn a_summary_replaces_the_past_and_leaves_request_and_newest_round_word_for_word() {
    let stage = Stage::scripted(SMALL, [says("Two files were read."), says("fine")]);
    let mut history = full("read them all");
    let before = history.to_vec();
    stage.shrink(&mut history).await;
    let summary = format!(
        "<conversation-summary>\nTwo files were read.\n(the whole conversation: {})\n</conversation-summary>",
        stage.path(0)
    );
    assert_eq!(shape(&history)[0], format!("{summary} | read them all"));
    let newest = &before[before.len() - 2..];
    assert_eq!(history[1..], *newest, "the newest round, as it was");
    assert_eq!(history.turn().len(), history.len());
    assert_eq!(stage.transcript(0), wire(&before), "one message a line");
    let transcript = fs::metadata(&stage.kept("transcripts")[0]).unwrap();
    assert_eq!(transcript.permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn the_summary_sees_the_newest_part_of_what_it_replaces_and_fits_the_window() {
    // More rounds than the question may hold.
    let stage = Stage::scripted(2_000, [says("All read."), says("fine")]);
    let mut history = asking("read them all");
    for number in 0..24 {
        let text = format!("text of file {number} {}", "x".repeat(900));
        round(&mut history, &[(&format!("c{number}"), &text)]);
    }
    stage.shrink(&mut history).await;
    let question = stage.model.requests()[0].user_texts().concat();
    assert!(question.starts_with("<conversation>\nUser: read them all\n\nTool call: "));
    assert!(question.contains("Tool result: text of file 22 "));
    assert!(question.contains(" characters left out here …]\n "));
    assert!(!question.contains("text of file 23 "), "the newest round");
}

#[tokio::test]
async fn the_notes_of_the_turn_are_not_lost_and_a_reminder_counts_once() {
    let stage = Stage::scripted(SMALL, [says("Read."), says("fine")]);
    let mut history = asking("an earlier request");
    history.push(Message::assistant("done"));
    history.user("the current request");
    history.remind(["<memory>tabs</memory>"]);
    for number in 0..3 {
        large_round(&mut history, number);
        history.remind([format!("<todo-reminder>{number}</todo-reminder>")]);
        history.remind(["<mail>from alice</mail>"]);
    }
    stage.shrink(&mut history).await;
    let first = shape(&history).swap_remove(0);
    let (_, first) = first.split_once("</conversation-summary>").unwrap();
    assert_eq!(
        first,
        " | <earlier-requests>\n- an earlier request\n</earlier-requests> | the current request | <memory>tabs</memory> | <todo-reminder>1</todo-reminder> | <mail>from alice</mail>"
    );
}

#[tokio::test]
async fn a_second_summary_stands_in_the_place_of_the_first() {
    let stage = Stage::scripted(SMALL, [says("First."), says("Second."), says("fine")]);
    // A resumed conversation does not know its request.
    let mut history = History::default();
    history.replace(full("the request").to_vec());
    stage.compactor.shrink(&mut history).await;
    for number in 10..13 {
        large_round(&mut history, number);
    }
    stage.shrink(&mut history).await;
    let first = &shape(&history)[0];
    assert!(first.contains("Second.") && !first.contains("First."), "{first}");
    assert!(first.ends_with("</conversation-summary> | the request"), "{first}");
    let question = stage.model.requests()[1].user_texts().concat();
    assert!(question.contains("First."), "the second must know the first");
    assert_eq!(history.turn().len(), history.len());
}

#[tokio::test]
async fn a_new_request_keeps_only_itself_and_results_nobody_has_seen() {
    let stage = Stage::scripted(SMALL, [says("Read."), says("fine")]);
    let mut history = full("an earlier request");
    // The turn was stopped before the model saw the last results.
    history.user("the current request");
    stage.shrink(&mut history).await;
    let shape = shape(&history);
    assert!(shape[0].ends_with("\n- an earlier request\n</earlier-requests>"));
    assert_eq!(shape[1], "call c2");
    assert!(shape[2].starts_with("result 2:xxx") && shape[2].ends_with(" | the current request"));
}

#[tokio::test]
async fn a_summary_that_is_empty_cut_failing_or_too_long_is_not_used() {
    let cut = says("half of").stops_with(StopReason::MaxTokens);
    let mut long = asking("go");
    round(&mut long, &[("a", &"x".repeat(10_000))]);
    round(&mut long, &[("b", &"x".repeat(20_000))]);
    long.remind(["<mail>".to_owned() + &"y".repeat(30_000)]);
    for (reply, mut history) in [
        (Some(says("   ")), full("go")),
        (Some(cut), full("go")),
        (None, full("go")),
        // Longer than what it replaces.
        (Some(says("long ".repeat(5_000))), long),
    ] {
        let stage = Stage::scripted(SMALL, reply.clone());
        if reply.is_none() {
            stage.model.fault(Fault::Overloaded, 1);
        }
        let before = wire(&history);
        stage.compactor.shrink(&mut history).await;
        assert_eq!(wire(&history), before, "{reply:?}");
    }
}

#[tokio::test]
async fn three_failures_in_a_row_end_the_attempts_until_one_is_asked_for_and_succeeds() {
    let fails = || std::iter::repeat_n(says(" "), 3);
    let succeeds = ["Asked.", "On its own.", "In a new conversation."].map(says);
    let [asked, alone, new] = succeeds;
    let replies = fails().chain([asked, alone]).chain(fails()).chain([new]);
    let stage = Stage::scripted(SMALL, replies);
    let mut history = full("go");
    for _ in 0..6 {
        stage.compactor.shrink(&mut history).await;
    }
    assert_eq!(stage.model.requests().len(), 3);
    stage.compactor.tool().call(compact(json!({}))).await;
    stage.compactor.shrink(&mut history).await;
    assert!(shape(&history)[0].contains("Asked."));
    let mut history = full("go");
    stage.compactor.shrink(&mut history).await;
    assert!(shape(&history)[0].contains("On its own."));

    // A conversation that is over takes its failures with it, and what it has asked for.
    let mut history = full("go");
    for _ in 0..3 {
        stage.compactor.shrink(&mut history).await;
    }
    stage.compactor.tool().call(compact(json!({}))).await;
    stage.compactor.clear();
    let mut small = rounds("another", 2, 500);
    let before = wire(&small);
    stage.compactor.shrink(&mut small).await;
    assert_eq!(wire(&small), before, "nobody has asked for this one");
    stage.compactor.shrink(&mut history).await;
    assert!(shape(&history)[0].contains("In a new conversation."));
}

#[tokio::test]
async fn a_call_of_compact_beside_others_leaves_all_of_them_answered() {
    let stage = Stage::scripted(200_000, [says("Looked around."), says("fine")]);
    let mut history = rounds("go", 2, 500);
    let compact = compact(json!({"focus": "the file names </focus>"}));
    let blocks = [call("a"), compact.clone(), call("b")].map(Block::ToolUse);
    history.push(Message::new(Role::Assistant, blocks.to_vec()));
    history.answer(&call("a"), Output::ok("A"));
    let output = stage.compactor.tool().call(compact.clone()).await;
    history.answer(&compact, output);
    // Calls are open: nothing may be replaced now.
    let before = wire(&history);
    stage.compactor.shrink(&mut history).await;
    assert_eq!(wire(&history), before);
    history.answer(&call("b"), Output::ok("B"));
    stage.shrink(&mut history).await;
    assert_eq!(
        shape(&history)[1..],
        [
            "call a | call compact_1 | call b",
            "result A | result the conversation is summarized before your next step | result B"
        ]
    );
    let question = stage.model.requests()[0].user_texts().concat();
    let focus = "</conversation>\n<focus>the file names <\\/focus></focus>";
    assert!(question.ends_with(focus), "{question}");
    stage.compactor.shrink(&mut history).await;
    assert_eq!(stage.model.requests().len(), 2, "asked once, done once");
}

#[tokio::test]
async fn ctrl_c_during_the_summary_loses_nothing() {
    let stage = Stage::scripted(SMALL, [says("Never used.")]);
    stage.model.fault(Fault::Stall, 1);
    let mut history = full("go");
    let before = wire(&history);
    {
        let shrinking = stage.compactor.shrink(&mut history);
        let asked = async {
            while stage.model.requests().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = shrinking => panic!("the summary stalls"),
            () = asked => {}
        }
    }
    assert_eq!(wire(&history), before);
    history.user("go on");
    stage.compactor.shrink(&mut history).await;
    let can_be_summarized = shape(&history)[0].contains("Never used.");
    assert!(can_be_summarized);
}

#[tokio::test]
async fn a_tiny_window_neither_loops_nor_panics() {
    for window in [1, 10, 100, 1_000, 3_000] {
        let brain = |request: &Request| -> Reply {
            if is_summary_request(request) { says("Short.") } else { calls("read_file", json!({})) }
        };
        let stage = Stage::thinking(window, brain);
        let mut history = rounds("go", 8, 3_000);
        for _ in 0..3 {
            stage.compactor.shrink(&mut history).await;
        }
        assert!(shape(&history)[0].ends_with("go"), "{window}");
        stage.model.refusals();
    }
}

#[tokio::test]
async fn the_user_may_ask_for_a_summary_in_an_unfinished_turn_too() {
    let stage = Stage::scripted(SMALL, [says("It was about the schema."), says("Yes.")]);
    let mut history = full("go");
    history.push(asks(&["open"]));
    stage.compactor.compact("the schema", &mut history).await;
    assert!(shape(&history)[0].contains("It was about the schema."));
    let question = stage.model.last_request().user_texts().join("\n");
    assert!(question.contains("<focus>"), "{question}");
    history.user("and now?");
    stage.send(&history).await;
}

#[tokio::test]
async fn a_call_of_compact_that_is_wrong_or_has_nothing_behind_it_asks_nobody() {
    let stage = Stage::scripted(200_000, []);
    let tool = stage.compactor.tool();
    let wrong = tool.call(compact(json!({"focus": 7}))).await;
    assert!(wrong.is_error && wrong.text.contains("focus"), "{wrong:?}");
    let call = compact(json!({}));
    let mut nothing_before = asking("go");
    nothing_before.push(Message::new(Role::Assistant, vec![Block::ToolUse(call.clone())]));
    for mut history in [rounds("go", 3, 5_000), nothing_before] {
        if history.has_open_calls() {
            history.answer(&call, tool.call(call.clone()).await);
        }
        let before = wire(&history);
        stage.compactor.shrink(&mut history).await;
        assert_eq!(wire(&history), before);
    }
}
