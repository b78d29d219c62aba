//! A workspace in memory in which the rehearsal's calls are run, so that a test sees what a request does to files.
//!
//! The tools are those of the course, with results in their words. Invariant: nothing is on the stage but what a test put
//! there and what was called.

use std::collections::BTreeMap;

use rehearsal::{Block, Choice, Message, Reply, Request, Tool, answer};
use serde_json::{Value, json};

/// The tools of the course: name, description, properties; those with `?` are not required.
const TOOLS: [(&str, &str, &str); 27] = [
    ("bash", "Run a shell command in the working directory.", "command run_in_background?"),
    ("read_file", "Read a text file, or some of its lines.", "path offset? limit?"),
    ("write_file", "Write a file, replacing what it held.", "path content"),
    ("edit_file", "Replace one passage of a file.", "path old_text new_text"),
    ("glob", "List the files whose path matches a pattern.", "pattern"),
    ("todo_write", "Writes your plan for this session.", "todos"),
    ("task", "Hands a side job to a subagent.", "description"),
    ("load_skill", "Get the full instructions of a skill.", "name"),
    ("compact", "Replace the conversation so far by a summary.", "focus?"),
    ("create_task", "Put a task on the board.", "subject description? blockedBy?"),
    ("list_tasks", "List all tasks.", ""),
    ("get_task", "Show one task in full.", "task_id"),
    ("claim_task", "Make yourself the owner of a pending task.", "task_id"),
    ("complete_task", "Complete a task that is yours.", "task_id"),
    ("schedule_cron", "Schedule a prompt for yourself.", "cron prompt recurring? durable?"),
    ("list_crons", "List the scheduled prompts.", ""),
    ("cancel_cron", "Cancel a scheduled prompt.", "job_id"),
    ("spawn_teammate", "Start a teammate that works beside you.", "name role prompt"),
    ("send_message", "Write to another agent by name.", "to content"),
    ("check_inbox", "Look into your mailbox now.", ""),
    ("request_shutdown", "Ask a teammate to leave.", "teammate"),
    ("request_plan", "Ask a teammate for a plan.", "teammate task"),
    ("review_plan", "Answer the plan of a teammate.", "request_id approve feedback?"),
    ("create_worktree", "Create a git worktree.", "name task_id?"),
    ("remove_worktree", "Remove a worktree.", "name discard_changes?"),
    ("keep_worktree", "Keep a worktree.", "name"),
    ("connect_mcp", "Connect to an MCP server. Servers: alerts, deploy, docs, hub, jira.", "name"),
];

/// What a server with two tools finds, whatever it is asked.
const FOUND: &str = "\
search_issues
Find issues that have all words of the query.
Ready to call with call_tool:
{\"tool_name\":\"search_issues\",\"arguments\":{\"query\":\"<query>\"}}

trigger
Deploy the next version of a service.
Ready to call with call_tool_write:
{\"tool_name\":\"trigger\",\"arguments\":{\"service\":\"api\"}}
# service: or \"web\", \"worker\"
# Optional: note string, dry_run boolean
";

/// A conversation with the rehearsal, and the files it works on.
pub struct Stage {
    /// The files.
    pub files: BTreeMap<String, String>,
    /// The calls, in order.
    pub calls: Vec<(String, Value)>,
    /// The system prompt.
    pub system: String,
    /// The schemas of the tools: name, description, schema.
    pub tools: Vec<(String, String, Value)>,
    said: Vec<(bool, Vec<Said>)>,
    tasks: Vec<(String, char, Vec<String>)>,
    crons: Vec<String>,
}

enum Said {
    Text(String),
    Call(String, String, Value),
    Result(String, String, bool),
}

impl Said {
    fn block(&self) -> Block<'_> {
        match self {
            Self::Text(text) => Block::Text(text),
            Self::Call(id, name, input) => Block::Call { id, name, input },
            Self::Result(id, text, failed) => Block::Result {
                id,
                text,
                failed: *failed,
            },
        }
    }
}

/// A tool as a harness offers it.
pub fn tool(name: &str, description: &str, properties: &str) -> (String, String, Value) {
    let names: Vec<&str> = properties.split_whitespace().collect();
    let all: serde_json::Map<String, Value> = names.iter().map(|name| (name.trim_end_matches('?').to_owned(), json!({"type": if name.ends_with("command") || !name.contains("run_in") { "string" } else { "boolean" }}))).collect();
    let required: Vec<&&str> = names.iter().filter(|name| !name.ends_with('?')).collect();
    (
        name.to_owned(),
        description.to_owned(),
        json!({"type": "object", "properties": all, "required": required}),
    )
}

impl Stage {
    /// A stage with a few files, and all tools of the course.
    pub fn new() -> Self {
        let files = [
            ("README.md", "# Demo\n\nA small project.\n"),
            ("Cargo.toml", "[package]\nname = \"demo\"\n"),
            ("app.py", "def main():\n    print(\"hi\")\n"),
            ("notes.md", "old notes\n"),
            ("config.json", "{\"port\": 1}\n"),
            ("src/lib.rs", "//! The library.\n"),
            ("a.txt", "a\n"),
            (
                "examples/hello.py",
                "def greet(name):\n    return \"Hello, \" + name\n\nprint(greet(\"World\"))\n",
            ),
        ];
        Self {
            files: files.map(|(path, text)| (path.to_owned(), text.to_owned())).into(),
            calls: Vec::new(),
            system: "You are a coding agent.\n# Skills\nA skill is a set of instructions.\n- code-review: Review code for defects.\n- pdf: Read and create PDF files.\n".to_owned(),
            tools: TOOLS.iter().map(|(name, description, properties)| tool(name, description, properties)).collect(),
            said: Vec::new(),
            tasks: Vec::new(),
            crons: Vec::new(),
        }
    }

    /// Asks; the user stops the turn at its first call, and what comes next finds the note of it.
    pub fn is_interrupted(&mut self, text: &str) {
        self.said.push((true, vec![Said::Text(text.to_owned())]));
        let calls = self
            .reply()
            .calls
            .into_iter()
            .map(|(name, input)| Said::Call("stopped".to_owned(), name, input));
        let result =
            Said::Result("stopped".to_owned(), "interrupted: not answered".to_owned(), true);
        let note = Said::Text("[The turn above ended before its answer was complete.]".to_owned());
        self.said.push((false, calls.take(1).collect()));
        self.said.push((true, vec![result, note]));
    }

    /// Asks, runs what is called, and returns the last text.
    pub fn asks(&mut self, text: &str) -> String {
        self.said.push((true, vec![Said::Text(text.to_owned())]));
        for _ in 0..40 {
            let reply = self.reply();
            let text = reply.text.clone();
            let mut blocks = Vec::new();
            if !text.is_empty() {
                blocks.push(Said::Text(text.clone()));
            }
            let first = self.calls.len();
            for (at, (name, input)) in reply.calls.iter().enumerate() {
                assert!(
                    self.tools.iter().any(|(known, ..)| known == name),
                    "{name} is not on offer"
                );
                blocks.push(Said::Call(
                    format!("call_{}", first + at),
                    name.clone(),
                    input.clone(),
                ));
            }
            assert!(!blocks.is_empty(), "an empty reply");
            self.said.push((false, blocks));
            if reply.calls.is_empty() {
                return text;
            }
            let mut results = Vec::new();
            for (at, (name, input)) in reply.calls.into_iter().enumerate() {
                let (text, failed) = self.run(&name, &input);
                results.push(Said::Result(format!("call_{}", first + at), text, failed));
                self.calls.push((name, input));
            }
            self.said.push((true, results));
        }
        panic!("no end: {:?}", self.calls);
    }

    /// The reply to the conversation as it stands.
    pub fn reply(&self) -> Reply {
        let tools = self.tools.iter().map(|(name, description, schema)| Tool {
            name,
            description,
            schema,
        });
        let messages = self.said.iter().map(|(from_user, said)| Message {
            from_user: *from_user,
            blocks: said.iter().map(Said::block).collect(),
        });
        answer(&Request {
            system: &self.system,
            tools: tools.collect(),
            messages: messages.collect(),
            choice: Choice::Auto,
            ..Request::default()
        })
    }

    /// All that was said.
    pub fn texts(&self) -> String {
        let text =
            |said: &Said| if let Said::Text(text) = said { Some(text.clone()) } else { None };
        self.said.iter().flat_map(|(_, all)| all.iter().filter_map(text)).collect()
    }

    /// The names of the tools that were called.
    pub fn called(&self) -> Vec<&str> {
        self.calls.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn run(&mut self, name: &str, input: &Value) -> (String, bool) {
        let arg = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
        let ok = |text: String| (text, false);
        match name {
            "read_file" => match self.files.get(&arg("path")) {
                Some(text) => ok(text.clone()),
                None => (format!("{}: no such file", arg("path")), true),
            },
            "write_file" => {
                let old = self.files.insert(arg("path"), arg("content"));
                ok(format!(
                    "{} {} (1 bytes)",
                    if old.is_some() { "replaced" } else { "created" },
                    arg("path")
                ))
            }
            "edit_file" => match self.files.get_mut(&arg("path")) {
                Some(text) if text.matches(&arg("old_text")).count() == 1 => {
                    *text = text.replacen(&arg("old_text"), &arg("new_text"), 1);
                    ok(format!("edited {}", arg("path")))
                }
                _ => ("old_text does not occur once".to_owned(), true),
            },
            "glob" => {
                let ending = arg("pattern").rsplit('*').next().unwrap_or_default().to_owned();
                let folder = arg("pattern").split("**").next().unwrap_or_default().to_owned();
                ok(self
                    .files
                    .keys()
                    .filter(|path| path.ends_with(&ending) && path.starts_with(&folder))
                    .cloned()
                    .collect::<Vec<_>>()
                    .join("\n"))
            }
            "bash" if arg("command").starts_with("find . -maxdepth") => ok(arg("command")
                .split(' ')
                .filter_map(|word| word.strip_prefix("./"))
                .filter(|path| self.files.contains_key(*path))
                .collect::<Vec<_>>()
                .join("\n")),
            "bash" if arg("command").starts_with("date") => ok("2026-11-22 13:22".to_owned()),
            name if name.ends_with("_task")
                || name.ends_with("_tasks")
                || name.contains("cron") =>
            {
                self.keep(name, input)
            }
            "spawn_teammate" => {
                ok(format!("{} is at work; its mail comes to you by itself", arg("name")))
            }
            "check_inbox" => ok("(no mail)".to_owned()),
            "connect_mcp" => {
                let before = self.tools.len();
                self.connect(&arg("name"));
                let names =
                    self.tools[before..].iter().filter_map(|(name, ..)| name.rsplit("__").next());
                let names = names.collect::<Vec<_>>().join(", ");
                ok(format!("Connected to '{}'. Discovered: {names}", arg("name")))
            }
            "mcp__proxy__discover_tools" => ok(FOUND.to_owned()),
            name if name.starts_with("mcp__docs") => {
                ok("1. Permission rules: deny, allow, ask.".to_owned())
            }
            _ => ok("done".to_owned()),
        }
    }

    /// The board and the schedule.
    fn keep(&mut self, name: &str, input: &Value) -> (String, bool) {
        let arg = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
        let ok = |text: String| (text, false);
        match name {
            "create_task" => {
                let blockers = input["blockedBy"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect();
                self.tasks.push((arg("subject"), ' ', blockers));
                ok(format!("created {:04}-abcdefgh: {}", self.tasks.len(), arg("subject")))
            }
            "list_tasks" => {
                let open = |blocker: &String| {
                    self.tasks.iter().any(|(subject, mark, _)| subject == blocker && *mark != 'x')
                };
                let line =
                    |(at, (subject, mark, blockers)): (usize, &(String, char, Vec<String>))| {
                        let blocked =
                            if blockers.iter().any(open) { " · blocked by another" } else { "" };
                        format!(
                            "[{mark}] {:04}-abcdefgh {subject}{}{blocked}",
                            at + 1,
                            if *mark == '~' { " (lead)" } else { "" }
                        )
                    };
                ok(self.tasks.iter().enumerate().map(line).collect::<Vec<_>>().join("\n"))
            }
            "claim_task" | "complete_task" => {
                let at = arg("task_id")
                    .split('-')
                    .next()
                    .and_then(|id| id.parse::<usize>().ok())
                    .unwrap_or(1)
                    - 1;
                let done = name == "complete_task";
                self.tasks[at].1 = if done { 'x' } else { '~' };
                ok(format!("{} is {}", arg("task_id"), if done { "completed" } else { "yours" }))
            }
            "schedule_cron" => {
                let once = if input["recurring"] == false { ", once" } else { "" };
                self.crons.push(format!(
                    "cron_a{}  {}  next soon{once}  {}",
                    self.crons.len(),
                    arg("cron"),
                    arg("prompt")
                ));
                ok(format!("scheduled {}", self.crons[self.crons.len() - 1]))
            }
            "list_crons" => ok(self.crons.join("\n")),
            _ => ok("done".to_owned()),
        }
    }

    /// The tools of a server appear.
    pub fn connect(&mut self, server: &str) {
        let choice = |values: &[&str]| json!({"type": "string", "enum": values});
        let service = json!({"type": "object", "properties": {"service": choice(&["api", "web", "worker"])}, "required": ["service"]});
        let key = json!({"type": "object", "properties": {"key": {"type": "string"}, "status": choice(&["To Do", "In Progress", "Done"])}, "required": ["key", "status"]});
        let mut add = |name: &str, description: &str, schema: Value| {
            self.tools.push((name.to_owned(), description.to_owned(), schema))
        };
        match server {
            "docs" => add(
                "mcp__docs__search",
                "Search the documentation. (readOnly)",
                tool("", "", "query").2,
            ),
            "alerts" => {
                let push = tool("", "", "text after_seconds?").2;
                add(
                    "mcp__alerts__push",
                    "Push a message to the agent, now or in some seconds.",
                    push,
                );
            }
            "hub" => {
                let mode = choice(&["challenge", "agree"]);
                let properties = json!({"prompt": {"type": "string"}, "mode": mode});
                let schema =
                    json!({"type": "object", "properties": properties, "required": ["prompt"]});
                add("mcp__hub__ask_gpt", "Asks the agent gpt.", schema);
            }
            "deploy" => {
                add(
                    "mcp__deploy__trigger",
                    "Deploy the next version of a service. (destructive)",
                    service.clone(),
                );
                add(
                    "mcp__deploy__status",
                    "How far the newest deployment of a service is: queued, running or live. (readOnly)",
                    service,
                );
            }
            _ => {
                add(
                    "mcp__jira__search_issues",
                    "Issues with these words. (readOnly)",
                    tool("", "", "query").2,
                );
                add("mcp__jira__get_issue", "One issue in full. (readOnly)", tool("", "", "key").2);
                add(
                    "mcp__jira__transition_issue",
                    "Move an issue to another status. (destructive)",
                    key,
                );
            }
        }
    }
}
