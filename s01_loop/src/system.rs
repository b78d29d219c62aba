//! The system prompt of a request.
//!
//! It is sent with every request and changes seldom, so it is written once. Invariant: no block is blank.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::message::ephemeral;

/// The system prompt: text blocks, each of which may end in a prompt-cache breakpoint.
/// A clone costs a few pointers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct System(Vec<TextBlock>);

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename = "text")]
struct TextBlock {
    text: Arc<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Value>,
}

impl System {
    /// Adds a block of text; a blank one, which the API refuses, is left out.
    pub fn and(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.trim().is_empty() {
            self.0.push(TextBlock {
                text: text.into(),
                cache_control: None,
            });
        }
        self
    }

    /// Puts a prompt-cache breakpoint after the last block.
    pub fn breakpoint(mut self) -> Self {
        if let Some(last) = self.0.last_mut() {
            last.cache_control = Some(ephemeral());
        }
        self
    }

    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// About how many bytes of a request it is.
    pub fn size(&self) -> usize {
        self.0.iter().map(|block| block.text.len()).sum()
    }
}

impl<T: Into<String>> From<T> for System {
    fn from(text: T) -> Self {
        Self::default().and(text)
    }
}
