//! Exercise 2 · a plan that binds (15 minutes).
//!
//! Nothing compares what bob does with what he has planned. Give submit_plan an optional argument `files`, a list of the
//! files that he will write. When the plan is approved, write_file takes these and no others from him; a refusal names the
//! files of his plan and says that another one may be sent. A plan without `files` binds nobody, as before.
//!
//! `./hello.py` and `hello.py` are one file. The newest plan counts. And who has left is bound no longer: a new bob starts
//! free. (A shell command can write what it likes; that is the policy's business.)
//!
//! Hint: `Protocol::judge` in src/protocol.rs sees the call, the tools and who calls. `Access` says which tool writes
//! the file in its argument `path`.
//!
//! Hint: while a plan waits nothing runs at all, so the files can be noted when it is sent. `State::forget` is called when
//! somebody has gone.

use mock_servers::model::{MockModel, Reply, calls, says};
use serde_json::{Value, json};

use crate::desk::{Desk, write};

fn plan(files: Value) -> Reply {
    calls("submit_plan", json!({"plan": "I write.", "files": files}))
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn only_what_was_planned_is_written() {
    let model = MockModel::scripted([
        plan(json!(["hello.py", "src/deep.py"])),
        calls("write_file", write("./hello.py"))
            .and_calls("write_file", write("src/deep.py"))
            .and_calls("write_file", write("other.py"))
            .and_calls("read_file", json!({"path": "hello.py"})),
        says("Done."),
    ]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let id = desk.plan().await;
    desk.review(&id, true, "").await;
    desk.mail_with("Done.").await;
    let results = model.last_request().results();
    let refused: Vec<bool> = results.iter().map(|(is_error, _)| *is_error).collect();
    assert_eq!(
        refused,
        [false, false, false, true, false],
        "the plan names hello.py and src/deep.py, so of submit_plan, three times write_file and read_file the write of \
         other.py alone was to be refused; the results: {results:#?}"
    );
    assert!(
        results[3].1.contains("hello.py") && results[3].1.contains("src/deep.py"),
        "a refusal names the files of the plan: {}",
        results[3].1
    );
    assert!(!desk.has("other.py"));
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn the_newest_plan_counts() {
    let model = MockModel::scripted([
        plan(json!(["a.py"])),
        calls("write_file", write("b.py")),
        plan(json!(["b.py"])),
        calls("write_file", write("b.py")).and_calls("write_file", write("a.py")),
        calls("submit_plan", json!({"plan": "Whatever is needed."})),
        calls("write_file", write("c.py")),
        says("Done."),
    ]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    for _ in 0..3 {
        let id = desk.plan().await;
        desk.review(&id, true, "").await;
    }
    desk.mail_with("Done.").await;
    let results = model.last_request().results();
    let refused: Vec<bool> = results.iter().map(|(is_error, _)| *is_error).collect();
    assert_eq!(
        refused,
        [false, true, false, false, true, false, false],
        "planned: a.py; then b.py is refused. Planned: b.py; then a.py is refused. Planned without files: nothing is. The \
         results: {results:#?}"
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_new_bob_starts_free() {
    let model = MockModel::scripted([
        plan(json!(["a.py"])),
        calls("write_file", write("b.py")),
        says("Done."),
        calls("write_file", write("b.py")),
        says("Done again."),
    ]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let id = desk.plan().await;
    desk.review(&id, true, "").await;
    desk.mail_with("Done.").await;
    assert!(!desk.has("b.py"), "the plan names a.py, and b.py was written");
    desk.shutdown("bob").await;
    desk.until("gone").await;
    desk.spawn("bob").await;
    desk.mail_with("Done again.").await;
    assert!(
        desk.has("b.py"),
        "the plan was another bob's; this one has sent none, and his write was refused"
    );
}
