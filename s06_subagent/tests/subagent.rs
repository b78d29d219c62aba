//! Subagents through their tool, with a real client and a model that checks every request.

use std::sync::{Arc, Mutex};

use mock_servers::model::{
    Block, Fault, MockModel, Options, Reply, Request, StopReason, calls, says,
};
use s01_loop::{Client, Credentials, Output, Repl, Settings, ToolCall, ToolSpec, Unobserved};
use s02_tools::{
    Access, Glob, Tool, Toolbox, Workspace, bash, edit_file, glob, read_file, write_file,
};
use s03_permission::Policy;
use s04_hooks::{HookOutput, Hooks, PreTool, log, permission};
use s06_subagent::Subagents;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::Barrier;

/// A workspace, and the subagents of a lead that works in it.
struct Bench {
    dir: TempDir,
    ws: Workspace,
    subagents: Subagents,
}

impl Bench {
    fn new(model: &MockModel) -> Self {
        Self::with(model, |tools, hooks| (tools, hooks))
    }

    /// A bench with other tools and hooks.
    fn with(model: &MockModel, change: impl FnOnce(Toolbox, Hooks) -> (Toolbox, Hooks)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let repl = Repl::typed("s06_subagent").quiet();
        let policy = Policy::open(&ws, repl.clone());
        let hooks = Hooks::new()
            .on_pre_tool(permission(&policy))
            .on_pre_tool(log(&ws));
        let tools = Toolbox::new()
            .with(bash(&ws))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with(edit_file(&ws))
            .with(glob(&ws));
        let (tools, hooks) = change(tools, hooks);
        let subagents = Subagents::new(&client(model), &tools, &hooks, &policy, &repl);
        Self { dir, ws, subagents }
    }

    /// Hands on these jobs in one reply and returns what the lead reads.
    async fn all(&self, inputs: impl IntoIterator<Item = Value>) -> Vec<Output> {
        let tools = Toolbox::new().with(self.subagents.tool());
        let calls = inputs.into_iter().enumerate();
        let calls = calls.map(|(index, input)| call(&format!("toolu_{index}"), input));
        let batches = tools.batches(calls.collect());
        assert_eq!(batches.len(), 1, "task calls share a batch");
        let mut running = tools.run(batches.into_iter().flatten());
        let mut outputs = Vec::new();
        while let Some((_, output)) = running.next().await {
            outputs.push(output);
        }
        outputs
    }

    async fn one(&self, description: &str) -> Output {
        let mut outputs = self.all([json!({ "description": description })]).await;
        outputs.remove(0)
    }

    /// For each call in the log, whether it was blocked.
    fn blocked(&self) -> Vec<bool> {
        let log = std::fs::read_to_string(self.ws.state("log.jsonl")).unwrap();
        let entries = log.lines().map(|line| serde_json::from_str(line).unwrap());
        entries
            .map(|entry: Value| entry["blocked"].is_string())
            .collect()
    }
}

fn client(model: &MockModel) -> Client {
    let settings = Settings {
        credentials: Credentials::api_key("sk-test"),
        base_url: Some(model.url().to_owned()),
        ..Settings::default()
    };
    Client::new(settings, Arc::new(Unobserved)).unwrap()
}

fn call(id: &str, input: Value) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "task".into(),
        input,
        extra: Map::new(),
    }
}

/// A tool that ends only when two calls of it run at the same time.
fn meet() -> Tool {
    let barrier = Arc::new(Barrier::new(2));
    Tool::new(
        ToolSpec::new::<Glob>("meet", "Waits for the other."),
        move |_| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
                Output::ok("met")
            }
        },
    )
    .touching(Access::Nothing)
}

#[tokio::test]
async fn a_subagent_knows_its_job_and_cannot_hand_it_on() {
    let model = MockModel::scripted([says("1"), says("2")]);
    let bench = Bench::new(&model);
    bench.one("The first job.").await;
    bench.one("The second job.").await;
    let request = model.last_request();
    assert!(request.system.starts_with("You are a subagent"));
    assert_eq!(request.user_texts(), ["The second job."]);
    let tools = ["bash", "read_file", "write_file", "edit_file", "glob"];
    assert_eq!(request.tool_names(), tools);
}

#[tokio::test]
async fn several_work_side_by_side_and_report_in_the_order_of_the_calls() {
    let model = MockModel::start(Options::strict(), |request: &Request| {
        if request.results().is_empty() {
            calls("meet", json!({"pattern": "*"}))
        } else {
            says(format!("report on {}", request.user_texts()[0]))
        }
    })
    .unwrap();
    let bench = Bench::with(&model, |tools, hooks| (tools.with(meet()), hooks));
    let jobs = ["a", "b"].map(|job| json!({ "description": job }));
    let reports = ["report on a", "report on b"].map(Output::ok);
    assert_eq!(bench.all(jobs).await, reports);
}

#[tokio::test]
async fn however_a_job_ends_the_lead_gets_a_report_or_why_there_is_none() {
    let cut = |reply: Reply| reply.stops_with(StopReason::MaxTokens);
    let rounds = || (0..30).map(|_| calls("glob", json!({"pattern": "*"})));
    for (replies, expected) in [
        (
            vec![Reply::default()],
            Output::error("task 1: ended without a report. What it has changed stays changed."),
        ),
        (
            vec![cut(says("The first half"))],
            Output::ok(
                "The first half\n\n[The report was cut off here: it is longer than a reply may be.]",
            ),
        ),
        (
            vec![cut(Reply::default())],
            Output::error(
                "task 1: its report was cut off before its first word. What it has changed stays changed.",
            ),
        ),
        (
            rounds().collect(),
            Output::error(
                "task 1: not done after 30 rounds, the most there are; hand on smaller jobs. \
                 What it has changed stays changed.",
            ),
        ),
    ] {
        let model = MockModel::scripted(replies);
        assert_eq!(Bench::new(&model).one("Go.").await, expected);
    }
    let model = MockModel::scripted([says("Well.")]);
    model.fault(Fault::Internal, 1);
    let bench = Bench::new(&model);
    let Output { text, is_error, .. } = bench.one("a").await;
    let why = "task 1: stopped in round 1: the model's API answered 500";
    assert!(is_error && text.starts_with(why), "{text}");
    assert_eq!(
        bench.one("b").await,
        Output::ok("Well."),
        "only that job's end"
    );
}

#[tokio::test]
async fn a_wrong_description_is_named_and_starts_nobody() {
    let model = MockModel::scripted([says("Hi.")]);
    let bench = Bench::new(&model);
    assert_eq!(
        bench
            .all([
                json!({}),
                json!({"description": " \n"}),
                json!({"description": 7})
            ])
            .await,
        [
            Output::error("task: missing field `description`"),
            Output::error("task: the description is empty; say what is to be done"),
            Output::error(
                "task: argument `description`: invalid type: integer `7`, expected a string"
            ),
        ]
    );
    assert_eq!(bench.one("Greet.").await, Output::ok("Hi."));
}

#[tokio::test]
async fn a_subagent_cannot_do_what_the_policy_forbids() {
    let model = MockModel::scripted([
        calls("bash", json!({"command": "sudo true"}))
            .and_calls(
                "write_file",
                json!({"path": "../outside.txt", "content": ""}),
            )
            .and_calls("glob", json!({"pattern": "*"})),
        says("It was denied."),
    ]);
    let bench = Bench::new(&model);
    assert_eq!(bench.one("Try.").await, Output::ok("It was denied."));
    let results = model.last_request().results();
    assert!(
        results[0].1.starts_with("permission denied: "),
        "{results:?}"
    );
    let failed: Vec<bool> = results.iter().map(|(failed, _)| *failed).collect();
    assert_eq!(
        failed,
        [true, true, false],
        "every call of the reply is answered"
    );
    let outside = bench.dir.path().parent().unwrap().join("outside.txt");
    assert!(!outside.exists());
    assert_eq!(bench.blocked(), [true, true, false]);
}

#[tokio::test]
async fn the_lead_s_hooks_see_a_subagent_by_its_name_and_add_to_its_results() {
    let model = MockModel::scripted([calls("glob", json!({"pattern": "*"})), says("Done.")]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let names = Arc::clone(&seen);
    let bench = Bench::with(&model, |tools, hooks| {
        let hooks = hooks
            .on_pre_tool(move |PreTool { caller, .. }: PreTool| {
                let name = caller.map(|caller| caller.name.to_string());
                names.lock().unwrap().push(name);
                std::future::ready(HookOutput::Go)
            })
            .on_post_tool(async |_| HookOutput::Context("mind the tests".into()));
        (tools, hooks)
    });
    bench.one("Look.").await;
    assert_eq!(*seen.lock().unwrap(), [Some("task 1".to_owned())]);
    let last = model.last_request();
    let Some(Block::ToolResult { content, .. }) = last.messages[2].blocks.first() else {
        panic!("{:?}", last.messages[2]);
    };
    assert!(
        content.ends_with("<hook-context>\nmind the tests\n</hook-context>"),
        "{content}"
    );
}
