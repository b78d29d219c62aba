//! A tool is a value: a spec the model reads, a function the harness calls.
//!
//! A value can be put into a list, wrapped, handed to a subagent, or built at run time from what a server says it offers;
//! a `match` on names in the loop can do none of that. Invariant: calling a tool always yields an output, whatever the
//! model put into the arguments.

use std::sync::Arc;

use anyhow::{Context, Result};
use kit::BoxFuture;
use s01_loop::{Output, ToolCall, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// What a call may touch. The harness decides on it what may run side by side, and later what needs a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing: it only reads, and not a file of the model's choice.
    Nothing,
    /// Reads the file named by the argument `path`.
    FileToRead,
    /// Writes the file named by the argument `path`.
    FileToWrite,
    /// Whatever a shell command does: the one in the argument `command`, or the one that [`Tool::runs`] names.
    Command,
    /// The harness's own state: a plan, a task, a message.
    Harness,
    /// Nobody knows.
    Anything,
}

/// The shell command that a call would run, if any.
type ShellCommand = dyn Fn(&ToolCall) -> Option<String> + Send + Sync;

/// Why the user must be asked about a call, if there is a reason.
type ReasonToAsk = dyn Fn(&ToolCall) -> Option<String> + Send + Sync;

/// One tool. Cloning it costs a few pointers.
#[derive(Clone)]
pub struct Tool {
    spec: ToolSpec,
    touches: Access,
    warning: Option<Arc<str>>,
    shell_command: Option<Arc<ShellCommand>>,
    reason_to_ask: Option<Arc<ReasonToAsk>>,
    side_by_side: bool,
    run: Arc<dyn Fn(ToolCall) -> BoxFuture<'static, Output> + Send + Sync>,
}

impl Tool {
    /// A tool of this spec; `run` does the work of a call. Until [`Tool::touching`] says otherwise it may touch anything.
    pub fn new<F, W>(spec: ToolSpec, run: F) -> Self
    where
        F: Fn(ToolCall) -> W + Send + Sync + 'static,
        W: Future<Output = Output> + Send + 'static,
    {
        Self {
            spec,
            touches: Access::Anything,
            warning: None,
            shell_command: None,
            reason_to_ask: None,
            side_by_side: false,
            run: Arc::new(move |call| Box::pin(run(call))),
        }
    }

    /// A tool with typed input whose work waits for the disk: it runs on a thread that may block.
    pub fn blocking<Input, F>(name: &str, description: &str, work: F) -> Self
    where
        Input: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(Input) -> Result<String> + Send + Sync + 'static,
    {
        let work = Arc::new(work);
        Self::new(ToolSpec::new::<Input>(name, description), move |call| {
            let work = Arc::clone(&work);
            async move {
                match call.args::<Input>() {
                    Ok(input) => off_the_loop(move || work(input)).await.into(),
                    Err(error) => Err::<String, _>(error).into(),
                }
            }
        })
    }

    /// The same tool with a statement of what it touches.
    pub fn touching(mut self, touches: Access) -> Self {
        self.touches = touches;
        self
    }

    /// What a call of it may touch.
    pub fn touches(&self) -> Access {
        self.touches
    }

    /// The same tool, which may touch anything; `warning` is what is known about that.
    pub fn warning(mut self, warning: impl Into<Arc<str>>) -> Self {
        self.touches = Access::Anything;
        self.warning = Some(warning.into());
        self
    }

    /// What is known about a tool that may touch anything.
    pub fn known(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The same tool, a call of which runs the shell command that `shell_command` names, or none.
    pub fn runs<F>(mut self, shell_command: F) -> Self
    where
        F: Fn(&ToolCall) -> Option<String> + Send + Sync + 'static,
    {
        self.touches = Access::Command;
        self.shell_command = Some(Arc::new(shell_command));
        self
    }

    /// The shell command that a call would run. An argument is one only where the tool says that it runs commands: a
    /// tool from elsewhere may call an argument `command`, too.
    pub fn shell_command(&self, call: &ToolCall) -> Option<String> {
        match (self.touches, &self.shell_command) {
            (Access::Command, Some(shell_command)) => shell_command(call),
            (Access::Command, None) => Some(call.input.get("command")?.as_str()?.to_owned()),
            _ => None,
        }
    }

    /// The same tool, some calls of which need the user's word whatever an allow rule says: those for which `reason`
    /// gives one, such as a call that throws work away.
    pub fn asks_when<F>(mut self, reason: F) -> Self
    where
        F: Fn(&ToolCall) -> Option<String> + Send + Sync + 'static,
    {
        self.reason_to_ask = Some(Arc::new(reason));
        self
    }

    /// Why the user must be asked about this call; `None` leaves it to the policy.
    pub fn reason_to_ask(&self, call: &ToolCall) -> Option<String> {
        self.reason_to_ask.as_ref()?(call)
    }

    /// The same tool, whose calls may run beside others although they do more than read.
    pub fn side_by_side(mut self) -> Self {
        self.side_by_side = true;
        self
    }

    /// Whether a call of it may run beside others.
    pub fn runs_beside_others(&self) -> bool {
        match self.touches {
            Access::Nothing | Access::FileToRead => true,
            Access::FileToWrite | Access::Command | Access::Harness | Access::Anything => {
                self.side_by_side
            }
        }
    }

    /// The same tool with a prompt-cache breakpoint after it.
    pub fn breakpoint(mut self) -> Self {
        self.spec = self.spec.breakpoint();
        self
    }

    /// What the model reads about it.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The name the model calls it by.
    pub fn name(&self) -> &str {
        self.spec.name()
    }

    /// Does the work of one call.
    pub fn call(&self, call: ToolCall) -> BoxFuture<'static, Output> {
        match call.lost_input() {
            Some(reason) => Box::pin(std::future::ready(Output::error(reason))),
            None => (self.run)(call),
        }
    }
}

/// Runs blocking work on a thread for it. A panic there is an error here.
async fn off_the_loop<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.context("the tool broke down")?
}
