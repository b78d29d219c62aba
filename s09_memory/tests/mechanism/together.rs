//! Several agents in one folder.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use mock_servers::model::{Block, Brain, MockModel, Options, Reply, Request, says};
use serde_json::{Value, json};

use crate::stage::{CONSOLIDATE, Stage, entry, turn};

const EACH: usize = 50;

/// Has something new to remember each time, and nothing to consolidate.
#[derive(Default)]
struct Teacher(AtomicUsize);

impl Brain for Teacher {
    fn answer(&self, request: &Request) -> Reply {
        if request.system.starts_with(CONSOLIDATE) {
            return says(question(request));
        }
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        let content = format!("Lesson {number}.");
        says(json!([entry(&format!("lesson {number}"), &content)]).to_string())
    }
}

/// The set as it was sent.
pub fn question(request: &Request) -> String {
    let [Block::Text(text)] = request.messages[0].blocks.as_slice() else {
        panic!("the question is one text");
    };
    let set = text
        .trim_start_matches("<memories>")
        .trim_end_matches("</memories>");
    let set: Vec<Value> = serde_json::from_str(set).unwrap();
    json!(set).to_string()
}

#[test]
fn two_agents_that_learn_at_once_lose_nothing() {
    let model = MockModel::start(Options::strict(), Teacher::default()).unwrap();
    let stage = Stage::with(model);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                runtime.unwrap().block_on(async {
                    let memory = stage.memory();
                    for _ in 0..EACH {
                        memory.learn(&turn()).await;
                    }
                });
            });
        }
    });
    let lessons: BTreeSet<String> = (0..2 * EACH)
        .map(|number| format!("lesson-{number}.md"))
        .collect();
    let names: BTreeSet<String> = stage.names().into_iter().collect();
    assert_eq!(names, lessons);
    assert_eq!(stage.read("memory/MEMORY.md").lines().count(), 2 * EACH);
}
