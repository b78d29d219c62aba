//! Texts of a harness, told by their shape: tags, notes in brackets, and conversations that are told in paragraphs.
//!
//! Invariant: no literal of one harness; what is found is a part of the text.

/// How a request begins in a summary of this brain's own. Its paragraphs are items: they are none of a conversation around it.
pub const ASKED: &str = "- Asked";

/// Who says a paragraph of a conversation that is told.
#[derive(Clone, Copy, PartialEq)]
pub enum Who {
    User,
    Model,
    Call,
    Result,
}

/// The paragraphs of a conversation that is told: who, and what. It begins with the user; a paragraph without a speaker goes
/// on with the one before.
pub fn paragraphs(told: &str) -> Vec<(Who, &str)> {
    let mark = if told.starts_with(ASKED) { "- " } else { "" };
    let user = told.split_once(": ").map_or("", |(head, _)| &head[mark.len()..]);
    let who = |head: &str| match head.split_once(' ') {
        Some((_, "call")) => Some(Who::Call),
        Some((_, "result")) => Some(Who::Result),
        None if head == user && head.chars().all(char::is_alphabetic) => Some(Who::User),
        None if matches!(head, "Assistant" | "Model" | "Agent" | "AI") => Some(Who::Model),
        _ => None,
    };
    let mut found: Vec<(Who, usize, usize)> = Vec::new();
    let mut at = 0;
    for paragraph in told.split("\n\n") {
        let end = at + paragraph.len();
        let head = paragraph
            .split_once(": ")
            .and_then(|(head, _)| Some((who(head.strip_prefix(mark)?)?, head.len() + 2)));
        match (head, found.last_mut()) {
            (Some((who, head)), _) => found.push((who, at + head, end)),
            (None, Some(last)) => last.2 = end,
            (None, None) => {}
        }
        at = end + 2;
    }
    found.into_iter().map(|(who, from, to)| (who, &told[from..to])).collect()
}

pub struct Tagged<'a> {
    pub name: &'a str,
    head: &'a str,
    pub inner: &'a str,
    /// The length of all of it.
    pub len: usize,
}

impl<'a> Tagged<'a> {
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        let (_, rest) = self.head.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()
    }
}

/// The tag that a text begins with, if it is closed.
pub fn tag(text: &str) -> Option<Tagged<'_>> {
    let rest = text.strip_prefix('<')?;
    let (head, body) = rest.split_once('>')?;
    let name = head.split(' ').next().filter(|name| is_name(name))?;
    let close = format!("</{name}>");
    let end = body.find(&close)?;
    let len = text.len() - body.len() + end + close.len();
    Some(Tagged {
        name,
        head,
        inner: body[..end].trim_matches('\n'),
        len,
    })
}

/// The next closed tag that begins a line, with its place.
pub fn next_tag(text: &str) -> Option<(usize, Tagged<'_>)> {
    let lines = text.match_indices("\n<").map(|(at, _)| at + 1);
    let places = text.starts_with('<').then_some(0).into_iter().chain(lines);
    places.into_iter().find_map(|at| Some((at, tag(&text[at..])?)))
}

/// The closed tags that begin a line, one behind the other, each with its place.
pub fn tagged(text: &str) -> impl Iterator<Item = (usize, Tagged<'_>)> {
    let mut behind = 0;
    std::iter::from_fn(move || {
        let (at, tagged) = next_tag(&text[behind..])?;
        behind += at + tagged.len;
        Some((behind - tagged.len, tagged))
    })
}

/// Whether a text is a note of the harness, a sentence in brackets: the turn above was interrupted.
pub fn is_note(text: &str) -> bool {
    text.strip_prefix('[').is_some_and(|rest| rest.starts_with(char::is_uppercase))
        && text.find(']') == Some(text.len() - 1)
        && text.contains(' ')
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'_'))
}

/// The id and the subject of a task that a text speaks of: `… task 0001-ab12: write it.`
pub fn task_of(text: &str) -> Option<(String, String)> {
    let line = text.lines().find(|line| line.contains("task "))?;
    let (_, rest) = line.split_once("task ")?;
    let (id, subject) = rest.split_once(": ")?;
    let is_id = id.contains('-') && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    // What follows says by which tool to complete it.
    let told = subject.split_once(". ").filter(|(_, rest)| rest.contains('_'));
    let subject = told.map_or(subject, |(subject, _)| subject);
    is_id.then(|| (id.to_owned(), subject.trim_end_matches('.').to_owned()))
}
