//! Edits the list of backends where it stands in its file.
//!
//! A YAML library that writes would lose comments, order and quotes. Invariant: every line outside the entry that is added
//! or taken out stays as it was; a file that is written in another way is left alone, and the error says why.

use serde_json::{Value, json};

/// A list with a line for each dash.
struct List<'a> {
    lines: Vec<&'a str>,
    /// The line with the key.
    key: usize,
    /// Each entry: its first line, and the one behind its last.
    items: Vec<(usize, usize)>,
}

/// The text with an entry behind the others.
///
/// # Errors
/// Why it cannot be edited.
pub fn add(text: &str, name: &str, url: &str) -> Result<String, String> {
    let list = List::read(text)?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let indent = " ".repeat(list.items.last().map_or(2, |item| indent(list.lines[item.0])));
    let (name, url) = (quoted(name), quoted(url));
    let entry = format!("{indent}- name: {name}{newline}{indent}  url: {url}{newline}");
    let at = list.items.last().map_or(list.key + 1, |item| item.1);
    let mut before = list.lines[..at].concat();
    if list.items.is_empty() {
        let end = before.rfind("[]").filter(|at| *at > before.rfind(':').unwrap_or_default());
        end.into_iter().for_each(|at| before.replace_range(at..at + 2, ""));
    }
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { newline };
    Ok([&before, gap, &entry, &list.lines[at..].concat()].concat())
}

/// The text without the entry of this name. Comments around it stay.
///
/// # Errors
/// Why it cannot be edited.
pub fn remove(text: &str, name: &str) -> Result<String, String> {
    let list = List::read(text)?;
    let named = |item: &&(usize, usize)| {
        let entry = serde_saphyr::from_str::<Value>(&list.lines[item.0..item.1].concat());
        entry.is_ok_and(|entry| entry[0]["name"] == name)
    };
    let (from, to) = *list.items.iter().find(named).ok_or("there is no such entry in the list")?;
    let mut before = list.lines[..from].concat();
    if list.items.len() == 1 {
        // A key without a value would mean nothing.
        let key: usize = list.lines[..list.key].iter().map(|line| line.len()).sum();
        before.insert_str(key + "backends:".len(), " []");
    }
    Ok(before + &list.lines[to..].concat())
}

impl<'a> List<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let key = lines.iter().position(|line| line.starts_with("backends:"));
        let key = key.ok_or("there is no line that begins with `backends:`")?;
        let value = lines[key]["backends:".len()..].split(" #").next().unwrap_or_default().trim();
        if !matches!(value, "" | "[]") {
            return Err("the list is not written with a dash for each entry".to_owned());
        }
        let mut items: Vec<(usize, usize)> = Vec::new();
        let mut dash = None;
        for (at, line) in lines.iter().enumerate().skip(key + 1) {
            let content = line.trim();
            // Blank lines and comments belong to an entry when more of it follows.
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let column = indent(line);
            let dashed = content == "-" || content.starts_with("- ");
            if dashed && dash.is_none_or(|dash| dash == column) {
                dash = Some(column);
                items.push((at, at + 1));
            } else if dash.is_some_and(|dash| column > dash) {
                items.last_mut().into_iter().for_each(|item| item.1 = at + 1);
            } else {
                break;
            }
        }
        Ok(Self { lines, key, items })
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// As YAML reads it back: bare when it is read as the same string, else as JSON, whose strings are YAML's.
fn quoted(text: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "_-./:?=&".contains(it);
    let bare = text.starts_with(|it: char| it.is_ascii_alphabetic()) && text.chars().all(plain);
    let same = serde_saphyr::from_str::<Value>(&format!("k: {text}"))
        .is_ok_and(|it| it == json!({ "k": text }));
    if bare && same { text.to_owned() } else { Value::from(text).to_string() }
}
