//! Any conversation: random rounds, notes, interruptions and refusals, through windows of every size.
//!
//! Invariant: after each compaction the mock model takes the conversation, the current request stands in it word for
//! word, and so does what the model has not seen yet; no earlier request is missing.

use std::sync::atomic::{AtomicU64, Ordering};

use mock_servers::model::{Fault, Reply, Request, StopReason, calls, says};
use s01_loop::{Block, History, Output, System};
use serde_json::json;

use crate::stage::{Stage, is_summary_request, results, shape};

/// A small generator of numbers, the same for the same seed.
struct Dice(AtomicU64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1))
    }

    fn roll(&self, sides: u64) -> u64 {
        let mut state = self.0.load(Ordering::Relaxed);
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.0.store(state, Ordering::Relaxed);
        (state >> 11) % sides
    }
}

fn brain(seed: u64) -> impl Fn(&Request) -> Reply + Send + Sync {
    let dice = Dice::new(seed);
    move |request| {
        if is_summary_request(request) {
            return match dice.roll(6) {
                0 => says(" "),
                1 => says("half").stops_with(StopReason::MaxTokens),
                size => says("so far so good ".repeat(1 << (2 * size))),
            };
        }
        match dice.roll(8) {
            0 => says("That is all."),
            count => (0..count % 4).fold(
                calls("read_file", json!({"path": dice.roll(100).to_string()})),
                |reply, _| reply.and_calls("bash", json!({"command": "ls"})),
            ),
        }
    }
}

/// One request, and rounds until the model is done, the user stops it, or nothing helps.
async fn turn(stage: &Stage, history: &mut History, dice: &Dice, request: &str) {
    history.user(request);
    for _ in 0..30 {
        if dice.roll(5) == 0 {
            history.remind([format!("<mail>{}</mail>", "m".repeat(1 << dice.roll(12)))]);
        }
        let fresh = results(&history[history.len() - 1..]);
        stage.compactor.shrink(history).await;
        check(history, request, &fresh);
        if dice.roll(12) == 0 {
            stage.model.fault(Fault::TooLong, 1);
        }
        let system = System::from("You are a coding agent.");
        let sent = stage.client.send(system, history, &[]).await;
        // A fault that no request has met would meet the next summary.
        let reply = match sent {
            Ok(reply) => reply,
            Err(error) => {
                if stage.compactor.recover(&error, history).await {
                    check(history, request, &fresh);
                    continue;
                } else {
                    return;
                }
            }
        };
        history.reply(&reply);
        let calls = reply.tool_calls();
        if calls.is_empty() && dice.roll(2) == 0 {
            return;
        }
        if calls.is_empty() {
            history.remind(["<stop-hook>not yet</stop-hook>"]);
        }
        for call in calls {
            if dice.roll(40) == 0 {
                return;
            }
            history.answer(&call, Output::ok("o".repeat(1 << dice.roll(17))));
        }
    }
}

fn check(history: &History, request: &str, fresh: &[String]) {
    let is_request = |block: &Block| *block == Block::text(request);
    assert!(history.turn()[0].blocks().iter().any(is_request), "the request is lost");
    let said: String = shape(history).concat();
    let number: usize = request.rsplit_once(' ').unwrap().1.parse().unwrap();
    for earlier in 0..number {
        let earlier = format!("request {earlier}");
        assert!(said.contains(&earlier), "{earlier} is lost: {said:.2000}");
    }
    let now = results(&history[history.len() - 1..]);
    assert_eq!(now.len(), fresh.len(), "results the model has not seen");
    for (now, then) in std::iter::zip(now, fresh) {
        assert!(now == *then || now.starts_with("<persisted-output"), "{now}");
    }
}

#[tokio::test]
async fn every_conversation_is_accepted_after_every_layer() {
    for seed in 1..=12 {
        let window = [2_000, 8_000, 20_000, 200_000][seed as usize % 4];
        let stage = Stage::thinking(window, brain(seed));
        let (mut history, dice) = (History::default(), Dice::new(seed + 1_000));
        for number in 0..6 {
            turn(&stage, &mut history, &dice, &format!("request {number}")).await;
        }
        let refusals = stage.model.refusals();
        let other =
            refusals.iter().find(|refusal| !refusal.message.starts_with("prompt is too long"));
        assert_eq!(other, None, "seed {seed}");
    }
}
