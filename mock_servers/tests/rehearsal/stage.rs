//! A stage for the rehearsal brain: a loop, real tools in a temporary directory, and a record of the play.
//!
//! The tools are small and real (`sh`, the file system), because an answer must be made from real results.
//! Invariant: the stage checks every reply: only tools on offer, no empty text, and an end within `MAX_ROUNDS`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mock_servers::model::rehearsal::Rehearsal;
use mock_servers::model::{Block, Brain, Message, ReplyBlock, Request, Role, Tool};
use serde_json::{Value, json};

/// More rounds than any request may take.
pub const MAX_ROUNDS: usize = 40;

/// The tools of the first chapter.
pub const BASH: &[&str] = &["bash"];

/// The tools of the second.
pub const FILES: &[&str] = &["bash", "read_file", "write_file", "edit_file", "glob"];

/// What a tool is given instead of being run: its answer and whether that is an error.
pub type Intercept = Box<dyn Fn(&str, &Value) -> Option<(String, bool)>>;

/// What makes room in the conversation before each request.
pub type Compact = Box<dyn Fn(&mut Vec<Arc<Message>>)>;

/// A conversation in a workspace.
pub struct Stage {
    pub dir: PathBuf,
    pub messages: Vec<Arc<Message>>,
    pub tools: Arc<[Tool]>,
    system: String,
    /// Whether the directory goes when the stage goes.
    owns_dir: bool,
    intercept: Intercept,
    compact: Compact,
}

/// One turn as it was played.
#[derive(Debug)]
pub struct Play {
    /// The calls, each with the number of the round it was made in.
    pub calls: Vec<(usize, String, Value)>,
    /// The last text.
    pub answer: String,
}

impl Play {
    /// The calls as lines: `bash ls -la`, `read_file README.md`.
    pub fn lines(&self) -> Vec<String> {
        let subject = |input: &Value| {
            let names = ["command", "path", "pattern", "description", "name"];
            names
                .iter()
                .find_map(|name| input[*name].as_str())
                .unwrap_or("")
                .to_owned()
        };
        self.calls
            .iter()
            .map(|(_, name, input)| format!("{name} {}", subject(input)))
            .collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.owns_dir {
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

impl Stage {
    /// A small project: a README, a manifest, two Python files and a Rust one.
    pub fn new(tools: &[&str]) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut stage = Self::bare(tools);
        stage.owns_dir = true;
        stage.dir = std::env::temp_dir().join(format!("rehearsal-{}-{number}", std::process::id()));
        fs::create_dir_all(stage.dir.join("src")).expect("the temporary directory is writable");
        stage.put("README.md", "# Tea timer\n\nA small program that counts the minutes of a cup of tea. It beeps.\n\n## Use\n\nRun it.\n");
        stage.put(
            "Cargo.toml",
            "[package]\nname = \"tea_timer\"\nversion = \"0.3.0\"\n\n[dependencies]\n",
        );
        stage.put(
            "src/main.rs",
            "//! Counts down.\n\nfn main() {\n    // TODO beep\n    println!(\"tea\");\n}\n",
        );
        stage.put("boil.py", "print('boil')\n");
        stage.put("src/pour.py", "print('pour')\n");
        stage
    }

    /// No workspace: for plays in which every call is intercepted.
    pub fn bare(tools: &[&str]) -> Self {
        Self {
            dir: PathBuf::new(),
            messages: Vec::new(),
            tools: offer(tools),
            system: "You are a coding agent.".to_owned(),
            owns_dir: false,
            intercept: Box::new(|_, _| None),
            compact: Box::new(|_| {}),
        }
    }

    /// A workspace that belongs to another stage.
    pub fn in_directory(tools: &[&str], dir: &Path) -> Self {
        let mut stage = Self::bare(tools);
        stage.dir = dir.to_owned();
        stage
    }

    /// Plays under another system prompt.
    pub fn with_system(mut self, system: &str) -> Self {
        self.system = system.to_owned();
        self
    }

    /// Adds a git repository with one commit.
    pub fn with_git(self) -> Self {
        let git = "git init -q -b main && git config user.email a@b.c && git config user.name A && git add . && git commit -q -m 'Brew the first cup'";
        assert_eq!(shell(&self.dir, git), ("(no output)".to_owned(), false));
        self
    }

    /// Answers some calls instead of running them.
    pub fn intercepting(
        mut self,
        intercept: impl Fn(&str, &Value) -> Option<(String, bool)> + 'static,
    ) -> Self {
        self.intercept = Box::new(intercept);
        self
    }

    /// Makes room in the conversation before each request.
    pub fn compacting(mut self, compact: impl Fn(&mut Vec<Arc<Message>>) + 'static) -> Self {
        self.compact = Box::new(compact);
        self
    }

    /// Writes a file of the workspace.
    pub fn put(&self, path: &str, text: &str) {
        fs::write(self.dir.join(path), text).expect("the workspace is writable");
    }

    /// Reads a file of the workspace.
    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.dir.join(path)).unwrap_or_else(|_| panic!("there is no {path}"))
    }

    /// Whether the workspace has this file.
    pub fn has(&self, path: &str) -> bool {
        self.dir.join(path).exists()
    }

    /// The user asks; the turn is played to its end.
    pub fn ask(&mut self, request: &str) -> Play {
        self.push(Role::User, vec![Block::Text(request.to_owned())]);
        self.play()
    }

    /// Adds a message; messages of one role become one, as the API sees them.
    pub fn push(&mut self, role: Role, mut blocks: Vec<Block>) {
        if self.messages.last().is_some_and(|last| last.role == role) {
            let last = self.messages.pop().expect("there is a last message");
            blocks = last.blocks.iter().cloned().chain(blocks).collect();
        }
        self.messages.push(Arc::new(Message { role, blocks }));
    }

    /// Plays until the model has said all it wanted to say.
    pub fn play(&mut self) -> Play {
        let mut calls = Vec::new();
        for round in 0..MAX_ROUNDS {
            (self.compact)(&mut self.messages);
            let blocks = self.reply(round);
            self.push(Role::Assistant, blocks.clone());
            let mut results = Vec::new();
            let mut text = String::new();
            for block in blocks {
                match block {
                    Block::Text(said) => text = said,
                    Block::ToolUse { id, name, input } => {
                        let (content, is_error) = self.run(&name, &input);
                        results.push(Block::ToolResult {
                            tool_use_id: id,
                            content,
                            is_error,
                        });
                        calls.push((round, name, input));
                    }
                    Block::ToolResult { .. } | Block::Other(_) => {
                        unreachable!("a model says neither")
                    }
                }
            }
            if results.is_empty() {
                return Play {
                    calls,
                    answer: text,
                };
            }
            self.push(Role::User, results);
        }
        panic!("no end after {MAX_ROUNDS} rounds: {calls:#?}");
    }

    /// One reply, checked, with fresh ids.
    pub fn reply(&self, round: usize) -> Vec<Block> {
        let request = Request {
            model: "rehearsal".to_owned(),
            max_tokens: 8000,
            system: self.system.as_str().into(),
            tools: self.tools.clone(),
            messages: self.messages.clone(),
            body: Default::default(),
        };
        let reply = Rehearsal.answer(&request);
        assert_eq!(
            reply,
            Rehearsal.answer(&request),
            "the same request has the same reply"
        );
        assert!(!reply.blocks.is_empty(), "a reply says something");
        let block = |(index, block): (usize, ReplyBlock)| match block {
            ReplyBlock::Text(text) => {
                assert!(!text.trim().is_empty(), "no text is empty");
                Block::Text(text)
            }
            ReplyBlock::ToolUse { name, input, .. } => {
                assert!(
                    self.tools.iter().any(|tool| tool.name == name),
                    "{name} is not on offer"
                );
                Block::ToolUse {
                    id: format!("toolu_{}_{round}_{index}", self.messages.len()),
                    name,
                    input,
                }
            }
            ReplyBlock::AsItIs(block) => panic!("{block} is for scripts"),
        };
        reply.blocks.into_iter().enumerate().map(block).collect()
    }

    /// What a tool answers.
    pub fn run(&self, name: &str, input: &Value) -> (String, bool) {
        if let Some(answer) = (self.intercept)(name, input) {
            return answer;
        }
        let arg = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
        let path = self.dir.join(arg("path"));
        if is_outside(&arg("path")) || arg("command").split_whitespace().any(is_outside) {
            return (
                "permission denied: this is outside the workspace".to_owned(),
                true,
            );
        }
        match name {
            "bash" => shell(&self.dir, &arg("command")),
            "read_file" => match fs::read_to_string(&path) {
                Ok(text) => {
                    let limit = input["limit"]
                        .as_u64()
                        .map_or(usize::MAX, |limit| limit as usize);
                    (
                        text.lines()
                            .take(limit)
                            .map(|line| format!("{line}\n"))
                            .collect(),
                        false,
                    )
                }
                Err(_) => (format!("{}: no such file", arg("path")), true),
            },
            "write_file" => {
                fs::create_dir_all(path.parent().expect("a file has a parent"))
                    .expect("the workspace is writable");
                fs::write(&path, arg("content")).expect("the workspace is writable");
                (format!("wrote {}", arg("path")), false)
            }
            "edit_file" => match fs::read_to_string(&path) {
                Ok(text) if text.contains(&arg("old_text")) => {
                    fs::write(&path, text.replacen(&arg("old_text"), &arg("new_text"), 1))
                        .expect("writable");
                    (format!("edited {}", arg("path")), false)
                }
                Ok(_) => (format!("old_text was not found in {}", arg("path")), true),
                Err(_) => (format!("{}: no such file", arg("path")), true),
            },
            "glob" => (glob(&self.dir, &arg("pattern")), false),
            _ => ("(no output)".to_owned(), false),
        }
    }
}

/// Tools with these names; the input schemas are those of the second chapter.
pub fn offer(names: &[&str]) -> Arc<[Tool]> {
    let fields = |name: &str| match name {
        "bash" => vec!["command"],
        "read_file" => vec!["path"],
        "write_file" => vec!["path", "content"],
        "edit_file" => vec!["path", "old_text", "new_text"],
        "glob" => vec!["pattern"],
        "task" => vec!["description"],
        "load_skill" => vec!["name"],
        "todo_write" => vec!["todos"],
        "create_task" => vec!["subject"],
        "claim_task" | "complete_task" | "get_task" => vec!["task_id"],
        "spawn_teammate" => vec!["name", "role", "prompt"],
        "send_message" => vec!["to", "content"],
        "request_shutdown" => vec!["teammate"],
        "request_plan" => vec!["teammate", "task"],
        "review_plan" => vec!["request_id", "approve"],
        "submit_plan" => vec!["plan"],
        "create_worktree" | "keep_worktree" | "remove_worktree" => vec!["name"],
        _ => vec![],
    };
    let tool = |name: &&str| {
        let fields = fields(name);
        let properties: Value = fields
            .iter()
            .map(|field| match *field {
                "todos" => (field.to_string(), json!({"type": "array"})),
                field => (field.to_owned(), json!({"type": "string"})),
            })
            .collect();
        let input_schema = json!({"type": "object", "properties": properties, "required": fields});
        Tool {
            name: name.to_string(),
            description: String::new(),
            input_schema,
        }
    };
    names.iter().map(tool).collect()
}

/// An absolute path. Nothing a test asks for may reach the machine it runs on.
fn is_outside(word: &str) -> bool {
    word.starts_with(['/', '~']) && word != "/dev/null"
}

fn shell(dir: &Path, command: &str) -> (String, bool) {
    let output = Command::new("sh")
        .arg("-c")
        .arg(command)
        .current_dir(dir)
        .output()
        .expect("sh runs");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).trim_end().to_owned();
    let text = if text.is_empty() {
        "(no output)".to_owned()
    } else {
        text
    };
    match output.status.code() {
        Some(0) => (text, false),
        code => (format!("{text}\n(exit code {})", code.unwrap_or(-1)), true),
    }
}

/// `**/*.py`, `src/**/x.rs`, `*`: as much of a glob as the model uses.
fn glob(dir: &Path, pattern: &str) -> String {
    if let Some((start, (names, end))) = pattern
        .split_once('{')
        .and_then(|(start, rest)| Some((start, rest.split_once('}')?)))
    {
        let found = names
            .split(',')
            .map(|name| glob(dir, &format!("{start}{name}{end}")));
        let found: Vec<String> = found
            .filter(|files| !files.starts_with("No files"))
            .collect();
        let mut files: Vec<&str> = found.iter().flat_map(|files| files.lines()).collect();
        files.sort_unstable();
        return files.join("\n");
    }
    let (deep, name) = match pattern.split_once("**/") {
        Some((_, name)) => (true, name),
        None => (false, pattern),
    };
    let start = pattern.split("**/").next().filter(|_| deep).unwrap_or("");
    let kind = if deep { "-type f" } else { "" };
    let depth = if deep { "" } else { "-maxdepth 1 -mindepth 1" };
    let find = format!(
        "find ./{start} {depth} -path '*/{name}' {kind} -not -path '*/.*' | sed 's|^\\./*||' | sort"
    );
    match shell(dir, &find).0.as_str() {
        "(no output)" => format!("No files match {pattern}."),
        files => files.to_owned(),
    }
}
