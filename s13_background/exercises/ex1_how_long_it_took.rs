//! Exercise 1 · how long it took (10 minutes).
//!
//! Let a notice say how long its job has run: a line `took: 90 s`, in whole seconds, right behind the line `status: …`.
//! The model learns from it which commands are slow. A job of less than a second has no such line, so that its notice
//! stays as it is. Each job has a time of its own, also when several run.
//!
//! The tests pause the clock and move it by hand: an hour passes in no time. That is only possible with a clock that can
//! be paused.
//!
//! Hint: `Job` in src/jobs.rs is what is known about a job from its start to its notice.
//!
//! Hint: `std::time` cannot be paused; `src/notices.rs` uses a clock that can.

use std::time::Duration;

use tokio::time::advance;

use crate::desk::Desk;

/// The line of a notice that begins with this word.
fn line<'a>(notice: &'a str, word: &str) -> Option<&'a str> {
    notice.lines().find(|line| line.starts_with(word))
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 1"]
async fn a_notice_says_how_long_its_job_has_run() {
    let desk = Desk::new(&["one"]);
    desk.start("cat ../one").await;
    let one = desk.hold("one").await;
    advance(Duration::from_millis(90_700)).await;
    drop(one);
    let notice = &desk.notices(1).await[0];
    assert_eq!(
        line(notice, "took: "),
        Some("took: 90 s"),
        "a job has run for 90.7 seconds; its notice:\n{notice}"
    );
    let lines: Vec<&str> = notice.lines().collect();
    let at = |word: &str| lines.iter().position(|line| line.starts_with(word));
    assert_eq!(
        at("took: "),
        at("status: ").map(|status| status + 1),
        "the line stands right behind the status:\n{notice}"
    );
    desk.start("true").await;
    let notice = &desk.notices(1).await[0];
    assert_eq!(
        line(notice, "took: "),
        None,
        "a job of no time at all says nothing of it:\n{notice}"
    );
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 1"]
async fn each_job_has_a_time_of_its_own() {
    let desk = Desk::new(&["one", "two"]);
    desk.start("cat ../one").await;
    let one = desk.hold("one").await;
    advance(Duration::from_secs(60)).await;
    desk.start("cat ../two").await;
    let two = desk.hold("two").await;
    advance(Duration::from_secs(30)).await;
    drop(two);
    let second = desk.notices(1).await;
    advance(Duration::from_secs(10)).await;
    drop(one);
    let first = desk.notices(1).await;
    for (notice, job, took) in
        [(&first[0], "job: job_1", "took: 100 s"), (&second[0], "job: job_2", "took: 30 s")]
    {
        assert!(
            line(notice, "job: ") == Some(job) && line(notice, "took: ") == Some(took),
            "{job} was to say {took:?}; the notice:\n{notice}"
        );
    }
}
