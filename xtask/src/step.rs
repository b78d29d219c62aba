//! The step from one chapter to another: what changed in the carried files.
//!
//! `diff` shows the step, `budget` measures it; both must see the same lines.
//! Invariant: a carried file that a chapter shares with its base is no change, and one that appears is no diff.

use similar::{ChangeTag, TextDiff};

use crate::workspace::{Chapter, Workspace};

/// Lines added and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Lines that only the new text has.
    pub added: usize,
    /// Lines that only the old text has.
    pub removed: usize,
}

impl Count {
    /// Counts the lines of a diff as a person who reads it does.
    pub fn between(old: &str, new: &str) -> Self {
        let diff = TextDiff::from_lines(old, new);
        let all = || diff.iter_all_changes();
        let lines = |tag| all().filter(|change| change.tag() == tag).count();
        Self {
            added: lines(ChangeTag::Insert),
            removed: lines(ChangeTag::Delete),
        }
    }

    /// Added and removed lines together.
    pub fn changed(self) -> usize {
        self.added + self.removed
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "+{} −{}", self.added, self.removed)
    }
}

/// A carried file in two chapters: where each text stands, and the text.
pub struct Pair<'a> {
    /// What it is compared with.
    pub old: (String, &'a str),
    /// As it is then.
    pub new: (String, &'a str),
}

impl Pair<'_> {
    /// Counts what changes.
    pub fn count(&self) -> Count {
        Count::between(self.old.1, self.new.1)
    }
}

/// The change of a carried file on the way from one chapter to another. `None` when both run the same copy, or one of
/// them runs none.
pub fn pair<'a>(
    ws: &'a Workspace,
    from: &'a Chapter,
    to: &'a Chapter,
    file: &str,
) -> Option<Pair<'a>> {
    let text = |chapter| {
        let carrier = ws.carrier(chapter, file)?;
        Some((carrier.path(file), ws.text(carrier, file)?))
    };
    let (old, new) = (text(from)?, text(to)?);
    (old.0 != new.0).then_some(Pair { old, new })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;
    use crate::workspace::{MAIN, TEAMMATE};

    #[test]
    fn lines_are_counted_as_a_reader_of_the_diff_sees_them() {
        let count = Count::between("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n");

        assert_eq!((count.changed(), count.to_string().as_str()), (3, "+2 −1"));
        assert_eq!(Count::between("a\n", "a\n"), Count::default());
    }

    #[test]
    fn a_carried_file_that_appears_or_is_shared_is_no_step() {
        let ws = fixture::course(&[("s01_loop/src/teammate.rs", "//! The teammate.\n")]);
        let (first, second) = (ws.chapter("s01").unwrap(), ws.chapter("s02").unwrap());
        assert!(pair(&ws, first, second, TEAMMATE).is_none());
        assert!(pair(&ws, first, second, MAIN).is_some());

        let ws = fixture::course(&[("s02_tools/src/teammate.rs", "//! The teammate.\n")]);
        let (first, second) = (ws.chapter("s01").unwrap(), ws.chapter("s02").unwrap());
        assert!(pair(&ws, first, second, TEAMMATE).is_none());
    }
}
