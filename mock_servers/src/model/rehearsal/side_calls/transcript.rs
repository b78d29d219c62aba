//! Reads a conversation that was written down: one paragraph per block, the speaker first.
//!
//! Invariant: a line is a speaker's only at the start of a paragraph.

/// Who says a paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user, or the harness in the user's name.
    User,
    /// The model, in words.
    Assistant,
    /// The model, calling a tool.
    Call,
    /// A tool.
    Result,
}

/// A paragraph.
#[derive(Clone, Copy, Debug)]
pub struct Paragraph<'t> {
    /// Who says it.
    pub speaker: Speaker,
    /// What is said.
    pub text: &'t str,
}

const SPEAKERS: &[(&str, Speaker)] = &[
    ("User:", Speaker::User),
    ("Assistant:", Speaker::Assistant),
    ("Tool call:", Speaker::Call),
    ("Tool result:", Speaker::Result),
];

/// The paragraphs of a written conversation, in order.
pub fn paragraphs(text: &str) -> Vec<Paragraph<'_>> {
    let speaker = |at: usize| {
        let rest = &text[at..];
        let (label, speaker) = SPEAKERS.iter().find(|(label, _)| rest.starts_with(label))?;
        Some((at, at + label.len(), *speaker))
    };
    let behind_blank = text.match_indices("\n\n").map(|(at, _)| at + 2);
    // A result may be one line, and what follows it stands on the next.
    let starts: Vec<_> = std::iter::once(0)
        .chain(behind_blank)
        .filter_map(speaker)
        .collect();
    let ends = starts
        .iter()
        .skip(1)
        .map(|(at, ..)| *at)
        .chain([text.len()]);
    let paragraph = |((_, from, speaker), end): (&(usize, usize, Speaker), usize)| Paragraph {
        speaker: *speaker,
        text: text[*from..end].trim(),
    };
    starts.iter().zip(ends).map(paragraph).collect()
}
