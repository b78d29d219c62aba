//! The program, as it is typed and as a system ends it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use mcp_bridge::shim::http;
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp_bridge");

/// `mcp_bridge serve` in a folder, with this configuration.
pub struct Serving {
    pub child: Child,
    pub base: String,
    /// Open as long as the owner runs, which writes to it.
    _log: BufReader<ChildStderr>,
    token: String,
}

impl Serving {
    pub fn start(folder: &Path, token: &str) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["serve", "--port", "0"])
            .env_remove("RUST_LOG")
            .current_dir(folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "it does not start");
        }
        let base = line.split([' ', ',']).find(|word| word.starts_with("http")).unwrap().to_owned();
        let token = folder.join(".mcp_bridge/tokens").join(token);
        let token = std::fs::read_to_string(token).unwrap();
        Self {
            child,
            base,
            _log: log,
            token,
        }
    }

    /// The status and the answer to a body that is posted; None when nobody answers.
    pub async fn post(&self, path: &str, body: &Value) -> Option<(u16, Value)> {
        let request = http().post(format!("{}{path}", self.base)).bearer_auth(&self.token);
        let response = request.body(body.to_string()).send().await.ok()?;
        let status = response.status().as_u16();
        Some((status, serde_json::from_str(&response.text().await.ok()?).ok()?))
    }

    pub fn send(&self, signal: nix::sys::signal::Signal) {
        let id = nix::unistd::Pid::from_raw(self.child.id().cast_signed());
        let _ = nix::sys::signal::kill(id, signal);
    }
}

/// A process that answers its first prompt with what is written into the pipe `answer`.
const SLOW: &str = r#"read -r l; echo > begun; read -r a < answer; printf '{"type":"user","isReplay":true,"uuid":"00000000-0000-4000-8000-000000000001"}\n{"type":"result","result":"%s"}\n' "$a"; cat"#;

#[tokio::test]
async fn sigterm_lets_a_prompt_end_with_its_tools_and_refuses_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let agent = json!({"name": "one", "tools": ["task_*"], "process": "command", "command": ["sh", "-c", SLOW], "env": {}});
    std::fs::write(folder.path().join("agents.yaml"), json!({"agents": [agent]}).to_string())
        .unwrap();
    let home = folder.path().join(".mcp_bridge/agents/one");
    std::fs::create_dir_all(&home).unwrap();
    let [begun, answer] = ["begun", "answer"].map(|name| home.join(name));
    for pipe in [&begun, &answer] {
        nix::unistd::mkfifo(pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    let mut owner = Serving::start(folder.path(), "owner");
    let post = async |prompt: &str| {
        let message = json!({"source": "test", "prompt": prompt});
        owner.post("/api/agents/one/messages", &message).await.unwrap()
    };
    let story = async {
        tokio::task::spawn_blocking(|| std::fs::read_to_string(begun).unwrap()).await.unwrap();
        let shown = Command::new(PROGRAM)
            .args(["top", "--once", "--port", owner.base.rsplit_once(':').unwrap().1])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        let row: Vec<_> = shown.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row[..2], ["one", "working"], "{shown}");
        assert!(row[3].parse::<f64>().unwrap() > 0.0, "{shown}");

        let (waits, ()) = tokio::join!(post("waits"), async {
            owner.send(nix::sys::signal::Signal::SIGTERM);
        });
        assert_eq!((waits.0, &waits.1["error"]["type"]), (503, &json!("stopping")));
        let made = owner.post("/api/internal/tools/one/task_create", &json!({"title": "t"})).await;
        assert_eq!(made.unwrap().0, 200);
        tokio::task::spawn_blocking(|| std::fs::write(answer, "at last\n").unwrap()).await.unwrap();
    };
    let (slow, ()) = tokio::join!(post("slow"), story);
    assert_eq!((slow.0, &slow.1["reply"]), (200, &json!("at last")));
    assert!(owner.child.wait().unwrap().success());
}
