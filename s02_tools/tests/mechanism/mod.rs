//! The tools through the toolbox, as the loop calls them: real files in temporary directories.

use s01_loop::{Output, ToolCall, ToolSpec};
use s02_tools::{Toolbox, Workspace, bash, edit_file, glob, read_file, write_file};
use serde_json::{Value, json};
use tempfile::TempDir;

mod fence;
mod files;
mod side_by_side;

/// A workspace in a temporary directory, with the five tools.
struct Bench {
    dir: TempDir,
    ws: Workspace,
    tools: Toolbox,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let tools = Toolbox::new()
            .with(bash(&ws))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with(edit_file(&ws))
            .with(glob(&ws));
        Self { dir, ws, tools }
    }

    fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(path)).unwrap()
    }

    async fn call(&self, name: &str, input: Value) -> Output {
        self.tools.call(call("toolu_1", name, input)).await
    }

    /// The text of an output that must be a success.
    async fn works(&self, name: &str, input: Value) -> String {
        let output = self.call(name, input).await;
        assert!(!output.is_error, "{}", output.text);
        output.text
    }

    /// The text of an output that must be a failure.
    async fn fails(&self, name: &str, input: Value) -> String {
        let output = self.call(name, input).await;
        assert!(output.is_error, "{}", output.text);
        output.text
    }
}

fn call(id: &str, name: &str, input: Value) -> ToolCall {
    ToolCall::new(id, name, input)
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_names_there_are() {
    let bench = Bench::new();
    assert_eq!(
        bench.fails("cat", json!({})).await,
        "there is no tool `cat`; the tools are bash, read_file, write_file, edit_file, glob"
    );
}

#[tokio::test]
async fn a_missing_argument_is_named_by_every_tool() {
    let bench = Bench::new();
    for (tool, field) in [
        ("bash", "command"),
        ("read_file", "path"),
        ("write_file", "path"),
        ("edit_file", "path"),
        ("glob", "pattern"),
    ] {
        assert_eq!(bench.fails(tool, json!({})).await, format!("{tool}: missing field `{field}`"));
    }
    let wrong = bench.fails("read_file", json!({"path": "a", "offset": "first"})).await;
    assert!(wrong.starts_with("read_file: argument `offset`: invalid type"), "{wrong}");
}

#[tokio::test]
async fn a_call_whose_input_was_lost_does_not_run() {
    let runs = s02_tools::Tool::new(ToolSpec::with_schema("all", "", json!({})), async |_| {
        panic!("it has no arguments to complain of")
    });
    let lost = call("toolu_1", "all", json!({"unreadable_input": null}));
    let output = runs.call(lost).await;
    assert!(output.is_error && output.text.contains("100 levels"), "{output:?}");
}

#[test]
fn the_first_tool_of_a_name_wins() {
    let bench = Bench::new();
    let imposter =
        s02_tools::Tool::blocking::<s02_tools::Glob, _>("bash", "not bash", |_| Ok(String::new()));
    let tools = bench.tools.clone().with(imposter);
    assert_eq!(tools.names(), ["bash", "read_file", "write_file", "edit_file", "glob"]);
    assert_ne!(tools.get("bash").unwrap().spec().description(), "not bash");
}
