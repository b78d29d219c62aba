//! What a mock model may be told when it starts.
//!
//! A test sets fields, a class sets environment variables, the binary takes flags; all end here.
//! Invariant: the environment is read in `from_env` and nowhere else.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use super::faults::{Fault, faults};

/// The settings of a mock model.
#[derive(Clone)]
pub struct Options {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// Whether a request without a key gets a 401.
    pub require_key: bool,
    /// The size of the context window, in tokens. A longer prompt is refused.
    pub context_tokens: u32,
    /// How fast a reply comes, in tokens per second; `None` is at once.
    pub tokens_per_second: Option<u32>,
    /// The faults of the first requests.
    pub faults: Vec<Fault>,
    /// How many requests are kept for `requests()`; older ones are forgotten.
    pub keep: usize,
    /// Whether a refused request fails the test when the handle is dropped.
    pub strict: bool,
    /// Gets one line for each request.
    pub log: Option<Log>,
    /// Gets what is new in each exchange, in words.
    pub show: Option<Log>,
    /// Gets what the page of the loop is made from, a line of JSON at a time.
    pub record: Option<Log>,
}

/// Where log lines go.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// The context window of most models.
const CONTEXT_TOKENS: u32 = 200_000;
/// Enough for a look at the last turns; a day-long class must not fill the memory of a student's process.
const KEEP: usize = 8;

impl Default for Options {
    fn default() -> Self {
        Self {
            port: 0,
            require_key: false,
            context_tokens: CONTEXT_TOKENS,
            tokens_per_second: None,
            faults: Vec::new(),
            keep: KEEP,
            strict: false,
            log: None,
            show: None,
            record: None,
        }
    }
}

impl Options {
    /// The options of a test: every request is kept, and a refused one fails the test unless it asks for it.
    pub fn strict() -> Self {
        Self {
            keep: usize::MAX,
            strict: true,
            ..Self::default()
        }
    }

    /// The default options, changed by `MOCK_CONTEXT_TOKENS`, `MOCK_TOKENS_PER_SECOND`, `MOCK_MODEL_FAULTS` and `MOCK_RECORD`.
    ///
    /// The error is a sentence that names the variable.
    pub fn from_env() -> Result<Self, String> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let mut options = Self::default();
        let number = |name: &str| match get(name) {
            None => Ok(None),
            Some(text) => match text.parse::<u32>() {
                Ok(number) if number > 0 => Ok(Some(number)),
                _ => Err(format!("{name}={text}: expected a whole number above 0")),
            },
        };
        if let Some(tokens) = number("MOCK_CONTEXT_TOKENS")? {
            options.context_tokens = tokens;
        }
        options.tokens_per_second = number("MOCK_TOKENS_PER_SECOND")?;
        if let Some(text) = get("MOCK_MODEL_FAULTS") {
            options.faults =
                faults(&text).map_err(|wrong| format!("MOCK_MODEL_FAULTS: {wrong}"))?;
        }
        options.record = get("MOCK_RECORD").map(|path| record(&path)).transpose()?;
        Ok(options)
    }
}

/// Writes the record to this file, which begins anew. A full disk ends the record, never an answer.
fn record(path: &str) -> Result<Log, String> {
    let file = File::create(path).map_err(|error| format!("MOCK_RECORD={path}: {error}"))?;
    Ok(Arc::new(move |line| drop((&file).write_all(format!("{line}\n").as_bytes()))))
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("port", &self.port)
            .field("context_tokens", &self.context_tokens)
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&str, &str)]) -> Result<Options, String> {
        let get =
            |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, v)| v.to_string());
        Options::from_variables(get)
    }

    #[test]
    fn variables_change_the_defaults() {
        let options = from(&[
            ("MOCK_CONTEXT_TOKENS", "8000"),
            ("MOCK_TOKENS_PER_SECOND", "40"),
            ("MOCK_MODEL_FAULTS", "429=0:2, stall"),
        ])
        .expect("valid variables");
        assert_eq!(options.context_tokens, 8000);
        assert_eq!(options.tokens_per_second, Some(40));
        let limited = Fault::RateLimited { retry_after: 0 };
        assert_eq!(options.faults, [limited, limited, Fault::Stall]);
    }

    #[test]
    fn a_wrong_variable_is_named() {
        for (name, value) in [
            ("MOCK_CONTEXT_TOKENS", "many"),
            ("MOCK_TOKENS_PER_SECOND", "0"),
            ("MOCK_MODEL_FAULTS", "430"),
            ("MOCK_MODEL_FAULTS", "429:0"),
            ("MOCK_MODEL_FAULTS", "stall=3"),
            ("MOCK_RECORD", "/nowhere/record"),
        ] {
            let error = from(&[(name, value)]).expect_err(value);
            assert!(error.starts_with(name), "{error}");
        }
    }
}
