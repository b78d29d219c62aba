//! Walks through a JSON text, value by value.
//!
//! A conversation is sent again with every request, so most of a body has been read before. The scanner lets the reader
//! step over what it knows and hand only the rest to serde. Invariant: it never panics and never leaves the slice.

use serde::Deserialize;

/// A place in a JSON text.
pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The text is not JSON; serde says where and why.
#[derive(Debug, PartialEq)]
pub struct Malformed;

impl<'a> Scanner<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The offset of the next byte to read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Goes on at `offset`, which the caller knows to be the end of a value.
    pub fn jump(&mut self, offset: usize) {
        self.at = offset.min(self.bytes.len());
    }

    /// Takes these bytes, which the caller knows to be an array, an object or a string, if they come next.
    pub fn take_known(&mut self, value: &[u8]) -> bool {
        self.peek();
        let there = self.bytes[self.at..].starts_with(value);
        self.at += if there { value.len() } else { 0 };
        there
    }

    /// The next byte that is no white space, without taking it.
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// Takes `byte` if it comes next.
    pub fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Takes `byte`, which must come next.
    pub fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.take(byte) { Ok(()) } else { Err(Malformed) }
    }

    /// Takes one value.
    pub fn value<T: Deserialize<'a>>(&mut self) -> Result<T, Malformed> {
        let rest = &self.bytes[self.at..];
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter();
        let value = values.next().and_then(Result::ok).ok_or(Malformed)?;
        self.at += values.byte_offset();
        Ok(value)
    }

    /// Takes the rest of the text, which must be white space.
    pub fn end(&mut self) -> Result<(), Malformed> {
        if self.peek().is_none() { Ok(()) } else { Err(Malformed) }
    }
}

/// How many bytes two slices have in common from their start.
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut done = 0;
    // Large chunks first: comparing them is one memcmp, and most of a conversation is equal.
    for chunk in [4096, 64, 1] {
        let pairs = a[done..].chunks_exact(chunk).zip(b[done..].chunks_exact(chunk));
        done += pairs.take_while(|(x, y)| x == y).count() * chunk;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_prefix_is_exact_across_chunks() {
        let long = vec![7u8; 10_000];
        for length in [0, 1, 4095, 4096, 4097, 9999] {
            let mut other = long.clone();
            other[length] = 8;
            assert_eq!(common_prefix(&long, &other), length);
            assert_eq!(common_prefix(&long, &long[..length]), length);
        }
        assert_eq!(common_prefix(&long, &long), long.len());
    }
}
