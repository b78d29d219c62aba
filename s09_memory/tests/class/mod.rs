//! The lesson as a class sees it: what is said in one session is known in the next.

mod session;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use mock_servers::model::{Block, Brain, MockModel, Options, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, assert_pool};

const CHOOSE: &str = "You choose memories";
const EXTRACT: &str = "You extract memories";
const CONSOLIDATE: &str = "You consolidate memories";

const TABS: &str = "I prefer using tabs for indentation, not spaces. Remember that.";
const QUOTES: &str = "I also prefer single quotes over double quotes for strings.";
const PYTHON: &str = "Create a Python file called test.py";
const TOLD: &str = "What did I tell you about my preferences?";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s09_memory"))
}

/// A class in which an earlier session has left this memory.
fn class_knowing(name: &str, content: &str) -> Class {
    class().file(
        format!(".harness/memory/{name}.md"),
        format!("---\nname: {name}\ndescription: about {name}\ntype: user\n---\n\n{content}\n"),
    )
}

fn entry(name: &str, content: &str) -> Value {
    json!({"name": name, "description": format!("about {name}"), "type": "user", "content": content})
}

/// A lead that says these things, beside side calls that have scripts of their own.
fn lead(texts: &[&str]) -> MockModel {
    MockModel::scripted(texts.iter().map(|text| says(*text)))
}

/// The requests of the lead.
fn leads(model: &MockModel) -> Vec<Arc<Request>> {
    let mut requests = model.requests();
    requests.retain(|request| request.system.starts_with("You are a coding agent"));
    requests
}

/// The lines of a file that are indented.
fn indented(text: &str) -> Vec<&str> {
    let is_indented = |line: &&str| line.starts_with([' ', '\t']);
    text.lines().filter(is_indented).collect()
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s09_memory"));
}

#[test]
fn a_second_process_obeys_what_the_first_was_told() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class.types(&[PYTHON]).succeeds().never_shows("[recalled");
    assert!(!class.read("test.py").contains('\t'), "nobody has said so yet");
    fs::remove_file(class.dir().join("test.py")).unwrap();
    class.types(&[TABS]).succeeds().shows("[remembered: ");
    let index = class.read(".harness/memory/MEMORY.md");
    assert!(index.contains("tabs"), "{index}");

    class.types(&[PYTHON]).succeeds().shows("[recalled: ");
    let python = class.read("test.py");
    let indented = indented(&python);
    assert!(!indented.is_empty(), "nothing in it is indented: {python}");
    assert!(indented.iter().all(|line| line.starts_with('\t')), "{python}");
}

#[test]
fn a_second_preference_stands_beside_the_first() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class.types(&[TABS, QUOTES]).succeeds();
    let index = class.read(".harness/memory/MEMORY.md");
    assert_eq!(index.lines().count(), 2, "{index}");
    let ran = class.types(&[PYTHON, TOLD]);
    ran.succeeds().shows("tabs").shows("single quotes");
    let python = class.read("test.py");
    assert!(python.contains("\n\t") && python.contains('\''), "{python}");
    assert!(!python.replace("\"\"\"", "").contains('"'), "{python}");
    let mut bodies = model.requests().into_iter().map(|request| request.body.clone());
    assert!(bodies.all(|body| !String::from_utf8_lossy(&body).contains("test-key")));
    for path in ["MEMORY.md", ".index.json"] {
        let text = class.read(format!(".harness/memory/{path}"));
        assert!(!text.contains("test-key"), "{text}");
    }
}

/// What one session is told, what the next is asked, and what the user sees then.
const SESSIONS: &str = "\
From now on use tabs instead of spaces for indentation. | Make a new Python file test.py | created test.py
Keep in mind that I like tabs better than spaces. | Write a python script named test.py | created test.py
use tabs please, I can't stand spaces | create test.py with a function that greets somebody | created test.py
I prefer using tabs for indentation, not spaces. | What did I tell you about my preferences? | tabs
I prefer using tabs for indentation, not spaces. | What do you know about my preferences? | tabs
I prefer using tabs for indentation, not spaces. | Do you remember how I like my code? | tabs
I prefer using tabs for indentation, not spaces. | do I use tabs or spaces? | tabs
remember that the staging server is called heron | what is the staging server called? | - the staging server is called heron";

#[test]
fn what_one_session_is_told_the_next_one_knows() {
    for session in SESSIONS.lines() {
        let [told, asked, shown] = *session.split(" | ").collect::<Vec<_>>() else {
            panic!("three cells: {session}");
        };
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        class.types(&[told]).succeeds().shows("[remembered: ");
        class.types(&[asked]).succeeds().shows(shown);
        if shown == "created test.py" {
            let python = class.read("test.py");
            assert!(python.contains("\n\t"), "{session}: {python}");
        }
    }
}

#[test]
fn the_index_is_in_the_prompt_and_the_memory_behind_the_request() {
    let model = lead(&["Fine."]);
    model.script_for(CHOOSE, [says("[\"tabs\"]")]);
    model.script_for(EXTRACT, [says("[]")]);
    let class = class_knowing("tabs", "Indent with tabs.").model(&model);
    class.types(&["go"]).succeeds().shows("[recalled: tabs]");
    let request = &leads(&model)[0];
    let (_, index) = request.system.split_once("\n\n# Memory\n").expect("a section of its own");
    assert!(index.ends_with("\n\n- [tabs](tabs.md) — about tabs"), "{index}");
    let [Block::Text(asked), Block::Text(note)] = request.messages[0].blocks.as_slice() else {
        panic!("{:?}", request.messages);
    };
    assert_eq!(asked, "go");
    assert!(note.starts_with("<memory>\n") && note.contains("\nIndent with tabs.\n"), "{note}");
}

#[test]
fn a_memory_that_the_model_writes_itself_shows_in_the_next_round() {
    let line = "- [test](test.md) — test memory";
    let write = json!({"path": ".harness/memory/MEMORY.md", "content": line});
    let model = MockModel::scripted([calls("write_file", write), says("Done.")]);
    model.script_for(EXTRACT, [says("[]")]);
    class().model(&model).types(&["go", "y"]).succeeds();
    let requests = leads(&model);
    assert!(!requests[0].system.contains("# Memory"));
    assert!(requests[1].system.ends_with(line), "{}", requests[1].system);
}

#[test]
fn what_side_calls_answer_is_not_shown_but_what_became_of_it() {
    let model = lead(&["One.", "Two."]);
    let secret_format = json!([entry("tabs", "Indent with tabs."), entry("quotes", "Single.")]);
    model.script_for(EXTRACT, [says(secret_format.to_string()), says("[]")]);
    model.script_for(CHOOSE, [says("[]")]);
    class()
        .model(&model)
        .types(&["go", "on"])
        .succeeds()
        .shows("[remembered: tabs, quotes]\n")
        .never_shows("Indent with tabs")
        .never_shows("[recalled");
}

#[test]
fn a_consolidation_is_no_secret_whatever_comes_of_it() {
    for (before, after) in [(12, 7), (10, 10)] {
        let set: Value = (0..after)
            .map(|at| entry(&format!("m{at}"), &format!("Content {at} and more.")))
            .collect();
        let model = lead(&["Fine."]);
        model.script_for(CHOOSE, [says("[]")]);
        model.script_for(EXTRACT, [says("[]")]);
        model.script_for(CONSOLIDATE, [says(set.to_string())]);
        let old = |at| format!("---\nname: m{at}\n---\nContent {at}.\n");
        let class = (0..before).fold(class().model(&model), |class, at| {
            class.file(format!(".harness/memory/m{at}.md"), old(at))
        });
        class
            .asks("go")
            .succeeds()
            .shows(&format!("[consolidated: {before} → {after} memories]\n"));
        let index = class.read(".harness/memory/MEMORY.md");
        assert_eq!(index.lines().count(), after);
        assert_eq!(class.read(".harness/memory.old/m9.md"), old(9));
    }
}

#[test]
fn a_side_call_that_fails_is_one_remark_and_the_turn_succeeds() {
    let model = lead(&["Fine."]);
    model.script_for(CHOOSE, [says("tabs, of course")]);
    model.script_for(EXTRACT, [says("nothing")]);
    let ran = class_knowing("tabs", "Indent with tabs.").model(&model).asks("about tabs");
    ran.succeeds()
        .shows("[memories chosen by words in common: the answer is not a JSON array: tabs, of course]\n[recalled: tabs]\n")
        .shows("[nothing remembered: the answer is not a JSON array: nothing]\n");
    assert!(leads(&model)[0].user_texts()[1].contains("Indent with tabs."));
}

#[test]
fn what_is_kept_is_not_called_forgotten_when_only_the_index_cannot_be_written() {
    let model = lead(&["Noted."]);
    let memory = r#"[{"name":"tabs","description":"Tabs","type":"user","content":"Tabs."}]"#;
    model.script_for(EXTRACT, [says(memory)]);
    let class = class().file(".harness/memory/MEMORY.md/in_the_way", "").model(&model);
    class
        .asks("I prefer tabs")
        .succeeds()
        .shows("[remembered: tabs]\n[the index of the memory is not up to date: ")
        .never_shows("nothing remembered");
    assert!(class.read(".harness/memory/tabs.md").contains("Tabs."));
}

#[test]
fn a_damaged_memory_is_named_once_and_left_alone() {
    let model = lead(&["One.", "Two."]);
    model.script_for(EXTRACT, [says("[]"), says("[]")]);
    let class = class().file(".harness/memory/tabs.md", "just text").model(&model);
    let ran = class.types(&["go", "on"]);
    ran.succeeds();
    let told = ran.stdout.matches(
        "[memory: .harness/memory/tabs.md is ignored and left as it is: it has no front matter",
    );
    assert_eq!(told.count(), 1, "{}", ran.transcript());
    assert_eq!(class.read(".harness/memory/tabs.md"), "just text");
}

/// Says fine to every request, and has something new to remember each time.
#[derive(Default)]
struct Teacher(AtomicUsize);

impl Brain for Teacher {
    fn answer(&self, request: &Request) -> Reply {
        match &*request.system {
            system if system.starts_with(EXTRACT) => {
                let lesson = format!("lesson {}", self.0.fetch_add(1, Ordering::Relaxed));
                says(json!([entry(&lesson, &lesson)]).to_string())
            }
            system if system.starts_with("You are") => says("Fine."),
            _ => says("no"),
        }
    }
}

#[test]
fn two_processes_in_one_folder_lose_no_memory() {
    let model = MockModel::start(Options::strict(), Teacher::default()).unwrap();
    let class = class().model(&model);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let ran = class.types(&["go"; 12]);
                ran.succeeds().shows("[remembered: lesson");
            });
        }
    });
    let index = class.read(".harness/memory/MEMORY.md");
    for lesson in 0..24 {
        assert!(index.contains(&format!("- [lesson {lesson}](lesson-{lesson}.md)")), "{index}");
        class.read(format!(".harness/memory/lesson-{lesson}.md"));
    }
}

#[test]
fn a_turn_that_fails_is_not_searched_for_memories() {
    let nowhere = class().env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    nowhere.asks(TABS).fails_with(1).never_shows("remembered");
    assert!(!nowhere.dir().join(".harness/memory").exists());
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([calls("task", json!({"description": "Greet."})), says("Hi.")]);
    model.script_for("You are a subagent", [says("Done.")]);
    model.script_for(EXTRACT, [says("[]")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let requests = model.requests();
    let [names, subagent] = [0, 1].map(|at| requests[at].tool_names());
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names), ("subagent", subagent)]);
}
