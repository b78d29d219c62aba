//! An answer as a client reads it: who says it, in which mode, what it cost, and what was not seen.
//!
//! Invariants: it is never longer than the client takes; what is cut off lies whole in a file that the client can read; no
//! control character of a spoke reaches a terminal.

use std::path::Path;
use std::time::Duration;

use crate::context::{beginning, tokens};
use crate::telemetry::Record;

/// The width of a rule.
const WIDTH: usize = 72;
/// What the frame and the notes take up at most, in tokens.
const FRAME: usize = 1000;

/// What a spoke has answered.
pub struct Answer<'a> {
    /// The question.
    pub record: &'a Record,
    /// What it says.
    pub text: &'a str,
    /// How long it took.
    pub took: Duration,
    /// Tokens in and out; without them nobody has counted.
    pub tokens: Option<(u64, u64)>,
    /// Calls of tools on the way.
    pub tool_calls: u64,
    /// What of the context it has not seen, a line each.
    pub cuts: &'a [String],
}

impl Answer<'_> {
    /// The answer in its frame. When it is longer than `limit` tokens, the whole is written into `folder`.
    ///
    /// # Errors
    /// When it had to be cut and the file cannot be written.
    pub fn framed(&self, limit: u64, folder: &Path) -> Result<String, String> {
        let text = visible(self.text);
        let room = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(FRAME).max(FRAME);
        let mut text = text.trim().to_owned();
        if tokens(&text) > room {
            let path = folder.join(format!("{}.md", self.record.id));
            kit::make_state_folder(folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
            kit::write_whole(&path, text.as_bytes())
                .map_err(|error| format!("{}: {error:#}", path.display()))?;
            let kept = beginning(&text, room);
            let (shown, all) = (kept.lines().count(), text.lines().count());
            text = format!(
                "{}\n\n[cut here, in line {shown} of {all}; the whole answer, {} tokens, is in {}]",
                kept.trim_end(),
                kit::grouped(tokens(&text) as u64),
                path.display()
            );
        }
        let (spoke, mode) = (self.record.spoke(), self.record.mode);
        let mut framed = format!("{}\n{text}\n", rule(&format!("{spoke} · {mode} mode")));
        if !self.cuts.is_empty() {
            let mut shown: Vec<_> =
                self.cuts.iter().take(10).map(|cut| kit::cut(cut, 200)).collect();
            if self.cuts.len() > shown.len() {
                shown.push(format!("and {} more", self.cuts.len() - shown.len()));
            }
            framed.push_str(&format!("\n[{spoke} has not seen: {}]\n", shown.join("; ")));
        }
        Ok(framed + &rule(&self.cost()))
    }

    fn cost(&self) -> String {
        let mut parts: Vec<String> =
            self.record.model.iter().map(|it| kit::cut(&kit::one_line(it), 60)).collect();
        parts.push(format!("{:.1} s", self.took.as_secs_f64()));
        if let Some((input, output)) = self.tokens {
            parts.push(format!("{} tokens in, {} out", kit::grouped(input), kit::grouped(output)));
        }
        if self.tool_calls > 0 {
            let calls = usize::try_from(self.tool_calls).unwrap_or(usize::MAX);
            parts.push(kit::counted(calls, "tool call"));
        }
        parts.extend(self.record.thread.as_ref().map(|name| format!("thread {name}")));
        parts.join(" · ")
    }
}

fn rule(title: &str) -> String {
    let rest = WIDTH.saturating_sub(title.chars().count() + 5).max(3);
    format!("─── {title} {}", "─".repeat(rest))
}

/// The text without what would steer a terminal.
pub fn visible(text: &str) -> String {
    text.replace("\r\n", "\n").chars().filter(|c| !c.is_control() || "\n\t".contains(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Kind;
    use crate::mode::Mode;

    fn framed(text: &str, folder: &Path) -> String {
        let record = Record {
            at: jiff::Timestamp::UNIX_EPOCH,
            id: "q1".into(),
            chain: vec!["gpt".into()],
            kind: Kind::Run,
            mode: Mode::Challenge,
            model: Some("gpt-5".into()),
            thread: Some("plan".into()),
            ms: 0,
            tokens: 0,
            tool_calls: 0,
            cuts: 0,
            error: None,
        };
        let answer = Answer {
            record: &record,
            text,
            took: Duration::from_millis(2345),
            tokens: Some((1234, 56)),
            tool_calls: 2,
            cuts: &["plan.md: lines 81-900".into()],
        };
        answer.framed(25_000, folder).unwrap()
    }

    #[test]
    fn the_frame_says_who_how_and_what_it_cost() {
        let framed = framed("\u{1b}[2JThree concerns:\r\n1. …\n", Path::new("/none"));
        let expected = "─── gpt · challenge mode ───────────────────────────────────────────────
[2JThree concerns:
1. …

[gpt has not seen: plan.md: lines 81-900]
─── gpt-5 · 2.3 s · 1,234 tokens in, 56 out · 2 tool calls · thread plan ───";
        assert_eq!(framed, expected);
    }

    #[test]
    fn what_is_too_long_lies_whole_in_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let long = "eine Zeile mit Umlauten: äöü\n".repeat(200_000);
        let framed = framed(&long, dir.path());
        assert!(tokens(&framed) <= 25_000, "{}", tokens(&framed));
        let path = dir.path().join("q1.md");
        assert!(
            framed.contains(&format!("is in {}]", path.display())),
            "{}",
            &framed[framed.len() - 400..]
        );
        assert_eq!(std::fs::read_to_string(path).unwrap(), long.trim());
    }
}
