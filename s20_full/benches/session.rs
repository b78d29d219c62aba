//! What a session costs: the time to its first prompt, its memory when idle and after 200 turns, its tokens.
//!
//! `cargo bench -p s20_full`, and with `--profile dev` for what a class runs. The model scripts one read of a file of 2 kB a
//! turn; side calls learn nothing. Invariant: nothing here asserts; figures are for a reader.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use mock_servers::model::{Block, MockModel, Options, Reply, Request, calls, says};
use serde_json::json;
use testkit::Class;

const EXE: &str = env!("CARGO_BIN_EXE_s20_full");
const STARTS: usize = 21;
const TURNS: usize = 200;
/// What the session says last before its first prompt, and last in a turn.
const READY: &str = "/help lists the commands";
const ANSWERED: &str = "[cache: read";

fn main() {
    let model = MockModel::start(Options::default(), answer).expect("loopback has a free port");
    let class = Class::new(EXE).file("page.txt", "All work and no play. ".repeat(93)).model(&model);
    let mut times: Vec<f64> = (0..STARTS).map(|_| start(&class)).collect();
    times.sort_by(f64::total_cmp);
    println!("start to the first prompt, median of {STARTS}: {:.1} ms", times[STARTS / 2]);
    let mut session = Session::start(&class, &model);
    session.reads_until(READY);
    println!("memory, idle: {}", session.memory());
    for turn in 1..=TURNS {
        session.types("read the page");
        if [1, 10, 50, 100, TURNS].contains(&turn) {
            println!("memory after {turn} turns: {}", session.memory());
        }
    }
    session.types_command("/cost");
    session.end();
}

/// Reads once, then answers.
fn answer(request: &Request) -> Reply {
    if request.system.starts_with("You extract memories") {
        return says("[]");
    }
    let last = request.messages.last().and_then(|message| message.blocks.first());
    match last {
        Some(Block::ToolResult { .. }) => says("That was the page."),
        _ => calls("read_file", json!({"path": "page.txt"})),
    }
}

/// Milliseconds from the start of the program to its prompt on a terminal.
fn start(class: &Class) -> f64 {
    let began = Instant::now();
    let mut terminal = class.terminal(100, 30);
    terminal.wait_for("s20 >>");
    let taken = began.elapsed().as_secs_f64() * 1e3;
    terminal.type_line("exit").wait_exit();
    taken
}

/// A session on a pipe.
struct Session {
    child: Child,
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl Session {
    fn start(class: &Class, model: &MockModel) -> Self {
        let mut command = Command::new(EXE);
        command
            .current_dir(class.dir())
            .env("HOME", class.dir())
            .env("ANTHROPIC_BASE_URL", model.url())
            .env("ANTHROPIC_API_KEY", "test-key")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        Self {
            child,
            stdin,
            stdout,
        }
    }

    fn reads_until(&mut self, text: &str) -> String {
        let mut lines = self.stdout.by_ref().map_while(Result::ok);
        lines.find(|line| line.contains(text)).expect("the session says so")
    }

    fn types(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").expect("the session reads");
        self.reads_until(ANSWERED);
    }

    /// Prints the answer of the harness, which ends with the size of the conversation.
    fn types_command(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").expect("the session reads");
        for what in ["this session", "conversation"] {
            println!("{}", self.reads_until(what));
        }
    }

    /// What of it is in memory now, and at most so far.
    fn memory(&self) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kb = line.and_then(|line| line.trim_end_matches("kB").trim().parse::<f64>().ok());
            kb.map_or("unknown".to_owned(), |kb| format!("{:.1} MB", kb / 1024.0))
        };
        format!("{} (peak {})", field("VmRSS:"), field("VmHWM:"))
    }

    fn end(mut self) {
        drop(self.stdin);
        let _ = self.child.wait();
    }
}
