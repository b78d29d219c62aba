//! A long run: 200 rounds of large outputs, the same for a test and for the bench.
//!
//! The model decides by the number of the round, so that compaction cannot lead it astray. Invariant: it reads files of
//! all sizes, alone and side by side, and each layer gets something to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mock_servers::model::{Brain, Reply, Request, calls, says};
use serde_json::{Value, json};

/// How many rounds of tool calls there are.
pub const ROUNDS: usize = 200;

/// What the user asks for first, and what the model must know to the end.
pub const REQUEST: &str = "Read all of it and tell me the colour of the ninth door.";

/// The files, each with a size in characters.
pub const FILES: [(&str, usize); 4] =
    [("note.txt", 1_000), ("page.txt", 6_000), ("chapter.txt", 16_000), ("book.txt", 40_000)];

/// The content of a file of this size: lines of text.
pub fn content(size: usize) -> String {
    let line = "The corridor has many doors, and behind each of them lies another corridor.\n";
    line.repeat(size / line.len() + 1)
}

/// The model of a long run. Clones share the count.
#[derive(Clone, Default)]
pub struct Reader {
    rounds: Arc<AtomicUsize>,
    summaries: Arc<AtomicUsize>,
}

impl Reader {
    /// How many summaries it was asked for.
    pub fn summaries(&self) -> usize {
        self.summaries.load(Ordering::Relaxed)
    }
}

impl Brain for Reader {
    fn answer(&self, request: &Request) -> Reply {
        if request.system.starts_with("You summarize a conversation") {
            self.summaries.fetch_add(1, Ordering::Relaxed);
            let rounds = self.rounds.load(Ordering::Relaxed);
            return says(format!(
                "The user wants to know the colour of the ninth door. {rounds} rounds are done."
            ));
        }
        let round = self.rounds.fetch_add(1, Ordering::Relaxed);
        match round {
            ROUNDS.. => says("The ninth door is green."),
            round if round % 7 == 6 => {
                calls("read_file", file(round)).and_calls("read_file", file(round + 1))
            }
            round => calls("read_file", file(round)),
        }
    }
}

fn file(round: usize) -> Value {
    // Eleven, so that it is never in step with the rounds of two calls.
    const ORDER: [usize; 11] = [0, 1, 2, 0, 3, 1, 2, 2, 0, 1, 3];
    let (name, _) = FILES[ORDER[round % ORDER.len()]];
    json!({ "path": name })
}
