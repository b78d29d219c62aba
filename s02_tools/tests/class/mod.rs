//! The lesson as a class sees it: each prompt of the README, other words for it, and what lies on disk afterwards.

mod session;

use mock_servers::model::{Block, MockModel, calls, says};
use serde_json::json;
use testkit::{Class, assert_pool};

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s02_tools"))
        .file("README.md", "# Demo\n\nA small project to play with.\n")
        .file("Cargo.toml", "[package]\nname = \"demo\"\n")
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s02_tools"));
}

#[test]
fn read_and_tell() {
    let model = MockModel::strict_rehearsal();
    let ran = class()
        .model(&model)
        .types(&["Read the file README.md and tell me what this project is about"]);
    ran.succeeds().shows("> read_file  README.md").shows("A small project to play with.");
    assert_eq!(model.last_request().calls(), [["read_file"]]);
}

#[test]
fn create_and_read_back() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class
        .types(&[r#"Create a file called test.py that prints "hello", then read it back"#])
        .succeeds();
    assert_eq!(model.last_request().calls(), [["write_file"], ["read_file"]]);
    assert_eq!(class.read("test.py"), "print(\"hello\")\n");
}

#[test]
fn find_files() {
    let model = MockModel::strict_rehearsal();
    let class = class().file("src/a.py", "").file("b.py", "").model(&model);
    class
        .types(&["Find all Python files in this directory"])
        .succeeds()
        .shows("src/a.py")
        .shows("b.py");
    assert_eq!(model.last_request().calls(), [["glob"]]);
}

#[test]
fn read_two_files_at_once_and_summarise() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class.types(&["Read both README.md and Cargo.toml, then create a summary file"]).succeeds();
    assert_eq!(
        model.last_request().calls(),
        [vec!["read_file", "read_file"], vec!["bash"], vec!["write_file"]],
        "it looks whether the file is there"
    );
    let written = std::fs::read_dir(class.dir()).unwrap().flatten().map(|entry| entry.path());
    let summary = written
        .into_iter()
        .find(|path| path.to_string_lossy().to_lowercase().contains("summary"))
        .unwrap();
    let summary = std::fs::read_to_string(summary).unwrap();
    assert!(summary.contains("A small project to play with."), "{summary}");
}

#[test]
fn other_words_do_as_well() {
    for (request, shown) in [
        ("what does README.md say?", "A small project"),
        ("replace small with tiny in README.md", "edit_file"),
        ("find every .toml file", "Cargo.toml"),
        ("make notes.md with the text hello", "notes.md"),
        ("show me Cargo.toml", "demo"),
    ] {
        let model = MockModel::strict_rehearsal();
        class().model(&model).types(&[request]).succeeds().shows(shown);
    }
}

#[test]
fn a_path_that_leads_out_is_refused_and_told() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class.types(&["Write hello into ../outside.txt"]).succeeds().shows("outside the workspace");
    assert!(!class.dir().join("../outside.txt").exists());
}

#[test]
fn outputs_come_back_in_the_order_of_the_calls() {
    let read = |path: &str| json!({ "path": path });
    let model = MockModel::scripted([
        calls("read_file", read("README.md"))
            .and_calls("read_file", read("missing.txt"))
            .and_calls("glob", json!({"pattern": "*.toml"}))
            .and_calls("write_file", json!({"path": "new.txt"}))
            .and_calls("unknown", json!({})),
        says("Done."),
    ]);
    class().model(&model).types(&["go"]).succeeds();
    let message = model.requests()[1].messages.last().unwrap().clone();
    let errors: Vec<bool> = message
        .blocks
        .iter()
        .map(|block| matches!(block, Block::ToolResult { is_error: true, .. }))
        .collect();
    assert_eq!(errors, [false, true, false, true, true]);
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([says("Hi.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let names = model.last_request().tool_names();
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names)]);
    let tools = model.requests()[0].json()["tools"].clone();
    insta::assert_snapshot!(format!("{tools:#}"));
}
