//! `mcp_bridge demo`: what the bridge does, shown on a fresh machine.
//!
//! Two agents run as processes of s20 with the course's mock model. Invariant: it ends by itself, and leaves nothing behind.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mcp_bridge::config::Config;
use mcp_bridge::host::Programs;
use mcp_bridge::tokens::OWNER;
use mcp_relay::front::Failure;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::look::{Look, word};
use super::{failed, open, programs};

const AGENTS: &str = r#"
agents:
  - name: chief
    role: chief of staff
    tools: ["task_*", "memory_*", note_append, jira_search_issues]
  - name: finance
    tools: ["budget_*", note_append]
schedule:
  - { cron: "* * * * *", agent: finance, prompt: "report the budget" }
retry_s: 3
"#;

/// How long before the minute the demo's clock starts: nobody waits for a schedule here.
const BEFORE: i64 = 6;

/// The demo's clock is ahead of the real one.
fn clock() -> Timestamp {
    static AHEAD: OnceLock<SignedDuration> = OnceLock::new();
    let now = Timestamp::now();
    let ahead = AHEAD.get_or_init(|| {
        let left = 60 - now.as_second().rem_euclid(60);
        SignedDuration::from_secs((left - BEFORE).rem_euclid(60))
    });
    now + *ahead
}

/// `agents.yaml`, with a mock server beside the owner's own tools.
pub fn agents(shim: &Path) -> String {
    let jira = json!({ "command": shim, "args": ["mock-mcp", "jira"] });
    format!("{AGENTS}servers: {{ jira: {jira} }}\n")
}

/// Shows it.
pub async fn run() -> Result<(), Failure> {
    let programs = Programs {
        s20: harness().await?,
        clock,
        ..programs()?
    };
    let folder = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    tokio::select! {
        shown = show(folder.path(), programs) => shown,
        // The front has taken Ctrl-C for itself.
        _ = tokio::signal::ctrl_c() => Err(failed("taken back")),
    }
}

async fn show(folder: &Path, programs: Programs) -> Result<(), Failure> {
    clock();
    let text = agents(&programs.shim);
    println!("agents.yaml:\n{}", text.trim());
    let settings = Config::parse(&text, folder, &|_| None).map_err(failed)?;
    let host = open(settings, 0, programs).await?;
    let (owner, port) = (host.owner.clone(), host.address().port());
    let look = Look::new(port, host.tokens.file(OWNER));
    let _serving = JoinSet::from_iter([host.serve()]);
    title(&format!(
        "The owner listens at port {port}. No agent runs yet: the first message starts one."
    ));
    look.agents().await?;

    title("Two messages for chief at once, from two sources: one queue, one process, two answers.");
    let (one, two) = tokio::join!(
        ask(&look, ["telegram", "chief", "search the issues for login"]),
        ask(&look, ["mail", "chief", "note append plan \"call the bank\""]),
    );
    println!("{one}\n{two}");
    look.agents().await?;

    title(
        "finance answers a user, and then its schedule, which comes on the minute (lean profile).",
    );
    println!("{}", ask(&look, ["telegram", "finance", "check the budget"]).await);
    wait(&look, |it| it["agent"] == "finance" && it["answered"].as_u64() >= Some(2)).await?;
    look.agents().await?;

    let chief = wait(&look, |it| it["agent"] == "chief" && it["process"].is_u64()).await?;
    let id = &chief["process"];
    title(&format!("Now the process of chief is killed (kill -9 {id}), and a message comes."));
    let number = id.as_i64().and_then(|id| i32::try_from(id).ok());
    let _ = number.map(|id| kill(Pid::from_raw(id), Signal::SIGKILL));
    wait(&look, |it| it["agent"] == "chief" && it["state"] == "away").await?;
    println!("{}", ask(&look, ["telegram", "chief", "note append plan \"still here\""]).await);
    look.agents().await?;

    title("Three seconds later it is given a new process.");
    tokio::time::sleep(Duration::from_secs(3)).await;
    println!("{}", ask(&look, ["mail", "chief", "search the memory for bank"]).await);
    look.agents().await?;

    title("Every call was audited:");
    look.audit(None, 20).await?;
    owner.stop(Duration::ZERO).await;
    title("That was all. `mcp_bridge serve --config agents.yaml` keeps one running.");
    Ok(())
}

fn title(text: &str) {
    println!("\n== {text}");
}

/// Waits until an agent is like this.
async fn wait(look: &Look, is: impl Fn(&Value) -> bool) -> Result<Value, Failure> {
    for _ in 0..200 {
        if let Some(found) = look.status().await?.into_iter().find(&is) {
            return Ok(found);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(failed("it takes too long"))
}

async fn ask(look: &Look, [source, agent, prompt]: [&str; 3]) -> String {
    let answer = match look.send(agent, json!({ "source": source, "prompt": prompt })).await {
        Ok(reply) => {
            let note = reply["note"].as_str().map(|note| format!("in relay mode: {note}"));
            let by = note.unwrap_or_else(|| "by the process".to_owned());
            let text = word(&reply["reply"]);
            let lines = text.lines().take(4).map(|line| kit::cut(line, 110));
            format!("[{by}] {}", lines.collect::<Vec<_>>().join("\n    "))
        }
        Err(Failure(_, why)) => why,
    };
    format!("{source} → {agent}: {prompt}\n  → {answer}")
}

/// Where s20 is; on a fresh clone it is built first.
async fn harness() -> Result<PathBuf, Failure> {
    let beside = programs()?.shim.with_file_name("s20_full");
    if !beside.is_file() {
        println!("(building s20_full, the agents' harness)");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let release = beside.components().any(|it| it.as_os_str() == "release");
        let mut build = tokio::process::Command::new(cargo);
        build.args(["build", "--quiet", "--package", "s20_full"]);
        build.args(release.then_some("--release"));
        let _ = build.status().await;
    }
    let why = "s20_full is not beside this program; build it: cargo build -p s20_full";
    Some(beside).filter(|it| it.is_file()).ok_or_else(|| failed(why))
}
