//! Notices: what has happened beside the conversation and has to reach it.
//!
//! A job ends, a schedule fires, a message comes while the model thinks or nobody asks for anything. One queue takes all
//! of it: a running turn reads it at its next round, an idle session is woken by it. Invariants: a notice is given out
//! once; waiting for one costs nothing and loses no typed line; nobody who is still at work is left without a word.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use s01_loop::Repl;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// How long a session whose input has ended waits for what is still at work.
pub const LINGER: Duration = Duration::from_secs(60);

type Source = Box<dyn Fn() -> Vec<String> + Send + Sync>;

/// The queue. Clones share it.
#[derive(Clone)]
pub struct Notices {
    shared: Arc<Shared>,
}

struct Shared {
    /// A std lock, as the one below: nothing is awaited while it is held.
    state: Mutex<State>,
    /// Whoever keeps notices himself until they are wanted, such as a mailbox.
    sources: Mutex<Vec<Source>>,
    /// Changes when something arrives and when somebody stops working.
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<String>,
    /// Who is at work, by number, in the order they began.
    at_work: BTreeMap<u64, String>,
    begun: u64,
    /// When the wait at the end of the input began.
    ended: Option<Instant>,
}

/// Held by whoever is at work and will send a notice: until it drops, a session without input does not end by itself.
pub struct AtWork {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock().unwrap();
        state.at_work.remove(&self.number);
        drop(state);
        self.shared.changed.send_replace(());
    }
}

impl Default for Notices {
    fn default() -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                sources: Mutex::default(),
                changed: watch::Sender::new(()),
            }),
        }
    }
}

impl Notices {
    /// Adds a notice and wakes an idle session.
    pub fn push(&self, notice: impl Into<String>) {
        let mut state = self.shared.state.lock().unwrap();
        state.queue.push_back(notice.into());
        drop(state);
        self.wake();
    }

    /// Adds somebody who keeps notices himself: he is asked whenever notices are taken, and calls [`Notices::wake`].
    pub fn take_from(&self, source: impl Fn() -> Vec<String> + Send + Sync + 'static) {
        self.shared.sources.lock().unwrap().push(Box::new(source));
    }

    /// Something may have arrived.
    pub fn wake(&self) {
        self.shared.changed.send_replace(());
    }

    /// Somebody begins to work who will send a notice; `who` names him should the session end before.
    pub fn at_work(&self, who: impl Into<String>) -> AtWork {
        let mut state = self.shared.state.lock().unwrap();
        state.begun += 1;
        let number = state.begun;
        state.at_work.insert(number, who.into());
        AtWork {
            shared: self.shared.clone(),
            number,
        }
    }

    /// All notices there are, oldest first. They are not given out again.
    pub fn take(&self) -> Vec<String> {
        let queue = std::mem::take(&mut self.shared.state.lock().unwrap().queue);
        let mut taken = Vec::from(queue);
        for source in self.shared.sources.lock().unwrap().iter() {
            taken.extend(source());
        }
        taken
    }

    /// The next request: a line that is typed, or what arrives while nobody types. `None` at the end of the session.
    /// Dropping the future loses nothing.
    pub async fn or_line(&self, repl: &Repl) -> Option<String> {
        let next = self.next(repl).await;
        if next.is_none() {
            self.say_who_stops(repl);
        }
        next
    }

    async fn next(&self, repl: &Repl) -> Option<String> {
        loop {
            // Subscribed before the look: what arrives in between is seen.
            let mut changed = self.shared.changed.subscribe();
            if let Some(arrived) = self.arrived() {
                return Some(arrived);
            }
            tokio::select! {
                biased;
                line = repl.line() => match line {
                    Some(line) => return Some(line),
                    None if repl.lingers() => break,
                    None => return None,
                },
                // The sender lives as long as we do, so waiting cannot fail.
                _ = changed.changed() => {}
            }
        }
        tokio::select! {
            biased;
            () = repl.ended() => None,
            last = self.last() => last,
        }
    }

    /// Waits for a notice as long as somebody is at work, [`LINGER`] at most in all.
    async fn last(&self) -> Option<String> {
        let began = *self
            .shared
            .state
            .lock()
            .unwrap()
            .ended
            .get_or_insert_with(Instant::now);
        loop {
            let mut changed = self.shared.changed.subscribe();
            let is_anybody = !self.who_works().is_empty();
            // Asked afterwards: who has stopped working has sent his notice before.
            if let Some(arrived) = self.arrived() {
                return Some(arrived);
            }
            if !is_anybody {
                return None;
            }
            tokio::select! {
                _ = changed.changed() => {}
                () = sleep_until(began + LINGER) => return None,
            }
        }
    }

    fn arrived(&self) -> Option<String> {
        let notices = self.take();
        (!notices.is_empty()).then(|| notices.join("\n\n"))
    }

    fn who_works(&self) -> Vec<String> {
        let state = self.shared.state.lock().unwrap();
        state.at_work.values().cloned().collect()
    }

    fn say_who_stops(&self, repl: &Repl) {
        let names = self.who_works();
        if !names.is_empty() {
            repl.remark(&format!("[stopped at the end: {}]", names.join(" · ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_taken_once_in_order_of_arrival() {
        let notices = Notices::default();
        let kept = Arc::new(Mutex::new(vec!["mail".to_owned()]));
        let source = kept.clone();
        notices.take_from(move || std::mem::take(&mut *source.lock().unwrap()));
        notices.push("one");
        notices.push("two");
        assert_eq!(notices.take(), ["one", "two", "mail"]);
        assert!(notices.take().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_who_is_at_work_and_hears_his_last_word() {
        let notices = Notices::default();
        let at_work = notices.at_work("job_1");
        let worker = notices.clone();
        tokio::spawn(async move {
            sleep_until(Instant::now() + LINGER / 2).await;
            worker.push("done");
            drop(at_work);
        });
        assert_eq!(notices.last().await.as_deref(), Some("done"));
        assert_eq!(notices.last().await, None);
        assert!(notices.who_works().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_a_minute_in_all_and_no_longer() {
        let notices = Notices::default();
        let began = Instant::now();
        let _never = notices.at_work("job_1: sleep 1000");
        let worker = notices.clone();
        tokio::spawn(async move {
            sleep_until(began + LINGER / 2).await;
            worker.push("half way");
        });
        assert_eq!(notices.last().await.as_deref(), Some("half way"));
        assert_eq!(notices.last().await, None);
        assert_eq!(began.elapsed(), LINGER);
        assert_eq!(notices.who_works(), ["job_1: sleep 1000"]);
    }
}
