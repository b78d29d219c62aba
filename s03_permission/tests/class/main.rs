//! The lesson as a class sees it: what is asked, what is denied, and what the model is told.

use mock_servers::model::{MockModel, calls, says};
use serde_json::json;
use testkit::{Class, assert_pool};

mod terminal;

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s03_permission"))
        .file("README.md", "# Demo\n\nA small project.\n")
}

/// A model that runs these commands in one reply.
fn runs(commands: &[&str]) -> MockModel {
    let reply = commands
        .iter()
        .fold(mock_servers::model::Reply::default(), |reply, command| {
            reply.and_calls("bash", json!({ "command": command }))
        });
    MockModel::scripted([reply, says("Done.")])
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s03_permission"));
}

#[test]
fn a_file_inside_is_created_without_a_question() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class
        .types(&["Create a file called test.txt in the current directory"])
        .succeeds()
        .never_shows("[y]es");
    assert!(class.dir().join("test.txt").exists());
}

#[test]
fn deleting_asks_and_no_is_told_to_the_model() {
    let model = MockModel::strict_rehearsal();
    let class = class().file("test.txt", "").model(&model);
    class
        .types(&["Delete the file test.txt", "n"])
        .succeeds()
        .shows("rm test.txt")
        .shows("[y]es");
    assert!(class.dir().join("test.txt").exists());
    let (is_error, text) = model.last_request().results().remove(0);
    assert!(
        is_error && text.starts_with("permission denied: the user said no."),
        "{text}"
    );
}

#[test]
fn deleting_runs_after_yes() {
    let model = MockModel::strict_rehearsal();
    let class = class().file("test.txt", "").model(&model);
    class.types(&["Delete the file test.txt", "yes"]).succeeds();
    assert!(!class.dir().join("test.txt").exists());
}

#[test]
fn looking_around_asks_nothing() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class
        .types(&["What files are in the current directory?"])
        .succeeds()
        .shows("README.md")
        .never_shows("[y]es");
}

#[test]
fn a_file_outside_is_refused_without_a_question() {
    for request in [
        "Try to write a file to /etc/something",
        "try writing something to /etc/something",
        "attempt creating a file in /etc/something",
    ] {
        let model = MockModel::strict_rehearsal();
        let ran = class().model(&model).types(&[request]);
        ran.succeeds()
            .never_shows("[y]es")
            .shows("outside the workspace");
        assert!(!std::path::Path::new("/etc/something").exists());
    }
}

#[test]
fn other_words_do_as_well() {
    let model = MockModel::strict_rehearsal();
    let class = class().file("old.log", "").file("a.txt", "").model(&model);
    class
        .types(&[
            "remove old.log please",
            "y",
            "rename a.txt to b.txt",
            "a",
            "list the files here",
        ])
        .succeeds()
        .shows("b.txt");
    assert!(!class.dir().join("old.log").exists() && class.dir().join("b.txt").exists());
}

#[test]
fn on_a_pipe_a_line_that_is_no_answer_stays_the_next_request() {
    let model = MockModel::strict_rehearsal();
    let class = class().file("test.txt", "").model(&model);
    let ran = class.types(&[
        "Delete the file test.txt",
        "What files are in the current directory?",
    ]);
    ran.succeeds()
        .shows("s03 >> What files are in the current directory?");
    assert!(class.dir().join("test.txt").exists());
}

#[test]
fn at_the_end_of_the_input_nobody_answers() {
    let model = runs(&["touch new.txt"]);
    let class = class().model(&model);
    class.types(&["go"]).succeeds();
    assert!(!class.dir().join("new.txt").exists());
    assert!(
        model.last_request().results()[0]
            .1
            .starts_with("permission denied: nobody was there"),
        "{:?}",
        model.last_request().results()
    );
}

#[test]
fn always_answers_the_same_question_for_the_rest_of_the_session() {
    let model = MockModel::scripted([
        calls("bash", json!({"command": "touch a"}))
            .and_calls("bash", json!({"command": "touch a"})),
        calls("bash", json!({"command": "touch b"})),
        says("Done."),
    ]);
    let class = class().model(&model);
    let ran = class.types(&["go", "always", "n"]);
    ran.succeeds();
    assert_eq!(
        ran.stdout.matches("[y]es").count(),
        2,
        "{}",
        ran.transcript()
    );
    assert!(class.dir().join("a").exists() && !class.dir().join("b").exists());
}

#[test]
fn fatal_commands_are_denied_whatever_the_answers_and_the_rules_say() {
    let model = runs(&[
        "rm -fr /",
        "r''m -rf /",
        "find / -delete",
        ":(){ :|:& };:",
        "sudo ls",
        "echo hi",
    ]);
    let settings = json!({"permissions": {"allow": ["bash"]}}).to_string();
    let ran = class()
        .file(".harness/settings.json", settings)
        .model(&model)
        .types(&["go"]);
    ran.never_shows("[y]es");
    let results = model.last_request().results();
    for (is_error, text) in &results[..5] {
        assert!(is_error & text.starts_with("permission denied: "), "{text}");
    }
    assert_eq!(results[5], (false, "hi".to_owned()));
}

#[test]
fn rules_decide_before_anybody_is_asked() {
    let settings = json!({"permissions": {
        "deny": ["bash(touch secret:*)", "read_file(private/**)"],
        "allow": ["bash(touch:*)"],
        "ask": ["read_file(README.md)"],
    }});
    let model = MockModel::scripted([
        calls("bash", json!({"command": "touch secret"}))
            .and_calls("bash", json!({"command": "touch open"}))
            .and_calls("read_file", json!({"path": "private/key"}))
            .and_calls("read_file", json!({"path": "README.md"})),
        says("Done."),
    ]);
    let class = class()
        .file("private/key", "k")
        .file(".harness/settings.json", settings.to_string())
        .model(&model);
    class.types(&["go", "n"]).succeeds();
    let results = model.last_request().results();
    assert!(
        results[0]
            .1
            .contains("the rule bash(touch secret:*) forbids it"),
        "{results:?}"
    );
    assert!(!results[1].0 && class.dir().join("open").exists());
    assert!(
        results[2]
            .1
            .contains("the rule read_file(private/**) forbids it"),
        "{results:?}"
    );
    assert!(results[3].1.contains("the user said no"), "{results:?}");
}

#[test]
fn a_question_names_the_part_that_no_rule_covers() {
    let settings =
        json!({"permissions": {"allow": ["bash(cargo test:*)"], "denny": ["bash"]}}).to_string();
    let model = runs(&["cargo test; rm x"]);
    let class = class()
        .file(".harness/settings.json", settings)
        .model(&model);
    class
        .types(&["go", "n"])
        .succeeds()
        .shows("not known to only read: `rm x`")
        .shows("permissions.denny in the settings means nothing; known are deny, allow");
}

#[test]
fn the_settings_themselves_are_never_written_without_a_question() {
    let model = MockModel::scripted([
        calls(
            "write_file",
            json!({"path": ".harness/settings.json", "content": "{}"}),
        )
        .and_calls(
            "write_file",
            json!({"path": ".harness/../.harness/settings.json", "content": "{}"}),
        )
        .and_calls(
            "write_file",
            json!({"path": ".GIT/hooks/pre-commit", "content": "rm -rf ."}),
        ),
        says("Done."),
    ]);
    let settings = json!({"permissions": {"allow": ["write_file"]}}).to_string();
    let class = class()
        .file(".harness/settings.json", &settings)
        .model(&model);
    class
        .types(&["go", "n", "n", "n"])
        .succeeds()
        .shows("content: rm -rf .");
    assert_eq!(class.read(".harness/settings.json"), settings);
    assert!(!class.dir().join(".GIT/hooks").exists());
}

#[test]
fn damaged_settings_are_told_and_left_alone_and_everything_asks() {
    let model = MockModel::scripted([
        calls("read_file", json!({"path": "README.md"})),
        says("Done."),
    ]);
    let damaged = r#"{"permissions": {"deny": ["read_file"],}}"#;
    let class = class()
        .file(".harness/settings.json", damaged)
        .model(&model);
    let ran = class.types(&["go", "n"]);
    ran.succeeds()
        .shows(".harness/settings.json is not JSON and is not used until it is mended")
        .shows("nobody knows what it forbids");
    assert!(model.last_request().results()[0].0);
    assert_eq!(class.read(".harness/settings.json"), damaged);
}

#[test]
fn one_bad_directory_does_not_close_the_others() {
    let outside = tempfile::tempdir().unwrap();
    let settings = json!({"permissions": {"additionalDirectories": ["no/such", outside.path()]}});
    let path = outside.path().join("new.txt");
    let model = MockModel::scripted([
        calls("write_file", json!({"path": path, "content": "x"})),
        says("Done."),
    ]);
    let class = class()
        .file(".harness/settings.json", settings.to_string())
        .model(&model);
    class
        .types(&["go"])
        .succeeds()
        .shows("allowing the directory");
    assert!(path.exists());
}

#[test]
fn a_call_is_judged_after_the_calls_before_it_have_run() {
    // At the time of the reply `s` does not exist; when its turn comes it is a link to what is denied.
    let settings =
        json!({"permissions": {"deny": ["read_file(secrets/**)"], "allow": ["bash(ln:*)"]}});
    let model = MockModel::scripted([
        calls("bash", json!({"command": "ln -s secrets s"}))
            .and_calls("read_file", json!({"path": "s/key"})),
        says("Done."),
    ]);
    let class = class()
        .file("secrets/key", "k")
        .file(".harness/settings.json", settings.to_string())
        .model(&model);
    class.types(&["go"]).succeeds();
    let results = model.last_request().results();
    assert!(
        !results[0].0 && results[1].1.contains("forbids it"),
        "{results:?}"
    );
}

#[test]
fn a_rule_that_cannot_be_read_is_named_and_the_others_stay() {
    let settings = json!({"permissions": {"deny": ["bash(", "bash(touch:*)"]}}).to_string();
    let model = runs(&["touch a"]);
    let class = class()
        .file(".harness/settings.json", settings)
        .model(&model);
    class.types(&["go"]).succeeds().shows("bash(");
    assert!(
        model.last_request().results()[0].1.contains("forbids it"),
        "{:?}",
        model.last_request().results()
    );
}

#[test]
fn another_directory_opens_when_the_settings_name_it() {
    let outside = tempfile::tempdir().unwrap();
    let settings = json!({"permissions": {"additionalDirectories": [outside.path()]}}).to_string();
    let path = outside.path().join("new.txt");
    let model = MockModel::scripted([
        calls("write_file", json!({"path": path, "content": "x"})),
        says("Done."),
    ]);
    class()
        .file(".harness/settings.json", settings)
        .model(&model)
        .types(&["go"])
        .succeeds();
    assert!(path.exists());
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([says("Hi.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let names = model.last_request().tool_names();
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names)]);
}
