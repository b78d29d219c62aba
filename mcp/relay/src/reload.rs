//! What a changed configuration asks for.
//!
//! Invariant: what stands in both is not touched, and the steps that take tools away come first.

use crate::config::Entry;

/// One step from a configuration to the next.
#[derive(Clone)]
pub enum Step {
    /// The backend goes: first its tools, then, behind the calls under way, its connection.
    Remove(String),
    /// It is reached another way: a new connection takes over, and the old one ends behind its calls.
    Change(Entry),
    /// It is new.
    Add(Entry),
}

/// The steps, in the order in which they are taken.
pub fn diff(old: &[Entry], new: &[Entry]) -> Vec<Step> {
    let find = |entries: &[Entry], name: &str| entries.iter().find(|it| it.name() == name).cloned();
    let removed = old.iter().filter(|it| find(new, it.name()).is_none());
    let mut steps: Vec<_> = removed.map(|it| Step::Remove(it.name().to_owned())).collect();
    let changed = new.iter().filter(|it| find(old, it.name()).is_some_and(|old| old != **it));
    steps.extend(changed.cloned().map(Step::Change));
    let added = new.iter().filter(|it| find(old, it.name()).is_none());
    steps.extend(added.cloned().map(Step::Add));
    steps
}
