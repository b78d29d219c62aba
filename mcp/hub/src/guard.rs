//! What a question may cost, and whom it has passed through on its way.
//!
//! A spoke may ask the hub, which asks a spoke. Invariants: all that comes of one question shares one budget and one
//! deadline; no spoke stands twice in a chain, and no chain is longer than the limit.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::Limits;

/// The variable that tells a hub, started by a spoke of another one, by whom.
pub const CHAIN: &str = "MCP_HUB_CHAIN";

/// A question on its way. Clones share the budget.
#[derive(Clone, Debug)]
pub struct Scope {
    chain: Vec<String>,
    budget: Arc<Budget>,
}

#[derive(Debug)]
struct Budget {
    limits: Limits,
    began: Instant,
    used: Mutex<Used>,
}

/// What a question has used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// Requests to spokes and models.
    pub requests: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Of requests and replies.
    pub tokens: u64,
    /// Nobody waits for the answer any more.
    is_over: bool,
}

impl Scope {
    /// A question of a client; `chain` names the spokes that stand before it, with commas between them.
    pub fn new(limits: Limits, chain: &str) -> Self {
        let names = chain.split(',').map(str::trim).filter(|name| !name.is_empty());
        Self {
            chain: names.map(str::to_owned).collect(),
            budget: Arc::new(Budget {
                limits,
                began: Instant::now(),
                used: Mutex::default(),
            }),
        }
    }

    /// The same question, now asked of this spoke.
    ///
    /// # Errors
    /// When that would be a cycle, or too deep.
    pub fn enter(&self, spoke: &str) -> Result<Self, String> {
        let mut chain = self.chain.clone();
        let is_in_it = chain.iter().any(|name| name == spoke);
        chain.push(spoke.to_owned());
        let (shown, most) = (chain.join(" → "), self.budget.limits.depth);
        if is_in_it {
            return Err(format!("{shown} is a cycle: {spoke} is being asked already"));
        }
        if chain.len() as u64 > most {
            return Err(format!(
                "{shown} is too deep: at most {most} spokes stand behind each other"
            ));
        }
        Ok(Self {
            chain,
            budget: self.budget.clone(),
        })
    }

    /// The spokes that it has passed through, the present one last.
    pub fn chain(&self) -> &[String] {
        &self.chain
    }

    /// Takes one request to a spoke or a model.
    ///
    /// # Errors
    /// When there is none left.
    pub fn take_request(&self) -> Result<(), String> {
        self.take(|used, limits| (&mut used.requests, 1, limits.requests), "requests")
    }

    /// Takes one call of a tool.
    ///
    /// # Errors
    /// When there is none left.
    pub fn take_tool_call(&self) -> Result<(), String> {
        self.take(|used, limits| (&mut used.tool_calls, 1, limits.tool_calls), "tool_calls")
    }

    /// Counts what a request has cost. It is spent already, so the one that goes over the limit counts, too.
    ///
    /// # Errors
    /// When nothing more may be asked.
    pub fn spend(&self, tokens: u64) -> Result<(), String> {
        self.budget.used.lock().unwrap().tokens += tokens;
        self.take(|used, limits| (&mut used.tokens, 0, limits.tokens), "tokens")
    }

    fn take(
        &self,
        of: impl Fn(&mut Used, Limits) -> (&mut u64, u64, u64),
        what: &str,
    ) -> Result<(), String> {
        let mut used = self.budget.used.lock().unwrap();
        let is_over = used.is_over;
        let (count, more, most) = of(&mut used, self.budget.limits);
        if is_over {
            return Err("the question is over".to_owned());
        }
        if *count + more > most {
            return Err(format!("the question has used up its {most} {what} (limits.{what})"));
        }
        *count += more;
        Ok(())
    }

    /// Nothing more may be used for it.
    pub fn end(&self) {
        self.budget.used.lock().unwrap().is_over = true;
    }

    /// What it has used so far.
    pub fn used(&self) -> Used {
        *self.budget.used.lock().unwrap()
    }

    /// When it must be answered.
    pub fn deadline(&self) -> Instant {
        self.budget.began + Duration::from_secs(self.budget.limits.seconds)
    }

    /// How long it has taken.
    pub fn elapsed(&self) -> Duration {
        self.budget.began.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_named_and_a_chain_ends() {
        let scope = Scope::new(Limits::default(), "");
        let a = scope.enter("a").unwrap();
        let b = a.enter("b").unwrap();
        assert_eq!(b.chain(), ["a", "b"]);
        assert_eq!(b.enter("a").unwrap_err(), "a → b → a is a cycle: a is being asked already");
        assert!(b.enter("c").unwrap_err().starts_with("a → b → c is too deep: at most 2"));
        let inherited = Scope::new(Limits::default(), "a, b");
        assert!(inherited.enter("b").unwrap_err().starts_with("a → b → b is a cycle"));
    }

    #[test]
    fn what_a_spoke_asks_is_charged_to_the_question() {
        let limits = Limits {
            requests: 2,
            tool_calls: 1,
            tokens: 100,
            ..Limits::default()
        };
        let scope = Scope::new(limits, "");
        let inner = scope.enter("a").unwrap();
        assert_eq!([scope.take_request(), inner.take_request()], [Ok(()), Ok(())]);
        let error = inner.take_request().unwrap_err();
        assert_eq!(error, "the question has used up its 2 requests (limits.requests)");
        assert!(inner.take_tool_call().is_ok() && scope.take_tool_call().is_err());
        assert!(inner.spend(100).is_ok() && scope.spend(1).is_err());
        assert_eq!(scope.used().tokens, 101);
    }
}
