//! Answers to a question that only the user can decide.
//!
//! Every refusal is told to the model, and why makes a difference: a user who said no is not a pipe that had run dry.
//! Invariant: only the words listed here are answers; everything else is no.

use std::fmt;

/// What the user decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this once.
    Yes,
    /// Yes, and do not ask again.
    Always,
    /// No, or no answer, which is the same.
    No(Refusal),
}

/// Why the answer is no. Displays as a clause to tell the model: "the user said no".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The user typed no, or pressed Enter.
    User,
    /// The user pressed Ctrl-C, which ends the turn as well.
    Interrupted,
    /// The input has ended: nobody is there to ask.
    Nobody,
    /// What came was no answer: on a pipe, the next request; on a terminal, text three times over.
    NotAnAnswer,
}

impl Answer {
    /// Reads y, yes, a, always, n or no, in any case; `None` for anything else.
    pub fn parse(line: &str) -> Option<Self> {
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => Some(Self::Yes),
            "a" | "always" => Some(Self::Always),
            "n" | "no" => Some(Self::No(Refusal::User)),
            _ => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "the user said no",
            Self::Interrupted => "the user interrupted the question",
            Self::Nobody => "nobody was there to answer the question",
            Self::NotAnAnswer => "what came was no answer to the question",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listed_words_are_answers() {
        assert_eq!(Answer::parse(" Y\n"), Some(Answer::Yes));
        assert_eq!(Answer::parse("yes"), Some(Answer::Yes));
        assert_eq!(Answer::parse("ALWAYS"), Some(Answer::Always));
        assert_eq!(Answer::parse("n"), Some(Answer::No(Refusal::User)));
        for other in [
            "",
            "yes please",
            "yy",
            "ok",
            "Delete the file test.txt",
            "alway",
        ] {
            assert_eq!(Answer::parse(other), None, "{other}");
        }
    }
}
