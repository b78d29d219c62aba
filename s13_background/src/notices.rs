//! Notices: events outside the conversation that the model must hear of.
//!
//! A job ends, a schedule fires, a message comes while the model thinks or nobody asks for anything. One queue takes all
//! of it: a running turn reads it at its next round, an idle session is woken by it. Invariants: a notice is given out
//! once, and again only when the turn it began ended before anybody kept it; waiting for one costs nothing and loses no
//! typed line; the user is told who was still at work when the session ended.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use s01_loop::Repl;
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

/// How long a session waits for background work after its input has ended.
const GRACE_PERIOD: Duration = Duration::from_secs(60);

type Source = Box<dyn Fn() -> Vec<String> + Send + Sync>;
type OnTaken = Box<dyn Fn() + Send + Sync>;
type Ending = Box<dyn Fn() -> Vec<String> + Send + Sync>;

/// The queue. Clones share it.
#[derive(Clone, Default)]
pub struct Notices {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// A std lock, as the one below: nothing is awaited while it is held.
    state: Mutex<State>,
    /// Sources that are polled whenever notices are taken, such as a mailbox.
    sources: Mutex<Vec<Source>>,
    /// Called when the conversation holds everything that was given out.
    on_taken: Mutex<Vec<OnTaken>>,
    /// Callbacks that name what else ends with the session.
    endings: Mutex<Vec<Ending>>,
    /// Changes when something arrives and when background work ends.
    changed: watch::Sender<()>,
    /// Whether a turn runs.
    turn: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<String>,
    /// What woke the session, until its turn takes notices again: then the conversation holds it.
    woke: Vec<String>,
    /// What woke a session whose turn was ended by Ctrl-C or a hook. It does not wake the session again.
    unheard: Vec<String>,
    /// Background work by number, oldest first.
    at_work: BTreeMap<u64, String>,
    begun: u64,
    /// When the wait at the end of the input began.
    ended: Option<Instant>,
}

/// A guard for background work that will send a notice. A session whose input has ended waits until it drops, for
/// `GRACE_PERIOD` at most.
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

impl Notices {
    /// Adds a notice and wakes an idle session.
    pub fn push(&self, notice: impl Into<String>) {
        let mut state = self.shared.state.lock().unwrap();
        state.queue.push_back(notice.into());
        drop(state);
        self.wake();
    }

    /// Adds a source that is polled whenever notices are taken. It calls [`Notices::wake`] when it has some.
    pub fn take_from(&self, source: impl Fn() -> Vec<String> + Send + Sync + 'static) {
        self.shared.sources.lock().unwrap().push(Box::new(source));
    }

    /// Calls back when the conversation holds everything that was given out, before the next poll.
    pub fn on_taken(&self, taken: impl Fn() + Send + Sync + 'static) {
        self.shared.on_taken.lock().unwrap().push(Box::new(taken));
    }

    /// Adds names of what ends with the session without being waited for, such as a pending reminder.
    pub fn ends(&self, names: impl Fn() -> Vec<String> + Send + Sync + 'static) {
        self.shared.endings.lock().unwrap().push(Box::new(names));
    }

    /// Makes an idle session look for notices.
    pub fn wake(&self) {
        self.shared.changed.send_replace(());
    }

    /// Registers background work that will send a notice; `who` names it if the session ends first.
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

    /// True while a turn runs. Changes when one begins and when it ends.
    pub fn turn(&self) -> watch::Receiver<bool> {
        self.shared.turn.subscribe()
    }

    /// Takes all notices, oldest first, for a conversation that keeps them. They are not given out again.
    pub fn take(&self) -> Vec<String> {
        let mut state = self.shared.state.lock().unwrap();
        let was_woken = !std::mem::take(&mut state.woke).is_empty();
        let mut taken = std::mem::take(&mut state.unheard);
        taken.extend(state.queue.drain(..));
        drop(state);
        // The sources were asked when they woke the session. Asked again, they would count those notices as delivered
        // before the model has replied.
        if !was_woken {
            taken.extend(self.ask_sources());
        }
        for on_taken in self.shared.on_taken.lock().unwrap().iter() {
            on_taken();
        }
        taken
    }

    fn ask_sources(&self) -> Vec<String> {
        let sources = self.shared.sources.lock().unwrap();
        sources.iter().flat_map(|source| source()).collect()
    }

    /// The next request: a line that is typed, or what arrives while nobody types. `None` at the end of the session.
    /// Cancel-safe.
    pub async fn next_input(&self, repl: &Repl) -> Option<String> {
        self.keep_unheard();
        self.shared.turn.send_replace(false);
        let next = self.next(repl).await;
        if next.is_none() {
            self.say_who_stops(repl);
        }
        self.shared.turn.send_replace(next.is_some());
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
                    None if repl.waits_for_background() => break,
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

    /// Waits for a notice as long as somebody is at work, `GRACE_PERIOD` at most in all.
    async fn last(&self) -> Option<String> {
        // Lets a task that waited for the end of the turn register as at work before the first look.
        yield_now().await;
        let began = *self.shared.state.lock().unwrap().ended.get_or_insert_with(Instant::now);
        loop {
            let mut changed = self.shared.changed.subscribe();
            let is_anybody = !self.who_works().is_empty();
            // Checked afterwards: background work sends its notice before it ends.
            if let Some(arrived) = self.arrived() {
                return Some(arrived);
            }
            if !is_anybody {
                return None;
            }
            tokio::select! {
                _ = changed.changed() => {}
                () = sleep_until(began + GRACE_PERIOD) => return None,
            }
        }
    }

    /// Called when a turn has ended. What woke it is given out again unless its conversation has kept it.
    fn keep_unheard(&self) {
        let mut state = self.shared.state.lock().unwrap();
        let woke = std::mem::take(&mut state.woke);
        state.unheard.extend(woke);
    }

    /// What wakes the session, as one request.
    fn arrived(&self) -> Option<String> {
        let kept = self.ask_sources();
        let mut state = self.shared.state.lock().unwrap();
        if state.queue.is_empty() && kept.is_empty() {
            return None;
        }
        let mut woke = std::mem::take(&mut state.unheard);
        woke.extend(state.queue.drain(..));
        woke.extend(kept);
        let request = woke.join("\n\n");
        state.woke = woke;
        Some(request)
    }

    fn who_works(&self) -> Vec<String> {
        let state = self.shared.state.lock().unwrap();
        state.at_work.values().cloned().collect()
    }

    fn say_who_stops(&self, repl: &Repl) {
        let endings = self.shared.endings.lock().unwrap();
        let others = endings.iter().flat_map(|ending| ending()).collect();
        for (what, names) in
            [("stopped at the end", self.who_works()), ("ended with the session", others)]
        {
            if !names.is_empty() {
                repl.warn(&format!("[{what}: {}]", names.join(" · ")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that counts how often it is asked, and has something to say once.
    fn source(notices: &Notices) -> Arc<Mutex<usize>> {
        let asked = Arc::new(Mutex::new(0));
        let counter = asked.clone();
        notices.take_from(move || {
            let mut count = counter.lock().unwrap();
            *count += 1;
            Vec::from_iter((*count == 1).then(|| "mail".to_owned()))
        });
        asked
    }

    #[tokio::test]
    async fn a_notice_whose_turn_ended_before_it_was_kept_is_in_the_next_one() {
        let notices = Notices::default();
        let repl = Repl::once("test", "");
        let _at_work = notices.at_work("job_2");
        source(&notices);
        notices.push("job_1");
        let woken = notices.next_input(&repl).await;
        assert_eq!(woken.as_deref(), Some("job_1\n\nmail"));
        assert!(*notices.turn().borrow());
        // The turn is dropped here, and what it began with wakes nobody a second time.
        notices.push("job_2");
        let woken = notices.next_input(&repl).await;
        assert_eq!(woken.as_deref(), Some("job_1\n\nmail\n\njob_2"));
        assert!(notices.take().is_empty(), "now the conversation holds it");
        assert!(notices.take().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn an_unheard_notice_wakes_nobody_and_comes_with_the_next_request() {
        let notices = Notices::default();
        notices.push("job_1");
        assert_eq!(notices.last().await.as_deref(), Some("job_1"));
        notices.keep_unheard();
        assert_eq!(notices.last().await, None);
        assert_eq!(notices.take(), ["job_1"]);
        assert!(notices.take().is_empty());
    }

    #[tokio::test]
    async fn who_keeps_notices_is_not_asked_again_before_the_model_has_had_what_woke_it() {
        let notices = Notices::default();
        let asked = source(&notices);
        assert_eq!(notices.last().await.as_deref(), Some("mail"));
        assert!(notices.take().is_empty());
        assert_eq!(*asked.lock().unwrap(), 1);
        notices.take();
        assert_eq!(*asked.lock().unwrap(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn who_begins_when_the_turn_ends_is_waited_for() {
        let notices = Notices::default();
        let repl = Repl::once("test", "hire alice");
        assert!(notices.next_input(&repl).await.is_some());
        let (worker, mut turn) = (notices.clone(), notices.turn());
        tokio::spawn(async move {
            turn.wait_for(|is_turn| !is_turn).await.unwrap();
            let _at_work = worker.at_work("alice");
            sleep_until(Instant::now() + GRACE_PERIOD / 2).await;
            worker.push("done");
        });
        yield_now().await;
        assert_eq!(notices.next_input(&repl).await.as_deref(), Some("done"));
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_a_minute_in_all_and_no_longer() {
        let notices = Notices::default();
        let began = Instant::now();
        let _never = notices.at_work("job_1: sleep 1000");
        let worker = notices.clone();
        tokio::spawn(async move {
            sleep_until(began + GRACE_PERIOD / 2).await;
            worker.push("half way");
        });
        assert_eq!(notices.last().await.as_deref(), Some("half way"));
        assert_eq!(notices.last().await, None);
        assert_eq!(began.elapsed(), GRACE_PERIOD);
        assert_eq!(notices.who_works(), ["job_1: sleep 1000"]);
    }
}
