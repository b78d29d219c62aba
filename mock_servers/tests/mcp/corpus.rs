//! What the server docs searches, and how well.
//!
//! A class searches for what it has just read about. Invariant: every chapter that has a README can be found.

use std::path::Path;

use serde_json::json;

use crate::talk::{start, text};

#[test]
fn every_readme_of_a_chapter_is_in_the_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let corpus = include_str!("../../src/mcp/docs/corpus.rs");
    for entry in root.read_dir().expect("the workspace can be read") {
        let entry = entry.expect("the workspace can be read");
        let name = entry.file_name().into_string().expect("folders have plain names");
        let chapter = name.starts_with('s') && name[1..].starts_with(|c: char| c.is_ascii_digit());
        if chapter && entry.path().join("README.md").is_file() {
            let line = format!("\"{name}/README.md\"\n");
            assert!(corpus.contains(&line), "add {line} to CORPUS in corpus.rs");
        }
    }
}

#[test]
fn a_search_finds_the_chapter_that_teaches_it() {
    let mut talk = start(&["docs", "--stdio"]);
    talk.shake_hands();
    let searches = [
        ("agent loop", "s01_loop/README.md"),
        ("permission rules", "s03_permission/README.md"),
        ("hooks", "s04_hooks/README.md"),
        ("subagent", "s06_subagent/README.md"),
        ("skill catalogue", "s07_skills/README.md"),
        ("prompt cache", "s10_cache/README.md"),
        ("retry after 429", "s11_recovery/README.md"),
        ("cron expression", "s14_cron/README.md"),
        ("git worktree", "s17_worktree/README.md"),
    ];
    for (query, path) in searches {
        let answer = talk.call("search", json!({"query": query}));
        let results: Vec<&str> = text(&answer).split("\n\n").collect();
        let (best, _) = results[0].split_once('\n').expect("a title and an excerpt");
        assert!(best.ends_with(&format!("({path})")), "{query}: {results:#?}");
        assert!(results.len() <= 5 && results.iter().all(|result| result.len() < 500));
    }
    let answer = talk.call("search", json!({"query": "permission rules"}));
    for rule in ["bash(cargo test:*)", "read_file(secrets/**)"] {
        assert!(text(&answer).contains(rule), "{answer}");
    }
    assert!(!text(&answer).contains("Predict"), "answers are for those who have guessed: {answer}");
    let answer = talk.call("search", json!({"query": "xylophone"}));
    assert_eq!(text(&answer), "Nothing found for 'xylophone'.");
    assert_eq!(answer["result"]["isError"], false);
}
