//! What compaction left of a result: all of it, a preview, or a line that says it is gone.
//!
//! A harness makes room by taking old results away. The call is still done; only its text is not there any more.
//! Invariant: a result that nothing was taken from is returned as it is.

/// What is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left<'r> {
    /// The result.
    Whole(&'r str),
    /// Its beginning; the rest lies in a file.
    Preview {
        /// The file.
        path: &'r str,
        /// How long the result is, in characters, as the harness wrote it.
        chars: &'r str,
        /// The beginning, without its last line, which may be cut.
        text: &'r str,
    },
    /// Nothing.
    Nothing,
}

impl<'r> Left<'r> {
    /// What is left of a result.
    pub fn of(result: &'r str) -> Self {
        let text = result.trim();
        if text.starts_with("[old result of ") && text.ends_with(']') && !text.contains('\n') {
            return Self::Nothing;
        }
        preview(text).unwrap_or(Self::Whole(result))
    }

    /// The text that is there.
    pub fn text(self) -> &'r str {
        match self {
            Self::Whole(text) | Self::Preview { text, .. } => text,
            Self::Nothing => "",
        }
    }
}

fn preview(text: &str) -> Option<Left<'_>> {
    let (attributes, inside) = text.strip_prefix("<persisted-output ")?.split_once('>')?;
    let value = |name: &str| {
        let (_, rest) = attributes.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0)
    };
    let inside = inside
        .split("</persisted-output>")
        .next()?
        .trim_matches('\n');
    let text = inside.rsplit_once('\n').map_or(inside, |(whole, _)| whole);
    Some(Left::Preview {
        path: value("path")?,
        chars: value("chars").unwrap_or("many"),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_apart() {
        assert_eq!(Left::of("tea\n"), Left::Whole("tea\n"));
        let line =
            "[old result of read_file removed: 12,345 characters; call it again if you need it]";
        assert_eq!(Left::of(line), Left::Nothing);
        assert_eq!(
            Left::of(&format!("{line}\ntea")).text(),
            format!("{line}\ntea")
        );
        let kept = "<persisted-output path=\".harness/outputs/a.txt\" chars=\"40,000\">\na.md\nb.md\nc.\n</persisted-output>";
        let expected = Left::Preview {
            path: ".harness/outputs/a.txt",
            chars: "40,000",
            text: "a.md\nb.md",
        };
        assert_eq!(Left::of(kept), expected);
    }
}
