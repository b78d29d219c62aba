//! Exercise 3 · an empty reply (15 minutes).
//!
//! Now and then a model ends its reply before it has said a word, and the turn is over without an answer. Let `Recovery` ask
//! once more, at once, and then once more again: a reply without text and without a call, that the model ended by itself
//! (`end_turn`), is no answer. The user reads `the reply was empty: asking again (1/2)`. When the third is empty, too, it
//! is the reply. A model that declines (`refusal`) has answered and is not asked again. The reply that the caller gets has
//! the costs of all requests it took.
//!
//! Hint: the decision belongs to `RetryState::after_reply`, and is a new `Outcome`; the compiler then shows who must know it.
//!
//! Hint: every answer sets the count of failures back. What is used up here, so that the request ends?
//!
//! Hint: `PartialReply` keeps a reply until a better one has arrived, and adds up what both have cost.

use std::sync::atomic::{AtomicUsize, Ordering};

use mock_servers::model::{MockModel, Options, Reply, Request, StopReason, says};

use crate::diary::{Diary, ask};

/// So many requests are more than any solution needs; then the model speaks, so that no test runs for ever.
const TOO_MANY: usize = 20;

fn empty() -> Reply {
    Reply::default()
}

/// A model that gives these replies, and after them empty ones.
fn model(replies: Vec<Reply>) -> MockModel {
    let asked = AtomicUsize::new(0);
    let brain = move |_: &Request| match asked.fetch_add(1, Ordering::Relaxed) {
        TOO_MANY.. => says("Enough!"),
        at => replies.get(at).cloned().unwrap_or_default(),
    };
    MockModel::start(Options::strict(), brain).unwrap()
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn an_empty_reply_is_asked_for_again() {
    let (model, diary) = (model(vec![empty(), says("Here I am.")]), Diary::default());
    let sent = ask(&model, &diary).await;
    assert_eq!(
        sent.unwrap().message().text(),
        "Here I am.",
        "the first reply was empty; the second one was to be the answer"
    );
    assert_eq!(
        (diary.remarks(), diary.waits()),
        (vec!["the reply was empty: asking again (1/2)".to_owned()], vec![]),
        "the user was to read one line about it, and nobody was to wait"
    );
    let asked = model.requests();
    assert_eq!(
        asked[0].body, asked[1].body,
        "the same was to be asked again, byte for byte: the second request reads all of it from the cache"
    );
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn a_model_that_has_nothing_to_say_is_asked_three_times() {
    let (model, diary) = (model(vec![]), Diary::default());
    let sent = ask(&model, &diary).await;
    assert_eq!(
        model.requests().len(),
        3,
        "the model answers nothing each time: it was to be asked three times in all, and no more"
    );
    let reply = sent.expect("the third empty reply is the reply");
    assert!(reply.message().blocks().is_empty());
    assert_eq!(diary.remarks().len(), 2, "{:?}", diary.remarks());
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn all_of_them_were_paid_for() {
    let (whole, diary) = (model(vec![says("Here I am.")]), Diary::default());
    let once = ask(&whole, &diary).await;
    let once = once.unwrap().usage.input_tokens;
    let model = model(vec![empty(), empty(), says("Here I am.")]);
    let sent = ask(&model, &diary).await;
    assert_eq!(
        sent.unwrap().usage.input_tokens,
        3 * once,
        "a request like this has {once} input tokens; it took three of them to get this reply"
    );
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn a_model_that_declines_has_answered() {
    let declines = empty().stops_with(StopReason::Refusal);
    let (model, diary) = (model(vec![empty(), declines]), Diary::default());
    let sent = ask(&model, &diary).await;
    assert_eq!(
        (sent.unwrap().stop_reason.as_str(), model.requests().len()),
        ("refusal", 2),
        "the first reply was empty and asked for again; the second is a refusal, which comes again however often one asks"
    );
}
