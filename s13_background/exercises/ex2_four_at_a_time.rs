//! Exercise 2 · four at a time (15 minutes).
//!
//! A model that starts twenty builds at once gets none of them sooner. Let at most four jobs run at a time. A fifth is
//! answered at once like any other, but with words that begin `job_5 waits`; it starts as soon as one of the four has
//! ended, and those that wait start in the order they were asked for. A job that finds a place starts before its call is
//! answered, as now.
//!
//! The invariant of the chapter holds for a job that waits as well: it ends in exactly one notice, whatever becomes of
//! it, and until then the session knows that somebody is at work.
//!
//! Hint: `Jobs::start` in src/jobs.rs starts the process and hands the rest to `follow`. For a job that waits, the start
//! of the process belongs to what `follow` runs.
//!
//! Hint: `tokio::sync::Semaphore` gives a place at once or not at all (`try_acquire_owned`), or makes its task wait in
//! line (`acquire_owned`). A place is free again when it is dropped.

use std::fs;

use crate::desk::Desk;

const FOUR: [&str; 4] = ["one", "two", "three", "four"];

/// Starts four jobs that wait at their pipes, and waits until they run.
async fn four_run(desk: &Desk) -> Vec<fs::File> {
    let mut held = Vec::new();
    for pipe in FOUR {
        let told = desk.start(&format!("cat ../{pipe}")).await;
        assert!(
            told.contains(" runs in the background"),
            "four may run at a time; `cat ../{pipe}` was answered: {told}"
        );
        held.push(desk.hold(pipe).await);
    }
    held
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 2"]
async fn a_fifth_job_waits_for_a_place() {
    let desk = Desk::new(&FOUR);
    let mut held = four_run(&desk).await;
    for job in ["job_5", "job_6"] {
        let told = desk.start(&format!("echo {job} >> ran")).await;
        assert!(
            told.starts_with(&format!("{job} waits")),
            "four jobs run, so the answer was to begin with \"{job} waits\"; it is: {told}"
        );
    }
    let ran = desk.ws.root().join("ran");
    assert!(!ran.exists(), "a job has run beside four others");
    fs::write(&ran, "a place is free\n").unwrap();
    held.pop();
    desk.notices(3).await;
    assert_eq!(
        fs::read_to_string(&ran).unwrap(),
        "a place is free\njob_5\njob_6\n",
        "who waited runs when one of the four has ended, in order"
    );
    held.clear();
    desk.notices(3).await;
    let told = desk.start("true").await;
    assert!(
        told.starts_with("job_7 runs in the background"),
        "all places are free again; the answer: {told}"
    );
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 2"]
async fn a_job_that_waits_and_cannot_start_ends_in_a_notice_too() {
    let desk = Desk::new(&FOUR);
    let held = four_run(&desk).await;
    for _ in 0..5 {
        desk.start("true").await;
    }
    // While they wait, the folder that they were to run in goes.
    fs::remove_dir_all(desk.ws.root()).unwrap();
    drop(held);
    let notices = desk.notices(9).await;
    for job in 5..=9 {
        let head = format!("<task_notification>\njob: job_{job}\nstatus: lost: starting bash");
        let about = notices.iter().filter(|notice| notice.starts_with(&head));
        assert_eq!(
            about.count(),
            1,
            "job_{job} waited and could then not be started, which one notice was to say with \
             \"status: lost: starting bash …\"; the notices: {notices:#?}"
        );
    }
}
