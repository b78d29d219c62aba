//! kill -9, again and again: what a session has kept and what lies in its mailbox are all there is, and all there has to be.
//!
//! A teammate writes numbered mail while its program is killed wherever it is; the next program goes on with the session.
//! `KILLS=150 cargo test -p s20_full kills` does it longer. Invariants: the saved
//! session can always be read; each message is in it once at the end.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use mock_servers::model::{MockModel, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::Class;

use super::{class, model, saved, teammate};

/// So many messages a teammate sends at a time.
const AT_A_TIME: usize = 4;
/// A program is killed behind one of its first requests. A teammate alone makes more of them in a phase of its work.
const REQUESTS: u64 = 12;
/// So large that writing the session takes a while.
const REQUEST_CHARS: usize = 100_000;

/// What lead and teammate have come to.
#[derive(Default)]
struct Office {
    begun: usize,
    sent: BTreeSet<usize>,
    /// Nobody is killed any more.
    is_over: bool,
    requests: usize,
}

impl Office {
    fn answer(&mut self, request: &Request) -> Reply {
        self.requests += 1;
        if teammate(request).is_some() {
            return self.teammate(request);
        }
        self.lead(request)
    }

    /// Hires, then looks around and rests by turns: mail reaches a running turn, and wakes it.
    fn lead(&self, request: &Request) -> Reply {
        let said = request.json()["messages"].to_string();
        // Not by a count of requests: one of the killed program may still be on its way.
        let in_this_run = said.rsplit("<resumed-session>").next();
        if !in_this_run.is_some_and(|said| said.contains("spawn_teammate")) {
            let alice = json!({"name": "alice", "role": "writer", "prompt": "Write."});
            return calls("spawn_teammate", alice);
        }
        match self.requests % 2 {
            0 => calls("check_inbox", json!({})),
            _ => says("I see."),
        }
    }

    fn teammate(&mut self, request: &Request) -> Reply {
        // All calls in a request have their results.
        self.sent.extend(numbers(&request.json().to_string(), "mail "));
        if self.is_over {
            return says("That was all.");
        }
        let mut reply = says("");
        for _ in 0..AT_A_TIME {
            let mail = json!({"to": "lead", "content": format!("mail {}.", self.begun)});
            reply = reply.and_calls("send_message", mail);
            self.begun += 1;
        }
        reply
    }
}

/// The numbers behind this word that end in a full stop, in order.
fn numbers(text: &str, word: &str) -> Vec<usize> {
    let behind = text.split(word).skip(1);
    behind.filter_map(|rest| rest.split_once('.')?.0.parse().ok()).collect()
}

fn start(class: &Class, model: &MockModel, args: &[&str]) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_s20_full"))
        .args(args)
        .current_dir(class.dir())
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "test-key")
        .env("MODEL_CONTEXT_TOKENS", "1000000")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let request = "x".repeat(if args.is_empty() { REQUEST_CHARS } else { 2 });
    let typed = format!("{request}\n");
    let stdin = child.stdin.as_mut().expect("it is piped");
    stdin.write_all(typed.as_bytes()).expect("it reads");
    child
}

/// The mail in the only saved session, each message once.
#[track_caller]
fn mail_in_session(class: &Class) -> BTreeSet<usize> {
    assert!(!class.dir().join(".harness/sessions/damaged").exists());
    let sessions = saved(class);
    assert_eq!(sessions.len(), 1, "one session goes on and on");
    let messages: &Value = &sessions[0]["messages"];
    let all = numbers(&messages.to_string(), "\\\">\\nmail ");
    let kept: BTreeSet<usize> = all.iter().copied().collect();
    assert_eq!(kept.len(), all.len(), "one came twice: {all:?}");
    kept
}

#[test]
fn a_killed_program_has_kept_its_session_and_all_mail_once() {
    let kills = std::env::var("KILLS").map_or(8, |kills| kills.parse().expect("a number"));
    let office = Arc::new(Mutex::new(Office::default()));
    let (asks, asked): (Sender<()>, Receiver<()>) = channel();
    let played = office.clone();
    let model = model(move |request: &Request| {
        let reply = played.lock().unwrap().answer(request);
        let _ = asks.send(());
        reply
    });
    let class = class(&[]);
    let chance = RandomState::new();
    let mut kept = BTreeSet::new();
    for kill in 0..kills {
        let args: &[&str] = if kill == 0 { &[] } else { &["--resume"] };
        let mut child = start(&class, &model, args);
        let chance = chance.hash_one(kill);
        for _ in 0..=chance % REQUESTS {
            asked.recv().expect("the model is asked");
        }
        // Some way into what it does with the reply.
        (0..(chance >> 8) % 400_000).for_each(|_| std::hint::spin_loop());
        child.kill().expect("it runs");
        child.wait().expect("it is ours");
        while asked.try_recv().is_ok() {}
        kept.extend(mail_in_session(&class));
    }
    office.lock().unwrap().is_over = true;
    let mut child = start(&class, &model, &["--resume"]);
    drop(child.stdin.take());
    assert!(child.wait().expect("it is ours").success());
    kept.extend(mail_in_session(&class));
    let sent = &office.lock().unwrap().sent;
    let lost: Vec<&usize> = sent.difference(&kept).collect();
    assert!(lost.is_empty(), "{} of {} lost: {lost:?}", lost.len(), sent.len());
    assert!(!class.dir().join(".harness/mailboxes/lead.jsonl").exists());
    assert!(!class.dir().join(".harness/mailboxes/old").exists());
    println!("{kills} kills, {} messages", kept.len());
}
