//! Exercise 1 · the last round (10 minutes).
//!
//! A subagent that has used up its rounds is lost with everything it has found. Warn it: when it is asked for the last
//! time it reads a note in a tag of its own, `<last-round>`, that says so and asks for its report now. The note stands
//! behind the results of the round before. In no other round is there such a note, and a subagent that goes on all the
//! same is stopped as before.
//!
//! Hint: `History` knows how to tell the model something that is neither a prompt nor a result, and `s04_hooks` how to
//! put it into a tag.
//!
//! Hint: a note that is written when the last reply has come is read by nobody.

use mock_servers::model::{Block, MockModel, Options, Reply, Request, calls, says};
use s01_loop::Output;
use s06_subagent::MAX_ROUNDS;
use serde_json::json;

use super::Bench;

/// Whether the newest message has the note as its last block.
fn is_warned(request: &Request) -> bool {
    let last = request.messages.last().and_then(|message| message.blocks.last());
    matches!(last, Some(Block::Text(text)) if text.starts_with("<last-round>"))
}

/// Looks for something in each round, until it is told to come to an end.
fn searching(request: &Request) -> Reply {
    if is_warned(request) {
        says("I found half of it.")
    } else {
        calls("glob", json!({"pattern": "*"}))
    }
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn a_subagent_that_is_warned_reports_what_it_has() {
    let model = MockModel::start(Options::strict(), searching).unwrap();
    let bench = Bench::new(&model, |tools, hooks| (tools, hooks));
    let report = bench.task(json!({"description": "Search."})).await;
    assert_eq!(
        report,
        Output::ok("I found half of it."),
        "the subagent reports as soon as it reads `<last-round>` behind the results, and never did"
    );
    assert_eq!(model.requests().len(), MAX_ROUNDS, "it was to be warned in the last round");
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn the_warning_comes_once_and_the_limit_stays() {
    let stubborn = (0..MAX_ROUNDS).map(|_| calls("glob", json!({"pattern": "*"})));
    let model = MockModel::scripted(stubborn);
    let bench = Bench::new(&model, |tools, hooks| (tools, hooks));
    let report = bench.task(json!({"description": "Search."})).await;
    assert!(
        report.is_error && report.text.contains("not done after 30 rounds"),
        "a subagent that goes on was to be stopped after {MAX_ROUNDS} rounds: {report:?}"
    );
    let requests = model.requests();
    let warned = requests.iter().enumerate().filter(|(_, request)| is_warned(request));
    let rounds: Vec<usize> = warned.map(|(index, _)| index + 1).collect();
    assert_eq!(rounds, [MAX_ROUNDS], "the rounds whose request ends with `<last-round>`");
}
