//! The team: teammates that work beside the lead, each with a conversation of its own.
//!
//! A subagent is a call that the lead waits for; a teammate runs concurrently and writes mail. Invariants: names are
//! unique; a teammate that fails is reported to the lead; the team ends with the session.

use std::collections::BTreeMap;
use std::future::{Future, Ready, ready};
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail, ensure};
use s01_loop::Repl;
use s02_tools::{Access, Tool, Workspace};
use s03_permission::Policy;
use s04_hooks::{HookOutput, Hooks, Prompt};
use s06_subagent::Model;
use s13_background::Notices;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::{AgentState, Status, TeammateContext};
use crate::mail::{LEAD, Mail};
use crate::mailboxes::Mailboxes;

/// The most teammates at a time: each is a model that is asked again and again.
const MOST: usize = 16;

/// What a teammate does from the first request to the last. Each clone is one teammate.
pub trait Teammate: Clone + Send + Sync + 'static {
    /// Works until there is nothing more to do.
    fn run(self, teammate: TeammateContext) -> impl Future<Output = Result<()>> + Send;
}

/// The teammates of a session. Clones share them.
#[derive(Clone)]
pub struct Team<Worker> {
    model: Arc<dyn Model>,
    ws: Workspace,
    hooks: Hooks,
    policy: Policy,
    mail: Mailboxes,
    notices: Notices,
    repl: Repl,
    worker: Worker,
    /// A std lock: nothing is awaited while it is held.
    members: Arc<Mutex<BTreeMap<String, Member>>>,
}

struct Member {
    role: String,
    status: Arc<Mutex<Status>>,
}

impl Member {
    fn state(&self) -> AgentState {
        self.status.lock().unwrap().state.clone()
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SpawnTeammate {
    /// A short name: a-z, 0-9, - and _.
    name: String,
    /// What it is, such as `backend developer`.
    role: String,
    /// What it shall do, with everything it has to know: it does not see this conversation.
    prompt: String,
}

impl<Worker: Teammate> Team<Worker> {
    /// A team that asks this model and works in this workspace under these hooks and this policy.
    pub fn new<M: Model + Clone + 'static>(
        model: &M,
        ws: &Workspace,
        (hooks, policy): (&Hooks, &Policy),
        mail: &Mailboxes,
        notices: &Notices,
        repl: &Repl,
        worker: Worker,
    ) -> Self {
        let members = Arc::<Mutex<BTreeMap<String, Member>>>::default();
        // Weak, because a member holds the notices: a cycle would keep both for ever.
        let resting = Arc::downgrade(&members);
        notices
            .ends(move || resting.upgrade().map_or_else(Vec::new, |members| resting_in(&members)));
        Self {
            model: Arc::new(model.clone()),
            ws: ws.clone(),
            hooks: hooks.clone(),
            policy: policy.clone(),
            mail: mail.clone(),
            notices: notices.clone(),
            repl: repl.clone(),
            worker,
            members,
        }
    }

    /// The tool spawn_teammate.
    pub fn spawn_tool(&self) -> Tool {
        let team = self.clone();
        let description =
            "Start a teammate that works beside you. Its mail comes by itself; do not wait for it.";
        Tool::blocking("spawn_teammate", description, move |input: SpawnTeammate| team.spawn(input))
            .touching(Access::Harness)
    }

    /// UserPromptSubmit: `/team` shows who does what, and nothing is sent.
    pub fn command(&self) -> impl Fn(Prompt) -> Ready<HookOutput> + Send + Sync + 'static {
        let team = self.clone();
        move |prompt| {
            ready(match prompt.text.trim() {
                "/team" => HookOutput::Block(team.shown()),
                _ => HookOutput::Go,
            })
        }
    }

    /// Who does what, one line a teammate.
    pub fn shown(&self) -> String {
        let members = self.members.lock().unwrap();
        let names = members.keys().map(String::len).max().unwrap_or(0);
        let roles = members.values().map(|member| member.role.chars().count());
        let roles = roles.max().unwrap_or(0);
        let lines = members.iter().map(|(name, member)| {
            let (role, doing) = (&member.role, member.state());
            format!("{name:names$}  {role:roles$}  {doing}")
        });
        if members.is_empty() {
            return "there is no teammate yet".to_owned();
        }
        lines.collect::<Vec<_>>().join("\n")
    }

    fn spawn(&self, input: SpawnTeammate) -> Result<String> {
        let SpawnTeammate { name, role, prompt } = input;
        ensure!(
            !prompt.trim().is_empty(),
            "spawn_teammate: the prompt is empty; say what {name} shall do"
        );
        let role = kit::one_line(&role);
        let mut members = self.members.lock().unwrap();
        let at_work = |member: &&Member| !matches!(member.state(), AgentState::Gone(_));
        if let Some(member) = members.get(&name).filter(at_work) {
            bail!(
                "{name} is in the team already ({}): write to it with send_message, or choose another name",
                member.state()
            );
        }
        if members.values().filter(at_work).count() >= MOST {
            bail!("there are {MOST} teammates already; wait until one has left");
        }
        self.mail.join(&name)?;
        let status = Arc::new(Mutex::new(Status {
            state: AgentState::Working,
            at_work: Some(self.notices.at_work(&name)),
        }));
        let repl = self.repl.named(&name);
        let teammate = TeammateContext {
            name: name.clone(),
            role: role.clone(),
            prompt,
            ws: self.ws.clone(),
            model: self.model.watched_by(repl.watcher()),
            mail: self.mail.clone(),
            hooks: self.hooks.clone(),
            policy: self.policy.clone(),
            repl,
            notices: self.notices.clone(),
            status: status.clone(),
        };
        members.insert(
            name.clone(),
            Member {
                role,
                status: status.clone(),
            },
        );
        drop(members);
        let run = tokio::spawn(self.worker.clone().run(teammate));
        let team = self.clone();
        let leaving = name.clone();
        tokio::spawn(async move {
            let why = match run.await {
                Ok(Ok(())) => "done".to_owned(),
                Ok(Err(error)) => team.failed(&leaving, &format!("{error:#}")),
                Err(_) => team.failed(&leaving, "it broke down"),
            };
            team.mail.leave(&leaving);
            *status.lock().unwrap() = Status {
                state: AgentState::Gone(why),
                at_work: None,
            };
        });
        Ok(format!("{name} is at work; its mail comes to you by itself"))
    }

    /// Reports a failed teammate to the lead.
    fn failed(&self, name: &str, why: &str) -> String {
        let report = Mail::new(name, LEAD, "error", format!("{name} had to stop: {why}"));
        if self.mail.send(report).is_err() {
            self.notices.push(format!(
                "<mail from=\"{name}\" type=\"error\">\n{name} had to stop: {why}\n</mail>"
            ));
        }
        self.repl.named(name).remark(&format!("[stopped: {why}]"));
        format!("stopped: {why}")
    }
}

/// The teammates that are idle or waiting.
fn resting_in(members: &Mutex<BTreeMap<String, Member>>) -> Vec<String> {
    let members = members.lock().unwrap();
    let is_resting =
        |member: &Member| matches!(member.state(), AgentState::Idle | AgentState::Waiting(_));
    let resting = members.iter().filter(|(_, member)| is_resting(member));
    resting.map(|(name, _)| name.clone()).collect()
}
