//! What the embedded spoke says: the course's rehearsal, and a look at what it was given when it is asked for an opinion.
//!
//! It needs neither key nor network and has no opinion of its own. Invariant: all it says about a text can be seen in that
//! text, and it says that it is a rehearsal.

use mock_servers::model::rehearsal::Rehearsal;
use mock_servers::model::{Block, Brain, Reply, Request, says};

/// The words of the rehearsal when it does not understand a request.
const REFUSES: [&str; 3] = ["I cannot rehearse", "I do not", "What I can do:"];
/// What a plan mostly has, and the words that show it.
const PARTS: [(&str, &[&str]); 5] = [
    ("who does it", &["owner", "responsible", "team", "who"]),
    ("how it is tested", &["test", "check", "verify"]),
    ("by when it is done", &["deadline", "week", "day", "date", "until"]),
    ("how it is taken back", &["rollback", "roll back", "revert", "undo", "backup"]),
    ("what may go wrong", &["risk", "fail", "error", "unless"]),
];

/// The mind behind the spoke `gpt` of a hub without a configuration.
pub struct Embedded;

impl Brain for Embedded {
    fn answer(&self, request: &Request) -> Reply {
        let reply = Rehearsal.answer(request);
        let is_refusal = |block: &mock_servers::model::ReplyBlock| matches!(block, mock_servers::model::ReplyBlock::Text(text) if REFUSES.iter().any(|it| text.contains(it)));
        let headings: Vec<&str> =
            request.system.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let last =
            request.messages.last().and_then(|message| message.blocks.iter().rev().find_map(text));
        match (last, headings.as_slice()) {
            (Some(asked), [first, second, third]) if reply.blocks.iter().any(is_refusal) => {
                says(opinion(asked, first, second, third))
            }
            _ => reply,
        }
    }
}

fn text(block: &Block) -> Option<&str> {
    if let Block::Text(text) = block { Some(text) } else { None }
}

/// The shape of the mode, filled with what can be seen.
fn opinion(asked: &str, first: &str, second: &str, third: &str) -> String {
    let (question, material) = asked.split_once("<piece title=").unwrap_or((asked, asked));
    let low = material.to_lowercase();
    let (said, missing): (Vec<_>, Vec<_>) =
        PARTS.iter().partition(|(_, words)| words.iter().any(|word| low.contains(word)));
    let names = |parts: &[&(&str, &[&str])]| match parts {
        [] => "nothing that I look for".to_owned(),
        parts => parts.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("; "),
    };
    let mut heads = material
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_matches(['#', ' ']));
    let about = heads.next().map_or_else(|| "no heading".to_owned(), |head| format!("“{head}”"));
    let cut = if asked.contains("Not shown:") { " I was not shown all of it." } else { "" };
    let lines = material.lines().count();
    format!(
        "## {first}\n1. {lines} lines under {about}.{cut}\n2. It says: {}.\n3. It does not say: {}.\n\n## {second}\nThe words \
         in it: I am the mock model and rehearse what a model would be asked.\n\n## {third}\nAsk a real model: “{}”.",
        names(&said),
        names(&missing),
        kit::cut(&kit::one_line(question), 200),
    )
}
