//! A memory as a file: YAML front matter, then the content.
//!
//! A person may write one by hand, and a later version may add fields. Invariants: lines of the front matter that are not
//! ours stay as they are; no value, whatever it holds, ends the front matter early; what is written reads back as it was.

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use kit::one_line;
use s07_skills::FrontMatter;
use serde_json::Value;

use crate::entry::{Entry, Kind, description_of};

const FENCE: &str = "---";
const NAME: &str = "name";
const DESCRIPTION: &str = "description";
const TYPE: &str = "type";

/// What a file of the memory holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The memory.
    pub entry: Entry,
    /// The lines of the front matter that are not ours.
    kept: String,
}

impl File {
    /// A file for a new memory.
    pub fn new(entry: Entry) -> Self {
        let kept = String::new();
        Self { entry, kept }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self> {
        let read = FrontMatter::read(text)?;
        let name = read.text(NAME).context("its front matter has no name")?;
        let kind = match read.text(TYPE) {
            Some(kind) => Kind::called(&kind).with_context(|| {
                format!("its type is {kind:?}, not user, feedback, project or reference")
            })?,
            None => Kind::default(),
        };
        let content = read.body.trim().to_owned();
        let description = read.text(DESCRIPTION);
        let entry = Entry {
            name: one_line(&name),
            description: description.map_or_else(|| description_of(&content), |it| one_line(&it)),
            kind,
            content,
        };
        let kept = lines_of_others(text);
        Ok(Self { entry, kept })
    }

    /// The same file with another memory in it.
    pub fn holding(&self, entry: Entry) -> Self {
        let kept = self.kept.clone();
        Self { entry, kept }
    }

    /// The text of the file.
    ///
    /// # Errors
    /// When our fields and the other lines cannot stand side by side.
    pub fn render(&self) -> Result<String> {
        let Entry {
            name,
            description,
            kind,
            content,
        } = &self.entry;
        let kind = serde_json::to_value(kind)?;
        let text = format!(
            "{FENCE}\n{NAME}: {}\n{DESCRIPTION}: {}\n{TYPE}: {}\n{}{FENCE}\n\n{}\n",
            scalar(name),
            scalar(description),
            kind.as_str().unwrap_or_default(),
            self.kept,
            content.trim(),
        );
        let read = Self::parse(&text).context("its front matter cannot be kept")?;
        ensure!(
            read == *self,
            "its front matter cannot be kept as it stands"
        );
        Ok(text)
    }
}

/// The lines of the front matter but our fields; a field is its line and the indented ones below.
fn lines_of_others(text: &str) -> String {
    let is_ours = |line: &str| {
        line.split_once(':')
            .is_some_and(|(key, _)| [NAME, DESCRIPTION, TYPE].contains(&key.trim_end()))
    };
    let (mut kept, mut in_ours) = (String::new(), false);
    for line in text
        .lines()
        .skip(1)
        .take_while(|line| line.trim_end() != FENCE)
    {
        let goes_on = line.trim().is_empty() || line.starts_with([' ', '\t']);
        in_ours = if goes_on { in_ours } else { is_ours(line) };
        if !in_ours {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

/// A string as YAML: bare where it can be taken for nothing else, elsewhere as JSON, which YAML can read.
fn scalar(value: &str) -> String {
    let begins_as_text = value.starts_with(|c: char| c.is_ascii_alphabetic());
    let ends_as_text = value.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " .,;/'()-".contains(c);
    let says_nothing = ["null", "true", "false", "yes", "no", "on", "off"];
    if begins_as_text
        && ends_as_text
        && value.chars().all(is_plain)
        && !says_nothing.contains(&value.to_lowercase().as_str())
    {
        return value.to_owned();
    }
    let mut quoted = String::new();
    for c in Value::from(value).to_string().chars() {
        match c {
            // JSON takes these as they are, YAML does not.
            '\u{7f}'..='\u{9f}'
            | '\u{2028}'..='\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'..='\u{ffff}' => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            _ => quoted.push(c),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, content: &str) -> File {
        File::new(Entry {
            name: name.into(),
            description: name.into(),
            kind: Kind::User,
            content: content.into(),
        })
    }

    #[test]
    fn a_file_reads_as_a_person_would_write_it() {
        let text = file("tabs", "Indent with tabs.").render().unwrap();
        assert_eq!(
            text,
            "---\nname: tabs\ndescription: tabs\ntype: user\n---\n\nIndent with tabs.\n"
        );
    }

    #[test]
    fn front_matter_is_not_broken_by_what_a_value_holds() {
        let all: String = ('\u{20}'..='\u{2fff}').collect();
        for value in [
            "a: b # c",
            "---",
            "--- x",
            "it's \"quoted\"",
            "- x",
            "[x]",
            "{x}",
            "&x",
            "*x",
            "!x",
            "%x",
            "|",
            ">",
            "true",
            "null",
            "Yes",
            "12",
            "0x1f",
            "1e3",
            "~",
            "a\\n",
            "x:",
            "n",
            "\u{1f980}",
            "x #y",
            "\u{fffe}\u{ffff}\u{feff}y",
            "2026-11-22",
            ".inf",
            "a 'b",
            "<<",
            "`x`",
            "@x",
            "a, b",
            "name: b",
            &all,
        ] {
            let before = file(&one_line(value), "x\n---\ny: z");
            let text = before.render().unwrap();
            assert_eq!(File::parse(&text).unwrap(), before, "{value:?}");
        }
    }

    #[test]
    fn lines_of_others_stay_as_they_are() {
        let text = "---\n# mine\nsource: {a: [1, \"b: c\"]}\ndescription: >\n  folded\n\n  text\ntags:\n- x\n- name: y\n\
                    name: Tabs\nnames: many\nnote: |\n  name: inner\n  --- no fence\n---\nold\n";
        let read = File::parse(text).unwrap();
        assert_eq!(read.entry.description, "folded text");
        let entry = Entry {
            description: "new".into(),
            ..read.entry.clone()
        };
        assert_eq!(
            read.holding(entry).render().unwrap(),
            "---\nname: Tabs\ndescription: new\ntype: project\n# mine\nsource: {a: [1, \"b: c\"]}\ntags:\n- x\n- name: y\n\
             names: many\nnote: |\n  name: inner\n  --- no fence\n---\n\nold\n"
        );
    }

    #[test]
    fn front_matter_that_cannot_be_kept_is_not_written_over() {
        for head in ["\"name\": x", "{name: x}"] {
            let read = File::parse(&format!("---\n{head}\n---\n")).unwrap();
            assert!(read.render().is_err(), "{head}");
        }
    }

    #[test]
    fn a_file_written_by_hand_is_read() {
        let text = "\u{feff}---\r\nname: Tabs\r\ntype: User\r\nsource: chat\r\n---\r\nBody\r\n";
        let read = File::parse(text).unwrap();
        let expected = Entry {
            name: "Tabs".into(),
            description: "Body".into(),
            kind: Kind::User,
            content: "Body".into(),
        };
        assert_eq!(read.entry, expected);
        assert_eq!(read.kept, "source: chat\n");
    }

    #[test]
    fn a_damaged_file_is_an_error_that_says_why() {
        for (text, why) in [
            ("no front matter", "no front matter"),
            ("---\nname: x\nno end", "does not end"),
            ("---\ndescription: x\n---\n", "has no name"),
            ("---\nname: [x\n---\n", "line"),
            ("---\nname: x\ntype: poem\n---\n", "its type is \"poem\""),
        ] {
            let error = format!("{:#}", File::parse(text).unwrap_err());
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }
}
