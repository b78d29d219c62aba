//! How fast tasks are claimed: 1, 4 and 8 processes on one board, 200 claims each.
//!
//! Every claim takes the folder's lock, reads the task, and writes it beside and into place, so the processes wait for
//! each other; the figures say for how long. Each process claims tasks of its own, and every claim succeeds.
//! Invariant: nothing here asserts a time; figures are for a reader.
//!
//! `cargo bench -p s12_tasks`, and `cargo bench -p s12_tasks --profile dev` for what a class runs.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use s02_tools::Workspace;
use s12_tasks::{Board, NewTask};

const CLAIMS: usize = 200;
const WORKER: &str = "--claims-from";

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, flag, first, folder] = &args[..]
        && flag == WORKER
    {
        return work(Path::new(folder), first.parse().expect("a number"));
    }
    println!("{CLAIMS} claims a process");
    println!("| processes | claims/s | median, ms | p99, ms | slowest, ms |");
    println!("|--:|--:|--:|--:|--:|");
    for processes in [1, 4, 8] {
        measure(processes);
    }
}

/// One process: claims its tasks when it is told to go, then says how long each took.
fn work(folder: &Path, first: usize) {
    let board = Board::open(&Workspace::at(folder).expect("the folder exists"));
    let ids = ids(&board);
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
    let mut took = Vec::new();
    for id in &ids[first..first + CLAIMS] {
        let start = Instant::now();
        board.claim(id, "bench").expect("nobody else wants it");
        took.push(start.elapsed());
    }
    took.iter().for_each(|took| println!("{}", took.as_nanos()));
}

fn measure(processes: usize) {
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
    let mut workers: Vec<Child> = (0..processes)
        .map(|number| start(directory.path(), number * CLAIMS))
        .collect();
    let mut outputs: Vec<_> = workers
        .iter_mut()
        .map(|worker| BufReader::new(worker.stdout.take().expect("piped")).lines())
        .collect();
    for output in &mut outputs {
        output.next();
    }
    let began = Instant::now();
    for worker in &mut workers {
        let _ = worker.stdin.take().expect("piped").write_all(b"!");
    }
    let mut took: Vec<Duration> = outputs
        .iter_mut()
        .flatten()
        .map(|line| Duration::from_nanos(line.expect("a line").parse().expect("a number")))
        .collect();
    let all = began.elapsed();
    for mut worker in workers {
        worker.wait().expect("it ends");
    }
    took.sort();
    let ms = |share: f64| took[(took.len() as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "| {processes} | {:.0} | {:.3} | {:.3} | {:.3} |",
        took.len() as f64 / all.as_secs_f64(),
        ms(0.5),
        ms(0.99),
        took[took.len() - 1].as_secs_f64() * 1e3
    );
}

fn start(folder: &Path, first: usize) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args([WORKER, &first.to_string()])
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts again")
}

fn ids(board: &Board) -> Vec<String> {
    let (listed, _) = board.list().expect("the board can be read");
    listed.into_iter().map(|listed| listed.task.id).collect()
}
