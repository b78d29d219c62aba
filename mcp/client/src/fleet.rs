//! Connects to many servers side by side: few of those that are processes here, many of those that are elsewhere.
//!
//! Invariant: each outcome is told as soon as it is there, and a server that hangs takes up one place, until its time is
//! over, and nobody else's time.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;

use crate::client::Options;
use crate::config::{Server, Transport};
use crate::link::Patience;
use crate::login::Login;

/// How many servers are connected to at once, and how long each may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processes of this machine.
    pub local: usize,
    /// Servers with an address.
    pub remote: usize,
    /// For one server.
    pub connect: Duration,
    /// For a call.
    pub call: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            local: 3,
            remote: 20,
            connect: Duration::from_secs(30),
            call: Duration::from_secs(100_000),
        }
    }
}

impl Limits {
    /// The limits of the environment, by the names that Claude Code gives them.
    ///
    /// # Errors
    /// Which variable is no number above 0.
    pub fn from_env(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let number = |name: &str, default: u64| match variable(name).map(|text| text.trim().parse())
        {
            None => Ok(default),
            Some(Ok(number @ 1..)) => Ok(number),
            Some(_) => Err(format!("{name} must be a whole number above 0")),
        };
        let size = |name, default| {
            number(name, default).map(|it| usize::try_from(it).unwrap_or(usize::MAX))
        };
        Ok(Self {
            local: size("MCP_SERVER_CONNECTION_BATCH_SIZE", 3)?,
            remote: size("MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE", 20)?,
            connect: Duration::from_millis(number("MCP_TIMEOUT", 30_000)?),
            call: Duration::from_millis(number("MCP_TOOL_TIMEOUT", 100_000_000)?),
        })
    }

    /// How a server with this login is spoken to.
    pub fn options(self, login: Arc<dyn Login>) -> Options {
        Options {
            login,
            patience: Patience {
                connect: self.connect,
                ..Patience::default()
            },
            call: self.call,
            ..Options::default()
        }
    }
}

/// Does `work` for each server and tells each outcome as it comes, with the place of its server.
pub async fn each<T, F: Future<Output = T>>(
    servers: &[Server],
    limits: Limits,
    work: impl Fn(usize) -> F,
    mut tell: impl FnMut(usize, T),
) {
    let (local, remote): (Vec<_>, Vec<_>) =
        (0..servers.len()).partition(|at| servers[*at].transport == Transport::Stdio);
    let work = &work;
    let lane = |places: Vec<usize>, most: usize| {
        let started = places.into_iter().map(move |at| async move { (at, work(at).await) });
        stream::iter(started).buffer_unordered(most)
    };
    let mut both = stream::select(lane(local, limits.local), lane(remote, limits.remote));
    while let Some((at, outcome)) = both.next().await {
        tell(at, outcome);
    }
}
