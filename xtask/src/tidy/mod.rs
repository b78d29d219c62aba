//! `cargo x tidy`: the rules of this course that no other tool knows.
//!
//! Twenty chapters stay one course only while the rules that make their diffs readable hold in each of them. What clippy,
//! cargo and rustfmt can say is theirs to say.
//! Invariant: a rule looks at the files and changes nothing; a finding says where, what is wrong and what to do.

mod code;
mod guide;
mod lessons;
pub(crate) mod markdown;

use crate::workspace::Workspace;

/// What the rules have found: the file, the line (counted from 1), what is wrong.
#[derive(Default)]
struct Findings(Vec<(String, usize, String)>);

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

/// All findings, a line each, in the order of their places.
pub fn findings(ws: &Workspace) -> Vec<String> {
    let mut found = Findings::default();
    RULES.iter().for_each(|rule| rule(ws, &mut found));
    found.0.sort();
    let line = |(path, line, text)| format!("{path}:{line}: {text}");
    found.0.into_iter().map(line).collect()
}

impl Findings {
    /// A finding on a line counted from 0.
    fn at(&mut self, path: &str, line: usize, text: impl Into<String>) {
        self.0.push((path.to_owned(), line + 1, text.into()));
    }

    /// A finding that concerns the whole file.
    fn file(&mut self, path: &str, text: impl Into<String>) {
        self.at(path, 0, text);
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
