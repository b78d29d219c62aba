//! The plan the model keeps with `todo_write`.
//!
//! Work of several steps gets a list: written before the work, brought up to date beside it, closed at its end. The list is
//! worked out from what became of the steps, so it says only what happened.
//! Invariant: at most one item is in progress, and an item is completed only when its step worked.

use serde_json::{Value, json};

use super::answer;
use super::progress::{Call, Outcome};
use super::steps::{Plan, Step};
use super::turn::Turn;
use crate::model::Tool;

/// How many steps it takes to be worth a plan.
const WORTH_A_PLAN: usize = 3;

/// The plan of a turn.
pub struct Todos<'p> {
    plan: &'p Plan,
}

impl<'p> Todos<'p> {
    /// The plan of what is to be done, when it is worth one and plans are kept here.
    pub fn of(plan: &'p Plan, tools: &[Tool]) -> Option<Self> {
        let offered = tools.iter().any(|tool| tool.name == "todo_write");
        let todos = Self { plan };
        let items = || plan.steps.iter().filter(|step| is_item(step));
        let asked = plan.steps.iter().any(|step| step.intent.planned);
        let changes = items().any(|step| step.intent.changes && !step.intent.beside);
        // A team has the board for its plan, and goes on in other turns.
        let of_team = plan.steps.iter().any(is_of_team);
        let large = items().filter(|step| !step.unasked).count() >= WORTH_A_PLAN && changes;
        (offered && items().next().is_some() && (asked || large && !of_team)).then_some(todos)
    }

    /// Whether the step is an item of the plan.
    pub fn names(&self, index: usize) -> bool {
        is_item(&self.plan.steps[index])
    }

    /// The step that is the first item.
    pub fn first(&self) -> Option<usize> {
        self.plan.steps.iter().position(is_item)
    }

    /// The call that says how far the work is: what became of the steps so far, and which one is next.
    pub fn call(&self, outcomes: &[Outcome], current: Option<usize>) -> Call {
        let steps = self.plan.steps.iter().enumerate();
        let items = steps
            .filter(|(_, step)| is_item(step))
            .map(|(index, step)| {
                let status = match outcomes.get(index) {
                    Some(Outcome::Done(deeds)) if deeds.is_empty() => "completed",
                    Some(outcome) if outcome.is_fine() => "completed",
                    None if current == Some(index) => "in_progress",
                    Some(_) | None => "pending",
                };
                json!({"content": capital(&answer::doing(step)), "status": status})
            });
        let todos: Vec<Value> = items.collect();
        Call {
            tool: "todo_write".into(),
            input: json!({"todos": todos}),
        }
    }
}

/// How far the work is that a list tells of: the item in progress, or behind the last.
pub fn reached(input: &Value) -> usize {
    let todos = input.get("todos").and_then(Value::as_array);
    let items: &[Value] = todos.map_or(&[], Vec::as_slice);
    let is = |item: &Value, status: &str| item.get("status").is_some_and(|it| it == status);
    match items.iter().position(|item| is(item, "in_progress")) {
        Some(current) => current + 1,
        None if items.iter().any(|item| is(item, "completed")) => items.len() + 1,
        None => 0,
    }
}

fn is_of_team(step: &Step) -> bool {
    step.intent.staffed.is_some()
        || step.intent.awaits.is_some()
        || step.intent.needs == "create_task"
}

fn is_item(step: &Step) -> bool {
    let is_work = !step.intent.by.is_empty() && step.intent.by[0].tool != "todo_write";
    is_work && step.intent.serves.is_none()
}

/// A plan for something nobody has said the steps of, as the JSON of a list.
pub fn generic(what: &str) -> String {
    let what = named(what);
    let is_repo =
        |word: &str| ["repo", "repository", "project", "codebase", "workspace"].contains(&word);
    let items = match what.split(' ').any(is_repo) {
        true => vec![
            "List the files".to_owned(),
            "Read the README".to_owned(),
            "Look at the sources".to_owned(),
            format!("Sum up what was found: {what}"),
        ],
        false => vec![
            format!("Look at what is there: {what}"),
            capital(&what),
            "Check the result".to_owned(),
        ],
    };
    let todo = |content: String| json!({"content": content, "status": "pending"});
    Value::from(items.into_iter().map(todo).collect::<Vec<_>>()).to_string()
}

/// What a plan is for, without the words that only lead to it: `how to`, `as a todo list`.
pub fn named(what: &str) -> String {
    let what = what.trim();
    let what = what.strip_prefix("how to ").unwrap_or(what);
    let ends = [
        " as a todo list",
        " as a checklist",
        " as todos",
        " in a todo list",
        " with a todo list",
    ];
    let end = ends.iter().find_map(|end| what.strip_suffix(end));
    end.unwrap_or(what).to_owned()
}

/// The plan as it was written last.
pub fn told(turn: &Turn) -> String {
    let input = turn.last_input("todo_write").unwrap_or_default();
    let items: Vec<String> = input
        .get("todos")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|item| {
            let mark = match item.get("status")?.as_str()? {
                "completed" => "x",
                "in_progress" => ">",
                _ => " ",
            };
            Some(format!("- [{mark}] {}", item.get("content")?.as_str()?))
        })
        .collect();
    match items.is_empty() {
        true => "My todo list is empty.".to_owned(),
        false => format!("My todo list:\n{}", items.join("\n")),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
