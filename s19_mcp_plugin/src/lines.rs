//! What a server writes: the lines of its output, and the tail of its standard error.
//!
//! A server may write without end and without a line break. Invariant: what is kept of it in memory has a limit.

use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

use crate::text::one_line;

/// The longest line that is read, in bytes.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// How many bytes of the tail are kept.
const KEPT: usize = 4_000;

/// How many characters of it are shown.
const SHOWN: usize = 300;

/// Splits a stream at its line breaks (`basic/transports`, section stdio).
pub struct Lines<R> {
    from: BufReader<R>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// The lines of this stream.
    pub fn new(from: R) -> Self {
        let from = BufReader::with_capacity(64 * 1024, from);
        Self { from }
    }

    /// The next line without its break; `None` at the end.
    ///
    /// # Errors
    /// When a line is too long, when the stream ends in the middle of one, when it breaks.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut limited = (&mut self.from).take(MAX_LINE as u64 + 1);
        let read = limited.read_until(b'\n', &mut line).await;
        match (read.context("its output cannot be read")?, line.pop()) {
            (0, _) => Ok(None),
            (_, Some(b'\n')) => Ok(Some(line)),
            (count, _) if count > MAX_LINE => {
                bail!("it sent a line of more than {} MB", MAX_LINE >> 20)
            }
            _ => bail!("its output ended in the middle of a line"),
        }
    }
}

/// The end of what a server wrote outside the protocol: nothing in a healthy session, the best hint when it fails.
#[derive(Default)]
pub struct StderrTail {
    /// A std lock: nothing is awaited while it is held.
    bytes: Mutex<Vec<u8>>,
}

impl StderrTail {
    /// Adds what was written, and drops what no longer fits.
    pub fn add(&self, more: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap();
        let more = &more[more.len().saturating_sub(KEPT)..];
        let too_many = (bytes.len() + more.len()).saturating_sub(KEPT);
        bytes.drain(..too_many);
        bytes.extend_from_slice(more);
    }

    /// Adds all of a stream, to its end.
    pub async fn follow(&self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            self.add(&buffer[..count]);
        }
    }

    /// Forgets what was written so far.
    pub fn clear(&self) {
        self.bytes.lock().unwrap().clear();
    }

    /// The end of it on one line, without anything a terminal would obey; `None` when there is nothing.
    pub fn shown(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned();
        let words = one_line(&text, KEPT);
        match words.char_indices().rev().nth(SHOWN - 1) {
            _ if words.is_empty() => None,
            Some((start, _)) if start > 0 => Some(format!("…{}", &words[start..])),
            _ => Some(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_is_split_at_its_line_breaks_and_a_line_has_a_limit() {
        let mut lines = Lines::new(&b"one\n\ntwo\nhal"[..]);
        for line in [&b"one"[..], b"", b"two"] {
            assert_eq!(lines.next().await.unwrap().unwrap(), line);
        }
        let error = lines.next().await.unwrap_err().to_string();
        assert_eq!(error, "its output ended in the middle of a line");
        assert!(lines.next().await.unwrap().is_none());
        let longest = [vec![b'x'; MAX_LINE - 1], vec![b'\n']].concat();
        let line = Lines::new(&longest[..]).next().await.unwrap();
        assert_eq!(line.map(|line| line.len()), Some(MAX_LINE - 1));
    }

    #[test]
    fn the_tail_is_short_and_harmless() {
        let tail = StderrTail::default();
        assert_eq!(tail.shown(), None);
        tail.add(b"\x1b[2J\r\n \n");
        tail.add("Feh\u{200b}ler: zurück\n".as_bytes());
        assert_eq!(tail.shown().unwrap(), "[2J Fehler: zurück");
        for _ in 0..10_000 {
            tail.add("äö\n".as_bytes());
        }
        tail.add(b"end\n");
        let shown = tail.shown().unwrap();
        assert!(shown.starts_with('…') && shown.ends_with("äö end"));
        assert_eq!(shown.chars().count(), SHOWN + 1);
        tail.add(&vec![b'x'; 10 * KEPT]);
        assert_eq!(tail.bytes.lock().unwrap().len(), KEPT);
        tail.clear();
        assert_eq!(tail.shown(), None);
    }
}
