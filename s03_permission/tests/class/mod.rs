//! The lesson as a class sees it: what is asked, what is denied, and what the model is told.

use mock_servers::model::{MockModel, Reply, says};
use serde_json::{Value, json};
use testkit::{Class, assert_pool};

mod session;
mod terminal;

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s03_permission"))
        .file("README.md", "# Demo\n\nA small project.\n")
}

/// A class with these permissions in its settings.
fn class_with(permissions: Value) -> Class {
    let settings = json!({ "permissions": permissions }).to_string();
    class().file(".harness/settings.json", settings)
}

/// A model that makes these calls in one reply.
fn makes<'a>(made: impl IntoIterator<Item = (&'a str, Value)>) -> MockModel {
    let reply = made
        .into_iter()
        .fold(Reply::default(), |reply, (tool, input)| reply.and_calls(tool, input));
    MockModel::scripted([reply, says("Done.")])
}

/// A model that runs these commands in one reply.
fn runs(commands: &[&str]) -> MockModel {
    makes(commands.iter().map(|command| ("bash", json!({ "command": command }))))
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s03_permission"));
}

#[test]
fn reading_and_a_file_inside_ask_nothing_and_a_file_outside_is_refused() {
    for (request, shown) in [
        ("What files are in the current directory?", "README.md"),
        ("Create a file called test.txt in the current directory", "test.txt"),
        ("Try to write a file to /etc/something", "outside the workspace"),
        ("try writing something to /etc/something", "outside the workspace"),
        ("attempt creating a file in /etc/something", "outside the workspace"),
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let ran = class.types(&[request]);
        ran.succeeds().shows(shown).never_shows("[y]es");
        assert_eq!(class.dir().join("test.txt").exists(), shown == "test.txt");
        assert!(!std::path::Path::new("/etc/something").exists());
    }
}

#[test]
fn deleting_asks_and_no_is_told_to_the_model() {
    for (answer, stays) in [("n", true), ("yes", false)] {
        let model = MockModel::strict_rehearsal();
        let class = class().file("test.txt", "").model(&model);
        let ran = class.types(&["Delete the file test.txt", answer]);
        ran.succeeds().shows("rm test.txt").shows("[y]es");
        assert_eq!(class.dir().join("test.txt").exists(), stays);
        let (is_error, text) = model.last_request().results().remove(0);
        let no = "permission denied: the user said no.";
        assert_eq!(is_error && text.starts_with(no), stays, "{text}");
    }
}

#[test]
fn other_words_do_as_well() {
    let model = MockModel::strict_rehearsal();
    let class = class().file("old.log", "").file("a.txt", "").model(&model);
    class
        .types(&["remove old.log please", "y", "rename a.txt to b.txt", "a", "list the files here"])
        .succeeds()
        .shows("b.txt");
    assert!(!class.dir().join("old.log").exists() && class.dir().join("b.txt").exists());
}

#[test]
fn on_a_pipe_a_line_that_is_no_answer_stays_the_next_request() {
    let model = MockModel::strict_rehearsal();
    let class = class().file("test.txt", "").model(&model);
    let ran =
        class.types(&["Delete the file test.txt", "What files are in the current directory?"]);
    ran.succeeds().shows("s03 >> What files are in the current directory?");
    assert!(class.dir().join("test.txt").exists());

    let model = runs(&["touch new.txt"]);
    class.model(&model).types(&["go"]).succeeds();
    let (_, text) = model.last_request().results().remove(0);
    assert!(text.starts_with("permission denied: nobody was there"), "{text}");
}

#[test]
fn always_answers_the_same_question_for_the_rest_of_the_session() {
    let touch = |file: &str| ("bash", json!({ "command": format!("touch {file}") }));
    let model = makes([touch("a"), touch("a"), touch("b")]);
    let class = class().model(&model);
    let ran = class.types(&["go", "always", "n"]);
    let asked = ran.succeeds().stdout.matches("[y]es").count();
    assert_eq!(asked, 2, "{}", ran.transcript());
    assert!(class.dir().join("a").exists() && !class.dir().join("b").exists());
}

#[test]
fn fatal_commands_are_denied_whatever_the_answers_and_the_rules_say() {
    let model =
        runs(&["rm -fr /", "r''m -rf /", "find / -delete", ":(){ :|:& };:", "sudo ls", "echo hi"]);
    let class = class_with(json!({"allow": ["bash"]})).model(&model);
    class.types(&["go"]).never_shows("[y]es");
    let results = model.last_request().results();
    for (is_error, text) in &results[..5] {
        assert!(is_error & text.starts_with("permission denied: "), "{text}");
    }
    assert_eq!(results[5], (false, "hi".to_owned()));
}

#[test]
fn rules_decide_before_anybody_is_asked() {
    let permissions = json!({
        "deny": ["bash(", "bash(touch secret:*)", "read_file(private/**)"],
        "allow": ["bash(touch:*)", "bash(ln:*)"],
        "ask": ["read_file(README.md)"],
        "denny": ["bash"],
    });
    let model = makes([
        ("bash", json!({"command": "touch secret"})),
        ("bash", json!({"command": "touch open"})),
        ("read_file", json!({"path": "private/key"})),
        ("read_file", json!({"path": "README.md"})),
        // At the time of the reply `s` does not exist; when its turn comes it is a link to what is denied.
        ("bash", json!({"command": "ln -s private s"})),
        ("read_file", json!({"path": "s/key"})),
        ("bash", json!({"command": "touch open; rm x"})),
    ]);
    let class = class_with(permissions).file("private/key", "k").model(&model);
    class
        .types(&["go", "n", "n"])
        .succeeds()
        .shows("the deny rule \"bash(\" is ignored: its closing bracket is missing")
        .shows("permissions.denny in the settings is unknown and ignored; the keys are deny, allow")
        .shows("not known to only read: `rm x`");
    let results = model.last_request().results();
    let secret = "the rule read_file(private/**) forbids it";
    for (at, expected) in [
        (0, "the rule bash(touch secret:*) forbids it"),
        (2, secret),
        (3, "the user said no"),
        (5, secret),
        (6, "the user said no"),
    ] {
        assert!(results[at].1.contains(expected), "{results:?}");
    }
    assert!(!results[1].0 && !results[4].0 && class.dir().join("open").exists());
}

#[test]
fn the_settings_themselves_are_never_written_without_a_question() {
    let path = |path: &str| ("write_file", json!({"path": path, "content": "rm -rf ."}));
    let model = makes([
        path(".harness/settings.json"),
        path(".harness/../.harness/settings.json"),
        path(".GIT/hooks/pre-commit"),
    ]);
    let class = class_with(json!({"allow": ["write_file"]})).model(&model);
    let settings = class.read(".harness/settings.json");
    let ran = class.types(&["go", "n", "n", "n"]);
    ran.succeeds().shows("content: rm -rf .");
    assert_eq!(class.read(".harness/settings.json"), settings);
    assert!(!class.dir().join(".GIT/hooks").exists());
}

#[test]
fn damaged_settings_are_told_and_left_alone_and_everything_asks() {
    let model = makes([("read_file", json!({"path": "README.md"}))]);
    let damaged = r#"{"permissions": {"deny": ["read_file"],}}"#;
    let class = class().file(".harness/settings.json", damaged).model(&model);
    let ran = class.types(&["go", "n"]);
    ran.succeeds()
        .shows(".harness/settings.json is not valid JSON and is ignored until it is fixed")
        .shows("a deny rule may be missing");
    assert!(model.last_request().results()[0].0);
    assert_eq!(class.read(".harness/settings.json"), damaged);
}

#[test]
fn another_directory_opens_when_the_settings_name_it_beside_a_bad_one_too() {
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("new.txt");
    let model = makes([("write_file", json!({"path": path, "content": "x"}))]);
    let directories = json!({"additionalDirectories": ["no/such", outside.path()]});
    let ran = class_with(directories).model(&model).types(&["go"]);
    ran.succeeds().shows("allowing the directory");
    assert!(path.exists());
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([says("Hi.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let names = model.last_request().tool_names();
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names)]);
}
