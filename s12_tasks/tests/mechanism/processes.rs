//! Many processes on one board. Each starts this test program again, with [`worker`] as its only test.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use s02_tools::Workspace;
use s12_tasks::{Board, NewTask, Status};

use crate::desk::Desk;

const JOB: &str = "BOARD_TEST_JOB";
const FOLDER: &str = "BOARD_TEST_FOLDER";
const TASKS: usize = 400;
const CLAIMERS: usize = 8;
const CLAIMS: usize = 200;

/// What another process does; nothing when the test program runs by itself.
#[test]
fn worker() {
    let (Ok(job), Ok(folder)) = (std::env::var(JOB), std::env::var(FOLDER)) else {
        return;
    };
    let board = Board::open(&Workspace::at(folder).unwrap());
    match job.split_once(' ') {
        Some((_, name)) => claim(&board, name),
        None => create_and_claim_for_ever(&board),
    }
}

fn claim(board: &Board, name: &str) {
    let (listed, _) = board.list().unwrap();
    let ids: Vec<String> = listed.into_iter().map(|listed| listed.task.id).collect();
    // Each task is wanted by four of them.
    let start: usize = name.parse::<usize>().unwrap() * TASKS / CLAIMERS;
    let mut won = 0;
    for at in 0..CLAIMS {
        won += usize::from(board.claim(&ids[(start + at) % TASKS], name).is_ok());
    }
    println!("\nwon {won}");
    // Who ends is gone, and the others may take over; so all stay until the last is done.
    let _ = std::io::stdin().read(&mut [0]);
}

fn create_and_claim_for_ever(board: &Board) {
    loop {
        let new = NewTask {
            subject: "x".repeat(2_000),
            ..NewTask::default()
        };
        let task = board.create(new).unwrap();
        println!("\ncreated {}", task.id);
        board.claim(&task.id, "worker").unwrap();
        println!("\nclaimed {}", task.id);
    }
}

fn start(job: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "mechanism::processes::worker", "--nocapture"])
        .env(JOB, job)
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn eight_processes_claim_each_task_once() {
    let desk = Desk::new();
    for number in 0..TASKS {
        desk.task(&format!("task {number}"), &[]);
    }
    let mut claimers: Vec<Child> =
        (0..CLAIMERS).map(|number| start(&format!("claim {number}"), desk.dir.path())).collect();
    let mut won = HashMap::new();
    for (number, child) in claimers.iter_mut().enumerate() {
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let count =
            lines.find_map(|line| Some(line.unwrap().strip_prefix("won ")?.parse().unwrap()));
        won.insert(number.to_string(), count.expect("it says what it won"));
    }
    let (listed, damaged) = desk.board.list().unwrap();
    assert_eq!(damaged, [""; 0]);
    assert_eq!(listed.len(), TASKS, "none is lost");
    let mut owned = HashMap::new();
    for listed in &listed {
        assert_eq!(listed.task.status, Status::InProgress, "each is claimed");
        *owned.entry(listed.task.owner.clone().unwrap()).or_insert(0) += 1;
    }
    won.retain(|_, count: &mut usize| *count > 0);
    assert_eq!(owned, won, "who was told that a task is his owns it, and nobody else");
    assert!(owned.len() > 1, "only one process got anything: {owned:?}");
    for mut child in claimers {
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_process_killed_while_it_writes_leaves_every_file_whole_and_the_lock_free() {
    let desk = Desk::new();
    let mut claimed = Vec::new();
    for round in 0..25_usize {
        let mut child = start("create", desk.dir.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // How far it gets differs each time; where in the next operation the kill hits is chance.
        let mut steps = 1 + round * 7 % 11;
        while steps > 0 {
            let line = lines.next().unwrap().unwrap();
            steps -= usize::from(line.starts_with("created ") || line.starts_with("claimed "));
            claimed.extend(line.strip_prefix("claimed ").map(str::to_owned));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (listed, damaged) = desk.board.list().unwrap();
    assert_eq!(damaged, [""; 0]);
    let mut lengths = listed.iter().map(|listed| listed.task.subject.len());
    assert!(lengths.all(|length| length == 2_000));
    for id in &claimed {
        let listed = desk.board.get(id).unwrap();
        assert!(listed.is_orphan, "the owner of {id} was killed");
    }
    desk.board.claim(&claimed[0], "lead").unwrap();
    assert!(desk.task("after all that", &[]).id > claimed[0]);
}
