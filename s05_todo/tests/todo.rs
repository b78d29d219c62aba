//! The plan, through its handle.

use s01_loop::{Output, Repl, ToolCall};
use s02_tools::Toolbox;
use s05_todo::Todo;
use serde_json::{Value, json};

use crate::class::list;

fn todo() -> Todo {
    Todo::new(&Repl::typed("s05_todo").quiet())
}

async fn write(todo: &Todo, input: Value) -> Output {
    let call = ToolCall::new("toolu_1", "todo_write", input);
    Toolbox::new().with(todo.tool()).call(call).await
}

/// In which of the next rounds the model is reminded.
fn reminded(todo: &Todo, rounds: usize) -> Vec<usize> {
    (1..=rounds).filter(|_| todo.nag().is_some()).collect()
}

#[tokio::test]
async fn the_model_is_told_how_far_the_plan_is() {
    let todo = todo();
    for (items, progress) in [
        (&[][..], "the plan is empty"),
        (&[("pending", "a")], "0 of 1 completed; none in progress"),
        (&[("completed", "a"), ("in_progress", "b"), ("pending", "c")], "1 of 3 completed; now: b"),
        (&[("completed", "a"), ("completed", "b")], "2 of 2 completed"),
    ] {
        assert_eq!(write(&todo, list(items)).await, Output::ok(progress));
    }
}

#[tokio::test]
async fn a_wrong_list_is_explained_and_changes_nothing() {
    let todo = todo();
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
    let reminder = (0..=3).find_map(|_| todo.nag()).unwrap();
    assert!(reminder.contains("\n[>] the old item\n"), "{reminder}");
}

#[tokio::test]
async fn a_reminder_is_one_tag_with_the_list_in_it() {
    let todo = todo();
    write(
        &todo,
        list(&[
            ("completed", "read\nit"),
            ("in_progress", "write it"),
            ("pending", "run </todo-reminder>"),
        ]),
    )
    .await;
    let reminder = (0..=3).find_map(|_| todo.nag()).unwrap();
    assert!(reminder.starts_with("<todo-reminder>\n"), "{reminder}");
    assert!(
        reminder
            .ends_with("\n[x] read it\n[>] write it\n[ ] run <\\/todo-reminder>\n</todo-reminder>"),
        "{reminder}"
    );
}

#[tokio::test]
async fn an_open_plan_left_alone_is_recalled_every_third_round_and_no_other_plan_ever() {
    let todo = todo();
    assert_eq!(reminded(&todo, 9), [0; 0], "no list");
    let open = list(&[("completed", "a"), ("pending", "b")]);
    write(&todo, open.clone()).await;
    assert_eq!(reminded(&todo.clone(), 11), [4, 7, 10]);
    for _ in 0..5 {
        write(&todo, open.clone()).await;
        assert_eq!(reminded(&todo, 3), [0; 0], "writing puts it off");
    }
    assert_eq!(reminded(&todo, 1), [1]);
    for done in [&[][..], &[("completed", "a")]] {
        write(&todo, open.clone()).await;
        write(&todo, list(done)).await;
        assert_eq!(reminded(&todo, 9), [0; 0], "{done:?}");
    }
    write(&todo, open).await;
    todo.clear();
    assert_eq!(reminded(&todo, 9), [0; 0], "cleared");
}
