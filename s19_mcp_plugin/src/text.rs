//! Text from a server, made safe for a prompt and a terminal: visible characters, and not too many.
//!
//! Invisible characters can hide an instruction from the user who looks at it. Invariant: what comes out holds no control
//! character but newlines, no character without a shape or that turns the direction of a line, and no more characters than
//! asked for.

/// The text in visible characters, cut to this many.
pub(crate) fn plain(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.len() <= most && text.bytes().all(|byte| matches!(byte, b'\n' | b' '..=b'~')) {
        // Nearly all texts, and a debug build takes its time over characters.
        return text.to_owned();
    }
    let visible = text.chars().filter(|c| !is_invisible(*c));
    let mut visible = visible.map(|c| match c {
        c if c.is_control() && c != '\n' => ' ',
        c => c,
    });
    let mut plain: String = visible.by_ref().take(most).collect();
    if visible.next().is_some() {
        plain.pop();
        plain.push('…');
    }
    plain
}

/// The same in one line.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    plain(&words.join(" "), most).trim_start().to_owned()
}

/// Several names in one line, the rest counted.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let names: Vec<String> = names.into_iter().map(|name| one_line(name, 100)).collect();
    match names.len().checked_sub(most) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..most].join(", ")),
    }
}

/// The characters that Unicode lets a screen leave out (Default_Ignorable_Code_Point), the separators of lines and the
/// marks of annotations.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_taken_out() {
        assert_eq!(plain("a\u{1b}[31mb\u{7}c", 99), "a [31mb c");
        assert_eq!(plain("ad\u{200b}min\u{202e}txt", 99), "admintxt");
        let tags: String =
            "rm -rf".chars().map(|c| char::from_u32(0xe0000 + c as u32).unwrap()).collect();
        assert_eq!(plain(&format!("Adds.{tags}"), 99), "Adds.");
        assert_eq!(plain("Größe: 5 µm\nzwei Zeilen", 99), "Größe: 5 µm\nzwei Zeilen");
    }

    #[test]
    fn a_long_text_is_cut_to_its_place() {
        assert_eq!(plain(&"ä".repeat(10), 10), "ä".repeat(10));
        assert_eq!(plain(&"ä".repeat(11), 10), format!("{}…", "ä".repeat(9)));
        assert_eq!(one_line("\u{1b}a\n\n  b\r\nc", 99), "a b c");
        assert_eq!(list(["a", "b", "c"], 3), "a, b, c");
        assert_eq!(list(["a", "b", "c", "d"], 2), "a, b and 2 more");
    }
}
