//! Where the cached messages end: what was sent last, and how much of it is sent again.
//!
//! A changed message costs everything behind it, and the bill does not say which one it was. Invariant: what is compared
//! is what is sent; adding messages changes nothing.

use s01_loop::Message;

/// The messages of the last request.
#[derive(Default)]
pub struct Prefix(Vec<Message>);

impl Prefix {
    /// Called with each request: says where the messages sent before end, unless all of them are still there.
    pub fn end(&mut self, messages: &[Message]) -> Option<String> {
        let before = std::mem::replace(&mut self.0, messages.to_vec());
        let same = std::iter::zip(&before, messages).take_while(|(old, new)| old == new);
        let (same, count) = (same.count(), before.len());
        (same < count).then(|| format!("[the cached messages end before {} of {count}]", same + 1))
    }
}
