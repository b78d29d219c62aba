//! The lesson as a class sees it: what was rebuilt, what the API read from its cache, and why.

mod session;

use std::sync::Arc;

use mock_servers::model::{MockModel, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Ran, assert_pool};

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s10_cache"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .file("Cargo.toml", "[package]\nname = \"demo\"\n")
}

/// A lead with these replies. At the end of each turn it is asked what to remember, and there is nothing.
fn lead(turns: usize, replies: impl IntoIterator<Item = Reply>) -> MockModel {
    let model = MockModel::scripted(replies);
    model.script_for("You extract memories", (0..turns).map(|_| says("[]")));
    model
}

/// The requests of the lead, without side calls.
pub fn leads(model: &MockModel) -> Vec<Arc<Request>> {
    let mut requests = model.requests();
    requests.retain(|request| request.system.starts_with("You are a coding agent"));
    requests
}

/// What the turns have read from the cache, written to it, and neither.
fn reports(ran: &Ran) -> Vec<(u64, u64, u64)> {
    let lines = ran.stdout.lines();
    let reports = lines.filter(|line| line.starts_with("[cache: "));
    let numbers = |report: &str| {
        let digits = |part: &str| part.replace(|c: char| !c.is_ascii_digit(), "");
        let parts = report.split(" · ").map(|part| digits(part).parse().unwrap());
        let numbers: Vec<u64> = parts.collect();
        (numbers[0], numbers[1], numbers[2])
    };
    reports.map(numbers).collect()
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s10_cache"));
}

/// The figure in the README is measured by this conversation.
#[test]
fn the_second_request_hits_a_memory_appears_in_the_next_and_most_of_the_input_is_read() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    let ran = class.types(&[
        "Read the file README.md",
        "Create a file called .harness/memory/MEMORY.md with content \"- [test](test.md) — test memory\"",
        "y",
        "Read the file Cargo.toml",
    ]);
    ran.succeeds()
        .shows("[prompt rebuilt: identity, tools, workspace, skills, date]\n")
        .shows("[cache hit]\n")
        .shows("A small project.")
        .shows("[prompt rebuilt: memory]\n")
        .shows("name = \"demo\"");
    let line = "- [test](test.md) — test memory";
    assert_eq!(class.read(".harness/memory/MEMORY.md").trim(), line);
    let known: Vec<bool> = leads(&model).iter().map(|it| it.system.contains(line)).collect();
    assert!(!known[0] && known.is_sorted() && known.ends_with(&[true, true]));
    let turns = reports(&ran);
    assert_eq!(turns.len(), 3, "{}", ran.transcript());
    // The tools and the prompt alone are more than the API caches at least.
    assert!(turns[0].0 >= 1_024 && turns[0].1 > turns[0].0, "{turns:?}");
    let sum = |part: fn(&(u64, u64, u64)) -> u64| turns.iter().map(part).sum::<u64>();
    let (read, wrote, fresh) = (sum(|t| t.0), sum(|t| t.1), sum(|t| t.2));
    let share = 100 * read / (read + wrote + fresh);
    println!("read {read}, wrote {wrote}, fresh {fresh}: {share} % read");
    assert!(share >= 60 && fresh == 0, "{share} %\n{}", ran.transcript());
}

#[test]
fn what_changes_in_the_workspace_rebuilds_its_section_and_nothing_else() {
    let skill = "---\nname: tea\ndescription: Make tea.\n---\nBoil water.\n";
    let skill = json!({"path": "skills/tea/SKILL.md", "content": skill});
    for (call, lines, section) in [
        (calls("write_file", skill), &["go"][..], "skills"),
        (calls("bash", json!({"command": "git init -q"})), &["go", "y"], "workspace"),
    ] {
        let model = lead(1, [call, says("Done.")]);
        let ran = class().model(&model).types(lines);
        ran.shows(&format!("[prompt rebuilt: {section}]\n"));
    }
}

#[test]
fn the_day_is_the_one_of_the_users_time_zone() {
    // 26 hours apart: never the same day.
    let days = ["EARLY-14", "LATE+12"].map(|zone| {
        let model = lead(1, [says("Hi.")]);
        class().env("TZ", zone).model(&model).types(&["Hello"]).succeeds();
        let request = leads(&model).pop().expect("a request");
        let last = request.system.lines().last().expect("a date").to_owned();
        assert!(last.starts_with("Today is "), "{last}");
        last
    });
    assert_ne!(days[0], days[1]);
}

/// More than fifty messages, as many as a layer of compaction takes for many, in a nearly empty window.
#[test]
fn over_thirty_short_turns_each_reads_all_that_the_turns_before_wrote() {
    let model = lead(30, (0..30).map(|_| says("Yes.")));
    let ran = class().model(&model).types(&["Is it so?"; 30]);
    let turns = reports(ran.succeeds());
    assert_eq!(turns.len(), 30, "{}", ran.transcript());
    for pair in turns.windows(2) {
        let [(read, wrote, _), (now, new, fresh)] = [pair[0], pair[1]];
        assert_eq!((now, fresh), (read + wrote, 0), "{turns:?}");
        assert!(new < 50, "{turns:?}");
    }
}

#[test]
fn other_words_do_as_well() {
    for (request, shown) in [
        ("what does README.md say?", "A small project."),
        ("show me Cargo.toml, please", "name = \"demo\""),
        ("make notes.md with the text hello", "created notes.md"),
    ] {
        let model = MockModel::strict_rehearsal();
        let ran = class().model(&model).types(&[request]);
        ran.succeeds().shows(shown).shows("[cache hit]\n");
        assert!(reports(&ran)[0].0 >= 1_024, "{}", ran.transcript());
    }
}

/// The system prompt as the model reads it, with its breakpoints, the same on every machine and every day.
#[test]
fn the_prompt() {
    let model = lead(1, [says("Hi.")]);
    let class = class();
    let dir = class.dir().canonicalize().expect("the workspace");
    class.model(&model).types(&["Hello"]).succeeds();
    let body = leads(&model).pop().expect("a request").json();
    let blocks = body["system"].as_array().expect("blocks").iter();
    let shown = blocks.map(|block| {
        let text = block["text"].as_str().expect("a text");
        let mark = match &block["cache_control"] {
            Value::Null => "",
            _ => "\n── breakpoint ──",
        };
        format!("{text}{mark}")
    });
    let prompt = shown.collect::<Vec<_>>().join("\n\n");
    let (prompt, _) = prompt.rsplit_once("Today is ").expect("a date");
    let prompt = prompt
        .replace(&dir.display().to_string(), "[workspace]")
        .replace(&format!("on {}.", std::env::consts::OS), "on [system].");
    insta::assert_snapshot!(prompt);
}

#[test]
fn the_tool_pool_and_a_subagents_requests_end_in_a_breakpoint_too() {
    let greet = calls("task", json!({"description": "Greet."}));
    let model = lead(1, [greet, says("Hi.")]);
    model.script_for("You are a subagent", [says("Done.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let requests = model.requests();
    let [names, subagent] = [0, 1].map(|at| requests[at].tool_names());
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names), ("subagent", subagent)]);
    let messages = requests[1].json()["messages"].to_string();
    assert!(messages.contains("cache_control"), "{messages}");
}
