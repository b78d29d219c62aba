//! The four modes: what an agent is asked to do with a question, and the shape of its answer.
//!
//! Invariant: a mode says how to look at a question, never what to find; where the evidence is missing, the shape has a place
//! to say so.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How an agent is to look at a question.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Looks for what is wrong.
    Challenge,
    /// Looks for what holds, and under which conditions.
    Agree,
    /// Builds on what is there.
    #[default]
    Collaborate,
    /// Draws conclusions from evidence alone.
    Deduce,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Challenge, Self::Agree, Self::Collaborate, Self::Deduce];

    /// The mode of this name.
    ///
    /// # Errors
    /// Which names there are.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|mode| mode.to_string() == name);
        let names = Self::ALL.map(|mode| mode.to_string()).join(", ");
        found.ok_or_else(|| format!("mode: there is no mode {name:?}; one of {names}"))
    }

    /// What the agent is told to do, and the headings of its answer with what stands below each.
    pub fn prompt(self) -> String {
        let (task, shape) = self.texts();
        let mut prompt = format!(
            "[{} MODE] {task}\n\nAnswer under these headings, without a preface:\n",
            self.to_string().to_uppercase()
        );
        for (heading, below) in shape {
            prompt.push_str(&format!("## {heading}\n{below}\n"));
        }
        prompt.push_str(
            "\nJudge only what you were given or have looked up. Where something was cut or is missing, say what you \
             would need to see.",
        );
        prompt
    }

    fn texts(self) -> (&'static str, [(&'static str, &'static str); 3]) {
        match self {
            Self::Challenge => (
                "Review critically. Look for what is wrong, missing, unproven or harder than it looks. Praise nothing.",
                [
                    (
                        "Concerns",
                        "Numbered, the worst first: where it stands, why it fails, what to do instead.",
                    ),
                    (
                        "What would prove me wrong",
                        "The check or the fact that settles each concern.",
                    ),
                    ("Verdict", "One of: stop, change first, go. One sentence why."),
                ],
            ),
            Self::Agree => (
                "Look for what holds. Say which parts are right and why, so that they can be relied on. Do not flatter: what \
                 you cannot support belongs under Conditions.",
                [
                    ("What holds", "Numbered: the part, and the reason or evidence for it."),
                    (
                        "Why it fits together",
                        "What the parts have in common, in two or three sentences.",
                    ),
                    ("Conditions", "Under which you would no longer agree."),
                ],
            ),
            Self::Collaborate => (
                "Work on it together. Take what is there as given and carry it further: fill gaps, propose better wording or \
                 code, offer alternatives.",
                [
                    ("Proposal", "What you would add or change, ready to use."),
                    ("Next steps", "Numbered, each small enough to be done at once."),
                    ("Questions", "What only the other side can answer."),
                ],
            ),
            Self::Deduce => (
                "Reason from evidence alone, step by step. Keep apart what is stated, what follows and what is guessed.",
                [
                    ("Facts", "Numbered, each with where it stands."),
                    ("Deductions", "Each names the facts by number that it follows from."),
                    ("Conclusion", "The answer, how sure you are, and what would make you surer."),
                ],
            ),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Challenge => "challenge",
            Self::Agree => "agree",
            Self::Collaborate => "collaborate",
            Self::Deduce => "deduce",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_has_a_prompt_and_a_shape_of_its_own() {
        let prompts = Mode::ALL.map(Mode::prompt);
        for (at, prompt) in prompts.iter().enumerate() {
            let name = Mode::ALL[at].to_string();
            assert!(prompt.starts_with(&format!("[{} MODE] ", name.to_uppercase())), "{prompt}");
            assert_eq!(prompt.lines().filter(|line| line.starts_with("## ")).count(), 3);
            let headings = |text: &str| {
                text.lines()
                    .filter(|it| it.starts_with("## "))
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            assert!(
                prompts[..at]
                    .iter()
                    .all(|other| headings(other).iter().all(|it| !headings(prompt).contains(it)))
            );
            assert_eq!(Mode::named(&name), Ok(Mode::ALL[at]));
        }
        assert_eq!(
            Mode::named("Agree").unwrap_err(),
            "mode: there is no mode \"Agree\"; one of challenge, agree, collaborate, deduce"
        );
    }
}
