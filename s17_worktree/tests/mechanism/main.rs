//! Worktrees with real git, in repositories of their own.
//!
//! Invariant: no setting of the machine leaks into a repository of a test.

#[path = "../../../s15_mailbox/tests/scene/mod.rs"]
#[allow(dead_code, reason = "other chapters use the rest of it")]
mod scene;
mod work_dirs;
mod worktrees;
#[allow(dead_code, reason = "the exercises use the rest of it")]
mod yard;
