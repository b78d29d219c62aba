//! Where nobody sits: pipes, one request on the command line, an output that is closed.

use std::io::Write;
use std::process::{Command, Stdio};

use mock_servers::model::{MockModel, Options, calls, says};
use serde_json::json;
use testkit::Class;

use super::{last_text, model};

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s01_loop"))
}

#[test]
fn piped_lines_are_typed_lines() {
    let model = model([says("one"), says("two")]);
    let ran = class().model(&model).types(&["first", "", "second", "q", "never"]);
    ran.succeeds().shows("s01 >> first\none\ns01 >> second\ntwo\n").never_shows("never");
    assert!(!ran.stdout.contains('\x1b'), "{}", ran.transcript());
}

#[test]
fn the_last_line_needs_no_end_and_no_valid_text() {
    let model = model([says("fine")]);
    let class = class().model(&model);
    let mut child = Command::new(env!("CARGO_BIN_EXE_s01_loop"))
        .current_dir(class.dir())
        .env("ANTHROPIC_BASE_URL", model.url())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(b"caf\xe9").expect("it reads");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    assert_eq!(last_text(&model.requests()[0]), "caf\u{fffd}");
}

#[test]
fn a_line_of_a_megabyte_is_one_request() {
    let options = Options {
        context_tokens: 1_000_000,
        ..Options::strict()
    };
    let model = MockModel::scripted_with(options, [says("a lot")]);
    let line = "word ".repeat(200_000);
    let ran = class().model(&model).types(&[&line]);
    ran.succeeds().shows("more bytes\na lot\n");
    assert_eq!(last_text(&model.requests()[0]).len(), line.len());
}

#[test]
fn parallel_calls_are_told_apart() {
    let both = calls("bash", json!({"command": "echo one"}))
        .and_calls("bash", json!({"command": "echo two"}));
    let model = model([both, says("done")]);
    class().model(&model).types(&["run both"]).succeeds().shows(
        "> bash  echo one\n> bash  echo two\n< bash  echo one\n  one\n< bash  echo two\n  two\ndone\n",
    );
}

#[test]
fn wrong_options_are_one_sentence() {
    class().arg("--frobnicate").types(&[]).fails_with(2).complains("unknown option --frobnicate");
    class().arg("--help").types(&[]).succeeds().shows("s01_loop \"request\"");
}

#[test]
fn a_reader_who_leaves_ends_the_session_quietly() {
    let class = class();
    let output = Command::new("bash")
        .args(["-c", "printf 'list all files\\nlist all files\\n' | \"$0\" | head -n 1; echo \"${PIPESTATUS[1]}\""])
        .arg(env!("CARGO_BIN_EXE_s01_loop"))
        .current_dir(class.dir())
        .output()
        .expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("\n0\n"), "{output:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_the_disk_has_no_room_for_is_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_s01_loop"))
        .arg("hello")
        .current_dir(dir.path())
        .env_remove("ANTHROPIC_API_KEY")
        .env_remove("ANTHROPIC_AUTH_TOKEN")
        .env_remove("ANTHROPIC_BASE_URL")
        .stdin(Stdio::null())
        .stdout(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
}
