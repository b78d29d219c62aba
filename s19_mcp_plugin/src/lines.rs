//! What comes from a server as bytes: the lines of its output, and the last words it wrote beside them.
//!
//! A server may write without end and without a line break. Invariant: what is kept of it in memory has a limit.

use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

use crate::plain::plain;

/// The longest line that is read, in bytes.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// How many bytes of last words are kept.
const KEPT: usize = 4_000;

/// How many characters of them are shown.
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

/// The last that a server wrote outside the protocol: nothing in a healthy session, the best hint when it fails.
#[derive(Default)]
pub struct LastWords {
    /// A std lock: nothing is awaited while it is held.
    words: Mutex<Words>,
}

#[derive(Default)]
struct Words {
    /// How many bytes were written in all.
    written: u64,
    /// The last of them.
    last: Vec<u8>,
}

impl LastWords {
    /// Adds what was written.
    pub fn add(&self, more: &[u8]) {
        let words = &mut *self.words.lock().unwrap();
        words.written += more.len() as u64;
        let more = &more[more.len().saturating_sub(KEPT)..];
        let too_many = (words.last.len() + more.len()).saturating_sub(KEPT);
        words.last.drain(..too_many);
        words.last.extend_from_slice(more);
    }

    /// How many bytes were written so far.
    pub fn written(&self) -> u64 {
        self.words.lock().unwrap().written
    }

    /// The end of what was written after so many bytes, on one line, without anything a terminal would obey; `None` when
    /// that is nothing.
    pub fn shown(&self, since: u64) -> Option<String> {
        let text = {
            let words = self.words.lock().unwrap();
            let new = usize::try_from(words.written.saturating_sub(since)).unwrap_or(KEPT);
            let old = words.last.len().saturating_sub(new);
            plain(&String::from_utf8_lossy(&words.last[old..]), KEPT)
        };
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let start = words.char_indices().rev().nth(SHOWN - 1);
        match start {
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
    async fn a_stream_is_split_at_its_line_breaks() {
        let mut lines = Lines::new(&b"one\n\ntwo\nhal"[..]);
        for line in [&b"one"[..], b"", b"two"] {
            assert_eq!(lines.next().await.unwrap().unwrap(), line);
        }
        let error = lines.next().await.unwrap_err().to_string();
        assert_eq!(error, "its output ended in the middle of a line");
        assert!(lines.next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_line_has_a_limit() {
        let longest = [vec![b'x'; MAX_LINE - 1], vec![b'\n']].concat();
        let line = Lines::new(&longest[..]).next().await.unwrap();
        assert_eq!(line.map(|line| line.len()), Some(MAX_LINE - 1));
        let error = Lines::new(tokio::io::repeat(b'x')).next().await;
        assert_eq!(
            error.unwrap_err().to_string(),
            "it sent a line of more than 16 MB"
        );
    }

    #[test]
    fn last_words_are_the_end_of_what_was_written_and_harmless() {
        let words = LastWords::default();
        assert_eq!(words.shown(0), None);
        words.add(b"\x1b[2J\r\n \n");
        words.add("Feh\u{200b}ler: zurück\n".as_bytes());
        assert_eq!(words.shown(0).unwrap(), "[2J Fehler: zurück");
        let before = words.written();
        assert_eq!(words.shown(before), None, "nothing new");
        for _ in 0..10_000 {
            words.add("äö\n".as_bytes());
        }
        words.add(b"end\n");
        let shown = words.shown(before).unwrap();
        assert!(
            shown.starts_with('…') && shown.ends_with("äö end"),
            "{shown}"
        );
        assert_eq!(shown.chars().count(), SHOWN + 1);
        let before = words.written();
        words.add(b"new\n");
        assert_eq!(words.shown(before).unwrap(), "new");
        words.add(&vec![b'x'; 10 * KEPT]);
        assert_eq!(words.words.lock().unwrap().last.len(), KEPT);
    }
}
