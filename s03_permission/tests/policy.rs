//! The policy through its handle: what is asked, in which words, and in whose workspace.

use std::sync::{Arc, Mutex};

use s01_loop::{Answer, Output, Refusal, ToolCall, ToolSpec};
use s02_tools::{Glob, Tool, Toolbox, Touches, Workspace, write_file};
use s03_permission::{Answering, Ask, Policy, Verdict};
use serde_json::{Map, Value, json};

/// Says no to everything and remembers the questions.
#[derive(Clone, Default)]
struct Naysayer(Arc<Mutex<Vec<String>>>);

impl Ask for Naysayer {
    fn ask<'a>(&'a self, question: &'a str) -> Answering<'a> {
        self.0.lock().unwrap().push(question.to_owned());
        Box::pin(async { Answer::No(Refusal::User) })
    }

    fn tell(&self, _: &str) {}
}

fn call(name: &str, input: Value) -> ToolCall {
    ToolCall {
        id: "toolu_1".into(),
        name: name.into(),
        input,
        extra: Map::new(),
    }
}

fn tool(name: &str, touches: Touches) -> Tool {
    Tool::new(ToolSpec::new::<Glob>(name, ""), async |_| Output::ok("")).touching(touches)
}

#[tokio::test]
async fn a_question_shows_every_argument() {
    let dir = tempfile::tempdir().unwrap();
    let asked = Naysayer::default();
    let policy = Policy::open(&Workspace::at(dir.path()).unwrap(), asked.clone());
    let tools = Toolbox::new().with(tool("mcp__ops__run", Touches::Anything));
    let input = json!({"command": "status", "target": "prod", "delete_all": true});
    policy.check(&tools, &call("mcp__ops__run", input)).await;
    let question = asked.0.lock().unwrap()[0].clone();
    for shown in ["command: status", "target: prod", "delete_all: true"] {
        assert!(question.contains(shown), "{question}");
    }
}

#[tokio::test]
async fn what_a_tool_touches_decides_and_not_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let policy = Policy::open(&Workspace::at(dir.path()).unwrap(), Naysayer::default());
    let tools = Toolbox::new()
        .with(tool("drop_database", Touches::Anything))
        .with(tool("deploy_status", Touches::Nothing))
        .with(tool("todo_write", Touches::Harness));
    let allowed =
        async |name: &str| policy.check(&tools, &call(name, json!({}))).await == Verdict::Allow;
    assert!(!allowed("drop_database").await);
    assert!(allowed("deploy_status").await && allowed("todo_write").await);
}

#[tokio::test]
async fn somebody_in_a_worktree_is_judged_by_the_worktree() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("tree")).unwrap();
    let ws = Workspace::at(dir.path()).unwrap();
    let tree = ws.moved_to(dir.path().join("tree")).unwrap();
    let lead = Policy::open(&ws, Naysayer::default());
    let mate = lead.within(&tree);
    let outside = call("write_file", json!({"path": "../a.txt", "content": ""}));
    let denied = mate
        .check(&Toolbox::new().with(write_file(&tree)), &outside)
        .await;
    assert!(matches!(denied, Verdict::Deny(why) if why.contains("outside the workspace")));
    let settings = call(
        "write_file",
        json!({"path": dir.path().join(".harness/settings.json"), "content": ""}),
    );
    assert_ne!(
        lead.check(&Toolbox::new().with(write_file(&ws)), &settings)
            .await,
        Verdict::Allow
    );
}

#[tokio::test]
async fn a_deny_rule_holds_for_guarded_files_too() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(".harness")).unwrap();
    let settings = json!({"permissions": {"deny": ["write_file(.git/**)"]}});
    std::fs::write(
        dir.path().join(".harness/settings.json"),
        settings.to_string(),
    )
    .unwrap();
    let ws = Workspace::at(dir.path()).unwrap();
    let asked = Naysayer::default();
    let policy = Policy::open(&ws, asked.clone());
    let write = call("write_file", json!({"path": ".git/config", "content": ""}));
    let verdict = policy
        .check(&Toolbox::new().with(write_file(&ws)), &write)
        .await;
    assert!(matches!(verdict, Verdict::Deny(why) if why.contains("forbids it")));
    assert!(asked.0.lock().unwrap().is_empty());
}
