//! A memory as a file: YAML front matter, then the content.
//!
//! A person may write one by hand, and a later version may add fields. Invariants: lines of the front matter that are not
//! ours stay as they are; no value, whatever it holds, ends the front matter early; what is written reads back as it was.

use anyhow::{Context, Result, ensure};
use kit::one_line;
use s07_skills::FrontMatter;
use serde_json::Value;

use crate::entry::{Entry, Kind, description};

const FENCE: &str = "---";
const NAME: &str = "name";
const DESCRIPTION: &str = "description";
const TYPE: &str = "type";

/// A file of the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The memory in it.
    pub entry: Entry,
    /// The whole file.
    pub text: String,
}

impl File {
    /// A file for a new memory.
    ///
    /// # Errors
    /// When the memory cannot be written as front matter.
    pub fn new(entry: &Entry) -> Result<Self> {
        Self::render(entry, "")
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(text: String) -> Result<Self> {
        let read = FrontMatter::read(&text)?;
        let name = read.text(NAME).context("its front matter has no name")?;
        let kind = match read.text(TYPE) {
            Some(kind) => Kind::called(&kind).with_context(|| {
                format!("its type is {kind:?}, not user, feedback, project or reference")
            })?,
            None => Kind::default(),
        };
        let content = read.body.trim().to_owned();
        let entry = Entry {
            name: one_line(&name),
            description: match read.text(DESCRIPTION) {
                Some(written) => one_line(&written),
                None => description("", &content),
            },
            kind,
            content,
        };
        Ok(Self { entry, text })
    }

    /// The same file with this memory in it; unchanged when it holds the memory already.
    ///
    /// # Errors
    /// When our fields and the other lines cannot stand side by side.
    pub fn holding(&self, entry: &Entry) -> Result<Self> {
        if self.entry == *entry {
            return Ok(self.clone());
        }
        Self::render(entry, &lines_of_others(&self.text))
    }

    fn render(entry: &Entry, others: &str) -> Result<Self> {
        let kind = serde_json::to_value(entry.kind)?;
        let text = format!(
            "{FENCE}\n{NAME}: {}\n{DESCRIPTION}: {}\n{TYPE}: {}\n{others}{FENCE}\n\n{}\n",
            scalar(&entry.name),
            scalar(&entry.description),
            kind.as_str().unwrap_or_default(),
            entry.content.trim(),
        );
        let file = Self::parse(text).context("its front matter cannot be kept")?;
        ensure!(
            file.entry == *entry && lines_of_others(&file.text) == others,
            "its front matter cannot be kept as it stands"
        );
        Ok(file)
    }
}

/// The lines of the front matter but our fields; a field is its line and the indented ones below.
fn lines_of_others(text: &str) -> String {
    let is_ours = |line: &str| {
        line.split_once(':')
            .is_some_and(|(key, _)| [NAME, DESCRIPTION, TYPE].contains(&key.trim_end()))
    };
    let (mut others, mut in_ours) = (String::new(), false);
    let lines = text.lines().skip(1);
    for line in lines.take_while(|line| line.trim_end() != FENCE) {
        let goes_on = line.trim().is_empty() || line.starts_with([' ', '\t']);
        in_ours = if goes_on { in_ours } else { is_ours(line) };
        if !in_ours {
            others += line;
            others.push('\n');
        }
    }
    others
}

/// A line of text as YAML: bare where it can be taken for nothing else, elsewhere as JSON, which YAML can read.
fn scalar(line: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " .,;/'()-".contains(c);
    let begins = line.starts_with(|c: char| c.is_ascii_alphabetic());
    let ends = line.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
    if begins && ends && line.chars().all(is_plain) && line != "null" {
        return line.to_owned();
    }
    let json = Value::from(line).to_string();
    // JSON takes these as they are, YAML does not.
    let unprintable = ['\u{feff}', '\u{fffe}', '\u{ffff}'];
    unprintable.iter().fold(json, |json, &c| json.replace(c, &format!("\\u{:04x}", u32::from(c))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, content: &str) -> Entry {
        Entry {
            name: name.into(),
            description: name.into(),
            kind: Kind::User,
            content: content.into(),
        }
    }

    #[test]
    fn front_matter_is_not_broken_by_what_a_value_holds() {
        let all: String = ('\u{20}'..='\u{2fff}').collect();
        let values = "a: b # c|a: \"b\" --- c|---|it's \"quoted\"|- x|[x]|{x}|&x|*x|!x|%x|>|true|null|Yes|12|0x1f|1e3|~|a\\n\
            |x:|n|\u{1f980}|x #y|\u{fffe}\u{ffff}\u{feff}y|2026-11-22|.inf|a 'b|<<|`x`|@x|a, b|name: b";
        for value in values.split('|').chain(["|", &all]) {
            let entry = entry(&one_line(value), "x\n---\ny: z");
            let text = File::new(&entry).unwrap().text;
            assert_eq!(File::parse(text).unwrap().entry, entry, "{value:?}");
        }
    }

    #[test]
    fn lines_of_others_stay_as_they_are_or_nothing_is_written() {
        let text = "---\n# mine\nsource: {a: [1, \"b: c\"]}\ndescription: >\n  folded\n\n  text\ntags:\n- x\n- name: y\n\
                    name: Tabs\nnames: many\nnote: |\n  name: inner\n  --- no fence\n---\nold\n";
        let read = File::parse(text.to_owned()).unwrap();
        assert_eq!(read.entry.description, "folded text");
        let entry = Entry {
            description: "new".into(),
            ..read.entry.clone()
        };
        assert_eq!(
            read.holding(&entry).unwrap().text,
            "---\nname: Tabs\ndescription: new\ntype: project\n# mine\nsource: {a: [1, \"b: c\"]}\ntags:\n- x\n- name: y\n\
             names: many\nnote: |\n  name: inner\n  --- no fence\n---\n\nold\n"
        );
        for head in ["\"name\": x", "{name: x}"] {
            let read = File::parse(format!("---\n{head}\n---\n")).unwrap();
            assert!(read.holding(&entry).is_err(), "{head}");
        }
    }

    #[test]
    fn a_file_written_by_hand_is_read_and_a_damaged_one_says_why() {
        let text = "\u{feff}---\r\nname: Tabs\r\ntype: User\r\nsource: chat\r\n---\r\nBody\r\n";
        let read = File::parse(text.to_owned()).unwrap();
        let expected = Entry {
            description: "Body".into(),
            ..entry("Tabs", "Body")
        };
        assert_eq!(read.entry, expected);
        assert_eq!(lines_of_others(text), "source: chat\n");
        for (text, why) in [
            ("no front matter", "no front matter"),
            ("---\ndescription: x\n---\n", "has no name"),
            ("---\nname: [x\n---\n", "line"),
            ("---\nname: x\ntype: poem\n---\n", "its type is \"poem\""),
        ] {
            let error = format!("{:#}", File::parse(text.to_owned()).unwrap_err());
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }
}
