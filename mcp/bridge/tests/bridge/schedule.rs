//! Prompts that come by themselves: their minute, their place in the queue, their profile.

use std::cell::Cell;

use jiff::{SignedDuration, Timestamp};
use mcp_bridge::config::Cron;
use mcp_bridge::owner::Profile;
use mcp_bridge::schedule;
use s14_cron::Schedule;
use tokio::time::Instant;

use crate::agents::{pass, said, scene};
use crate::api::{AGENTS, host_of, relayed};
use crate::{FIRST, parsed};

/// Paused time, as the time of day: the first look is at midnight.
fn clock() -> Timestamp {
    thread_local!(static BEGAN: Instant = Instant::now());
    let passed = BEGAN.with(Instant::elapsed);
    Timestamp::UNIX_EPOCH + SignedDuration::try_from(passed).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_schedule_waits_behind_users_and_has_the_lean_profile() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, seen) = scene(FIRST, folder.path());
    let cron = Cron {
        schedule: Schedule::parse("*/5 * * * *").unwrap(),
        agent: "one".to_owned(),
        prompt: "work 30".to_owned(),
    };
    let runs = tokio::spawn(schedule::run(owner.clone(), cron, clock));
    pass(299).await;
    assert_eq!(seen.lock().unwrap().len(), 0);
    let (first, second, ()) =
        tokio::join!(said(&owner, "work 10"), said(&owner, "work 20"), async {
            pass(5).await;
            assert_eq!(owner.status()[0].queue, 2);
        });
    assert_eq!([first, second], ["did work 10", "did work 20"]);
    pass(1).await;
    assert_eq!(owner.agent("one").unwrap().profile(), Profile::Lean);
    pass(30).await;
    assert_eq!(
        (owner.agent("one").unwrap().profile(), owner.status()[0].answered),
        (Profile::Full, 3)
    );
    assert_eq!(*seen.lock().unwrap(), ["start", "work 10", "work 20", "work 30"]);
    pass(300).await;
    assert_eq!(seen.lock().unwrap().len(), 6);
    runs.abort();
}

#[tokio::test]
async fn a_schedule_cannot_send_mail() {
    let folder = tempfile::tempdir().unwrap();
    let (mock, model) = relayed();
    let text = format!(
        "{AGENTS}schedule: [{{cron: '* * * * *', agent: one, prompt: write to everybody}}]"
    );
    // A second before the minute, and from then on the minute.
    let clock = || {
        thread_local!(static LOOKS: Cell<i64> = const { Cell::new(59) });
        Timestamp::from_second(LOOKS.replace(60)).unwrap()
    };
    let (host, _) = host_of(parsed(&text, folder.path()).unwrap(), model, clock).await;
    while host.owner.status()[0].answered == 0 {
        tokio::task::yield_now().await;
    }
    let by_itself = mock.requests();
    let offered = by_itself[0].tool_names();
    assert!(offered.iter().any(|it| it == "mcp__bridge__task_create"), "{offered:?}");
    assert!(!offered.iter().any(|it| it == "mcp__bridge__world_send"), "{offered:?}");
    let (_, result) = by_itself.last().unwrap().results().pop().unwrap();
    assert!(!result.contains("was done"), "{result}");
}
