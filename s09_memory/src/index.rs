//! The index: `MEMORY.md`, one line for each memory.
//!
//! It is part of the system prompt, so that the model sees what is known without reading every file. People and models edit
//! it, too. Invariants: every memory has one line; a handwritten line that points to no memory is kept; a generated line is
//! removed with its file.

use crate::entry::Entry;
use crate::store::Memories;
use kit::{cut, one_line};

/// The name of the index in the folder.
pub const INDEX_FILE: &str = "MEMORY.md";
/// How much of the index a request carries.
const MAX_LINES: usize = 200;
const MAX_CHARS: usize = 25_000;
const LINE_CHARS: usize = 400;

/// The line of a memory.
fn line(slug: &str, entry: &Entry) -> String {
    let name = one_line(&entry.name).replace(['[', ']'], "'");
    let description = one_line(&entry.description);
    let line = format!("- [{name}]({slug}.md) — {description}");
    line.trim_end().to_owned()
}

/// The index with a line for each of these memories, made from the one there was. Lines that point to a memory are ours, and
/// so are those that point to one that `is_gone`.
pub fn merge(text: &str, memories: &Memories, is_gone: impl Fn(&str) -> bool) -> String {
    let is_ours = |slug| memories.contains_key(slug) || is_gone(slug);
    let theirs = text.lines().filter(|line| !target(line).is_some_and(is_ours));
    let theirs = theirs.collect::<Vec<_>>().join("\n");
    let theirs = theirs.trim_matches('\n');
    let last = theirs.lines().last();
    let between = match last {
        None => "",
        Some(last) if last.starts_with("- ") => "\n",
        Some(_) => "\n\n",
    };
    let lines = memories.iter().map(|(slug, file)| line(slug, &file.entry) + "\n");
    format!("{theirs}{between}{}", lines.collect::<String>())
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
    use crate::file::File;

    const TABS: &str = "- [tabs](tabs.md) — prefers tabs";

    /// Merges with the memory of that line and the slugs that were listed before; `damaged.md` is a file but no memory.
    fn merged(text: &str, known: &[&str], memories: &[&str]) -> String {
        let file = |about: &str| {
            File::parse(format!("---\nname: tabs\ndescription: {about}\n---\n")).unwrap()
        };
        let memories = memories.iter().map(|slug| ((*slug).to_owned(), file("prefers tabs")));
        merge(text, &memories.collect(), |slug| known.contains(&slug) && slug != "damaged")
    }

    #[test]
    fn the_lines_of_memories_follow_the_files_and_all_others_stay() {
        let theirs =
            "# Notes\n\n- [test](test.md) — test memory\n- [damaged](damaged.md) — x\n- a remark\n";
        let both = format!("{theirs}{TABS}\n");
        let known = ["tabs", "damaged"];
        for (text, known, memories, expected) in [
            (theirs, &[][..], &["tabs"][..], both.as_str()),
            (&both, &known, &["tabs"], &both),
            (&both, &known, &[], theirs),
            (&both, &[], &[], &both),
            ("Prose.", &[], &["tabs"], &format!("Prose.\n\n{TABS}\n")),
            ("- [Tabs!](./tabs.md) — old words\n", &[], &["tabs"], &format!("{TABS}\n")),
            ("\n", &[], &["tabs"], &format!("{TABS}\n")),
        ] {
            let merged = merged(text, known, memories);
            assert_eq!(merged.trim_end(), expected.trim_end(), "{text}");
            assert_eq!(self::merged(&merged, known, memories), merged);
        }
    }

    #[test]
    fn a_request_carries_a_bounded_index() {
        let lines = |line: &str| bounded(&format!("{line}\n\n").repeat(300));
        let short = lines("x");
        assert_eq!(short.lines().count(), MAX_LINES + 1);
        assert!(short.ends_with("x\n(100 more lines in MEMORY.md)"));
        let long = lines(&"x".repeat(1_000));
        assert!(long.chars().count() < MAX_CHARS + LINE_CHARS);
        assert_eq!(long.lines().next().map(|line| line.chars().count()), Some(LINE_CHARS));
        assert!(long.ends_with("(238 more lines in MEMORY.md)"), "{long}");
    }
}
