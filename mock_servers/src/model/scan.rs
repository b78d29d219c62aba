//! Finds where JSON values begin and end without building them.
//!
//! A conversation is sent again with every request, so most of a body has been read before. The scanner lets the reader
//! step over what it knows and hand only the rest to serde.
//! Invariant: it never panics and never leaves the slice; it takes malformed values for whole, and serde refuses them.

use std::ops::Range;

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
        if self.take(byte) {
            Ok(())
        } else {
            Err(Malformed)
        }
    }

    /// Takes one value and returns where it lies.
    pub fn value(&mut self) -> Result<Range<usize>, Malformed> {
        let first = self.peek().ok_or(Malformed)?;
        let start = self.at;
        match first {
            b'"' => self.string()?,
            b'{' | b'[' => self.nested()?,
            _ => self.literal()?,
        }
        Ok(start..self.at)
    }

    /// Takes the rest of the text, which must be white space.
    pub fn end(&mut self) -> Result<(), Malformed> {
        if self.peek().is_none() {
            Ok(())
        } else {
            Err(Malformed)
        }
    }

    fn string(&mut self) -> Result<(), Malformed> {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'"' => return Ok(()),
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        Err(Malformed)
    }

    fn nested(&mut self) -> Result<(), Malformed> {
        let mut depth = 0usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        Err(Malformed)
    }

    fn literal(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while let Some(byte) = self.bytes.get(self.at) {
            if matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n') {
                break;
            }
            self.at += 1;
        }
        if self.at > start {
            Ok(())
        } else {
            Err(Malformed)
        }
    }
}

/// How many bytes two slices have in common from their start.
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut done = 0;
    // Large chunks first: comparing them is one memcmp, and most of a conversation is equal.
    for chunk in [4096, 64, 1] {
        let pairs = a[done..]
            .chunks_exact(chunk)
            .zip(b[done..].chunks_exact(chunk));
        done += pairs.take_while(|(x, y)| x == y).count() * chunk;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<&str> {
        let mut scanner = Scanner::new(text.as_bytes());
        let mut found = Vec::new();
        while scanner.peek().is_some() {
            found.push(&text[scanner.value().expect("a value")]);
            scanner.take(b',');
        }
        found
    }

    #[test]
    fn values_end_where_json_says_so() {
        let text = r#" {"a": "}\"]", "b": [1, {}]} , "x\\" ,-1.5e3, [ [] ],true "#;
        let expected = [
            r#"{"a": "}\"]", "b": [1, {}]}"#,
            r#""x\\""#,
            "-1.5e3",
            "[ [] ]",
            "true",
        ];
        assert_eq!(values(text), expected);
    }

    #[test]
    fn an_unfinished_value_is_malformed() {
        for text in [
            "",
            "  ",
            "\"open",
            "\"open\\",
            "{\"a\": [1, 2}",
            "[",
            ",",
            "]",
        ] {
            assert_eq!(
                Scanner::new(text.as_bytes()).value(),
                Err(Malformed),
                "{text}"
            );
        }
    }

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
