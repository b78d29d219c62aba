//! Files that are to be made: where, and what goes into them.
//!
//! Content is the user's, a result of this request, or one of a few samples that the user named (a table, a function).
//! Invariants: a word of the request that is neither place nor content is handed back, and content is never made up.

use crate::clause::Clause;
use crate::pattern::{self, says};
use crate::slots::{ending, file};
use crate::words::{Shape, Token, set};

/// What goes into a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The user's text.
    Given(String),
    /// A sample that the user named.
    Sample(String),
    /// What was found: the results before, or what these files say.
    Found(Vec<String>),
    /// The results before, as they are.
    Output,
    /// Nothing was said: an empty file, and only where there is none.
    Nothing,
}

/// A file to make.
#[derive(Clone, Debug, PartialEq)]
pub struct New {
    /// Where; empty for a summary that nobody has named.
    pub path: String,
    pub content: Content,
    /// What nobody accounts for.
    pub left: Option<String>,
}

/// Reads a clause that makes a file; `None` when it is none.
pub fn read(clause: &Clause) -> Option<New> {
    let makes_folder =
        says(&clause.tokens, "directory") && !says(&clause.tokens, "current this working same");
    if says(&clause.tokens, set("no-files")) || makes_folder {
        return None;
    }
    let kind = |kind: &str, tokens: &[Token], at: usize| {
        let is_path = |token: &Token| {
            token.shape == Shape::Path && !matches!(token.text.as_str(), "." | "./" | "..")
        };
        let before = &tokens[at.saturating_sub(1)..at];
        let is_named = says(before, "called named") && tokens[at].shape == Shape::Word;
        let is_quoted = tokens[at].is_quoted() && says(before, "called named file");
        match kind {
            "file" => (is_path(&tokens[at]) || is_named || is_quoted).then_some(at + 1),
            "paths" => {
                let are_paths = |token: &&Token| is_path(token) || token.is(", and");
                let count = tokens[at..].iter().take_while(are_paths).count();
                (count > 0 && is_path(&tokens[at])).then_some(at + count)
            }
            _ => None,
        }
    };
    let found = pattern::find("create", clause, &kind)?;
    let end = clause.find("with that which containing").unwrap_or(found.end);
    let head = &clause.tokens[..end];
    let text = found.text("text").trim_end_matches([',', ' ']);
    let path = found.first("path").map(|token| file(&token.text));
    let sources = found.tokens("from").iter().filter(|token| token.shape == Shape::Path);
    let sources: Vec<String> = sources.map(|token| file(&token.text)).collect();
    let is_py = path.as_ref().is_some_and(|path| path.ends_with(".py"));
    let is_python = says(head, "python") && !says(head, "package")
        || is_py && says(head, "script program module");
    let given = |text: &str| {
        if text.is_empty() { Content::Nothing } else { Content::Given(text.replace("\\n", "\n")) }
    };
    let mut left = None;
    let content = match found.label {
        "print" if is_py => {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            Content::Given(format!("print(\"{text}\")"))
        }
        "print" | "given" => given(text),
        "table" => sample("table-file", &[("{name}", &found.text("name").to_lowercase())]),
        "function" => function(found.text("signature")),
        "python" => sample("greet-file", &[]),
        "found" | "summary" => Content::Found(sources),
        "output" => Content::Output,
        "nothing" if is_python => sample("greet-file", &[]),
        "nothing" => Content::Nothing,
        "put" if matches!(text, "something" | "anything" | "some text") => Content::Nothing,
        label => {
            let heads = ["the text ", "the words ", "the line "];
            let given = heads.iter().find_map(|head| text.strip_prefix(head));
            let tokens = found.tokens("text");
            let is_talk = label == "put" && given.is_none() && says(&tokens[..1], "a an some the")
                || label == "put" && says(tokens, "what down how why")
                || given.is_none() && says(&tokens[..1], "the") && says(tokens, "of")
                || tokens.iter().any(|token| token.shape == Shape::Path)
                || says(&tokens[..1], "of from");
            let all = Some(text).filter(|_| is_talk || label == "bad");
            left = joined(text).or(all).map(str::to_owned);
            Content::Given(given.unwrap_or(text).to_owned())
        }
    };
    let kind = head.iter().find_map(|token| ending(&token.low)).unwrap_or("txt");
    let unnamed = if found.label == "summary" { String::new() } else { format!("new_file.{kind}") };
    Some(New {
        path: path.unwrap_or(unnamed),
        content,
        left,
    })
}

/// What stands behind an `and` in a content without quotation marks: it may be content or a second request.
fn joined(text: &str) -> Option<&str> {
    let at =
        [" and ", ", ", " then ", " but "].iter().filter_map(|joint| text.find(joint)).min()?;
    Some(text[at..].trim_start_matches([',', ' ']))
}

/// A sample of `patterns.txt` with its places filled in.
fn sample(name: &str, places: &[(&str, &str)]) -> Content {
    let text = set(name).replace("\\n", "\n");
    Content::Sample(places.iter().fold(text, |text, (place, value)| text.replace(place, value)))
}

/// A function of this signature. Only a slug has a body that can be known.
fn function(signature: &str) -> Content {
    let mut parts = signature.split(['(', ':', ',', ')']).map(str::trim);
    let (name, argument) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let kind = if name.contains("slug") { "slug-file" } else { "function-file" };
    sample(kind, &[("{signature}", signature), ("{name}", name), ("{argument}", argument)])
}
