//! The protocol: request and answer, matched by an id.
//!
//! A shutdown and a plan need an answer, and the answer to this request only. Invariants: a teammate whose plan waits
//! for an answer runs no tool until it has come, and loses no mail meanwhile; a plan reaches the lead whole; a shutdown
//! is answered in every state.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Ready, ready};
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::Result;
use s01_loop::Repl;
use s02_tools::{Access, Tool};
use s04_hooks::{HookOutput, PreTool};
use s15_mailbox::{AgentState, Mail, Mailboxes, TeammateContext};

use crate::requests::{Kind, REQUEST_ID, Requests};

/// Whether the answer is yes, in the metadata of an answer.
pub(crate) const APPROVE: &str = "approve";
/// The tool that a teammate whose plan is wanted may call.
pub(crate) const SUBMIT_PLAN: &str = "submit_plan";

/// Requests and answers of a team. Clones share them.
#[derive(Clone)]
pub struct Protocol {
    pub(crate) mail: Mailboxes,
    pub(crate) repl: Repl,
    /// A std lock: nothing is awaited while it is held. Mail is sent under it, never drained.
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) requests: Requests,
    /// Teammates that owe a plan. They may only read until they submit one.
    pub(crate) plan_wanted: BTreeSet<String>,
    /// Mail that arrived while its reader's plan was under review.
    unread: BTreeMap<String, Vec<String>>,
}

impl Protocol {
    /// A protocol over these mailboxes: it reads the lead's mail before its model does.
    pub fn new(mail: &Mailboxes, repl: &Repl) -> Self {
        let state = Arc::<Mutex<State>>::default();
        let reading = state.clone();
        mail.read_by(move |mail| read_for_lead(&reading.lock().unwrap().requests, mail));
        let leaving = state.clone();
        mail.on_leave(move |name| {
            let state = &mut *leaving.lock().unwrap();
            state.requests.has_left(name);
            state.plan_wanted.remove(name);
            state.unread.remove(name);
        });
        Self {
            mail: mail.clone(),
            repl: repl.clone(),
            state,
        }
    }

    /// PreToolUse: blocks all tools of a teammate whose plan is under review, and all but reading while it owes a plan.
    pub fn gate(&self) -> impl Fn(PreTool) -> Ready<HookOutput> + Send + Sync + 'static {
        let protocol = self.clone();
        move |event| ready(protocol.judge(&event))
    }

    fn judge(&self, event: &PreTool) -> HookOutput {
        let Some(caller) = &event.caller else {
            return HookOutput::Go;
        };
        let state = self.state();
        if let Some(plan) = state.requests.open_from(Kind::Plan, &caller.name) {
            return HookOutput::Block(format!(
                "your plan {plan} waits for its answer; nothing runs until it has come"
            ));
        }
        let touches = event.tools.get(&event.call.name).map(Tool::touches);
        let only_looks = matches!(touches, Some(Access::Nothing | Access::FileToRead));
        let is_wanted = state.plan_wanted.contains(&*caller.name);
        if !is_wanted || only_looks || event.call.name == SUBMIT_PLAN {
            return HookOutput::Go;
        }
        HookOutput::Block(
            "the lead wants your plan first: read what you need, then call submit_plan".into(),
        )
    }

    /// The next mail of a teammate, as reminders for its conversation. Waits while its plan is under review, and while it is
    /// idle and has no mail. `None` when it has to leave; the shutdown request is answered then. Cancel-safe.
    ///
    /// # Errors
    /// When a mailbox cannot be read or written.
    pub async fn next_mail(
        &self,
        teammate: &TeammateContext,
        is_idle: bool,
    ) -> Result<Option<Vec<String>>> {
        loop {
            // Checked before the mail is read: an answer that ends the wait is in the mailbox by then.
            let waits_for = self.waits_for(&teammate.name);
            if let Some(id) = self.read_all(teammate)? {
                self.say_goodbye(teammate, &id, is_idle)?;
                return Ok(None);
            }
            if waits_for.is_none() && (!is_idle || self.state().unread.contains_key(&teammate.name))
            {
                teammate.set_state(AgentState::Working);
                return Ok(Some(self.take_unread(&teammate.name)));
            }
            teammate.set_state(waits_for.map_or(AgentState::Idle, AgentState::Waiting));
            teammate.mail.wait(&teammate.name).await;
        }
    }

    /// Drains the mailbox and keeps the mail until the teammate goes on. Returns the id of a shutdown request, if any.
    fn read_all(&self, teammate: &TeammateContext) -> Result<Option<String>> {
        let mut leave = None;
        for mail in teammate.mail.drain(&teammate.name)? {
            let state = &mut *self.state();
            if mail.kind == Kind::Shutdown.request() && state.requests.matches(&mail) {
                leave = mail.text_of(REQUEST_ID).map(str::to_owned);
            } else {
                let unread = state.unread.entry(teammate.name.clone()).or_default();
                unread.push(state.requests.shown(&mail));
            }
        }
        Ok(leave)
    }

    fn take_unread(&self, name: &str) -> Vec<String> {
        self.state().unread.remove(name).unwrap_or_default()
    }

    /// True if this teammate owes a plan, or its plan is under review.
    pub fn is_gated(&self, name: &str) -> bool {
        let state = self.state();
        state.plan_wanted.contains(name) || state.requests.open_from(Kind::Plan, name).is_some()
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// What this teammate waits for, if its plan is under review.
    fn waits_for(&self, name: &str) -> Option<String> {
        let state = self.state();
        let plan = state.requests.open_from(Kind::Plan, name)?;
        Some(format!("the answer to its plan {plan}"))
    }

    /// Answers a shutdown request, with the mail that the teammate's model has not read.
    fn say_goodbye(&self, teammate: &TeammateContext, id: &str, is_idle: bool) -> Result<()> {
        let when = match (self.waits_for(&teammate.name), is_idle) {
            (Some(what), _) => format!("; it waited for {what}"),
            (None, true) => String::new(),
            (None, false) => ", in the middle of its work".to_owned(),
        };
        let mut content = format!("{} has left as asked{when}", teammate.name);
        let repl = self.repl.named(&teammate.name);
        repl.remark(&format!("(left as asked{when})"));
        let unread = self.take_unread(&teammate.name);
        if !unread.is_empty() {
            content = format!("{content}; it had not read:\n{}", unread.join("\n"));
        }
        let answer = |to: &str| {
            let goodbye = Mail::new(&teammate.name, to, Kind::Shutdown.response(), content);
            let goodbye = goodbye.with(REQUEST_ID, id).with(APPROVE, true);
            teammate.mail.send(goodbye)
        };
        let requests = &mut self.state().requests;
        requests.answer(id, Kind::Shutdown, &teammate.name, answer)
    }
}

/// Turns a message to the lead into text. A plan says how it is answered.
fn read_for_lead(requests: &Requests, mail: &Mail) -> String {
    let shown = requests.shown(mail);
    match mail.text_of(REQUEST_ID) {
        Some(id) if mail.kind == Kind::Plan.request() && requests.matches(mail) => {
            format!("{shown}\nAnswer with review_plan, request_id {id}.")
        }
        Some(_) | None => shown,
    }
}
