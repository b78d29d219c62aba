//! Exercise 3 · unread (10 minutes).
//!
//! A teammate that works on a long command has not read what you wrote. Let `/team` show it: `alice  tester  working, 2
//! unread`, with the number of messages that wait for her. Who has read everything, or has gone, is shown as before.
//!
//! To look is not to read: nothing may be taken out of a mailbox for it. What counts is what she would get: not the mail
//! of another session that still runs in the folder, not that of one that has ended, no half line.
//!
//! Hint: `Mailboxes::has_mail` in src/mailboxes.rs asks nearly the same question.
//!
//! Hint: src/team.rs knows who is in the team and has the mailboxes at hand.

use std::fs::OpenOptions;
use std::future::pending;
use std::io::Write;

use anyhow::Result;
use s15_mailbox::{LEAD, Team, Teammate, TeammateContext};

use crate::scene::{Scene, contents, message, spawn};

/// A teammate that reads nothing and stays.
#[derive(Clone)]
struct Deaf;

impl Teammate for Deaf {
    async fn run(self, _: TeammateContext) -> Result<()> {
        pending().await
    }
}

/// A team of these, who read nothing.
async fn team(scene: &Scene, names: &[&str]) -> Team<Deaf> {
    let team = scene.team("http://127.0.0.1:9", &scene.hooks(), Deaf);
    for name in names {
        spawn(&team, name, "Look around.").await;
    }
    team
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn the_team_shows_what_nobody_has_read() {
    let scene = Scene::new();
    let team = team(&scene, &["alice", "bob"]).await;
    scene.send(LEAD, "alice", "one");
    scene.send(LEAD, "alice", "two");
    for _ in 0..2 {
        assert_eq!(
            team.shown(),
            "alice  backend developer  working, 2 unread\nbob    backend developer  working",
            "two messages wait for alice and none for bob; /team shows the left, and was to show the right"
        );
    }
    assert_eq!(contents(&scene.mail, "alice"), ["one", "two"], "to look is not to read");
    assert_eq!(
        team.shown(),
        "alice  backend developer  working\nbob    backend developer  working"
    );
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn what_is_not_for_her_is_not_counted() {
    let scene = Scene::new();
    let team = team(&scene, &["alice"]).await;
    // Another alice, in a session that runs in the same folder.
    let elsewhere = scene.another_session();
    elsewhere.join("alice").unwrap();
    let other = message(LEAD, "alice", "for the other one");
    elsewhere.send(other).unwrap();
    let ended = scene.another_session();
    ended.join("alice").unwrap();
    let past = message(LEAD, "alice", "from the past");
    ended.send(past).unwrap();
    drop(ended);
    scene.send(LEAD, "alice", "for her");
    let path = scene.ws.state("mailboxes/alice.jsonl");
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"{\"id\":\"1\",\"from\":\"le").unwrap();
    assert_eq!(
        team.shown(),
        "alice  backend developer  working, 1 unread",
        "one message is hers; the others are for another session, for none, and half a line"
    );
}
