//! The toolbox: which tools there are, and who does the work of a call.
//!
//! The loop asks it for the specs before a request and hands it the calls afterwards; adding a tool changes neither.
//! Invariant: names are unique, and the first tool of a name wins: nothing that comes later can replace a built-in.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use kit::BoxFuture;
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

/// An ordered set of tools. Clones are independent; they share what is the same, since each call gets one and a server may
/// bring hundreds of tools.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Arc<Vec<Tool>>,
    /// Where in the list a name stands.
    places: Arc<HashMap<String, usize>>,
}

impl Toolbox {
    /// A toolbox without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool, unless there is one of its name.
    pub fn with(mut self, tool: Tool) -> Self {
        if self.get(tool.name()).is_none() {
            let places = Arc::make_mut(&mut self.places);
            places.insert(tool.name().to_owned(), self.tools.len());
            Arc::make_mut(&mut self.tools).push(tool);
        }
        self
    }

    /// Adds several tools.
    pub fn with_all(self, tools: impl IntoIterator<Item = Tool>) -> Self {
        tools.into_iter().fold(self, Self::with)
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.places.get(name).map(|place| &self.tools[*place])
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

    /// The calls of one reply in batches: neighbours that may run beside others share one, everything
    /// else has its own.
    pub fn batches(&self, calls: Vec<ToolCall>) -> Vec<Vec<ToolCall>> {
        let beside = |call: &ToolCall| self.get(&call.name).is_some_and(Tool::runs_beside_others);
        let mut batches: Vec<Vec<ToolCall>> = Vec::new();
        for call in calls {
            match batches.last_mut() {
                Some(batch) if beside(&call) && batch.iter().all(beside) => batch.push(call),
                _ => batches.push(vec![call]),
            }
        }
        batches
    }

    /// Starts a batch: its calls run side by side.
    pub fn run(&self, batch: impl IntoIterator<Item = impl Into<Step>>) -> Running {
        let steps = batch.into_iter().map(Into::into);
        Running(steps.map(|step| Box::pin(take(self.clone(), step)) as Answered).collect())
    }
}

impl IntoIterator for Toolbox {
    type Item = Tool;
    type IntoIter = std::vec::IntoIter<Tool>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::unwrap_or_clone(self.tools).into_iter()
    }
}

/// A call with its output, on its way.
type Answered = BoxFuture<'static, (ToolCall, Output)>;

/// A batch on its way. Dropping it stops the work, but for a step on the disk that has begun: that one ends by itself.
pub struct Running(FuturesOrdered<Answered>);

impl Running {
    /// The next call that is done, in the order of the calls. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<(ToolCall, Output)> {
        self.0.next().await
    }
}

async fn take(tools: Toolbox, step: Step) -> (ToolCall, Output) {
    match step {
        Step::Run(call) => (call.clone(), tools.call(call).await),
        Step::Refuse(call, reason) => (call, Output::refused(reason)),
    }
}
