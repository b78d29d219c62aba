//! What recovery takes from outside: time, chance and a place for its remarks.
//!
//! A test of ten tries must not take two minutes, so it brings a clock of its own. Invariant: this crate waits, draws
//! random numbers and prints through this trait only.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use kit::BoxFuture;
use s01_loop::Repl;

/// The clock of a recovery: [`Repl`] in a session; a test brings its own.
pub trait Clock: Send + Sync {
    /// Lets this much time pass.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()>;

    /// A number from 0 to 1, another one each time.
    fn chance(&self) -> f64;

    /// Says what is done about a failure.
    fn remark(&self, text: &str);
}

impl Clock for Repl {
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    fn chance(&self) -> f64 {
        // Each of these hashers has keys of its own: dice enough to keep two clients apart, without another crate.
        f64::from(RandomState::new().hash_one(()) as u32) / f64::from(u32::MAX)
    }

    fn remark(&self, text: &str) {
        Repl::remark(self, &format!("[{text}]"));
    }
}
