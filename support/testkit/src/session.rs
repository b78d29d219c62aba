//! A recorded session: what a student sees who types these lines, as a chapter's README shows it.
//!
//! A transcript that nobody runs goes stale like pasted code. A test of the chapter makes this one again and compares.
//! Invariant: two runs make the same record. What differs from run to run is masked, the tokens of a turn may differ by
//! what another path or day of the week costs, and agents that work side by side may take turns in another order.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Class, ran};

/// What was typed and shown, ready for a README.
#[derive(Debug)]
pub struct Session {
    text: String,
}

/// Set to `write`, a session goes into its README instead of being compared with it; `cargo x session` does that.
const VARIABLE: &str = "SESSION";
/// Where the requests of a session are kept, beside the binary.
const RECORDS: &str = "sessions";
const OPEN: &str = "<!-- session -->";
const CLOSE: &str = "<!-- /session -->";
/// A line of the record, at most; a code block does not wrap.
const COLUMNS: usize = 100;

impl Class {
    /// Types these lines, and records what a student would see. An answer to a question is a line, too. What the model
    /// was asked is kept beside the binary; the book makes a page of it.
    ///
    /// # Panics
    /// When the run fails.
    #[track_caller]
    pub fn session(&self, lines: &[&str]) -> Session {
        let folder = self.exe.parent().unwrap_or(&self.exe);
        let mut command = self.command(&[]);
        let chapter = self.exe.file_stem().unwrap_or_default();
        let record = folder.join(RECORDS).join(chapter).with_extension("jsonl");
        fs::create_dir_all(folder.join(RECORDS)).expect("a directory beside the binary");
        command.env("MOCK_RECORD", record);
        let typed = lines.iter().map(|line| format!("{line}\n")).collect();
        let ran = ran::run(command, typed);
        ran.succeeds();
        let folder = folder.display().to_string();
        let shown = [self.dir(), self.dir().canonicalize().unwrap_or_default()]
            .iter()
            .map(|dir| dir.display().to_string())
            .filter(|dir| !dir.is_empty())
            .fold(ran.stdout.clone(), |text, dir| text.replace(&dir, "~/project"))
            .replace(&folder, "target/debug");
        let text = shown.lines().flat_map(|line| wrapped(&masked(line)));
        Session {
            text: text.collect::<Vec<_>>().join("\n").trim_end().to_owned(),
        }
    }
}

impl Session {
    /// Asserts that the README shows this session between its markers; writes it there when asked to.
    ///
    /// # Panics
    /// When the README shows another one, or has no markers.
    #[track_caller]
    pub fn is_shown_in(&self, readme: impl AsRef<Path>) {
        let path = readme.as_ref();
        let place = path.display();
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{place}: {error}"));
        let parts = text.split_once(OPEN).and_then(|(before, rest)| {
            let (shown, after) = rest.split_once(CLOSE)?;
            Some((before, shown, after))
        });
        let Some((before, shown, after)) = parts else {
            panic!("{place} has no {OPEN} … {CLOSE}");
        };
        // What was said may hold a fence of its own.
        let fence = if self.text.contains("```") { "````" } else { "```" };
        let block = format!("\n\n{fence}text\n{}\n{fence}\n\n", self.text);
        if same(shown, &block) {
            return;
        }
        if std::env::var(VARIABLE).is_ok_and(|value| value == "write") {
            let new = format!("{before}{OPEN}{block}{CLOSE}{after}");
            fs::write(path, new).unwrap_or_else(|error| panic!("{place}: {error}"));
            return;
        }
        let mut changes = String::new();
        let (old, new): (Vec<_>, Vec<_>) = (shown.lines().collect(), block.lines().collect());
        for line in old.iter().filter(|line| !new.contains(line)) {
            let _ = writeln!(changes, "- {line}");
        }
        for line in new.iter().filter(|line| !old.contains(line)) {
            let _ = writeln!(changes, "+ {line}");
        }
        panic!(
            "{place} shows another session; cargo x session CHAPTER --write brings it up to date\n{changes}"
        );
    }
}

/// What is different each time, and what stands for it: measured times, ports, dates and times of day, ids as `kit` makes
/// them.
static MASKS: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
    [
        (r"\b[\d.,]*\d (µs|ms|s)\b", "… $1"),
        (r"\b127\.0\.0\.1:\d+", "127.0.0.1:…"),
        (r"\b\d{2,}(-\d{2,})*([T:-]\d{2,})([:.]\d{2,})*Z?\b", "…"),
        (r"\b(cron_|req_|job_\d+-|\d{4}-)[0-9a-hjkmnp-tv-z]{8}\b", "$1…"),
    ]
    .map(|(pattern, mark)| (Regex::new(pattern).expect("a pattern of ours"), mark))
});

/// A word that may end in a random id: eight hexadecimal digits or more.
static ID: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(\w+_|)([[:xdigit:]]{8,})\b").expect("a pattern of ours"));

/// What a line begins with: the name of the agent that says it, unless it is the lead, and its indent.
static BEGINNING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^([\w-]+( \d+)? │ )?\s*").expect("a pattern of ours"));

/// The line with a mark in the place of what is different each time.
fn masked(line: &str) -> String {
    let line = MASKS.iter().fold(line.to_owned(), |line, (pattern, mark)| {
        pattern.replace_all(&line, *mark).into_owned()
    });
    let id = |found: &Captures<'_>| {
        let has = |wanted: fn(&u8) -> bool| found[2].as_bytes().iter().any(wanted);
        if has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) {
            return format!("{}…", &found[1]);
        }
        found[0].to_owned()
    };
    ID.replace_all(&line, id).into_owned()
}

/// The line in pieces that fit, cut between words; what goes on begins as the line did.
fn wrapped(line: &str) -> Vec<String> {
    let indent = BEGINNING.find(line).map_or("", |found| found.as_str());
    let mut pieces = vec![indent.to_owned()];
    for word in line[indent.len()..].split_inclusive(' ') {
        let last = pieces.last_mut().expect("there is one from the start");
        let full = last.chars().count() + word.trim_end().chars().count() > COLUMNS;
        if full && last.len() > indent.len() {
            pieces.push(format!("{indent}{word}"));
        } else {
            last.push_str(word);
        }
    }
    pieces.iter().map(|piece| piece.trim_end().to_owned()).collect()
}

/// Whether two records say the same. The tokens of a turn hang on the length of the workspace's path and of the day's
/// name, so there a little is no difference. Each agent says its lines in one order; whose comes first is chance.
fn same(old: &str, new: &str) -> bool {
    let (old, new) = (by_agent(old), by_agent(new));
    let close = |old: &str, new: &str| {
        let ((old_words, old), (new_words, new)) = (figures(old), figures(new));
        let near = |(old, new): (&usize, &usize)| old.abs_diff(*new) <= 20 + old / 20;
        old_words == new_words && old.len() == new.len() && old.iter().zip(&new).all(near)
    };
    old.len() == new.len()
        && old
            .iter()
            .zip(new)
            .all(|(old, new)| *old == new || old.contains(" tokens") && close(old, new))
}

/// The lines, those of each agent together, without those that name a call again: that is needed where another agent's
/// line stands between the call and its result.
fn by_agent(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.retain(|line| !line[agent(line).len()..].starts_with("< "));
    lines.sort_by_key(|line| agent(line));
    lines
}

/// The name that a line begins with, and its mark; nothing for the lead.
fn agent(line: &str) -> &str {
    let name = BEGINNING.captures(line).and_then(|found| found.get(1));
    name.map_or("", |name| name.as_str())
}

/// The words of a line that are no numbers, and the numbers.
fn figures(line: &str) -> (Vec<&str>, Vec<usize>) {
    let mut words = Vec::new();
    let mut numbers = Vec::new();
    for word in line.split(' ') {
        match word.replace(',', "").parse() {
            Ok(number) => numbers.push(number),
            Err(_) => words.push(word),
        }
    }
    (words, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_masked() {
        for (line, expected) in [
            ("model at http://127.0.0.1:46553 (no key)", "model at http://127.0.0.1:… (no key)"),
            ("made in 412.5 µs, sent in 3 ms", "made in … µs, sent in … ms"),
            ("retrying in 2.1 s (3/10)", "retrying in … s (3/10)"),
            ("at 2026-01-31T12:30:05Z, 12:30: live", "at …, …: live"),
            ("request req_0a1b2c3d4e5f is a deadbeef01", "request req_… is a …"),
            ("0001-7btwh23e, req_hgfedcba, job_1-frtn9yrh.txt", "0001-…, req_…, job_1-….txt"),
        ] {
            assert_eq!(masked(line), expected);
        }
        for line in [
            "s19 >> Read s19_mcp_plugin 1.2.3, 18 + 5 tools",
            "a default of 10 steps, 5-minute life, deadbeef",
            "spawn_teammate  name=alice-0001",
        ] {
            assert_eq!(masked(line), line);
        }
    }

    #[test]
    fn a_long_line_goes_on_below_its_beginning() {
        let words = "word ".repeat(18);
        let line = format!("  {words}{words}");
        let piece = format!("  {}", words.trim_end());
        assert_eq!(wrapped(&line), [piece.clone() + " word", piece[..piece.len() - 5].to_owned()]);
        let named = wrapped(&format!("task 1 │ {words}{words}"));
        assert!(named.len() == 2 && named[1].starts_with("task 1 │ word"), "{named:?}");
        assert_eq!(wrapped("> bash  ls"), ["> bash  ls"]);
        assert_eq!(wrapped(""), [""]);
    }

    #[test]
    fn tokens_may_differ_by_a_little_and_nothing_else_by_anything() {
        let tokens = |read: &str| format!("done\n[cache: read {read} · wrote 85 · fresh 0 tokens]");
        assert!(same(&tokens("3,006"), &tokens("3,020")));
        assert!(!same(&tokens("3,006"), &tokens("6,012")));
        assert!(!same("3 tools", "4 tools"));
        assert!(!same("one line", "one line\nand another"));
        assert!(same("a\nbob │ 1\nbob │ 2", "bob │ 1\na\nbob │ 2"));
        assert!(!same("a\n  b", "  b\na"));
        assert!(!same("a\nbob │ 1\nbob │ 2", "a\nbob │ 2\nbob │ 1"));
    }

    #[test]
    fn a_session_is_compared_with_the_readme() {
        let class = Class::new("/bin/sh")
            .arg("-c")
            .arg("cat; pwd; echo http://127.0.0.1:4711")
            .file("good.md", "a\n<!-- session -->\n\n```text\nhello\n~/project\nhttp://127.0.0.1:…\n```\n\n<!-- /session -->\n")
            .file("stale.md", "<!-- session -->\nother\n<!-- /session -->\n");
        let session = class.session(&["hello"]);
        session.is_shown_in(class.dir().join("good.md"));
        let stale = std::panic::catch_unwind(|| session.is_shown_in(class.dir().join("stale.md")));
        let text = *stale.expect_err("a panic").downcast::<String>().expect("a message");
        assert!(text.contains("- other\n+ ```text\n+ hello\n"), "{text}");
    }
}
