//! The lesson as a class sees it: a plan on the screen, and a reminder where it belongs.

mod session;

use mock_servers::model::{Block, MockModel, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, assert_pool};

/// A directory with the files of the prompts in it.
fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s05_todo"))
        .file("examples/hello.py", include_str!("../../examples/hello.py"))
        .file("examples/shapes.py", include_str!("../../examples/shapes.py"))
        .file("examples/words.py", include_str!("../../examples/words.py"))
}

/// A list of items: each a status and what is to be done.
pub fn list(items: &[(&str, &str)]) -> Value {
    let item = |(status, content): &(&str, &str)| json!({"content": content, "status": status});
    json!({ "todos": items.iter().map(item).collect::<Vec<_>>() })
}

/// What the blocks of each user message are: a result, a reminder, or other text.
fn kinds(request: &Request) -> Vec<Vec<&'static str>> {
    let kind = |block: &Block| match block {
        Block::ToolResult { .. } => "result",
        Block::Text(text) if text.starts_with("<todo-reminder>") => "reminder",
        Block::Text(_) | Block::ToolUse { .. } | Block::Other(_) => "text",
    };
    let users = request.messages.iter().step_by(2);
    users.map(|message| message.blocks.iter().map(kind).collect()).collect()
}

/// The plans that the model wrote in a turn: how many items each has, and how many of them are completed.
fn plans(request: &Request) -> Vec<(usize, usize)> {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    let todos = blocks.filter_map(|block| match block {
        Block::ToolUse { name, input, .. } if name == "todo_write" => input["todos"].as_array(),
        Block::ToolUse { .. } | Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => None,
    });
    let is_completed = |item: &&Value| item["status"] == "completed";
    todos.map(|items| (items.len(), items.iter().filter(is_completed).count())).collect()
}

/// Asserts that a plan came first, that more of it was completed each time, and that nothing was left open.
fn follows_a_plan(model: &MockModel) {
    let request = model.last_request();
    let plans = plans(&request);
    assert!(plans.len() > 2, "{plans:?}");
    assert!(plans.is_sorted_by_key(|(_, completed)| *completed), "{plans:?}");
    assert!(plans.last().is_some_and(|(items, completed)| items == completed), "{plans:?}");
    let failed: Vec<String> =
        request.results().into_iter().filter(|(failed, _)| *failed).map(|(_, text)| text).collect();
    assert_eq!(failed, [""; 0]);
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s05_todo"));
}

#[test]
fn each_prompt_is_done_by_a_plan() {
    for request in [
        "Refactor examples/hello.py: add type hints, docstrings, and a main guard",
        "Create a Python package under examples/demo_pkg with __init__.py, utils.py, and tests/test_utils.py",
        "Review Python files under examples and fix any style issues",
        "please tidy up the Python code in the examples folder",
        "Polish examples/hello.py so that it has docstrings, type annotations and an if __name__ guard",
        "Set up a package examples/tools with __init__.py and core.py",
        "Could you improve examples/words.py, please?",
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let ran = class.types(&[request]);
        ran.succeeds().shows("  [>] ").shows("  [x] ");
        follows_a_plan(&model);
        let wanted: &[(&str, &str)] = match &request[..6] {
            "Refact" => &[
                ("hello.py", "def greet(name: str) -> str:"),
                ("hello.py", "\"\"\""),
                ("hello.py", "if __name__ == \"__main__\":"),
            ],
            "Create" => &[
                ("demo_pkg/__init__.py", ""),
                ("demo_pkg/utils.py", ""),
                ("demo_pkg/tests/test_utils.py", ""),
            ],
            "Review" => &[("shapes.py", "def area(radius)"), ("words.py", "is None")],
            _ => &[],
        };
        for (file, text) in wanted {
            let found = class.read(format!("examples/{file}"));
            assert!(found.contains(text), "{request}: {file}: {found}");
        }
    }
}

#[test]
fn a_plan_is_a_checklist_on_the_screen_and_a_line_for_the_model() {
    let items = [("completed", "read it"), ("in_progress", "write it"), ("pending", "run it")];
    let model = MockModel::scripted([calls("todo_write", list(&items)), says("Done.")]);
    class().model(&model).types(&["go"]).succeeds().shows(
        "\n  [x] read it\n  [>] write it\n  [ ] run it\n  1 of 3 completed; now: write it\n",
    );
    assert_eq!(
        model.last_request().results(),
        [(false, "1 of 3 completed; now: write it".to_owned())]
    );
}

#[test]
fn a_reminder_stands_behind_the_results_and_comes_once_for_parallel_calls() {
    let reads = || {
        let read = json!({"path": "README.md"});
        calls("read_file", read.clone())
            .and_calls("read_file", read.clone())
            .and_calls("read_file", read)
    };
    let model = MockModel::scripted([
        calls("todo_write", list(&[("in_progress", "read")])),
        reads(),
        reads(),
        reads(),
        says("Done."),
    ]);
    class()
        .file("README.md", "# Demo\n")
        .model(&model)
        .types(&["go"])
        .succeeds()
        .shows("\n[reminded of the plan: 0 of 1 completed; now: read]\n");
    let results = vec!["result"; 3];
    let reminded = vec!["result", "result", "result", "reminder"];
    assert_eq!(
        kinds(&model.last_request()),
        [vec!["text"], vec!["result"], results.clone(), results, reminded]
    );
}

#[test]
fn a_plan_left_open_is_recalled_in_a_later_turn_behind_the_request() {
    let model = MockModel::scripted([
        calls("todo_write", list(&[("pending", "later")])),
        says("1"),
        says("2"),
        says("3"),
        says("4"),
    ]);
    class().model(&model).types(&["one", "two", "three", "four"]).succeeds();
    let kinds = kinds(&model.last_request());
    assert_eq!(kinds[2..], [vec!["text"], vec!["text"], vec!["text", "reminder"]]);
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([says("Hi.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let names = model.last_request().tool_names();
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names)]);
}
