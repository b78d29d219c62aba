//! Hooks: four points of the loop at which others may look, refuse and add.
//!
//! What everybody wants to do to an agent (log it, guard it, feed it context, keep it going) would each be another line in
//! the loop; with hooks it is a line of assembly. Invariants: all hooks of an event run, in order, also when one of them
//! has said no; what runs is what every PreToolUse hook has seen.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kit::{BoxFuture, tagged};
use s01_loop::{History, Output, Repl, ToolCall};
use s02_tools::{Step, Toolbox};
use s03_permission::Policy;
use serde_json::Value;

/// How often Stop hooks may send one turn round again. A hook that always objects would never let it end.
const MAX_STOPS: usize = 3;

/// UserPromptSubmit: the user has asked for something.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// What the user typed.
    pub text: String,
}

/// PreToolUse: a tool is about to run.
#[derive(Clone)]
pub struct PreTool {
    /// The tools on offer, for a hook that wants to know what the call touches.
    pub tools: Toolbox,
    /// The call, as the hooks before this one have left it.
    pub call: ToolCall,
    /// Why a hook before this one has refused it.
    pub blocked: Option<String>,
    /// Who calls; `None` is the lead.
    pub caller: Option<Caller>,
}

/// PostToolUse: a tool has run.
#[derive(Clone)]
pub struct PostTool {
    /// The call.
    pub call: ToolCall,
    /// The answer, as the hooks before this one have left it.
    pub output: Output,
    /// Who called; `None` is the lead.
    pub caller: Option<Caller>,
}

/// An agent other than the lead: a subagent or a teammate.
#[derive(Clone)]
pub struct Caller {
    /// Its name.
    pub name: Arc<str>,
    /// The policy that judges its calls: it may work in another directory and be asked about under its name.
    pub policy: Policy,
}

/// Stop: the model wants nothing more.
#[derive(Clone, Debug)]
pub struct Stop {
    /// The conversation.
    pub history: History,
    /// Whether a Stop hook has sent this turn round before.
    pub again: bool,
}

/// What a hook says.
#[derive(Clone, Debug, PartialEq)]
pub enum HookOutput {
    /// Nothing to say.
    Go,
    /// No, for this reason. At Stop: not yet, for this reason.
    Block(String),
    /// Something the model should read beside the prompt or the output; at Stop, a reason to go on. Nothing is beside a
    /// call that has not run, so PreToolUse leaves it out.
    Context(String),
    /// Other arguments for the call (PreToolUse only).
    Rewrite(Value),
}

/// What becomes of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptDecision {
    /// It goes to the model, with what hooks added to it.
    Go(String),
    /// A hook refused it, for this reason.
    Refused(String),
}

type Hook<Event> = Arc<dyn Fn(Event) -> BoxFuture<'static, HookOutput> + Send + Sync>;

/// The hooks of an agent. Clones share them, so that subagents and teammates are under the same ones.
#[derive(Clone, Default)]
pub struct Hooks {
    prompt: Vec<Hook<Prompt>>,
    pre_tool: Vec<Hook<PreTool>>,
    post_tool: Vec<Hook<PostTool>>,
    stop: Vec<Hook<Stop>>,
    caller: Option<Caller>,
    stops: Stops,
    /// Shows that a turn ends although a Stop hook objects.
    repl: Option<Repl>,
}

/// How often Stop hooks have sent the current turn of one agent round. A clone belongs to another agent and begins at 0.
#[derive(Default)]
struct Stops(AtomicUsize);

impl Clone for Stops {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Hooks {
    /// No hooks.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same hooks; a turn that ends against a Stop hook is reported on this terminal.
    pub fn shown_on(mut self, repl: &Repl) -> Self {
        self.repl = Some(repl.clone());
        self
    }

    /// The same hooks around another agent: its events bear its name, its calls are judged by this policy.
    pub fn for_agent(&self, name: &str, policy: Policy) -> Self {
        Self {
            caller: Some(Caller {
                name: name.into(),
                policy,
            }),
            ..self.clone()
        }
    }

    /// Adds a hook on UserPromptSubmit.
    pub fn on_prompt<F, S>(mut self, hook: F) -> Self
    where
        F: Fn(Prompt) -> S + Send + Sync + 'static,
        S: Future<Output = HookOutput> + Send + 'static,
    {
        self.prompt.push(boxed(hook));
        self
    }

    /// Adds a hook on PreToolUse.
    pub fn on_pre_tool<F, S>(mut self, hook: F) -> Self
    where
        F: Fn(PreTool) -> S + Send + Sync + 'static,
        S: Future<Output = HookOutput> + Send + 'static,
    {
        self.pre_tool.push(boxed(hook));
        self
    }

    /// Adds a hook on PreToolUse in front of all others. When it blocks a call, the permission hook does not ask about it.
    pub fn on_pre_tool_first<F, S>(mut self, hook: F) -> Self
    where
        F: Fn(PreTool) -> S + Send + Sync + 'static,
        S: Future<Output = HookOutput> + Send + 'static,
    {
        self.pre_tool.insert(0, boxed(hook));
        self
    }

    /// Adds a hook on PostToolUse.
    pub fn on_post_tool<F, S>(mut self, hook: F) -> Self
    where
        F: Fn(PostTool) -> S + Send + Sync + 'static,
        S: Future<Output = HookOutput> + Send + 'static,
    {
        self.post_tool.push(boxed(hook));
        self
    }

    /// Adds a hook on Stop.
    pub fn on_stop<F, S>(mut self, hook: F) -> Self
    where
        F: Fn(Stop) -> S + Send + Sync + 'static,
        S: Future<Output = HookOutput> + Send + 'static,
    {
        self.stop.push(boxed(hook));
        self
    }

    /// The user has asked for something: may it go to the model, and with what?
    pub async fn prompt(&self, text: String) -> PromptDecision {
        self.stops.0.store(0, Ordering::Relaxed);
        let (mut request, mut refused) = (text.clone(), None);
        for hook in &self.prompt {
            match hook(Prompt { text: text.clone() }).await {
                HookOutput::Go | HookOutput::Rewrite(_) => {}
                HookOutput::Block(reason) => refused = refused.or(Some(reason)),
                HookOutput::Context(context) => request = with_context(request, &context),
            }
        }
        match refused {
            Some(reason) => PromptDecision::Refused(reason),
            None => PromptDecision::Go(request),
        }
    }

    /// A tool is about to run: does it, and with which arguments? After a rewrite the round starts again, so that no hook
    /// has approved anything but what runs. When two hooks keep rewriting each other's arguments, the call is refused.
    pub async fn pre_tool(&self, tools: &Toolbox, mut call: ToolCall) -> Step {
        let mut has_rewritten = vec![false; self.pre_tool.len()];
        let mut last_writer = None;
        'round: loop {
            let mut blocked = None;
            for (index, hook) in self.pre_tool.iter().enumerate() {
                let event = PreTool {
                    tools: tools.clone(),
                    call: call.clone(),
                    blocked: blocked.clone(),
                    caller: self.caller.clone(),
                };
                match hook(event).await {
                    HookOutput::Go | HookOutput::Context(_) => {}
                    HookOutput::Block(reason) => blocked = blocked.or(Some(reason)),
                    // A hook that extends the arguments would extend its own result again; once is enough.
                    HookOutput::Rewrite(input)
                        if input == call.input || last_writer == Some(index) => {}
                    HookOutput::Rewrite(_) if has_rewritten[index] => {
                        blocked = blocked.or_else(|| {
                            Some("two hooks undo each other's changes to this call".into())
                        });
                    }
                    HookOutput::Rewrite(input) => {
                        has_rewritten[index] = true;
                        last_writer = Some(index);
                        call.input = input;
                        continue 'round;
                    }
                }
            }
            return match blocked {
                Some(reason) => Step::Refuse(call, reason),
                None => Step::Run(call),
            };
        }
    }

    /// A tool has run: what does the model read? A refused call has not run, so its answer stays as it is.
    pub async fn post_tool(&self, call: &ToolCall, mut output: Output) -> Output {
        if output.is_refused {
            return output;
        }
        for hook in &self.post_tool {
            match hook(PostTool {
                call: call.clone(),
                output: output.clone(),
                caller: self.caller.clone(),
            })
            .await
            {
                HookOutput::Go | HookOutput::Rewrite(_) => {}
                HookOutput::Block(text) | HookOutput::Context(text) => {
                    output.text = with_context(output.text, &text)
                }
            }
        }
        output
    }

    /// The model wants nothing more: is there a reason to go on? At most three times a turn.
    pub async fn stop(&self, history: &History) -> Option<String> {
        let again = self.stops.0.load(Ordering::Relaxed) > 0;
        let mut reasons = Vec::new();
        for hook in &self.stop {
            match hook(Stop {
                history: history.clone(),
                again,
            })
            .await
            {
                HookOutput::Go | HookOutput::Rewrite(_) => {}
                HookOutput::Block(reason) | HookOutput::Context(reason) => reasons.push(reason),
            }
        }
        if reasons.is_empty() {
            return None;
        }
        if self.stops.0.fetch_add(1, Ordering::Relaxed) >= MAX_STOPS {
            if let Some(repl) = &self.repl {
                repl.remark(&format!(
                    "[the turn ends after {MAX_STOPS} more rounds, although a Stop hook still objects]"
                ));
            }
            return None;
        }
        Some(tagged("stop-hook", &reasons.join("\n")))
    }
}

fn boxed<E, F, S>(hook: F) -> Hook<E>
where
    F: Fn(E) -> S + Send + Sync + 'static,
    S: Future<Output = HookOutput> + Send + 'static,
{
    Arc::new(move |event| Box::pin(hook(event)))
}

/// Text with what a hook adds to it, in a tag of its own so that the model can tell the two apart.
fn with_context(text: String, context: &str) -> String {
    format!("{text}\n\n{}", tagged("hook-context", context.trim()))
}

/// A prompt as it was typed, without what hooks have added to it.
pub fn without_context(request: &str) -> &str {
    let typed = request.split_once("\n\n<hook-context>\n");
    typed.map_or(request, |(typed, _)| typed)
}
