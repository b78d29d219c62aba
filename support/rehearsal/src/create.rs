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
const NOUNS: &str = "file script module program document note notes files empty new called named python";
const FOUND: &str = "summary list result results output findings answer report overview it that them found";

/// Reads a clause that makes a file; `None` when it is none.
pub fn read(clause: &Clause) -> Option<New> {
    let tokens = &clause.tokens;
    tokens.first().filter(|first| first.is(VERBS))?;
    if tokens.iter().any(|token| {
        token.is("folder directory worktree worktrees task tasks todo skill package copy") && !is_place(clause, token)
    }) {
        return None;
    }
    let marker = marker(clause);
    let head = marker.map_or(tokens.len(), |(at, _)| at);
    if let (Some(into), None) = (place(tokens), marker) {
        let before: Vec<&Token> =
            tokens[1..into].iter().filter(|token| !is_noun(token) || token.is("it that them")).collect();
        if !before.is_empty() {
            return before_place(clause, into, &before);
        }
    }
    let kind = tokens[..head].iter().find_map(|token| ending(&token.low));
    let paths: Vec<usize> =
        (1..head).filter(|at| tokens[*at].shape == Shape::Path && !is_bare_folder(&tokens[*at])).collect();
    let quoted = (1..head).find(|at| matches!(tokens[*at].shape, Shape::Quoted | Shape::Code));
    let is_file = tokens[..head].iter().any(|token| token.is("file script module program document note notes"));
    let is_summary = tokens[..head].iter().any(|token| token.is("summary"));
    let path = match (paths.last(), quoted) {
        (Some(at), _) => file(&tokens[*at].text),
        (None, Some(at)) if is_file => tokens[at].text.clone(),
        (None, _) if is_summary => String::new(),
        (None, _) if is_file => format!("new_file.{}", kind.unwrap_or("txt")),
        (None, _) => return None,
    };
    let is_text = |token: &Token| token.is("named called");
    let own_name = tokens[..head]
        .iter()
        .position(is_text)
        .and_then(|at| tokens.get(at + 1))
        .filter(|next| next.shape == Shape::Word && paths.is_empty());
    let path = own_name.map_or(path, |name| name.text.clone());
    let material = if is_summary { Content::Found(Vec::new()) } else { Content::Nothing };
    let (content, mut left) = match marker {
        Some((at, skip)) => content(clause, at, skip, &path),
        None if kind == Some("py")
            || (is_python(&path) && tokens[..head].iter().any(|token| token.is("script program module"))) =>
        {
            (Content::Sample(Sample::Python), Vec::new())
        }
        None => (material, Vec::new()),
    };
    let is_known = |at: usize| {
        is_noun(&tokens[at])
            || Some(at) == quoted && is_file
            || paths.last() == Some(&at)
            || tokens[at].is("summary text current directory workspace")
            || own_name.is_some_and(|name| name.start == tokens[at].start)
            || is_bare_folder(&tokens[at]) && tokens[at].text == "."
            || ending(&tokens[at].low).is_some()
    };
    left.extend((1..head).filter(|at| !is_known(*at)).map(|at| tokens[at].text.clone()));
    let is_unnamed = path.is_empty() && !matches!(content, Content::Found(_));
    let path = if is_unnamed { "summary.md".to_owned() } else { path };
    Some(New { path, content, left })
}

/// `Write hello into FILE`, `save the results to FILE`: where the place begins, behind the content.
fn place(tokens: &[Token]) -> Option<usize> {
    (1..tokens.len()).rev().find(|at| {
        tokens[*at].is("into to in as under")
            && tokens[at + 1..].iter().any(|token| token.shape == Shape::Path)
            && tokens[at + 1..].iter().all(|token| token.shape == Shape::Path || is_noun(token))
    })
}

/// `Write X into FILE`.
fn before_place(clause: &Clause, into: usize, before: &[&Token]) -> Option<New> {
    let tokens = &clause.tokens;
    let mut places = tokens[into + 1..].iter().filter(|token| token.shape == Shape::Path);
    let path = file(&places.next()?.text);
    if let Some(second) = places.next() {
        return Some(New { path, content: Content::Nothing, left: vec![second.text.clone()] });
    }
    let quoted: Vec<&&Token> =
        before.iter().filter(|token| matches!(token.shape, Shape::Quoted | Shape::Code)).collect();
    if let [one] = quoted.as_slice()
        && before.iter().all(|token| token.start == one.start || token.is("text line word words content string down"))
    {
        return Some(New { path, content: Content::Given(one.text.clone()), left: Vec::new() });
    }
    let sources: Vec<String> =
        before.iter().filter(|token| token.shape == Shape::Path).map(|token| file(&token.text)).collect();
    let is_found =
        before.iter().any(|token| token.is(FOUND)) || tokens[1..into].iter().any(|token| token.is("it them that"));
    let rest: Vec<String> = before
        .iter()
        .filter(|token| {
            !token.is(FOUND)
                && token.shape != Shape::Path
                && !is_filler(token)
                && !token.is("short down list what search output")
        })
        .map(|token| token.text.clone())
        .collect();
    if is_found {
        let is_summary = !sources.is_empty() || before.iter().any(|token| token.is("summary report overview findings"));
        let content = if is_summary { Content::Found(sources) } else { Content::Output };
        return Some(New { path, content, left: rest });
    }
    if tokens[0].is("make create add") {
        return None;
    }
    // `something` is no content; the user has not said what.
    let words = clause.between(1, into);
    let words = words
        .strip_prefix("the text ")
        .or(words.strip_prefix("the words "))
        .or(words.strip_prefix("the line "))
        .unwrap_or(words);
    let content = if matches!(words, "something" | "anything" | "some text") {
        Content::Nothing
    } else {
        Content::Given(words.to_owned())
    };
    // A sentence about other things is no content either, nor is what only describes one.
    let is_talk = !sources.is_empty()
        || before.iter().any(|token| token.is("what down how why"))
        || content != Content::Nothing
            && (tokens[1].is("a an some the") && words == clause.between(1, into) || joined(words).is_some());
    Some(New { path, content, left: if is_talk { vec![words.to_owned()] } else { Vec::new() } })
}

/// The word behind which the content stands, and how many tokens it takes.
fn marker(clause: &Clause) -> Option<(usize, usize)> {
    let tokens = &clause.tokens;
    for at in 1..tokens.len() {
        let next = |ahead: usize| tokens.get(at + ahead).map_or("", |token| token.low.as_str());
        if tokens[at].is("with") {
            let article = usize::from(matches!(next(1), "the" | "a" | "this" | "its"));
            let is_word = matches!(next(1 + article), "content" | "contents" | "text" | "line" | "words" | "word");
            return Some((at, if is_word { 2 + article } else { 1 }));
        }
        if tokens[at].is("that which")
            && matches!(
                next(1),
                "prints"
                    | "says"
                    | "contains"
                    | "outputs"
                    | "has"
                    | "holds"
                    | "reads"
                    | "greets"
                    | "print"
                    | "output"
                    | "say"
            )
        {
            return Some((at, if next(1) == "greets" { 1 } else { 2 }));
        }
        if tokens[at].is("containing saying printing reading outputting :") && at + 1 < tokens.len() {
            return Some((at, 1));
        }
    }
    None
}

fn content(clause: &Clause, at: usize, skip: usize, path: &str) -> (Content, Vec<String>) {
    let tokens = &clause.tokens;
    let from = (at + skip).min(tokens.len());
    let end = tokens.iter().rposition(|token| token.shape != Shape::Mark).map_or(from, |last| last + 1).max(from);
    let rest = &tokens[from..end];
    let prints =
        clause.tokens[at..from].iter().any(|token| token.is("prints outputs printing print output outputting"));
    let given = match rest {
        [one] if matches!(one.shape, Shape::Quoted | Shape::Code) => Some(one.text.clone()),
        _ => None,
    };
    if prints {
        let text = given.unwrap_or_else(|| clause.between(from, end).to_owned());
        let text = if is_python(path) {
            format!("print(\"{}\")", text.replace('\\', "\\\\").replace('"', "\\\""))
        } else {
            text
        };
        return (Content::Given(text), Vec::new());
    }
    if let Some(text) = given {
        return (Content::Given(text.replace("\\n", "\n")), Vec::new());
    }
    let known = "function functions table greets greet somebody someone a an the that for in it of";
    let Some(sample) = sample(rest) else {
        let plain = tokens[at].is("containing saying :") || skip >= 2;
        let text = clause.between(from, end).to_owned();
        // `with a bug in it` describes a content and is none.
        if let Some(more) = joined(&text).filter(|_| plain) {
            return (Content::Nothing, vec![more.to_owned()]);
        }
        // `with the content of a.txt` names material, and what it says is not known here.
        let is_material = rest.iter().any(|token| token.shape == Shape::Path)
            || rest.first().is_some_and(|first| first.is("of from"));
        if is_material {
            return (Content::Nothing, vec![text]);
        }
        return if plain && !text.is_empty() {
            (Content::Given(text), Vec::new())
        } else {
            (Content::Nothing, vec![clause.between(at, end).to_owned()])
        };
    };
    let is_accounted = |token: &&Token| {
        has(known, &token.low)
            || token.shape == Shape::Signature
            || is_filler(token)
            || matches!(&sample, Sample::Table(name) if token.low == *name)
    };
    let left = rest.iter().filter(|token| !is_accounted(token)).map(|token| token.text.clone()).collect();
    (Content::Sample(sample), left)
}

/// The sample that these words name.
fn sample(words: &[Token]) -> Option<Sample> {
    let is = |some: &str| words.iter().any(|token| token.is(some));
    if let Some(signature) = words.iter().find(|token| token.shape == Shape::Signature) {
        return Some(Sample::Function(signature.text.clone()));
    }
    if let Some(at) = words.iter().position(|token| token.is("table")) {
        let name = &words[at.checked_sub(1)?];
        return (name.shape == Shape::Word && !is_filler(name)).then(|| Sample::Table(name.low.clone()));
    }
    (is("function greets greet") && (is("greets greet") || words.len() < 3)).then_some(Sample::Python)
}

/// What stands behind an `and` in a content without quotation marks: it may be content or a second request.
fn joined(text: &str) -> Option<&str> {
    [" and ", ", ", " then ", " but "]
        .iter()
        .filter_map(|joint| text.find(joint))
        .min()
        .map(|at| text[at..].trim_start_matches([',', ' ']))
}

fn is_noun(token: &Token) -> bool {
    is_filler(token) || token.is(NOUNS)
}

/// Whether the word is part of `in this directory`.
fn is_place(clause: &Clause, token: &Token) -> bool {
    let at = clause.tokens.iter().position(|other| other.start == token.start).unwrap_or(0);
    token.is("directory folder")
        && at > 0
        && clause.tokens[at - 1].is("current this the working same")
        && clause.tokens[..at].iter().any(|token| token.is("in"))
}

fn is_bare_folder(token: &Token) -> bool {
    token.shape == Shape::Path && matches!(token.text.as_str(), "." | "./" | "..")
}

fn is_python(path: &str) -> bool {
    path.ends_with(".py")
}
