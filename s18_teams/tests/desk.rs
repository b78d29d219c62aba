//! A lead's desk: the real team, board, mail and protocol, and teammates that do what a test says.
//!
//! The chapter's tests and its exercises work at one. Invariant: a round begins when the test says so, and time passes
//! only while everybody waits.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, bail};
use s01_loop::Repl;
use s12_tasks::Task;
use s15_mailbox::{LEAD, Teammate, TeammateContext};
use s17_worktree::Worktrees;
use s18_teams::WorkLoop;
use s18_teams::teammate::Worker;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};

use crate::lead;
use crate::scene::{Scene, contents};

/// What a teammate of a test does next.
pub enum Order {
    /// Another round; its last reply had calls, or it had none and it is idle.
    Round { is_idle: bool },
    /// It fails, as when the model cannot be reached.
    Fail,
}

/// What a round begins with; nothing when it leaves.
pub type Notes = Option<Vec<String>>;

type Ends = HashMap<String, (UnboundedReceiver<Order>, UnboundedSender<Notes>)>;

/// A teammate's loop without a model.
#[derive(Clone)]
pub struct Puppet {
    with: Worker,
    ends: Arc<Mutex<Ends>>,
}

impl Teammate for Puppet {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        let taken = self.ends.lock().unwrap().remove(&teammate.name);
        let (mut orders, notes) = taken.expect("spawned by the test");
        let mut work_loop = WorkLoop::new(&self.with, &teammate);
        while let Some(order) = orders.recv().await {
            let next = match order {
                Order::Round { is_idle } => work_loop.next(is_idle).await?,
                Order::Fail => bail!("the model cannot be reached"),
            };
            notes.send(next.clone())?;
            if next.is_none() {
                return Ok(());
            }
        }
        // The test has let go of its strings.
        std::future::pending().await
    }
}

/// The strings of one teammate.
pub struct Mate {
    orders: UnboundedSender<Order>,
    notes: UnboundedReceiver<Notes>,
}

impl Mate {
    pub fn order(&self, order: Order) {
        self.orders.send(order).unwrap();
    }

    /// What it goes on with, and how long that took. `None` when it has left.
    pub async fn hears(&mut self) -> (Notes, Duration) {
        let began = Instant::now();
        (self.notes.recv().await.flatten(), began.elapsed())
    }

    /// A round after one with calls.
    pub async fn works(&mut self) -> Notes {
        self.order(Order::Round { is_idle: false });
        self.hears().await.0
    }

    /// So many rounds that begin with nothing.
    pub async fn works_for(&mut self, rounds: usize) {
        for _ in 0..rounds {
            assert_eq!(self.works().await, Some(Vec::new()));
        }
    }

    /// A round after one without calls.
    pub async fn idles(&mut self) -> Notes {
        self.order(Order::Round { is_idle: true });
        self.hears().await.0
    }
}

/// A lead's desk, and the strings of its team.
pub struct Desk {
    desk: lead::Desk,
    ends: Arc<Mutex<Ends>>,
}

impl Deref for Desk {
    type Target = lead::Desk;

    fn deref(&self) -> &lead::Desk {
        &self.desk
    }
}

impl Desk {
    pub fn new() -> Self {
        Self::at(Scene::new())
    }

    /// The desk of the next session in the same folder. The team of this one is gone.
    pub fn tomorrow(self) -> Self {
        Self::at(Scene::within(self.desk.scene.dir, ""))
    }

    fn at(scene: Scene) -> Self {
        let ends = Arc::<Mutex<Ends>>::default();
        let puppet = |scene: &Scene, protocol| Puppet {
            with: Worker {
                protocol,
                board: scene.board.clone(),
                worktrees: Worktrees::open(&scene.ws, &scene.board, &scene.mail),
            },
            ends: Arc::clone(&ends),
        };
        let desk = lead::Desk::at(scene, "http://127.0.0.1:9", puppet);
        Self { desk, ends }
    }

    pub async fn spawn(&self, name: &str) -> Mate {
        self.spawn_as(name, "developer").await
    }

    pub async fn spawn_as(&self, name: &str, role: &str) -> Mate {
        let (orders, taken) = unbounded_channel();
        let (given, notes) = unbounded_channel();
        let ends = (taken, given);
        self.ends.lock().unwrap().insert(name.to_owned(), ends);
        self.desk.spawn_as(name, role).await;
        Mate { orders, notes }
    }

    /// A turn of the lead begins.
    pub async fn turn_begins(&self) {
        let request = Repl::once("test", "go");
        self.notices.next_input(&request).await.unwrap();
    }

    /// It ends: the lead waits for the next request.
    pub async fn turn_ends(&self) {
        let nothing = Repl::once("test", "");
        assert_eq!(self.notices.next_input(&nothing).await, None);
    }

    pub fn owner(&self, task: &Task) -> Option<String> {
        self.board.get(&task.id).unwrap().task.owner
    }

    /// Lets a task name a worktree that is not there.
    pub fn lose_worktree(&self, task: &Task) {
        let gone = |task: &mut Task| {
            task.extra.insert("worktree".into(), "gone".into());
            Ok(())
        };
        self.board.update(&task.id, gone).unwrap();
    }

    pub fn writes(&self, to: &str, content: &str) {
        self.send(LEAD, to, content);
    }

    /// What has been written to the lead.
    pub fn told(&self) -> Vec<String> {
        contents(&self.mail, LEAD)
    }
}

/// Lets this much time pass.
pub async fn pass(time: Duration) {
    sleep_until(Instant::now() + time).await;
}

/// The only note of a round.
#[track_caller]
pub fn only(notes: Notes) -> String {
    let notes = notes.expect("it stays");
    assert_eq!(notes.len(), 1, "{notes:?}");
    notes.into_iter().next().unwrap()
}
