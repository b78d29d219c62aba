//! Python source, line by line, with what is code told from what is text.
//!
//! A `;` in a string ends no statement. So every line has a mask beside it: as long as the line, with strings and comments
//! blotted out. Invariant: a mask is ASCII and has the bytes of its line, so that a place in one is a place in the other.

/// One line of a source.
#[derive(Clone, Debug)]
pub struct Line {
    /// The line as it stands.
    pub text: String,
    /// The line with the inside of strings as `x` and comments as blanks.
    pub mask: String,
    /// Whether it begins inside a string or an open bracket: then its indentation means nothing.
    pub goes_on: bool,
    /// Whether it begins inside a string.
    pub in_string: bool,
}

impl Line {
    /// How far it is indented, in bytes.
    pub fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    /// Whether there is no code on it.
    pub fn is_blank(&self) -> bool {
        self.mask.trim().is_empty()
    }

    /// Whether it is a statement at the left margin.
    pub fn is_top(&self) -> bool {
        !self.goes_on && !self.is_blank() && self.indent() == 0
    }
}

/// The lines of a source.
pub fn lines(source: &str) -> Vec<Line> {
    let mut reader = Reader::default();
    source.lines().map(|line| reader.line(line)).collect()
}

/// How the brackets of a mask change the depth.
pub fn depth(mask: &str, before: usize) -> usize {
    mask.bytes().fold(before, |depth, byte| match byte {
        b'(' | b'[' | b'{' => depth + 1,
        b')' | b']' | b'}' => depth.saturating_sub(1),
        _ => depth,
    })
}

#[derive(Default)]
struct Reader {
    /// The mark that closes the open string.
    open: Option<&'static str>,
    depth: usize,
    joined: bool,
}

impl Reader {
    fn line(&mut self, text: &str) -> Line {
        let in_string = self.open.is_some();
        let goes_on = in_string || self.depth > 0 || self.joined;
        let mut mask = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let length = self.step(rest, c, &mut mask);
            rest = &rest[length..];
        }
        // Only a string in triple quotes goes on behind the end of a line.
        self.open = self.open.filter(|mark| mark.len() == 3);
        self.depth = depth(&mask, self.depth);
        self.joined = mask.ends_with('\\');
        Line {
            text: text.to_owned(),
            mask,
            goes_on,
            in_string,
        }
    }

    /// Masks what comes next and says how long it is.
    fn step(&mut self, rest: &str, c: char, mask: &mut String) -> usize {
        const MARKS: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];
        let blot = |mask: &mut String, with: char, length: usize| {
            mask.extend(std::iter::repeat_n(with, length));
            length
        };
        if let Some(mark) = self.open {
            if rest.starts_with(mark) {
                self.open = None;
                mask.push_str(mark);
                return mark.len();
            }
            let escaped = c == '\\' && rest.len() > 1;
            let next = rest.chars().nth(1).filter(|_| escaped);
            return blot(mask, 'x', c.len_utf8() + next.map_or(0, char::len_utf8));
        }
        if let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            self.open = Some(mark);
            mask.push_str(mark);
            return mark.len();
        }
        match c {
            '#' => blot(mask, ' ', rest.len()),
            c if c.is_ascii() => {
                mask.push(c);
                1
            }
            c => blot(mask, 'x', c.len_utf8()),
        }
    }
}
