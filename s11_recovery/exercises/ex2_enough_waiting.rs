//! Exercise 2 · enough waiting (15 minutes).
//!
//! A server that asks for 100 seconds may do so nine times, and the user sits there for a quarter of an hour. Let the waits
//! of one request be five minutes in all, at most: when the next wait would exceed that, the request ends with the last
//! error, and the user reads `giving up after 300 s of waiting`, with the seconds that were waited, rounded down. An answer
//! in between, such as the first part of a long reply, gives no time back; the next request begins anew.
//!
//! Hint: nothing here may look at a clock. What do you know instead, of every wait, before it begins?
//!
//! Hint: `remark::giving_up` tells why there is no further try. It sees what was tried.

use std::sync::Arc;

use mock_servers::model::{Fault, says};

use crate::diary::{Diary, ask, asking, failing, recovery};

const SLOW: Fault = Fault::RateLimited { retry_after: 100 };

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_request_waits_for_five_minutes_at_most() {
    let (model, diary) = (failing([SLOW; 9]), Diary::default());
    let sent = ask(&model, &diary).await;
    assert_eq!(
        diary.waits(),
        [100.0; 3],
        "the server asks for 100 s each time: three waits are five minutes, and a fourth is one too many"
    );
    let error = sent.expect_err("the request ends with the server's refusal").to_string();
    assert!(error.contains("429"), "the last error was the server's 429, not {error:?}");
    assert_eq!(
        diary.remarks().last().map(String::as_str),
        Some("giving up after 300 s of waiting"),
        "the user was to read why there is no further try"
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_wait_that_would_exceed_it_is_not_begun() {
    let slower = Fault::RateLimited { retry_after: 110 };
    let (model, diary) = (failing([slower; 9]), Diary::default());
    let sent = ask(&model, &diary).await;
    assert!(
        sent.is_err(),
        "the request was to end before it has waited for more than 300 s; it waited {:?} and was answered",
        diary.waits()
    );
    assert_eq!(
        (diary.waits(), diary.remarks().pop().unwrap_or_default()),
        (vec![110.0; 2], "giving up after 220 s of waiting".to_owned()),
        "two waits of 110 s leave 80 s, and the server asks for 110"
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn each_request_has_five_minutes_of_its_own() {
    let (model, diary) = (failing([SLOW; 4]), Diary::default());
    let recovery = recovery(&model, &diary);
    let first = recovery.send("", &mut asking("go"), &[]).await;
    assert!(
        first.is_err(),
        "the server asked for 100 s four times, which is too much for one request; it waited {:?} and was answered",
        diary.waits()
    );
    model.fault(SLOW, 3);
    let second = recovery.send("", &mut asking("go on"), &[]).await;
    assert!(
        second.is_ok(),
        "the request before has waited for five minutes; this one was to have its own: {second:?}"
    );
    assert_eq!(diary.waits(), [100.0; 6]);
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn half_an_answer_gives_no_time_back() {
    let model = failing([SLOW; 2]);
    model.script_for("", [says("it ".repeat(12_000))]);
    let model = Arc::new(model);
    // It fails again once a reply was cut.
    let diary = Diary::failing_at("asking again with a limit", &model, SLOW, 9);
    let sent = ask(&model, &diary).await;
    let reply = sent.expect("what has arrived is kept");
    assert!(reply.is_cut());
    assert_eq!(
        diary.waits(),
        [100.0; 3],
        "two waits before the cut reply and one behind it are five minutes"
    );
}
