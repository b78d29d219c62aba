//! Exercise 3 · done stays done (15 minutes).
//!
//! A model that has lost its way writes an item down again that it has completed, and does it twice. Refuse such a list:
//! an item of the plan that is completed may not be pending or in progress in the next list. As with any wrong list, the
//! plan stays as it was, and the model reads which item it is (`todos[1]`) and why. An item may be left out, and one text
//! may stand in a plan twice: `run the tests` before and after the change are two items, and the first of them may be
//! completed while the second is open. When everything is completed the plan is over, and the next list is a new plan.
//!
//! Hint: `Plan::new` knows one list. Who knows two of them, and before which of its lines must the rule be asked?
//!
//! Hint: a set of the completed texts is not enough for the plan that has `run the tests` in it twice. How many of them
//! were completed, and how many are now?

use s01_loop::{Output, Repl, ToolCall};
use s02_tools::Toolbox;
use s05_todo::{QUIET_ROUNDS, Todo};

use crate::class::list;

fn todo() -> Todo {
    Todo::new(&Repl::typed("s05_todo").quiet())
}

async fn write(todo: &Todo, items: &[(&str, &str)]) -> Output {
    let call = ToolCall::new("toolu_1", "todo_write", list(items));
    Toolbox::new().with(todo.tool()).call(call).await
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn a_list_that_opens_a_completed_item_again_changes_nothing() {
    let todo = todo();
    write(&todo, &[("completed", "read it"), ("pending", "write it")]).await;
    let answer = write(&todo, &[("in_progress", "write it"), ("pending", "read  it")]).await;
    assert!(
        answer.is_error,
        "`read it` was completed and is pending again; the list was to be refused, and the model reads: {}",
        answer.text
    );
    let kept = "todo_write: the plan stays as it was: ";
    assert!(
        answer.text.starts_with(kept) && answer.text.contains("todos[1]"),
        "the model was to read {kept:?} and which item is wrong, `todos[1]`; it reads: {}",
        answer.text
    );
    let reminder = (0..=QUIET_ROUNDS).find_map(|_| todo.nag());
    let reminder = reminder.expect("the plan in force is open, so there is a reminder");
    assert!(
        reminder.contains("\n[x] read it\n[ ] write it\n"),
        "the plan was to stay as it was; the reminder says\n{reminder}"
    );
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn a_text_may_stand_twice_an_item_may_go_and_a_plan_that_is_done_is_over() {
    let todo = todo();
    let lists: [&[(&str, &str)]; 7] = [
        &[("in_progress", "run the tests"), ("pending", "mend it"), ("pending", "run the tests")],
        &[("completed", "run the tests"), ("in_progress", "mend it"), ("pending", "run the tests")],
        // The completed one is left out; the other is as open as it was.
        &[("in_progress", "mend it"), ("pending", "run the tests")],
        &[
            ("completed", "run the tests"),
            ("completed", "mend it"),
            ("in_progress", "run the tests"),
        ],
        &[("completed", "run the tests")],
        // All is done: a new plan, with a text that the old one had.
        &[("in_progress", "run the tests"), ("pending", "write it")],
        &[("completed", "run the tests"), ("pending", "write it")],
    ];
    for (index, items) in lists.into_iter().enumerate() {
        let answer = write(&todo, items).await;
        assert!(
            !answer.is_error,
            "list {} is a good one, and was refused: {}",
            index + 1,
            answer.text
        );
    }
    // Two were completed, one of them is open again.
    let twice = [("completed", "a"), ("completed", "a"), ("pending", "b")];
    write(&todo, &twice[2..]).await;
    write(&todo, &twice).await;
    let answer = write(&todo, &[("completed", "a"), ("pending", "a"), ("pending", "b")]).await;
    assert!(
        answer.is_error,
        "of two completed `a` one is pending again; the list was to be refused, and the model reads: {}",
        answer.text
    );
}
