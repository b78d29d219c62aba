//! When a job fires, how often, and who hears of it.

use std::time::Duration;

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
