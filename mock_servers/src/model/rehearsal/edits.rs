//! A change of a file, worked out from what was read of it.
//!
//! A model edits a file it has seen, and names the passage it wants replaced. Invariant: a passage occurs exactly once in
//! the file, so that an edit can hit nothing else.

/// A file as it shall be.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The whole text.
    pub text: String,
    /// What changed, as a sentence without its full stop.
    pub note: String,
}

impl Rewritten {
    /// These lines in the place of a source. When they are the same, so is the text, to the last byte.
    pub fn new(source: &str, lines: &[String], note: String) -> Self {
        let same = source.lines().eq(lines.iter().map(String::as_str));
        let text = match same {
            true => source.to_owned(),
            false => lines.iter().map(|line| format!("{line}\n")).collect(),
        };
        Self { text, note }
    }
}

/// The passage to replace and what comes in its place; `None` when so much changes that the file is better written anew.
pub fn passage(old: &str, new: &str) -> Option<(String, String)> {
    let (before, after): (Vec<&str>, Vec<&str>) = (lines(old), lines(new));
    let shared = before.len().min(after.len());
    let mut head = (0..shared)
        .take_while(|at| before[*at] == after[*at])
        .count();
    let mut tail = (0..shared - head)
        .take_while(|at| before[before.len() - 1 - at] == after[after.len() - 1 - at])
        .count();
    loop {
        let part = before[head..before.len() - tail].concat();
        if !part.is_empty() && old.matches(&part).count() == 1 {
            let large = before.len() > 5 && 2 * (before.len() - tail - head) > before.len();
            return (!large).then(|| (part, after[head..after.len() - tail].concat()));
        }
        match (head, tail) {
            (0, 0) => return None,
            (0, _) => tail -= 1,
            (_, _) => head -= 1,
        }
    }
}

/// The lines of a text with their line breaks.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_occurs_once_and_leads_to_the_new_text() {
        let old = "a\nb\na\nb\nc\nd\ne\n";
        for new in [
            "a\nb\na\nx\nc\nd\ne\n",
            "a\nb\na\nb\nc\nd\ne\nf\n",
            "a\nb\na\nc\nd\ne\n",
        ] {
            let (part, instead) = passage(old, new).expect("little changes");
            assert_eq!(old.matches(&part).count(), 1);
            assert_eq!(old.replacen(&part, &instead, 1), new);
        }
        assert_eq!(passage("", "a\n"), None);
        assert_eq!(passage("1\n2\n3\n4\n5\n6\n", "a\nb\nc\nd\ne\nf\n"), None);
    }
}
