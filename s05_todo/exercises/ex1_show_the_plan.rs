//! Exercise 1 · show the plan (10 minutes).
//!
//! A plan that was written twenty calls ago has long left the screen. Let the user see it again: who types `/todo` sees
//! the checklist as it is now, with the line `1 of 3 completed; now: write it` below it, or `the plan is empty`. The
//! model takes no part in it: it is sent nothing, reads nothing of it later, and its reminder comes in the round in which
//! it would have come anyway.
//!
//! Hint: there is something in the last chapter that sees a prompt before the model does and can say no, with a reason
//! that the user reads.
//!
//! Hint: a method of `Todo` that returns such a hook leaves `turn` as it is. The plan must
//! then be there before the hooks are.

use mock_servers::model::{MockModel, calls, says};

use super::class;
use crate::class::list;

#[test]
#[ignore = "exercise 1"]
fn slash_todo_shows_the_plan_as_it_is_now() {
    let items = [("completed", "read it"), ("in_progress", "write it"), ("pending", "run it")];
    let model = MockModel::scripted([calls("todo_write", list(&items)), says("So far.")]);
    let ran = class().model(&model).types(&["/todo", "go", "/todo"]);
    assert_eq!(
        model.requests().len(),
        2,
        "the model was to be asked twice, both times for `go`; `/todo` was sent to it, too\n{}",
        ran.transcript()
    );
    let (before, after) =
        ran.stdout.split_once("So far.").expect("the answer to `go` is on the screen");
    assert!(
        before.contains("the plan is empty"),
        "the first `/todo` was to say `the plan is empty`\n{before}"
    );
    for line in ["[x] read it", "[>] write it", "[ ] run it", "1 of 3 completed; now: write it"] {
        assert!(
            after.contains(line),
            "behind the answer `/todo` was to show the line {line:?}, and showed\n{after}"
        );
    }
}

#[test]
#[ignore = "exercise 1"]
fn looking_at_the_plan_is_no_round() {
    let plan = calls("todo_write", list(&[("pending", "later")]));
    let model = MockModel::scripted([plan, says("1"), says("2"), says("3"), says("4")]);
    let lines = ["one", "/todo", "two", "/todo", "/todo", "three", "four"];
    let ran = class().model(&model).types(&lines);
    let texts = model.last_request().user_texts();
    assert!(
        !texts.iter().any(|text| text.starts_with("/todo")),
        "the conversation was to hold no `/todo`: {texts:?}"
    );
    ran.shows("[ ] later");
    let reminded = texts.iter().position(|text| text.starts_with("<todo-reminder>"));
    assert_eq!(
        reminded,
        Some(4),
        "the reminder was to follow the fourth prompt, as it does when nobody looks: {texts:?}"
    );
}
