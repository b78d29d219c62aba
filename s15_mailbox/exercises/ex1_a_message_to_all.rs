//! Exercise 1 · a message to all (15 minutes).
//!
//! Let send_message take the name `all`: everybody who can be written to gets the message, but for its sender. The tool
//! answers with the names, in order: `sent to bob, carol, lead`. Each copy is addressed to its reader, whose bell rings.
//!
//! `all` is nobody's name then: who wants to join under it is refused, as under one that is taken. A message to all when
//! nobody else is there is an error.
//!
//! And all readers see two messages to all in the same order. Between agents that write at the same time that does not
//! come by itself.
//!
//! Hint: src/mailboxes.rs: what does `send` do under the lock of the folder, and what before?
//!
//! Hint: a loop that calls `send` takes the lock once a reader. Who else may write between two of them?

use std::sync::Barrier;

use s01_loop::Output;
use s02_tools::Toolbox;
use s15_mailbox::{LEAD, Mailboxes, send_message};
use serde_json::json;

use crate::scene::{Scene, call, contents};

/// What send_message answers this agent.
async fn to_all(mail: &Mailboxes, from: &str, content: &str) -> Output {
    let tools = Toolbox::new().with(send_message(mail, from));
    let input = json!({"to": "all", "content": content});
    call(&tools, "send_message", input).await
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn everybody_but_the_sender_gets_it() {
    let scene = Scene::new();
    for name in ["carol", "alice", "bob"] {
        scene.mail.join(name).unwrap();
    }
    let told = to_all(&scene.mail, "alice", "I am done.").await;
    assert_eq!(told.text, "sent to bob, carol, lead", "the answer of the tool");
    for name in ["bob", "carol", LEAD] {
        let mail = scene.mail.drain(name).unwrap();
        assert!(
            mail.len() == 1 && mail[0].to == name && mail[0].from == "alice",
            "{name} was to get one message, from alice to {name}; these came: {mail:?}"
        );
        assert_eq!(mail[0].content, "I am done.");
    }
    let own = contents(&scene.mail, "alice");
    assert!(own.is_empty(), "alice has written to herself: {own:?}");
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn all_is_nobodys_name_and_nobody_is_no_reader() {
    let scene = Scene::new();
    let told = to_all(&scene.mail, LEAD, "Hello?").await;
    assert!(
        told.is_error && !told.text.contains("no agent \"all\""),
        "the lead is alone; the answer was to say so as an error: {}",
        told.text
    );
    let joined = scene.mail.join("all");
    assert!(
        joined.is_err(),
        "an agent has joined as `all`; a message to all would go to him alone"
    );
}

#[test]
#[ignore = "exercise 1"]
fn all_readers_see_the_same_order() {
    const EACH: usize = 40;
    let scene = Scene::new();
    let mail = &scene.mail;
    let writers = ["ann", "ben", "cleo", "dan"];
    for name in writers.iter().chain(&["reader", "other"]) {
        mail.join(name).unwrap();
    }
    let start = Barrier::new(writers.len());
    std::thread::scope(|scope| {
        for name in writers {
            let start = &start;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread();
                let runtime = { runtime }.enable_all().build().unwrap();
                start.wait();
                for number in 0..EACH {
                    let content = format!("{name} {number}");
                    runtime.block_on(to_all(mail, name, &content));
                }
            });
        }
    });
    let [one, other] = ["reader", "other"].map(|name| contents(mail, name));
    assert_eq!(
        one.len(),
        writers.len() * EACH,
        "four agents have written {EACH} messages to all; so many has a reader got"
    );
    let differ = one.iter().zip(&other).position(|(one, other)| one != other);
    if let Some(at) = differ {
        panic!(
            "two readers see different orders: message {at} is {:?} to one and {:?} to the other",
            one[at], other[at]
        );
    }
}
