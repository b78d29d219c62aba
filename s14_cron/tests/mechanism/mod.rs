//! Cron through its public handle, by a clock that the test sets.
//!
//! Invariant: nothing here waits: the clock is the test's, and tokio's time is paused.

use std::fs;
use std::time::Duration;

use s14_cron::MAX_JOBS;
use serde_json::json;

use crate::desk::{Desk, moment, refusal, tick};

#[tokio::test(start_paused = true)]
async fn a_job_fires_at_its_minute_and_once_in_it() {
    for durable in [false, true] {
        let desk = Desk::new();
        let session = desk.session();
        session.every("*/2 * * * *", "print the date", durable);
        tick().await;
        assert!(session.notices.take().is_empty());
        for minute in ["08", "10"] {
            for second in ["00", "01", "59"] {
                desk.set(&format!("2026-02-27T10:{minute}:{second}"));
                tick().await;
                let expected = match second {
                    "00" => vec!["[Scheduled] print the date".to_owned()],
                    _ => vec![],
                };
                assert_eq!(session.notices.take(), expected, "10:{minute}:{second}");
            }
        }
    }
}

const CHECK: &str = "[Scheduled] check the build";

#[tokio::test(start_paused = true)]
async fn a_one_shot_stays_in_the_file_until_the_model_has_had_it() {
    let desk = Desk::new();
    let session = desk.session();
    let job = session.once("7 10 * * *", "check the build", true);
    desk.set("2026-02-27T10:07:00");
    assert_eq!(session.notices.take(), [CHECK]);
    // The model has not replied yet.
    assert_eq!(desk.stored()["jobs"][0]["id"], job.id);
    assert!(session.cron.list().unwrap().is_empty());
    assert!(session.notices.take().is_empty());
    assert_eq!(desk.stored()["jobs"].as_array().unwrap().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_one_shot_whose_session_died_over_it_fires_again() {
    for wakes in [false, true] {
        let desk = Desk::new();
        let died = desk.session();
        died.once("7 10 * * *", "check the build", true);
        desk.set("2026-02-27T10:07:00");
        if wakes {
            assert_eq!(died.woken().await.as_deref(), Some(CHECK));
            // The turn's first round: the request is about to be sent.
            assert!(died.notices.take().is_empty());
        } else {
            assert_eq!(died.notices.take(), [CHECK]);
        }
        drop(died);
        assert_eq!(desk.session().notices.take(), [CHECK], "wakes: {wakes}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_runs_once_at_the_next_start_and_says_so() {
    let desk = Desk::new();
    let session = desk.session();
    session.every("*/2 * * * *", "print the date", true);
    session.once("30 10 * * *", "check the build", true);
    drop(session);
    desk.set("2026-02-27T12:00:30");
    let next = desk.session();
    assert_eq!(
        next.notices.take(),
        [
            "[Scheduled] print the date\n<missed-at>2026-02-27 10:08; nothing ran then</missed-at>",
            "[Scheduled] check the build\n<missed-at>2026-02-27 10:30; nothing ran then</missed-at>"
        ]
    );
    let left = next.cron.list().unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].next, moment("2026-02-27T12:02:00"));
    assert!(next.notices.take().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_jump_forward_fires_once_a_small_step_back_not_again_and_a_large_one_silences_nothing() {
    let desk = Desk::new();
    let session = desk.session();
    session.every("*/2 * * * *", "print the date", true);
    for (now, times) in [
        // However many were missed.
        ("2026-02-27T14:30:00", 1),
        ("2026-02-27T14:29:59", 0),
        ("2026-02-27T14:30:00", 0),
        ("2026-02-27T14:31:59", 0),
        ("2026-02-27T14:32:00", 1),
        ("2026-02-26T08:00:30", 0),
        ("2026-02-26T08:02:00", 1),
    ] {
        desk.set(now);
        assert_eq!(session.notices.take().len(), times, "{now}");
    }
}

/// The third question of the README, in every order: who was open before there was a cron.json, and who makes the job.
#[tokio::test(start_paused = true)]
async fn of_two_sessions_in_a_folder_one_fires_and_the_other_takes_over() {
    for (both_are_open, maker) in [(true, 0), (true, 1), (false, 0)] {
        let desk = Desk::new();
        let mut open = vec![desk.session()];
        if both_are_open {
            open.push(desk.session());
        }
        tick().await;
        open[maker].every("*/2 * * * *", "print the date", true);
        if !both_are_open {
            open.push(desk.session());
        }
        tick().await;
        desk.set("2026-02-27T10:08:00");
        tick().await;
        assert!(open[1 - maker].notices.take().is_empty());
        assert_eq!(open[maker].notices.take().len(), 1, "where it was made");
        drop(open.remove(maker));
        desk.set("2026-02-27T10:10:00");
        let woken = open[0].woken().await;
        assert_eq!(woken.as_deref(), Some("[Scheduled] print the date"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_job_does_not_fire() {
    let desk = Desk::new();
    let session = desk.session();
    for durable in [false, true] {
        let job = session.every("*/2 * * * *", "print the date", durable);
        assert_eq!(session.cron.cancel(&job.id).unwrap().id, job.id);
        assert!(refusal(session.cron.cancel(&job.id)).contains("there is no job"));
    }
    desk.pass(Duration::from_secs(600));
    assert!(session.notices.take().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_job_outlives_its_session_only_when_it_is_durable() {
    let desk = Desk::new();
    let session = desk.session();
    session.every("@daily", "gone", false);
    assert!(!desk.path().exists(), "nothing is written for a job of this session");
    let kept = session.every("@daily", "kept", true);
    assert_eq!(session.cron.list().unwrap().len(), 2);
    drop(session);
    assert_eq!(desk.session().cron.list().unwrap(), [kept]);
}

#[tokio::test(start_paused = true)]
async fn there_are_fifty_jobs_and_no_more() {
    let desk = Desk::new();
    let session = desk.session();
    for number in 0..MAX_JOBS {
        session.every("@daily", &number.to_string(), number % 2 == 0);
    }
    for durable in [false, true] {
        let refused = refusal(session.cron.schedule("@daily", "one more", true, durable));
        assert!(refused.contains("there are 50 jobs already"), "{refused}");
    }
    let first = &session.cron.list().unwrap()[0];
    session.cron.cancel(&first.id).unwrap();
    session.every("@daily", "one more", true);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_read_for_a_while_ends_no_schedule() {
    let desk = Desk::new();
    let session = desk.session();
    session.every("*/2 * * * *", "print the date", true);
    let away = desk.path().with_extension("away");
    fs::rename(desk.path(), &away).unwrap();
    fs::create_dir(desk.path()).unwrap();
    tick().await;
    fs::remove_dir(desk.path()).unwrap();
    fs::rename(&away, desk.path()).unwrap();
    desk.set("2026-02-27T10:08:00");
    let woken = session.woken().await;
    assert_eq!(woken.as_deref(), Some("[Scheduled] print the date"));
}

#[tokio::test(start_paused = true)]
async fn a_damaged_file_is_set_aside_and_not_overwritten() {
    let desk = Desk::new();
    fs::create_dir_all(desk.path().parent().unwrap()).unwrap();
    let damaged = "{\"version\": 1, \"jobs\": [";
    fs::write(desk.path(), damaged).unwrap();
    let session = desk.session();
    assert!(session.cron.list().unwrap().is_empty());
    session.every("@daily", "new", true);
    let folder = fs::read_dir(desk.path().parent().unwrap()).unwrap();
    let paths = folder.map(|entry| entry.unwrap().path());
    let aside: Vec<_> =
        paths.filter(|path| path.to_string_lossy().contains("cron.json.damaged-")).collect();
    assert_eq!(aside.len(), 1);
    assert_eq!(fs::read_to_string(&aside[0]).unwrap(), damaged);
    assert_eq!(session.cron.list().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn fields_of_a_newer_program_outlive_a_firing() {
    let desk = Desk::new();
    fs::create_dir_all(desk.path().parent().unwrap()).unwrap();
    let job = json!({"id": "cron_1", "cron": "*/2 * * * *", "prompt": "print the date",
        "next": moment("2026-02-27T10:06:00"), "team": {"name": "x"}});
    let content = json!({"version": 9, "jobs": [job], "zone": "UTC"});
    fs::write(desk.path(), content.to_string()).unwrap();
    let session = desk.session();
    assert_eq!(session.notices.take(), ["[Scheduled] print the date"]);
    let stored = desk.stored();
    assert_eq!((&stored["version"], &stored["zone"]), (&json!(9), &json!("UTC")));
    assert_eq!(stored["jobs"][0]["team"], json!({"name": "x"}));
    assert_eq!(stored["jobs"][0]["next"], json!(moment("2026-02-27T10:08:00")));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_before_there_is_a_job_and_nobody_ticks_after_the_session() {
    let desk = Desk::new();
    let session = desk.session();
    tick().await;
    assert!(session.notices.take().is_empty() && session.cron.list().unwrap().is_empty());
    assert_eq!(fs::read_dir(desk.ws.root()).unwrap().count(), 0);
    drop(session);
    tick().await;
    let metrics = tokio::runtime::Handle::current().metrics();
    assert_eq!(metrics.num_alive_tasks(), 0);
}
