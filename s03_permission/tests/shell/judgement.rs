//! What the judgement says to command lines: the table in `lines.txt`.
//!
//! Invariant: a row is a line as a model or an attacker would write it, below a heading that says what becomes of it.

use std::path::Path;

use s03_permission::Decision;
use s03_permission::known::judge;

const LINES: &str = include_str!("lines.txt");

/// Asserts that the lines below the headings of this kind are judged so, and returns how many there are.
fn all_are(kind: &str, is_right: fn(&Decision) -> bool) -> usize {
    let sections = LINES.split("== ").skip(1);
    let sections = sections.filter_map(|section| section.strip_prefix(kind));
    let lines: Vec<_> = sections
        .flat_map(|section| section.lines().skip(1))
        .filter(|line| !line.is_empty())
        .collect();
    for line in &lines {
        let line = line.replace('↵', "\n").replace('␍', "\r");
        let line = line.replace('␀', "\0").replace('␣', "\u{a0}");
        let decision = judge(&line, Path::new("/srv/shop/api"));
        assert!(is_right(&decision), "{kind} {line:?}, but got {decision:?}");
    }
    lines.len()
}

#[test]
fn what_is_known_to_read_runs_without_a_question() {
    let count = all_are("reads:", |decision| *decision == Decision::Allow);
    assert!(count > 50, "{count}");
    assert_eq!(judge("", Path::new("/srv")), Decision::Allow);
}

#[test]
fn what_is_not_known_to_read_asks() {
    let count = all_are("asks:", |decision| matches!(decision, Decision::Ask(_)));
    assert!(count > 200, "{count}");
}

#[test]
fn what_destroys_the_system_is_refused() {
    let count = all_are("refused:", |decision| matches!(decision, Decision::Deny(_)));
    assert!(count > 50, "{count}");
}
