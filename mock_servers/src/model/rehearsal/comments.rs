//! A comment at the top of a program, made from what the program defines.
//!
//! Invariant: only a line is added, and a file that begins with a comment is left as it is.

use super::edits::Rewritten;
use super::gist;

/// How a comment begins, by the extension of the file.
const MARKS: &[(&str, &str)] = &[
    ("py", "#"),
    ("sh", "#"),
    ("rb", "#"),
    ("toml", "#"),
    ("yml", "#"),
    ("yaml", "#"),
    ("rs", "//"),
    ("js", "//"),
    ("ts", "//"),
    ("go", "//"),
    ("c", "//"),
    ("h", "//"),
    ("java", "//"),
];

/// Adds the comment.
pub fn commented(path: &str, source: &str) -> Rewritten {
    let unchanged = |note: String| Rewritten {
        text: source.to_owned(),
        note,
    };
    let ext = path.rsplit_once('.').map_or("", |(_, ext)| ext);
    let Some((_, mark)) = MARKS.iter().find(|(known, _)| *known == ext) else {
        return unchanged(format!("I do not know how a comment is written in {path}"));
    };
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    let at = usize::from(lines.first().is_some_and(|line| line.starts_with("#!")));
    if lines.get(at).is_some_and(|line| line.starts_with(mark)) {
        return unchanged(format!("{path} begins with a comment already"));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let about = match &gist::defined(source)[..] {
        [] => format!("{} {}", lines.len(), gist::plural(lines.len(), "line")),
        names => format!("defines {}", names.join(", ")),
    };
    lines.insert(at, format!("{mark} {name}: {about}."));
    let note = format!("I added a comment at the top of {path}");
    Rewritten::new(source, &lines, note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_added_once_below_the_interpreter_line() {
        let source = "#!/usr/bin/env python3\ndef tea():\n    pass\n";
        let first = commented("a/tea.py", source);
        let expected = "#!/usr/bin/env python3\n# tea.py: defines tea.\ndef tea():\n    pass\n";
        assert_eq!(first.text, expected);
        assert_eq!(commented("a/tea.py", &first.text).text, first.text);
        assert_eq!(commented("a/tea.txt", "tea\n").text, "tea\n");
    }
}
