//! Quote removal for the two kinds of quotes in which a backslash escapes: double quotes and `$'…'`.
//!
//! Invariant: `None` for a text that bash would not read as one such piece.

/// Decodes a whole `$'…'`; `None` when it does not end at its last character or holds a NUL, which ends bash's string.
pub(super) fn ansi_c(text: &str) -> Option<String> {
    let inside = text.strip_prefix("$'")?.strip_suffix('\'')?;
    let mut bytes = Vec::new();
    let mut chars = inside.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\'' {
            return None;
        }
        let decoded = if c == '\\' {
            ansi_c_escape(&mut chars)?
        } else {
            c.to_string().into_bytes()
        };
        bytes.extend(decoded);
    }
    if bytes.contains(&0) {
        None
    } else {
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

type Chars<'s> = std::iter::Peekable<std::str::Chars<'s>>;

fn ansi_c_escape(chars: &mut Chars) -> Option<Vec<u8>> {
    let c = chars.next()?;
    let byte = match c {
        'a' => 7,
        'b' => 8,
        'e' | 'E' => 27,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '?' => c as u8,
        'x' => number(chars, 16, 2, 0)? as u8,
        '0'..='7' => number(chars, 8, 2, c.to_digit(8)?)? as u8,
        'u' => return unicode(number(chars, 16, 4, 0)?),
        'U' => return unicode(number(chars, 16, 8, 0)?),
        // `\cx` and what is no escape at all: rare enough to be asked about.
        _ => return None,
    };
    Some(vec![byte])
}

fn unicode(code: u32) -> Option<Vec<u8>> {
    char::from_u32(code).map(|c| c.to_string().into_bytes())
}

/// Reads up to `most` digits behind those that make `value`; `None` when there are none at all or too many.
fn number(chars: &mut Chars, radix: u32, most: usize, value: u32) -> Option<u32> {
    let mut value = (radix == 8).then_some(value);
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        value = Some(value.unwrap_or(0).checked_mul(radix)?.checked_add(digit)?);
        chars.next();
    }
    value
}

/// Decodes a piece between double quotes; `None` when it holds an expansion or ends within an escape.
pub(super) fn double(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                '\n' => {}
                escaped @ ('$' | '`' | '"' | '\\') => out.push(escaped),
                other => out.extend(['\\', other]),
            },
            '`' | '"' => return None,
            '$' if chars
                .peek()
                .is_some_and(|c| c.is_alphanumeric() || "({[_@*#?$!-".contains(*c)) =>
            {
                return None;
            }
            other => out.push(other),
        }
    }
    Some(out)
}
