//! Exercise 2 · eight at a time (10 minutes).
//!
//! A model that reads a whole project may ask for two hundred files in one reply, and all of them are opened at once.
//! Let at most eight calls of a batch run at a time. As before, the outputs come in the order of the calls. And as
//! soon as one call is done, whichever it is, the next one starts: a slow call costs one of the eight places, not all
//! of them.
//!
//! Hint: `Toolbox::run` in `src/toolbox.rs` makes a future of each call, and `FuturesOrdered` polls them all. What
//! could such a future wait for before it does its work?
//!
//! Hint: `StreamExt::buffered` looks like the answer. Does it start the next call while the first one is still at
//! work? tokio's `Semaphore` does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use s01_loop::{Output, ToolCall, ToolSpec};
use s02_tools::{Access, Glob, Tool, Toolbox};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

/// How many calls are at work, and how many were at most.
#[derive(Default)]
struct Count {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Count {
    fn begin(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
    }

    fn end(&self) {
        self.now.fetch_sub(1, Ordering::Relaxed);
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn no_more_than_eight_run_at_a_time_and_they_come_back_in_order() {
    let count = Arc::new(Count::default());
    let counted = Arc::clone(&count);
    let busy = Tool::new(ToolSpec::new::<Glob>("busy", ""), move |call| {
        let count = Arc::clone(&counted);
        async move {
            count.begin();
            // The earlier a call, the longer it takes.
            for _ in call.id.parse().unwrap_or(0)..50 {
                tokio::task::yield_now().await;
            }
            count.end();
            Output::ok(call.id)
        }
    });
    let tools = Toolbox::new().with(busy.touching(Access::Nothing));
    let ids: Vec<String> = (0..40).map(|id| id.to_string()).collect();
    let mut running = tools.run(ids.iter().map(|id| ToolCall::new(id, "busy", json!({}))));
    let mut outputs = Vec::new();
    while let Some((_, output)) = running.next().await {
        outputs.push(output.text);
    }
    let most = count.most();
    assert!(
        most == 8,
        "of 40 calls 8 should be at work at a time, no more and no fewer; there were {most}"
    );
    assert!(
        outputs == ids,
        "the outputs should come in the order of the calls; they came as {outputs:?}"
    );
}

/// The trap: the first call is done only when the ninth has run. Time is paused, so that waiting in vain takes none.
#[tokio::test(start_paused = true)]
#[ignore = "exercise 2"]
async fn a_slow_call_holds_up_one_place_only() {
    let count = Arc::new(Count::default());
    let last_has_run = Arc::new(Notify::new());
    let (counted, notify) = (Arc::clone(&count), Arc::clone(&last_has_run));
    let meets = Tool::new(ToolSpec::new::<Glob>("meets", ""), move |call| {
        let (count, last_has_run) = (Arc::clone(&counted), Arc::clone(&notify));
        async move {
            count.begin();
            match call.id.as_str() {
                "0" => last_has_run.notified().await,
                "8" => last_has_run.notify_one(),
                _ => tokio::task::yield_now().await,
            }
            count.end();
            Output::ok(call.id)
        }
    });
    let tools = Toolbox::new().with(meets.touching(Access::Nothing));
    let mut running = tools.run((0..9).map(|id| ToolCall::new(id.to_string(), "meets", json!({}))));
    let all = async { while running.next().await.is_some() {} };
    let in_time = timeout(Duration::from_secs(60), all).await.is_ok();
    assert!(
        in_time,
        "seven of the first eight calls were done, and the ninth was not started: the first one kept it waiting"
    );
    let most = count.most();
    assert!(most <= 8, "no more than 8 calls should be at work at a time; there were {most}");
}
