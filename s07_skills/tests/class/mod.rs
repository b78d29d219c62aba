//! The lesson as a class sees it: a catalogue in every request, a body only for who asks.

mod session;

use mock_servers::model::{MockModel, Request, calls, says};
use serde_json::json;
use testkit::{Class, assert_pool};

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s07_skills"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .file("area.py", "def area(width, height):\n    return width + height\n")
}

/// A sentence of a body, and of no description.
const FROM_THE_BODY: &str = "A review answers one question";

/// A skill of the project.
fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Use it for {name}.\n---\n{body}\n")
}

/// Everything a request holds.
fn text(request: &Request) -> String {
    String::from_utf8_lossy(&request.body).into_owned()
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s07_skills"));
}

#[test]
fn the_skills_are_told_from_the_prompt_without_a_call() {
    let model = MockModel::strict_rehearsal();
    let class = class().file("skills/tea/SKILL.md", skill("tea", "Boil water.")).model(&model);
    let ran = class.types(&["What skills are available?"]);
    ran.succeeds().never_shows("> load_skill");
    for name in ["agent-builder", "code-review", "mcp-builder", "pdf", "tea"] {
        ran.shows(name);
    }
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn a_body_is_in_no_request_before_it_was_loaded() {
    for request in [
        "Load the code-review skill and follow its instructions",
        "I need to do a code review -- load the relevant skill first",
    ] {
        let model = MockModel::strict_rehearsal();
        let ran = class().model(&model).types(&[request]);
        ran.succeeds().shows("> load_skill  code-review");
        let requests = model.requests();
        assert!(requests[0].system.contains("\n- code-review: Review code"));
        assert!(!text(&requests[0]).contains(FROM_THE_BODY));
        let (is_error, loaded) = &requests[1].results()[0];
        assert!(!is_error && loaded.starts_with("<skill name=\"code-review\">\n"));
        assert!(loaded.contains(FROM_THE_BODY) && loaded.ends_with("\n</skill>"));
        assert!(!requests[1].system.contains(FROM_THE_BODY));
        let called = model.last_request().calls().concat();
        assert_eq!(called[0], "load_skill");
        if request.contains("follow") {
            assert!(called.contains(&"read_file".to_owned()), "{called:?}");
            ran.shows("area.py");
        }
    }
}

#[test]
fn other_words_do_as_well() {
    for (request, shown) in [
        ("Which skills do you have?", "mcp-builder: "),
        ("Use the pdf skill", "> load_skill  pdf"),
        ("Please load the skill for building MCP servers", "> load_skill  mcp-builder"),
        ("Get the agent-builder skill and tell me what it says", "> load_skill  agent-builder"),
        (
            "Load the tea skill",
            "there is no skill `tea`; the skills are agent-builder, code-review, mcp-builder, pdf",
        ),
    ] {
        let model = MockModel::strict_rehearsal();
        let ran = class().model(&model).types(&[request]);
        ran.succeeds().shows(shown);
    }
}

#[test]
fn a_skill_of_the_project_is_in_the_next_round() {
    let new = skill("greeting", "Say hello in verse.");
    let model = MockModel::scripted([
        calls("write_file", json!({"path": "skills/greeting/SKILL.md", "content": new})),
        calls("load_skill", json!({"name": "greeting"})),
        says("Hello."),
    ]);
    class().model(&model).types(&["write a skill, then use it"]).succeeds();
    let requests = model.requests();
    let line = "\n- greeting: Use it for greeting.";
    assert!(!requests[0].system.contains(line));
    assert!(requests[1].system.contains(line), "{}", requests[1].system);
    let loaded =
        "<skill name=\"greeting\" folder=\"skills/greeting\">\nSay hello in verse.\n</skill>";
    assert_eq!(requests[2].results()[1], (false, loaded.to_owned()));
}

#[test]
fn the_users_skills_come_from_the_home_of_this_run() {
    let model = MockModel::scripted([calls("load_skill", json!({"name": "mine"})), says("Done.")]);
    class()
        .file("../home/.harness/skills/mine/SKILL.md", skill("mine", "My own way."))
        .model(&model)
        .types(&["go"])
        .succeeds();
    let (_, loaded) = &model.last_request().results()[0];
    assert!(loaded.contains("/.harness/skills/mine\">\nMy own way."), "{loaded}");
}

#[test]
fn a_broken_skill_is_named_once_and_the_others_work() {
    let model = MockModel::scripted([says("One."), says("Two.")]);
    let ran = class()
        .file("skills/good/SKILL.md", skill("good", "Good."))
        .file("skills/headless/SKILL.md", "# A title\n")
        .file("skills/colon/SKILL.md", "---\nname: colon\ndescription: now: or never\n---\n")
        .file("skills/mute/SKILL.md", "---\nname: mute\n---\n")
        .file("skills/shout/SKILL.md", skill("SHOUT", "Loud."))
        .file("skills/latin/SKILL.md", b"---\nname: latin\ndescription: caf\xe9\n---\n")
        .model(&model)
        .types(&["Hello", "Hello again"]);
    ran.succeeds();
    for (folder, why) in [
        ("headless", "it has no front matter; its first line must be `---`"),
        ("colon", "line 3: a value that holds `: ` must stand in quotes"),
        ("mute", "its front matter has no description, and without one nobody would load it"),
        ("shout", "its name must be 1 to 64 characters of a-z, 0-9 and -, not \"SHOUT\""),
        ("latin", "it is not UTF-8 text"),
    ] {
        let sentence = format!("the skill skills/{folder}/SKILL.md is left out: {why}\n");
        assert_eq!(ran.stdout.matches(&sentence).count(), 1, "{sentence}{}", ran.transcript());
    }
    let system = &model.last_request().system;
    assert!(system.contains("- good: ") && system.contains("- pdf: "), "{system}");
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([calls("task", json!({"description": "Greet."})), says("Hi.")]);
    model.script_for("You are a subagent", [says("Done.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let requests = model.requests();
    let [names, subagent] = [0, 1].map(|at| requests[at].tool_names());
    assert!(!requests[1].system.contains("# Skills"), "of a subagent");
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names), ("subagent", subagent)]);
}
