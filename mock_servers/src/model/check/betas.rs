//! Betas: parts of the API that a request asks for by name, in the header `anthropic-beta`.
//!
//! A part is checked when it is read, and remembered by its bytes. Which betas a request asks for is its own, so a part
//! says what it needs, and the request is asked last.
//! Invariant: without its beta a part is refused as if the API had never heard of it.

use crate::model::refusal::Flaw;

/// The betas that a request asks for.
#[derive(Debug, Default)]
pub struct Betas(Vec<String>);

/// A part that a beta brings.
#[derive(Clone, Debug)]
pub struct Need {
    /// How the names of the betas begin; any of them will do. What follows is the date of a version.
    families: Vec<&'static str>,
    /// What is wrong without them.
    flaw: Flaw,
}

impl Betas {
    /// The betas of all headers of the name, each a list with commas.
    pub fn of<'a>(headers: impl Iterator<Item = &'a str>) -> Self {
        let names = headers.flat_map(|header| header.split(','));
        Self(names.map(|name| name.trim().to_owned()).collect())
    }

    /// Whether a beta is among them whose name begins like this.
    pub fn has(&self, family: &str) -> bool {
        self.0.iter().any(|name| name.starts_with(family))
    }

    /// Refuses the first part whose beta is missing.
    pub fn satisfy(&self, mut needs: impl Iterator<Item = Need>) -> Result<(), Flaw> {
        let missing = |need: &Need| !need.families.iter().any(|family| self.has(family));
        needs.find(missing).map_or(Ok(()), |need| Err(need.flaw))
    }
}

impl Need {
    /// A part that any of these betas brings.
    pub fn new(families: &[&'static str], flaw: Flaw) -> Self {
        let families = families.to_vec();
        Self { families, flaw }
    }

    /// Puts `outer` before the place.
    pub fn under(self, outer: impl std::fmt::Display) -> Self {
        Self {
            flaw: self.flaw.under(outer),
            ..self
        }
    }
}
