//! Rules for what code does: what a library leaves to others, how tests wait, what comments claim.
//!
//! The terminal and the environment have one owner each, errors are values, and time in a test is advanced by hand.

use super::{Finding, Rule, Subject, Words, chapter_of, words};
use crate::workspace::MAIN;

pub(super) const RULES: [Rule; 6] = [
    terminal_and_environment,
    unwraps,
    reasons,
    vague_words,
    sleeping_tests,
    unfinished,
];

/// What belongs to the terminal or to the environment, and what to do instead.
const OUTSIDE: [(&str, &str); 12] = [
    ("println!", "give the text to Repl"),
    ("print!", "give the text to Repl"),
    ("eprintln!", "give the text to Repl"),
    ("eprint!", "give the text to Repl"),
    ("dbg!", "delete it"),
    ("stdin()", "ask through Repl"),
    ("stdout()", "give the text to Repl"),
    ("stderr()", "give the text to Repl"),
    ("env::var", "take the value as an argument"),
    ("env::var_os", "take the value as an argument"),
    ("env::vars", "take the value as an argument"),
    ("env::args", "take the value as an argument"),
];

/// The parts of libraries that own the terminal or the environment: where their paths begin.
const OWNERS: [&str; 3] = [
    // The terminal is Repl's, and what the environment says of it.
    "s01_loop/src/repl",
    // Reads the key, the address and the model, once, for `Client::from_env`.
    "s01_loop/src/settings.rs",
    // Reads the variables that `.mcp.json` names, when a server is started with them.
    "s19_mcp_plugin/src/environment.rs",
];

/// Words that leave open what is the case.
const VAGUE: [(&str, &str); 7] = [
    ("probably", DEFINITE),
    ("Probably", DEFINITE),
    ("usually", DEFINITE),
    ("Usually", DEFINITE),
    ("simply", DEFINITE),
    ("Simply", DEFINITE),
    ("we will see", DEFINITE),
];
const DEFINITE: &str = "say what is the case";

/// A library of a chapter neither prints nor reads the terminal or the environment.
fn terminal_and_environment(subject: &Subject<'_>) -> Vec<Finding> {
    let libraries = subject.rust.iter().filter(|file| is_library(file.path));
    libraries
        .flat_map(|file| words(file.path, file.shipped(), "a library holds", &OUTSIDE))
        .collect()
}

/// `unwrap` is for poisoned locks; elsewhere `expect` states the invariant.
fn unwraps(subject: &Subject<'_>) -> Vec<Finding> {
    const OF_LOCKS: [&str; 8] = [
        "lock",
        "read",
        "write",
        "into_inner",
        "get_mut",
        "wait",
        "wait_while",
        "wait_timeout_while",
    ];
    let mut findings = Vec::new();
    for file in &subject.rust {
        let mut before = String::new();
        for (line, code) in file.shipped() {
            for (index, part) in code.split(".unwrap()").enumerate() {
                if index > 0 && !last_call(&before).is_some_and(|call| OF_LOCKS.contains(&call)) {
                    let text = "`unwrap` on something other than a lock; return the error, or state the invariant with `expect`";
                    findings.push(Finding::at(file.path, line, text));
                }
                before.push_str(part.trim());
            }
        }
    }
    findings
}

/// The name of the call that `code` ends with: `lock` for `self.state.lock()`.
fn last_call(code: &str) -> Option<&str> {
    let mut depth = 0usize;
    let open = code.char_indices().rev().find(|(_, c)| {
        depth = depth + usize::from(*c == ')') - usize::from(*c == '(' && depth > 0);
        depth == 0
    });
    let name = code.strip_suffix(')').and(Some(&code[..open?.0]))?;
    name.rsplit(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
}

/// A lint is switched off for a reason.
fn reasons(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &subject.rust {
        for (line, code) in file.code() {
            if !["#[allow(", "#![allow(", "#[expect(", "#![expect("]
                .iter()
                .any(|start| code.contains(start))
            {
                continue;
            }
            let rest = file.source.code[line..].join("\n");
            let attribute = rest.split(")]").next().unwrap_or_default();
            if !attribute.contains("reason = ") {
                findings.push(Finding::at(
                    file.path,
                    line,
                    "a lint is switched off without a reason; add reason = \"…\"",
                ));
            }
        }
    }
    findings
}

/// Comments are definite.
fn vague_words(subject: &Subject<'_>) -> Vec<Finding> {
    let files = subject.rust.iter();
    files
        .flat_map(|file| words(file.path, file.comments(), "a comment says", &VAGUE))
        .collect()
}

/// A test advances time by hand.
fn sleeping_tests(subject: &Subject<'_>) -> Vec<Finding> {
    const SLEEP: Words<'_> = &[(
        "sleep(",
        "pause the time and advance it, or wait for the event itself",
    )];
    subject
        .rust
        .iter()
        .flat_map(|file| words(file.path, file.tests(), "a test holds", SLEEP))
        .collect()
}

/// Files with a "test" that is a program: the other tests of the binary start it on a terminal.
const PROGRAMS: &[&str] = &["s01_loop/tests/terminal/program.rs"];

/// Nothing is left undone, and no test is switched off, except in the exercises.
fn unfinished(subject: &Subject<'_>) -> Vec<Finding> {
    const UNFINISHED: Words<'_> = &[
        ("todo!", "finish it or delete it"),
        ("unimplemented!", "finish it or delete it"),
        (
            "#[ignore",
            "only exercises are switched off; run it or delete it",
        ),
    ];
    let files = subject
        .rust
        .iter()
        .filter(|file| !file.path.contains("/exercises/") && !PROGRAMS.contains(&file.path));
    files
        .flat_map(|file| words(file.path, file.code(), "holds", UNFINISHED))
        .collect()
}

/// Whether the file belongs to the library of a chapter and owns neither terminal nor environment.
fn is_library(path: &str) -> bool {
    let in_library =
        |name: &str| path.starts_with(&format!("{name}/src/")) && path != format!("{name}/{MAIN}");
    chapter_of(path).is_some_and(in_library) && !OWNERS.iter().any(|owner| path.starts_with(owner))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const PATH: &str = "s02_tools/src/tool.rs";

    /// What `rule` finds in a library file of a chapter that holds `body`.
    fn in_library(rule: Rule, body: &str) -> Vec<String> {
        found(rule, &[(PATH, &format!("//! A tool: a value.\n{body}"))])
    }

    #[test]
    fn a_library_leaves_terminal_and_environment_to_others() {
        for (word, advice) in OUTSIDE {
            let findings = in_library(
                terminal_and_environment,
                &format!("fn run() {{ {word} }}\n"),
            );
            assert_eq!(
                findings,
                [format!(
                    "s02_tools/src/tool.rs:2: a library holds `{word}`; {advice}"
                )]
            );
        }
        let harmless = "// println! is for Repl\nfn a() { command.stdin(null) }\n#[cfg(test)]\nmod tests {\n    fn b() { println!(); }\n}\n";
        assert_eq!(in_library(terminal_and_environment, harmless), [""; 0]);
        let owner = [("s01_loop/src/repl/screen.rs", "fn a() { println!(); }\n")];
        assert_eq!(found(terminal_and_environment, &owner), [""; 0]);
        assert_eq!(
            found(
                terminal_and_environment,
                &[("s02_tools/src/main.rs", "fn main() { env::args() }")]
            ),
            [""; 0]
        );
    }

    #[test]
    fn only_a_lock_is_unwrapped() {
        let locks = "fn a() { self.state.lock().unwrap(); queue\n    .wait_while(guard, |it| f(it))\n    .unwrap(); }\n";
        assert_eq!(in_library(unwraps, locks), [""; 0]);
        assert_eq!(
            in_library(
                unwraps,
                "#[cfg(test)]\nmod tests {\n    fn a() { x().unwrap(); }\n}\n"
            ),
            [""; 0]
        );
        assert_eq!(
            in_library(unwraps, "fn a() { self.lock().parse(b()).unwrap(); }\n"),
            [
                "s02_tools/src/tool.rs:2: `unwrap` on something other than a lock; \
              return the error, or state the invariant with `expect`"
            ]
        );
    }

    #[test]
    fn a_lint_is_switched_off_for_a_reason() {
        let explained = "#[expect(\n    unsafe_code,\n    reason = \"the child's own group\"\n)]\n#[derive(Debug)]\n";

        assert_eq!(in_library(reasons, explained), [""; 0]);
        assert_eq!(
            in_library(reasons, "#[allow(dead_code)]\nfn a() {}\n"),
            [
                "s02_tools/src/tool.rs:2: a lint is switched off without a reason; add reason = \"…\""
            ]
        );
    }

    #[test]
    fn a_comment_is_definite() {
        assert_eq!(
            in_library(vague_words, "// It works.\nlet a = \"usually\";\n"),
            [""; 0]
        );
        assert_eq!(
            in_library(vague_words, "// Usually it works.\n"),
            ["s02_tools/src/tool.rs:2: a comment says `Usually`; say what is the case"]
        );
    }

    #[test]
    fn a_test_does_not_sleep() {
        let sleep = "//! A test: it waits.\nfn a() { tokio::time::sleep(second).await }\n";

        assert_eq!(
            found(sleeping_tests, &[("s02_tools/tests/waits.rs", sleep)]),
            [
                "s02_tools/tests/waits.rs:2: a test holds `sleep(`; pause the time and advance it, or wait for the event itself"
            ]
        );
        assert_eq!(
            found(sleeping_tests, &[("s02_tools/src/waits.rs", sleep)]),
            [""; 0]
        );
    }

    #[test]
    fn nothing_is_left_undone_outside_the_exercises() {
        let text = "//! A test: it fails.\n#[ignore]\nfn a() { todo!() }\n";
        assert_eq!(
            found(unfinished, &[(PATH, text)]),
            [
                "s02_tools/src/tool.rs:2: holds `#[ignore`; only exercises are switched off; run it or delete it",
                "s02_tools/src/tool.rs:3: holds `todo!`; finish it or delete it",
            ]
        );
        assert_eq!(
            found(unfinished, &[("s02_tools/exercises/01.rs", text)]),
            [""; 0]
        );
    }
}
