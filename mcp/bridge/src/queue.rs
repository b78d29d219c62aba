//! What waits for an agent: prompts in the order of their class and of their coming.
//!
//! A value without time and tasks in it, so that each rule is a line of a test. Invariants: no more wait than the limit; a
//! user's prompt goes before a schedule's, and within a class the older one first; what was cancelled is not given out.

use std::collections::VecDeque;

/// Who wants something.
#[derive(Clone, Copy, Debug, Default)]
pub enum Class {
    /// Somebody waits for it.
    #[default]
    User,
    /// A schedule.
    Cron,
}

/// The prompts that wait.
#[derive(Debug)]
pub struct Queue<T> {
    limit: usize,
    last: u64,
    /// A line for each class.
    lines: [VecDeque<(u64, T)>; 2],
}

impl<T> Queue<T> {
    /// An empty one.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            last: 0,
            lines: [VecDeque::new(), VecDeque::new()],
        }
    }

    /// Puts something at the end of its class; its number cancels it. None when the limit is reached.
    pub fn push(&mut self, class: Class, item: T) -> Option<u64> {
        if self.len() >= self.limit {
            return None;
        }
        self.last += 1;
        self.lines[class as usize].push_back((self.last, item));
        Some(self.last)
    }

    /// Takes out what is next, with its number.
    pub fn pop(&mut self) -> Option<(u64, T)> {
        self.lines.iter_mut().find_map(VecDeque::pop_front)
    }

    /// Takes this out, if it still waits.
    pub fn cancel(&mut self, number: u64) -> Option<T> {
        self.lines.iter_mut().find_map(|line| {
            let at = line.iter().position(|(other, _)| *other == number)?;
            line.remove(at).map(|(_, item)| item)
        })
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.lines.iter().map(VecDeque::len).sum()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
