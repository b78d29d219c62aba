//! Many processes on one mailbox. Each starts this test program again, with [`worker`] as its only test.

use std::collections::HashMap;
use std::process::{Child, Command, Stdio};

use s02_tools::Workspace;
use s12_tasks::Session;
use s15_mailbox::{LEAD, Mailboxes};

use crate::scene::{Scene, message};

const WRITER: &str = "MAIL_TEST_WRITER";
const SESSION: &str = "MAIL_TEST_SESSION";
const FOLDER: &str = "MAIL_TEST_FOLDER";
const WRITERS: usize = 8;
const EACH: usize = 1_250;

/// What another process does; nothing when the test program runs by itself.
#[test]
fn worker() {
    let [Ok(name), Ok(session), Ok(folder)] = [WRITER, SESSION, FOLDER].map(std::env::var) else {
        return;
    };
    let ws = Workspace::at(folder).unwrap();
    let mail = Mailboxes::open(&ws, &Session::new(&ws));
    for number in 0..EACH {
        let message = message(&name, LEAD, &format!("{number} {}", "x".repeat(100)));
        mail.send(message.with("session", session.as_str())).unwrap();
    }
}

/// The numbers that came from each writer, in order of arrival.
fn take(scene: &Scene, got: &mut HashMap<String, Vec<usize>>) {
    for mail in scene.mail.drain(LEAD).unwrap() {
        let number = mail.content.split(' ').next().unwrap().parse().unwrap();
        got.entry(mail.from).or_default().push(number);
    }
}

#[test]
fn what_eight_processes_write_arrives_once_and_in_order() {
    let scene = Scene::new();
    let start = |number: usize| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "mechanism::processes::worker"])
            .env(WRITER, format!("w{number}"))
            .env(SESSION, scene.board.session().id().unwrap())
            .env(FOLDER, scene.dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut writers: Vec<Child> = (0..WRITERS).map(start).collect();
    let mut got = HashMap::new();
    while !writers.is_empty() {
        take(&scene, &mut got);
        writers.retain_mut(|writer| writer.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    take(&scene, &mut got);
    assert!(!scene.ws.state("mailboxes/old").exists());
    assert_eq!(got.len(), WRITERS);
    for (name, numbers) in got {
        let count = numbers.len();
        assert!(numbers.into_iter().eq(0..EACH), "{name}: {count} arrived");
    }
}
