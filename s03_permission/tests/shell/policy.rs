//! The policy through its handle: what is asked, in which words, and in whose workspace.

use std::sync::{Arc, Mutex};

use kit::BoxFuture;
use s01_loop::{Answer, Output, Refusal, ToolCall, ToolSpec};
use s02_tools::{Access, Glob, Tool, Toolbox, Workspace, bash, write_file};
use s03_permission::{Approver, Policy};
use serde_json::{Map, Value, json};

/// Says no to everything and remembers the questions.
#[derive(Clone, Default)]
struct Naysayer(Arc<Mutex<Vec<String>>>);

impl Approver for Naysayer {
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Answer> {
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

fn tool(name: &str, touches: Access) -> Tool {
    Tool::new(ToolSpec::new::<Glob>(name, ""), async |_| Output::ok("")).touching(touches)
}

#[tokio::test]
async fn a_question_shows_every_argument() {
    let dir = tempfile::tempdir().unwrap();
    let asked = Naysayer::default();
    let policy = Policy::open(&Workspace::at(dir.path()).unwrap(), asked.clone());
    let tools = Toolbox::new().with(tool("mcp__ops__run", Access::Anything));
    let input = json!({"command": "status", "target": "prod", "delete_all": true});
    let denied = policy.check(&tools, &call("mcp__ops__run", input)).await;
    assert!(denied.is_err());
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
        .with(tool("drop_database", Access::Anything))
        .with(tool("deploy_status", Access::Nothing))
        .with(tool("todo_write", Access::Harness));
    let allowed = async |name: &str| policy.check(&tools, &call(name, json!({}))).await.is_ok();
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
    assert!(matches!(denied, Err(why) if why.contains("outside the workspace")));
    let settings = call(
        "write_file",
        json!({"path": dir.path().join(".harness/settings.json"), "content": ""}),
    );
    let tools = Toolbox::new().with(write_file(&ws));
    assert!(lead.check(&tools, &settings).await.is_err());
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
    assert!(matches!(verdict, Err(why) if why.contains("forbids it")));
    assert!(asked.0.lock().unwrap().is_empty());
}

/// A tool that starts `npx -y NAME` for any name but `own`.
fn starter() -> Tool {
    tool("connect_mcp", Access::Harness).runs(|call| {
        let name = call.input["name"].as_str()?;
        (name != "own").then(|| format!("npx -y {name}"))
    })
}

/// A policy with these permissions, and whom it asks.
fn under(permissions: Value) -> (tempfile::TempDir, Policy, Naysayer) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(".harness")).unwrap();
    let settings = json!({ "permissions": permissions });
    std::fs::write(
        dir.path().join(".harness/settings.json"),
        settings.to_string(),
    )
    .unwrap();
    let asked = Naysayer::default();
    let policy = Policy::open(&Workspace::at(dir.path()).unwrap(), asked.clone());
    (dir, policy, asked)
}

#[tokio::test]
async fn a_tool_that_says_which_command_it_runs_is_judged_by_the_command() {
    let (_dir, policy, asked) = under(json!({
        "allow": ["connect_mcp(npx -y @good/*)"],
        "deny": ["connect_mcp(npx -y @good/evil:*)"],
    }));
    let tools = Toolbox::new().with(starter());
    let check = async |name: &str| {
        let verdict = policy
            .check(&tools, &call("connect_mcp", json!({ "name": name })))
            .await;
        verdict.is_ok()
    };
    assert!(check("own").await, "nothing is run, so nothing is asked");
    assert!(check("@good/files").await);
    assert!(!check("@good/evil").await);
    assert!(asked.0.lock().unwrap().is_empty());

    assert!(!check("@bad/files").await);
    let question = asked.0.lock().unwrap().pop().unwrap();
    assert!(
        question.contains("  name: @bad/files\n  runs: npx -y @bad/files\n"),
        "{question}"
    );
    assert!(
        question.contains("always means connect_mcp(npx -y @bad/files)"),
        "{question}"
    );
    let hides = json!({"name": "@bad/files", "command": "ls"});
    let denied = policy.check(&tools, &call("connect_mcp", hides)).await;
    assert!(denied.is_err());
    let question = asked.0.lock().unwrap().pop().unwrap();
    assert!(question.contains("runs: npx -y @bad/files"), "{question}");
    assert!(!check("x; sudo rm -rf /").await, "fatal, whatever the tool");
    assert!(asked.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_rule_about_a_whole_tool_holds_when_it_runs_nothing() {
    let (_dir, policy, _) = under(json!({"deny": ["connect_mcp"]}));
    let tools = Toolbox::new().with(starter());
    let verdict = policy
        .check(&tools, &call("connect_mcp", json!({"name": "own"})))
        .await;
    assert!(matches!(verdict, Err(why) if why.contains("forbids it")));
}

/// An argument of somebody else's tool that is called like one of ours means nothing.
#[tokio::test]
async fn what_a_foreign_tool_calls_its_arguments_decides_nothing() {
    let (_dir, policy, asked) = under(json!({"allow": ["mcp__docs__*"], "ask": ["bash"]}));
    let tools = Toolbox::new()
        .with(tool("mcp__ops__run", Access::Anything))
        .with(tool("mcp__docs__run", Access::Anything))
        .with(tool("mcp__docs__look", Access::Nothing));
    let input = json!({"command": "ls", "path": "/etc/passwd"});
    let check = async |name: &str| policy.check(&tools, &call(name, input.clone())).await;
    assert!(check("mcp__docs__run").await.is_ok());
    assert!(check("mcp__docs__look").await.is_ok());
    assert!(check("mcp__ops__run").await.is_err());
    let question = asked.0.lock().unwrap().pop().unwrap();
    assert!(question.contains("path: /etc/passwd"), "{question}");
    assert!(
        question.contains("nobody knows what this tool changes"),
        "{question}"
    );
}

#[tokio::test]
async fn a_question_says_what_is_known_about_a_tool() {
    let (_dir, policy, asked) = under(json!({}));
    let deploy = tool("mcp__deploy__trigger", Access::Anything);
    let tools = Toolbox::new().with(deploy.warning("the server deploy calls it destructive"));
    let trigger = call("mcp__deploy__trigger", json!({"service": "web"}));
    assert!(policy.check(&tools, &trigger).await.is_err());
    let question = asked.0.lock().unwrap().pop().unwrap();
    assert!(
        question.contains("the server deploy calls it destructive; always means"),
        "{question}"
    );
}

#[tokio::test]
async fn a_reason_to_ask_holds_against_an_allow_rule_and_never_makes_one() {
    let (_dir, policy, asked) = under(json!({"allow": ["remove"], "deny": ["mcp__evil"]}));
    let discards = |call: &ToolCall| {
        let discards = call.input["discard"] == true;
        discards.then(|| "it throws work away".to_owned())
    };
    let tools = Toolbox::new()
        .with(tool("remove", Access::Harness).asks_when(discards))
        .with(tool("mcp__evil__run", Access::Anything).asks_when(discards));
    let check = async |name: &str, discard: bool| {
        let call = call(name, json!({ "discard": discard }));
        policy.check(&tools, &call).await
    };
    assert!(check("remove", false).await.is_ok());
    assert!(asked.0.lock().unwrap().is_empty());
    assert!(check("remove", true).await.is_err());
    let question = asked.0.lock().unwrap().pop().unwrap();
    assert!(
        question.contains("it throws work away; always counts only once here"),
        "{question}"
    );
    let denied = check("mcp__evil__run", true).await;
    assert!(matches!(denied, Err(why) if why.contains("forbids it")));
}

#[tokio::test]
async fn state_of_the_harness_is_written_only_after_a_question() {
    let allow = ["write_file", "edit_file", "bash(cp:*)", "bash(tee:*)"];
    let (dir, policy, asked) = under(json!({ "allow": allow }));
    let ws = policy.workspace().clone();
    let tools = Toolbox::new().with(write_file(&ws)).with(bash(&ws));
    for path in [
        ".harness/settings.json",
        ".Harness/memory/x.md",
        ".mcp.json",
        "a/.git/config",
    ] {
        let write = call("write_file", json!({"path": path, "content": ""}));
        assert!(policy.check(&tools, &write).await.is_err(), "{path}");
        let question = asked.0.lock().unwrap().pop().unwrap();
        assert!(
            question.contains("always counts only once here"),
            "{question}"
        );
    }
    for command in [
        "cp a .harness/settings.json",
        "echo x | tee .mcp.json",
        "mv a .mcp.json",
    ] {
        let run = call("bash", json!({ "command": command }));
        assert!(policy.check(&tools, &run).await.is_err(), "{command}");
        let question = asked.0.lock().unwrap().pop().unwrap();
        assert!(
            question.contains("runs later; always counts only once here"),
            "{question}"
        );
    }
    let run = call("bash", json!({"command": "cp a b; cat .mcp.json"}));
    assert!(policy.check(&tools, &run).await.is_err());
    let reads = call("bash", json!({"command": "cat .harness/settings.json"}));
    assert!(policy.check(&tools, &reads).await.is_ok());
    drop(dir);
}

/// `HEAD` is a file only to other programs than git.
#[tokio::test]
async fn what_git_calls_head_is_no_guarded_file() {
    let (_dir, policy, asked) = under(json!({"allow": ["bash(git push:*)", "bash(cp:*)"]}));
    let tools = Toolbox::new().with(bash(policy.workspace()));
    let run = async |command: &str| {
        let run = call("bash", json!({ "command": command }));
        policy.check(&tools, &run).await
    };
    assert!(run("git push origin HEAD").await.is_ok());
    assert!(asked.0.lock().unwrap().is_empty());
    assert!(run("cp a HEAD").await.is_err());
    assert!(run("git push ./.git/x HEAD").await.is_err());
}

#[tokio::test]
async fn a_deny_rule_for_commands_asks_about_what_it_cannot_read() {
    let (_dir, policy, asked) = under(json!({
        "allow": ["bash"],
        "deny": ["bash(rm:*)", "bash(git push:*)"],
    }));
    let tools = Toolbox::new().with(bash(policy.workspace()));
    let run = async |command: &str| {
        let run = call("bash", json!({ "command": command }));
        policy.check(&tools, &run).await
    };
    for denied in [
        "rm f",
        "x=rm; $x f",
        "git -C . push",
        "git -c a=b --no-pager push -f",
        "nice rm f",
        "/bin/../bin/rm f",
    ] {
        let why = run(denied).await.unwrap_err();
        assert!(why.contains("forbids it"), "{denied}: {why}");
    }
    assert!(asked.0.lock().unwrap().is_empty());
    for unclear in [
        "$(echo rm) f",
        "$cmd f",
        "xargs -n $x f",
        "bash script.sh",
        "/bin/../bin/bash script.sh",
        "for f in *; do mv $f a; done",
    ] {
        assert!(run(unclear).await.is_err(), "{unclear}");
        let question = asked.0.lock().unwrap().pop().unwrap();
        assert!(
            question.contains("may forbid what only the running shell knows"),
            "{question}"
        );
    }
    assert!(run("make all > log.txt; git pull").await.is_ok());
}

#[tokio::test]
async fn empty_lines_do_not_push_a_part_off_the_screen() {
    let (_dir, policy, asked) = under(json!({}));
    let tools = Toolbox::new().with(bash(policy.workspace()));
    let command = format!("ls{}rm f\n\nls", "\n".repeat(200));
    let run = call("bash", json!({ "command": command }));
    assert!(policy.check(&tools, &run).await.is_err());
    let question = asked.0.lock().unwrap().pop().unwrap();
    assert!(
        question.contains(
            "\n  ls\n  (199 empty lines)\n  rm f\n  \n  ls\nnot known to only read: `rm f`;"
        ),
        "{question}"
    );
}
