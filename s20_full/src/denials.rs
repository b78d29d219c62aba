//! Denials: the calls that were refused a permission.
//!
//! A script does not see that half of the work was denied. Invariant: each call that the policy denied, whoever made it,
//! is recorded once, with the arguments it was to run with.

use std::sync::{Arc, Mutex};

use kit::BoxFuture;
use s01_loop::ToolCall;
use s04_hooks::{HookOutput, PreTool};
use serde::Serialize;
use serde_json::Value;

/// The refused calls of this run of the program. Clones share them.
#[derive(Clone, Default)]
pub struct Denials {
    /// A std lock: nothing is awaited while it is held.
    calls: Arc<Mutex<Vec<Denial>>>,
}

/// A refused call, as Claude Code reports it.
#[derive(Clone, Serialize)]
pub(crate) struct Denial {
    tool_name: String,
    tool_use_id: String,
    tool_input: Value,
}

impl Denials {
    /// Wraps a PreToolUse hook: each call that it blocks is recorded.
    pub fn of<Judging>(
        &self,
        permission: impl Fn(PreTool) -> Judging + Send + Sync + 'static,
    ) -> impl Fn(PreTool) -> BoxFuture<'static, HookOutput> + Send + Sync + 'static
    where
        Judging: Future<Output = HookOutput> + Send + 'static,
    {
        let calls = self.calls.clone();
        move |event| {
            let (calls, call) = (calls.clone(), event.call.clone());
            let judging = permission(event);
            Box::pin(async move {
                let says = judging.await;
                let mut calls = calls.lock().unwrap();
                // A hook that rewrites a call has it judged again.
                calls.retain(|known| known.tool_use_id != call.id);
                if let HookOutput::Block(_) = says {
                    calls.push(denial(call));
                }
                says
            })
        }
    }

    /// All since the last time they were taken.
    pub(crate) fn take(&self) -> Vec<Denial> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

fn denial(call: ToolCall) -> Denial {
    Denial {
        tool_name: call.name,
        tool_use_id: call.id,
        tool_input: call.input,
    }
}
