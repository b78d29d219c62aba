//! Files that are to be made: where, and what goes into them.
//!
//! Content is the user's, a result of this request, or one of a few samples that the user named (a table, a function).
//! Invariants: a word of the request that is neither place nor content is handed back, and content is never made up.

use crate::clause::{Clause, is_filler};
use crate::slots::{ending, file};
use crate::words::{Shape, Token, has};

/// What goes into a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The user's text.
    Given(String),
    /// A sample that the user named, by the words for it.
    Sample(Sample),
    /// What was found: the results before, or what these files say.
    Found(Vec<String>),
    /// The results before, as they are.
    Output,
    /// Nothing was said: an empty file, and only where there is none.
    Nothing,
}

/// What it can fill a new file with.
#[derive(Clone, Debug, PartialEq)]
pub enum Sample {
    /// A Python function: its signature.
    Function(String),
    /// A Python file of which nothing is known.
    Python,
    /// A table of a database.
    Table(String),
}

/// A file to make.
#[derive(Clone, Debug, PartialEq)]
pub struct New {
    /// Where; empty for a summary that nobody has named.
    pub path: String,
    /// With what.
    pub content: Content,
    /// What nobody accounts for.
    pub left: Vec<String>,
}

const VERBS: &str = "create make write generate save put store touch creating writing add";
const FILES: &str = "file script module program document note notes";
const NOUNS: &str = "file script module program document note notes files empty new called named python";
const OTHERS: &str = "folder directory worktree worktrees task tasks todo skill package copy";
const SUMMARY: &str = "summary report overview findings";
const FOUND: &str = "summary report overview findings list result results output answer it that them found";
const PRINTS: &str = "prints outputs printing print output outputting";

fn is_noun(token: &Token) -> bool {
    is_filler(token) || token.is(NOUNS)
}

/// Text between quotation marks; between two that stand side by side there is nothing.
fn given(text: &str) -> Content {
    if text.is_empty() { Content::Nothing } else { Content::Given(text.replace("\\n", "\n")) }
}

fn is_given(token: &Token) -> bool {
    matches!(token.shape, Shape::Quoted | Shape::Code)
}

/// Reads a clause that makes a file; `None` when it is none.
pub fn read(clause: &Clause) -> Option<New> {
    let tokens = &clause.tokens;
    // `in this directory` is where, and no folder to be made.
    let is_here = |at: usize| tokens[at].is("folder directory") && tokens[at - 1].is("current this the working same");
    let makes_other = (1..tokens.len()).any(|at| tokens[at].is(OTHERS) && !(is_here(at) && clause.says("in")));
    if !tokens.first()?.is(VERBS) || makes_other {
        return None;
    }
    let marker = marker(clause);
    if let (Some(into), None) = (place(tokens), marker) {
        let before = tokens[1..into].iter().filter(|token| !is_noun(token) || token.is("it that them"));
        let before: Vec<&Token> = before.collect();
        if !before.is_empty() {
            return before_place(clause, into, &before);
        }
    }
    let head = &tokens[..marker.map_or(tokens.len(), |(at, _)| at)];
    let says = |words: &str| head.iter().any(|token| token.is(words));
    let (is_file, is_summary) = (says(FILES), says("summary"));
    let kind = head.iter().find_map(|token| ending(&token.low));
    let is_path = |token: &&Token| token.shape == Shape::Path && !matches!(token.text.as_str(), "." | "./" | "..");
    let quoted = head[1..].iter().find(|token| is_given(token)).filter(|_| is_file);
    let called = head.iter().position(|token| token.is("named called")).and_then(|at| head.get(at + 1));
    let named = head[1..].iter().rfind(is_path).or(called.filter(|next| next.shape == Shape::Word)).or(quoted);
    let path = match named {
        Some(name) => file(&name.text),
        None if is_summary => String::new(),
        None if is_file => format!("new_file.{}", kind.unwrap_or("txt")),
        None => return None,
    };
    let is_program = path.ends_with(".py") && says("script program module");
    let (content, mut left) = match marker {
        Some((at, skip)) => content(clause, at, skip, &path),
        None if kind == Some("py") || is_program => (Content::Sample(Sample::Python), Vec::new()),
        None if is_summary => (Content::Found(Vec::new()), Vec::new()),
        None => (Content::Nothing, Vec::new()),
    };
    let is_known = |token: &Token| {
        is_noun(token)
            || named.is_some_and(|name| name.start == token.start)
            || token.is("summary text current directory workspace")
            || token.text == "."
            || ending(&token.low).is_some()
    };
    left.extend(head[1..].iter().filter(|token| !is_known(token)).map(|token| token.text.clone()));
    let is_unnamed = path.is_empty() && !matches!(content, Content::Found(_));
    Some(New { path: if is_unnamed { "summary.md".to_owned() } else { path }, content, left })
}

/// `Write hello into FILE`, `save the results to FILE`: where the place begins, behind the content.
fn place(tokens: &[Token]) -> Option<usize> {
    (1..tokens.len()).rev().find(|at| {
        let behind = &tokens[at + 1..];
        tokens[*at].is("into to in as under")
            && behind.iter().any(|token| token.shape == Shape::Path)
            && behind.iter().all(|token| token.shape == Shape::Path || is_noun(token))
    })
}

/// `Write X into FILE`.
fn before_place(clause: &Clause, into: usize, before: &[&Token]) -> Option<New> {
    let tokens = &clause.tokens;
    let mut places = tokens[into + 1..].iter().filter(|token| token.shape == Shape::Path);
    let path = file(&places.next()?.text);
    let new = |content: Content, left: Vec<String>| Some(New { path: path.clone(), content, left });
    if let Some(second) = places.next() {
        return new(Content::Nothing, vec![second.text.clone()]);
    }
    let (quoted, others): (Vec<&Token>, Vec<&Token>) = before.iter().partition(|token| is_given(token));
    if let [one] = quoted.as_slice()
        && others.iter().all(|token| token.is("text line word words content string down"))
    {
        return new(given(&one.text), Vec::new());
    }
    let sources = before.iter().filter(|token| token.shape == Shape::Path).map(|token| file(&token.text));
    let sources: Vec<String> = sources.collect();
    if before.iter().any(|token| token.is(FOUND)) {
        let is_told = |token: &Token| is_filler(token) || token.is(FOUND) || token.is("short down what search");
        let left = before.iter().filter(|token| !is_told(token) && token.shape != Shape::Path);
        let is_summary = !sources.is_empty() || before.iter().any(|token| token.is(SUMMARY));
        let content = if is_summary { Content::Found(sources) } else { Content::Output };
        return new(content, left.map(|token| token.text.clone()).collect());
    }
    if tokens[0].is("make create add") {
        return None;
    }
    let words = clause.between(1, into);
    // `something` is no content; the user has not said what.
    if matches!(words, "something" | "anything" | "some text") {
        return new(Content::Nothing, Vec::new());
    }
    let heads = ["the text ", "the words ", "the line "];
    let given = heads.iter().find_map(|head| words.strip_prefix(head));
    // A sentence about other things is no content either, nor is what only describes one.
    let is_talk = !sources.is_empty()
        || before.iter().any(|token| token.is("what down how why"))
        || tokens[1].is("a an some the") && given.is_none()
        || joined(words).is_some();
    if is_talk {
        return new(Content::Nothing, vec![words.to_owned()]);
    }
    new(Content::Given(given.unwrap_or(words).to_owned()), Vec::new())
}

/// The word behind which the content stands, and how many tokens it takes.
fn marker(clause: &Clause) -> Option<(usize, usize)> {
    const HOLDS: &str = "prints says contains outputs has holds reads print output say";
    let tokens = &clause.tokens;
    (1..tokens.len()).find_map(|at| {
        let is = |ahead: usize, words: &str| tokens.get(at + ahead).is_some_and(|token| token.is(words));
        if tokens[at].is("with") {
            let article = usize::from(is(1, "the a this its"));
            let is_word = is(1 + article, "content contents text line words word");
            Some((at, if is_word { 2 + article } else { 1 }))
        } else if tokens[at].is("that which") && (is(1, HOLDS) || is(1, "greets")) {
            Some((at, if is(1, "greets") { 1 } else { 2 }))
        } else {
            let is_mark = tokens[at].is("containing saying printing reading outputting :") && at + 1 < tokens.len();
            is_mark.then_some((at, 1))
        }
    })
}

/// What stands behind the marker, and what of it is no content.
fn content(clause: &Clause, at: usize, skip: usize, path: &str) -> (Content, Vec<String>) {
    let tokens = &clause.tokens;
    let from = (at + skip).min(tokens.len());
    let end = tokens.iter().rposition(|token| token.shape != Shape::Mark).map_or(from, |last| last + 1).max(from);
    let rest = &tokens[from..end];
    let given = if let [one] = rest { Some(&one.text).filter(|_| is_given(one)) } else { None };
    let text = clause.between(from, end);
    let nothing = |left: &str| (Content::Nothing, vec![left.to_owned()]);
    if tokens[at..from].iter().any(|token| token.is(PRINTS)) {
        let text = given.map_or(text, String::as_str);
        let escaped = || format!("print(\"{}\")", text.replace('\\', "\\\\").replace('"', "\\\""));
        return (Content::Given(if path.ends_with(".py") { escaped() } else { text.to_owned() }), Vec::new());
    }
    if let Some(text) = given {
        return (self::given(text), Vec::new());
    }
    if let Some(sample) = sample(rest) {
        const KNOWN: &str = "function functions table greets greet somebody someone a an the that for in it of";
        let is_told = |token: &Token| {
            is_filler(token)
                || has(KNOWN, &token.low)
                || token.shape == Shape::Signature
                || matches!(&sample, Sample::Table(name) if token.low == *name)
        };
        let left = rest.iter().filter(|token| !is_told(token)).map(|token| token.text.clone()).collect();
        return (Content::Sample(sample), left);
    }
    // `with a bug in it` describes a content and is none; `with the content of a.txt` names material that is not known here.
    let is_plain = tokens[at].is("containing saying :") || skip >= 2;
    let is_material =
        rest.iter().any(|token| token.shape == Shape::Path) || rest.first().is_some_and(|first| first.is("of from"));
    match joined(text).filter(|_| is_plain) {
        Some(more) => nothing(more),
        None if is_material => nothing(text),
        None if is_plain && !text.is_empty() => (Content::Given(text.to_owned()), Vec::new()),
        None => nothing(clause.between(at, end)),
    }
}

/// The sample that these words name.
fn sample(words: &[Token]) -> Option<Sample> {
    let says = |some: &str| words.iter().any(|token| token.is(some));
    if let Some(signature) = words.iter().find(|token| token.shape == Shape::Signature) {
        return Some(Sample::Function(signature.text.clone()));
    }
    if let Some(at) = words.iter().position(|token| token.is("table")) {
        let name = &words[at.checked_sub(1)?];
        return (name.shape == Shape::Word && !is_filler(name)).then(|| Sample::Table(name.low.clone()));
    }
    (says("greets greet") || says("function") && words.len() < 3).then_some(Sample::Python)
}

/// What stands behind an `and` in a content without quotation marks: it may be content or a second request.
fn joined(text: &str) -> Option<&str> {
    let at = [" and ", ", ", " then ", " but "].iter().filter_map(|joint| text.find(joint)).min()?;
    Some(text[at..].trim_start_matches([',', ' ']))
}
