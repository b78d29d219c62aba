//! bash with real processes: what they print, how they end, and what they leave behind.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use s01_loop::{Output, Process, ToolCall, bash};
use serde_json::{Value, json};

fn call(input: Value) -> ToolCall {
    ToolCall::new("toolu_1", "bash", input)
}

async fn run(command: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    bash::run(directory.path(), &call(json!({ "command": command }))).await
}

#[tokio::test]
async fn what_a_command_prints_and_how_it_ends_is_said() {
    for (command, output) in [
        ("echo a; echo b >&2; echo c", Output::ok("a\nb\nc")),
        ("true", Output::ok("(no output)")),
        ("echo oops; exit 3", Output::error("oops\n(exit code 3)")),
        ("kill -9 $$", Output::error("(no output)\n(killed by signal 9)")),
        // It cannot read the terminal.
        ("cat; echo end", Output::ok("end")),
        (r"printf 'a\377b'", Output::ok("a\u{fffd}b")),
        // The child keeps the pipe open for a while; the result must not wait for it.
        ("sleep 20 & echo started", Output::ok("started")),
    ] {
        assert_eq!(run(command).await, output, "{command}");
    }
    let Output { text, is_error, .. } = run("echo )").await;
    assert!(is_error && text.contains(": `echo )'"), "{text}");
}

#[tokio::test]
async fn a_flood_of_output_is_cut_with_a_note() {
    let output = run("yes | head -c 3000000").await;
    assert!(output.text.chars().count() < bash::MAX_OUTPUT + 200);
    assert!(output.text.contains("more bytes"), "{}", &output.text[output.text.len() - 100..]);
}

#[tokio::test]
async fn a_wrong_argument_is_named() {
    let output = bash::run(Path::new("/"), &call(json!({"cmd": "ls"}))).await;
    assert_eq!(output, Output::error("bash: missing field `command`"));
}

#[tokio::test]
async fn a_directory_that_is_gone_is_named() {
    let output = bash::run(Path::new("/no/such/place"), &call(json!({"command": "ls"}))).await;
    assert!(
        output.is_error
            && output.text.starts_with("starting bash in /no/such/place, which is gone: "),
        "{}",
        output.text
    );
}

#[tokio::test(start_paused = true)]
async fn a_command_that_takes_too_long_is_killed() {
    // Paused time jumps to the limit as soon as nothing else is to be done.
    assert_eq!(
        run("sleep 1000").await,
        Output::error("(no output)\n(timed out after 120 s and was killed)")
    );
}

#[tokio::test]
async fn a_process_that_nobody_waits_for_dies_with_all_its_children() {
    let directory = tempfile::tempdir().unwrap();
    nix::unistd::mkfifo(&directory.path().join("alive"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    // Parent, child and grandchild hold the pipe open. Reading from it ends when the last of them is dead.
    let mut process = Process::start(
        directory.path(),
        "exec 9>alive; echo started; (sleep 1000 & sleep 1000) & sleep 1000",
    )
    .unwrap();
    let pipe = directory.path().join("alive");
    let (sender, died) = mpsc::channel();
    std::thread::spawn(move || {
        let mut pipe = File::open(pipe).unwrap();
        sender.send(pipe.read_to_end(&mut Vec::new()).is_ok()).unwrap();
    });
    assert_eq!(process.read().await.unwrap(), Some(&b"started\n"[..]));
    drop(process);
    assert!(died.recv_timeout(Duration::from_secs(20)).expect("a child has survived"));
}
