//! The toolbox: which tools there are, and who does the work of a call.
//!
//! The loop asks it for the specs before a request and hands it the calls afterwards; adding a tool changes neither.
//! Invariant: names are unique, and the first tool of a name wins: nothing that comes later can replace a built-in.

use std::collections::VecDeque;
use std::pin::Pin;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use s01_loop::{Output, ToolCall, ToolSpec};

use crate::tool::Tool;

/// What becomes of a call: it runs, or somebody said no.
#[derive(Clone, Debug)]
pub enum Step {
    /// The call runs.
    Run(ToolCall),
    /// The call is answered with this reason instead.
    Refuse(ToolCall, String),
}

impl From<ToolCall> for Step {
    fn from(call: ToolCall) -> Self {
        Self::Run(call)
    }
}

/// An ordered set of tools. Clones are independent.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Tool>,
}

impl Toolbox {
    /// A toolbox without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool, unless there is one of its name.
    pub fn with(mut self, tool: Tool) -> Self {
        if self.get(tool.name()).is_none() {
            self.tools.push(tool);
        }
        self
    }

    /// Adds several tools.
    pub fn with_all(self, tools: impl IntoIterator<Item = Tool>) -> Self {
        tools.into_iter().fold(self, Self::with)
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// The names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.tools.iter().map(Tool::name).collect()
    }

    /// What a request says about the tools.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec().clone()).collect()
    }

    /// Does the work of one call. A tool that does not exist is an output, too: the model can correct itself.
    pub async fn call(&self, call: ToolCall) -> Output {
        match self.get(&call.name) {
            Some(tool) => tool.call(call).await,
            None => Output::error(format!(
                "there is no tool `{}`; the tools are {}",
                call.name,
                self.names().join(", ")
            )),
        }
    }

    /// Starts the calls of one reply. Neighbours that only read run side by side; everything else waits its turn.
    pub fn run(&self, calls: impl IntoIterator<Item = impl Into<Step>>) -> Running {
        let waiting = calls.into_iter().map(Into::into).collect();
        Running {
            tools: self.clone(),
            waiting,
            active: FuturesOrdered::new(),
        }
    }

    /// Whether a step may run beside others.
    fn only_reads(&self, step: &Step) -> bool {
        match step {
            Step::Run(call) => self.get(&call.name).is_some_and(Tool::is_read_only),
            Step::Refuse(..) => true,
        }
    }
}

/// A call with its output, on its way.
type Answered = Pin<Box<dyn Future<Output = (ToolCall, Output)> + Send>>;

/// The calls of one reply on their way. Dropping it stops the work.
pub struct Running {
    tools: Toolbox,
    waiting: VecDeque<Step>,
    active: FuturesOrdered<Answered>,
}

impl Running {
    /// The next call that is done, in the order of the calls. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<(ToolCall, Output)> {
        if self.active.is_empty() {
            self.start_group();
        }
        self.active.next().await
    }

    /// Starts the next call, and the ones behind it as long as all of them only read.
    fn start_group(&mut self) {
        while let Some(step) = self.waiting.pop_front() {
            let alone = !self.tools.only_reads(&step);
            self.active
                .push_back(Box::pin(take(self.tools.clone(), step)));
            if alone
                || !self
                    .waiting
                    .front()
                    .is_some_and(|next| self.tools.only_reads(next))
            {
                return;
            }
        }
    }
}

async fn take(tools: Toolbox, step: Step) -> (ToolCall, Output) {
    match step {
        Step::Run(call) => (call.clone(), tools.call(call).await),
        Step::Refuse(call, reason) => (call, Output::error(reason)),
    }
}
