//! What is worth saying about a result: its entries, its exit code, what a file is about.
//!
//! The answer of a turn is made from what the tools really returned, so something has to read it.
//! Invariant: every function takes any text, reads little of a long one, and invents nothing.

use std::fmt::Write;

/// How much of a file decides what it is about, in lines.
const HEAD: usize = 60;

/// The longest excerpt, in characters.
const MAX_EXCERPT: usize = 1_500;

/// The exit code a shell result ends with, when the command failed.
pub fn exit_code(result: &str) -> Option<i32> {
    let last = result.trim_end().rsplit('\n').next()?;
    let digits = last
        .trim_matches(['(', ')', '[', ']', '.'])
        .strip_prefix("exit code")?
        .trim_start_matches([':', ' ']);
    digits.parse().ok().filter(|code| *code != 0)
}

/// A result without the note on its exit code; empty when there was no output.
pub fn body(result: &str) -> &str {
    let result = result.trim_end();
    let text = match (exit_code(result), result.rsplit_once('\n')) {
        (Some(_), Some((text, _))) => text.trim_end(),
        (Some(_), None) => "",
        (None, _) => result,
    };
    if matches!(text, "(no output)" | "(the file is empty)") {
        ""
    } else {
        text
    }
}

/// The entries of a listing, one a line.
pub fn entries(result: &str) -> impl Iterator<Item = &str> {
    let lines = body(result)
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('('));
    lines
        .map(|line| line.strip_prefix("./").unwrap_or(line))
        .filter(|line| {
            let start = line.as_bytes();
            // `No files match …` is a sentence, not a name.
            !(start.len() > 3 && start[..3].eq_ignore_ascii_case(b"no "))
        })
}

/// The first lines of a text, cut where it gets long.
pub fn excerpt(text: &str, max_lines: usize) -> String {
    let mut excerpt = String::new();
    let mut shown = 0;
    for line in text.lines().take(max_lines) {
        let room = MAX_EXCERPT.saturating_sub(excerpt.len());
        if room == 0 {
            break;
        }
        excerpt.extend(line.chars().take(room));
        excerpt.push('\n');
        shown += 1;
    }
    match text.lines().count() - shown {
        0 => {}
        more => {
            let _ = write!(excerpt, "… ({more} more lines)");
        }
    }
    excerpt.trim_end().to_owned()
}

/// The first lines of a text, whole.
pub fn head(text: &str, max_lines: usize) -> String {
    let mut head: Vec<String> = text.lines().take(max_lines).map(str::to_owned).collect();
    match text.lines().count().saturating_sub(max_lines) {
        0 => {}
        more => head.push(format!("… ({more} more lines)")),
    }
    head.join("\n")
}

/// What a file is about, in one line: its heading and first sentence, its package, its first comment.
pub fn gist(path: &str, content: &str) -> String {
    let content = unnumbered(content);
    let gist = match path.rsplit_once('.').map(|(_, ext)| ext) {
        Some("toml") => toml_gist(&content),
        Some("md" | "txt") | None => prose_gist(&content),
        Some(_) => code_gist(&content),
    };
    gist.or_else(|| {
        Some(first_sentence(
            content
                .lines()
                .map(str::trim)
                .find(|line| !line.is_empty())?,
        ))
    })
    .unwrap_or_else(|| "it is empty".to_owned())
}

/// A summary of several readings, as a Markdown file.
pub fn summary<'a>(readings: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (path, content) in readings {
        let lines = content.lines().count();
        let _ = write!(
            text,
            "\n## {path}\n\n{} ({lines} {})\n",
            gist(path, content),
            plural(lines, "line")
        );
    }
    if text.is_empty() {
        text
    } else {
        format!("# Summary\n{text}")
    }
}

/// `line` or `lines`.
pub fn plural(count: usize, word: &str) -> String {
    match (count, word.strip_suffix('y')) {
        (1, _) => word.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{word}s"),
    }
}

/// The word for one of them: `entries` is `entry`.
pub fn singular(label: &str) -> String {
    match (label.strip_suffix("ies"), label.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (None, Some(stem)) => stem.to_owned(),
        (None, None) => label.to_owned(),
    }
}

/// The text without the line numbers that a reading tool may put in front.
pub fn unnumbered(text: &str) -> String {
    let split = |line: &'_ str| -> Option<usize> {
        let number = line.trim_start();
        let digits = number
            .find(|c: char| !c.is_ascii_digit())
            .filter(|digits| *digits > 0)?;
        let mark = number[digits..]
            .chars()
            .next()
            .filter(|mark| matches!(mark, '\t' | '→' | '|'))?;
        Some(line.len() - number.len() + digits + mark.len_utf8())
    };
    let numbered = text
        .lines()
        .next()
        .is_some_and(|line| split(line).is_some());
    if !numbered {
        return text.to_owned();
    }
    text.lines()
        .map(|line| split(line).map_or(line, |at| &line[at..]))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A text without the front matter that may stand at its head.
fn without_front_matter(text: &str) -> &str {
    let matter = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"));
    matter.map_or(text, |(_, body)| body)
}

fn prose_gist(content: &str) -> Option<String> {
    let content = without_front_matter(content);
    let mut heading = None;
    let mut paragraph = String::new();
    let mut fenced = false;
    for line in content.lines().take(HEAD).map(str::trim) {
        fenced ^= line.starts_with("```");
        if let Some(title) = line.strip_prefix('#') {
            heading = heading.or(Some(title.trim_start_matches('#').trim()));
        } else if !line.is_empty() && !fenced && !line.starts_with(['[', '!', '<', '|', '`']) {
            paragraph.push_str(line);
            paragraph.push(' ');
        }
        if !paragraph.is_empty() && (line.is_empty() || line.starts_with('#')) {
            break;
        }
    }
    let sentence = Some(first_sentence(&paragraph)).filter(|sentence| !sentence.is_empty());
    match (heading, sentence) {
        (Some(heading), Some(sentence)) => Some(format!("{heading}. {sentence}")),
        (Some(heading), None) => Some(heading.to_owned()),
        (None, sentence) => sentence,
    }
}

fn toml_gist(content: &str) -> Option<String> {
    let value = |key: &str| {
        let line = content.lines().take(HEAD).find(|line| {
            line.split('=')
                .next()
                .is_some_and(|name| name.trim() == key)
        })?;
        Some(line.split_once('=')?.1.trim().trim_matches('"').to_owned())
    };
    match (value("name"), value("version"), value("description")) {
        (Some(name), _, Some(description)) => Some(format!("the package {name}: {description}")),
        (Some(name), Some(version), None) => Some(format!("the package {name}, version {version}")),
        (Some(name), None, None) => Some(format!("the package {name}")),
        (None, _, _) if content.contains("[workspace]") => Some(match value("members") {
            Some(members) => format!("a workspace with the members {members}"),
            None => "a workspace".to_owned(),
        }),
        (None, _, _) => None,
    }
}

fn code_gist(content: &str) -> Option<String> {
    let mut lines = content
        .lines()
        .take(HEAD)
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("#!") && !line.starts_with("#["));
    let first = lines.next()?;
    let comment = first.trim_start_matches(['/', '!', '#', '"', '*']).trim();
    let is_comment = first.starts_with("//")
        || first.starts_with('#')
        || first.starts_with("\"\"\"")
        || first.starts_with("/*");
    if is_comment && !comment.is_empty() {
        return Some(first_sentence(comment.trim_end_matches(['"', '*', '/'])));
    }
    let names = defined(content);
    (!names.is_empty()).then(|| format!("it defines {}", names.join(", ")))
}

/// The names of the functions a program defines, at most eight.
pub fn defined(content: &str) -> Vec<&str> {
    let names = content.lines().take(2_000).filter_map(|line| {
        let line = line
            .trim_start()
            .trim_start_matches("pub ")
            .trim_start_matches("async ");
        let rest = line
            .strip_prefix("fn ")
            .or_else(|| line.strip_prefix("def "))?;
        Some(
            rest.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .next()
                .unwrap_or(rest),
        )
    });
    names.take(8).collect()
}

/// The first sentence of a text, at most a line long.
pub fn first_sentence(text: &str) -> String {
    let end = text
        .match_indices(['.', '!', '?'])
        .find(|(at, _)| text[at + 1..].starts_with([' ', '\n']) || at + 1 == text.len());
    let sentence = end.map_or(text, |(at, _)| &text[..=at]).trim();
    match sentence.char_indices().nth(240) {
        Some((end, _)) => format!("{}…", &sentence[..end]),
        None => sentence.to_owned(),
    }
}
