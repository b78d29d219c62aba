//! `mcp_bridge demo`: what the bridge does, shown on a fresh machine.
//!
//! Two agents run as processes of s20 with the course's mock model. Invariant: it ends by itself, and leaves nothing behind.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mcp_bridge::agent::{Agents, Message};
use mcp_bridge::config::Config;
use mcp_bridge::host::Programs;
use mcp_bridge::owner::Profile;
use mcp_bridge::queue::Class;
use mcp_relay::front::Failure;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::{failed, look, open_with, programs, tempfolder};

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
pub fn agents(programs: &Programs) -> String {
    let jira = json!({ "command": programs.shim, "args": ["mock-mcp", "jira"] });
    format!("{AGENTS}servers: {{ jira: {jira} }}\n")
}

/// Shows it.
pub async fn run() -> Result<u8, Failure> {
    let programs = Programs {
        s20: harness().await?,
        clock,
        ..programs()
    };
    let folder = tempfolder()?;
    let shown = tokio::select! {
        shown = show(&folder, programs) => shown,
        // The front has taken Ctrl-C for itself.
        _ = tokio::signal::ctrl_c() => Err(failed("taken back")),
    };
    let _ = std::fs::remove_dir_all(&folder);
    shown
}

async fn show(folder: &Path, programs: Programs) -> Result<u8, Failure> {
    clock();
    let text = agents(&programs);
    println!("agents.yaml:\n{}", text.trim());
    let settings = Config::parse(&text, folder, &|_| None).map_err(failed)?;
    let host = open_with(settings, 0, programs).await?;
    let (agents, port) = (host.agents.clone(), host.address().port());
    let look = look::Look::new(port, &host.tokens.file("owner"));
    say(&format!(
        "The owner listens at port {port}. No agent runs yet: the first message starts one."
    ));
    println!("{}", table(&agents));

    say("Two messages for chief at once, from two sources: one queue, one process, two answers.");
    let (one, two) = tokio::join!(
        ask(&agents, "chief", "telegram", "search the issues for login"),
        ask(&agents, "chief", "mail", "note append plan \"call the bank\""),
    );
    println!("{one}\n{two}");
    println!("{}", table(&agents));

    say("finance answers a user, and then its schedule, which comes on the minute (lean profile).");
    println!("{}", ask(&agents, "finance", "telegram", "check the budget").await);
    wait(|| answered(&agents, "finance") >= 2).await;
    println!("{}", table(&agents));

    let id = agents.status().into_iter().find(|it| it.agent == "chief").and_then(|it| it.process);
    let id = id.ok_or_else(|| failed("chief has no process"))?;
    say(&format!("Now the process of chief is killed (kill -9 {id}), and a message comes."));
    let _ = kill(Pid::from_raw(id.cast_signed()), Signal::SIGKILL);
    wait(|| agents.status().iter().any(|it| it.agent == "chief" && it.state == "away")).await;
    println!("{}", ask(&agents, "chief", "telegram", "note append plan \"still here\"").await);
    println!("{}", table(&agents));

    say("Three seconds later it is given a new process.");
    tokio::time::sleep(Duration::from_secs(3)).await;
    println!("{}", ask(&agents, "chief", "mail", "search the memory for bank").await);
    println!("{}", table(&agents));

    say("Every call was audited:");
    let audit = async {
        let serving = tokio::spawn(host.serve());
        let shown = look.audit(None, 20).await;
        serving.abort();
        let _ = serving.await;
        shown
    };
    audit.await?;
    agents.stop(Duration::ZERO).await;
    say("That was all. `mcp_bridge serve --config agents.yaml` keeps one running.");
    Ok(0)
}

fn say(text: &str) {
    println!("\n== {text}");
}

fn table(agents: &Agents) -> String {
    look::table(&json!(agents.status())).trim_end().to_owned()
}

fn answered(agents: &Agents, name: &str) -> u64 {
    agents.status().iter().filter(|it| it.agent == name).map(|it| it.answered).sum()
}

/// Waits for what takes seconds.
async fn wait(done: impl Fn() -> bool) {
    for _ in 0..200 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn ask(agents: &Agents, agent: &str, source: &str, prompt: &str) -> String {
    let message = Message {
        source: source.to_owned(),
        prompt: prompt.to_owned(),
        profile: Profile::Full,
        class: Class::User,
        deadline: Some(Duration::from_secs(30)),
    };
    let answer = match agents.post(agent, message).await {
        Ok(reply) => {
            let note = reply.note.map_or_else(String::new, |note| format!(" ({note})"));
            let text: Vec<_> =
                reply.text.lines().take(4).map(|line| kit::cut(line, 110).to_string()).collect();
            format!("[by the {}{note}] {}", reply.by, text.join("\n    "))
        }
        Err(failure) => format!("[{}] {}", failure.kind, failure.message),
    };
    format!("{source} → {agent}: {prompt}\n  → {answer}")
}

/// Where s20 is; on a fresh clone it is built first.
async fn harness() -> Result<PathBuf, Failure> {
    let beside = programs().shim.with_file_name("s20_full");
    if !beside.is_file() {
        println!("(building s20_full, the agents' harness)");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = tokio::process::Command::new(cargo);
        build.args(["build", "--quiet", "--package", "s20_full"]);
        if beside.components().any(|it| it.as_os_str() == "release") {
            build.arg("--release");
        }
        let built = build.status().await.is_ok_and(|status| status.success());
        if !built || !beside.is_file() {
            return Err(failed(
                "s20_full is not beside this program; build it: cargo build -p s20_full",
            ));
        }
    }
    Ok(beside)
}
