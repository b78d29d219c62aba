//! Lines that end between words.
//!
//! A terminal breaks a line wherever its last column is, in the middle of a word too. So what goes to a terminal is broken
//! here. Text streams in pieces that end anywhere: a word is shown as far as it has come, and taken back when it turns out
//! to be too long for its line. Invariant: nothing but blanks is left out, and nothing but line ends and the indentation of
//! the broken line is added.

use crate::text;

/// Text on its way to a terminal.
#[derive(Debug, Default)]
pub struct Wrap {
    /// Where the last word, or its gap, begins.
    column: usize,
    /// What the rest of a broken line begins with.
    indent: String,
    /// The blanks in front of the last word, and the word.
    gap: String,
    word: String,
    /// How many bytes of both are on the terminal.
    shown: usize,
    /// Whether a line may end in front of the word.
    may_break: bool,
}

impl Wrap {
    /// Takes a piece of text and returns what to print on a terminal of this width.
    pub fn feed(&mut self, piece: &str, columns: usize) -> String {
        let mut out = String::with_capacity(piece.len() + 16);
        for c in piece.chars() {
            match c {
                '\n' => {
                    self.end_word(columns, &mut out);
                    *self = Self::default();
                    out.push('\n');
                }
                ' ' | '\t' => {
                    self.end_word(columns, &mut out);
                    self.gap.push(c);
                    self.may_break = true;
                }
                c => {
                    self.word.push(c);
                    // The terminal itself breaks what is too long for any line.
                    let is_long = self.word.len() > columns && text::columns(&self.word) > columns;
                    if is_long || stands_alone(c) {
                        self.end_word(columns, &mut out);
                        self.may_break = !is_long;
                    }
                }
            }
        }
        if !self.word.is_empty() {
            self.show(columns, &mut out);
        }
        out
    }

    /// The word is complete; the next one begins behind it.
    fn end_word(&mut self, columns: usize, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        self.show(columns, out);
        if self.column == 0 {
            self.indent = self.gap.clone() + item_indent(&self.word);
        }
        self.column = match self.end() {
            end if end > columns => (end - 1) % columns.max(1) + 1,
            end => end,
        };
        self.gap.clear();
        self.word.clear();
        self.shown = 0;
        self.may_break = false;
    }

    /// Shows what there is of the word, on the next line if this one has no room for it.
    fn show(&mut self, columns: usize, out: &mut String) {
        let indent = after_blanks(0, &self.indent);
        let fits_below = self.column > indent && indent + text::columns(&self.word) <= columns;
        if self.may_break && fits_below && self.end() > columns {
            if self.shown > 0 {
                out.push_str(&format!("\x1b[{}G\x1b[K", self.column + 1));
            }
            out.push('\n');
            out.push_str(&self.indent);
            self.column = indent;
            self.gap.clear();
            self.shown = 0;
        }
        let both = format!("{}{}", self.gap, self.word);
        out.push_str(&both[self.shown..]);
        self.shown = both.len();
    }

    /// The column behind the word.
    fn end(&self) -> usize {
        after_blanks(self.column, &self.gap) + text::columns(&self.word)
    }
}

/// Whole lines for a terminal of this width.
pub fn wrapped(lines: &str, columns: usize) -> String {
    Wrap::default().feed(lines, columns)
}

/// The column behind these blanks.
fn after_blanks(column: usize, blanks: &str) -> usize {
    blanks.chars().fold(column, |column, blank| match blank {
        '\t' => column - column % 8 + 8,
        _ => column + 1,
    })
}

/// How far the text of a list's item stands behind the mark that begins it.
fn item_indent(word: &str) -> &'static str {
    match word {
        "-" | "*" | "•" => "  ",
        _ => "",
    }
}

/// Whether a line may end behind this character: Chinese and Japanese have no blanks between words.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_between_two_words() {
        assert_eq!(wrapped("nothing was sent\n", 12), "nothing was\nsent\n");
        assert_eq!(wrapped("nothing was  sent", 13), "nothing was\nsent");
        assert_eq!(wrapped("twelve  wide\n", 12), "twelve  wide\n");
        assert_eq!(wrapped("one\n\ntwo", 3), "one\n\ntwo");
    }

    /// What stands on a terminal that was given this.
    fn on_screen(out: &str) -> String {
        let mut screen = String::new();
        for part in out.split("\x1b[K") {
            let (text, back) = part.rsplit_once("\x1b[").unwrap_or((part, ""));
            screen.push_str(text);
            let Some(column) = back.strip_suffix('G') else {
                continue;
            };
            let column = column.parse::<usize>().unwrap() - 1;
            let line = screen.rfind('\n').map_or(0, |newline| newline + 1);
            while text::columns(&screen[line..]) > column {
                screen.pop();
            }
        }
        screen
    }

    #[test]
    fn text_in_pieces_is_broken_as_the_whole_would_be() {
        let text = "the loop asks the model, and\n  the model — 世界世界 — asks for a tool\n- and so on, until none";
        for columns in [8, 10, 17, 80] {
            let mut wrap = Wrap::default();
            let pieces = text.chars().map(|c| wrap.feed(&c.to_string(), columns));
            let screen = on_screen(&pieces.collect::<String>());
            assert_eq!(screen, wrapped(text, columns), "{columns}");
            let blank = |text: &str| text.replace([' ', '\n'], "");
            assert_eq!(blank(&screen), blank(text), "{columns}");
        }
    }

    #[test]
    fn a_word_is_shown_as_far_as_it_has_come() {
        let mut wrap = Wrap::default();
        assert_eq!(wrap.feed("the mod", 8), "the mod");
        assert_eq!(wrap.feed("e", 8), "e");
        assert_eq!(wrap.feed("l", 8), "\x1b[4G\x1b[K\nmodel");
        assert_eq!(wrap.feed(" says", 8), "\nsays");
    }

    #[test]
    fn the_rest_of_a_line_keeps_its_indentation() {
        assert_eq!(
            wrapped("    let answer = ask(model);", 20),
            "    let answer =\n    ask(model);"
        );
        assert_eq!(wrapped("- read a file\n", 10), "- read a\n  file\n");
    }

    #[test]
    fn a_word_longer_than_a_line_is_left_to_the_terminal() {
        assert_eq!(wrapped("see aaaabbbbccccd no", 8), "see aaaabbbbccccd no");
        assert_eq!(
            wrapped("see aaaabbbbccccd nothing", 8),
            "see aaaabbbbccccd\nnothing"
        );
        assert_eq!(wrapped("aaaabbbb now", 8), "aaaabbbb\nnow");
    }

    #[test]
    fn wide_characters_take_two_columns_and_colours_none() {
        assert_eq!(wrapped("世界 世界", 8), "世界 世\n界");
        assert_eq!(wrapped("héllo wörld", 8), "héllo\nwörld");
        assert_eq!(
            wrapped("\x1b[2mone two\x1b[0m three", 7),
            "\x1b[2mone two\x1b[0m\nthree"
        );
    }
}
