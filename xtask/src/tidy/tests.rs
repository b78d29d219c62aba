//! What the tests of the rules share: a rule tried on the small course with some files of its own.

use super::{Finding, Findings, Rule};
use crate::tests::fixture::{CHANGES, course, readme};

/// What `rule` finds in the small course with `changes` laid over it.
pub(super) fn found(rule: Rule, changes: &[(&str, &str)]) -> Vec<String> {
    let mut findings = Findings::default();
    rule(&course(changes), &mut findings);
    findings.0.iter().map(Finding::to_string).collect()
}

/// Asserts what `rule` finds, case by case: a file, its text, and the findings in it without their path.
#[track_caller]
pub(super) fn finds(rule: Rule, cases: &[(&str, &str, &[&str])]) {
    for (path, text, wanted) in cases {
        let wanted: Vec<_> = wanted.iter().map(|it| format!("{path}:{it}")).collect();
        assert_eq!(found(rule, &[(path, text)]), wanted, "{text}");
    }
}

/// Asserts what `rule` finds when the lesson of s02 has `old` replaced by `new`.
#[track_caller]
pub(super) fn with(rule: Rule, old: &str, new: &str, wanted: &[&str]) {
    let text = readme("s02_tools", CHANGES);
    assert!(text.contains(old), "{old}");
    finds(
        rule,
        &[("s02_tools/README.md", &text.replacen(old, new, 1), wanted)],
    );
}

#[test]
fn a_tidy_course_has_no_findings() {
    assert_eq!(super::findings(&course(&[])), []);
}
