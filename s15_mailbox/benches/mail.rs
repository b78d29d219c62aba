//! How fast mail goes, and what teammates cost that have nothing to do.
//!
//! Mail: 1, 4 and 8 processes write 1,000 messages each into one mailbox, which this process empties all the time. Idle
//! teammates: processes with none, 8 and 64 of them; their memory, and their time on a processor during five seconds.
//! Invariant: nothing here asserts a figure; figures are for a reader.
//!
//! `cargo bench -p s15_mailbox`, and `cargo bench -p s15_mailbox --profile dev` for what a class runs.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use s01_loop::{Client, Credentials, History, Message, Repl, Settings, ToolCall, Unobserved};
use s02_tools::{Toolbox, Workspace, bash, read_file, write_file};
use s03_permission::Policy;
use s04_hooks::{Hooks, permission};
use s12_tasks::Session;
use s13_background::Notices;
use s15_mailbox::{
    AgentState, LEAD, Mail, Mailboxes, Team, Teammate, TeammateContext, send_message,
};
use serde_json::json;

const MESSAGES: usize = 1_000;
const CONTENT: usize = 200;
const WRITER: &str = "--write-to";
const IDLER: &str = "--idle";
const AT: &str = "at";
const IDLE: Duration = Duration::from_secs(5);
/// The most teammates of one team.
const TEAM: usize = 16;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match &args[..] {
        [_, flag, folder, session] if flag == WRITER => return write(Path::new(folder), session),
        [_, flag, count] if flag == IDLER => return idle(count.parse().expect("a number")),
        _ => {}
    }
    println!("{MESSAGES} messages of {CONTENT} bytes a process");
    println!("| processes | messages/s | sending: median, p99, ms | until read: median, p99, ms |");
    println!("|--:|--:|--:|--:|");
    for processes in [1, 4, 8] {
        mail(processes);
    }
    println!("\n| idle teammates | memory, MB | on a processor in 5 s, ms |");
    println!("|--:|--:|--:|");
    for count in [0, 8, 64] {
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args([IDLER, &count.to_string()])
            .output()
            .expect("it starts again");
        print!("{}", String::from_utf8_lossy(&output.stdout));
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_nanos() as u64
}

/// One process: writes when it is told to go, then says how long each message took to send.
fn write(folder: &Path, session: &str) {
    let ws = Workspace::at(folder).expect("the folder exists");
    let mail = Mailboxes::open(&ws, &Session::new(&ws));
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
    let mut took = Vec::new();
    for _ in 0..MESSAGES {
        let start = Instant::now();
        let message = Mail::new("writer", LEAD, "message", "x".repeat(CONTENT)).with(AT, now());
        mail.send_within(session, message).expect("it is written");
        took.push(start.elapsed());
    }
    took.iter().for_each(|took| println!("{}", took.as_nanos()));
}

fn mail(processes: usize) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ws = Workspace::at(directory.path()).expect("it exists");
    let session = Session::new(&ws);
    let mail = Mailboxes::open(&ws, &session);
    let id = session.id().expect("it can be written");
    let mut writers: Vec<Child> = (0..processes)
        .map(|_| start(directory.path(), &id))
        .collect();
    let mut outputs: Vec<_> = writers
        .iter_mut()
        .map(|writer| BufReader::new(writer.stdout.take().expect("piped")).lines())
        .collect();
    for output in &mut outputs {
        output.next();
    }
    let began = Instant::now();
    for writer in &mut writers {
        let _ = writer.stdin.take().expect("piped").write_all(b"!");
    }
    let mut read = Vec::new();
    while read.len() < processes * MESSAGES {
        let drained = mail.drain(LEAD).expect("it can be read");
        let now = now();
        let ages = drained.iter().map(|mail| {
            let at = mail.metadata[AT].as_u64().expect("a number");
            Duration::from_nanos(now.saturating_sub(at))
        });
        read.extend(ages);
        std::thread::yield_now();
    }
    let all = began.elapsed();
    let mut sent: Vec<Duration> = outputs
        .iter_mut()
        .flatten()
        .map(|line| Duration::from_nanos(line.expect("a line").parse().expect("a number")))
        .collect();
    for mut writer in writers {
        writer.wait().expect("it ends");
    }
    let rate = read.len() as f64 / all.as_secs_f64();
    println!(
        "| {processes} | {rate:.0} | {} | {} |",
        middle_and_end(&mut sent),
        middle_and_end(&mut read)
    );
}

fn middle_and_end(took: &mut [Duration]) -> String {
    took.sort();
    let ms = |share: f64| took[(took.len() as f64 * share) as usize].as_secs_f64() * 1e3;
    format!("{:.3}, {:.3}", ms(0.5), ms(0.99))
}

fn start(folder: &Path, session: &str) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .arg(WRITER)
        .arg(folder)
        .arg(session)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts again")
}

/// A teammate that has worked for some rounds, ten results of a kilobyte, and waits for mail.
#[derive(Clone)]
struct Idler;

impl Teammate for Idler {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        let tools = Toolbox::new()
            .with(bash(&teammate.ws))
            .with(read_file(&teammate.ws))
            .with(write_file(&teammate.ws))
            .with(send_message(&teammate.mail, &teammate.name));
        let mut history = History::default();
        history.user(&teammate.prompt);
        for round in 0..10 {
            history.push(Message::assistant(format!("round {round}")));
            history.remind(["x".repeat(1_000)]);
        }
        loop {
            teammate.set_state(AgentState::Idle);
            teammate.mail.wait(&teammate.name).await;
            history.remind(teammate.take_mail()?);
            let _ = (tools.specs(), &history);
        }
    }
}

/// A process with so many idle teammates: says what it costs.
fn idle(count: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let ws = Workspace::at(directory.path()).expect("it exists");
        let repl = Repl::typed("s15_mailbox").quiet();
        let mail = Mailboxes::open(&ws, &Session::new(&ws));
        let policy = Policy::open(&ws, repl.clone());
        let hooks = Hooks::new().on_pre_tool(permission(&policy));
        let notices = Notices::default();
        mail.deliver_to(&notices, &repl);
        let settings = Settings {
            credentials: Credentials::api_key("nobody is asked"),
            base_url: Some("http://127.0.0.1:9".into()),
            ..Settings::default()
        };
        let client = Client::new(settings, Arc::new(Unobserved)).expect("a client");
        let rules = (&hooks, &policy);
        let teams: Vec<Team<Idler>> = (0..count.div_ceil(TEAM).max(1))
            .map(|_| Team::new(&client, &ws, rules, &mail, &notices, &repl, Idler))
            .collect();
        for number in 0..count {
            let name = format!("mate{number}");
            let call = ToolCall::new(
                name.clone(),
                "spawn_teammate",
                json!({"name": name, "role": "tester", "prompt": "Wait."}),
            );
            let tools = Toolbox::new().with(teams[number / TEAM].spawn_tool());
            let output = tools.call(call).await;
            assert!(!output.is_error, "{output:?}");
        }
        // Everybody has come to rest.
        nothing_for(IDLE / 10).await;
        let before = on_a_processor();
        nothing_for(IDLE).await;
        let busy = (on_a_processor() - before).as_secs_f64() * 1e3;
        println!("| {count} | {:.2} | {busy:.2} |", memory() as f64 / 1e3);
    });
}

/// Waits for nothing.
async fn nothing_for(time: Duration) {
    let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
}

/// The memory of this process in kilobytes, 0 where the system does not tell.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.map_or(0, |number| number.parse().expect("a number"))
}

/// How long the threads of this process have been on a processor; nothing where the system does not tell.
fn on_a_processor() -> Duration {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let nanos = threads.flatten().map(|thread| {
        let stat = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        let first = stat.split_whitespace().next().map(str::to_owned);
        first.map_or(0, |nanos| nanos.parse().expect("a number"))
    });
    Duration::from_nanos(nanos.sum())
}
