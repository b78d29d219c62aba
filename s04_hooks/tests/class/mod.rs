//! The lesson as a class sees it: hooks from settings.json, shipped hooks, and a loop they cannot break.

mod session;

use mock_servers::model::{MockModel, calls, says};
use serde_json::{Value, json};
use testkit::{Class, assert_pool};

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s04_hooks")).file("README.md", "# Demo\n\nA small project.\n")
}

/// A class whose settings name one hook command for an event.
fn class_with_hook(event: &str, matcher: &str, command: &str) -> Class {
    let hook = json!({"type": "command", "command": command, "timeout": 20});
    let settings = json!({"hooks": {event: [{"matcher": matcher, "hooks": [hook]}]}});
    class().file(".harness/settings.json", settings.to_string())
}

/// A model that makes one call, then stops.
fn makes(name: &str, input: Value) -> MockModel {
    MockModel::scripted([calls(name, input), says("Done.")])
}

fn log(class: &Class) -> Vec<Value> {
    class
        .read(".harness/log.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s04_hooks"));
}

#[test]
fn a_turn_is_summed_up_and_logged() {
    for (request, shown) in [
        ("Read the file README.md", "[summary] 1 call: read_file 1"),
        ("what does README.md say?", "[summary] 1 call: read_file 1"),
        ("make notes.md with the text hello", "[summary] 1 call: write_file 1"),
        ("show me README.md, then list the files here", "[summary] 2 calls: "),
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        class.types(&[request]).succeeds().shows(shown);
        let entry = &log(&class)[0];
        assert!(entry["tool"].as_str().is_some_and(|tool| tool.contains("_file")));
        assert_eq!(entry["blocked"], Value::Null);
        assert_eq!(class.read(".harness/.gitignore"), "*\n");
    }
}

#[test]
fn creating_goes_through_until_a_hook_says_no() {
    let model = MockModel::strict_rehearsal();
    let free = class().model(&model);
    free.types(&["Create a file called test.txt"]).succeeds();
    assert!(free.dir().join("test.txt").exists());

    let model = MockModel::strict_rehearsal();
    let refuse = "grep -q '\\.txt' && { echo 'no text files today' >&2; exit 2; } || exit 0";
    let guarded = class_with_hook("PreToolUse", "write_file|edit_file", refuse).model(&model);
    guarded.types(&["Create a file called test.txt"]).succeeds().shows("no text files today");
    assert!(!guarded.dir().join("test.txt").exists());
    // Nobody said what the file shall hold, so the model looks first whether there is one.
    assert_eq!(model.last_request().results()[1], (true, "no text files today".to_owned()));
    assert_eq!(
        log(&guarded)[1]["blocked"],
        "no text files today",
        "the log hook must see a blocked call"
    );
}

#[test]
fn deleting_in_tmp_asks_and_the_refusal_is_logged() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class.types(&["Delete all temporary files in /tmp", "n"]).succeeds().shows("[y]es");
    assert!(
        log(&class)[0]["blocked"].as_str().unwrap().contains("the user said no"),
        "{:?}",
        log(&class)
    );
}

#[test]
fn a_hook_gets_its_event_as_json() {
    let model = makes("read_file", json!({"path": "README.md"}));
    let class = class_with_hook("PostToolUse", "*", "cat > event.json").model(&model);
    class.types(&["go"]).succeeds();
    let event: Value = serde_json::from_str(&class.read("event.json")).unwrap();
    assert_eq!(event["hook_event_name"], "PostToolUse");
    assert_eq!(event["tool_name"], "read_file");
    assert_eq!(event["tool_input"], json!({"path": "README.md"}));
    assert_eq!(event["tool_response"]["is_error"], false);
    assert_eq!(event["cwd"], class.dir().canonicalize().unwrap().display().to_string());
}

#[test]
fn a_rewrite_is_what_runs_and_what_the_user_is_asked_about() {
    let model = makes("bash", json!({"command": "ls"}));
    let rewrite =
        json!({"hookSpecificOutput": {"updatedInput": {"command": "touch rewritten"}}}).to_string();
    let class = class_with_hook("PreToolUse", "bash", &format!("echo '{rewrite}'")).model(&model);
    // `ls` needs no permission, what it was rewritten to does.
    class.types(&["go", "n"]).succeeds().shows("touch rewritten").shows("[y]es");
    assert!(!class.dir().join("rewritten").exists());
    assert!(
        model.last_request().results()[0].1.contains("the user said no"),
        "{:?}",
        model.last_request().results()
    );
}

#[test]
fn context_reaches_the_model_beside_prompt_and_output() {
    let model = makes("read_file", json!({"path": "README.md"}));
    let hook =
        |text: &str| json!([{"hooks": [{"type": "command", "command": format!("echo {text}")}]}]);
    let settings = json!({"hooks": {"UserPromptSubmit": hook("the branch is main"), "PostToolUse": hook("mind the tests")}});
    class()
        .file(".harness/settings.json", settings.to_string())
        .model(&model)
        .types(&["go"])
        .succeeds();
    assert_eq!(
        model.last_request().user_texts(),
        ["go\n\n<hook-context>\nthe branch is main\n</hook-context>"]
    );
    let output = &model.last_request().results()[0].1;
    assert!(output.ends_with("<hook-context>\nmind the tests\n</hook-context>"), "{output}");
}

#[test]
fn a_refused_prompt_never_reaches_the_model() {
    let model = MockModel::scripted([says("Hi.")]);
    let refuse =
        "grep -q secret && { echo 'that word is not for the model' >&2; exit 2; } || exit 0";
    let class = class_with_hook("UserPromptSubmit", "", refuse).model(&model);
    class
        .types(&["tell the secret", "Hello"])
        .fails_with(1)
        .shows("that word is not for the model");
    assert_eq!(model.last_request().user_texts(), ["Hello"]);
    class.asks("tell the secret").fails_with(1);
}

#[test]
fn a_stop_hook_that_always_objects_goes_round_three_times() {
    let model = MockModel::scripted(["1", "2", "3", "4", "a", "b", "c", "d"].map(says));
    let class = class_with_hook("Stop", "", "echo 'run the tests' >&2; exit 2").model(&model);
    let ran = class.types(&["go", "again"]);
    let ends = "[the turn ends after 3 more rounds, although a Stop hook still objects]\n";
    assert_eq!(ran.succeeds().stdout.matches(ends).count(), 2);
    let texts = model.last_request().user_texts();
    assert_eq!(texts.iter().filter(|text| text.contains("run the tests")).count(), 6, "{texts:?}");
}

#[test]
fn a_stop_hook_is_told_when_it_has_objected_before() {
    let model = MockModel::scripted([says("1"), says("2")]);
    let once = "grep -q '\"stop_hook_active\":true' && exit 0; echo 'once more' >&2; exit 2";
    class_with_hook("Stop", "", once).model(&model).types(&["go"]).succeeds();
    assert_eq!(model.last_request().user_texts(), ["go", "<stop-hook>\nonce more\n</stop-hook>"]);
}

#[test]
fn a_hook_that_breaks_or_hangs_is_told_and_stops_nothing() {
    for (command, told) in [
        ("echo oops >&2; exit 1", "ended with exit code 1: oops; going on without it"),
        ("kill -9 $$", "ended with signal 9"),
        ("no_such_program_here", "ended with exit code 127"),
        ("exit 1", "ended with exit code 1; going on without it"),
        ("sleep 1000", "took longer than 0.05 s and was stopped"),
    ] {
        let timeout = if command == "sleep 1000" { 0.05 } else { 20.0 };
        let hook = json!({"type": "command", "command": command, "timeout": timeout});
        let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}).to_string();
        let model = makes("read_file", json!({"path": "README.md"}));
        let class = class().file(".harness/settings.json", settings);
        class.model(&model).types(&["go"]).succeeds().shows(told);
        assert!(!model.last_request().results()[0].0, "{command}");
    }
}

#[test]
fn matchers_know_the_names_that_the_permission_rules_know() {
    for (matcher, matches) in [
        ("Write|Edit", true),
        ("WRITE_FILE", true),
        ("write_*", true),
        ("write_.*", true),
        ("", true),
        (" bash | write_file", true),
        ("bash", false),
    ] {
        let model = makes("write_file", json!({"path": "a.txt", "content": "x"}));
        let class = class_with_hook("PreToolUse", matcher, "exit 2").model(&model);
        class.types(&["go"]).succeeds();
        assert_eq!(class.dir().join("a.txt").exists(), !matches, "{matcher:?}");
    }
}

#[test]
fn settings_that_make_no_sense_are_told_and_the_rest_is_used() {
    let command = |command: &str| json!({"hooks": [{"type": "command", "command": command}]});
    let matcher = |matcher: &str| json!({"matcher": matcher, "hooks": [{"type": "command", "command": "exit 2"}]});
    let settings = json!({"hooks": {
        "PreToolUse": [{"hooks": [{"type": "prayer"}]}, matcher("write_(file)?"), command("echo no >&2; exit 2")],
        "PostToolUse": command("echo one entry is a list, too"),
        "Stop": [{"hooks": [{"type": "command", "command": "true", "timeout": -1}]}],
    }});
    let model = makes("read_file", json!({"path": "README.md"}));
    let ran =
        class().file(".harness/settings.json", settings.to_string()).model(&model).types(&["go"]);
    ran.succeeds()
        .shows("hooks of PreToolUse: an entry cannot be read")
        .shows("the matcher \"write_(file)?\" is more than names")
        .shows("hooks of Stop: the timeout -1 is not a number of seconds");
    assert_eq!(model.last_request().results(), [(true, "no".to_owned())]);
}

/// A guard with a misspelt name would guard nothing, and nobody would know.
#[test]
fn an_unknown_event_refuses_every_prompt_and_names_the_events_there_are() {
    let hook = json!([{"hooks": [{"type": "command", "command": "exit 2"}]}]);
    let known = "UserPromptSubmit, PreToolUse, PostToolUse, Stop";
    for (hooks, said) in [
        (json!({"pretooluse": hook}), "no hook event \"pretooluse\""),
        (json!({"PreTool": []}), known),
        (json!({"Stop": hook, "BeforeLunch": 7}), "no hook event \"BeforeLunch\""),
        (json!([hook]), "`hooks` must be an object of events"),
    ] {
        let model = MockModel::scripted([]);
        let settings = json!({"hooks": hooks}).to_string();
        let class = class().file(".harness/settings.json", settings);
        class.model(&model).asks("go").fails_with(1).shows(said);
        assert!(model.requests().is_empty());
    }
}

#[test]
fn a_summary_counts_the_turn_and_not_the_one_before() {
    let model = MockModel::scripted([
        calls("read_file", json!({"path": "missing"})),
        says("1"),
        calls("read_file", json!({"path": "README.md"})),
        says("2"),
    ]);
    let ran = class().model(&model).types(&["go", "again"]);
    ran.succeeds()
        .shows("[summary] 1 call: read_file 1; 1 failed\n")
        .shows("[summary] 1 call: read_file 1\n");
}

#[test]
fn a_large_output_is_remarked_on() {
    let model = makes("read_file", json!({"path": "big.txt", "limit": 100_000}));
    class()
        .file("big.txt", "a line of text\n".repeat(8_000))
        .model(&model)
        .types(&["go"])
        .succeeds();
    let output = &model.last_request().results()[0].1;
    assert!(
        output.contains("This output has 120000 characters"),
        "{}",
        &output[output.len() - 200..]
    );
}

#[test]
fn a_log_that_cannot_be_written_stops_nothing() {
    let model = makes("read_file", json!({"path": "README.md"}));
    class()
        .file(".harness/log.jsonl/in_the_way", "")
        .model(&model)
        .types(&["go"])
        .succeeds()
        .shows("Done.");
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([says("Hi.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let names = model.last_request().tool_names();
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names)]);
}
