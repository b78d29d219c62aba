//! Exercise 2 · the last round (10 minutes).
//!
//! A teammate that finds no end is stopped after ten rounds, and what it has found out is lost with it. Tell it in time:
//! the request of its tenth round ends with a note `<last-round>…</last-round>` that says that this is the last one and
//! that its next words are its report. A teammate that obeys has its words delivered as a `result`.
//!
//! The note comes once, behind the results of the ninth round and behind the mail that has come with them. Who is done
//! earlier never reads it. And who goes on all the same is stopped as before.
//!
//! Hint: src/teammate.rs has the ten rounds in a line, and the place where mail becomes a note.

use mock_servers::model::{MockModel, Options, Reply, Request, calls, says};
use s15_mailbox::Mail;
use s15_mailbox::teammate::Worker;
use serde_json::json;

use crate::scene::{Scene, spawn};

/// Looks around for ever, unless it is told that it must not.
fn obedient(request: &Request) -> Reply {
    let is_told = |text: &String| text.starts_with("<last-round>");
    match request.user_texts().iter().any(is_told) {
        true => says("Half of it is done: a and b."),
        false => look(),
    }
}

/// Looks around for ever.
fn stubborn(_: &Request) -> Reply {
    look()
}

fn look() -> Reply {
    calls("read_file", json!({"path": "there.txt"}))
}

/// The mail that a teammate of this mind ends with.
async fn ends(mind: fn(&Request) -> Reply) -> (MockModel, Mail) {
    let model = MockModel::start(Options::strict(), mind).unwrap();
    let scene = Scene::new();
    std::fs::write(scene.ws.root().join("there.txt"), "x\n").unwrap();
    let team = scene.team(model.url(), &scene.hooks(), Worker);
    spawn(&team, "alice", "Look around.").await;
    let mail = scene.next_mail().await.remove(0);
    (model, mail)
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn who_is_told_in_time_reports() {
    let (model, mail) = ends(obedient).await;
    assert_eq!(
        (&*mail.kind, &*mail.content),
        ("result", "Half of it is done: a and b."),
        "the teammate ends as soon as it reads <last-round>; this is what the lead got"
    );
    assert_eq!(
        model.requests().len(),
        10,
        "the tenth round is the last; so many requests were sent"
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn the_note_comes_once_and_last_and_the_limit_holds() {
    let (model, mail) = ends(stubborn).await;
    let requests = model.requests();
    assert_eq!(requests.len(), 10, "ten rounds, ten requests");
    assert_eq!(mail.kind, "error", "who goes on all the same is stopped: {mail:?}");
    let told: Vec<usize> = (1..)
        .zip(requests.iter())
        .filter(|(_, request)| {
            request.user_texts().iter().any(|text| text.contains("<last-round>"))
        })
        .map(|(round, _)| round)
        .collect();
    assert_eq!(told, [10], "the rounds whose request holds <last-round>");
    let texts = requests[9].user_texts();
    let last = texts.last().map(String::as_str).unwrap_or_default();
    assert!(
        last.starts_with("<last-round>") && last.ends_with("</last-round>"),
        "the tenth request was to end with the note; it ends with {last:?}"
    );
}
