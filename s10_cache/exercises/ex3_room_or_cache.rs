//! Exercise 3 · room or cache (15 minutes).
//!
//! `shrink` takes old results away in every round, and with each of them the cached prefix ends. Where the window has
//! room, that is dear. Let the loop make room only when the conversation has more tokens than half of the window, and
//! then, as before, as much as there is. A window of 200,000 tokens is then hardly ever touched, and a small one in
//! large steps. What somebody has asked for still happens: when the model calls `compact`, there is a summary before the
//! next request, however empty the window is.
//!
//! Hint: `History` and `Client` know the two numbers. The loop asks for a decision; a function in a file of its own takes it.
//!
//! Hint: the tool `compact` only leaves word. Who carries it out, and how does a conversation look in which the model has
//! just called it?

use mock_servers::class::{Class, Ran};
use mock_servers::model::{MockModel, Reply, calls, says};
use serde_json::json;

use super::{class, lead_with, leads};

/// A workspace with so many files of so many characters.
fn class_with(files: usize, chars: usize) -> Class {
    (0..files).fold(class(), |class, number| {
        let line = format!("line of file {number}\n");
        let text = line.repeat(chars / line.len());
        class.file(format!("{number}.txt"), text)
    })
}

/// A reply for each file, which reads it.
fn reads(files: usize) -> impl Iterator<Item = Reply> {
    (0..files).map(|number| calls("read_file", json!({"path": format!("{number}.txt")})))
}

fn compactions(ran: &Ran) -> usize {
    ran.stdout.matches("[compacted: ").count()
}

/// How many messages at the beginning of each request are those of the request before, byte for byte.
fn kept(model: &MockModel) -> bool {
    let bodies = leads(model);
    let messages = bodies.iter().map(|request| {
        let mut json = request.json();
        let messages = json["messages"].as_array_mut().expect("messages");
        for block in messages
            .iter_mut()
            .flat_map(|message| message["content"].as_array_mut())
        {
            for field in block
                .iter_mut()
                .filter_map(serde_json::Value::as_object_mut)
            {
                field.remove("cache_control");
            }
        }
        messages.clone()
    });
    let messages: Vec<_> = messages.collect();
    messages
        .windows(2)
        .all(|pair| pair[1].starts_with(&pair[0]))
}

#[test]
#[ignore = "exercise 3"]
fn with_much_room_nothing_is_taken_away() {
    let model = lead_with(200_000, reads(8).chain([says("Read.")]));
    let ran = class_with(8, 8_000).model(&model).types(&["read them"]);
    ran.succeeds();
    assert_eq!(
        compactions(&ran),
        0,
        "eight files of 2,000 tokens fit into a window of 200,000; no result was to be taken away\n{}",
        ran.transcript()
    );
    assert!(
        kept(&model),
        "each request was to begin with the messages of the one before, byte for byte\n{}",
        ran.transcript()
    );
}

#[test]
#[ignore = "exercise 3"]
fn with_little_room_much_is_taken_away_at_once() {
    let model = lead_with(24_000, reads(20).chain([says("Read.")]));
    let class = class_with(20, 4_000).env("MODEL_CONTEXT_TOKENS", "24000");
    let ran = class.model(&model).types(&["read them"]);
    ran.succeeds();
    let refusals = model.refusals();
    assert!(
        refusals.is_empty(),
        "no request was to be refused for its length: {refusals:?}\n{}",
        ran.transcript()
    );
    let times = compactions(&ran);
    assert!(
        (1..=4).contains(&times),
        "twenty files of 1,000 tokens do not fit into a window of 24,000; room was to be made when half of it is full, and \
         not before it is again: a few times in all. It was made {times} times\n{}",
        ran.transcript()
    );
}

#[test]
#[ignore = "exercise 3"]
fn what_the_model_asks_for_happens_in_an_empty_window() {
    let compact = calls("compact", json!({"focus": "the files"}));
    let model = lead_with(200_000, reads(6).chain([compact, says("Done.")]));
    model.script_for(
        "You summarize a conversation",
        [says("Six files were read.")],
    );
    let ran = class_with(6, 8_000)
        .model(&model)
        .types(&["read them, then compact"]);
    ran.succeeds();
    let (before, after) = ran
        .stdout
        .split_once("> compact")
        .expect("the model calls compact");
    assert!(
        !before.contains("[compacted: "),
        "before the model called `compact`, nothing was to be taken away\n{}",
        ran.transcript()
    );
    assert!(
        after.contains(" messages summarized, "),
        "behind the call of `compact` the messages were to be summarized\n{}",
        ran.transcript()
    );
    let last = leads(&model).pop().expect("a request");
    assert!(
        last.user_texts()
            .iter()
            .any(|text| text.contains("Six files were read.")),
        "the request behind `compact` was to hold the summary\n{}",
        ran.transcript()
    );
}
