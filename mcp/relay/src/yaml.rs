//! Edits the list of backends where it stands in its file.
//!
//! A YAML library that writes would lose comments, order and quotes. Invariant: every line outside the entry that is added
//! or taken out stays as it was; a file that cannot be edited so is left alone, and the error says why.

use saphyr_parser::{Event, Parser, Span};

/// Where the list stands, in characters.
struct List {
    /// It is written in brackets.
    flow: bool,
    start: usize,
    end: usize,
    /// Each entry: its name, its start, the end of its last value, and the column of its start.
    items: Vec<Item>,
}

struct Item {
    name: String,
    start: usize,
    end: usize,
    column: usize,
}

/// The text with an entry behind the others.
///
/// # Errors
/// Why it cannot be edited.
pub fn add(text: &str, name: &str, url: &str) -> Result<String, String> {
    let (name, url) = (quoted(name), quoted(url));
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let chars: Vec<char> = text.chars().collect();
    let Some(list) = find(text)? else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
        return Ok(format!(
            "{text}{gap}backends:{newline}  - name: {name}{newline}    url: {url}{newline}"
        ));
    };
    let entry = |indent: usize| {
        let indent = " ".repeat(indent);
        format!("{indent}- name: {name}{newline}{indent}  url: {url}{newline}")
    };
    match (list.flow, list.items.last()) {
        (true, last) => {
            let comma = if last.is_some() { ", " } else { "" };
            let at = last.map_or(list.end - 1, |last| last.end);
            Ok(splice(&chars, at, at, &format!("{comma}{{name: {name}, url: {url}}}")))
        }
        (false, Some(last)) => {
            let at = line_end(&chars, last.end);
            let gap = if chars.get(at.wrapping_sub(1)) == Some(&'\n') { "" } else { newline };
            Ok(splice(&chars, at, at, &format!("{gap}{}", entry(dash(&chars, last)))))
        }
        (false, None) => {
            let at = line_end(&chars, list.start);
            let gap = if chars.get(at.wrapping_sub(1)) == Some(&'\n') { "" } else { newline };
            Ok(splice(&chars, at, at, &format!("{gap}{}", entry(2))))
        }
    }
}

/// The text without the entry of this name. Comments around it stay.
///
/// # Errors
/// Why it cannot be edited.
pub fn remove(text: &str, name: &str) -> Result<String, String> {
    let chars: Vec<char> = text.chars().collect();
    let list = find(text)?.ok_or("there is no list of backends")?;
    let at = list.items.iter().position(|item| item.name == name);
    let at = at.ok_or_else(|| format!("there is no entry {name}"))?;
    let (item, only) = (&list.items[at], list.items.len() == 1);
    if list.flow {
        let (from, to) = match (at.checked_sub(1).map(|it| &list.items[it]), list.items.get(at + 1))
        {
            (_, Some(next)) => (item.start, next.start),
            (Some(before), None) => (before.end, item.end),
            (None, None) => (item.start, item.end),
        };
        return Ok(splice(&chars, from, to, ""));
    }
    let (from, to) = (line_start(&chars, item.start), line_end(&chars, item.end));
    let cut = splice(&chars, from, to, "");
    if !only {
        return Ok(cut);
    }
    // A key without a value would mean nothing.
    let key = chars[..from].iter().collect::<String>();
    let colon = key.rfind("backends").and_then(|at| Some(at + key[at..].find(':')? + 1));
    let colon = colon.ok_or("`backends:` is not where it is expected")?;
    Ok(format!("{} []{}", &cut[..colon], &cut[colon..]))
}

/// Finds the list; None when the file has none. A value of null is an empty list.
fn find(text: &str) -> Result<Option<List>, String> {
    let mut depth = 0;
    let (mut key, mut list, mut name_next) = (None::<String>, None::<List>, false);
    let mut inside = false;
    let chars: Vec<char> = text.chars().collect();
    for event in Parser::new_from_str(text) {
        let (event, span): (Event<'_>, Span) = event.map_err(|error| error.to_string())?;
        let (start, end) = (span.start.index(), span.end.index());
        let in_list = inside && list.is_some();
        match event {
            Event::Alias(_) if in_list || depth == 1 => {
                return Err("it has aliases in the list; edit it by hand".to_owned());
            }
            Event::SequenceStart(..) if depth == 1 && key.as_deref() == Some("backends") => {
                let flow = chars.get(start) == Some(&'[');
                (list, inside) = (
                    Some(List {
                        flow,
                        start,
                        end,
                        items: Vec::new(),
                    }),
                    true,
                );
                depth += 1;
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                if let Some(list) = list.as_mut().filter(|_| inside && depth == 2) {
                    let column = span.start.col();
                    list.items.push(Item {
                        name: String::new(),
                        start,
                        end,
                        column,
                    });
                }
                depth += 1;
                name_next = false;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth -= 1;
                if let Some(list) = list.as_mut().filter(|_| inside) {
                    if depth == 1 {
                        (list.end, inside) = (end, false);
                    } else if list.flow
                        || chars.get(start).is_some_and(|it| "]}".contains(*it)) && end > start
                    {
                        list.items.last_mut().into_iter().for_each(|item| item.end = end);
                    }
                }
                if depth == 1 {
                    key = None;
                }
            }
            Event::Scalar(value, ..) => {
                if depth == 1 {
                    if key.as_deref() == Some("backends") && list.is_none() {
                        if !matches!(&*value, "" | "~" | "null") {
                            return Err("`backends` is no list".to_owned());
                        }
                        if !value.is_empty() {
                            return Err("`backends` is null; write `backends: []`".to_owned());
                        }
                        list = Some(List {
                            flow: false,
                            start: end,
                            end,
                            items: Vec::new(),
                        });
                    }
                    key = if key.is_some() { None } else { Some(value.into_owned()) };
                } else if in_list {
                    let items = &mut list.as_mut().expect("it is there").items;
                    let Some(item) = items.last_mut().filter(|_| depth > 2) else {
                        return Err("an entry of the list is no mapping".to_owned());
                    };
                    item.end = item.end.max(end);
                    if depth == 3 {
                        if name_next && item.name.is_empty() {
                            item.name = value.clone().into_owned();
                        }
                        name_next = !name_next && value == "name";
                    }
                }
            }
            _ => {}
        }
    }
    Ok(list)
}

/// The column of the dash in front of an entry.
fn dash(chars: &[char], item: &Item) -> usize {
    let line = &chars[item.start - item.column..item.start];
    line.iter().rposition(|it| *it == '-').unwrap_or(2)
}

fn line_start(chars: &[char], at: usize) -> usize {
    chars[..at].iter().rposition(|it| *it == '\n').map_or(0, |newline| newline + 1)
}

/// Behind the end of the line in which `at` stands; `at` may already be behind it.
fn line_end(chars: &[char], at: usize) -> usize {
    if at > 0 && chars[at - 1] == '\n' {
        return at;
    }
    chars[at..].iter().position(|it| *it == '\n').map_or(chars.len(), |newline| at + newline + 1)
}

fn splice(chars: &[char], from: usize, to: usize, new: &str) -> String {
    chars[..from].iter().copied().chain(new.chars()).chain(chars[to..].iter().copied()).collect()
}

/// As YAML reads it back; JSON's strings are YAML's.
fn quoted(text: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "_-./".contains(it);
    let word = text.starts_with(|it: char| it.is_ascii_alphabetic()) && text.chars().all(plain);
    let address = text.split_once("://").is_some_and(|(scheme, rest)| {
        scheme.chars().all(plain)
            && rest.chars().all(|it| plain(it) || ":?=&".contains(it))
            && !rest.ends_with(':')
    });
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if (word || address) && !reserved.contains(&text.to_lowercase().as_str()) {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}
