//! Who asks beside the lead: subagents and memory.

use mock_servers::model::{Fault, MockModel, says};
use s01_loop::{History, Repl, ToolCall};
use s02_tools::{Toolbox, Workspace};
use s03_permission::Policy;
use s04_hooks::Hooks;
use s06_subagent::Subagents;
use s09_memory::Memory;
use s11_recovery::Recovery;
use serde_json::{Map, json};

use crate::{Diary, client, settings};

#[tokio::test]
async fn a_subagents_requests_are_tried_again_too_and_once_a_level() {
    let model = MockModel::scripted([says("Nothing to see.")]);
    model.fault(Fault::Overloaded, 2);
    let (dir, diary) = (tempfile::tempdir().unwrap(), Diary::default());
    let recovery = Recovery::with_clock(client(settings(model.url())), diary.clone());
    let (ws, repl) = (
        Workspace::at(dir.path()).unwrap(),
        Repl::typed("test").quiet(),
    );
    let policy = Policy::open(&ws, repl.clone());
    let (tools, hooks) = (Toolbox::new(), Hooks::new());
    let subagents = Subagents::new(&recovery, &tools, &hooks, &policy, &repl);
    let call = ToolCall {
        id: "toolu_1".into(),
        name: "task".into(),
        input: json!({"description": "look around"}),
        extra: Map::new(),
    };
    let output = subagents.tool().call(call).await;
    assert!(output.text.contains("Nothing to see."), "{output:?}");
    assert_eq!(model.requests().len(), 3);
    assert_eq!(
        diary.remarks(),
        [
            "task 1: retrying in 0.5 s (1/10): overloaded",
            "task 1: retrying in 1.0 s (2/10): overloaded",
        ]
    );
}

#[tokio::test]
async fn a_memory_that_can_be_chosen_without_a_model_does_not_wait_for_a_dead_one() {
    let model = MockModel::scripted([]);
    model.fault(Fault::Internal, 100);
    let (dir, diary) = (tempfile::tempdir().unwrap(), Diary::default());
    let recovery = Recovery::with_clock(client(settings(model.url())), diary.clone());
    let ws = Workspace::at(dir.path()).unwrap();
    let tabs = "---\nname: tabs\ndescription: indent with tabs\ntype: user\n---\nUse tabs.\n";
    let folder = ws.state("memory");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("tabs.md"), tabs).unwrap();
    let memory = Memory::open(&ws, &recovery, &Repl::typed("test").quiet());
    let mut history = History::default();
    history.user("Indent this file with tabs.");
    let note = memory.recall(&history).await.unwrap();
    assert!(note.contains("Use tabs."), "words in common choose: {note}");
    assert_eq!(model.requests().len(), 4);
    let remarks = diary.remarks();
    assert!(remarks[0].contains("(1/4)"), "{remarks:?}");
    assert_eq!(remarks[3], "memory: giving up after 4 tries");
    // The conversation itself is as patient as ever, and so is a subagent's.
    assert!(recovery.send("", &mut history, &[]).await.is_err());
    assert_eq!(model.requests().len(), 14);
}
