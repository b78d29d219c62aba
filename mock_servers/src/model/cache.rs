//! Prompt caching: which part of a prompt was read from the cache, which was written, which was neither.
//!
//! A chapter on prompts is only worth its lesson when its hits and misses are those of the API, so the rules are the
//! API's: the prefix tools → system → messages, breakpoints, a look-back, a minimum size, a life that a hit renews.
//! Invariant: `read + written + input` is the whole prompt.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

/// How long a breakpoint keeps its prefix after the last hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// The default.
    FiveMinutes,
    /// `"ttl": "1h"`.
    OneHour,
}

/// One block of a prompt, as the cache sees it.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// What it costs.
    pub tokens: u32,
    /// The hash of its content and place; `cache_control` is no part of it.
    pub hash: u64,
    /// The breakpoint set on it.
    pub cache: Option<Life>,
}

/// The hash of what makes a piece another one.
pub fn hash(content: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

/// The tokens of a prompt, by what the cache did for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Neither read nor written: after the last breakpoint, or too short to cache.
    pub input: u32,
    /// Written with a life of five minutes.
    pub written_5m: u32,
    /// Written with a life of an hour.
    pub written_1h: u32,
    /// Read.
    pub read: u32,
}

impl Usage {
    /// All tokens written.
    pub fn written(&self) -> u32 {
        self.written_5m + self.written_1h
    }
}

/// The prefixes written so far.
#[derive(Default)]
pub struct Cache {
    entries: HashMap<u64, Entry>,
    /// Time that a test let pass.
    skipped: Duration,
}

struct Entry {
    life: Life,
    ends: Instant,
}

/// A place in the prompt: the hash and the tokens of all up to it.
struct Mark {
    hash: u64,
    tokens: u32,
    cache: Option<Life>,
}

/// A prefix of fewer tokens is not cached, whatever its breakpoints say: so do most models.
const MINIMUM: u32 = 1024;
/// How many blocks before a breakpoint are looked at for an earlier entry.
const LOOK_BACK: usize = 20;
/// How many entries are kept; a class writes a few a minute.
const MOST_ENTRIES: usize = 4096;

impl Cache {
    /// Lets time pass.
    pub fn advance(&mut self, time: Duration) {
        self.skipped += time;
    }

    /// Accounts for one prompt and remembers its breakpoints. Prompts of different models share nothing.
    pub fn charge(&mut self, model: &str, prompt: &[Piece]) -> Usage {
        let now = Instant::now() + self.skipped;
        let marks = marks(model, prompt);
        let total = marks.last().map_or(0, |mark| mark.tokens);
        let breakpoints = marks
            .iter()
            .enumerate()
            .filter(|(_, mark)| mark.cache.is_some() && mark.tokens >= MINIMUM)
            .map(|(i, _)| i)
            .collect::<Vec<_>>();
        let read = self.hit(&marks, &breakpoints, now);
        let mut usage = Usage {
            read,
            ..Usage::default()
        };
        let mut done = read;
        for mark in breakpoints.iter().map(|&i| &marks[i]) {
            let life = mark.cache.unwrap_or(Life::FiveMinutes);
            let written = mark.tokens.saturating_sub(done);
            match life {
                Life::FiveMinutes => usage.written_5m += written,
                Life::OneHour => usage.written_1h += written,
            }
            done = done.max(mark.tokens);
            self.remember(mark.hash, life, now);
        }
        usage.input = total - done;
        usage
    }

    /// The tokens of the longest prefix that is in the cache at, or shortly before, a breakpoint.
    fn hit(&mut self, marks: &[Mark], breakpoints: &[usize], now: Instant) -> u32 {
        for &breakpoint in breakpoints.iter().rev() {
            let earliest = (breakpoint + 1).saturating_sub(LOOK_BACK);
            for mark in marks[earliest..=breakpoint].iter().rev() {
                if let Some(entry) = self.entries.get_mut(&mark.hash).filter(|e| e.ends > now) {
                    entry.ends = now + entry.life.duration();
                    return mark.tokens;
                }
            }
        }
        0
    }

    fn remember(&mut self, hash: u64, life: Life, now: Instant) {
        if self.entries.len() >= MOST_ENTRIES {
            self.entries.retain(|_, entry| entry.ends > now);
        }
        if self.entries.len() >= MOST_ENTRIES {
            self.entries.clear();
        }
        self.entries.insert(
            hash,
            Entry {
                life,
                ends: now + life.duration(),
            },
        );
    }
}

impl Life {
    fn duration(self) -> Duration {
        match self {
            Self::FiveMinutes => Duration::from_secs(5 * 60),
            Self::OneHour => Duration::from_secs(60 * 60),
        }
    }
}

fn marks(model: &str, prompt: &[Piece]) -> Vec<Mark> {
    let mut hasher = DefaultHasher::new();
    model.hash(&mut hasher);
    let mut hash = hasher.finish();
    let mut tokens = 0;
    let mut marks = Vec::with_capacity(prompt.len());
    for piece in prompt {
        // The pieces are well mixed already, and there are hundreds in every request: one round of FxHash will do.
        hash = (hash.rotate_left(5) ^ piece.hash).wrapping_mul(0x517c_c1b7_2722_0a95);
        tokens += piece.tokens;
        marks.push(Mark {
            hash,
            tokens,
            cache: piece.cache,
        });
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stories of prompts: pieces of a thousand tokens by their number, with `*` and `^` for a breakpoint of five minutes
    /// and of an hour; then what is read, written and neither, in thousands. `+4` lets four minutes pass.
    const STORIES: [(&str, &[&str]); 8] = [
        ("written once, read afterwards", &["1 2* 3 = 0 2 1", "1 2* 4 = 2 0 1"]),
        ("a breakpoint that moves", &["1 2* = 0 2 0", "1 2 3* = 2 1 0"]),
        ("a change before the breakpoint", &["1 2* = 0 2 0", "9 2* = 0 2 0"]),
        ("below the minimum", &["1* 2 = 0 0 2", "1* 2 = 0 0 2"]),
        (
            "a hit renews the five minutes",
            &["1 2* = 0 2 0", "+4", "1 2* = 2 0 0", "+4", "1 2* = 2 0 0", "+5", "1 2* = 0 2 0"],
        ),
        ("an hour is an hour", &["1 2^ = 0 2 0", "+59", "1 2^ = 2 0 0", "+60", "1 2^ = 0 2 0"]),
        (
            "nineteen blocks on",
            &["1 2* = 0 2 0", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21* = 2 19 0"],
        ),
        (
            "more than twenty blocks back",
            &["1 2* = 0 2 0", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22* = 0 22 0"],
        ),
    ];

    fn piece(word: &str) -> Piece {
        let cache = match word.chars().last() {
            Some('*') => Some(Life::FiveMinutes),
            Some('^') => Some(Life::OneHour),
            _ => None,
        };
        let hash = word.trim_end_matches(['*', '^']).parse().expect("a number");
        Piece {
            tokens: 1000,
            hash,
            cache,
        }
    }

    #[test]
    fn a_prompt_is_charged_as_by_the_api() {
        for (story, steps) in STORIES {
            let mut cache = Cache::default();
            for step in steps {
                let Some((prompt, expected)) = step.split_once(" = ") else {
                    let minutes: u64 = step.parse().expect("minutes");
                    cache.advance(Duration::from_secs(60 * minutes));
                    continue;
                };
                let prompt: Vec<Piece> = prompt.split(' ').map(piece).collect();
                let usage = cache.charge("model", &prompt);
                let found = [usage.read, usage.written(), usage.input].map(|tokens| tokens / 1000);
                let found = found.map(|thousands| thousands.to_string()).join(" ");
                assert_eq!(found, expected, "{story}: {step}");
                let lives = (usage.written_5m > 0, usage.written_1h > 0);
                assert!(lives != (true, true) && (!step.contains('^') || !lives.0), "{story}");
            }
            let other = cache.charge("another", &[piece("1"), piece("2*")]);
            assert_eq!(other.read, 0, "another model shares nothing");
        }
    }
}
