//! Python in the style the user prefers.
//!
//! What the model writes is made with four spaces and double quotes; here it takes the form that was asked for.
//! Invariant: only the form changes. Text inside strings and comments stays as it is, and so do docstrings.

use crate::model::rehearsal::style::{Indent, Quotes, Style};

/// The code in this style.
pub fn styled(code: &str, style: Style) -> String {
    let quoted = match style.quotes {
        Some(Quotes::Single) => requoted(code),
        Some(Quotes::Double) | None => code.to_owned(),
    };
    match style.indent {
        Some(Indent::Tabs) => reindented(&quoted, "\t"),
        Some(Indent::Spaces(width)) if width != 4 => reindented(&quoted, &" ".repeat(width)),
        Some(Indent::Spaces(_)) | None => quoted,
    }
}

/// Each level of four spaces becomes one of `level`.
fn reindented(code: &str, level: &str) -> String {
    let line = |line: &str| {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        format!("{}{}", level.repeat(spaces / 4), &line[spaces / 4 * 4..])
    };
    code.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Strings in double quotes that need none of them become strings in single quotes.
fn requoted(code: &str) -> String {
    let mut text = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'', '#']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = token_end(rest);
        let token = &rest[..end];
        match token
            .strip_prefix('"')
            .and_then(|inside| inside.strip_suffix('"'))
        {
            Some(inside) if is_plain(inside) => text.extend(["'", inside, "'"]),
            Some(_) | None => text.push_str(token),
        }
        rest = &rest[end..];
    }
    text.push_str(rest);
    text
}

fn is_plain(inside: &str) -> bool {
    !inside.contains(['"', '\'', '\\'])
}

/// Where the string or the comment at the start ends.
fn token_end(text: &str) -> usize {
    if text.starts_with('#') {
        return text.find('\n').unwrap_or(text.len());
    }
    for triple in ["\"\"\"", "'''"] {
        if let Some(inside) = text.strip_prefix(triple) {
            return inside
                .find(triple)
                .map_or(text.len(), |end| end + 2 * triple.len());
        }
    }
    let quote = text.chars().next().unwrap_or('"');
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = !escaped && (*c == quote || *c == '\n');
        escaped = !escaped && *c == '\\';
        ends
    });
    end.map_or(text.len(), |(at, c)| if c == quote { at + 1 } else { at })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "\"\"\"It's \"tea\".\"\"\"\n\n\ndef brew(cups=\"two\"):\n    # say \"when\"\n    if cups:\n        \
                        return f\"{cups} cups\" + 'of' + \"it's\" + \"\"\n";

    #[test]
    fn the_form_changes_and_nothing_else() {
        let style = Style {
            indent: Some(Indent::Tabs),
            quotes: Some(Quotes::Single),
        };
        assert_eq!(
            styled(CODE, style),
            "\"\"\"It's \"tea\".\"\"\"\n\n\ndef brew(cups='two'):\n\t# say \"when\"\n\tif cups:\n\t\t\
             return f'{cups} cups' + 'of' + \"it's\" + ''\n"
        );
        let narrow = Style {
            indent: Some(Indent::Spaces(2)),
            quotes: Some(Quotes::Double),
        };
        assert!(styled(CODE, narrow).contains("\n  if cups:\n    return f\"{cups} cups\""));
        assert_eq!(styled(CODE, Style::default()), CODE);
    }
}
