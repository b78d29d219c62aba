//! `cargo x tidy`: the rules of this course that no other tool knows.
//!
//! Twenty chapters stay one course only while the rules that make their diffs readable hold in each of them. What clippy,
//! cargo and rustfmt can say is theirs to say.
//! Invariant: a rule looks at the files and changes nothing; a finding says where, what is wrong and what to do.

mod code;
mod guide;
mod lessons;
pub(crate) mod markdown;

use std::fmt;

use crate::workspace::Workspace;

/// One broken rule at one place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    /// Counted from 1.
    line: usize,
    text: String,
}

/// What the rules have found.
#[derive(Default)]
struct Findings(Vec<Finding>);

const RULES: [fn(&Workspace, &mut Findings); 15] = [
    code::headers,
    code::file_size,
    code::exports,
    code::waiting,
    code::carried_files,
    code::rests,
    guide::members,
    guide::chapters,
    guide::generated,
    guide::leftovers,
    guide::links,
    lessons::shape,
    lessons::prompts,
    lessons::named_tests,
    lessons::exercises,
];

/// All findings, in the order of their places.
pub fn findings(ws: &Workspace) -> Vec<Finding> {
    let mut findings = Findings::default();
    for rule in RULES {
        rule(ws, &mut findings);
    }
    findings.0.sort();
    findings.0
}

impl Findings {
    /// A finding on a line counted from 0.
    fn at(&mut self, path: &str, line: usize, text: impl Into<String>) {
        self.0.push(Finding {
            path: path.to_owned(),
            line: line + 1,
            text: text.into(),
        });
    }

    /// A finding that concerns the whole file.
    fn file(&mut self, path: &str, text: impl Into<String>) {
        self.at(path, 0, text);
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// The files whose name ends so, with their texts.
fn files<'a>(ws: &'a Workspace, end: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    ws.tree.iter().filter(move |(path, _)| path.ends_with(end))
}

/// The line (from 0) of an offset.
fn line_at(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count()
}

#[cfg(test)]
mod tests;
