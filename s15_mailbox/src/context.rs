//! The context of a teammate: all that it is given.
//!
//! A teammate's loop is control flow; its model, its mailbox and the rules for its tools are fixed when it is spawned.
//! Invariant: every call of a teammate passes the hooks and the policy under its name.

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

use crate::approver::TimedApprover;
use crate::mail::{LEAD, Mail};
use crate::mailboxes::Mailboxes;

/// What a teammate does at the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AgentState {
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

impl fmt::Display for AgentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Working => f.write_str("working"),
            Self::Waiting(what) => write!(f, "waiting for {what}"),
            Self::Idle => f.write_str("idle"),
            Self::Gone(why) => write!(f, "gone ({why})"),
        }
    }
}

/// What a teammate works with.
pub struct TeammateContext {
    /// The teammate's name.
    pub name: String,
    /// Its role, in the lead's words.
    pub role: String,
    /// What it is asked to do first.
    pub prompt: String,
    /// Where it works.
    pub ws: Workspace,
    /// The model, whose replies are shown under its name.
    pub model: Arc<dyn Model>,
    /// Where mail lies.
    pub mail: Mailboxes,
    pub(crate) hooks: Hooks,
    pub(crate) policy: Policy,
    pub(crate) repl: Repl,
    pub(crate) notices: Notices,
    pub(crate) status: Arc<Mutex<Status>>,
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

    /// The mail that has come, as reminders for its conversation.
    ///
    /// # Errors
    /// When its mailbox cannot be read.
    pub fn take_mail(&self) -> Result<Vec<String>> {
        let mail = self.mail.drain(&self.name)?;
        Ok(mail.iter().map(Mail::shown).collect())
    }

    /// Runs the calls of a reply in this workspace, under the hooks and the policy, and answers them.
    pub async fn work(
        &self,
        ws: &Workspace,
        tools: &Toolbox,
        reply: &Reply,
        history: &mut History,
    ) {
        let approver = TimedApprover(self.repl.clone());
        let policy = self.policy.within(ws).asking(approver);
        let hooks = self.hooks.for_agent(&self.name, policy);
        run_calls(reply, tools, &hooks, &self.repl, history).await;
    }

    /// Sends its last words to the lead.
    ///
    /// # Errors
    /// When the mailbox cannot be written.
    pub fn report(&self, history: &History) -> Result<()> {
        // An empty reply is not in the history, and the last message is then somebody else's.
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

    /// True if it has unread mail.
    pub fn has_mail(&self) -> bool {
        self.mail.has_mail(&self.name)
    }

    /// True if it has nothing to do and waits for nothing.
    pub fn is_idle(&self) -> bool {
        self.status.lock().unwrap().state == AgentState::Idle
    }

    /// True while a turn of the lead runs. Changes when one begins and when it ends.
    pub fn turn_of_lead(&self) -> watch::Receiver<bool> {
        self.notices.turn()
    }

    /// Sets what it does now. The session waits for working teammates only.
    pub fn set_state(&self, state: AgentState) {
        let mut status = self.status.lock().unwrap();
        status.at_work = match state {
            AgentState::Working => {
                let at_work = status.at_work.take();
                at_work.or_else(|| Some(self.notices.at_work(&self.name)))
            }
            AgentState::Waiting(_) | AgentState::Idle | AgentState::Gone(_) => None,
        };
        status.state = state;
    }
}

/// The state that `/team` shows, and the guard that keeps the session open while the teammate works.
#[derive(Default)]
pub(crate) struct Status {
    pub state: AgentState,
    pub at_work: Option<AtWork>,
}
