//! Exercise 2 · so many times (15 minutes).
//!
//! "Every two minutes, three times." Give schedule_cron an argument `times`: a recurring job with it fires so often and is
//! over then. Without it a job goes on for ever; `times: 0` is refused, with words that name `times`.
//!
//! What is left is kept in cron.json, so that a durable job goes on where it was. Many missed firings are one, as ever.
//! And the last firing is what a one-shot's only firing is: it stays in the file until the model has had it, and when
//! the session dies over it, it fires again.
//!
//! The signature of `Cron::schedule` must stay: the tests of the chapter use it.
//!
//! Hint: `take_due` in src/job.rs decides whether a job that fires goes on. What does it do with one that does not?
//!
//! Hint: when a session died over it, `handed_over` is taken back, and the job is due once more. How many times are left
//! of it then?

use serde_json::{Value, json};

use crate::desk::Desk;

fn job(times: Value, durable: bool) -> Value {
    json!({"cron": "*/2 * * * *", "prompt": "print the date", "times": times, "durable": durable})
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_job_fires_so_often_and_is_over() {
    for durable in [false, true] {
        let desk = Desk::new();
        let session = desk.session();
        session.told("schedule_cron", job(json!(3), durable)).await;
        let mut fired = Vec::new();
        for minute in ["08", "10", "12", "14", "16"] {
            desk.set(&format!("2026-02-27T10:{minute}:00"));
            if !session.notices.take().is_empty() {
                fired.push(minute);
            }
        }
        assert_eq!(
            fired,
            ["08", "10", "12"],
            "every two minutes, three times, durable: {durable}; it fired at these minutes past ten"
        );
        let list = session.told("list_crons", json!({})).await;
        assert_eq!(list, "nothing is scheduled", "it is over");
    }
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn what_is_left_outlives_the_session_and_missed_firings_are_one() {
    let desk = Desk::new();
    let session = desk.session();
    session.told("schedule_cron", job(json!(2), true)).await;
    drop(session);
    desk.set("2026-02-27T11:00:30");
    let next = desk.session();
    assert_eq!(next.notices.take().len(), 1, "26 firings were missed; they count as one");
    drop(next);
    let mut fired = 0;
    for minute in ["02", "04", "06"] {
        let session = desk.session();
        desk.set(&format!("2026-02-27T11:{minute}:00"));
        fired += session.notices.take().len();
        // The model has had it.
        session.notices.take();
    }
    assert_eq!(fired, 1, "of two times one was left");
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn the_last_firing_is_kept_until_the_model_has_had_it() {
    let desk = Desk::new();
    let died = desk.session();
    died.told("schedule_cron", job(json!(1), true)).await;
    desk.set("2026-02-27T10:08:00");
    assert_eq!(died.notices.take(), ["[Scheduled] print the date"]);
    assert_eq!(
        desk.stored()["jobs"].as_array().unwrap().len(),
        1,
        "the model has not replied yet, and the job is gone from cron.json"
    );
    drop(died);
    let next = desk.session();
    assert_eq!(
        next.notices.take(),
        ["[Scheduled] print the date"],
        "the session died over the last firing, so it was to fire again"
    );
    assert!(next.notices.take().is_empty());
    assert_eq!(
        desk.stored()["jobs"].as_array().unwrap().len(),
        0,
        "now the model has had it, and the job is still in cron.json"
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn no_times_at_all_are_refused() {
    let desk = Desk::new();
    let session = desk.session();
    let output = session.call("schedule_cron", job(json!(0), false)).await;
    assert!(
        output.is_error && output.text.contains("times"),
        "`times: 0` was to be refused with words that name it; the answer: {}",
        output.text
    );
    let list = session.told("list_crons", json!({})).await;
    assert_eq!(list, "nothing is scheduled");
}
