//! Which model to ask, where, and with what key.
//!
//! The environment is read once, here, so that everything else can be tested without it. Invariant: the key leaves this
//! program in one header of a request and nowhere else: not in a log, an error, a transcript or a child's environment.

use std::fmt;

use anyhow::{Context, Result};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

/// The variables that hold a key. Tools that start processes take them out of the child's environment.
pub const KEY_VARIABLES: [&str; 2] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"];

/// The API that a key without a base URL belongs to.
pub(crate) const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";

/// The model that is asked when `MODEL_ID` names none. It thinks only when told to; newer ones think by default and bind
/// their thinking blocks to the prompt before them, which later chapters change.
pub(crate) const DEFAULT_MODEL: &str = "claude-sonnet-4-6";

/// How the client shows who it is. A secret can be sent but not printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Credentials {
    /// No key: a local endpoint that wants none.
    #[default]
    None,
    /// `x-api-key: …`
    ApiKey(String),
    /// `Authorization: Bearer …`
    Token(String),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::None { "None" } else { "[secret]" })
    }
}

impl Credentials {
    /// The header to send, marked sensitive so that no library logs it.
    pub(crate) fn header(&self) -> Result<Option<(HeaderName, HeaderValue)>> {
        let (name, value) = match self {
            Self::None => return Ok(None),
            Self::ApiKey(key) => (HeaderName::from_static("x-api-key"), key.clone()),
            Self::Token(token) => (AUTHORIZATION, format!("Bearer {token}")),
        };
        let mut value = HeaderValue::from_str(&value).ok().context(
            "the API key holds a character that no key has, perhaps a line break: set it anew",
        )?;
        value.set_sensitive(true);
        Ok(Some((name, value)))
    }

    /// The text without the secret, for servers that repeat it in an error.
    pub(crate) fn redact(&self, text: &str) -> String {
        match self {
            Self::None => text.to_owned(),
            Self::ApiKey(secret) | Self::Token(secret) => text.replace(secret, "[key]"),
        }
    }
}

/// The number that a variable holds.
pub(crate) fn number(variable: &str, written: &str, most: u64) -> Result<u64> {
    let number = written.replace(['_', ','], "").parse().ok();
    let number = number.filter(|number| (1..=most).contains(number));
    number.with_context(|| format!("{variable} is no number from 1 to {most}: {written:?}"))
}

/// What a client needs to know before its first request.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The key or token, if any.
    pub credentials: Credentials,
    /// Where the API is; `None` for the default, or for the mock model when there is no key either.
    pub base_url: Option<String>,
    /// The model's id; `None` for the default.
    pub model: Option<String>,
    /// The id of the model to ask while that one is overloaded.
    pub fallback_model: Option<String>,
    /// The model's context window, in tokens, as it was written; `None` for what the mock model says of itself, or the
    /// default.
    pub context_tokens: Option<String>,
    /// How much memory a command of the model's may have, in GB, as it was written; `none` for no limit.
    pub bash_memory: Option<String>,
}

impl Settings {
    /// Reads `ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, `ANTHROPIC_BASE_URL`, `MODEL_ID`, `FALLBACK_MODEL_ID`,
    /// `MODEL_CONTEXT_TOKENS` and `BASH_MEMORY_GB`; an empty one counts as unset.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads them")]
    pub(crate) fn from_env() -> Self {
        let variable = |name: &str| {
            let value = std::env::var(name).ok()?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let [key, token] = KEY_VARIABLES.map(variable);
        // A command could read our environment from /proc, whatever its own is; not so when we are not dumpable.
        #[cfg(target_os = "linux")]
        if key.is_some() || token.is_some() {
            let _ = nix::sys::prctl::set_dumpable(false);
        }
        Self {
            credentials: match (key, token) {
                (Some(key), _) => Credentials::ApiKey(key),
                (None, Some(token)) => Credentials::Token(token),
                (None, None) => Credentials::None,
            },
            base_url: variable("ANTHROPIC_BASE_URL"),
            model: variable("MODEL_ID"),
            fallback_model: variable("FALLBACK_MODEL_ID"),
            context_tokens: variable("MODEL_CONTEXT_TOKENS"),
            bash_memory: variable("BASH_MEMORY_GB"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_never_printed() {
        let settings = Settings {
            credentials: Credentials::ApiKey("sk-secret".into()),
            ..Settings::default()
        };
        assert!(!format!("{settings:?}").contains("sk-secret"));
        let (_, header) = settings.credentials.header().unwrap().unwrap();
        assert!(!format!("{header:?}").contains("sk-secret"));
        assert_eq!(settings.credentials.redact("bad key sk-secret!"), "bad key [key]!");
    }

    #[test]
    fn a_key_with_a_line_break_is_refused_without_showing_it() {
        let error = Credentials::Token("sk-\nsecret".into()).header().unwrap_err();
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
}
