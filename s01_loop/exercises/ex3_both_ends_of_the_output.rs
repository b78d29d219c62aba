//! Exercise 3 · both ends of the output (15 minutes).
//!
//! A build that fails prints thousands of lines, and the error stands in the last ones. bash keeps the first 50,000
//! characters, so the model never sees it. Let it keep the first 25,000 and the last 25,000, with a line between them
//! that says how many bytes are missing (the words `more bytes` are in it today and stay). Shorter output stays as it
//! is. What made the old way safe must stay true: a command that prints for two minutes does not fill the memory, and
//! no character is cut in two.
//!
//! Hint: all of it is in `src/bash.rs`, in `Text`. What `add` does not keep, `whole` cannot show.
//!
//! Hint: a `VecDeque<u8>` is a tail that forgets at its front. How many bytes may 25,000 characters have?
//!
//! Hint: a tail may begin in the middle of a character. Keep a few bytes more than you need and take its last
//! characters.

use s01_loop::{ToolCall, bash};
use serde_json::json;

async fn run(command: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let call = ToolCall::new("toolu_1", "bash", json!({ "command": command }));
    bash::run(directory.path(), &call).await.text
}

/// The last characters of a text, for a message that can be read.
fn end(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(80);
    text.chars().skip(skipped).collect()
}

/// The three ends of a cut output: how many of `letter` it begins with, the rest, and how many it ends with.
fn parts(text: &str, letter: char) -> (usize, &str, usize) {
    let middle = text.trim_start_matches(letter);
    let rest = middle.trim_end_matches(letter);
    let count = |from: &str, to: &str| from.chars().count() - to.chars().count();
    (count(text, middle), rest, count(middle, rest))
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn the_error_behind_a_flood_is_seen() {
    let text = run("echo first; yes | head -c 3000000; echo error: the last line").await;
    assert!(
        text.ends_with("error: the last line"),
        "the last line should be seen; the output ends with {:?}",
        end(&text)
    );
    assert!(text.starts_with("first\n"), "the first line should be seen, too");
    let characters = text.chars().count();
    assert!(
        characters < bash::MAX_OUTPUT + 200,
        "about {} characters should be left of three million; these are {characters}",
        bash::MAX_OUTPUT
    );
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn both_ends_have_25_000_characters_and_the_note_counts_the_rest() {
    let text = run("head -c 60000 /dev/zero | tr '\\0' x").await;
    let (before, note, after) = parts(&text, 'x');
    assert!(
        (before, after) == (25_000, 25_000),
        "of 60,000 letters the first and the last 25,000 should be left, with a note between them; \
         left are the first {before} and the last {after}"
    );
    assert!(note.contains("10000 more bytes"), "10,000 bytes are missing; the note says {note:?}");
}

/// The trap: four bytes a character, and a first byte that moves the places where a careless tail begins.
#[tokio::test]
#[ignore = "exercise 3"]
async fn no_character_is_cut_in_two() {
    for start in ["", ".", "..", "..."] {
        let text = run(&format!("printf '{start}'; yes 😀 | tr -d '\\n' | head -c 400000")).await;
        let broken = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
        assert!(
            broken == 0,
            "behind {start:?}: a character that was cut in two is shown as \u{fffd}; there should be none, \
             and there are {broken}"
        );
        let (_, note, after) = parts(&text, '😀');
        assert!(
            after == 25_000,
            "behind {start:?}: the last 25,000 characters should be left; of them are left {after}, behind {:?}",
            end(note)
        );
    }
}
