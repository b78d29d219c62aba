//! What a frame, a transport and a peer promise, over every transport with both ends in our hands.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod child;
mod client;
#[path = "../external/mod.rs"]
mod external;
mod frames;
mod hostile;
mod hostile_servers;
mod http;
mod links;
mod peer;
mod promises;
