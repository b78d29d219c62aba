//! The plan and the practice files, through their handles.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use s01_loop::{Output, Repl, ToolCall};
use s02_tools::{Toolbox, Workspace};
use s04_hooks::{Hooks, PromptDecision};
use s05_todo::{QUIET_ROUNDS, Todo, practice_files};
use serde_json::{Map, Value, json};

fn terminal() -> Repl {
    Repl::typed("s05_todo").quiet()
}

/// A list of items: each a status and what is to be done.
fn list(items: &[(&str, &str)]) -> Value {
    let item = |(status, content): &(&str, &str)| json!({"content": content, "status": status});
    json!({ "todos": items.iter().map(item).collect::<Vec<_>>() })
}

async fn write(todo: &Todo, input: Value) -> Output {
    let call = ToolCall {
        id: "toolu_1".into(),
        name: "todo_write".into(),
        input,
        extra: Map::new(),
    };
    Toolbox::new().with(todo.tool()).call(call).await
}

/// In which of the next rounds the model is reminded.
fn reminded(todo: &Todo, rounds: usize) -> Vec<usize> {
    (1..=rounds).filter(|_| todo.nag().is_some()).collect()
}

#[tokio::test]
async fn the_model_is_told_how_far_the_plan_is() {
    let todo = Todo::new(&terminal());
    for (items, progress) in [
        (&[][..], "the plan is empty"),
        (&[("pending", "a")], "0 of 1 completed; none in progress"),
        (
            &[("completed", "a"), ("in_progress", "b"), ("pending", "c")],
            "1 of 3 completed; now: b",
        ),
        (
            &[("completed", "a"), ("completed", "b")],
            "2 of 2 completed",
        ),
    ] {
        assert_eq!(write(&todo, list(items)).await, Output::ok(progress));
    }
}

#[tokio::test]
async fn a_plan_that_was_cleared_reminds_nobody() {
    let todo = Todo::new(&terminal());
    write(&todo, list(&[("in_progress", "a")])).await;
    todo.clear();
    assert_eq!(reminded(&todo, 10), [0; 0]);
}

#[tokio::test]
async fn a_wrong_list_is_explained_and_changes_nothing() {
    let todo = Todo::new(&terminal());
    write(&todo, list(&[("in_progress", "the old item")])).await;
    let kept = "todo_write: the plan stays as it was: ";
    for (wrong, why) in [
        (
            list(&[("in_progress", "a"), ("pending", "b"), ("in_progress", "c")]),
            format!("{kept}todos[0] and todos[2] are both in_progress; do one at a time"),
        ),
        (
            list(&[("pending", "a"), ("pending", " \n")]),
            format!("{kept}todos[1]: the content is empty; say what is to be done"),
        ),
        (
            list(&[("pending", "a"), ("done", "b")]),
            "todo_write: argument `todos[1].status`: unknown variant `done`, \
             expected one of `pending`, `in_progress`, `completed`"
                .to_owned(),
        ),
        (
            json!({"todos": "- a\n- b"}),
            "todo_write: argument `todos`: invalid type: string \"- a\\n- b\", expected a sequence"
                .to_owned(),
        ),
        (json!({}), "todo_write: missing field `todos`".to_owned()),
    ] {
        assert_eq!(write(&todo, wrong).await, Output::error(why));
    }
    let reminder = (0..=QUIET_ROUNDS).find_map(|_| todo.nag()).unwrap();
    assert!(reminder.contains("\n[>] the old item\n"), "{reminder}");
}

#[tokio::test]
async fn an_open_plan_left_alone_is_recalled_every_third_round() {
    let todo = Todo::new(&terminal());
    write(&todo, list(&[("completed", "a"), ("pending", "b")])).await;
    assert_eq!(reminded(&todo, 11), [4, 7, 10]);
}

#[tokio::test]
async fn a_reminder_is_one_tag_with_the_list_in_it() {
    let todo = Todo::new(&terminal());
    write(
        &todo,
        list(&[
            ("completed", "read\nit"),
            ("in_progress", "write it"),
            ("pending", "run </todo-reminder>"),
        ]),
    )
    .await;
    let reminder = (0..=QUIET_ROUNDS).find_map(|_| todo.nag()).unwrap();
    assert!(reminder.starts_with("<todo-reminder>\n"), "{reminder}");
    assert!(
        reminder
            .ends_with("\n[x] read it\n[>] write it\n[ ] run <\\/todo-reminder>\n</todo-reminder>"),
        "{reminder}"
    );
}

#[tokio::test]
async fn writing_the_plan_puts_the_reminder_off() {
    let todo = Todo::new(&terminal());
    let open = list(&[("in_progress", "a")]);
    for _ in 0..5 {
        write(&todo, open.clone()).await;
        assert_eq!(reminded(&todo, QUIET_ROUNDS), [0; 0]);
    }
    assert_eq!(reminded(&todo, 1), [1]);
}

#[tokio::test]
async fn there_is_no_reminder_of_a_list_that_does_not_exist_or_is_done() {
    let todo = Todo::new(&terminal());
    assert_eq!(reminded(&todo, 9), [0; 0], "no list");
    for done in [&[][..], &[("completed", "a")]] {
        write(&todo, list(&[("pending", "a")])).await;
        assert_eq!(reminded(&todo, QUIET_ROUNDS), [0; 0]);
        write(&todo, list(done)).await;
        assert_eq!(reminded(&todo, 9), [0; 0], "{done:?}");
    }
}

#[tokio::test]
async fn clones_share_one_plan() {
    let todo = Todo::new(&terminal());
    write(&todo.clone(), list(&[("pending", "a")])).await;
    assert_eq!(reminded(&todo.clone(), QUIET_ROUNDS), [0; 0]);
    assert_eq!(reminded(&todo, 1), [1]);
}

/// Asks for something in this directory, under the hook.
async fn ask(dir: &Path, request: &str) {
    let ws = Workspace::at(dir).unwrap();
    let hooks = Hooks::new().on_prompt(practice_files(&ws, &terminal()));
    let asked = hooks.prompt(request.to_owned()).await;
    assert_eq!(asked, PromptDecision::Go(request.to_owned()));
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn practice_files_come_when_they_are_spoken_of_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    ask(dir.path(), "Give me an example").await;
    assert_eq!(names(dir.path()), [""; 0]);
    ask(dir.path(), "Review Python files under examples").await;
    assert_eq!(
        names(&dir.path().join("examples")),
        ["hello.py", "shapes.py", "words.py"]
    );
    let hello = fs::read_to_string(dir.path().join("examples/hello.py")).unwrap();
    assert_eq!(hello, include_str!("../examples/hello.py"));
}

#[tokio::test]
async fn whatever_is_called_examples_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let examples = dir.path().join("examples");
    fs::create_dir(&examples).unwrap();
    ask(dir.path(), "Refactor examples/hello.py").await;
    assert_eq!(names(&examples), [""; 0], "an empty folder is the user's");

    fs::remove_dir(&examples).unwrap();
    fs::write(&examples, "a file").unwrap();
    ask(dir.path(), "Refactor examples/hello.py").await;
    assert_eq!(fs::read_to_string(&examples).unwrap(), "a file");

    fs::remove_file(&examples).unwrap();
    symlink("elsewhere", &examples).unwrap();
    ask(dir.path(), "Refactor examples/hello.py").await;
    assert_eq!(
        names(dir.path()),
        ["examples"],
        "nothing is written through a dangling link"
    );
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_stops_no_request() {
    let dir = tempfile::tempdir().unwrap();
    let ws = Workspace::at(dir.path()).unwrap();
    let hooks = Hooks::new().on_prompt(practice_files(&ws, &terminal()));
    // Permissions would not do: a test may run as root.
    dir.close().unwrap();
    let request = "Refactor examples/hello.py".to_owned();
    assert_eq!(
        hooks.prompt(request.clone()).await,
        PromptDecision::Go(request)
    );
}
