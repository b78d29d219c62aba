//! Delivery: once, in order, to the right agent of the right session.

use std::fs;
use std::io::Write;
use std::time::Duration;

use s01_loop::Repl;
use s02_tools::Toolbox;
use s13_background::Notices;
use s15_mailbox::{LEAD, check_inbox};
use serde_json::json;

use crate::scene::{Scene, call, contents, message};

#[test]
fn mail_is_delivered_once_and_in_order() {
    let scene = Scene::new();
    scene.mail.join("alice").unwrap();
    for content in ["one", "two", "three"] {
        scene.send(LEAD, "alice", content);
    }
    assert_eq!(contents(&scene.mail, "alice"), ["one", "two", "three"]);
    assert_eq!(contents(&scene.mail, "alice"), [""; 0]);
}

#[test]
fn a_name_that_is_none_or_taken_or_leads_elsewhere_is_refused() {
    let scene = Scene::new();
    scene.mail.join("alice").unwrap();
    let long = "a".repeat(33);
    let wrong = ["", "../x", "Alice", "a b", "a/b", "a\n", &long].map(|name| (name, "is no name"));
    for (name, why) in [&wrong[..], &[("lead", "is taken"), ("alice", "is taken")]].concat() {
        let refused = scene.mail.join(name).unwrap_err().to_string();
        assert!(refused.contains(why), "{name:?}: {refused}");
    }
    let nobody = scene.mail.send(message(LEAD, "../x", "hi"));
    let nobody = nobody.unwrap_err().to_string();
    assert!(nobody.contains("there are alice, lead"), "{nobody}");
    assert!(!scene.ws.state("x.jsonl").exists());
}

#[test]
fn what_an_agent_has_not_read_when_it_leaves_goes_back_to_its_sender() {
    let scene = Scene::new();
    for name in ["alice", "bob", "carol"] {
        scene.mail.join(name).unwrap();
    }
    scene.send("bob", "alice", "one");
    scene.send("carol", "alice", "two");
    scene.mail.leave("carol");
    scene.mail.leave("alice");
    let back = |content| format!("alice has left and had not read this:\n{content}");
    assert_eq!(contents(&scene.mail, "bob"), [back("one")]);
    let lead = scene.mail.drain(LEAD).unwrap();
    assert_eq!(lead.len(), 1, "its sender has gone, too: {lead:?}");
    assert_eq!(lead[0].kind, "returned");
    assert_eq!(lead[0].content, back("two"));
    let late = scene.mail.send(message("bob", "alice", "three"));
    assert!(late.is_err(), "nobody reads it any more");
    scene.mail.join("alice").unwrap();
    assert_eq!(contents(&scene.mail, "alice"), [""; 0], "a new agent");
}

/// The mail of this name that nobody will read.
fn set_aside(scene: &Scene, name: &str) -> String {
    let file = scene.ws.state(&format!("mailboxes/old/{name}.jsonl"));
    fs::read_to_string(file).unwrap()
}

#[test]
fn mail_of_an_ended_session_is_set_aside_and_that_of_a_running_one_left_alone() {
    let scene = Scene::new();
    let (ended, running) = (scene.another_session(), scene.another_session());
    ended.join("alice").unwrap();
    ended.send(message(LEAD, "alice", "secret")).unwrap();
    ended.send(message("alice", LEAD, "from the past")).unwrap();
    let elsewhere = message("bob", LEAD, "for another lead");
    running.send(elsewhere).unwrap();
    scene.send("carol", LEAD, "for me");
    drop(ended);
    assert_eq!(contents(&scene.mail, LEAD), ["for me"]);
    assert_eq!(contents(&running, LEAD), ["for another lead"]);
    assert!(set_aside(&scene, LEAD).contains("from the past"));
    scene.mail.join("alice").unwrap();
    assert_eq!(contents(&scene.mail, "alice"), [""; 0], "a new agent");
    assert!(set_aside(&scene, "alice").contains("secret"));
}

#[test]
fn unread_mail_of_another_sessions_alice_is_no_mail_of_ours() {
    let scene = Scene::new();
    let elsewhere = scene.another_session();
    elsewhere.join("alice").unwrap();
    elsewhere.send(message(LEAD, "alice", "for her")).unwrap();
    scene.mail.join("alice").unwrap();
    assert!(elsewhere.has_mail("alice"));
    let waits = scene.mail.has_mail("alice");
    assert!(!waits, "ours would wait for it for ever");
    scene.send(LEAD, "alice", "for ours");
    assert!(scene.mail.has_mail("alice"));
    assert_eq!(contents(&scene.mail, "alice"), ["for ours"]);
    assert_eq!(contents(&elsewhere, "alice"), ["for her"]);
}

#[tokio::test]
async fn old_mail_wakes_nobody() {
    let scene = Scene::new();
    let ended = scene.another_session();
    ended.send(message("alice", LEAD, "from the past")).unwrap();
    drop(ended);
    scene.mail.deliver_to(&scene.notices, &scene.repl);
    assert_eq!(scene.notices.take(), [""; 0]);
    assert!(set_aside(&scene, LEAD).contains("from the past"));
}

/// Between the two looks the conversation is kept, where somebody keeps it.
#[tokio::test]
async fn the_mailbox_of_the_lead_forgets_a_message_at_the_look_after_the_conversation_has_it() {
    let scene = Scene::new();
    let (notices, repl) = (&scene.notices, Repl::once("test", "go").quiet());
    scene.mail.deliver_to(notices, &repl);
    scene.send("alice", LEAD, "hi");
    let tools = Toolbox::new().with(check_inbox(&scene.mail));
    let told = call(&tools, "check_inbox", json!({})).await;
    assert_eq!(told.text, "you have mail; it follows these results");
    let file = scene.ws.state("mailboxes/lead.jsonl");
    // It wakes the session, and the turn comes to nothing: a hook refuses it, or Ctrl-C.
    assert!(notices.next_input(&repl).await.unwrap().contains("\nhi\n"));
    assert_eq!(scene.mail.taken(), [""; 0]);
    assert_eq!(notices.next_input(&repl).await.as_deref(), Some("go"));
    assert!(notices.take()[0].contains("\nhi\n"));
    assert_eq!(scene.mail.taken().len(), 1);
    assert!(file.exists() && !scene.mail.has_mail(LEAD));
    assert_eq!(notices.take(), [""; 0]);
    assert!(!file.exists());
}

#[test]
fn a_resumed_conversation_gets_the_mail_that_it_has_not_got() {
    let scene = Scene::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let run = runtime.unwrap();
    let (sessions, taken) = run.block_on(async {
        let ended = scene.another_session();
        let notices = Notices::default();
        ended.deliver_to(&notices, &scene.repl);
        ended.send(message("alice", LEAD, "kept")).unwrap();
        assert_eq!(notices.take().len(), 1);
        ended.send(message("alice", LEAD, "in the box")).unwrap();
        (ended.sessions().unwrap(), ended.taken())
    });
    scene.mail.resume(sessions, taken);
    let early = contents(&scene.mail, LEAD);
    assert_eq!(early, [""; 0], "that run goes on");
    drop(run);
    assert_eq!(contents(&scene.mail, LEAD), ["in the box"]);
    assert!(!scene.ws.state("mailboxes/lead.jsonl").exists());
}

#[tokio::test]
async fn a_mailbox_that_cannot_be_read_is_told_once() {
    let scene = Scene::new();
    fs::create_dir_all(scene.ws.state("mailboxes/lead.jsonl")).unwrap();
    scene.mail.deliver_to(&scene.notices, &scene.repl);
    let told = scene.notices.take().remove(0);
    let reading = "<mail-error>\nreading the mailbox of lead: ";
    assert!(told.starts_with(reading), "{told}");
    let again = scene.notices.take();
    assert_eq!(again, [""; 0], "it would wake the session for ever");
}

#[test]
fn half_a_line_of_a_killed_writer_harms_no_other() {
    let scene = Scene::new();
    scene.send("alice", LEAD, "before");
    let path = scene.ws.state("mailboxes/lead.jsonl");
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"id\":\"1\",\"from\":\"al").unwrap();
    scene.send("bob", LEAD, "after");
    assert_eq!(contents(&scene.mail, LEAD), ["before", "after"]);
    assert!(set_aside(&scene, LEAD).contains("\"al"));
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_waits_is_woken_by_mail_and_by_nothing_else() {
    let scene = Scene::new();
    scene.mail.join("alice").unwrap();
    let waits = tokio::time::timeout(Duration::from_secs(3_600), scene.mail.wait("alice"));
    assert!(waits.await.is_err(), "nobody has written");
    scene.send(LEAD, "alice", "hi");
    scene.mail.wait("alice").await;
    assert_eq!(contents(&scene.mail, "alice"), ["hi"]);
}
