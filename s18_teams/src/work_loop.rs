//! The work loop of a teammate: work, look around, work again.
//!
//! A teammate that waits for orders makes the lead a dispatcher; one that polls the board finds its work. Invariants: mail
//! comes before a new task; an agent holds one task at a time, and leaves fresh tasks to the lead; without a task it stops
//! after a phase; after [`IDLE_TIMEOUT`] it leaves, and its task goes back to the board.

use std::time::Duration;

use anyhow::Result;
use kit::tagged;
use s12_tasks::Task;
use s15_mailbox::{AgentState, LEAD, Mail, TeammateContext};
use tokio::time::{Instant, sleep_until};

use crate::teammate::Worker;

/// How often an idle teammate polls the board for tasks of other processes. Mail and changes by this process wake it at
/// once.
pub const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// An idle teammate leaves after this time.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// While the lead's turn runs, a new task cannot be claimed for this long: the lead may bind a worktree to it, or assign it.
/// When the turn ends anybody may claim it.
pub const CLAIM_DELAY: Duration = Duration::from_secs(15);

/// The tag of the note about a claimed task.
const TAG: &str = "claimed_task";

/// How many rounds a phase of work has.
pub const ROUNDS_PER_PHASE: usize = 10;

/// What a teammate does next, decided before each round.
pub struct WorkLoop<'a> {
    worker: &'a Worker,
    teammate: &'a TeammateContext,
    rounds: usize,
}

impl<'a> WorkLoop<'a> {
    /// A loop that begins with work.
    pub fn new(worker: &'a Worker, teammate: &'a TeammateContext) -> Self {
        Self {
            worker,
            teammate,
            rounds: 0,
        }
    }

    /// What the next round begins with: mail, a newly claimed task, a reminder of the one it holds, or nothing. `None` when
    /// it leaves.
    ///
    /// # Errors
    /// When a mailbox or the board cannot be read or written.
    pub async fn next(&mut self, is_idle: bool) -> Result<Option<Vec<String>>> {
        self.rounds += 1;
        if is_idle {
            self.rounds = 1;
            return self.look_around().await;
        }
        let Some(mut notes) = self.worker.protocol.next_mail(self.teammate, false).await? else {
            return Ok(None);
        };
        if self.rounds <= ROUNDS_PER_PHASE {
            return Ok(Some(notes));
        }
        self.rounds = 1;
        match self.held()? {
            Some(task) => notes.push(go_on(&task)),
            // Mail starts a phase of its own.
            None if !notes.is_empty() => {}
            None => {
                self.tell(&format!(
                    "I have stopped after {ROUNDS_PER_PHASE} rounds without a task of the board. Write to me, and I go on."
                ))?;
                return self.look_around().await;
            }
        }
        Ok(Some(notes))
    }

    /// Waits for mail or for a task that it can claim.
    async fn look_around(&mut self) -> Result<Option<Vec<String>>> {
        let (mut changes, mut turn) = (self.worker.board.changes(), self.teammate.turn_of_lead());
        let mut leaving = Instant::now() + IDLE_TIMEOUT;
        loop {
            // Before the look: what changes afterwards is seen.
            changes.mark_unchanged();
            let is_turn = *turn.borrow_and_update();
            if let Some(task) = self.claim(is_turn)? {
                let mail = self.worker.protocol.next_mail(self.teammate, false).await?;
                return Ok(mail.map(|mail| with(mail, claimed(&task))));
            }
            tokio::select! {
                biased;
                mail = self.worker.protocol.next_mail(self.teammate, true) => return mail,
                // Board and session outlive the wait, so these end with a change only.
                _ = changes.changed() => {}
                _ = turn.changed() => {}
                () = sleep_until(leaving.min(Instant::now() + POLL_INTERVAL)) => {}
            }
            if !self.teammate.is_idle() {
                // It waits for an answer, however long that takes.
                leaving = Instant::now() + IDLE_TIMEOUT;
            } else if Instant::now() >= leaving {
                self.say_what_is_left()?;
                return Ok(None);
            }
        }
    }

    /// Claims the first claimable task: never a second one, none while it owes a plan, and none that the lead's turn has
    /// just created.
    fn claim(&self, is_turn: bool) -> Result<Option<Task>> {
        let name = &self.teammate.name;
        let Worker {
            protocol,
            board,
            worktrees,
        } = self.worker;
        if self.teammate.has_mail() || protocol.is_gated(name) || self.held()?.is_some() {
            return Ok(None);
        }
        let is_free = |task: &Task| {
            let is_new = board.age(task).is_some_and(|age| age < CLAIM_DELAY);
            // A task whose worktree is gone would stop one teammate after another.
            !(is_turn && is_new) && worktrees.is_ready(task)
        };
        let claimed = board.claim_first(name, is_free)?;
        if let Some(Task { id, subject, .. }) = &claimed {
            self.teammate.set_state(AgentState::Working);
            self.teammate.remark(&format!("[claimed {id}: {subject}]"));
        }
        Ok(claimed)
    }

    fn held(&self) -> Result<Option<Task>> {
        let held = self.worker.board.held_by(&self.teammate.name)?;
        Ok(held.into_iter().next())
    }

    fn say_what_is_left(&self) -> Result<()> {
        match self.held()? {
            Some(Task { id, subject, .. }) => self.tell(&format!(
                "I have left: nothing came for {} s. My task {id} ({subject}) is not completed and is back on the board.",
                IDLE_TIMEOUT.as_secs()
            )),
            None => {
                self.teammate.remark("[left: nothing to do]");
                Ok(())
            }
        }
    }

    fn tell(&self, text: &str) -> Result<()> {
        let report = Mail::new(&self.teammate.name, LEAD, "result", text);
        self.teammate.mail.send(report)
    }
}

fn with(mut notes: Vec<String>, note: String) -> Vec<String> {
    notes.push(note);
    notes
}

fn claimed(task: &Task) -> String {
    let Task {
        id,
        subject,
        description,
        ..
    } = task;
    let text = format!(
        "You have claimed task {id}: {subject}\n{description}\n\
         Do it, then complete it with complete_task."
    );
    tagged(TAG, &text)
}

fn go_on(task: &Task) -> String {
    let Task { id, subject, .. } = task;
    let text = format!("Go on with your task {id}: {subject}. Complete it with complete_task.");
    tagged(TAG, &text)
}
