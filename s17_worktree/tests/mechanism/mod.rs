//! Worktrees with real git, in repositories of their own.
//!
//! Invariant: no setting of the machine leaks into a repository of a test.

mod work_dirs;
mod worktrees;
