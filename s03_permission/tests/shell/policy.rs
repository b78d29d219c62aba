//! The policy through its handle: what is asked, in which words, and in whose workspace.

use std::fs;

use s01_loop::{Output, ToolCall, ToolSpec};
use s02_tools::{Access, Glob, Tool};
use serde_json::json;

use crate::place::Place;

fn tool(name: &str, touches: Access) -> Tool {
    Tool::new(ToolSpec::new::<Glob>(name, ""), async |_| Output::ok("")).touching(touches)
}

#[tokio::test]
async fn what_a_tool_touches_decides_and_not_its_name_or_its_arguments() {
    let permissions = json!({"allow": ["mcp__docs__*"], "ask": ["bash"]});
    let deploy = tool("mcp__deploy__run", Access::Anything);
    let place = Place::new(
        permissions,
        [
            tool("drop_database", Access::Anything),
            tool("deploy_status", Access::Nothing),
            tool("todo_write", Access::Harness),
            tool("mcp__docs__run", Access::Anything),
            deploy.warning("the server deploy calls it destructive"),
        ],
    );
    // An argument of somebody else's tool that is called like one of ours means nothing, and every one is shown.
    let input = json!({"command": "ls", "path": "/etc/passwd", "delete_all": true});
    for name in ["deploy_status", "todo_write", "mcp__docs__run"] {
        assert_eq!(place.question(name, input.clone()).await, "", "{name}");
    }
    for (name, why) in [
        ("drop_database", "what this tool changes is unknown"),
        ("mcp__deploy__run", "the server deploy calls it destructive"),
    ] {
        let question = place.question(name, input.clone()).await;
        for shown in ["command: ls", "path: /etc/passwd", "delete_all: true", why] {
            assert!(question.contains(shown), "{question}");
        }
    }
}

#[tokio::test]
async fn somebody_in_a_worktree_is_judged_by_the_worktree() {
    let mut place = Place::new(json!({}), []);
    let root = place.dir.path().to_owned();
    fs::create_dir(root.join("tree")).unwrap();
    let tree = place.policy.workspace().moved_to(root.join("tree")).unwrap();
    place.policy = place.policy.within(&tree);
    let path = |path| json!({"path": path, "content": ""});
    let outside = place.question("write_file", path(root.join("a.txt"))).await;
    assert!(outside.contains("outside the workspace"), "{outside}");
}

#[tokio::test]
async fn a_rule_about_a_whole_tool_holds_when_it_runs_nothing_and_for_guarded_files_too() {
    let place = Place::new(json!({"deny": ["connect_mcp", "write_file(.git/**)"]}), [starter()]);
    let written = json!({"path": ".git/config", "content": ""});
    for (name, input) in [("connect_mcp", json!({"name": "own"})), ("write_file", written)] {
        let denied = place.check(name, input).await;
        assert!(matches!(denied, Err(why) if why.contains("forbids it")));
    }
    assert!(place.asked.0.lock().unwrap().is_empty());
}

/// A tool that starts `npx -y NAME` for any name but `own`.
fn starter() -> Tool {
    tool("connect_mcp", Access::Harness).runs(|call| {
        let name = call.input["name"].as_str()?;
        (name != "own").then(|| format!("npx -y {name}"))
    })
}

#[tokio::test]
async fn a_tool_that_says_which_command_it_runs_is_judged_by_the_command() {
    let place = Place::new(
        json!({
            "allow": ["connect_mcp(npx -y @good/*)"],
            "deny": ["connect_mcp(npx -y @good/evil:*)"],
        }),
        [starter()],
    );
    for (input, expected) in [
        (json!({"name": "own"}), ""),
        (json!({"name": "@good/files"}), ""),
        (json!({"name": "@good/evil"}), "forbids it"),
        (json!({"name": "@bad/files"}), "  name: @bad/files\n  runs: npx -y @bad/files\n"),
        (json!({"name": "@bad/files"}), "always means connect_mcp(npx -y @bad/files)"),
        (json!({"name": "@bad/files", "command": "ls"}), "runs: npx -y @bad/files"),
        (
            json!({"name": "x; sudo rm -rf /"}),
            "permission denied: `sudo rm -rf /` takes another user's rights",
        ),
    ] {
        let question = place.question("connect_mcp", input).await;
        assert!(question.contains(expected), "{question}");
        assert_eq!(question.is_empty(), expected.is_empty(), "{question}");
    }
}

#[tokio::test]
async fn a_reason_to_ask_holds_against_an_allow_rule_and_never_makes_one() {
    let discards = |call: &ToolCall| {
        let discards = call.input["discard"] == true;
        discards.then(|| "it throws work away".to_owned())
    };
    let place = Place::new(
        json!({"allow": ["remove"], "deny": ["mcp__evil"]}),
        [
            tool("remove", Access::Harness).asks_when(discards),
            tool("mcp__evil__run", Access::Anything).asks_when(discards),
        ],
    );
    let discard = json!({"discard": true});
    let kept = json!({"discard": false});
    assert_eq!(place.question("remove", kept).await, "");
    let question = place.question("remove", discard.clone()).await;
    let why = "it throws work away; always counts only once here";
    assert!(question.contains(why), "{question}");
    let denied = place.question("mcp__evil__run", discard).await;
    assert!(denied.contains("forbids it"), "{denied}");
}

#[tokio::test]
async fn state_of_the_harness_is_written_only_after_a_question() {
    let allow = json!(["write_file", "edit_file", "bash(cp:*)", "bash(tee:*)", "bash(git push:*)"]);
    let place = Place::new(json!({ "allow": allow }), []);
    for path in [".harness/settings.json", ".Harness/memory/x.md", ".mcp.json", "a/.git/config"] {
        let write = json!({"path": path, "content": ""});
        let question = place.question("write_file", write).await;
        assert!(question.contains("always counts only once here"), "{path}: {question}");
    }
    for command in [
        "cp a .harness/settings.json",
        "echo x | tee .mcp.json",
        "mv a .mcp.json",
        // `HEAD` is a file only to other programs than git.
        "cp a HEAD",
        "git push ./.git/x HEAD",
    ] {
        let question = place.runs(command).await;
        let why = "runs later; always counts only once here";
        assert!(question.contains(why), "{command}: {question}");
    }
    assert_ne!(place.runs("cp a b; cat .mcp.json").await, "");
    for command in ["cat .harness/settings.json", "git push origin HEAD"] {
        assert_eq!(place.runs(command).await, "", "{command}");
    }
}

#[tokio::test]
async fn a_deny_rule_for_commands_asks_about_what_it_cannot_read() {
    let deny = json!(["bash(rm:*)", "bash(git push:*)"]);
    let place = Place::new(json!({"allow": ["bash"], "deny": deny}), []);
    for denied in [
        "rm f",
        "x=rm; $x f",
        "git -C . push",
        "git -c a=b --no-pager push -f",
        "nice rm f",
        "/bin/../bin/rm f",
    ] {
        let why = place.runs(denied).await;
        assert!(why.contains("forbids it"), "{denied}: {why}");
    }
    for unclear in [
        "$(echo rm) f",
        "$cmd f",
        "xargs -n $x f",
        "bash script.sh",
        "/bin/../bin/bash script.sh",
        "for f in *; do mv $f a; done",
    ] {
        let question = place.runs(unclear).await;
        let why = "may forbid a command that only the running shell knows";
        assert!(question.contains(why), "{unclear}: {question}");
    }
    assert_eq!(place.runs("make all > log.txt; git pull").await, "");
}

#[tokio::test]
async fn empty_lines_do_not_push_a_part_off_the_screen() {
    let place = Place::new(json!({}), []);
    let command = format!("ls{}rm f\n\nls", "\n".repeat(200));
    let question = place.runs(&command).await;
    let shown = "\n  ls\n  rm f\n  ls\nnot known to only read: `rm f`;";
    assert!(question.contains(shown), "{question}");
}
