//! A conversation as text, for a model that reads about it.
//!
//! One paragraph a block, so that the reader sees who said what. Invariants: no text in it can end the tag around it or
//! pass for somebody else's paragraph; what is cut is cut in the middle, or from the oldest part.

use kit::{counted, harmless};
use s01_loop::{Block, Message, Role};

use crate::summary;
use crate::text::{ends, without_middle};

/// The tag that a transcript is put into.
const TAG: &str = "conversation";

/// So many characters of a text are told, at most.
const MOST: usize = 2_000;

const SPEAKERS: [&str; 4] = ["User: ", "Assistant: ", "Tool call: ", "Tool result: "];

/// The conversation as text, in paragraphs `User: …`, `Assistant: …`, `Tool call: name {input}`, `Tool result: …`. Long
/// texts are cut in the middle. What is in it cannot close a `<conversation>` around it.
pub fn transcript(messages: &[Message]) -> String {
    told(messages, MOST)
}

/// The conversation as text of at most about `most` bytes: first the long texts become shorter, then the middle goes. The
/// beginning says what the work is, or is an earlier summary; what the end says is told nowhere else.
pub(crate) fn fitting(messages: &[Message], most: usize) -> String {
    let mut text = String::new();
    for length in [MOST, MOST / 4, MOST / 16] {
        text = told(messages, length);
        if text.len() <= most {
            return text;
        }
    }
    match ends(&text, most) {
        // The space keeps a cut in front of `User: ` from starting a paragraph.
        Some((begin, missing, end)) => {
            let missing = counted(missing, "character");
            format!("{begin}\n[… {missing} left out here …]\n {end}")
        }
        None => text,
    }
}

fn told(messages: &[Message], most: usize) -> String {
    let blocks = messages.iter().flat_map(|message| {
        let role = message.role();
        message.blocks().iter().map(move |block| (role, block))
    });
    let paragraphs = blocks.filter_map(|(role, block)| paragraph(role, block, most));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn paragraph(role: Role, block: &Block, most: usize) -> Option<String> {
    let (speaker, text) = match block {
        Block::Text { text, .. } => {
            // An earlier summary is all that is left of its time; it is not cut again.
            let most = if summary::is_summary(block) { usize::MAX } else { most };
            let speaker = match role {
                Role::User => "User",
                Role::Assistant => "Assistant",
            };
            (speaker, without_middle(text, most))
        }
        Block::ToolUse(call) => {
            let input = without_middle(&call.input.to_string(), most);
            ("Tool call", format!("{} {input}", call.name))
        }
        Block::ToolResult { content, .. } => ("Tool result", without_middle(content, most)),
        // Thinking and pictures are not told.
        Block::Other(_) => return None,
    };
    // A text that ends in empty lines would hide where the next paragraph begins.
    let text = of_one_voice(&harmless(TAG, text.trim_end()));
    Some(format!("{speaker}: {text}"))
}

/// The text without a line that begins like a paragraph of its own.
fn of_one_voice(text: &str) -> String {
    let speaks = |line: &str| SPEAKERS.iter().any(|speaker| line.starts_with(speaker));
    if !text.lines().skip(1).any(speaks) {
        return text.to_owned();
    }
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for line in lines[1..].iter_mut().filter(|line| speaks(line)) {
        line.insert(0, ' ');
    }
    lines.join("\n")
}
