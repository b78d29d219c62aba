//! What the judgement tells, and what must hold for any text at all.
//!
//! Invariant: no text makes it panic, and none that is not understood is taken for reading.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use s03_permission::Decision;
use s03_permission::known::{is_guarded, judge};
use s03_permission::shell::{Command, Line};

#[test]
fn a_question_names_every_part_once_and_leaves_none_out() {
    let line = format!("rm 'a b'{}curl b; r''m  \"a b\"; wc x", "\n".repeat(200));
    let questions = [
        (line.as_str(), "not known to only read: `rm 'a b'`, `curl b`"),
        ("ls; echo $(date)", "not known to only read: what is more than plain words"),
        ("ls; sudo cat x", "`sudo cat x` takes another user's rights"),
    ];
    for (line, expected) in questions {
        let (Decision::Ask(why) | Decision::Deny(why)) = judge(line, Path::new("/srv")) else {
            panic!("{line} asks or is refused");
        };
        assert_eq!(why, expected);
    }
}

#[test]
fn the_commands_of_a_line_are_found_in_their_canonical_spelling() {
    let line = Line::parse("r''m  \"a b\" $x > out; x=cat; $x f | tee \"$(date +%F)\"");
    let parts: Vec<_> = line.commands.iter().map(Command::full_text).collect();
    for expected in ["rm 'a b' $x > out", "cat f", "date +%F"] {
        assert!(parts.iter().any(|part| part == expected), "{expected} of {parts:?}");
    }
    assert!(line.unsupported);
}

#[test]
fn files_that_decide_what_runs_or_is_allowed_are_known() {
    for file in [
        ".harness/settings.json",
        ".Harness/memory/MEMORY.md",
        ".mcp.json",
        ".GIT/hooks/pre-commit",
        ".git/config",
        "vendor/x/.git",
        "rust-toolchain.toml",
        "bare/HEAD",
    ] {
        assert!(is_guarded(file.as_ref()), "{file}");
    }
    for file in ["src/main.rs", ".gitignore", "Cargo.toml"] {
        assert!(!is_guarded(file.as_ref()), "{file}");
    }
}

/// Texts that parsers trip over; the deep ones would overflow a stack that is not guarded.
fn awkward() -> Vec<String> {
    let repeated = [
        "cd a;cd b;",
        "(",
        "$(",
        "${x:-",
        "\"$(",
        "`",
        "'",
        "{ ",
        "[ a -a ",
        "if ",
        "((",
        "<<a ",
        "ls && ",
        "ls | ",
        "é\\",
    ];
    let mut texts: Vec<_> =
        repeated.iter().map(|piece| piece.repeat(6_000 / piece.len())).collect();
    texts.push(format!("{}ls{}", "echo $(".repeat(1_000), ")".repeat(1_000)));
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
            "ls \"é",
            "wc \" rm \u{2028}",
            "ls '",
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
        assert_ne!(judge(&format!("{text}; rm x"), Path::new("/srv")), Decision::Allow, "{start}");
        judge(&text, Path::new("/srv"));
    }
}

#[test]
fn a_link_is_judged_by_where_it_leads() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("sub")).unwrap();
    for (link, to) in [("secret", "/proc/self"), ("sub/up", "../secret"), ("own", "sub")] {
        symlink(to, place.path().join(link)).unwrap();
    }
    for (line, reads) in [
        ("cat secret/environ", false),
        ("cat sub/up/environ", false),
        ("cat own/../secret/environ", false),
        ("cd sub && cat up/environ", false),
        ("cd secret && ls", false),
        ("grep x -f secret/environ own/a", false),
        ("cat own/a sub/../b", true),
        ("cd own && cat a", true),
    ] {
        let decision = judge(line, place.path());
        assert_eq!(decision == Decision::Allow, reads, "{line}: {decision:?}");
    }
}
