//! What lies in cron.json, and what becomes of it.

use std::fs;

use s14_cron::MAX_JOBS;
use serde_json::json;

use crate::desk::{Desk, moment, refusal, tick};

#[tokio::test(start_paused = true)]
async fn a_job_outlives_its_session_only_when_it_is_durable() {
    let desk = Desk::new();
    let session = desk.session();
    session.every("@daily", "gone", false);
    assert!(
        !desk.path().exists(),
        "nothing is written for a job of this session"
    );
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
    let aside: Vec<_> = paths
        .filter(|path| path.to_string_lossy().contains("cron.json.damaged-"))
        .collect();
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
    assert_eq!(
        (&stored["version"], &stored["zone"]),
        (&json!(9), &json!("UTC"))
    );
    assert_eq!(stored["jobs"][0]["team"], json!({"name": "x"}));
    assert_eq!(
        stored["jobs"][0]["next"],
        json!(moment("2026-02-27T10:08:00"))
    );
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
