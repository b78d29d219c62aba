//! A JSON line for each question, and what can be read from them later.
//!
//! Invariant: a line has figures, names and errors, never what was asked or answered.

use std::fs;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::Kind;
use crate::mode::Mode;

/// The width of the longest bar.
const WIDTH: f64 = 40.0;

/// A question, when it is over.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Record {
    /// When.
    pub at: Timestamp,
    /// Its name in the log.
    pub id: String,
    /// Who was asked, and through whom.
    pub chain: Vec<String>,
    /// How that spoke is spoken to.
    pub kind: Kind,
    /// In which mode.
    pub mode: Mode,
    /// With which model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// In which thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// How long it took.
    pub ms: u64,
    /// Of all its requests.
    pub tokens: u64,
    /// Of all its spokes.
    pub tool_calls: u64,
    /// Pieces of the context that were cut.
    pub cuts: usize,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Record {
    /// Writes a line behind the others.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&self, path: &Path) -> std::io::Result<()> {
        path.parent().map_or(Ok(()), kit::make_state_folder)?;
        let line = serde_json::to_string(self)? + "\n";
        // One write, so that lines of several hubs do not mix.
        fs::File::options().create(true).append(true).open(path)?.write_all(line.as_bytes())
    }

    /// Who was asked.
    pub fn spoke(&self) -> &str {
        self.chain.last().map_or("?", String::as_str)
    }

    /// A line for a person.
    pub fn line(&self) -> String {
        let at = self.at.strftime("%Y-%m-%d %H:%M:%S");
        let outcome = self.error.as_deref().map_or_else(|| "answered".to_owned(), kit::one_line);
        let chain = self.chain.join(" → ");
        let tokens = kit::grouped(self.tokens);
        format!(
            "{at}  {}  {chain}  {}  {} ms  {tokens} tokens  {outcome}",
            self.id, self.mode, self.ms
        )
    }
}

/// All questions, and how many lines are none.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn read(path: &Path) -> std::io::Result<(Vec<Record>, usize)> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    let lines = text.lines().count();
    let records: Vec<Record> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let odd = lines - records.len();
    Ok((records, odd))
}

/// How each spoke has done: figures, and bars of its latency at p50 and p95.
pub fn stats(records: &[Record]) -> String {
    let mut names: Vec<&str> = records.iter().map(Record::spoke).collect();
    names.sort_unstable();
    names.dedup();
    let wide = names.iter().map(|name| name.len()).max().unwrap_or(0).max(5);
    let rows: Vec<_> = names.iter().map(|name| (name, figures(records, name))).collect();
    let longest = rows.iter().map(|(_, [.., p95])| *p95).max().unwrap_or(0).max(1);
    let mut text = format!("{:wide$}  asked  failed      tokens     p50 ms     p95 ms\n", "spoke");
    for (name, [asked, failed, tokens, p50, p95]) in &rows {
        let tokens = kit::grouped(*tokens);
        text.push_str(&format!(
            "{name:wide$}  {asked:5}  {failed:6}  {tokens:>10}  {p50:9}  {p95:9}\n"
        ));
    }
    text.push_str("\nlatency, █ p50, ░ p95\n");
    for (name, [_, _, _, p50, p95]) in &rows {
        let columns = |ms: u64| (WIDTH * ms as f64 / longest as f64).ceil() as usize;
        let (dark, light) = (columns(*p50), columns(*p95) - columns(*p50));
        text.push_str(&format!("{name:wide$}  {}{}\n", "█".repeat(dark), "░".repeat(light)));
    }
    text
}

/// Asked, failed, tokens, p50 and p95 in milliseconds.
fn figures(records: &[Record], name: &str) -> [u64; 5] {
    let own: Vec<&Record> = records.iter().filter(|record| record.spoke() == name).collect();
    let failed = own.iter().filter(|record| record.error.is_some()).count() as u64;
    let mut times: Vec<u64> = own.iter().map(|record| record.ms).collect();
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share).div_ceil(100) - 1];
    [own.len() as u64, failed, own.iter().map(|record| record.tokens).sum(), at(50), at(95)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(spoke: &str, ms: u64, error: Option<&str>) -> Record {
        Record {
            at: Timestamp::UNIX_EPOCH,
            id: "q".into(),
            chain: vec![spoke.into()],
            kind: Kind::Run,
            mode: Mode::Agree,
            model: None,
            thread: None,
            ms,
            tokens: 700,
            tool_calls: 0,
            cuts: 0,
            error: error.map(str::to_owned),
        }
    }

    #[test]
    fn lines_are_read_back_and_counted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hub/log.jsonl");
        assert_eq!(read(&path).unwrap().0.len(), 0);
        for ms in 1..=20 {
            record("gpt", 100 * ms, (ms == 20).then_some("away\nfor now")).append(&path).unwrap();
        }
        record("b", 500, None).append(&path).unwrap();
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{half\n").unwrap();
        let (records, odd) = read(&path).unwrap();
        assert_eq!((records.len(), odd), (21, 1));
        assert_eq!(
            records[19].line(),
            "1970-01-01 00:00:00  q  gpt  agree  2000 ms  700 tokens  away for now"
        );
        let expected = "\
spoke  asked  failed      tokens     p50 ms     p95 ms
b          1       0         700        500        500
gpt       20       1      14,000       1000       1900

latency, █ p50, ░ p95
b      ███████████
gpt    ██████████████████████░░░░░░░░░░░░░░░░░░
";
        assert_eq!(stats(&records), expected);
        assert!(stats(&[]).starts_with("spoke"));
    }
}
