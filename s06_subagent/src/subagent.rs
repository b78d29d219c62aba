//! Subagents: a side job in a conversation of its own.
//!
//! Searching ten files fills the context with nine that did not matter. A subagent searches in a fresh conversation, and
//! only its last words come back. Invariants: a subagent is under the same hooks and the same policy as the lead, under
//! its own name; it cannot start another one; however it ends, the lead's call is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use s01_loop::{Output, Repl, ToolCall, ToolSpec};
use s02_tools::{Access, Tool, Toolbox};
use s03_permission::Policy;
use s04_hooks::Hooks;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::Model;
use crate::run::Subagent;

const NAME: &str = "task";
const DESCRIPTION: &str = "Hands a side job to a subagent and returns its final report. The subagent begins with an empty \
    conversation: it knows your description and nothing else, has bash and the file tools in the same directory, and \
    cannot ask back. Use it whenever the user wants something delegated or done in a task or subtask, and for work whose \
    way is long and whose result is short, such as finding something in many files. Several calls in one reply run side \
    by side; their jobs must not write the same files. Do small things yourself. The report goes to you, not to the user.";

const SYSTEM: &str = "You are a subagent: another agent has handed you a job. Use tools to do it. Nobody answers \
    questions; where something is left open, decide, and say so. When you are done, reply with a short report that stands \
    on its own: what you found or changed, with paths. Only this last reply is read. If you cannot do the job, say what \
    is in the way.";

/// Starts subagents. Clones share the count that names them.
#[derive(Clone)]
pub struct Subagents {
    model: Arc<dyn Model>,
    tools: Toolbox,
    hooks: Hooks,
    policy: Policy,
    repl: Repl,
    more: Arc<More>,
    started: Arc<AtomicUsize>,
}

/// What a subagent has beside its tools when it starts: further ones, and what its prompt says of them.
type More = dyn Fn() -> (Vec<Tool>, String) + Send + Sync;

#[derive(Deserialize, JsonSchema)]
struct Task {
    /// The job, with all that is needed to do it: paths, names, what to leave alone, what to report.
    description: String,
}

impl Subagents {
    /// Subagents that ask this model, have these tools, and are under these hooks and this policy.
    pub fn new<M: Model + Clone + 'static>(
        model: &M,
        tools: &Toolbox,
        hooks: &Hooks,
        policy: &Policy,
        repl: &Repl,
    ) -> Self {
        Self {
            model: Arc::new(model.clone()),
            tools: tools.clone(),
            hooks: hooks.clone(),
            policy: policy.clone(),
            repl: repl.clone(),
            more: Arc::new(Default::default),
            started: Arc::default(),
        }
    }

    /// The same with further tools, those there are when a subagent starts, and with what its prompt says of them.
    pub fn with_more(self, more: impl Fn() -> (Vec<Tool>, String) + Send + Sync + 'static) -> Self {
        Self {
            more: Arc::new(more),
            ..self
        }
    }

    /// The tool task. It is not among the tools that a subagent has.
    pub fn tool(&self) -> Tool {
        let subagents = self.clone();
        let spec = ToolSpec::new::<Task>(NAME, DESCRIPTION);
        Tool::new(spec, move |call| {
            let subagents = subagents.clone();
            async move { Output::from(subagents.delegate(call).await) }
        })
        .touching(Access::Harness)
        .side_by_side()
    }

    /// Lets a new subagent do the job of this call.
    async fn delegate(&self, call: ToolCall) -> Result<String> {
        let Task { description } = call.args()?;
        ensure!(
            !description.trim().is_empty(),
            "{NAME}: the description is empty; say what is to be done"
        );
        self.start().work(&description).await
    }

    /// A new subagent: what it says, asks and logs bears its name.
    fn start(&self) -> Subagent {
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("{NAME} {number}");
        let repl = self.repl.named(&name);
        let policy = self.policy.asking(repl.clone());
        let (tools, section) = (self.more)();
        Subagent {
            model: self.model.watched_by(repl.watcher()),
            system: format!("{SYSTEM}\n\n{section}").trim_end().into(),
            tools: self.tools.clone().with_all(tools),
            hooks: self.hooks.for_agent(&name, policy),
            repl,
            name,
        }
    }
}
