//! The loop made visible: what each agent's model reads and answers, on a page, in the terminal, from a real model too.
//!
//! `tape` records, `page` serves the record to a browser on this machine, `show` prints it, `proxy` stands before a real
//! Messages API.
//! Invariant: whoever watches changes nothing; requests and answers pass byte for byte.

pub mod page;
#[cfg(feature = "watch")]
pub mod proxy;
pub mod show;
pub mod tape;
