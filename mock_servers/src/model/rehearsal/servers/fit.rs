//! Which tool of a server a few words ask for.
//!
//! A model reads what tools are called and what they are for; so does this: words of the name count most, words that mean
//! the same less, words of the description least. Invariant: without a word in common no tool fits.

use crate::model::Tool;
use crate::model::rehearsal::tokens::{Token, tokenize};
use crate::model::rehearsal::{pattern, words};

use super::names::short;

/// A tool fits from here on.
const FITS: i32 = 2;

/// What a tool counts that is called by its name.
const CALLED: i32 = 100;

/// Words of names, and what people say for them.
const MEANS: &[(&str, &[&str])] = &[
    (
        "search",
        &[
            "find",
            "look",
            "query",
            "lookup",
            "grep",
            "ask",
            "consult",
            "say",
            "about",
            "mention",
            "browse",
            "anything",
            "something",
            "explain",
        ],
    ),
    ("find", &["search", "look", "query"]),
    ("version", &["release", "current"]),
    (
        "trigger",
        &[
            "deploy",
            "redeploy",
            "deployment",
            "start",
            "launch",
            "kick",
            "ship",
            "release",
            "roll",
            "rollout",
            "push",
            "begin",
            "initiate",
            "another",
        ],
    ),
    (
        "status",
        &[
            "state",
            "how",
            "live",
            "going",
            "far",
            "ready",
            "finished",
            "done",
            "progress",
            "healthy",
            "up",
            "doing",
            "succeeded",
            "through",
            "stand",
        ],
    ),
    ("log", &["output", "printed"]),
    (
        "get",
        &[
            "show", "read", "fetch", "open", "give", "display", "view", "tell", "what", "which",
            "describe", "look", "detail",
        ],
    ),
    ("read", &["show", "get", "open", "display", "view", "what"]),
    (
        "create",
        &[
            "add", "file", "make", "open", "new", "write", "report", "raise", "put", "log", "store",
        ],
    ),
    (
        "add",
        &["create", "append", "put", "store", "note", "sum", "plus"],
    ),
    ("sum", &["add", "plus", "total"]),
    (
        "transition",
        &[
            "move", "close", "mark", "set", "reopen", "resolve", "start", "finish", "put", "change",
        ],
    ),
    ("list", &["show", "what", "which", "all", "display"]),
    ("delete", &["remove", "drop", "forget", "erase"]),
    ("update", &["change", "edit", "set"]),
    ("issue", &["ticket", "bug", "story"]),
    ("page", &["note", "article", "document"]),
    ("echo", &["say", "repeat"]),
    ("entity", &["person", "node", "thing"]),
    ("relation", &["relate", "relationship", "link", "edge"]),
    ("observation", &["fact", "observe"]),
    ("directory", &["folder"]),
    ("graph", &["everything", "all", "knowledge"]),
];

/// Verbs and question words with which one asks a server for something.
const ACTS: &[&str] = &[
    "search",
    "look",
    "find",
    "query",
    "ask",
    "consult",
    "browse",
    "trigger",
    "start",
    "deploy",
    "redeploy",
    "launch",
    "kick",
    "ship",
    "release",
    "roll",
    "show",
    "tell",
    "get",
    "fetch",
    "list",
    "check",
    "see",
    "read",
    "print",
    "what",
    "which",
    "how",
    "where",
    "is",
    "are",
    "does",
    "call",
    "use",
    "invoke",
    "run",
    "try",
    "create",
    "add",
    "make",
    "open",
    "write",
    "file",
    "raise",
    "report",
    "move",
    "close",
    "resolve",
    "transition",
    "reopen",
    "mark",
    "set",
    "delete",
    "remove",
    "update",
    "change",
    "echo",
    "say",
    "store",
    "note",
    "tail",
    "give",
    "explain",
    "watch",
    "follow",
    "relate",
    "push",
    "go",
    "have",
    "put",
    "let",
    "describe",
    "compute",
    "calculate",
];

/// Whether a word begins something that is asked of a server.
pub fn is_act(token: &Token) -> bool {
    token.is_any(ACTS)
}

/// The tool that fits these words best; `None` when none does.
pub fn best<'t>(wish: &str, tools: &[&'t Tool]) -> Option<&'t Tool> {
    let scored = tools.iter().map(|tool| (score(wish, tool), *tool));
    let best = scored.rev().max_by_key(|(score, _)| *score);
    best.filter(|(score, _)| *score >= FITS)
        .map(|(_, tool)| tool)
}

/// How well a tool fits these words.
pub fn score(wish: &str, tool: &Tool) -> i32 {
    let tokens = tokenize(wish);
    if is_called(&tokens, short(&tool.name)) {
        return CALLED;
    }
    let plain = tokens.iter().filter(|token| !token.quoted);
    let said: Vec<String> = plain.map(|token| stem(token.text)).collect();
    let words = name_words(short(&tool.name));
    let named: i32 = words.iter().map(|word| heard(word, &said)).sum();
    named + described(&said, tool) + hinted(&tokens, &words, tool)
}

/// Whether a tool is called by its name: `use the echo tool`, `get-sum`.
fn is_called(tokens: &[Token], name: &str) -> bool {
    let is_tool = |at: usize| tokens.get(at).is_some_and(|token| token.is("tool"));
    let mut named = (0..tokens.len()).filter(|at| tokens[*at].text.eq_ignore_ascii_case(name));
    let is_plain = !name.contains(['_', '-']);
    named.any(|at| !is_plain || is_tool(at + 1) || at > 0 && is_tool(at - 1))
}

/// What a word of a tool's name counts: much when it was said, little against the tool when not.
fn heard(word: &str, said: &[String]) -> i32 {
    let means = MEANS.iter().find(|(known, _)| *known == word);
    let means = means.map_or(&[][..], |(_, words)| words);
    if said.iter().any(|said| said == word) {
        4
    } else if said.iter().any(|said| means.contains(&said.as_str())) {
        3
    } else {
        -1
    }
}

/// How many of the words stand in the tool's description; more than two count no more.
fn described(said: &[String], tool: &Tool) -> i32 {
    let words = tokenize(&tool.description);
    let carries = |token: &&Token| token.text.len() > 3 && !token.is_any(words::FILLERS);
    let words: Vec<String> = words
        .iter()
        .filter(carries)
        .map(|token| stem(token.text))
        .collect();
    let known = said
        .iter()
        .filter(|said| said.len() > 3 && words.contains(said));
    known.count().min(2) as i32
}

/// What else speaks for a tool: something new for one that makes, a key for one that takes it.
fn hinted(tokens: &[Token], words: &[String], tool: &Tool) -> i32 {
    let makes = words.iter().any(|word| word == "create" || word == "add");
    let new = ["a", "an", "new", "called", "named", "titled"];
    let is_new = tokens.iter().any(|token| token.is_any(&new));
    let takes_key = tool.input_schema.pointer("/properties/key").is_some();
    let has_key = tokens.iter().any(|token| pattern::is_key(token.text));
    i32::from(makes && is_new) + 3 * i32::from(takes_key && has_key)
}

/// The words of a tool's name: `searchIssues`, `search_issues` and `search-issues` have the same.
pub fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if c.is_alphanumeric() {
            words
                .last_mut()
                .expect("there is one")
                .extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words.iter().map(|word| stem(word)).collect()
}

/// A word without the end of its plural, in lower case.
pub fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 2) {
        return format!("{stem}y");
    }
    let plural = word
        .strip_suffix('s')
        .filter(|stem| stem.len() > 2 && !stem.ends_with(['s', 'u']));
    plural.unwrap_or(&word).to_owned()
}
