//! Hooks as Rust callbacks, through the public handle.

use std::sync::{Arc, Mutex};

use s01_loop::{History, Output, Repl, ToolCall};
use s02_tools::{Step, Toolbox, Workspace};
use s03_permission::Policy;
use s04_hooks::{HookOutput, Hooks, PreTool, PromptDecision};
use serde_json::{Value, json};

fn call(input: Value) -> ToolCall {
    ToolCall::new("toolu_1", "bash", input)
}

/// Writes down the inputs that a hook has seen, and whether the call was blocked by then.
type Seen = Arc<Mutex<Vec<(Value, bool)>>>;

fn watching(seen: &Seen) -> impl Fn(PreTool) -> std::future::Ready<HookOutput> + use<> {
    let seen = Arc::clone(seen);
    move |PreTool { call, blocked, .. }| {
        seen.lock().unwrap().push((call.input, blocked.is_some()));
        std::future::ready(HookOutput::Go)
    }
}

#[tokio::test]
async fn all_hooks_run_in_order_also_behind_a_no() {
    let seen = Seen::default();
    let hooks = Hooks::new()
        .on_pre_tool(watching(&seen))
        .on_pre_tool(async |_| HookOutput::Block("first".into()))
        .on_pre_tool(async |_| HookOutput::Block("second".into()))
        .on_pre_tool(watching(&seen));
    let step = hooks.pre_tool(&Toolbox::new(), call(json!(1))).await;
    assert!(matches!(step, Step::Refuse(_, reason) if reason == "first"));
    assert_eq!(*seen.lock().unwrap(), [(json!(1), false), (json!(1), true)]);
}

#[tokio::test]
async fn every_hook_has_seen_what_runs_and_a_no_to_what_was_rewritten_counts_no_more() {
    let seen = Seen::default();
    let hooks = Hooks::new()
        .on_pre_tool(watching(&seen))
        .on_pre_tool(async |PreTool { call, .. }: PreTool| {
            if call.input == "bad" { HookOutput::Block("bad".into()) } else { HookOutput::Go }
        })
        .on_pre_tool(async |_| HookOutput::Rewrite(json!("good")))
        .on_pre_tool(watching(&seen));
    let step = hooks.pre_tool(&Toolbox::new(), call(json!("bad"))).await;
    assert!(matches!(step, Step::Run(call) if call.input == "good"));
    let seen = seen.lock().unwrap();
    let inputs: Vec<&Value> = seen.iter().map(|(input, _)| input).collect();
    assert_eq!(inputs, ["bad", "good", "good"]);
}

#[tokio::test]
async fn a_hook_that_adds_to_a_call_adds_once() {
    let hooks = Hooks::new().on_pre_tool(async |PreTool { call, .. }: PreTool| {
        let command = call.input.as_str().unwrap();
        HookOutput::Rewrite(json!(format!("timeout 60 {command}")))
    });
    let step = hooks.pre_tool(&Toolbox::new(), call(json!("ls"))).await;
    assert!(matches!(step, Step::Run(call) if call.input == "timeout 60 ls"));
}

#[tokio::test]
async fn hooks_that_undo_each_other_end_the_call() {
    let always = |input: &'static str| {
        move |_: PreTool| std::future::ready(HookOutput::Rewrite(json!(input)))
    };
    let hooks = Hooks::new().on_pre_tool(always("safe")).on_pre_tool(always("forced"));
    let step = hooks.pre_tool(&Toolbox::new(), call(json!("asked"))).await;
    assert!(matches!(step, Step::Refuse(_, reason) if reason.contains("undo each other")));
}

#[tokio::test]
async fn a_refused_call_is_no_business_of_post_tool_hooks() {
    let hooks = Hooks::new().on_post_tool(async |_| HookOutput::Context("seen".into()));
    let refused = Output::refused("no");
    assert_eq!(hooks.post_tool(&call(json!({})), refused.clone()).await, refused);
}

#[tokio::test]
async fn another_agent_has_its_own_name_policy_and_count_of_stops() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let names = Arc::clone(&seen);
    let lead = Hooks::new().on_stop(async |_| HookOutput::Block("more".into())).on_pre_tool(
        move |PreTool { caller, .. }: PreTool| {
            names.lock().unwrap().push(caller.map(|caller| caller.name.to_string()));
            std::future::ready(HookOutput::Go)
        },
    );
    let dir = tempfile::tempdir().unwrap();
    let policy = Policy::open(&Workspace::at(dir.path()).unwrap(), Repl::typed("s04_hooks"));
    let alice = lead.for_agent("alice", policy);
    lead.pre_tool(&Toolbox::new(), call(json!({}))).await;
    alice.pre_tool(&Toolbox::new(), call(json!({}))).await;
    assert_eq!(*seen.lock().unwrap(), [None, Some("alice".to_owned())]);

    let history = History::default();
    while alice.stop(&history).await.is_some() {}
    assert!(lead.stop(&history).await.is_some(), "alice has used up the lead's rounds");
}

#[tokio::test]
async fn contexts_add_up() {
    let hooks = Hooks::new()
        .on_prompt(async |_| HookOutput::Context("one".into()))
        .on_prompt(async |_| HookOutput::Context("two".into()))
        .on_post_tool(async |_| HookOutput::Context("three".into()));
    let tagged = |text: &str| format!("\n\n<hook-context>\n{text}\n</hook-context>");
    assert_eq!(
        hooks.prompt("go".into()).await,
        PromptDecision::Go(format!("go{}{}", tagged("one"), tagged("two")))
    );
    let output = hooks.post_tool(&call(json!({})), Output::error("oops")).await;
    assert_eq!(output, Output::error(format!("oops{}", tagged("three"))));
}

#[tokio::test]
async fn the_count_of_stops_begins_anew_with_each_prompt() {
    let hooks = Hooks::new().on_stop(async |_| HookOutput::Block("more".into()));
    let history = History::default();
    for _ in 0..2 {
        hooks.prompt("go".into()).await;
        let mut rounds = 0;
        while hooks.stop(&history).await.is_some() {
            rounds += 1;
        }
        assert_eq!(rounds, 3);
    }
}
