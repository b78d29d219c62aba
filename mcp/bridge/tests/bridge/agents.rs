//! The queue and the timers, in paused time, with a process that is two streams.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_bridge::agent::Message;
use mcp_bridge::config;
use mcp_bridge::owner::Owner;
use mcp_bridge::process::Process;
use mcp_relay::service::raw;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};
use tokio::time::{Instant, timeout};

use crate::{FIRST, message, model_at, owner};

/// What the processes were asked, in order; `start` for each that was started.
type Seen = Arc<Mutex<Vec<String>>>;

/// Plays a harness: `fail`, `die`, `hang` and `work N` (seconds) do what they say, all else is echoed.
fn starts(seen: Seen) -> impl Fn(&config::Agent) -> Result<Process, String> {
    move |_| {
        seen.lock().unwrap().push("start".to_owned());
        let ((near_in, far_out), (far_in, near_out)) = (duplex(1 << 16), duplex(1 << 16));
        let seen = seen.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(far_in).lines();
            let mut output = far_out;
            let mut say =
                async move |line: Value| output.write_all(format!("{line}\n").as_bytes()).await;
            while let Ok(Some(line)) = lines.next_line().await {
                let line: Value = serde_json::from_str(&line).unwrap();
                let prompt = line["message"]["content"][0]["text"].as_str().unwrap().to_owned();
                seen.lock().unwrap().push(prompt.clone());
                // A turn of its own that ends now is nobody's answer.
                let _ = say(json!({"type": "result", "result": "a notice"})).await;
                let _ = say(json!({"type": "user", "isReplay": true, "uuid": line["uuid"]})).await;
                match prompt.split_once(' ').unwrap_or((&prompt, "")) {
                    ("die", _) => return,
                    ("hang", _) => std::future::pending().await,
                    ("work", time) => pass(time.parse().unwrap()).await,
                    _ => {}
                }
                let result = json!({"type": "result", "is_error": prompt == "fail", "result": format!("did {prompt}")});
                let _ = say(result).await;
            }
        });
        Ok(Process::over(near_in, near_out))
    }
}

/// Lets paused time pass.
pub async fn pass(seconds: u64) {
    let _ = timeout(Duration::from_secs(seconds), std::future::pending::<()>()).await;
}

pub fn scene(text: &str, folder: &Path) -> (Arc<Owner>, Seen) {
    let (owner, seen) = (owner(text, folder), Seen::default());
    // Nobody is there: what falls back fails, and says so.
    owner.start(&model_at("http://127.0.0.1:1"), starts(seen.clone()));
    (owner, seen)
}

pub async fn said(owner: &Owner, prompt: &str) -> String {
    match owner.agent("one").unwrap().post(message(prompt)).await {
        Ok(reply) => reply.text,
        Err(failure) => failure.kind.to_owned(),
    }
}

fn state(owner: &Owner) -> &'static str {
    owner.status()[0].state
}

/// The seed's table had no entry for some; their timer was NaN, and fired at once.
#[tokio::test(start_paused = true)]
async fn an_agent_without_an_entry_rests_for_the_default_time() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, seen) = scene(FIRST, folder.path());
    assert_eq!(said(&owner, "a").await, "did a");
    pass(89).await;
    assert_eq!((state(&owner), said(&owner, "b").await), ("resting", "did b".to_owned()));
    assert_eq!(*seen.lock().unwrap(), ["start", "a", "b"]);
    pass(91).await;
    assert_eq!(state(&owner), "asleep");
    assert_eq!(said(&owner, "c").await, "did c");
    assert_eq!(*seen.lock().unwrap(), ["start", "a", "b", "start", "c"]);
}

/// The seed's queue waited for ever for the one that was rejected, and so did all behind it.
#[tokio::test(start_paused = true)]
async fn a_failed_prompt_fails_alone_and_the_next_one_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, _) = scene(&format!("{FIRST}retry_s: 0\n"), folder.path());
    let all = ["a", "fail", "b", "die", "c"].map(|prompt| said(&owner, prompt));
    let all = futures_util::future::join_all(all).await;
    assert_eq!(all, ["did a", "prompt_failed", "did b", "no_answer", "did c"]);
}

#[tokio::test(start_paused = true)]
async fn a_hundred_wait_and_one_more_is_refused_and_all_of_them_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, seen) = scene(FIRST, folder.path());
    let post = |prompt: String, cron| {
        let owner = owner.clone();
        tokio::spawn(async move {
            let message = Message {
                cron,
                ..message(&prompt)
            };
            owner.agent("one").unwrap().post(message).await.map_err(|failure| failure.status)
        })
    };
    let first = post("work 1".to_owned(), false);
    while seen.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    let crons: Vec<_> = (0..50).map(|at| post(format!("cron{at}"), true)).collect();
    let mut users: Vec<_> = (0..50).map(|at| post(format!("user{at}"), false)).collect();
    assert_eq!(post("late".to_owned(), false).await.unwrap().unwrap_err(), 429);
    // Who hangs up makes room.
    users[49].abort();
    assert!((&mut users[49]).await.unwrap_err().is_cancelled());
    users[49] = post("user49".to_owned(), false);
    for waiting in crons.into_iter().chain(users).chain([first]) {
        assert_eq!(waiting.await.unwrap().unwrap().by, "process");
    }
    let order: Vec<_> = (0..50)
        .map(|at| format!("user{at}"))
        .chain((0..50).map(|at| format!("cron{at}")))
        .collect();
    assert_eq!(seen.lock().unwrap()[2..], order);
}

#[tokio::test(start_paused = true)]
async fn who_waits_too_long_or_hangs_up_costs_nobody_anything() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, seen) = scene(FIRST, folder.path());
    let running = said(&owner, "work 60");
    let late = async {
        let message = Message {
            deadline_s: Some(10),
            ..message("late")
        };
        owner.agent("one").unwrap().post(message).await.unwrap_err()
    };
    let gone = timeout(Duration::from_secs(20), said(&owner, "gone"));
    let (running, late, gone) = tokio::join!(running, late, gone);
    assert_eq!((&*running, late.status, gone.is_err()), ("did work 60", 408, true));
    assert!(late.message.ends_with("nothing was done"), "{}", late.message);
    assert_eq!((&*said(&owner, "next").await, owner.status()[0].queue), ("did next", 0));
    assert_eq!(*seen.lock().unwrap(), ["start", "work 60", "next"]);
}

#[tokio::test(start_paused = true)]
async fn no_timer_fires_while_a_prompt_runs_but_the_cap() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, seen) = scene(FIRST, folder.path());
    assert_eq!(said(&owner, "work 599").await, "did work 599");
    let began = Instant::now();
    assert_eq!(said(&owner, "hang").await, "no_answer");
    assert!(began.elapsed() >= Duration::from_secs(600), "{:?}", began.elapsed());
    assert!(owner.status()[0].trouble.as_ref().unwrap().contains("longer than 600s"));
    assert_eq!(seen.lock().unwrap().len(), 3);
}

/// A shim that calls between two prompts is a sign of life, too.
#[tokio::test(start_paused = true)]
async fn any_activity_starts_the_idle_time_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, seen) = scene(FIRST, folder.path());
    said(&owner, "a").await;
    for _ in 0..5 {
        pass(80).await;
        let agent = owner.agent("one").unwrap();
        let call = owner.call(agent, "no_such", raw(json!({})), &|_| ()).await;
        assert_eq!(call.unwrap_err().status, 404);
    }
    assert_eq!(said(&owner, "b").await, "did b");
    assert_eq!(*seen.lock().unwrap(), ["start", "a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_the_owner_waits_ten_seconds_for_prompts_under_way() {
    for (prompt, patience, first) in
        [("work 9", 10, "did work 9"), ("work 12", 10, "stopped"), ("work 9", 0, "stopped")]
    {
        let folder = tempfile::tempdir().unwrap();
        let (owner, _) = scene(FIRST, folder.path());
        let stop = async {
            pass(1).await;
            owner.stop(Duration::from_secs(patience)).await;
        };
        let (one, waits, ()) = tokio::join!(said(&owner, prompt), said(&owner, "waits"), stop);
        let late = said(&owner, "late").await;
        assert_eq!([&*one, &*waits, &*late], [first, "stopping", "stopping"], "{prompt}");
    }
}
