//! The system prompt of a request.
//!
//! It is sent with every request and changes seldom, so it is written once. Invariant: no block is blank.

use std::sync::Arc;

use serde_json::json;

use crate::message::ephemeral;

/// The system prompt: text blocks, each of which may end in a prompt-cache breakpoint.
/// Each block is serialized once; a clone costs a few pointers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct System {
    pub(crate) blocks: Vec<Arc<str>>,
}

impl System {
    /// Adds a block of text; a blank one, which the API refuses, is left out.
    pub fn and(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.trim().is_empty() {
            let block = json!({ "type": "text", "text": text });
            self.blocks.push(block.to_string().into());
        }
        self
    }

    /// Puts a prompt-cache breakpoint after the last block.
    pub fn breakpoint(mut self) -> Self {
        if let Some(last) = self.blocks.last_mut() {
            let open = last.strip_suffix('}').expect("a block is an object");
            *last = format!(r#"{open},"cache_control":{}}}"#, ephemeral()).into();
        }
        self
    }

    /// How many bytes of a request it is.
    pub fn size(&self) -> usize {
        self.blocks.iter().map(|block| block.len()).sum()
    }
}

impl<T: Into<String>> From<T> for System {
    fn from(text: T) -> Self {
        Self::default().and(text)
    }
}
