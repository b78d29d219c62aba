//! Putting the kept in order, and everything that can go wrong with it.

use std::fs;
use std::path::PathBuf;

use mock_servers::model::{Brain, MockModel, Options, Reply, Request, StopReason, says};
use serde_json::{Value, json};

use crate::stage::{CONSOLIDATE, EXTRACT, Stage, entry, file, same, turn};

/// Seven memories in the place of [`Stage::memories`] of twelve.
fn seven() -> Value {
    let mut seven = same(6);
    let list = seven.as_array_mut().unwrap();
    list[0]["content"] = json!("All about m10 and m16 to m21.");
    list.push(entry("the rest", "All about the rest."));
    seven
}

/// The files of [`seven`] that were there before.
const KEPT: [&str; 6] = ["m10.md", "m11.md", "m12.md", "m13.md", "m14.md", "m15.md"];

/// The answers to one turn that extracts nothing.
fn consolidates(stage: &Stage, answer: Value) {
    stage.answers(EXTRACT, [json!([])]).answers(CONSOLIDATE, [answer]);
}

#[tokio::test]
async fn many_memories_become_fewer_and_the_set_before_is_kept() {
    let stage = Stage::new();
    stage.memories(12).write("memory/MEMORY.md", "By hand.\n");
    stage.write("memory/m11.md", &file("m11").replace("---\n\n", "tags: [a]\n---\n"));
    let before = stage.files("memory");
    consolidates(&stage, seven());
    stage.memory().learn(&turn()).await;
    let after = stage.files("memory");
    assert_eq!(stage.names(), [&KEPT[..], &["the-rest.md"]].concat());
    assert_eq!(after["m11.md"], before["m11.md"], "what stays is the same file");
    assert_eq!(stage.files("memory.old"), before);
    let index = stage.read("memory/MEMORY.md");
    assert!(index.starts_with("By hand.\n\n- [m10](m10.md) — about m10\n"), "{index}");
    assert_eq!(index.lines().count(), 9, "{index}");
}

#[tokio::test]
async fn an_answer_that_cannot_be_right_changes_nothing() {
    let mut two_of_one_name = same(12);
    two_of_one_name[1]["name"] = json!("m10");
    let mut one_empty = same(12);
    one_empty[3] = json!({"name": "x"});
    let one_is_text = json!([same(12)[0], same(12)[1], same(12)[2], "text"]);
    let mut gutted = same(12);
    for entry in gutted.as_array_mut().unwrap() {
        entry["content"] = json!("-");
    }
    let answers = [
        json!([]),
        json!("[]"),
        json!({}),
        json!([entry("all", "All of it.")]),
        same(2),
        same(13),
        two_of_one_name,
        one_empty,
        one_is_text,
        gutted,
    ];
    let stage = Stage::new();
    stage.memories(12);
    let memory = stage.memory();
    let before = stage.files("memory");
    for answer in answers {
        consolidates(&stage, answer.clone());
        stage.memory().learn(&turn()).await;
        assert_eq!(stage.files("memory"), before, "{answer}");
    }
    let cut = says(seven().to_string()).stops_with(StopReason::MaxTokens);
    stage.answers(EXTRACT, [json!([])]).model.script_for(CONSOLIDATE, [cut]);
    memory.learn(&turn()).await;
    assert_eq!(stage.files("memory"), before);
    assert!(!stage.path("memory.old").exists());
}

#[tokio::test]
async fn nobody_is_asked_about_few_memories_or_about_the_same_set_again() {
    let stage = Stage::new();
    stage.memories(8);
    let memory = stage.memory();
    let learn = async |name: &str, asked: usize| {
        stage.answers(EXTRACT, [json!([entry(name, name)])]);
        memory.learn(&turn()).await;
        assert_eq!(stage.asked(CONSOLIDATE), asked, "{name}");
    };
    let nothing_new = async |asked: usize| {
        stage.answers(EXTRACT, [json!([]), json!([])]);
        memory.learn(&turn()).await;
        assert_eq!(stage.asked(CONSOLIDATE), asked);
        stage.memory().learn(&turn()).await;
    };
    learn("ninth", 0).await;
    // The tenth; the answer changes nothing, and that settles it, for the next process, too.
    let mut ten = same(8);
    let two = [entry("ninth", "ninth"), entry("tenth", "tenth")];
    ten.as_array_mut().unwrap().extend(two);
    stage.answers(CONSOLIDATE, [ten]);
    learn("tenth", 1).await;
    assert_eq!(stage.names().len(), 10);
    let is_backed_up = stage.path("memory.old").exists();
    assert!(!is_backed_up, "an unchanged set needs no backup");
    nothing_new(1).await;
    assert_eq!(stage.asked(CONSOLIDATE), 1);
    // A quarter more is worth another call. A failure is tried again when there is more, or by the next process.
    learn("eleventh", 1).await;
    learn("twelfth", 1).await;
    stage.says(CONSOLIDATE, "no").says(CONSOLIDATE, "no");
    learn("thirteenth", 2).await;
    nothing_new(2).await;
    assert_eq!(stage.asked(CONSOLIDATE), 3);
}

/// Answers as a script would, and does something to the files while it thinks about the set.
struct Meddler {
    folder: PathBuf,
    answer: Value,
    meddle: fn(&PathBuf),
}

impl Brain for Meddler {
    fn answer(&self, request: &Request) -> Reply {
        if request.system.starts_with(CONSOLIDATE) {
            (self.meddle)(&self.folder);
            return says(self.answer.to_string());
        }
        says("[]")
    }
}

async fn meddled(meddle: fn(&PathBuf)) -> Stage {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join(".harness/memory");
    let answer = seven();
    let brain = Meddler {
        folder,
        answer,
        meddle,
    };
    let model = MockModel::start(Options::strict(), brain).unwrap();
    let stage = Stage { dir, model };
    stage.memories(12);
    stage.memory().learn(&turn()).await;
    assert_eq!(stage.asked(CONSOLIDATE), 1);
    stage
}

#[tokio::test]
async fn what_somebody_changed_while_the_model_thought_is_not_lost() {
    let stage = meddled(|folder| fs::write(folder.join("m20.md"), file("by hand")).unwrap()).await;
    assert_eq!(stage.names().len(), 12, "nothing is replaced");
    assert_eq!(stage.read("memory/m20.md"), file("by hand"));

    let stage = meddled(|folder| fs::remove_file(folder.join("m20.md")).unwrap()).await;
    assert_eq!(stage.names().len(), 11, "what was deleted stays deleted");

    let stage = meddled(|folder| {
        fs::write(folder.join("new.md"), file("new")).unwrap();
        fs::write(folder.join("the-rest.md"), file("other")).unwrap();
    })
    .await;
    let mut names = KEPT.to_vec();
    names.extend(["new.md", "the-rest-2.md", "the-rest.md"]);
    assert_eq!(stage.names(), names);
    assert_eq!(stage.read("memory/the-rest.md"), file("other"));
    assert_eq!(stage.read("memory/MEMORY.md").lines().count(), 9);
}

#[tokio::test]
async fn a_set_that_cannot_be_backed_up_stays() {
    let stage = Stage::new();
    stage.memories(12).write("memory.old", "in the way");
    let before = stage.files("memory");
    consolidates(&stage, seven());
    stage.memory().learn(&turn()).await;
    assert_eq!(stage.files("memory"), before);
}
