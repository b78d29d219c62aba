//! How long one step of the loop takes: a conversation of 200 tool calls on loopback, beside a bare loop.
//!
//! A step is the time between two requests, taken by the model: reply, tool, history, next request. The bare loop does the
//! least that any harness must: the HTTP call and, for bash, the spawn. Both run in the same process tree, one after the
//! other. Invariant: nothing here asserts; figures are for a reader.
//!
//! `cargo bench -p s04_hooks`, and `cargo bench -p s04_hooks --profile dev` for what a class runs. Another chapter's binary
//! is measured when its path is given: `cargo bench -p s04_hooks -- target/release/s02_tools`.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mock_servers::model::{Brain, MockModel, Options, Reply, Request, calls, says};
use serde_json::{Value, json};

const STEPS: usize = 200;
const EDGE: usize = 20;

fn main() {
    let chapter = std::env::args()
        .skip(1)
        .find(|arg| !arg.starts_with('-'))
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_s04_hooks")), PathBuf::from);
    let chapter = chapter.canonicalize().expect("the chapter's binary exists");
    println!("{}, {STEPS} steps", chapter.file_name().unwrap_or_default().display());
    println!(
        "| step | ms, median | first {EDGE} | last {EDGE} | last / first | start to request, ms | peak MB |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, tool, input) in [
        ("bash `true`", "bash", json!({"command": "true"})),
        ("read a small file", "read_file", json!({"path": "small.txt"})),
    ] {
        harness(&chapter, tool, &input).print(name);
        bare(tool, &input).print(&format!("{name}, bare loop"));
    }
}

/// What one conversation took.
struct Run {
    steps: Vec<Duration>,
    start: Option<Duration>,
    peak_kb: Option<u64>,
}

impl Run {
    fn print(&self, name: &str) {
        let ms = |steps: &[Duration]| {
            let mut sorted = steps.to_vec();
            sorted.sort();
            sorted[sorted.len() / 2].as_secs_f64() * 1e3
        };
        let (first, last) = (ms(&self.steps[..EDGE]), ms(&self.steps[self.steps.len() - EDGE..]));
        let start = self
            .start
            .map_or("–".to_owned(), |start| format!("{:.1}", start.as_secs_f64() * 1e3));
        let peak = self.peak_kb.map_or("–".to_owned(), |kb| format!("{:.1}", kb as f64 / 1024.0));
        let median = ms(&self.steps);
        println!(
            "| {name} | {median:.2} | {first:.2} | {last:.2} | {:.2} | {start} | {peak} |",
            last / first
        );
    }
}

/// A model that wants the same tool again and again, and notes when it was asked.
struct Again {
    tool: String,
    input: Value,
    log: Arc<Log>,
}

#[derive(Default)]
struct Log {
    asked: Mutex<Vec<Instant>>,
    pid: Mutex<Option<u32>>,
    peak_kb: Mutex<Option<u64>>,
}

impl Brain for Again {
    fn answer(&self, _: &Request) -> Reply {
        let mut asked = self.log.asked.lock().unwrap();
        asked.push(Instant::now());
        if asked.len() <= STEPS {
            return calls(&self.tool, self.input.clone());
        }
        *self.log.peak_kb.lock().unwrap() = self.log.pid.lock().unwrap().and_then(peak_kb);
        says("Done.")
    }
}

impl Log {
    fn run(&self, started: Option<Instant>) -> Run {
        let asked = self.asked.lock().unwrap();
        Run {
            steps: asked.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            start: started.map(|started| asked[0] - started),
            peak_kb: *self.peak_kb.lock().unwrap(),
        }
    }
}

fn model(tool: &str, input: &Value) -> (MockModel, Arc<Log>) {
    let log = Arc::new(Log::default());
    let brain = Again {
        tool: tool.to_owned(),
        input: input.clone(),
        log: Arc::clone(&log),
    };
    let options = Options {
        keep: 1,
        ..Options::default()
    };
    (MockModel::start(options, brain).expect("loopback has a free port"), log)
}

/// The chapter's binary, one request on its command line.
fn harness(chapter: &PathBuf, tool: &str, input: &Value) -> Run {
    let (model, log) = model(tool, input);
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join("small.txt"), "a small file\n").expect("a file in it");
    let started = Instant::now();
    let mut child = Command::new(chapter)
        .arg("go")
        .current_dir(directory.path())
        .env("ANTHROPIC_BASE_URL", model.url())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the chapter starts");
    *log.pid.lock().unwrap() = Some(child.id());
    child.wait().expect("the chapter ends");
    log.run(Some(started))
}

/// The least that a loop must do: send the conversation, read the reply, do the work.
#[tokio::main(flavor = "current_thread")]
async fn bare(tool: &str, input: &Value) -> Run {
    let (model, log) = model(tool, input);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder()
        .tcp_nodelay(true)
        .no_proxy()
        .tls_certs_only([])
        .build()
        .expect("HTTP");
    let url = format!("{}/v1/messages", model.url());
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut messages = r#"{"role":"user","content":"go"}"#.to_owned();
    loop {
        let body = format!(
            r#"{{"model":"claude-sonnet-5-5","max_tokens":8000,"stream":true,"messages":[{messages}]}}"#
        );
        let request = http.post(&url).header("anthropic-version", "2023-06-01").body(body);
        let reply = request.send().await.expect("an answer").text().await.expect("a whole answer");
        let Some(id) = reply.split('"').find(|word| word.starts_with("toolu_")) else {
            return log.run(None);
        };
        let output = match tool {
            "bash" => {
                let ran = tokio::process::Command::new("bash").args(["-c", "true"]).output().await;
                format!("{:?}", ran.expect("bash runs").status.code())
            }
            _ => std::fs::read_to_string(file.path()).expect("the file is there"),
        };
        let use_block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": output});
        let asked = json!({"role": "assistant", "content": [use_block]});
        messages.push_str(&format!(",{asked},{}", json!({"role": "user", "content": [result]})));
    }
}

/// The most memory a process has had, where the system says it (Linux).
fn peak_kb(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
