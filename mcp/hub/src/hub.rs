//! The hub: who can be asked, and the way of a question from a client to an answer.
//!
//! Load, children, introspection, registry, ready; then questions, side by side. Invariants: nothing that failed stays
//! hidden; a question ends in an answer or in a sentence, in its time, and in one line of the log, also when its client takes
//! it back.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use jiff::Timestamp;
use mcp_client::fleet::Limits as Patience;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout_at;

use crate::answer::Answer;
use crate::capability::{Registry, Tool};
use crate::config::{self, Config, Limits, Variables};
use crate::context::{Context, Fitted, fit, tokens};
use crate::files::Files;
use crate::guard::{CHAIN, Scope};
use crate::mode::Mode;
use crate::spoke::{self, Question, Reply, Spoke};
use crate::telemetry::Record;
use crate::threads::{Thread, Threads, Turn};

/// A question that a spoke is asked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ask {
    /// Who.
    pub agent: String,
    /// What.
    pub prompt: String,
    /// What goes with it.
    pub context: Value,
    /// How it is to be looked at.
    pub mode: Option<Mode>,
    /// The conversation that goes on.
    pub thread: Option<String>,
}

/// How it stands with a spoke.
#[derive(Clone, Debug)]
pub enum Health {
    /// It has not answered yet.
    Starting,
    /// What it says it is.
    Ready(String),
    /// Why it cannot be asked; it is tried again when it is.
    Away(String),
}

struct Member {
    entry: config::Spoke,
    spoke: Box<dyn Spoke>,
    health: Mutex<Health>,
}

impl Member {
    fn set(&self, health: Health) {
        *self.health.lock().unwrap() = health;
    }
}

/// The hub.
pub struct Hub {
    config: Config,
    members: Vec<Member>,
    files: Files,
    threads: Threads,
    state: PathBuf,
    chain: String,
    registry: watch::Sender<Option<Arc<Registry>>>,
}

impl Hub {
    /// A hub for a working directory; its spokes are not started yet.
    ///
    /// # Errors
    /// What of the configuration cannot be used.
    pub fn new(
        config: Config,
        project: &Path,
        variable: Variables<'_>,
    ) -> Result<Arc<Self>, String> {
        let member = |entry: &config::Spoke| {
            let spoke = spoke::of(entry, project, variable)?;
            Ok(Member {
                entry: entry.clone(),
                spoke,
                health: Mutex::new(Health::Starting),
            })
        };
        let state = project.join(kit::STATE_DIR).join("hub");
        Ok(Arc::new(Self {
            members: config.spokes.iter().map(member).collect::<Result<_, String>>()?,
            files: Files::below(&config.roots)?,
            threads: Threads::of(project, &state),
            chain: variable(CHAIN).unwrap_or_default(),
            registry: watch::channel(None).0,
            state,
            config,
        }))
    }

    /// Where the log of the questions is.
    pub fn log(&self) -> PathBuf {
        self.state.join("log.jsonl")
    }

    /// Starts the children, reads the tools of the servers, and tells of each spoke how it stands with it.
    pub async fn start(self: &Arc<Self>, tell: impl Fn(&str, &Health)) {
        let empty = Arc::new(Registry::default());
        let scope = Scope::new(self.config.limits, "");
        scope.end();
        let children = self.members.iter().map(|member| self.check(member, &empty, &scope));
        let children = futures_util::future::join_all(children);
        let introspection = Registry::introspect(&self.config.servers, Patience::default());
        let (_, mut registry) = tokio::join!(children, introspection);
        registry.tools.extend(self.own_tools().into_iter().map(Arc::new));
        self.registry.send_replace(Some(Arc::new(registry)));
        for member in &self.members {
            tell(&member.entry.name, &member.health.lock().unwrap());
        }
    }

    async fn check(&self, member: &Member, registry: &Arc<Registry>, scope: &Scope) {
        let checked = member.spoke.check(registry.grant(&member.entry, scope.clone())).await;
        let health = checked.map_or_else(Health::Away, Health::Ready);
        if let Health::Away(why) = &health {
            tracing::warn!(spoke = member.entry.name, "away: {why}");
        }
        member.set(health);
    }

    /// The tools of the servers, when all have been asked.
    pub async fn registry(&self) -> Arc<Registry> {
        let mut registry = self.registry.subscribe();
        let registry = registry.wait_for(Option::is_some).await;
        registry.expect("the hub holds the sender").clone().expect("it is there")
    }

    /// The spokes and how it stands with them.
    pub fn spokes(&self) -> impl Iterator<Item = (&config::Spoke, Health)> {
        self.members.iter().map(|member| (&member.entry, member.health.lock().unwrap().clone()))
    }

    /// The beginning of a question to this spoke, or to one that is not there.
    pub fn scope(&self, agent: &str) -> Scope {
        let limits = self.config.spoke(agent).map_or(self.config.limits, |spoke| spoke.limits);
        Scope::new(limits, &self.chain)
    }

    /// The spokes as a client or a spoke reads them.
    pub fn listed(&self) -> String {
        let line = |(entry, health): (&config::Spoke, Health)| {
            let state = match health {
                Health::Starting => "starting".to_owned(),
                Health::Ready(what) => format!("ready, {what}"),
                Health::Away(why) => {
                    format!("away, tried again when asked: {}", kit::one_line(&why))
                }
            };
            let (model, about) =
                (entry.model.as_deref().unwrap_or("its own model"), &entry.description);
            let about = if about.is_empty() {
                String::new()
            } else {
                format!("; {}", kit::one_line(about))
            };
            format!("{} ({}, {model}): {state}{about}\n", entry.name, entry.kind)
        };
        self.spokes().map(line).collect()
    }

    /// What a spoke may ask the hub, where its list names it.
    fn own_tools(self: &Arc<Self>) -> Vec<Tool> {
        let hub = Arc::downgrade(self);
        let gone = || "the hub ends".to_owned();
        let ask = move |hub: &Weak<Self>, scope: Scope, arguments: Value| {
            let hub = hub.upgrade();
            let work = async move {
                let ask = parse(&arguments)?;
                let hub = hub.ok_or_else(gone)?;
                hub.ask(ask, &scope).await
            };
            Box::pin(work) as kit::BoxFuture<'static, Result<String, String>>
        };
        let (asking, listing) = (hub.clone(), hub);
        vec![
            Tool::own(
                "ask_agent",
                "Asks another agent.",
                ask_schema(true),
                Arc::new(move |scope, arguments| ask(&asking, scope, arguments)),
            ),
            Tool::own(
                "list_agents",
                "The agents that can be asked.",
                json!({ "type": "object" }),
                Arc::new(move |_, _| {
                    let listed = listing.upgrade().map(|hub| hub.listed()).ok_or_else(gone);
                    Box::pin(std::future::ready(listed))
                }),
            ),
        ]
    }

    /// Asks a spoke and frames its answer. Dropping the future takes the question back.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn ask(&self, ask: Ask, scope: &Scope) -> Result<String, String> {
        let member = self.members.iter().find(|member| member.entry.name == ask.agent);
        let member = member.ok_or_else(|| {
            let names: Vec<_> =
                self.members.iter().map(|member| member.entry.name.as_str()).collect();
            format!("there is no agent {:?}; there are: {}", ask.agent, names.join(", "))
        })?;
        let mode = ask.mode.unwrap_or_default();
        let is_root = scope.chain().len()
            == self.chain.split(',').filter(|name| !name.trim().is_empty()).count();
        let (before, began) = (scope.used(), scope.elapsed());
        let scope = scope.enter(&ask.agent).inspect_err(|why| tracing::warn!("refused: {why}"))?;
        let mut asking = Asking {
            record: self.record(member, &ask, mode, &scope),
            scope,
            is_root,
            began,
            log: self.log(),
        };
        let limits = member.entry.limits;
        let answered =
            timeout_at(asking.scope.deadline(), self.answer(member, &ask, mode, &asking)).await;
        let answered = answered.unwrap_or_else(|_| {
            let why = format!(
                "{} has not answered within {} s (limits.seconds)",
                ask.agent, limits.seconds
            );
            member.set(Health::Away(why.clone()));
            Err(why)
        });
        asking.record.error = answered.as_ref().err().cloned();
        let (fitted, reply) = answered?;
        asking.record.model.clone_from(&reply.model);
        asking.record.cuts = fitted.cuts.len();
        let used = asking.scope.used();
        let answer = Answer {
            record: &asking.record,
            text: &reply.text,
            took: asking.scope.elapsed() - began,
            tokens: reply.tokens,
            tool_calls: used.tool_calls - before.tool_calls,
            cuts: &fitted.cuts,
        };
        answer.framed(limits.answer_tokens, &self.state.join("answers"))
    }

    fn record(&self, member: &Member, ask: &Ask, mode: Mode, scope: &Scope) -> Record {
        Record {
            at: Timestamp::now(),
            id: kit::fresh_suffix(),
            chain: scope.chain().to_vec(),
            kind: member.entry.kind,
            mode,
            model: member.entry.model.clone(),
            thread: ask.thread.clone(),
            ms: 0,
            tokens: 0,
            tool_calls: 0,
            cuts: 0,
            error: Some("the client has taken the question back".to_owned()),
        }
    }

    /// The files that a prompt names when nothing goes with it: `review plan.md` means its text.
    fn named(&self, prompt: &str) -> Vec<String> {
        let words = prompt
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| "\"'`“”()[],;:!?.".contains(c)));
        let files = words.filter(|word| word.contains(['.', '/']) && self.files.read(word).is_ok());
        files.map(str::to_owned).collect()
    }

    async fn answer(
        &self,
        member: &Member,
        ask: &Ask,
        mode: Mode,
        asking: &Asking,
    ) -> Result<(Fitted, Reply), String> {
        let Limits { context_tokens, .. } = member.entry.limits;
        let budget = usize::try_from(context_tokens).unwrap_or(usize::MAX);
        let asked = tokens(&ask.prompt);
        if ask.prompt.trim().is_empty() {
            return Err("prompt: it is empty".to_owned());
        }
        if asked > budget / 2 {
            return Err(format!(
                "prompt: it has {asked} tokens, at most {} are taken; material goes into context",
                budget / 2
            ));
        }
        let mut context = Context::parse(&ask.context)?;
        if context == Context::default() {
            context.files = self.named(&ask.prompt);
        }
        let pieces = context.pieces(&self.files)?;
        let thread = ask
            .thread
            .as_ref()
            .map(|name| self.threads.open(&member.entry.name, name, asking.record.at));
        let thread = thread.transpose()?;
        let (turns, left_out) =
            thread.as_ref().map_or((&[][..], 0), |thread| thread.latest(budget / 2));
        let said: usize =
            turns.iter().map(|turn| tokens(&turn.question) + tokens(&turn.answer)).sum();
        let mut context = fit(&pieces, budget.saturating_sub(asked + said));
        if left_out > 0 {
            context
                .cuts
                .push(format!("{} of this thread", kit::counted(left_out, "earlier question")));
        }
        let registry = self.registry().await;
        let question = Question {
            system: mode.prompt(),
            turns,
            prompt: &ask.prompt,
            context: &context,
            grant: registry.grant(&member.entry, asking.scope.clone()),
        };
        let reply = member.spoke.ask(&question).await;
        let reply = reply.inspect_err(|why| member.set(Health::Away(why.clone())))?;
        let sent = question.full_prompt();
        let (input, output) =
            reply.tokens.unwrap_or((tokens(&sent) as u64, tokens(&reply.text) as u64));
        if reply.tokens.is_none()
            || !matches!(member.entry.kind, config::Kind::Model | config::Kind::Run)
        {
            // Counted by nobody on the way; the answer is there, so it is given even when it was too dear.
            let _ = asking.scope.spend(input + output);
        }
        member.set(Health::Ready("it has answered".to_owned()));
        if let Some(thread) = thread {
            keep(thread, sent, &reply)?;
        }
        Ok((context, reply))
    }
}

fn keep(thread: Thread, question: String, reply: &Reply) -> Result<(), String> {
    thread.keep(Turn {
        at: Timestamp::now(),
        question,
        answer: reply.text.clone(),
    })
}

/// The arguments of a question.
///
/// # Errors
/// The field that is wrong.
pub fn parse(arguments: &Value) -> Result<Ask, String> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        match error.path().to_string().as_str() {
            "." => error.inner().to_string(),
            path => format!("{path}: {}", error.inner()),
        }
    })
}

/// The schema of a question, with or without the name of the agent.
pub fn ask_schema(with_agent: bool) -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let mut schema = json!({
        "type": "object",
        "properties": {
            "prompt": { "type": "string", "description": "The question; material goes into context" },
            "context": {
                "type": "object",
                "description": "What the agent is given to look at; the hub reads the files and cuts what is too long",
                "properties": {
                    "snippets": texts,
                    "files": { "type": "array", "items": { "type": "string" }, "description": "PATH, PATH:LINE or PATH:FIRST-LAST; of *.log the end" },
                    "values": { "type": "object" },
                    "logs": texts,
                },
                "additionalProperties": false,
            },
            "mode": { "enum": Mode::ALL, "description": "Instead of the mode that set_mode has set" },
            "thread": { "type": "string", "description": "Continues the conversation of this name with the agent" },
        },
        "required": ["prompt"],
        "additionalProperties": false,
    });
    if with_agent {
        schema["properties"]["agent"] =
            json!({ "type": "string", "description": "One of list_agents" });
        schema["required"] = json!(["agent", "prompt"]);
    }
    schema
}

/// A question under way. Dropped, however it ends, it is over and stands in the log.
struct Asking {
    record: Record,
    scope: Scope,
    is_root: bool,
    began: std::time::Duration,
    log: PathBuf,
}

impl Drop for Asking {
    fn drop(&mut self) {
        let used = self.scope.used();
        if self.is_root {
            self.scope.end();
        }
        let ms = (self.scope.elapsed() - self.began).as_millis();
        (self.record.ms, self.record.tokens) = (u64::try_from(ms).unwrap_or(u64::MAX), used.tokens);
        self.record.tool_calls = used.tool_calls;
        let Record {
            id,
            chain,
            ms,
            error,
            ..
        } = &self.record;
        tracing::info!(id, ms, error = error.as_deref(), "{} was asked", chain.join(" → "));
        if let Err(why) = self.record.append(&self.log) {
            tracing::warn!("{}: {why}", self.log.display());
        }
    }
}
