//! What is read from a Rust file: its functions, and which lessons it imports from.
//!
//! The `use` lines of a carried file are the chapter's table of contents: `use s03_permission::Policy` names the lesson.
//! proc-macro2 takes the file apart as a compiler does, comments left out.
//! Invariant: an import is known by the lesson and the path in it, whatever local name it is given; lines count from 0. A file
//! that is no Rust has neither functions nor imports: the compiler says what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

use crate::workspace::chapter_number;

/// What a file imports, by lesson: `s01_loop` → {`Client`, `Repl`}.
pub type Imports = BTreeMap<String, BTreeSet<String>>;

/// A function with a body.
#[derive(Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The lines between its braces; none when they stand on one line.
    pub body: Range<usize>,
    /// Whether it stands under `#[cfg(test)]`.
    pub of_tests: bool,
}

/// One `use` declaration.
#[derive(Debug, PartialEq)]
pub struct Use {
    /// Whether it re-exports: `pub use`, `pub(crate) use`.
    pub public: bool,
    /// The full paths it names, local names left out.
    pub paths: Vec<String>,
}

/// The functions of a file in their order, also those within others.
pub fn functions(text: &str) -> Vec<Function> {
    let mut found = Vec::new();
    walk(&tokens(text), false, &mut |token, behind, of_tests| {
        let name = match behind.first() {
            Some(TokenTree::Ident(name)) if is(token, "fn") => name.to_string(),
            _ => return,
        };
        let end = behind
            .iter()
            .find(|token| is(token, ";") || braces(token).is_some());
        if let Some(group) = end.and_then(braces) {
            let (open, close) = (
                group.span_open().start().line,
                group.span_close().start().line,
            );
            let body = open..(close - 1).max(open);
            found.push(Function {
                name,
                body,
                of_tests,
            });
        }
    });
    found
}

/// All `use` declarations of a file.
pub fn uses(text: &str) -> Vec<Use> {
    let mut found = Vec::new();
    let mut public = false;
    walk(&tokens(text), false, &mut |token, behind, _| {
        let is_list = behind.first().is_some_and(|token| is(token, "<"));
        if is(token, "use") && !is_list {
            let tree = behind.split(|token| is(token, ";")).next();
            let mut paths = Vec::new();
            flatten("", tree.unwrap_or_default(), &mut paths);
            found.push(Use { public, paths });
        }
        // `pub(crate)` has a group behind it, which is walked first.
        public = is(token, "pub") || public && ["crate", "super"].iter().any(|it| is(token, it));
    });
    found
}

/// The lessons that a file of the chapter `own` imports from. `crate` is the chapter itself.
pub fn lessons(text: &str, own: &str) -> Imports {
    let mut imports = Imports::new();
    for path in uses(text).into_iter().flat_map(|found| found.paths) {
        let (krate, item) = path.split_once("::").unwrap_or((&path, "self"));
        let lesson = if krate == "crate" { own } else { krate };
        if chapter_number(lesson).is_some() {
            let items = imports.entry(lesson.to_owned()).or_default();
            items.insert(item.to_owned());
        }
    }
    imports
}

/// Whether `text` holds `word` as a whole, not as a part of a longer name. A word may end in `!` or `(`.
pub fn has_word(text: &str, word: &str) -> bool {
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].ends_with(of_name) && word.starts_with(of_name);
        let after = text[at + word.len()..].starts_with(of_name) && word.ends_with(of_name);
        !before && !after
    })
}

fn tokens(text: &str) -> Vec<TokenTree> {
    let tokens = text.parse::<TokenStream>().unwrap_or_default();
    tokens.into_iter().collect()
}

fn is(token: &TokenTree, text: &str) -> bool {
    match token {
        TokenTree::Ident(ident) => *ident == text,
        TokenTree::Punct(mark) => text.len() == 1 && text.starts_with(mark.as_char()),
        _ => false,
    }
}

fn braces(token: &TokenTree) -> Option<&Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

/// Shows `seen` every word and mark, with what stands behind it in the same braces, and whether it is for tests.
fn walk(
    tokens: &[TokenTree],
    of_tests: bool,
    seen: &mut impl FnMut(&TokenTree, &[TokenTree], bool),
) {
    let mut marked = false;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let inside: Vec<_> = group.stream().into_iter().collect();
                walk(&inside, of_tests || marked, seen);
                marked |= group.delimiter() == Delimiter::Bracket && is_cfg_test(&inside);
                marked &= group.delimiter() != Delimiter::Brace;
            }
            _ => seen(token, &tokens[index + 1..], of_tests || marked),
        }
    }
}

fn is_cfg_test(attribute: &[TokenTree]) -> bool {
    let ident = |token: &TokenTree| match token {
        TokenTree::Ident(ident) => Some(Ident::to_string(ident)),
        TokenTree::Group(group) => Some(group.stream().to_string()),
        _ => None,
    };
    attribute.iter().filter_map(ident).eq(["cfg", "test"])
}

/// Spells out a use tree: `a::{b, c::d as e}` is `a::b` and `a::c::d`.
fn flatten(prefix: &str, tree: &[TokenTree], paths: &mut Vec<String>) {
    let branches = tree.split(|token| is(token, ","));
    for branch in branches.filter(|branch| !branch.is_empty()) {
        let mut path = prefix.to_owned();
        for token in branch.iter().take_while(|token| !is(token, "as")) {
            match braces(token) {
                Some(group) => {
                    let inside: Vec<_> = group.stream().into_iter().collect();
                    flatten(&std::mem::take(&mut path), &inside, paths);
                }
                None => path += &token.to_string(),
            }
        }
        let path = path.trim_start_matches("::");
        if !path.is_empty() {
            paths.push(path.strip_suffix("::self").unwrap_or(path).to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_its_body_and_may_be_for_tests() {
        let text = "trait T {\n    fn declared(a: [u8; 3]);\n    fn given<'a>(T { a, .. }: &'a str) -> u8 {\n        '{';\n        \
            fn inner() {\n            2\n        }\n    }\n}\nfn none() {}\nconst F: fn() = none;\n\
            #[cfg(test)]\nmod tests {\n    fn b() {\n        \"}\";\n    }\n}\nfn c() {\n    // }\n}\n";
        let found = functions(text);
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.name.as_str(), it.body.clone(), it.of_tests))
            .collect();
        assert_eq!(
            found,
            [
                ("given", 3..7, false),
                ("inner", 5..6, false),
                ("none", 10..10, false),
                ("b", 14..15, true),
                ("c", 18..19, false),
            ]
        );
    }

    #[test]
    fn a_use_tree_is_spelled_out() {
        let text = "use anyhow::Result;\nuse s02_tools::{\n    Toolbox, // a comment\n    files::{edit_file, glob as find},\n};\n\
            pub use s01_loop::{Client, bash::{self, run}};\npub(crate) use s16_protocol;\nfn a() -> impl F + use<'a> {\n    \
            use crate::Own;\n    let user = 1;\n}\n";
        let declared = |public, paths: &[&str]| Use {
            public,
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        };
        let tools = [
            "s02_tools::Toolbox",
            "s02_tools::files::edit_file",
            "s02_tools::files::glob",
        ];
        assert_eq!(
            uses(text),
            [
                declared(false, &["anyhow::Result"]),
                declared(false, &tools),
                declared(
                    true,
                    &["s01_loop::Client", "s01_loop::bash", "s01_loop::bash::run"]
                ),
                declared(true, &["s16_protocol"]),
                declared(false, &["crate::Own"]),
            ]
        );
        let lessons = lessons(text, "s16_protocol");
        assert_eq!(
            lessons["s16_protocol"],
            ["Own", "self"].map(str::to_owned).into()
        );
        assert_eq!(lessons.len(), 3, "anyhow is no lesson");
    }

    #[test]
    fn a_word_is_found_as_a_whole_only() {
        for (text, word) in [
            ("tokio::spawn(x)", "spawn"),
            ("a.undone(); done(1)", "done("),
        ] {
            assert!(has_word(text, word), "{text}");
        }
        for (text, word) in [("spawn_teammate(x)", "spawn"), ("eprintln!()", "println!")] {
            assert!(!has_word(text, word), "{text}");
        }
    }
}
