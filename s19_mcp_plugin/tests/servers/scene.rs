//! What the tests share: a folder, servers played in it, and the search for what they leave behind.
//!
//! Our ids are 1 for the handshake, 2 for the first page of tools, and so on, so a script knows what it answers.
//! Invariant: nothing here waits for an event longer than ten seconds.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::Result;
use s02_tools::Workspace;
use s19_mcp_plugin::{Launch, Patience, Server};
use serde_json::{Value, json};

/// Reads a line and forgets it.
pub const HEAR: &str = "read -r line";

/// Reads until the input ends.
pub const STAY: &str = "cat >/dev/null";

/// For servers that end by themselves.
pub const LONG: Patience = Patience {
    start: Duration::from_secs(10),
    call: Duration::from_secs(10),
    end: Duration::from_secs(10),
};

/// For servers that do not.
pub const SHORT: Patience = Patience {
    end: Duration::from_millis(100),
    ..LONG
};

/// A folder with servers in it.
pub struct Scene {
    pub ws: Workspace,
    folder: tempfile::TempDir,
}

impl Scene {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ws = Workspace::at(folder.path()).unwrap();
        Self { ws, folder }
    }

    /// A server that does these steps one after the other.
    pub fn script(&self, steps: &[&str]) -> Launch {
        let script = steps.join("\n");
        self.launch("bash", &["-c", &script])
    }

    /// The mock docs server, in the form that a chapter's own binary serves it.
    pub fn docs(&self, faults: &[&str]) -> Launch {
        let mut args = vec!["mock-mcp", "docs"];
        args.extend(faults.iter().flat_map(|fault| ["--fault", fault]));
        self.launch(env!("CARGO_BIN_EXE_s19_mcp_plugin"), &args)
    }

    pub fn launch(&self, command: &str, args: &[&str]) -> Launch {
        Launch {
            name: "docs".to_owned(),
            command: command.into(),
            args: args.iter().copied().map(str::to_owned).collect(),
            env: [("MARK".to_owned(), self.mark())].into(),
            ..Launch::default()
        }
    }

    /// Starts a server that greets, lists these tools, and then does these steps.
    pub async fn greeted(&self, tools: Value, steps: &[&str], patience: Patience) -> Server {
        let (hello, page) = (hello(), answer(2, json!({ "tools": tools })));
        let greeting = [HEAR, &hello, HEAR, HEAR, &page];
        let script = self.script(&[&greeting, steps].concat());
        let server = Server::start_with(script, &self.ws, patience).await;
        server.unwrap()
    }

    /// Starts a server that does these steps from the first line on.
    pub async fn start(&self, steps: &[&str]) -> Result<Server> {
        Server::start_with(self.script(steps), &self.ws, SHORT).await
    }

    /// The sentence of a server that cannot be used.
    pub async fn refused(&self, steps: &[&str]) -> String {
        let error = self.start(steps).await.err().expect("it is no server");
        self.nothing_is_left();
        format!("{error:#}")
    }

    /// What a script has written into a file of this name.
    pub fn written(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Every process that was started here ends now or has ended.
    pub fn nothing_is_left(&self) {
        let limit = Instant::now() + Duration::from_secs(10);
        loop {
            let left = self.left();
            match left.is_empty() {
                true => return,
                false => assert!(Instant::now() < limit, "still there: {left:?}"),
            }
            thread::yield_now();
        }
    }

    /// The processes that carry this scene's mark, wherever they have gone. A zombie carries none.
    pub fn left(&self) -> Vec<String> {
        let mark = format!("MARK={}", self.mark());
        let processes = fs::read_dir("/proc").into_iter().flatten();
        let ours = |path: &PathBuf| {
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == mark.as_bytes())
        };
        let ours = processes.map(|entry| entry.unwrap().path()).filter(ours);
        ours.map(|path| fs::read_to_string(path.join("cmdline")).unwrap_or_default())
            .collect()
    }

    fn mark(&self) -> String {
        self.folder.path().display().to_string()
    }
}

/// A step that says this.
pub fn say(message: Value) -> String {
    format!(
        "printf '%s\\n' {}",
        shell_words::quote(&message.to_string())
    )
}

/// A step that answers the request of this id.
pub fn answer(id: u64, result: Value) -> String {
    say(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// A step that answers a call.
pub fn text(id: u64, text: &str) -> String {
    answer(id, json!({ "content": [{ "type": "text", "text": text }] }))
}

/// A step that answers the handshake.
pub fn hello() -> String {
    answer(
        1,
        json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} } }),
    )
}

/// The names of a server's tools.
pub fn names(server: &Server) -> Vec<String> {
    server
        .tools()
        .iter()
        .map(|tool| tool.name.clone())
        .collect()
}

/// Waits until this is so, while everything else goes on.
pub async fn until(mut is_so: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < limit, "it has not come to pass");
        tokio::task::yield_now().await;
    }
}
