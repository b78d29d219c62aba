//! Exercise 3 · where the prefix ends (15 minutes).
//!
//! The API keeps the beginning of a request, byte for byte. Whoever changes a message in the middle pays anew for all that
//! stands behind it, and nobody says so. Say it: where a request of the conversation does not begin with all messages of
//! the one before, print `[the cached messages end before 3 of 41]` in front of it, a dimmed line like the others. 41
//! messages were sent the last time, and the third of them, counted from 1, is the first that is another now, or gone.
//! As long as messages are only added, and before the first request, nothing is said.
//!
//! Hint: the loop has one place in which the conversation is complete and not yet sent. What did it look like there the
//! last time? Cloning a message costs a pointer.
//!
//! Hint: `zip` stops at the end of the shorter one. A summary leaves fewer messages than there were.

use mock_servers::model::{MockModel, Reply, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Ran};

use super::{class, lead_with};
use crate::class::leads;

/// A workspace with so many files of 4,000 characters.
fn class_with(files: usize) -> Class {
    (0..files).fold(class(), |class, number| {
        let text = format!("line of file {number}\n").repeat(240);
        class.file(format!("{number}.txt"), text)
    })
}

/// A reply for each file, which reads it.
fn reads(files: usize) -> impl Iterator<Item = Reply> {
    (0..files).map(|number| calls("read_file", json!({"path": format!("{number}.txt")})))
}

/// What was printed about the end of the cached messages.
fn said(ran: &Ran) -> Vec<&str> {
    let lines = ran.stdout.lines();
    lines.filter(|line| line.starts_with("[the cached messages end")).collect()
}

/// What was to be printed, by the requests that the model has got.
fn expected(model: &MockModel) -> Vec<String> {
    let requests = leads(model);
    let sent: Vec<Vec<Value>> = requests.iter().map(|request| messages(&request.json())).collect();
    let pairs = sent.windows(2).filter_map(|pair| {
        let (before, after) = (&pair[0], &pair[1]);
        let same = std::iter::zip(before, after).take_while(|(old, new)| old == new);
        let same = same.count();
        let count = before.len();
        (same < count).then(|| format!("[the cached messages end before {} of {count}]", same + 1))
    });
    pairs.collect()
}

/// The messages of a request, without the breakpoint, which moves.
fn messages(request: &Value) -> Vec<Value> {
    let mut messages = request["messages"].as_array().cloned().unwrap_or_default();
    let contents = messages.iter_mut().filter_map(|message| message["content"].as_array_mut());
    for block in contents.flatten().filter_map(Value::as_object_mut) {
        block.remove("cache_control");
    }
    messages
}

#[test]
#[ignore = "exercise 3"]
fn it_is_said_where_room_was_made_and_how_far_the_prefix_goes() {
    let model = lead_with(24_000, reads(20).chain([says("Read."), says("Yes.")]));
    let class = class_with(20).env("MODEL_CONTEXT_TOKENS", "24000");
    let ran = class.model(&model).types(&["read them", "all of them?"]);
    ran.succeeds();
    let expected = expected(&model);
    assert!(!expected.is_empty(), "twenty files do not fit into this window");
    assert_eq!(
        said(&ran),
        expected,
        "a line for each request that does not begin with the messages of the one before\n{}",
        ran.transcript()
    );
}

#[test]
#[ignore = "exercise 3"]
fn a_summary_that_leaves_fewer_messages_is_told_and_what_is_only_added_is_not() {
    let compact = calls("compact", json!({"focus": "the files"}));
    let replies = reads(3).chain([compact, says("Done."), says("You're welcome.")]);
    let model = lead_with(200_000, replies);
    model.script_for("You summarize a conversation", [says("Three files were read.")]);
    let ran = class_with(3).model(&model).types(&["read them, then compact", "thank you"]);
    ran.succeeds();
    assert_eq!(
        said(&ran),
        ["[the cached messages end before 1 of 7]"],
        "the summary stands in the first message, and the seven of the request before are gone\n{}",
        ran.transcript()
    );
    assert_eq!(expected(&model), said(&ran), "{}", ran.transcript());
}
