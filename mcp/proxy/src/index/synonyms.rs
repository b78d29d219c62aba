//! Words that mean the same to whoever looks for a tool.
//!
//! BM25 matches tokens, so *folder* finds no `list_directory` until somebody says that both are one thing. The built-in groups
//! hold general words of software and nothing of a trade; a team adds its abbreviations in a file of its own.
//! Invariant: being a synonym is symmetric and not transitive. A word may stand in several groups.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use super::tokens::stems;

/// Synonyms by stem.
#[derive(Clone, Default)]
pub struct Synonyms(HashMap<String, BTreeSet<String>>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    groups: Vec<Vec<String>>,
}

impl Synonyms {
    /// The groups that come with the program.
    pub fn built_in() -> Self {
        Self::default()
            .with(include_str!("../../data/synonyms.yaml"))
            .expect("the built-in groups are YAML; a test reads them")
    }

    /// Adds the groups of a file: `groups: [[email, mail, inbox], …]`.
    ///
    /// # Errors
    /// Says where the text departs from that form; then nothing is added.
    pub fn with(mut self, yaml: &str) -> Result<Self, serde_saphyr::Error> {
        let file: File = serde_saphyr::from_str(yaml)?;
        for group in file.groups {
            let group: BTreeSet<String> = group.iter().flat_map(|word| stems(word)).collect();
            for word in &group {
                let others = group.iter().filter(|other| *other != word).cloned();
                self.0.entry(word.clone()).or_default().extend(others);
            }
        }
        Ok(self)
    }

    /// The synonyms of a stem, in the order of the alphabet.
    pub fn of(&self, stem: &str) -> impl Iterator<Item = &str> {
        self.0.get(stem).into_iter().flatten().map(String::as_str)
    }
}
