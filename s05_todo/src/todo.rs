//! The plan of a session, kept by the model, shown to the user.
//!
//! In long work a model loses sight of what it set out to do. A list that it writes itself and sees again keeps it on
//! course. Invariants: a wrong list changes nothing; the model is reminded of an open list only, and at most once in
//! [`QUIET_ROUNDS`] rounds.

use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use kit::tagged;
use s01_loop::{Output, Repl, ToolCall, ToolSpec};
use s02_tools::{Access, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::{Item, Plan};

/// How many rounds an open plan may be left alone before the model is reminded of it.
pub const QUIET_ROUNDS: usize = 3;

const NAME: &str = "todo_write";
const DESCRIPTION: &str = "Writes your plan for this session. The list you send replaces the old one as a whole. \
    Use it before you begin work of three steps or more; for less it is not needed. Mark an item in_progress when you \
    begin it and completed as soon as it is done; add what turns up on the way. The user sees the list.";

/// The plan of the current session. Clones share it.
#[derive(Clone)]
pub struct Todo {
    repl: Repl,
    /// A std lock: nothing is awaited while it is held.
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    plan: Plan,
    /// Rounds begun since the plan was written, or since the model was reminded of it.
    rounds: usize,
}

#[derive(Deserialize, JsonSchema)]
struct TodoWrite {
    /// The whole list, in the order in which you will do it.
    todos: Vec<Item>,
}

impl Todo {
    /// An empty plan, shown on this terminal.
    pub fn new(repl: &Repl) -> Self {
        Self {
            repl: repl.clone(),
            state: Arc::default(),
        }
    }

    /// The tool todo_write.
    pub fn tool(&self) -> Tool {
        let todo = self.clone();
        let spec = ToolSpec::new::<TodoWrite>(NAME, DESCRIPTION);
        Tool::new(spec, move |call| {
            let output = Output::from(todo.write(&call));
            async { output }
        })
        .touching(Access::Harness)
    }

    /// Called once at the beginning of each round: a reminder, when an open plan has been left alone for too long.
    pub fn nag(&self) -> Option<String> {
        let State { plan, rounds } = &mut *self.state.lock().unwrap();
        if !plan.is_open() {
            return None;
        }
        let is_due = *rounds == QUIET_ROUNDS;
        *rounds = if is_due { 1 } else { *rounds + 1 };
        if is_due {
            self.repl.remark(&format!("[reminded of the plan: {}]", plan.progress()));
        }
        is_due.then(|| reminder(plan))
    }

    /// Forgets the plan: it belonged to a conversation that is over.
    pub fn clear(&self) {
        *self.state.lock().unwrap() = State::default();
    }

    /// Puts the list of this call in the old one's place and shows it below the call; a wrong list leaves the plan as it
    /// was. Returns how far the plan is.
    fn write(&self, call: &ToolCall) -> Result<String> {
        let todos = call.args::<TodoWrite>()?.todos;
        let plan = Plan::new(todos).with_context(|| format!("{NAME}: the plan stays as it was"))?;
        for item in plan.items() {
            self.repl.below(call, &format!("  {item}"));
        }
        let progress = plan.progress();
        *self.state.lock().unwrap() = State { plan, rounds: 0 };
        Ok(progress)
    }
}

/// What the model reads. The list is in it: the one it wrote may be far behind.
fn reminder(plan: &Plan) -> String {
    let text = format!(
        "Your plan has not changed for {QUIET_ROUNDS} rounds. If it is no longer true, send the whole list again with \
         {NAME}; if it is, go on.\n{plan}"
    );
    tagged("todo-reminder", &text)
}
