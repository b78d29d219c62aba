//! A lead's desk: the real team, board, mail and protocol, and teammates that do what a test says.
//!
//! The chapter's tests and its exercises work at one. Invariant: a round begins when the test says so, and time passes
//! only while everybody waits.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, bail};
use s01_loop::{Output, Repl};
use s02_tools::Toolbox;
use s04_hooks::Hooks;
use s12_tasks::{Board, Task};
use s15_mailbox::{LEAD, Team, Teammate, TeammateContext};
use s16_protocol::Protocol;
use s17_worktree::Worktrees;
use s18_teams::WorkLoop;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};

use crate::scene::{Scene, call, contents, done};

/// What a teammate of a test does next.
pub enum Order {
    /// Another round; its last reply had calls, or it had none and it is idle.
    Round { is_idle: bool },
    /// It fails, as when the model cannot be reached.
    Fail,
    /// It breaks down.
    Panic,
}

/// What a round begins with; nothing when it leaves.
pub type Notes = Option<Vec<String>>;

type Ends = HashMap<String, (UnboundedReceiver<Order>, UnboundedSender<Notes>)>;

/// A teammate's loop without a model.
#[derive(Clone)]
pub struct Puppet {
    protocol: Protocol,
    board: Board,
    worktrees: Worktrees,
    ends: Arc<Mutex<Ends>>,
}

impl Teammate for Puppet {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        let taken = self.ends.lock().unwrap().remove(&teammate.name);
        let (mut orders, notes) = taken.expect("spawned by the test");
        let mut work_loop = WorkLoop::new(&self.protocol, &self.board, &self.worktrees, &teammate);
        while let Some(order) = orders.recv().await {
            let next = match order {
                Order::Round { is_idle } => work_loop.next(is_idle).await?,
                Order::Fail => bail!("the model cannot be reached"),
                Order::Panic => panic!("as the test says"),
            };
            let is_over = next.is_none();
            let _ = notes.send(next);
            if is_over {
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

    /// A round after one without calls.
    pub async fn idles(&mut self) -> Notes {
        self.order(Order::Round { is_idle: true });
        self.hears().await.0
    }
}

/// A lead's desk with everything a team needs.
pub struct Desk {
    scene: Scene,
    pub protocol: Protocol,
    pub team: Team<Puppet>,
    ends: Arc<Mutex<Ends>>,
    pub tools: Toolbox,
}

impl Deref for Desk {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.scene
    }
}

impl Desk {
    pub fn new() -> Self {
        Self::at(Scene::new())
    }

    /// The desk of the next session in the same folder. The team of this one is gone.
    pub fn tomorrow(self) -> Self {
        Self::at(Scene::within(self.scene.dir, ""))
    }

    fn at(scene: Scene) -> Self {
        let protocol = Protocol::new(&scene.mail, &scene.repl);
        let ends = Arc::default();
        let puppet = Puppet {
            protocol: protocol.clone(),
            board: scene.board.clone(),
            worktrees: Worktrees::open(&scene.ws, &scene.board, &scene.mail),
            ends: Arc::clone(&ends),
        };
        let team = scene.team("http://127.0.0.1:9", &Hooks::default(), puppet);
        let tools = Toolbox::new()
            .with(team.spawn_tool())
            .with_all(protocol.tools());
        Self {
            scene,
            protocol,
            team,
            ends,
            tools,
        }
    }

    pub async fn spawn(&self, name: &str) -> Mate {
        self.spawn_as(name, "developer").await
    }

    pub async fn spawn_as(&self, name: &str, role: &str) -> Mate {
        let (orders, taken) = unbounded_channel();
        let (given, notes) = unbounded_channel();
        let ends = (taken, given);
        self.ends.lock().unwrap().insert(name.to_owned(), ends);
        let input = json!({"name": name, "role": role, "prompt": "Look at the board."});
        done(self.call("spawn_teammate", input).await);
        Mate { orders, notes }
    }

    pub async fn call(&self, name: &str, input: Value) -> Output {
        call(&self.tools, name, input).await
    }

    /// A turn of the lead begins.
    pub async fn turn_begins(&self) {
        let request = Repl::once("test", "Create two tasks.");
        assert!(self.notices.next_input(&request).await.is_some());
    }

    /// It ends: the lead waits for the next request.
    pub async fn turn_ends(&self) {
        let nothing = Repl::once("test", "");
        assert_eq!(self.notices.next_input(&nothing).await, None);
    }

    pub async fn request_shutdown(&self, teammate: &str) {
        let input = json!({"teammate": teammate});
        done(self.call("request_shutdown", input).await);
    }

    pub fn owner(&self, task: &Task) -> Option<String> {
        self.board.get(&task.id).unwrap().task.owner
    }

    /// Lets a task name a worktree that is not there.
    pub fn lose_worktree(&self, task: &Task) {
        let bind = |task: &mut Task| {
            task.extra.insert("worktree".into(), "gone".into());
            Ok(())
        };
        self.board.update(&task.id, bind).unwrap();
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
