//! The class, driven with a shell in the place of a chapter.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::traces::leaves_none;
use super::{Class, Terminal};

/// A shell that runs this script.
fn shell(script: &str) -> Class {
    Class::new("/bin/sh").arg("-c").arg(script)
}

/// An interactive shell with a known prompt.
fn prompt() -> (Class, Terminal) {
    let class = Class::new("/bin/sh").arg("-i").env("PS1", "ready> ").env("ENV", "");
    let mut terminal = class.terminal(80, 24);
    terminal.wait_for("ready>");
    (class, terminal)
}

fn message(panic: Box<dyn std::any::Any + Send>) -> String {
    *panic.downcast::<String>().expect("a message")
}

#[test]
fn typed_lines_reach_the_child_and_its_words_come_back() {
    let ran = shell("cat; echo careful >&2; exit 3").types(&["first", "second"]);
    ran.fails_with(3).shows("first\nsecond\n").complains("careful").never_shows("third");
}

#[test]
fn a_trace_is_found_whatever_it_is() {
    leaves_none(|| shell("printf ' >> '; read line; exit 0"));
    for script in [
        "touch made; printf ' >> '; read line; rm made",
        "printf ' >> '; read line; mkdir .harness; exit 0",
        "printf ' >> '; read line; touch ~/.made; exit 0",
        "sleep 100 & printf ' >> '; read line; kill $!",
    ] {
        let found = catch_unwind(|| leaves_none(|| shell(script)));
        assert!(found.is_err(), "{script}");
    }
}

#[test]
fn a_failed_assertion_shows_the_whole_transcript() {
    let ran = shell("echo out; echo err >&2").types(&[]);
    let panic = catch_unwind(|| ran.shows("nothing of the kind").code).expect_err("a panic");
    let text = message(panic);
    assert!(text.contains("--- stdout\nout\n") && text.contains("--- stderr\nerr\n"), "{text}");
}

#[test]
fn the_workspace_is_fresh_and_has_the_files_of_the_story() {
    let class =
        shell("ls -A; pwd; mkdir made; echo new > made/file").file("src/main.rs", "fn main() {}");
    let dir = class.dir().canonicalize().expect("the workspace is there");
    let ran = class.types(&[]);
    assert_eq!(ran.stdout, format!("src\n{}\n", dir.display()));
    assert_eq!(class.read("made/file"), "new\n");
}

#[test]
fn nothing_leaks_into_the_environment() {
    let ran = shell("env").env("COLUMNS", "80").types(&[]);
    let mut names =
        ran.stdout.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect::<Vec<_>>();
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    names.sort_unstable();
    assert_eq!(names, ["COLUMNS", "GIT_CONFIG_NOSYSTEM", "GIT_PAGER", "HOME", "PATH", "TERM"]);
}

#[test]
fn git_makes_a_clean_repository_that_can_be_committed_to() {
    let story = "git status --short && git log --format=%s && git commit -q --allow-empty -m More && git log --format=%an";
    let ran = shell(story).file("a.txt", "a").git().types(&[]);
    assert_eq!(ran.stdout, "Begin\nAda\nAda\n", "{}", ran.transcript());
}

#[test]
fn a_child_left_behind_is_reported_and_killed() {
    let class = shell("sleep 1000 & echo $!");
    let panic = catch_unwind(AssertUnwindSafe(|| class.types(&[]).code)).expect_err("a panic");
    assert!(message(panic).contains("holds its output open"));
}

#[test]
fn a_terminal_shows_what_is_typed_and_answered() {
    let (_class, mut terminal) = prompt();
    terminal.type_line("echo $((6 * 7))").wait_for("\n42\n");
    terminal.type_text("test -t 0 && echo terminal\r").wait_for("\nterminal");
}

#[test]
fn lines_that_scrolled_off_still_count() {
    let (_class, mut terminal) = prompt();
    terminal.type_line("i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo line $i; done");
    terminal.wait_for("\nline 100\n").wait_for("\nline 1\n");
}

#[test]
fn a_line_wider_than_the_terminal_is_found_whole() {
    let (_class, mut terminal) = prompt();
    let long = "word ".repeat(30);
    terminal.type_line(&format!("echo '{long}'"));
    terminal.wait_for(&format!("\n{}", long.trim_end()));
}

#[test]
fn a_resize_reaches_the_child() {
    let (_class, mut terminal) = prompt();
    terminal.resize(100, 30).type_line("stty size").wait_for("\n30 100");
}

#[test]
fn waiting_for_what_a_dead_child_never_said_shows_the_screen() {
    let class = shell("echo goodbye");
    let mut terminal = class.terminal(80, 24);
    let waited = catch_unwind(AssertUnwindSafe(|| {
        terminal.wait_for("hello");
    }));
    let text = message(waited.expect_err("a panic"));
    assert!(text.contains("the child ended before") && text.contains("goodbye"), "{text}");
}
