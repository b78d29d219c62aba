//! Channels: messages that a server pushes to an agent, and permissions that it asks for.
//!
//! They come through [`crate::Options::notifications`] as any other notification. Invariant: what a server says cannot
//! close the tag that it stands in.

/// The capability under `experimental` of a server that pushes messages.
pub const CAPABILITY: &str = "claude/channel";
/// A message.
pub const MESSAGE: &str = "notifications/claude/channel";
