//! Nine ways for a process to be away, and what the caller gets in each.

use std::path::Path;
use std::time::Duration;

use mcp_bridge::config;
use mcp_bridge::owner::Owner;
use mcp_bridge::process::{Process, memory};
use mcp_bridge::shim::http;
use mock_servers::model::says;
use serde_json::json;
use tokio::process::Command;

use crate::api::{host_of, relayed};
use crate::{message, model, owner, parsed};

/// A shell that plays a harness. `say N TEXT` answers the prompt of this number.
const SAY: &str = r#"say() { printf '{"type":"user","isReplay":true,"uuid":"00000000-0000-4000-8000-00000000000%s"}\n{"type":"result","is_error":false,"result":"%s"}\n' "$1" "$2"; }; "#;
const CALL: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"bash","input":{}}]}}"#;

fn starts(folder: &Path) -> impl Fn(&config::Agent) -> Result<Process, String> + use<> {
    let folder = folder.to_owned();
    move |agent| {
        let mut command = Command::new(&agent.command[0]);
        Process::start(command.args(&agent.command[1..]).current_dir(&folder))
    }
}

async fn until(owner: &Owner, state: &str) {
    while owner.status()[0].state != state {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn nine_ways_for_a_process_to_be_away() {
    let garbage = "read l; echo hello";
    let dies_idle = format!("{SAY} read l; say 1 fine");
    let acts = format!("read l; echo '{CALL}'");
    let shell = |script: &str| json!(["sh", "-c", script]);
    // How it is started, the prompts, and what comes of the last one: who answers, or the kind of failure, and a word of why.
    let rows = [
        ("never started", json!([]), 1, "relay", ""),
        ("not found", json!(["/no/such/program"]), 1, "relay", "No such file"),
        ("dies at start", shell("echo broken >&2; exit 3"), 1, "relay", "exit status: 3: broken"),
        ("dies idle", shell(&dies_idle), 2, "relay", "is away: it has ended with exit status: 0"),
        ("dies before an effect", shell("read l; exit 4"), 1, "relay", "exit status: 4"),
        ("dies after an effect", shell(&acts), 1, "outcome_unknown", "after it had called bash"),
        ("killed for memory", shell("read l; kill -9 $$"), 1, "relay", "for want of memory"),
        ("hangs past the cap", shell("read l; read l"), 1, "relay", "took longer than 1s"),
        ("speaks garbage", shell(garbage), 1, "relay", "no line of JSON: \"hello\""),
    ];
    for (name, command, prompts, expected, why) in rows {
        let folder = tempfile::tempdir().unwrap();
        let kind = if command == json!([]) { "none" } else { "command" };
        let cap = if name == "hangs past the cap" { 1 } else { 60 };
        let agent = json!({"name": "one", "tools": ["*"], "process": kind, "command": command, "max_s": cap});
        let owner = owner(&json!({ "agents": [agent] }).to_string(), folder.path());
        let (_mock, model) =
            model(|request| says(format!("relayed {}", request.user_texts().last().unwrap())));
        owner.start(&model, starts(folder.path()));
        let one = owner.agent("one").unwrap();
        for at in 1..prompts {
            assert_eq!(one.post(message("earlier")).await.unwrap().by, "process", "{name} {at}");
            until(&owner, "away").await;
        }
        let (got, said) = match one.post(message("go")).await {
            Ok(reply) => {
                assert_eq!(reply.text, "relayed go", "{name}");
                (reply.by, reply.note.unwrap_or_default())
            }
            Err(failure) => (failure.kind, failure.message),
        };
        assert_eq!(got, expected, "{name}: {said}");
        assert!(said.contains(why), "{name}: {said}");
        owner.stop(Duration::ZERO).await;
    }
}

fn shell(script: &str, folder: &Path) -> Process {
    Process::start(Command::new("sh").args(["-c", script]).current_dir(folder)).unwrap()
}

/// It is a zombie until whoever inherits it has looked.
async fn ended(id: &serde_json::Value) {
    while let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) {
        if stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z') {
            break;
        }
        tokio::task::yield_now().await;
    }
}

/// What a process has started ends with it, also when it does not want to.
#[tokio::test]
async fn a_process_ends_with_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"sleep 1000 & echo '{"id":'$!'}'; cat"#;
    let mut process = shell(script, folder.path());
    let line = process.line().await.unwrap();
    assert!(std::fs::exists(format!("/proc/{}/stat", line["id"])).unwrap());
    process.stop().await;
    ended(&line["id"]).await;
}

/// Paused time stands still as long as somebody waits for the pipe.
#[tokio::test(start_paused = true)]
async fn a_group_that_ignores_sigterm_is_killed_five_seconds_later() {
    let folder = tempfile::tempdir().unwrap();
    let [told, never] = ["told", "never"].map(|name| folder.path().join(name));
    for pipe in [&told, &never] {
        nix::unistd::mkfifo(pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    let script = r#"(trap '' TERM; exec sleep 1000) & trap 'echo no > told' TERM; echo '{"ids":['$$,$!']}'; while :; do read -r _ < never; done"#;
    let mut process = shell(script, folder.path());
    let ids = process.line().await.unwrap()["ids"].clone();
    let began = tokio::time::Instant::now();
    let heard = tokio::task::spawn_blocking(|| std::fs::read_to_string(told).unwrap());
    let ((), heard) = tokio::join!(process.stop(), heard);
    assert_eq!((heard.unwrap().as_str(), began.elapsed().as_secs()), ("no\n", 5));
    ended(&ids[0]).await;
    ended(&ids[1]).await;
}

#[tokio::test]
async fn the_memory_of_a_process_is_that_of_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"sleep 1000 & echo '{"ids":['$$,$!']}'; read -r _"#;
    let mut process = shell(script, folder.path());
    let ids = process.line().await.unwrap()["ids"].clone();
    let resident = |id: &serde_json::Value| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    // The second is being replaced by `sleep` perhaps.
    let sum = || (memory(process.id().unwrap()), resident(&ids[0]) + resident(&ids[1]));
    while sum().0 != sum().1 {
        tokio::task::yield_now().await;
    }
    assert!(resident(&ids[0]) > 0 && sum().0 > resident(&ids[0]));
}

/// What a process calls when it is given up comes too late.
#[tokio::test]
async fn a_token_that_was_lent_is_good_as_long_as_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join(".mcp_bridge/agents/one");
    std::fs::create_dir_all(&home).unwrap();
    let [begun, end] = ["begun", "end"].map(|name| home.join(name));
    for pipe in [&begun, &end] {
        nix::unistd::mkfifo(pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    let script = "read -r l; echo > begun; read -r e < end";
    let agent = json!({"name": "one", "tools": ["task_list", "world_send"], "process": "command", "command": ["sh", "-c", script]});
    let config = parsed(&json!({ "agents": [agent] }).to_string(), folder.path()).unwrap();
    let (_mock, model) = relayed();
    let (host, _) = host_of(config, model, jiff::Timestamp::now).await;
    let (owner, address) = (host.owner.clone(), host.address());
    let serving = tokio::spawn(host.serve());
    let status = async || {
        let token = std::fs::read_to_string(home.join("process.token")).unwrap();
        let request = http().get(format!("http://{address}/api/internal/tools/one"));
        request.bearer_auth(token).send().await.unwrap().status().as_u16()
    };
    let story = async {
        tokio::task::spawn_blocking(|| std::fs::read_to_string(begun).unwrap()).await.unwrap();
        assert_eq!(status().await, 200);
        tokio::task::spawn_blocking(|| std::fs::write(end, "now").unwrap()).await.unwrap();
    };
    let (reply, ()) = tokio::join!(owner.agent("one").unwrap().post(message("go")), story);
    assert_eq!((reply.unwrap().by, status().await), ("relay", 401));
    serving.abort();
}

/// `MESSAGES=1000 cargo test -p mcp_bridge answered_once`: two sources, five agents, and a kill for every ten messages.
#[tokio::test]
async fn each_message_is_answered_once_whoever_is_killed() {
    let count: usize = std::env::var("MESSAGES").ok().and_then(|it| it.parse().ok()).unwrap_or(100);
    let echo = r#"n=0; while read l; do n=$((n+1)); printf '{"type":"user","isReplay":true,"uuid":"00000000-0000-4000-8000-%012d"}\n{"type":"result","is_error":false,"result":"%s"}\n' $n "$(expr "$l" : '.*"text":"\([^"]*\)"')"; done"#;
    let folder = tempfile::tempdir().unwrap();
    let names = ["one", "two", "three", "four", "five"];
    let entry = |name| json!({"name": name, "tools": [], "process": "command", "command": ["sh", "-c", echo]});
    let config = json!({"agents": names.map(entry), "retry_s": 0});
    let owner = owner(&config.to_string(), folder.path());
    let (_mock, model) = model(|request| says(request.user_texts().last().unwrap().clone()));
    owner.start(&model, starts(folder.path()));
    let source = async |source: usize| {
        let (mut answered, mut by_process) = (0, 0);
        for at in 0..count / 2 {
            let name = names[(at * 7 + source) % names.len()];
            let text = format!("message {source} {at}");
            let victim = owner.agent(name).unwrap().status().process;
            let posted = owner.agent(name).unwrap().post(message(&text));
            let kill = async {
                if let Some(id) = victim.filter(|_| at % 10 == source) {
                    let id = nix::unistd::Pid::from_raw(id.cast_signed());
                    let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGKILL);
                }
            };
            let (reply, ()) = tokio::join!(posted, kill);
            let reply = reply.unwrap_or_else(|failure| panic!("{}", failure.message));
            assert_eq!(reply.text, text, "{reply:?}");
            answered += 1;
            by_process += usize::from(reply.by == "process");
        }
        (answered, by_process)
    };
    let ((one, own), (two, other)) = tokio::join!(source(0), source(1));
    let status: u64 = owner.status().iter().map(|status| status.answered).sum();
    assert_eq!((one + two, status), (count / 2 * 2, (count / 2 * 2) as u64));
    assert!(own + other > 0);
    println!("{} of {count} by the processes, the others by the owner", own + other);
    owner.stop(Duration::ZERO).await;
}
