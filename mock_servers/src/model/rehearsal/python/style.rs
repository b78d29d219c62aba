//! Faults of style in Python, and how they are put right.
//!
//! A list of small repairs, each on its own, in an order in which one does not undo another. What would change what the
//! program does is named and left alone. Invariant: the program means the same before and after.

use super::lines::{Line, lines};
use super::spacing;
use crate::model::rehearsal::edits::Rewritten;
use crate::model::rehearsal::phrases::listed;

/// A repair: what it puts right, and how.
type Repair = (&'static str, fn(&[Line]) -> Vec<String>);

const REPAIRS: &[Repair] = &[
    ("tabs in the indentation", untabbed),
    ("indentation", indented),
    ("several imports on a line", imports_apart),
    ("several statements on a line", statements_apart),
    ("several statements on a line", bodies_apart),
    ("spaces", spacing::spaced),
    ("comparisons with None", compared),
    ("trailing blanks", stripped),
    ("blank lines", blank_lines),
];

/// Repairs the style of a source.
pub fn repaired(path: &str, source: &str) -> Rewritten {
    let mut text = source.to_owned();
    let mut fixed: Vec<String> = Vec::new();
    for (what, repair) in REPAIRS.iter().filter(|_| path.ends_with(".py")) {
        let read = lines(&text);
        let better = repair(&read);
        if better.iter().ne(read.iter().map(|line| &line.text)) {
            text = better.iter().map(|line| format!("{line}\n")).collect();
            if fixed.iter().all(|known| known != what) {
                fixed.push(what.to_string());
            }
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
        fixed.push("the missing line break at the end".to_owned());
    }
    let left = left_alone(&lines(&text));
    let left = match left.is_empty() {
        true => String::new(),
        false => format!(
            "; I left {} alone, because that would change what it does",
            listed(&left)
        ),
    };
    let note = match fixed.is_empty() {
        true => format!("I found nothing to fix in {path}{left}"),
        false => format!("I fixed {} in {path}{left}", listed(&fixed)),
    };
    Rewritten { text, note }
}

/// Says what a repair would put right, and changes nothing.
pub fn checked(path: &str, source: &str) -> Rewritten {
    let better = repaired(path, source);
    let note = match better.note.strip_prefix("I fixed ") {
        Some(fixed) => format!(
            "I would fix {}",
            fixed.replace("; I left ", "; I would leave ")
        ),
        None => better.note.replace("; I left ", "; I would leave "),
    };
    Rewritten {
        text: source.to_owned(),
        note,
    }
}

/// Faults whose repair would change more than the looks.
fn left_alone(read: &[Line]) -> Vec<String> {
    let has = |fits: &dyn Fn(&str) -> bool| read.iter().any(|line| fits(line.mask.trim()));
    let mut left = Vec::new();
    if has(&|line| line.starts_with("from ") && line.ends_with("import *")) {
        left.push("the import of `*`".to_owned());
    }
    if has(&|line| line.starts_with("def ") && (line.contains("={}") || line.contains("=[]"))) {
        left.push("a default value that all calls share".to_owned());
    }
    if has(&|line| {
        line.strip_prefix("def ")
            .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
    }) {
        left.push("a function name in capitals".to_owned());
    }
    if has(&|line| line == "except:") {
        left.push("a bare `except`".to_owned());
    }
    left
}

fn each(read: &[Line], change: impl Fn(&Line) -> Option<Vec<String>>) -> Vec<String> {
    let changed = read.iter().map(|line| match line.in_string {
        true => vec![line.text.clone()],
        false => change(line).unwrap_or_else(|| vec![line.text.clone()]),
    });
    changed.flatten().collect()
}

fn untabbed(read: &[Line]) -> Vec<String> {
    each(read, |line| {
        let (indent, rest) = line.text.split_at(line.indent());
        Some(vec![format!("{}{rest}", indent.replace('\t', "    "))])
    })
}

/// Two or three blanks a level become four.
fn indented(read: &[Line]) -> Vec<String> {
    let depths = || {
        let statements = read.iter().filter(|line| !line.goes_on && !line.is_blank());
        statements.map(Line::indent).filter(|indent| *indent > 0)
    };
    let unit = depths().min().unwrap_or(4);
    if !matches!(unit, 2 | 3) || depths().any(|indent| indent % unit != 0) {
        return each(read, |_| None);
    }
    each(read, |line| {
        let (indent, rest) = line.text.split_at(line.indent());
        let level = indent.len() / unit;
        let rest_of = indent.len() % unit;
        Some(vec![format!("{}{rest}", " ".repeat(4 * level + rest_of))])
    })
}

fn imports_apart(read: &[Line]) -> Vec<String> {
    each(read, |line| {
        let names = line
            .mask
            .trim()
            .strip_prefix("import ")
            .filter(|names| names.contains(',') && !line.goes_on)?;
        if line.text.trim_end().len() != line.mask.trim_end().len() || names.contains(';') {
            return None;
        }
        let indent = " ".repeat(line.indent());
        Some(
            names
                .split(',')
                .map(|name| format!("{indent}import {}", name.trim()))
                .collect(),
        )
    })
}

/// `a; b` on two lines, `a;` without its mark.
fn statements_apart(read: &[Line]) -> Vec<String> {
    each(read, |line| {
        let plain =
            !line.goes_on && line.mask.contains(';') && own_line(line) && body_of(line).is_none();
        if !plain {
            return None;
        }
        let indent = " ".repeat(line.indent());
        let mut parts = Vec::new();
        let mut from = 0;
        for (at, _) in line.mask.match_indices(';').chain([(line.text.len(), "")]) {
            let part = line.text.get(from..at)?.trim();
            if !part.is_empty() {
                parts.push(format!("{indent}{part}"));
            }
            from = at + 1;
        }
        Some(parts)
    })
}

/// `if x: y` on two lines.
fn bodies_apart(read: &[Line]) -> Vec<String> {
    each(read, |line| {
        let colon = body_of(line).filter(|_| !line.goes_on && own_line(line))?;
        let indent = " ".repeat(line.indent());
        let (head, body) = line.text.split_at(colon + 1);
        let mask = &line.mask[colon + 1..];
        let mut parts = vec![head.trim_end().to_owned()];
        let mut from = 0;
        for (at, _) in mask.match_indices(';').chain([(body.len(), "")]) {
            let part = body.get(from..at)?.trim();
            if !part.is_empty() {
                parts.push(format!("{indent}    {part}"));
            }
            from = at + 1;
        }
        Some(parts)
    })
}

/// Whether the statement begins and ends on this line.
fn own_line(line: &Line) -> bool {
    super::lines::depth(&line.mask, 0) == 0
        && !line.mask.trim_end().ends_with('\\')
        && line.mask.matches("\"\"\"").count().is_multiple_of(2)
        && line.mask.matches("'''").count().is_multiple_of(2)
}

/// The colon of a compound statement that has its body on the same line.
fn body_of(line: &Line) -> Option<usize> {
    const HEADS: [&str; 11] = [
        "if", "elif", "else", "for", "while", "def", "class", "try", "except", "finally", "with",
    ];
    let code = line.mask.trim_start();
    let first = code
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .next()?;
    if !HEADS.contains(&first) || code.contains("lambda") {
        return None;
    }
    let mut level = 0;
    for (at, byte) in line.mask.bytes().enumerate() {
        level = super::lines::depth(&line.mask[at..=at], level);
        if byte == b':' && level == 0 && line.mask.as_bytes().get(at + 1) != Some(&b'=') {
            let has_body = !line.mask[at + 1..].trim().is_empty();
            return has_body.then_some(at);
        }
    }
    None
}

fn compared(read: &[Line]) -> Vec<String> {
    each(read, |line| {
        let mut text = line.text.clone();
        for (sign, word) in [(" == None", " is None"), (" != None", " is not None")] {
            let places: Vec<usize> = line.mask.match_indices(sign).map(|(at, _)| at).collect();
            // A shorter or longer word moves what follows; one a line is what there is.
            if let [at] = places[..] {
                text.replace_range(at..at + sign.len(), word);
                return Some(vec![text]);
            }
        }
        None
    })
}

fn stripped(read: &[Line]) -> Vec<String> {
    each(read, |line| {
        let opens_text = line.mask.matches("\"\"\"").count() % 2 != 0
            || line.mask.matches("'''").count() % 2 != 0;
        (!opens_text).then(|| vec![line.text.trim_end().to_owned()])
    })
}

/// Two blank lines around functions and classes at the left margin, one at most elsewhere in a row.
fn blank_lines(read: &[Line]) -> Vec<String> {
    let mut text: Vec<String> = Vec::new();
    let mut inside = false;
    for (at, line) in read.iter().enumerate() {
        if line.in_string {
            text.push(line.text.clone());
            continue;
        }
        let blank = line.text.trim().is_empty();
        let run = text.iter().rev().take_while(|line| line.is_empty()).count();
        if blank {
            let most = if inside && next_is_inner(read, at) {
                1
            } else {
                2
            };
            if run < most && !text.is_empty() {
                text.push(String::new());
            }
            continue;
        }
        let top = !line.goes_on && line.indent() == 0;
        let defines = top && opens_definition(read, at);
        let decorated = read[..at]
            .last()
            .is_some_and(|before| before.indent() == 0 && before.text.starts_with(['@', '#']));
        let follows = top && inside && !line.is_blank();
        if (defines && !decorated || follows && !continues(line)) && !text.is_empty() {
            text.extend(std::iter::repeat_n(
                String::new(),
                2_usize.saturating_sub(run),
            ));
        }
        if top && !line.is_blank() && !continues(line) {
            inside = ["def ", "class ", "async def ", "@"]
                .iter()
                .any(|word| line.text.starts_with(word));
        }
        text.push(line.text.clone());
    }
    while text.last().is_some_and(String::is_empty) {
        text.pop();
    }
    text
}

/// A definition, or the decorators and comments right above one.
fn opens_definition(read: &[Line], at: usize) -> bool {
    let mut lines = read[at..]
        .iter()
        .skip_while(|line| line.text.starts_with(['@', '#']));
    lines.next().is_some_and(|line| {
        ["def ", "class ", "async def "]
            .iter()
            .any(|word| line.text.starts_with(word))
    })
}

fn next_is_inner(read: &[Line], at: usize) -> bool {
    read[at..]
        .iter()
        .find(|line| !line.text.trim().is_empty())
        .is_some_and(|line| line.indent() > 0)
}

/// `else:` and its like go on with what stands above.
fn continues(line: &Line) -> bool {
    ["else", "elif", "except", "finally", ")", "]", "}"]
        .iter()
        .any(|word| line.text.starts_with(word))
}
