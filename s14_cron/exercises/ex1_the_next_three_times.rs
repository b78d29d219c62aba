//! Exercise 1 · the next three times (10 minutes).
//!
//! Models mix up the five fields: `9 0 * * 1` is not nine o'clock. Let schedule_cron answer with the times it has
//! understood, so that a wrong schedule is seen before it fires. Behind the line it answers with now comes a second one:
//! `then 2026-03-09 09:00, 2026-03-16 09:00`, the two firings after the next.
//!
//! A job that fires once has no second line, and list_crons stays as it is: one line a job.
//!
//! Hint: src/tools.rs has the answer of each tool, src/schedule.rs the one question that can be put to a schedule.
//!
//! Hint: "the first minute after this moment" can be asked again with its own answer.

use serde_json::{Value, json};

use crate::desk::Desk;

fn job(cron: &str, recurring: bool) -> Value {
    json!({"cron": cron, "prompt": "water the plants", "recurring": recurring})
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn the_answer_names_the_times_after_the_next() {
    let desk = Desk::new();
    let session = desk.session();
    for (cron, then) in [
        ("0 9 * * 1", "then 2026-03-09 09:00, 2026-03-16 09:00"),
        ("9 0 * * 1", "then 2026-03-09 00:09, 2026-03-16 00:09"),
        ("*/30 * * * *", "then 2026-02-27 11:00, 2026-02-27 11:30"),
        ("@yearly", "then 2028-01-01 00:00, 2029-01-01 00:00"),
    ] {
        let told = session.told("schedule_cron", job(cron, true)).await;
        let lines: Vec<&str> = told.lines().collect();
        assert!(
            lines.len() == 2 && lines[0].contains("  next 2") && lines[1] == then,
            "{cron:?} on Friday, 2026-02-27 10:06, was to be answered with a second line\n{then}\nthe answer:\n{told}"
        );
    }
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn once_is_once_and_the_list_has_one_line_a_job() {
    let desk = Desk::new();
    let session = desk.session();
    let once = session.told("schedule_cron", job("0 9 * * 1", false)).await;
    assert!(!once.contains("then "), "a job that fires once has no further times:\n{once}");
    let every = session.told("schedule_cron", job("0 9 * * 1", true)).await;
    assert!(
        every.contains("\nthen 2026-03-09 09:00, "),
        "a job that fires every Monday has further times:\n{every}"
    );
    let list = session.told("list_crons", json!({})).await;
    assert_eq!(list.lines().count(), 2, "two jobs, two lines:\n{list}");
}
