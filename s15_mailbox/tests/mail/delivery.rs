//! Delivery: once, in order, to the right agent of the right session.

use std::fs;
use std::io::Write;
use std::time::Duration;

use s01_loop::Repl;
use s01_loop::ToolCall;
use s13_background::Notices;
use s15_mailbox::{LEAD, check_inbox};
use serde_json::{Value, json};

use crate::{Office, contents, message};

#[test]
fn mail_is_delivered_once_and_in_order() {
    let office = Office::new();
    office.mail.join("alice").unwrap();
    for content in ["one", "two", "three"] {
        office.mail.send(message(LEAD, "alice", content)).unwrap();
    }
    assert_eq!(office.contents("alice"), ["one", "two", "three"]);
    assert_eq!(office.contents("alice"), [""; 0]);
}

#[test]
fn a_message_on_disk_says_all_there_is_to_know() {
    let office = Office::new();
    office.mail.join("alice").unwrap();
    office
        .mail
        .send(message("alice", LEAD, "done").with("task", 3))
        .unwrap();
    let line = fs::read_to_string(office.ws.state("mailboxes/lead.jsonl")).unwrap();
    let mail: Value = serde_json::from_str(&line).unwrap();
    for field in ["id", "from", "to", "type", "content", "ts", "metadata"] {
        assert!(mail.get(field).is_some(), "{field} is missing in {line}");
    }
    assert_eq!(mail["metadata"]["task"], 3);
}

#[test]
fn a_name_that_is_none_or_taken_or_leads_elsewhere_is_refused() {
    let office = Office::new();
    office.mail.join("alice").unwrap();
    for name in ["", "../x", "Alice", "a b", "a/b", "a\n", &"a".repeat(33)] {
        let refused = office.mail.join(name).unwrap_err().to_string();
        assert!(refused.contains("is no name"), "{name:?}: {refused}");
    }
    for name in ["lead", "alice"] {
        let refused = office.mail.join(name).unwrap_err().to_string();
        assert!(refused.contains("is taken"), "{name}: {refused}");
    }
    let nobody = office
        .mail
        .send(message(LEAD, "../x", "hi"))
        .unwrap_err()
        .to_string();
    assert!(
        nobody.contains("there is no agent") && nobody.contains("alice, lead"),
        "{nobody}"
    );
    assert!(!office.dir.path().join(".harness/x.jsonl").exists());
}

#[test]
fn nobody_writes_to_an_agent_that_has_left() {
    let office = Office::new();
    office.mail.join("alice").unwrap();
    office.mail.leave("alice");
    assert!(office.mail.send(message(LEAD, "alice", "hi")).is_err());
    office.mail.join("alice").unwrap();
    office.mail.send(message(LEAD, "alice", "hi")).unwrap();
    assert_eq!(office.contents("alice"), ["hi"]);
}

#[test]
fn what_an_agent_has_not_read_when_it_leaves_goes_back_to_its_sender() {
    let office = Office::new();
    for name in ["alice", "bob", "carol"] {
        office.mail.join(name).unwrap();
    }
    office.mail.send(message("bob", "alice", "one")).unwrap();
    office.mail.send(message("carol", "alice", "two")).unwrap();
    office.mail.leave("carol");
    office.mail.leave("alice");
    let back = |content| format!("alice has left and had not read this:\n{content}");
    assert_eq!(office.contents("bob"), [back("one")]);
    let lead = office.mail.drain(LEAD).unwrap().mail;
    let lead: Vec<_> = lead
        .iter()
        .map(|mail| (&*mail.kind, &*mail.content))
        .collect();
    assert_eq!(
        lead,
        [("returned", &*back("two"))],
        "its sender has gone, too"
    );
    office.mail.join("alice").unwrap();
    assert_eq!(office.contents("alice"), [""; 0], "a new agent of the name");
}

#[test]
fn a_new_agent_does_not_read_what_an_ended_session_left_for_its_name() {
    let office = Office::new();
    let ended = office.another_session();
    ended.join("alice").unwrap();
    ended.send(message(LEAD, "alice", "secret")).unwrap();
    drop(ended);
    office.mail.join("alice").unwrap();
    assert_eq!(office.contents("alice"), [""; 0]);
    let old = fs::read_to_string(office.ws.state("mailboxes/old/alice.jsonl")).unwrap();
    assert!(old.contains("secret"));
}

#[tokio::test]
async fn old_mail_wakes_nobody_and_is_mentioned_beside_the_next_message() {
    let office = Office::new();
    let ended = office.another_session();
    ended.send(message("alice", LEAD, "from the past")).unwrap();
    drop(ended);
    let notices = Notices::default();
    office
        .mail
        .deliver_to(&notices, &Repl::typed("s15_mailbox").quiet());
    assert_eq!(notices.take(), [""; 0]);
    office.mail.send(message("bob", LEAD, "hi")).unwrap();
    let [mail, old] = &notices.take()[..] else {
        panic!("a message and a word on the old one");
    };
    assert!(
        mail.contains("\nhi\n") && old.starts_with("<mail-set-aside>"),
        "{mail} {old}"
    );
    assert_eq!(notices.take(), [""; 0]);
}

/// Between the two looks the conversation is kept, where somebody keeps it.
#[tokio::test]
async fn the_mailbox_of_the_lead_forgets_a_message_at_the_look_after_the_conversation_has_it() {
    let office = Office::new();
    let (notices, repl) = (Notices::default(), Repl::once("s15_mailbox", "go").quiet());
    office.mail.deliver_to(&notices, &repl);
    office.mail.send(message("alice", LEAD, "hi")).unwrap();
    let call = ToolCall {
        id: "toolu_1".into(),
        name: "check_inbox".into(),
        input: json!({}),
        extra: Default::default(),
    };
    let told = check_inbox(&office.mail).call(call).await;
    assert_eq!(told.text, "you have mail; it follows these results");
    let file = office.ws.state("mailboxes/lead.jsonl");
    // It wakes the session, and the turn comes to nothing: a hook refuses it, or Ctrl-C.
    assert!(notices.next_input(&repl).await.unwrap().contains("\nhi\n"));
    assert_eq!(office.mail.taken(), [""; 0]);
    assert_eq!(notices.next_input(&repl).await.as_deref(), Some("go"));
    assert!(notices.take()[0].contains("\nhi\n"));
    assert_eq!(office.mail.taken().len(), 1);
    assert!(file.exists() && !office.mail.has_mail(LEAD));
    assert_eq!(notices.take(), [""; 0]);
    assert!(!file.exists());
}

#[test]
fn a_resumed_conversation_gets_the_mail_that_it_has_not_got() {
    let office = Office::new();
    let run = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let (sessions, taken) = run.block_on(async {
        let ended = office.another_session();
        let (notices, repl) = (Notices::default(), Repl::typed("s15_mailbox").quiet());
        ended.deliver_to(&notices, &repl);
        ended.send(message("alice", LEAD, "kept")).unwrap();
        assert_eq!(notices.take().len(), 1);
        ended.send(message("alice", LEAD, "in the box")).unwrap();
        (ended.sessions().unwrap(), ended.taken())
    });
    office.mail.resume(sessions, taken);
    assert_eq!(office.contents(LEAD), [""; 0], "that run goes on");
    drop(run);
    assert_eq!(office.contents(LEAD), ["in the box"]);
    assert!(!office.ws.state("mailboxes/lead.jsonl").exists());
}

#[tokio::test]
async fn a_mailbox_that_cannot_be_read_is_told_once() {
    let office = Office::new();
    fs::create_dir_all(office.ws.state("mailboxes/lead.jsonl")).unwrap();
    let notices = Notices::default();
    office
        .mail
        .deliver_to(&notices, &Repl::typed("s15_mailbox").quiet());
    let told = notices.take();
    assert!(
        told[0].starts_with("<mail-error>\nreading the mailbox of lead: "),
        "{told:?}"
    );
    assert_eq!(
        notices.take(),
        [""; 0],
        "it would wake the session for ever"
    );
}

#[test]
fn mail_of_an_ended_session_is_set_aside_and_that_of_a_running_one_left_alone() {
    let office = Office::new();
    let (ended, running) = (office.another_session(), office.another_session());
    ended.send(message("alice", LEAD, "from the past")).unwrap();
    running
        .send(message("bob", LEAD, "for another lead"))
        .unwrap();
    office.mail.send(message("carol", LEAD, "for me")).unwrap();
    drop(ended);
    let drained = office.mail.drain(LEAD).unwrap();
    assert_eq!(drained.mail.len(), 1);
    assert_eq!(drained.mail[0].content, "for me");
    assert_eq!(drained.set_aside, 1);
    assert_eq!(contents(&running, LEAD), ["for another lead"]);
    let old = fs::read_to_string(office.ws.state("mailboxes/old/lead.jsonl")).unwrap();
    assert!(old.contains("from the past"));
}

#[test]
fn unread_mail_of_another_sessions_alice_is_no_mail_of_ours() {
    let office = Office::new();
    let elsewhere = office.another_session();
    elsewhere.join("alice").unwrap();
    elsewhere.send(message(LEAD, "alice", "for her")).unwrap();
    office.mail.join("alice").unwrap();
    assert!(elsewhere.has_mail("alice"));
    assert!(
        !office.mail.has_mail("alice"),
        "ours would wait for it for ever"
    );
    office
        .mail
        .send(message(LEAD, "alice", "for ours"))
        .unwrap();
    assert!(office.mail.has_mail("alice"));
    assert_eq!(office.contents("alice"), ["for ours"]);
    assert_eq!(contents(&elsewhere, "alice"), ["for her"]);
}

#[test]
fn half_a_line_of_a_killed_writer_harms_no_other() {
    let office = Office::new();
    office.mail.send(message("alice", LEAD, "before")).unwrap();
    let path = office.ws.state("mailboxes/lead.jsonl");
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"id\":\"1\",\"from\":\"al").unwrap();
    office.mail.send(message("bob", LEAD, "after")).unwrap();
    let drained = office.mail.drain(LEAD).unwrap();
    assert_eq!(drained.set_aside, 1);
    let read: Vec<String> = drained.mail.into_iter().map(|mail| mail.content).collect();
    assert_eq!(read, ["before", "after"]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_waits_is_woken_by_mail_and_by_nothing_else() {
    let office = Office::new();
    office.mail.join("alice").unwrap();
    let waits = tokio::time::timeout(Duration::from_secs(3_600), office.mail.wait("alice"));
    assert!(waits.await.is_err(), "nobody has written");
    office.mail.send(message(LEAD, "alice", "hi")).unwrap();
    office.mail.wait("alice").await;
    assert_eq!(office.contents("alice"), ["hi"]);
    assert_eq!(office.session.id().unwrap(), office.session.id().unwrap());
}
