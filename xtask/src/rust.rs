//! What is read from a Rust file: its functions, and which lessons it imports from.
//!
//! The `use` lines of a carried file are the chapter's table of contents: `use s03_permission::Policy` names the lesson.
//! Invariant: an import is known by the lesson and the path in it, whatever local name it is given; lines count from 0. A file
//! that is no Rust has neither functions nor imports: the compiler says what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, ImplItemFn, Item, ItemFn, ItemMod, Signature, TraitItemFn, UseTree};

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

/// The functions of a file in their order, those within others left out.
pub fn functions(text: &str) -> Vec<Function> {
    let mut found = Found::default();
    if let Ok(mut file) = syn::parse_file(text) {
        found.visit_file_mut(&mut file);
    }
    found.functions
}

/// The functions met so far, and whether the one that is met next is for tests. syn's macros have the visitor that changes
/// things; with the other one syn would be built twice.
#[derive(Default)]
struct Found {
    functions: Vec<Function>,
    of_tests: bool,
}

impl Found {
    fn add(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        let line = |span: proc_macro2::Span| span.start().line;
        let braces = &block.brace_token.span;
        let (open, close) = (line(braces.open()), line(braces.close()));
        self.functions.push(Function {
            name: signature.ident.to_string(),
            body: open..(close - 1).max(open),
            of_tests: self.of_tests || is_for_tests(attributes),
        });
    }
}

impl VisitMut for Found {
    fn visit_item_mod_mut(&mut self, module: &mut ItemMod) {
        let outside = self.of_tests;
        self.of_tests |= is_for_tests(&module.attrs);
        visit_mut::visit_item_mod_mut(self, module);
        self.of_tests = outside;
    }

    fn visit_item_fn_mut(&mut self, it: &mut ItemFn) {
        self.add(&it.attrs, &it.sig, &it.block);
    }

    fn visit_impl_item_fn_mut(&mut self, it: &mut ImplItemFn) {
        self.add(&it.attrs, &it.sig, &it.block);
    }

    fn visit_trait_item_fn_mut(&mut self, it: &mut TraitItemFn) {
        if let Some(block) = &it.default {
            self.add(&it.attrs, &it.sig, block);
        }
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    let says_test = |it: &Attribute| it.parse_args::<syn::Ident>().is_ok_and(|it| it == "test");
    attributes.iter().any(|it| it.path().is_ident("cfg") && says_test(it))
}

/// The full paths that a file's `use` lines name, local names left out.
fn uses(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for item in syn::parse_file(text).into_iter().flat_map(|file| file.items) {
        if let Item::Use(it) = item {
            flatten("", &it.tree, &mut found);
        }
    }
    found
}

/// Spells out a use tree: `a::{b, c::d as e}` is `a::b` and `a::c::d`.
fn flatten(front: &str, tree: &UseTree, found: &mut Vec<String>) {
    let path = match tree {
        UseTree::Group(group) => {
            return group.items.iter().for_each(|it| flatten(front, it, found));
        }
        UseTree::Path(it) => return flatten(&format!("{front}{}::", it.ident), &it.tree, found),
        UseTree::Name(it) => format!("{front}{}", it.ident),
        UseTree::Rename(it) => format!("{front}{}", it.ident),
        UseTree::Glob(_) => format!("{front}*"),
    };
    found.push(path.strip_suffix("::self").unwrap_or(&path).to_owned());
}

/// The lessons that a file of the chapter `own` imports from. `crate` is the chapter itself.
pub fn lessons(text: &str, own: &str) -> Imports {
    let mut imports = Imports::new();
    for path in uses(text) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_its_body_and_may_be_for_tests() {
        let text = "trait T {\n    fn declared(a: [u8; 3]);\n    fn given<'a>(T { a, .. }: &'a str) -> u8 {\n        '{';\n        \
            fn inner() {\n            2\n        }\n    }\n}\nfn none() {}\nconst F: fn() = none;\n\
            #[cfg(test)]\nmod tests {\n    fn b() {\n        \"}\";\n    }\n}\nfn c() {\n    // }\n}\n";
        let found = functions(text).into_iter();
        let found: Vec<_> = found.map(|it| (it.name, it.body, it.of_tests)).collect();
        let expected = [
            ("given", 3..7, false),
            ("none", 10..10, false),
            ("b", 14..15, true),
            ("c", 18..19, false),
        ];
        assert_eq!(found, expected.map(|(name, body, tests)| (name.to_owned(), body, tests)));
    }

    #[test]
    fn a_use_tree_is_spelled_out() {
        let text = "use anyhow::Result;\nuse s02_tools::{\n    Toolbox, // a comment\n    files::{edit_file, glob as find},\n};\n\
            pub use s01_loop::{Client, bash::{self, run}};\npub(crate) use s16_protocol;\nfn a() -> impl F + use<'a> {}\nuse crate::Own;\n";
        let expected = [
            "anyhow::Result",
            "s02_tools::Toolbox",
            "s02_tools::files::edit_file",
            "s02_tools::files::glob",
            "s01_loop::Client",
            "s01_loop::bash",
            "s01_loop::bash::run",
            "s16_protocol",
            "crate::Own",
        ];
        assert_eq!(uses(text), expected);
        let lessons = lessons(text, "s16_protocol");
        let own = ["Own", "self"].map(str::to_owned).into();
        assert_eq!((lessons.len(), &lessons["s16_protocol"]), (3, &own), "anyhow is no lesson");
    }

    #[test]
    fn a_word_is_found_as_a_whole_only() {
        assert!(has_word("tokio::spawn(x)", "spawn") && has_word("a.undone(); done(1)", "done("));
        assert!(!has_word("spawn_teammate(x)", "spawn") && !has_word("eprintln!()", "println!"));
    }
}
