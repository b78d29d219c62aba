//! A run of the binary from start to end, over pipes.
//!
//! A test that hangs tells nothing, so a run has a limit, and every failed assertion shows all that was said.
//! Invariant: the child and its group are gone when `run` returns.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::kill_group;

/// What a run said, and how it ended.
#[derive(Debug)]
pub struct Ran {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
}

/// Generous: a loaded machine must not fail a test.
const LIMIT: Duration = Duration::from_secs(60);
/// How long after the end of the child its output may stay open.
const AFTER_EXIT: Duration = Duration::from_secs(2);

impl Ran {
    /// Asserts that it ended with exit code 0.
    #[track_caller]
    pub fn succeeds(&self) -> &Self {
        assert_eq!(self.code, Some(0), "exit code\n{}", self.transcript());
        self
    }

    /// Asserts that it ended with this exit code.
    #[track_caller]
    pub fn fails_with(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "exit code\n{}", self.transcript());
        self
    }

    /// Asserts that its standard output has this text.
    #[track_caller]
    pub fn shows(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text), "stdout lacks {text:?}\n{}", self.transcript());
        self
    }

    /// Asserts that neither output has this text.
    #[track_caller]
    pub fn never_shows(&self, text: &str) -> &Self {
        let shown = self.stdout.contains(text) || self.stderr.contains(text);
        assert!(!shown, "{text:?} is shown\n{}", self.transcript());
        self
    }

    /// Asserts that its standard error has this text.
    #[track_caller]
    pub fn complains(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "stderr lacks {text:?}\n{}", self.transcript());
        self
    }

    /// All it said.
    pub fn transcript(&self) -> String {
        let Self {
            stdout,
            stderr,
            code,
        } = self;
        format!("--- stdout\n{stdout}\n--- stderr\n{stderr}\n--- exit code {code:?}")
    }
}

/// What a thread has to report.
enum News {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Closed,
    Exited(ExitStatus),
}

/// Runs a command with this standard input.
#[track_caller]
pub fn run(mut command: Command, stdin: String) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let leader = child.id();
    let news = watch(&mut child, stdin);
    thread::spawn({
        let exited = news.0;
        move || exited.send(News::Exited(child.wait().expect("the child is ours to wait for")))
    });
    let (ran, late) = listen(&news.1);
    kill_group(leader);
    if let Some(late) = late {
        panic!("{late}: {command:?}\n{}", ran.transcript());
    }
    ran
}

/// Starts the threads that write its input and read its outputs.
fn watch(child: &mut Child, stdin: String) -> (Sender<News>, Receiver<News>) {
    let (sender, receiver) = channel();
    let mut input = child.stdin.take().expect("stdin is piped");
    // A child that ends early closes its input; that is for the assertions to judge.
    thread::spawn(move || input.write_all(stdin.as_bytes()));
    let stdout = child.stdout.take().expect("stdout is piped");
    let stderr = child.stderr.take().expect("stderr is piped");
    forward(stdout, sender.clone(), News::Stdout);
    forward(stderr, sender.clone(), News::Stderr);
    (sender, receiver)
}

fn forward(mut from: impl Read + Send + 'static, to: Sender<News>, news: fn(Vec<u8>) -> News) {
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if to.send(news(buffer[..length].to_vec())).is_err() {
                return;
            }
        }
        let _ = to.send(News::Closed);
    });
}

/// Collects the news until the child has ended and its outputs are closed, or time is up.
fn listen(news: &Receiver<News>) -> (Ran, Option<&'static str>) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut exited = None;
    let mut open = 2;
    let mut end = Instant::now() + LIMIT;
    let mut late = None;
    while open > 0 || exited.is_none() {
        match news.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(News::Stdout(bytes)) => stdout.extend(bytes),
            Ok(News::Stderr(bytes)) => stderr.extend(bytes),
            Ok(News::Closed) => open -= 1,
            Ok(News::Exited(status)) => {
                exited = Some(status);
                end = Instant::now() + AFTER_EXIT;
            }
            Err(_) if exited.is_some() => {
                late = Some("ended, but a process it left behind holds its output open");
                break;
            }
            Err(_) => {
                late = Some("did not end within a minute");
                break;
            }
        }
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let code = exited.and_then(|status| status.code());
    (
        Ran {
            stdout: text(stdout),
            stderr: text(stderr),
            code,
        },
        late,
    )
}
