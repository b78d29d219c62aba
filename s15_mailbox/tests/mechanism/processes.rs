//! Many processes on one mailbox. Each starts this test program again, with [`worker`] as its only test.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use s02_tools::Workspace;
use s12_tasks::Session;
use s15_mailbox::{LEAD, Mailboxes};

use crate::scene::{Scene, message};

const WRITER: &str = "MAIL_TEST_WRITER";
const COUNT: &str = "MAIL_TEST_COUNT";
const FOLDER: &str = "MAIL_TEST_FOLDER";
const WRITERS: usize = 8;
const MESSAGES: usize = 10_000;

/// What another process does; nothing when the test program runs by itself.
#[test]
fn worker() {
    let [Ok(name), Ok(count), Ok(folder)] = [WRITER, COUNT, FOLDER].map(std::env::var) else {
        return;
    };
    let ws = Workspace::at(folder).unwrap();
    let mail = Mailboxes::open(&ws, &Session::new(&ws));
    let session = fs::read_to_string(ws.root().join("session")).unwrap();
    for number in 0..count.parse::<usize>().unwrap() {
        let message = message(&name, LEAD, &format!("{number} {}", "x".repeat(100)));
        mail.send_within(&session, message).unwrap();
        if number % 10 == 0 {
            println!("\nsent {number}");
        }
    }
}

fn start(name: &str, count: usize, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::worker", "--nocapture"])
        .env(WRITER, name)
        .env(COUNT, count.to_string())
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The numbers that came from each writer, in order of arrival.
fn take(scene: &Scene, got: &mut HashMap<String, Vec<usize>>) {
    for mail in scene.mail.drain(LEAD).unwrap() {
        let number = mail.content.split(' ').next().unwrap().parse().unwrap();
        got.entry(mail.from).or_default().push(number);
    }
}

/// How many lines were no message.
fn set_aside(scene: &Scene) -> usize {
    let old = fs::read_to_string(scene.ws.state("mailboxes/old/lead.jsonl"));
    old.map_or(0, |old| old.lines().count())
}

fn scene() -> Scene {
    let scene = Scene::new();
    fs::write(
        scene.dir.path().join("session"),
        scene.board.session().id().unwrap(),
    )
    .unwrap();
    scene
}

#[test]
fn what_eight_processes_write_arrives_once_and_in_order() {
    let scene = scene();
    let mut writers: Vec<Child> = (0..WRITERS)
        .map(|number| start(&format!("w{number}"), MESSAGES / WRITERS, scene.dir.path()))
        .collect();
    let mut got = HashMap::new();
    while !writers.is_empty() {
        take(&scene, &mut got);
        writers.retain_mut(|writer| {
            writer
                .try_wait()
                .unwrap()
                .is_none_or(|status| !status.success())
        });
        std::thread::yield_now();
    }
    take(&scene, &mut got);
    assert_eq!(set_aside(&scene), 0);
    assert_eq!(got.len(), WRITERS);
    for (name, numbers) in got {
        let expected: Vec<usize> = (0..MESSAGES / WRITERS).collect();
        assert!(
            numbers == expected,
            "{name} wrote {} but {} arrived",
            expected.len(),
            numbers.len()
        );
    }
}

#[test]
fn a_writer_killed_in_the_middle_loses_at_most_the_line_it_was_writing() {
    let scene = scene();
    let mut got: HashMap<String, Vec<usize>> = HashMap::new();
    for round in 0..20_usize {
        let name = format!("w{round}");
        let mut child = start(&name, usize::MAX, scene.dir.path());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let sent = lines
            .map(Result::unwrap)
            .filter(|line| line.starts_with("sent "))
            .nth(round * 3 % 7);
        child.kill().unwrap();
        child.wait().unwrap();
        let said: usize = sent.unwrap()["sent ".len()..].parse().unwrap();
        take(&scene, &mut got);
        assert!(set_aside(&scene) <= round + 1);
        let numbers = &got[&name];
        assert!(numbers.len() > said, "what was said to be sent has arrived");
        assert!(
            numbers.iter().copied().eq(0..numbers.len()),
            "none is missing, none came twice"
        );
    }
}
