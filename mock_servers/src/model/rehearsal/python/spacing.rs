//! Spaces in a line of Python: around operators, behind commas, inside brackets.
//!
//! Invariant: only blanks outside strings and comments come or go.

use super::lines::{Line, depth};

/// The lines with their spaces put right.
pub fn spaced(read: &[Line]) -> Vec<String> {
    let mut level = 0;
    let mut text = Vec::new();
    for line in read {
        text.push(match line.in_string {
            true => line.text.clone(),
            false => respaced(line, level),
        });
        level = depth(&line.mask, level);
    }
    text
}

/// Signs that stand between blanks, the longer first.
const SIGNS: &[&str] = &[
    "**=", "//=", ">>=", "<<=", "->", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "|=",
    "&=", ":=", "<<", ">>", "=", "<", ">",
];

fn respaced(line: &Line, level: usize) -> String {
    let mut out = line.text[..line.indent()].to_owned();
    let mut at = line.indent();
    let mut level = level;
    let code = line.mask.trim_end().len();
    while at < code {
        let rest = &line.mask[at..code];
        let c = rest.as_bytes()[0];
        level = depth(&rest[..1], level);
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            put_sign(&mut out, sign, line, at, level);
            at += sign.len();
            at += skip_blanks(&line.mask[at..code]);
            continue;
        }
        match c {
            b'(' | b'[' | b'{' => {
                out.push(c as char);
                at += 1 + skip_blanks(&line.mask[at + 1..code]);
            }
            b')' | b']' | b'}' | b':' | b',' => {
                let bare = out.trim_end_matches(' ').len();
                // `x[1 :]` and a bracket at the start of a line stay.
                if bare > line.indent() && !(c == b':' && level > 0) && !out[..bare].ends_with(',')
                {
                    out.truncate(bare);
                }
                out.push(c as char);
                at += 1;
                let next = line.mask.as_bytes().get(at).filter(|_| at < code);
                if c == b',' && next.is_some_and(|next| !matches!(next, b' ' | b')' | b']' | b'}'))
                {
                    out.push(' ');
                }
            }
            _ => {
                let length = line.text[at..].chars().next().map_or(1, char::len_utf8);
                out.push_str(&line.text[at..at + length]);
                at += length;
            }
        }
    }
    out.push_str(line.text.get(code.max(line.indent())..).unwrap_or(""));
    out
}

fn put_sign(out: &mut String, sign: &str, line: &Line, at: usize, level: usize) {
    let bare = out.trim_end_matches(' ').len();
    // At the start of a line there is no left side; `*` and the like never come here.
    if bare > line.indent() {
        out.truncate(bare);
    }
    let names_argument = sign == "=" && level > 0 && !is_annotated(&line.mask[..at]);
    match names_argument {
        true => out.push('='),
        false => {
            if bare > line.indent() {
                out.push(' ');
            }
            out.push_str(sign);
            out.push(' ');
        }
    }
}

/// Whether the parameter in front of a `=` has a type.
fn is_annotated(before: &str) -> bool {
    let param = before.rsplit([',', '(']).next().unwrap_or("");
    param.contains(':') || param.contains(']')
}

fn skip_blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}
