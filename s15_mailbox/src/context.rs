//! All that a teammate is given.
//!
//! A teammate's loop is control flow; whom it asks, where its mail lies and under which rules its tools run is decided
//! when it is spawned. Invariant: every call of a teammate passes the hooks and the policy under its name.

use std::fmt;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use s01_loop::{History, Repl, Reply, Role, System};
use s02_tools::{Toolbox, Workspace};
use s03_permission::Policy;
use s04_hooks::Hooks;
use s06_subagent::{Model, run_calls};
use s13_background::{AtWork, Notices};
use tokio::sync::watch;

use crate::mail::{LEAD, Mail};
use crate::mailboxes::Mailboxes;
use crate::patient::Patient;

/// What a teammate does at the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Doing {
    /// It works.
    #[default]
    Working,
    /// It waits for this, such as the answer to a plan.
    Waiting(String),
    /// It has nothing to do.
    Idle,
    /// It has left, for this reason.
    Gone(String),
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Working => f.write_str("working"),
            Self::Waiting(what) => write!(f, "waiting for {what}"),
            Self::Idle => f.write_str("idle"),
            Self::Gone(why) => write!(f, "gone ({why})"),
        }
    }
}

/// A teammate's place in the team.
pub struct TeammateContext {
    /// The teammate's name.
    pub name: String,
    /// Its role, in the lead's words.
    pub role: String,
    /// What it is asked to do first.
    pub prompt: String,
    /// Where it works.
    pub ws: Workspace,
    /// Who answers it, shown under its name.
    pub model: Arc<dyn Model>,
    /// Where mail lies.
    pub mail: Mailboxes,
    pub(crate) hooks: Hooks,
    pub(crate) policy: Policy,
    pub(crate) repl: Repl,
    pub(crate) status: Status,
}

impl TeammateContext {
    /// Its system prompt.
    pub fn system(&self) -> System {
        let (name, role) = (&self.name, &self.role);
        System::from(format!(
            "You are a teammate named '{name}', a {role}. You work for the lead on your own, with your tools. \
             Mail from others comes by itself, in <mail> tags. When you are done, say in a few sentences what you did: \
             your last words go to the lead."
        ))
    }

    /// The mail that has come, as notes for its conversation.
    ///
    /// # Errors
    /// When its mailbox cannot be read.
    pub fn post(&self) -> Result<Vec<String>> {
        let drained = self.mail.drain(&self.name)?;
        Ok(drained.mail.iter().map(Mail::shown).collect())
    }

    /// Runs the calls of a reply in this workspace, under the hooks and the policy, and answers them.
    pub async fn work(
        &self,
        ws: &Workspace,
        tools: &Toolbox,
        reply: &Reply,
        history: &mut History,
    ) {
        let policy = self.policy.within(ws).asking(Patient(self.repl.clone()));
        let hooks = self.hooks.for_agent(&self.name, policy);
        run_calls(reply, tools, &hooks, &self.repl, history).await;
    }

    /// Sends the lead what it said last.
    ///
    /// # Errors
    /// When the mailbox cannot be written.
    pub fn report(&self, history: &History) -> Result<()> {
        // An empty reply is not in the history; what stands last then is not its own.
        let last = history.last().filter(|last| last.role() == Role::Assistant);
        let text = last.map(|last| last.text()).unwrap_or_default();
        let text = match text.trim() {
            "" => "(I am done and have nothing to say.)",
            text => text,
        };
        self.mail.send(Mail::new(&self.name, LEAD, "result", text))
    }

    /// Shows the user a dimmed line under its name.
    pub fn remark(&self, text: &str) {
        self.repl.remark(text);
    }

    /// Whether mail waits for it.
    pub fn has_mail(&self) -> bool {
        self.mail.has_mail(&self.name)
    }

    /// Whether it has nothing to do and waits for nothing.
    pub fn is_idle(&self) -> bool {
        self.status.get() == Doing::Idle
    }

    /// Whether a turn of the lead runs. Changes when one begins and when it ends.
    pub fn turn_of_lead(&self) -> watch::Receiver<bool> {
        self.status.0.lock().unwrap().notices.turn()
    }

    /// Says what it does now. While it is idle the session does not wait for it.
    pub fn is(&self, doing: Doing) {
        self.status.set(doing);
    }
}

/// What a teammate does, seen by the team; and whether the session has to wait for it.
#[derive(Clone)]
pub(crate) struct Status(Arc<Mutex<Shown>>);

struct Shown {
    name: String,
    doing: Doing,
    notices: Notices,
    at_work: Option<AtWork>,
}

impl Status {
    pub(crate) fn new(name: &str, notices: &Notices) -> Self {
        Self(Arc::new(Mutex::new(Shown {
            doing: Doing::Working,
            at_work: Some(notices.at_work(name)),
            name: name.to_owned(),
            notices: notices.clone(),
        })))
    }

    pub(crate) fn get(&self) -> Doing {
        self.0.lock().unwrap().doing.clone()
    }

    pub(crate) fn set(&self, doing: Doing) {
        let mut shown = self.0.lock().unwrap();
        shown.at_work = match doing {
            Doing::Working => shown
                .at_work
                .take()
                .or_else(|| Some(shown.notices.at_work(&shown.name))),
            Doing::Waiting(_) | Doing::Idle | Doing::Gone(_) => None,
        };
        shown.doing = doing;
    }
}
