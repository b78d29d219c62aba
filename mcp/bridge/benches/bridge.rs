//! `cargo bench -p mcp_bridge`: eight agents that read, change and write, through the bridge and at the file directly.
//!
//! Pairs in one run, for the README. Each agent is a process of its own, and so is the owner: this program, started again as
//! one. To think is to wait two milliseconds inside the transaction: between the read and the write of the agents at the file,
//! in a trigger of the owner's.

use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_bridge::config::Config;
use mcp_bridge::host::{Host, Programs};
use mcp_bridge::owner::Failure;
use mcp_bridge::relay;
use mcp_bridge::shim::http;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, TransactionBehavior};
use s01_loop::{Client, Unobserved};

const AGENTS: usize = 8;
const CALLS: usize = 250;
const THINKING: Duration = Duration::from_millis(2);

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("direct") => {
            direct(&args[2], Path::new(&args[3]), args[4].parse().unwrap(), args.len() > 5);
        }
        Some("bridge") => bridge(&args[2], &args[3], args[4].parse().unwrap()),
        Some("owner") => owner(),
        _ => measure(),
    }
}

/// Prints the microseconds of each call, or `busy`. From one to the next it is half as long as `pace` to half as long again:
/// in step, the same agent would always be the last.
fn timed(pace: u64, mut call: impl FnMut() -> bool) {
    let mut out = std::io::stdout().lock();
    let random = RandomState::new();
    for at in 0..CALLS {
        let pace = pace * (500 + random.hash_one(at) % 1001) / 1000;
        let began = Instant::now();
        let done = call();
        let took = began.elapsed();
        let _ = if done { writeln!(out, "{}", took.as_micros()) } else { writeln!(out, "busy") };
        std::thread::park_timeout(Duration::from_millis(pace).saturating_sub(took));
    }
}

fn direct(behavior: &str, file: &Path, pace: u64, thinks: bool) {
    let behavior = if behavior == "deferred" {
        TransactionBehavior::Deferred
    } else {
        TransactionBehavior::Immediate
    };
    let mut file = Connection::open(file).unwrap();
    file.busy_timeout(Duration::from_secs(5)).unwrap();
    file.pragma_update(None, "synchronous", "NORMAL").unwrap();
    timed(pace, || {
        let mut change = || {
            let tx = file.transaction_with_behavior(behavior)?;
            let units: i64 = tx.query_row("SELECT units FROM spent", [], |row| row.get(0))?;
            if thinks {
                std::thread::park_timeout(THINKING);
            }
            tx.execute("UPDATE spent SET units = ?", [units + 1])?;
            tx.commit()
        };
        change().is_ok()
    });
}

fn bridge(url: &str, token: &str, pace: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let http = http();
    timed(pace, || {
        runtime.block_on(async {
            let sent =
                http.post(url).bearer_auth(token).body("{\"units\":1}").send().await.unwrap();
            let done = sent.status().is_success();
            sent.bytes().await.unwrap();
            done
        })
    });
}

/// `mcp_bridge serve` in this folder, whose database knows how to think.
#[tokio::main(flavor = "current_thread")]
async fn owner() {
    let config = Config::read(Path::new("agents.yaml"), &|_| None).unwrap();
    let model = relay::model(Client::from_env(Arc::new(Unobserved)).unwrap());
    let host = Host::open(config, 0, model, Programs::default()).await.unwrap();
    let thinks = host.owner.database.run(|tx| {
        tx.create_scalar_function("think", 0, FunctionFlags::SQLITE_UTF8, |_| {
            std::thread::park_timeout(THINKING);
            Ok(0)
        })?;
        Ok::<_, Failure>(())
    });
    thinks.await.unwrap();
    println!("{}", host.address());
    host.serve().await;
}

/// Lets so many agents call; their times, and how often one was refused.
fn all(count: usize, args: &[&str]) -> (Vec<u64>, usize) {
    let program = std::env::current_exe().unwrap();
    let start = |_| Command::new(&program).args(args).stdout(Stdio::piped()).spawn().unwrap();
    let agents: Vec<Child> = (0..count).map(start).collect();
    let (mut times, mut busy) = (Vec::new(), 0);
    for agent in agents {
        let output = agent.wait_with_output().unwrap();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            line.parse().map_or_else(|_| busy += 1, |time| times.push(time));
        }
    }
    times.sort_unstable();
    (times, busy)
}

struct Owner {
    child: Child,
    url: String,
    port: String,
    folder: tempfile::TempDir,
}

impl Owner {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text =
            "agents: [{name: one, tools: ['budget_*'], process: none, allowance: 100000000}]";
        std::fs::write(folder.path().join("agents.yaml"), text).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("owner")
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim_end();
        let port = address.rsplit_once(':').unwrap().1.to_owned();
        let url = format!("http://{address}/api/internal/tools/one/budget_spend");
        Self {
            child,
            url,
            port,
            folder,
        }
    }

    fn token(&self) -> PathBuf {
        self.folder.path().join(".mcp_bridge/tokens/one")
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn measure() {
    let owner = Owner::start();
    let token = std::fs::read_to_string(owner.token()).unwrap();
    let file = owner.folder.path().join("direct.db");
    let made = Connection::open(&file).unwrap();
    made.pragma_update(None, "journal_mode", "WAL").unwrap();
    made.execute_batch("CREATE TABLE spent (units INTEGER NOT NULL); INSERT INTO spent VALUES (0)")
        .unwrap();
    let file = file.display().to_string();
    println!(
        "| agents × {CALLS} calls | refused (BUSY) | p50 ms | p99 ms | max ms |\n|---|--:|--:|--:|--:|"
    );
    let ours = Connection::open(owner.folder.path().join(".mcp_bridge/bridge.db")).unwrap();
    let mut medians = Vec::new();
    for (count, pace, thinks) in
        [(AGENTS, "0", false), (AGENTS, "25", false), (AGENTS, "25", true), (1, "0", false)]
    {
        let mut ways = [
            ("directly, BEGIN", vec!["direct", "deferred", &file, pace]),
            ("directly, BEGIN IMMEDIATE", vec!["direct", "immediate", &file, pace]),
            ("through the bridge", vec!["bridge", &owner.url, &token, pace]),
        ];
        if thinks {
            ways.iter_mut().for_each(|(_, args)| args.push("thinks"));
            let trigger = "CREATE TRIGGER thinks AFTER INSERT ON spent BEGIN SELECT think(); END";
            ours.execute_batch(trigger).unwrap();
        }
        for (name, args) in ways {
            let (times, busy) = all(count, &args);
            let at =
                |share: f64| times[((times.len() - 1) as f64 * share) as usize] as f64 / 1000.0;
            let how = match (pace, thinks) {
                ("0", _) => "one behind the other",
                (_, true) => "every 25 ms or so, 2 of them thinking",
                (_, false) => "every 25 ms or so",
            };
            println!(
                "| {count}, {how}, {name} | {busy} | {:.2} | {:.2} | {:.1} |",
                at(0.5),
                at(0.99),
                at(1.0)
            );
            medians.push(at(0.5));
        }
        if thinks {
            ours.execute_batch("DROP TRIGGER thinks").unwrap();
        }
    }
    println!("\nOne agent, p50: the bridge adds {:.2} ms.", medians[11] - medians[10]);
    let mut shim = Command::new(env!("CARGO_BIN_EXE_mcp_bridge"))
        .arg("shim")
        .env("RELAY_PORT", &owner.port)
        .env("AGENT_NAME", "one")
        .env("BRIDGE_TOKEN_FILE", owner.token())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    writeln!(shim.stdin.as_mut().unwrap(), "{hello}").unwrap();
    let mut answer = String::new();
    BufReader::new(shim.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    let mb = |id: u32, field| resident(id, field) as f64 / 1024.0;
    println!(
        "Memory: the shim {:.1} MB, {:.1} of them its own; the owner {:.1} MB.",
        mb(shim.id(), "VmRSS:"),
        mb(shim.id(), "RssAnon:"),
        mb(owner.child.id(), "VmRSS:")
    );
    let _ = shim.kill();
    let _ = shim.wait();
}

/// In kilobytes.
fn resident(id: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
