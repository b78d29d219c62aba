//! What the judgement tells, and what must hold for any text at all.
//!
//! Invariant: no text makes it panic, and none that is not understood is taken for reading.

use s03_permission::known::{Judgement, judge, steers_programs};
use s03_permission::shell::Line;

#[test]
fn the_question_names_the_part() {
    let Judgement::Ask(why) = judge("ls && r''m  'a b' && wc x") else {
        panic!("deleting asks");
    };
    assert_eq!(why, "`rm 'a b'` is not known to only read");
    let Judgement::Fatal(why) = judge("ls; sudo cat x") else {
        panic!("sudo is refused");
    };
    assert_eq!(why, "`sudo cat x` takes another user's rights");
}

#[test]
fn the_parts_of_a_line_are_listed_in_their_canonical_spelling() {
    let line =
        Line::parse("FOO=1 r''m  \"a b\" $x > out; timeout 5 cargo test | tee \"$(date +%F)\"");
    let parts: Vec<_> = line
        .commands
        .iter()
        .map(|command| command.full_text())
        .collect();
    assert_eq!(
        parts,
        [
            "FOO=1 rm 'a b' $x > out",
            "cargo test",
            "date +%F",
            "tee $(date +%F)"
        ]
    );
    assert_eq!(line.commands[1].written, "timeout 5 cargo test");
    assert_eq!(line.doubts, [""; 0]);
}

#[test]
fn files_that_steer_reading_commands_are_known() {
    for file in [
        ".git/config",
        "vendor/x/.git",
        "rust-toolchain.toml",
        "bare/HEAD",
    ] {
        assert!(steers_programs(file.as_ref()), "{file}");
    }
    for file in ["src/main.rs", ".gitignore", "Cargo.toml"] {
        assert!(!steers_programs(file.as_ref()), "{file}");
    }
}

/// Texts that parsers trip over; the deep ones would overflow a stack that is not guarded.
fn awkward() -> Vec<String> {
    let repeated = [
        "(", "$(", "${x:-", "\"$(", "`", "'", "{ ", "[ a -a ", "if ", "((", "<<a ", "ls && ",
        "ls | ", "é\\",
    ];
    let mut texts: Vec<_> = repeated
        .iter()
        .map(|piece| piece.repeat(6_000 / piece.len()))
        .collect();
    texts.push(format!(
        "{}ls{}",
        "echo $(".repeat(1_000),
        ")".repeat(1_000)
    ));
    texts.push(format!("echo {}", "x".repeat(100_000)));
    texts.push(format!("{}ls", "bash -c ".repeat(50)));
    texts.extend(
        [
            "\u{202e}ls",
            "\u{feff}ls",
            "ls \u{2028} rm",
            "𝓁𝓈",
            "\\",
            "$",
            "${",
            "<<",
            "<<'",
            "$'\\",
            "=",
            "{}",
        ]
        .map(String::from),
    );
    texts
}

#[test]
fn no_text_makes_the_judgement_panic_or_run_unread() {
    for text in awkward() {
        let start: String = text.chars().take(40).collect();
        assert_ne!(
            judge(&format!("{text}; rm x")),
            Judgement::ReadOnly,
            "{start}"
        );
        judge(&text);
    }
}
