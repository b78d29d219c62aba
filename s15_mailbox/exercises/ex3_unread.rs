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
use mock_servers::model::MockModel;
use s12_tasks::Session;
use s15_mailbox::{LEAD, Mail, Mailboxes, Teammate, TeammateContext};

use crate::{Crew, contents};

/// A teammate that reads nothing and stays.
#[derive(Clone)]
struct Deaf;

impl Teammate for Deaf {
    async fn run(self, _: TeammateContext) -> Result<()> {
        pending().await
    }
}

fn to_alice(content: &str) -> Mail {
    Mail::new(LEAD, "alice", "message", content)
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn the_team_shows_what_nobody_has_read() {
    let crew = Crew::new(&MockModel::scripted([]), Deaf);
    crew.spawn("alice").await;
    crew.spawn("bob").await;
    crew.mail.send(to_alice("one")).unwrap();
    crew.mail.send(to_alice("two")).unwrap();
    for _ in 0..2 {
        assert_eq!(
            crew.team.shown(),
            "alice  tester  working, 2 unread\nbob    tester  working",
            "two messages wait for alice and none for bob; /team shows the left, and was to show the right"
        );
    }
    assert_eq!(
        contents(&crew.mail, "alice"),
        ["one", "two"],
        "to look is not to read"
    );
    assert_eq!(
        crew.team.shown(),
        "alice  tester  working\nbob    tester  working"
    );
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn what_is_not_for_her_is_not_counted() {
    let crew = Crew::new(&MockModel::scripted([]), Deaf);
    crew.spawn("alice").await;
    // Another alice, in a session that runs in the same folder.
    let elsewhere = Mailboxes::open(&crew.ws, &Session::new(&crew.ws));
    elsewhere.join("alice").unwrap();
    elsewhere.send(to_alice("for the other one")).unwrap();
    let ended = Mailboxes::open(&crew.ws, &Session::new(&crew.ws));
    ended.join("alice").unwrap();
    ended.send(to_alice("from the past")).unwrap();
    drop(ended);
    crew.mail.send(to_alice("for her")).unwrap();
    let path = crew.ws.state("mailboxes/alice.jsonl");
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"{\"id\":\"1\",\"from\":\"le").unwrap();
    assert_eq!(
        crew.team.shown(),
        "alice  tester  working, 1 unread",
        "one message is hers; the others are for another session, for none, and half a line"
    );
}
