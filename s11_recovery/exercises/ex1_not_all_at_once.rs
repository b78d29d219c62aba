//! Exercise 1 · not all at once (10 minutes).
//!
//! Twenty subagents that are told `retry-after: 8` come back in the same instant, and are refused together again. Let
//! whoever asks beside the user's own conversation (subagents, summaries, memory) wait what the server asks for and, by
//! chance, up to a quarter more. The conversation itself is one, and waits as it was told. The server is never undercut,
//! and whether its wait is too long to be waited for is decided by its own number.
//!
//! Hint: `backoff::wait` does this for the waits that nobody asked for. Chance comes in as a number, so that the decision
//! stays a pure one.
//!
//! Hint: `Recovery` knows whose requests it sends; `RetryState` must be told. `asked` has two readers besides the wait.

use std::sync::Arc;

use mock_servers::model::{Fault, MockModel};
use s01_loop::{System, Unobserved};
use s06_subagent::Model;

use crate::diary::{Diary, ask, asking, failing, recovery};

/// A model that asks for this wait so often, and answers then.
fn limited(retry_after: u32, times: usize) -> MockModel {
    failing(vec![Fault::RateLimited { retry_after }; times])
}

fn dice(chance: f64) -> Diary {
    Diary {
        chance,
        ..Diary::default()
    }
}

/// Sends one request of somebody beside the conversation, and says whether it was answered.
async fn send_aside(model: &MockModel, diary: &Diary) -> Result<(), String> {
    let aside = recovery(model, diary).watched_by(Arc::new(Unobserved));
    let sent = aside.send(&System::from(""), &mut asking("go"), &[]).await;
    sent.map(|_| ()).map_err(|error| error.to_string())
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn those_who_ask_beside_the_conversation_come_back_one_by_one() {
    for (chance, expected) in [(1.0, 10.0), (0.5, 9.0), (0.0, 8.0)] {
        let (model, diary) = (limited(8, 2), dice(chance));
        send_aside(&model, &diary).await.unwrap();
        assert_eq!(
            diary.waits(),
            [expected; 2],
            "the server asked for 8 s twice, and the dice show {chance} of 1: each wait was to be {expected} s"
        );
    }
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn the_conversation_waits_as_it_was_told() {
    let diary = dice(1.0);
    send_aside(&limited(8, 1), &diary).await.unwrap();
    ask(&limited(8, 1), &diary).await.unwrap();
    assert_eq!(
        diary.waits(),
        [10.0, 8.0],
        "a side call was to wait 10 s (8 and a quarter), the conversation behind it 8 s"
    );
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn chance_does_not_make_a_wait_too_long() {
    let (model, diary) = (limited(120, 1), dice(1.0));
    let sent = send_aside(&model, &diary).await;
    assert_eq!(
        (sent, diary.waits()),
        (Ok(()), vec![150.0]),
        "the server asked for 120 s, which is just not too long, and the dice add 30; the user read {:?}",
        diary.remarks()
    );
    let (model, diary) = (limited(121, 1), dice(1.0));
    send_aside(&model, &diary).await.unwrap_err();
    assert_eq!(
        diary.remarks(),
        ["side call: giving up: the server asks for a wait of 121 s"],
        "the user was to read what the server asks for, not what chance made of it"
    );
}
