//! The board: tasks that outlive the session, and who works on what.
//!
//! A plan in the model's context is lost with the context; work that agents share must be stored outside it, and change
//! atomically. Invariants: a task has one owner at a time, and only its owner completes it; a task starts after
//! everything that blocks it is completed; whatever kills a process, no task is lost, half-written or stuck.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use kit::one_line;
use s02_tools::Workspace;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::session::Session;
use crate::store::{Found, Store};
use crate::task::{Status, Task, VERSION};

/// The task board of a workspace. Cloning it is cheap; its operations block the thread while they read and write files.
#[derive(Clone, Debug)]
pub struct Board {
    store: Store,
    session: Session,
    /// Changes with every task that this process writes.
    changes: watch::Sender<()>,
    /// When this process created each task. A std lock: nothing is awaited while it is held.
    created: Arc<Mutex<HashMap<String, Instant>>>,
}

/// What a new task is made of: the input of create_task.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct NewTask {
    /// What is to be done, in a few words.
    pub subject: String,
    /// What is to be done, in full.
    #[serde(default)]
    pub description: String,
    /// The tasks that must be completed first: their ids, or their subjects.
    #[serde(default, rename = "blockedBy")]
    pub blocked_by: Vec<String>,
}

/// A task, and what depends on the other tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The task.
    pub task: Task,
    /// The ids in `blocked_by` that are not completed. One that is gone blocks nothing.
    pub waits_for: Vec<String>,
    /// True if its owner's session has ended: anybody may claim it.
    pub is_orphan: bool,
}

impl Listed {
    /// True if an agent may claim it now.
    pub fn is_claimable(&self) -> bool {
        let is_free = self.task.status == Status::Pending && self.task.owner.is_none();
        (is_free || self.is_orphan) && self.waits_for.is_empty()
    }
}

impl Board {
    /// The board of this workspace. Opening it writes nothing.
    pub fn open(ws: &Workspace) -> Self {
        Self {
            store: Store::new(ws),
            session: Session::new(ws),
            changes: watch::Sender::new(()),
            created: Arc::default(),
        }
    }

    /// Changes whenever this process writes a task.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// How long ago this process created a task; `None` for a task of another process.
    pub fn age(&self, task: &Task) -> Option<Duration> {
        let created = self.created.lock().unwrap();
        created.get(&task.id).map(Instant::elapsed)
    }

    /// The session that owns what is claimed here.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Puts a task on the board.
    ///
    /// # Errors
    /// When the subject is empty, or `blocked_by` names nothing on the board, or itself.
    pub fn create(&self, new: NewTask) -> Result<Task> {
        let subject = one_line(&new.subject);
        ensure!(
            !subject.is_empty(),
            "create_task: the subject is empty; say in a few words what is to be done"
        );
        let _lock = self.store.lock()?;
        let tasks = self.store.read_all()?.tasks;
        let mut blocked_by = Vec::new();
        for name in &new.blocked_by {
            let id = resolve(&tasks, name, &subject)?;
            if !blocked_by.contains(&id) {
                blocked_by.push(id);
            }
        }
        let task = Task {
            version: VERSION,
            id: self.store.fresh_id(&tasks),
            subject,
            description: new.description.trim().to_owned(),
            status: Status::Pending,
            owner: None,
            session: None,
            blocked_by,
            extra: Map::new(),
        };
        let id = task.id.clone();
        // Recorded before anybody can see the task.
        self.created.lock().unwrap().insert(id, Instant::now());
        self.write(&task)?;
        Ok(task)
    }

    /// All tasks in the order of creation, and a sentence for each malformed file.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<(Vec<Listed>, Vec<String>)> {
        let Found { tasks, damaged } = self.store.read_all()?;
        let listed = tasks.iter().map(|task| self.listed(task, &tasks));
        Ok((listed.collect(), damaged))
    }

    /// The task of this id.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(&self, id: &str) -> Result<Listed> {
        let task = self.read(id)?;
        Ok(self.listed(&task, &self.blockers(&task)?))
    }

    /// Makes this agent the owner of a task.
    ///
    /// # Errors
    /// When the task has an owner, is completed, or is blocked.
    pub fn claim(&self, id: &str, agent: &str) -> Result<Task> {
        let _lock = self.store.lock()?;
        let task = self.read(id)?;
        let listed = self.listed(&task, &self.blockers(&task)?);
        match (task.status, &task.owner) {
            (Status::Completed, _) => bail!("{id} is completed already"),
            (Status::InProgress, _) if self.is_owned(&task, agent) => {
                bail!("{id} is yours already; complete it when its work is done")
            }
            (Status::InProgress | Status::Pending, Some(owner)) if !listed.is_orphan => {
                let owner = self.whose(&task, owner);
                bail!("{id} belongs to {owner}, who works on it; claim another task")
            }
            (Status::InProgress | Status::Pending, _) => {}
        }
        ensure!(
            listed.waits_for.is_empty(),
            "{id} is blocked by {}; complete that first",
            listed.waits_for.join(", ")
        );
        self.take(task, agent)
    }

    /// Makes this agent the owner of the first task that can be claimed and that `wants` accepts.
    ///
    /// # Errors
    /// When the board cannot be read or written.
    pub fn claim_first(&self, agent: &str, wants: impl Fn(&Task) -> bool) -> Result<Option<Task>> {
        let _lock = self.store.lock()?;
        let (listed, _) = self.list()?;
        let first = listed.into_iter().find(|listed| listed.is_claimable() && wants(&listed.task));
        first.map(|listed| self.take(listed.task, agent)).transpose()
    }

    /// Completes a task and returns it with those that are unblocked by it.
    ///
    /// # Errors
    /// When this agent does not own it.
    pub fn complete(&self, id: &str, agent: &str) -> Result<(Task, Vec<Task>)> {
        let _lock = self.store.lock()?;
        let mut task = self.read(id)?;
        match (task.status, task.owner.as_deref()) {
            (Status::Completed, _) => bail!("{id} is completed already"),
            (_, None) => bail!("{id} belongs to nobody; claim it before you work on it"),
            (_, Some(_)) if self.is_owned(&task, agent) => {}
            (_, Some(owner)) if self.listed(&task, &[]).is_orphan => {
                bail!("{id} was claimed by {owner} in a session that has ended; claim it first")
            }
            (_, Some(owner)) => {
                let owner = self.whose(&task, owner);
                bail!("{id} belongs to {owner}; only its owner completes it")
            }
        }
        task.status = Status::Completed;
        self.write(&task)?;
        let (listed, _) = self.list()?;
        let freed = listed.into_iter().filter(|listed| {
            listed.task.status != Status::Completed
                && listed.task.blocked_by.contains(&task.id)
                && listed.waits_for.is_empty()
        });
        Ok((task.clone(), freed.map(|listed| listed.task).collect()))
    }

    /// Releases the tasks of an agent that leaves.
    ///
    /// # Errors
    /// When the board cannot be read or written.
    pub fn release(&self, agent: &str) -> Result<Vec<Task>> {
        let _lock = self.store.lock()?;
        let mut released = Vec::new();
        for mut task in self.held_by(agent)? {
            task.status = Status::Pending;
            (task.owner, task.session) = (None, None);
            self.write(&task)?;
            released.push(task);
        }
        Ok(released)
    }

    /// The tasks that this agent of this session works on.
    ///
    /// # Errors
    /// When the board cannot be read.
    pub fn held_by(&self, agent: &str) -> Result<Vec<Task>> {
        let mut held = self.store.read_all()?.tasks;
        held.retain(|task| task.status == Status::InProgress && self.is_owned(task, agent));
        Ok(held)
    }

    /// Changes a task under the lock.
    ///
    /// # Errors
    /// When there is no such task, or `change` refuses.
    pub fn update(&self, id: &str, change: impl FnOnce(&mut Task) -> Result<()>) -> Result<Task> {
        let _lock = self.store.lock()?;
        let mut task = self.read(id)?;
        change(&mut task)?;
        self.write(&task)?;
        Ok(task)
    }

    fn take(&self, mut task: Task, agent: &str) -> Result<Task> {
        task.status = Status::InProgress;
        task.owner = Some(agent.to_owned());
        task.session = Some(self.session.id()?);
        self.write(&task)?;
        Ok(task)
    }

    fn write(&self, task: &Task) -> Result<()> {
        self.store.write(task)?;
        self.changes.send_replace(());
        Ok(())
    }

    fn read(&self, id: &str) -> Result<Task> {
        match self.store.read(id.trim())? {
            Some(task) => Ok(task),
            None => bail!("there is no task {id:?}; list_tasks shows the ids"),
        }
    }

    fn is_owned(&self, task: &Task, agent: &str) -> bool {
        let session = task.session.as_deref();
        let is_ours = session.is_none_or(|session| self.session.is_own(session));
        is_ours && task.owner.as_deref() == Some(agent)
    }

    /// An owner as shown to another agent, which may have the same name.
    fn whose(&self, task: &Task, owner: &str) -> String {
        match &task.session {
            Some(session) if !self.session.is_own(session) => format!("{owner} of another session"),
            Some(_) | None => owner.to_owned(),
        }
    }

    /// The tasks in `blocked_by` that still exist.
    fn blockers(&self, task: &Task) -> Result<Vec<Task>> {
        let read = task.blocked_by.iter().map(|id| self.store.read(id));
        Ok(read.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn listed(&self, task: &Task, others: &[Task]) -> Listed {
        let is_open = |id: &&String| {
            let blocker = others.iter().find(|other| other.id == **id);
            blocker.is_some_and(|blocker| blocker.status != Status::Completed)
        };
        let gone = |session: &String| !self.session.is_alive(session);
        Listed {
            task: task.clone(),
            waits_for: task.blocked_by.iter().filter(is_open).cloned().collect(),
            is_orphan: task.status == Status::InProgress && task.session.as_ref().is_some_and(gone),
        }
    }
}

/// The id that a model means by an entry of `blockedBy`: an id, or the subject of a task on the board.
fn resolve(tasks: &[Task], name: &str, own_subject: &str) -> Result<String> {
    if let Some(task) = tasks.iter().find(|task| task.id == name.trim()) {
        return Ok(task.id.clone());
    }
    let name = one_line(name);
    let has_name = |task: &&Task| task.subject.to_lowercase() == name.to_lowercase();
    let named: Vec<&Task> = tasks.iter().filter(has_name).collect();
    let open: Vec<&Task> =
        named.iter().copied().filter(|task| task.status != Status::Completed).collect();
    match (&open[..], &named[..]) {
        ([task], _) | ([], [.., task]) => Ok(task.id.clone()),
        ([], []) if name.to_lowercase() == own_subject.to_lowercase() => {
            bail!("create_task: a task cannot be blocked by itself ({name:?})")
        }
        ([], []) => bail!(
            "create_task: blockedBy names {name:?}, which is neither an id nor a subject on the board; create that task first"
        ),
        (several, _) => {
            let ids: Vec<&str> = several.iter().map(|task| task.id.as_str()).collect();
            bail!("create_task: {name:?} is the subject of {}; give the id", ids.join(" and "))
        }
    }
}
