//! Exercise 1 · a name nearly right (10 minutes).
//!
//! Models misremember names: `ReadFile`, `read-file`, `READ_FILE`. Today such a call is answered with the names there
//! are, and a request is lost. Let a call find the tool whose name is the same when capitals, `_` and `-` do not
//! count. An exact name always wins, and a name that fits two tools fits none. Tools whose names differ only so
//! little are still different tools: the toolbox takes them all. Whoever asks the toolbox about a call must hear of
//! the tool that would run: what may run side by side is decided on the answer, and so is, in the next chapter, what
//! needs a permission.
//!
//! Hint: all of it is in `src/toolbox.rs`. `call` is not the only one that looks for a name.
//!
//! Hint: when you have changed the one place where names are found, ask who else goes there, and whether they want
//! the same.

use s01_loop::{Output, ToolCall, ToolSpec};
use s02_tools::{Access, Glob, Tool, Toolbox};
use serde_json::json;

/// A toolbox of tools that read nothing and answer with their own name.
fn toolbox(names: &[&'static str]) -> Toolbox {
    let tool = |name: &'static str| {
        let spec = ToolSpec::new::<Glob>(name, "");
        Tool::new(spec, move |_| std::future::ready(Output::ok(name))).touching(Access::Nothing)
    };
    Toolbox::new().with_all(names.iter().map(|name| tool(name)))
}

/// What a call of this name is answered with.
async fn answer(tools: &Toolbox, name: &str) -> String {
    tools.call(ToolCall::new("a", name, json!({}))).await.text
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn a_nearly_right_name_finds_its_tool() {
    let tools = toolbox(&["bash", "read_file", "glob"]);
    for name in ["ReadFile", "read-file", "READ_FILE", "readfile", "read_file"] {
        let answer = answer(&tools, name).await;
        assert!(
            answer == "read_file",
            "a call of `{name}` should run read_file; it was answered: {answer}"
        );
    }
    let answer = answer(&tools, "read_files").await;
    assert!(
        answer.starts_with("there is no tool `read_files`"),
        "`read_files` differs by a letter and should find nothing; it was answered: {answer}"
    );
}

/// The first trap: what runs is one thing, what the harness believes about it another.
#[test]
#[ignore = "exercise 1"]
fn whoever_asks_hears_of_the_tool_that_runs() {
    let tools = toolbox(&["read_file"]);
    let found = tools.get("ReadFile").map(Tool::name);
    assert!(
        found == Some("read_file"),
        "`get` says which tool a call means. For `ReadFile` it should say read_file, and says {found:?}"
    );
    let calls = ["ReadFile", "read_file"].map(|name| ToolCall::new(name, name, json!({})));
    let batches = tools.batches(calls.to_vec()).len();
    assert!(
        batches == 1,
        "two calls that only read should share a batch, also when one name is only nearly right; \
         these have {batches} batches"
    );
}

/// The second trap: names that a server chose may be nearly the same.
#[tokio::test]
#[ignore = "exercise 1"]
async fn names_that_are_nearly_the_same_stay_two_tools() {
    let tools = toolbox(&["find_it", "Find-It", "look"]);
    let looked = answer(&tools, "Look").await;
    assert!(looked == "look", "a call of `Look` should run look; it was answered: {looked}");
    let names = tools.names();
    assert!(
        names == ["find_it", "Find-It", "look"],
        "three tools of different names went in; in it are {names:?}"
    );
    for name in ["find_it", "Find-It"] {
        let answer = answer(&tools, name).await;
        assert!(answer == name, "the exact name `{name}` should win; it was answered: {answer}");
    }
    let answer = answer(&tools, "FINDIT").await;
    assert!(
        answer.starts_with("there is no tool `FINDIT`"),
        "`FINDIT` fits two tools, so it should find none; it was answered: {answer}"
    );
}
