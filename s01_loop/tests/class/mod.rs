//! The lesson as a class sees it: typed lines in, the rehearsing model behind it, every request checked by the mock.

mod session;

use mock_servers::model::rehearsal::Rehearsal;
use mock_servers::model::{Block, Fault, MockModel, Options, calls, says};
use serde_json::json;
use testkit::{Class, assert_pool};

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s01_loop"))
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s01_loop"));
}

#[test]
fn without_key_and_network_the_first_line_names_the_mock_model() {
    let ran = class().types(&["Hello"]);
    let first = ran.stdout.lines().next().unwrap();
    assert!(first.starts_with("s01_loop · the mock model at http://127.0.0.1:"), "{first}");
    ran.succeeds().shows("s01 >> Hello");
}

#[test]
fn create_a_file() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class
        .types(&[r#"Create a file called hello.py that prints "Hello, World!""#])
        .succeeds()
        .shows("> bash  ");
    assert_eq!(class.read("hello.py"), "print(\"Hello, World!\")\n");
}

#[test]
fn outside_a_repository_the_model_reads_the_error() {
    let model = MockModel::strict_rehearsal();
    let ran = class().model(&model).types(&["What is the current git branch?"]);
    ran.succeeds().shows("not a git repository");
    assert!(
        model.last_request().results()[0].1.contains("(exit code 128)"),
        "{:?}",
        model.last_request().results()
    );
}

#[test]
fn the_prompts_and_other_words_for_them() {
    for (request, shown) in [
        ("List all Python files in this directory", "a.py"),
        ("What is the current git branch?", "main"),
        ("which branch am I on", "main"),
        ("make a script greet.py which outputs hi", "greet.py"),
        ("show me what's in here", "notes.txt"),
        ("run `echo out loud`", "out loud"),
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().file("notes.txt", "").file("a.py", "").git();
        let ran = class.model(&model).types(&[request]);
        ran.succeeds().shows(shown);
        assert_eq!(model.last_request().results().len(), 1, "{request}");
    }
}

#[test]
fn one_request_on_the_command_line_runs_one_turn() {
    let class = class();
    class.asks("run `echo once`").succeeds().shows("once").never_shows("s01 >>");
}

#[test]
fn a_failed_turn_is_one_sentence_and_exit_code_1() {
    let options = Options {
        require_key: true,
        ..Options::default()
    };
    let model = MockModel::start(options, Rehearsal).unwrap();
    let class = class().env("ANTHROPIC_BASE_URL", model.url());
    let ran = class.asks("Hello");
    ran.fails_with(1).shows("Error: the model's API answered 401 (authentication_error): ");
    ran.shows("check ANTHROPIC_API_KEY").never_shows("Status {").never_shows("stack backtrace");
}

#[test]
fn a_failed_turn_leaves_a_session_that_goes_on() {
    let model = MockModel::scripted([says("I am back.")]);
    model.fault(Fault::Internal, 1);
    class()
        .model(&model)
        .types(&["first", "second"])
        .fails_with(1)
        .shows("Error: ")
        .shows("I am back.");
    let request = model.requests().pop().unwrap();
    assert_eq!(request.messages.len(), 1);
    assert_eq!(request.messages[0].blocks.first(), Some(&Block::Text("first".into())));
    assert_eq!(request.messages[0].blocks.last(), Some(&Block::Text("second".into())));
}

#[test]
fn a_wrong_address_is_one_sentence() {
    for address in ["localhost:1", "127.0.0.1:1", "api.example.org"] {
        let class = class().env("ANTHROPIC_BASE_URL", address).env("RUST_BACKTRACE", "1");
        let ran = class.asks("Hello");
        ran.fails_with(1);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.transcript());
        ran.complains("Error: ANTHROPIC_BASE_URL must begin with http:// or https://, not ");
    }
}

#[test]
fn an_address_where_nobody_listens_is_one_sentence() {
    // The port is free again when the listener is dropped.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let class = class().env("ANTHROPIC_BASE_URL", &address);
    class.asks("Hello").fails_with(1).shows(&format!(
        "\nError: no answer from {address}: connection refused — check the network and ANTHROPIC_BASE_URL\n"
    ));
}

#[test]
fn where_there_is_no_bash_the_model_is_told_so() {
    let model = MockModel::scripted([calls("bash", json!({"command": "ls"})), says("No bash.")]);
    let class = class().model(&model).env("PATH", "/no/such/place");
    class
        .asks("List the files")
        .succeeds()
        .shows("✗ starting bash, which must be installed and in PATH: ");
}

#[test]
fn whoever_wants_to_leave_leaves() {
    for word in ["q", "quit", "exit", ":q", "/quit", " exit "] {
        class().types(&[word, "Hello"]).succeeds().never_shows("Hello");
    }
}

#[test]
fn the_key_reaches_the_model_and_nobody_else() {
    let model = MockModel::scripted([calls("bash", json!({"command": "env"})), says("Done.")]);
    let class = class().model(&model).env("ANTHROPIC_AUTH_TOKEN", "other-secret");
    class
        .types(&["Show the environment"])
        .succeeds()
        .never_shows("test-key")
        .never_shows("other-secret");
    let (_, seen) = model.last_request().results().remove(0);
    assert!(
        seen.contains("PATH=") && !seen.contains("test-key") && !seen.contains("other-secret"),
        "{seen}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_has_a_memory_limit() {
    // One block, which dd must have in memory.
    let dd = |size| format!("ulimit -v; dd if=/dev/zero of=/dev/null bs={size} count=1 2>&1");
    for (written, command, expected) in [
        ("", dd("1M"), format!("{}\n1+0 records in", 16 << 20)),
        ("none", dd("1M"), "unlimited\n1+0 records in".to_owned()),
        ("1", dd("2G"), format!("{}\ndd: memory exhausted", 1 << 20)),
    ] {
        let model =
            MockModel::scripted([calls("bash", json!({ "command": command })), says("Done.")]);
        let class = class().model(&model).env("BASH_MEMORY_GB", written);
        class.types(&["Be greedy"]).succeeds();
        let (_, seen) = model.last_request().results().remove(0);
        assert!(seen.starts_with(&expected), "{written}: {seen}");
    }
    class()
        .env("BASH_MEMORY_GB", "8 GB")
        .types(&["Hello"])
        .fails_with(1)
        .complains("BASH_MEMORY_GB is no number from 1 to 1000000: \"8 GB\"");
}

#[test]
fn several_calls_of_one_reply_are_answered_in_order() {
    let model = MockModel::scripted([
        calls("bash", json!({"command": "echo a"}))
            .and_calls("bash", json!({"cmd": "wrong"}))
            .and_calls("no_such_tool", json!({}))
            .and_calls("bash", json!({"command": "echo d"})),
        says("Done."),
    ]);
    class().model(&model).types(&["go"]).succeeds();
    let results = model.last_request().results();
    assert_eq!(results[0].1, "a");
    assert_eq!(results[1].1, "bash: missing field `command`");
    assert_eq!(results[3].1, "d");
    assert_eq!(results.len(), 4);
}

#[test]
fn a_reply_that_calls_a_tool_goes_on_whatever_its_stop_reason() {
    let model = MockModel::scripted([
        calls("bash", json!({"command": "echo a"}))
            .stops_with(mock_servers::model::StopReason::EndTurn),
        says("Done."),
    ]);
    class().model(&model).types(&["go"]).succeeds().shows("Done.");
}

#[test]
fn arguments_and_ids_that_come_wrong_do_not_end_the_session() {
    let model = MockModel::strict_rehearsal();
    model.fault(Fault::StringArguments, 1);
    model.fault(Fault::RepeatedIds, 2);
    model.fault(Fault::CutCall, 1);
    let class = class().file("a.py", "").model(&model);
    class
        .types(&["List all Python files", "run `echo x`", "run `echo y`", "Hello"])
        .succeeds()
        .shows("s01 >> Hello");
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([says("Hi.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let names = model.last_request().tool_names();
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names)]);
    let body = model.requests()[0].json();
    insta::assert_snapshot!(format!("{:#}", body["tools"]));
}
