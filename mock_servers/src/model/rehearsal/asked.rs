//! What a message of the user asks for, apart from what the harness put into it.
//!
//! A harness adds reminders, notices and the context of its hooks in tags, and notes in brackets. A model that took these
//! for requests would answer them. Invariant: text in a tag is never taken for the user's words.

use super::team::letters::ANSWER_WITH;
use super::words;
use crate::model::{Block, Message, Role};

/// How many tags are tried before a text counts as one without added elements: a pasted page has thousands.
const MAX_TRIED: usize = 16;

/// What a message asks for.
pub enum Asked {
    /// A request of its own: the user's turn.
    New(String),
    /// Something that came up while the model was at work on a request.
    More(String),
}

impl Asked {
    /// The words of the request.
    pub fn into_text(self) -> String {
        match self {
            Self::New(text) | Self::More(text) => text,
        }
    }
}

/// What a message asks for, if anything.
pub fn request_in(message: &Message) -> Option<Asked> {
    if message.role == Role::Assistant {
        return None;
    }
    let has_results = message
        .blocks
        .iter()
        .any(|block| matches!(block, Block::ToolResult { .. }));
    // Results and a request stand in one message only when the turn before was interrupted; then a note says so.
    let mut interrupted = false;
    let mut asked = None;
    for block in &message.blocks {
        match block {
            Block::ToolResult {
                content, is_error, ..
            } => interrupted |= *is_error && content.contains("interrupt"),
            Block::Text(text) if is_note(text) => interrupted = true,
            Block::Text(text) => {
                asked = request_in_text(text, has_results && !interrupted).or(asked)
            }
            Block::ToolUse { .. } | Block::Other(_) => {}
        }
    }
    asked
}

fn request_in_text(text: &str, amid_work: bool) -> Option<Asked> {
    let own = without_hints(&without_context(text));
    match (own.trim().strip_prefix("[Scheduled]"), own.trim()) {
        // Several that fired together are several lines.
        (Some(all), _) if amid_work => Some(Asked::More(
            all.replace("[Scheduled]", "\n").trim().to_owned(),
        )),
        (Some(all), _) => Some(Asked::New(
            all.replace("[Scheduled]", "\n").trim().to_owned(),
        )),
        (None, "") => asked_by_harness(text).map(|text| Asked::More(text.to_owned())),
        (None, _) if amid_work => None,
        (None, own) => Some(Asked::New(own.to_owned())),
    }
}

/// A text without the line that tells a lead how to answer a plan.
fn without_hints(text: &str) -> String {
    let own = text.lines().filter(|line| !line.starts_with(ANSWER_WITH));
    own.collect::<Vec<_>>().join("\n")
}

/// Whether a message says that the turn before it was interrupted.
pub fn is_interrupted(message: &Message) -> bool {
    message.blocks.iter().any(|block| match block {
        Block::ToolResult {
            content, is_error, ..
        } => *is_error && content.contains("interrupt"),
        Block::Text(text) => is_note(text) && text.contains("The turn above ended"),
        Block::ToolUse { .. } | Block::Other(_) => false,
    })
}

/// `[The turn above ended …]`: a note of the harness in brackets.
fn is_note(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('[') && text.ends_with(']')
}

/// What a harness asks for in a tag of its own: a stop hook that sends the model back to work.
fn asked_by_harness(text: &str) -> Option<&str> {
    let element = Element::first_in(text)?;
    words::ASKING_TAGS
        .contains(&element.name)
        .then(|| element.inside.trim())
}

/// A text without the elements a harness wrapped in tags.
pub fn without_context(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(element) = Element::first_in(rest) {
        kept.push_str(&rest[..element.start]);
        rest = &rest[element.end..];
    }
    kept.push_str(rest);
    kept
}

/// What stands in the first element of this name.
pub fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    elements(text)
        .find(|element| element.name == name)
        .map(|element| element.inside)
}

/// The notes a harness recalled for this text: what stands in its `<memory>` elements.
pub fn recalled(text: &str) -> impl Iterator<Item = &str> {
    let is_memory = |element: &Element| words::MEMORY_TAGS.contains(&element.name);
    elements(text)
        .filter(is_memory)
        .map(|element| element.inside)
}

/// The entries under the heading `# Memory` of a system prompt: `- [name](slug.md) — description`.
pub fn index(system: &str) -> impl Iterator<Item = &str> {
    let lines = system.lines().skip_while(|line| line.trim() != "# Memory");
    lines.filter(|line| line.starts_with("- [") && line.contains("]("))
}

/// The elements of a text, in order.
pub fn elements(text: &str) -> impl Iterator<Item = Element<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let element = Element::first_in(rest)?;
        rest = &rest[element.end..];
        Some(element)
    })
}

/// A result without the context a hook put behind it.
pub fn without_added(result: &str) -> &str {
    let text = result.trim_end();
    let added = text.ends_with('>').then(|| text.rfind("\n\n<")).flatten();
    match added.and_then(|at| Some((at, Element::first_in(&text[at..])?))) {
        Some((at, element)) if at + element.end == text.len() => &text[..at],
        _ => result,
    }
}

/// An element that a harness wrapped something in. Its tag stands at the start of a line, outside code fences.
pub struct Element<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it holds.
    pub inside: &'a str,
    /// Where it ends in its text.
    pub end: usize,
    start: usize,
    tag: &'a str,
}

impl<'a> Element<'a> {
    /// The first element of a text.
    pub fn first_in(text: &'a str) -> Option<Self> {
        let mut fenced = false;
        let mut tried = 0;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let start = at + (line.len() - line.trim_start().len());
            at += line.len();
            fenced ^= text[start..].starts_with("```");
            if fenced || !text[start..].starts_with('<') || tried == MAX_TRIED {
                continue;
            }
            tried += 1;
            if let Some(element) = Self::at(text, start) {
                return Some(element);
            }
        }
        None
    }

    fn at(text: &'a str, start: usize) -> Option<Self> {
        let tag = text[start..].strip_prefix('<')?;
        let name =
            &tag[..tag.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'))?];
        let added = name.contains(['-', '_']) || words::CONTEXT_TAGS.contains(&name);
        let body = tag.find('>')? + 1;
        let length = tag[body..].find(&format!("</{name}>")).filter(|_| added)?;
        let end = start + 1 + body + length + name.len() + 3;
        Some(Self {
            name,
            inside: &tag[body..body + length],
            end,
            start,
            tag: &tag[..body],
        })
    }

    /// An attribute of its tag.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        let (_, value) = self.tag.split_once(&format!(" {name}=\""))?;
        value.split('"').next()
    }
}
