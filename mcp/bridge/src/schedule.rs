//! Prompts that come by themselves, at the minutes that s14's schedule knows.
//!
//! Invariants: they go through the same queue as all others, behind the users', with the lean profile; a minute that came
//! while the machine slept counts once.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::sleep;

use crate::agent::{Message, Reply};
use crate::config::Cron;
use crate::owner::{Owner, Profile};

/// The longest wait between two looks at the clock, which may be set.
const LOOK: Duration = Duration::from_secs(30);

/// Says what time it is.
pub type Clock = fn() -> Timestamp;

/// Puts one prompt whenever it is due, for ever.
pub async fn run(owner: Arc<Owner>, cron: Cron, now: Clock) {
    let mut after = now();
    while let Some(due) = cron.schedule.after(after) {
        while now() < due {
            let left = Duration::try_from(due.duration_since(now())).unwrap_or_default();
            sleep(left.min(LOOK)).await;
        }
        after = now().max(due);
        let message = Message {
            source: "cron".to_owned(),
            prompt: cron.prompt.clone(),
            profile: Profile::Lean,
            cron: true,
            deadline_s: None,
        };
        let (owner, name) = (owner.clone(), cron.agent.clone());
        tokio::spawn(async move {
            match owner.agents[&name].post(message).await {
                Ok(Reply { by, text, .. }) => {
                    tracing::info!(agent = name, by, reply = kit::one_line(&text), "cron")
                }
                Err(failure) => tracing::warn!(agent = name, why = failure.message, "cron"),
            }
        });
    }
}
