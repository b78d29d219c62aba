//! One skill: a name and a description for the catalogue, and a body that the model loads.
//!
//! The description is paid for in every request, the body only when it is needed; so the two are kept apart from the
//! start. Invariant: a description is one short line, whatever its author wrote.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use kit::{cut, one_line};

use crate::front_matter::FrontMatter;

/// The most characters of a name.
const MAX_NAME: usize = 64;

/// The most characters of a description in the catalogue; a longer one is cut.
const MAX_DESCRIPTION: usize = 500;

/// A skill that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skill {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) body: String,
    /// Where it lies, with files that its body may speak of. A shipped skill lies nowhere.
    pub(crate) folder: Option<PathBuf>,
}

impl Skill {
    /// Reads the text of a SKILL.md.
    ///
    /// # Errors
    /// Says in one sentence what is wrong with it.
    pub(crate) fn read(text: &str, folder: Option<&Path>) -> Result<Self> {
        let file = FrontMatter::read(text)?;
        let name = file.text("name").context("its front matter has no name")?;
        ensure!(
            is_name(&name),
            "its name must be 1 to {MAX_NAME} characters of a-z, 0-9 and -, not {name:?}"
        );
        let description = file
            .text("description")
            .context("its front matter has no description, and without one nobody would load it")?;
        Ok(Self {
            name,
            description: one_short_line(&description),
            body: file.body.to_owned(),
            folder: folder.map(Path::to_owned),
        })
    }
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(fits)
}

fn one_short_line(text: &str) -> String {
    cut(&one_line(text), MAX_DESCRIPTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, description: &str) -> Result<Skill> {
        Skill::read(&format!("---\nname: {name}\ndescription: {description}\n---\nBody.\n"), None)
    }

    #[test]
    fn a_description_is_one_short_line() {
        let skill = read("a", "\"Two\\nlines\\tand \\e[2J more\"").unwrap();
        assert_eq!(skill.description, "Two lines and [2J more");
        let long = read("a", &"ä".repeat(MAX_DESCRIPTION + 1)).unwrap();
        assert_eq!(long.description, "ä".repeat(MAX_DESCRIPTION - 1) + "…");
    }

    #[test]
    fn a_name_is_short_and_plain() {
        assert!(read("code-review-2", "x").is_ok());
        assert!(read(&"a".repeat(64), "x").is_ok());
        for name in ["Code", "a b", "a/b", "../a", "ä", &"a".repeat(65)] {
            let error = read(name, "x").unwrap_err().to_string();
            assert!(error.contains("its name must be 1 to 64"), "{error}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let missing = |head: &str| Skill::read(&format!("---\n{head}\n---\n"), None).unwrap_err();
        assert!(missing("description: x").to_string().contains("no name"));
        assert!(missing("name: x").to_string().contains("no description"));
    }
}
