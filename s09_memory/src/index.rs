//! The index: `MEMORY.md`, one line for each memory.
//!
//! It stands in the system prompt, so that the model knows what is known without reading all of it. People and models write
//! into it, too. Invariants: every memory has one line in it; a line of somebody else that points to no memory is kept; a
//! line of ours whose file is gone goes.

use kit::{cut, one_line};

use crate::entry::Entry;

/// The name of the index in the folder.
pub const INDEX_FILE: &str = "MEMORY.md";
/// How much of the index a request carries.
const MAX_LINES: usize = 200;
const MAX_CHARS: usize = 25_000;
const LINE_CHARS: usize = 400;

/// The line of a memory.
pub fn line(slug: &str, entry: &Entry) -> String {
    let name = one_line(&entry.name).replace(['[', ']'], "'");
    let description = one_line(&entry.description);
    let line = format!("- [{name}]({slug}.md) — {description}");
    line.trim_end().to_owned()
}

/// The index with these lines of ours, made from the one there was. `old` are the lines that were ours before;
/// `is_memory` and `is_file` say what a slug is.
pub fn merge(
    text: &str,
    old: &[String],
    lines: &[String],
    is_memory: impl Fn(&str) -> bool,
    is_file: impl Fn(&str) -> bool,
) -> String {
    let is_one_of = |lines: &[String], line: &str| lines.iter().any(|ours| ours == line.trim_end());
    let is_theirs = |line: &&str| match target(line) {
        _ if is_one_of(lines, line) => false,
        Some(slug) if is_memory(slug) => false,
        Some(slug) if is_file(slug) => true,
        Some(_) | None => !is_one_of(old, line),
    };
    let theirs: Vec<&str> = text.lines().filter(is_theirs).collect();
    let theirs = theirs.join("\n");
    let mut index = theirs.trim_matches('\n').to_owned();
    if !index.is_empty() {
        let ends_in_list = index
            .lines()
            .last()
            .is_some_and(|line| line.starts_with("- "));
        index += if ends_in_list { "\n" } else { "\n\n" };
    }
    for line in lines {
        index += line;
        index.push('\n');
    }
    index
}

/// The lines of the index that a request carries.
pub fn bounded(text: &str) -> String {
    let all = text.lines().filter(|line| !line.trim().is_empty());
    let (mut lines, mut chars) = (Vec::new(), 0);
    for line in all.clone().take(MAX_LINES) {
        let line = cut(line.trim_end(), LINE_CHARS);
        chars += line.chars().count();
        if chars > MAX_CHARS {
            break;
        }
        lines.push(line);
    }
    let more = all.count() - lines.len();
    if more > 0 {
        lines.push(format!("({more} more lines in {INDEX_FILE})"));
    }
    lines.join("\n")
}

/// The slug that a line of the index points to.
fn target(line: &str) -> Option<&str> {
    let (_, link) = line.trim_start().strip_prefix("- [")?.split_once("](")?;
    let (path, _) = link.split_once(')')?;
    path.strip_prefix("./").unwrap_or(path).strip_suffix(".md")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABS: &str = "- [tabs](tabs.md) — prefers tabs";

    fn merged(text: &str, old: &[&str], lines: &[&str]) -> String {
        let owned = |lines: &[&str]| {
            lines
                .iter()
                .map(|line| (*line).to_owned())
                .collect::<Vec<_>>()
        };
        let lines = owned(lines);
        let memories: Vec<&str> = lines.iter().filter_map(|line| target(line)).collect();
        merge(
            text,
            &owned(old),
            &lines,
            |slug| memories.contains(&slug),
            |slug| slug == "damaged",
        )
    }

    #[test]
    fn lines_of_somebody_else_that_point_to_no_memory_are_kept() {
        let text =
            "# Notes\n\n- [test](test.md) — test memory\n- [damaged](damaged.md) — x\n- a remark";
        assert_eq!(merged(text, &[], &[TABS]), format!("{text}\n{TABS}\n"));
        assert_eq!(
            merged("Prose.", &[], &[TABS]),
            format!("Prose.\n\n{TABS}\n")
        );
    }

    #[test]
    fn merging_again_changes_nothing() {
        for theirs in ["", "Prose.\n", "\n- [test](test.md) — test\n\n", "a\n\nb"] {
            let once = merged(theirs, &[], &[TABS]);
            assert_eq!(merged(&once, &[TABS], &[TABS]), once);
            assert_eq!(once.matches(TABS).count(), 1);
        }
    }

    #[test]
    fn a_line_of_ours_goes_with_its_file() {
        let text = format!("- [mine](mine.md) — by hand\n{TABS}\n");
        assert_eq!(merged(&text, &[TABS], &[]), "- [mine](mine.md) — by hand\n");
        assert_eq!(merged(&text, &[], &[]), text, "by hand, as far as we know");
    }

    #[test]
    fn another_line_for_a_memory_gives_way() {
        let text = "- [Tabs!](./tabs.md) — old words\n";
        assert_eq!(merged(text, &[], &[TABS]), format!("{TABS}\n"));
    }

    #[test]
    fn a_request_carries_a_bounded_index() {
        let lines = |line: &str| bounded(&format!("{line}\n\n").repeat(300));
        let short = lines("x");
        assert_eq!(short.lines().count(), MAX_LINES + 1);
        assert!(short.ends_with("x\n(100 more lines in MEMORY.md)"));
        let long = lines(&"x".repeat(1_000));
        assert!(long.chars().count() < MAX_CHARS + LINE_CHARS);
        assert_eq!(
            long.lines().next().map(|line| line.chars().count()),
            Some(LINE_CHARS)
        );
        assert!(long.ends_with("(238 more lines in MEMORY.md)"), "{long}");
    }
}
