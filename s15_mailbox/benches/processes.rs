//! What processes cost each other that share a folder: 1, 4 and 8 of them, each at the same work.
//!
//! Claims: each claims 200 tasks of its own on one board. Mail: each writes 1,000 messages into one mailbox, which this
//! process empties all the time. Every one of these takes the folder's lock, so the processes wait for each other; the
//! figures say for how long. Invariant: nothing here asserts a time; figures are for a reader.
//!
//! `cargo bench -p s15_mailbox`, and `cargo bench -p s15_mailbox --profile dev` for what a class runs.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use s02_tools::Workspace;
use s12_tasks::{Board, NewTask, Session};
use s15_mailbox::{LEAD, Mail, Mailboxes};

const CLAIMS: usize = 200;
const MESSAGES: usize = 1_000;
const CONTENT: usize = 200;
/// When a message was sent, in its metadata.
const AT: &str = "at";

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match &args[..] {
        [_, flag, folder, first] if flag == "--claim" => return claim(folder, first),
        [_, flag, folder, session] if flag == "--write" => return write(folder, session),
        _ => {}
    }
    println!("| {CLAIMS} claims a process | claims/s | claiming: median, p99, ms |");
    println!("|--:|--:|--:|");
    [1, 4, 8].into_iter().for_each(claims);
    println!(
        "\n| {MESSAGES} messages a process | messages/s | sending: median, p99, ms | until read: median, p99, ms |"
    );
    println!("|--:|--:|--:|--:|");
    [1, 4, 8].into_iter().for_each(mail);
}

/// In another process: does this so often when it is told to go, then says how long each took.
fn work(times: usize, mut step: impl FnMut(usize)) {
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
    let took = (0..times).map(|number| {
        let start = Instant::now();
        step(number);
        start.elapsed()
    });
    let took: Vec<Duration> = took.collect();
    took.iter().for_each(|took| println!("{}", took.as_nanos()));
}

fn claim(folder: &str, first: &str) {
    let board = Board::open(&Workspace::at(folder).expect("the folder exists"));
    let (listed, _) = board.list().expect("the board can be read");
    let first: usize = first.parse().expect("a number");
    work(CLAIMS, |number| {
        let id = &listed[first + number].task.id;
        board.claim(id, "bench").expect("nobody else wants it");
    });
}

fn write(folder: &str, session: &str) {
    let ws = Workspace::at(folder).expect("the folder exists");
    let mail = Mailboxes::open(&ws, &Session::new(&ws));
    work(MESSAGES, |_| {
        let message = Mail::new("writer", LEAD, "message", "x".repeat(CONTENT));
        let message = message.with("session", session).with(AT, now());
        mail.send(message).expect("it is written");
    });
}

fn claims(processes: usize) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let board = Board::open(&Workspace::at(directory.path()).expect("it exists"));
    for number in 0..processes * CLAIMS {
        let subject = format!("task {number}");
        let new = NewTask {
            subject,
            ..NewTask::default()
        };
        board.create(new).expect("a task");
    }
    let first = |number: usize| (number * CLAIMS).to_string();
    let start = |number| start("--claim", directory.path(), &first(number));
    let (mut took, all) = together(processes, start, || {});
    let rate = took.len() as f64 / all.as_secs_f64();
    println!("| {processes} | {rate:.0} | {} |", middle_and_end(&mut took));
}

fn mail(processes: usize) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ws = Workspace::at(directory.path()).expect("it exists");
    let session = Session::new(&ws);
    let mail = Mailboxes::open(&ws, &session);
    let id = session.id().expect("it can be written");
    let start = |_| start("--write", directory.path(), &id);
    let mut read = Vec::new();
    let (mut sent, all) = together(processes, start, || {
        while read.len() < processes * MESSAGES {
            let drained = mail.drain(LEAD).expect("it can be read");
            let now = now();
            read.extend(drained.iter().map(|mail| {
                let at = mail.metadata[AT].as_u64().expect("a number");
                Duration::from_nanos(now.saturating_sub(at))
            }));
            std::thread::yield_now();
        }
    });
    let rate = read.len() as f64 / all.as_secs_f64();
    let (sent, read) = (middle_and_end(&mut sent), middle_and_end(&mut read));
    println!("| {processes} | {rate:.0} | {sent} | {read} |");
}

/// Lets so many processes begin at the same moment: how long each of their steps took, and all of it.
fn together(
    processes: usize,
    start: impl Fn(usize) -> Child,
    meanwhile: impl FnOnce(),
) -> (Vec<Duration>, Duration) {
    let mut workers: Vec<Child> = (0..processes).map(start).collect();
    let output = |worker: &mut Child| BufReader::new(worker.stdout.take().expect("piped")).lines();
    let mut outputs: Vec<_> = workers.iter_mut().map(output).collect();
    for output in &mut outputs {
        output.next();
    }
    let began = Instant::now();
    for worker in &mut workers {
        let _ = worker.stdin.take().expect("piped").write_all(b"!");
    }
    meanwhile();
    let lines = outputs.iter_mut().flatten();
    let took = lines.map(|line| line.expect("a line").parse().expect("a number"));
    let took = took.map(Duration::from_nanos).collect();
    let all = began.elapsed();
    for mut worker in workers {
        worker.wait().expect("it ends");
    }
    (took, all)
}

fn start(flag: &str, folder: &Path, argument: &str) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .arg(flag)
        .arg(folder)
        .arg(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts again")
}

fn middle_and_end(took: &mut [Duration]) -> String {
    took.sort();
    let ms = |share: f64| took[(took.len() as f64 * share) as usize].as_secs_f64() * 1e3;
    format!("{:.3}, {:.3}", ms(0.5), ms(0.99))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_nanos() as u64
}
