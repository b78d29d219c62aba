//! Rules for what a lesson tells the class to do: it is tried in a test.
//!
//! A prompt that nobody ran goes stale unseen, and so does the name of a test.

use super::lessons::{PREDICT, TRY, lessons, section};
use super::markdown::{self, Line};
use super::{Findings, Rule};
use crate::workspace::{Chapter, Workspace};

pub(super) const RULES: [Rule; 3] = [prompts, predictions, named_tests];

/// Each prompt of "Try it" is typed in a class test.
fn prompts(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in lessons(ws) {
        let class = chapter.path("tests/class");
        let files = ws.tree.iter().filter(|(path, _)| path.starts_with(&class));
        let typed: String = files.map(|(_, file)| unescaped(&file.text)).collect();
        if !typed.contains("fn the_tool_pool(") {
            let text =
                "no class test the_tool_pool; write one that ends in assert_pool, for cargo x pool";
            found.file(&path, text);
        }
        let lines = markdown::lines(text);
        let section = section(&lines, TRY);
        let prompts = section
            .iter()
            .filter_map(|line| Some((line.number, prompt(line, text)?)));
        let prompts: Vec<_> = prompts.collect();
        if prompts.is_empty() && !section.is_empty() {
            let advice = "write each as a list item that opens with the prompt in backticks";
            found.at(
                &path,
                section[0].number,
                format!("no prompts to try; {advice}"),
            );
        }
        for (line, prompt) in prompts
            .into_iter()
            .filter(|(_, prompt)| !typed.contains(prompt))
        {
            let text =
                format!("the prompt `{prompt}` is not in tests/class.rs; type it in a class test");
            found.at(&path, line, text);
        }
    }
}

/// The prompt that a list item, a quotation or a table row opens with, in backticks. A command of the shell is none.
fn prompt(line: &Line<'_>, text: &str) -> Option<String> {
    let start = line.text.trim_start();
    let marked =
        start.starts_with(['-', '*', '>', '|']) || start.starts_with(|c: char| c.is_ascii_digit());
    let opening = start.trim_start_matches(|c: char| "-*>|. ".contains(c) || c.is_ascii_digit());
    if line.in_code || !marked || !opening.starts_with('`') {
        return None;
    }
    // A long prompt may go on in the next line of the item.
    let behind = text
        .lines()
        .skip(line.number + 1)
        .take_while(|line| !line.trim().is_empty());
    let item = behind.fold(opening.to_owned(), |item, line| {
        format!("{item} {}", line.trim())
    });
    let ticks = item.len() - item.trim_start_matches('`').len();
    let inside = item[ticks..].split(&"`".repeat(ticks)).next()?.trim();
    (!inside.is_empty() && !inside.starts_with("cargo ")).then(|| inside.to_owned())
}

/// Rust source with the escapes of its string literals undone, as far as prompts need it.
fn unescaped(source: &str) -> String {
    let mut pieces = source.split("\\\n");
    let first = pieces.next().unwrap_or_default().to_owned();
    let joined = pieces.fold(first, |text, piece| text + piece.trim_start());
    joined.replace("\\\"", "\"").replace("\\\\", "\\")
}

/// What is to be predicted can be tried: the question gives something to type, or names the test that shows it.
fn predictions(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in lessons(ws) {
        let lines = markdown::lines(text);
        let mut items: Vec<(usize, String)> = Vec::new();
        for line in section(&lines, PREDICT).iter().filter(|line| !line.in_code) {
            match (line.text.starts_with("- "), items.last_mut()) {
                (true, _) => items.push((line.number, line.text.to_owned())),
                (false, Some((_, item))) => *item += line.text,
                (false, None) => {}
            }
        }
        for (line, item) in items {
            if !item.contains('`') && !item.contains("Ctrl-") {
                let advice = "say what to type, or name the test that shows it";
                found.at(
                    &path,
                    line,
                    format!("nothing to type and no test; {advice}"),
                );
            }
            let tests = item
                .split("(Test")
                .nth(1)
                .and_then(|rest| rest.split(')').next());
            // A longer name is found wherever it stands.
            let short = code(tests.unwrap_or_default()).filter(|name| !is_sentence(name));
            for name in short.filter(|name| !is_test(ws, chapter, name)) {
                found.at(
                    &path,
                    line,
                    format!("names the test {name}, which is not there; name another"),
                );
            }
        }
    }
}

/// A test that a lesson names is one of the chapter's.
fn named_tests(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in lessons(ws) {
        for line in markdown::lines(text).iter().filter(|line| !line.in_code) {
            let names = code(line.text).filter(|name| is_sentence(name));
            for name in names.filter(|name| !is_test(ws, chapter, name)) {
                let text = format!("names the test {name}, which is not there; name another");
                found.at(&path, line.number, text);
            }
        }
    }
}

/// What stands between backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_test(ws: &Workspace, chapter: &Chapter, name: &str) -> bool {
    let function = format!("fn {name}(");
    let mut files = ws.tree.below(&chapter.name);
    files.any(|(_, file)| file.text.contains(&function))
}

/// Whether a name is that of a test: a sentence of five words and more.
fn is_sentence(name: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    name.split('_').count() >= 5 && name.split('_').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, with};
    use super::*;
    use crate::tests::fixture::{CHANGES, readme};

    const PATH: &str = "s02_tools/README.md";

    #[test]
    fn each_prompt_is_typed_in_a_class_test() {
        let untyped =
            "31: the prompt `List no files` is not in tests/class.rs; type it in a class test";
        for item in [
            "1. `List no files`: x",
            "- `List no\n  files`",
            "> `List no files`",
            "| `List no files` | x |",
        ] {
            with(prompts, "1. `List all files`: one call.", item, &[untyped]);
        }
        let none = "29: no prompts to try; write each as a list item that opens with the prompt in backticks";
        with(
            prompts,
            "1. `List all files`: one call.",
            "1. List all files.",
            &[none],
        );
        with(
            prompts,
            "1. `List",
            "- `cargo run -p s02_tools`, then\n1. `List",
            &[],
        );

        let class = "fn the_tool_pool() {\n    typed(\"Say \\\"hi\\\" \\\n        to all\");\n}\n";
        let text = readme("s02_tools", CHANGES).replace("List all files", "Say \"hi\" to all");
        assert_eq!(
            found(
                prompts,
                &[(PATH, &text), ("s02_tools/tests/class.rs", class)]
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_prediction_can_be_tried() {
        let untried =
            "35: nothing to type and no test; say what to type, or name the test that shows it";
        with(
            predictions,
            "What will it do?",
            "- What will it do\n  with two files?",
            &[untried],
        );
        let gone = "35: names the test it_does, which is not there; name another";
        with(
            predictions,
            "What will it do?",
            "- What will it do? (Test\n  `it_does`.)",
            &[gone],
        );
        for tried in [
            "- `List files`: what?",
            "- It lists\n  `README.md`.",
            "- Press Ctrl-C. And now?",
        ] {
            with(predictions, "What will it do?", tried, &[]);
        }
    }

    #[test]
    fn a_lesson_names_tests_that_are_there() {
        let text = "See `a_stale_answer_is_not_taken` and `a_fresh_answer_is_taken`, `mcp__docs__search` and `bash`.\n";
        let test = (
            "s02_tools/tests/answers.rs",
            "//! Tests: x.\n\nfn a_fresh_answer_is_taken() {}\n",
        );
        let gone = "s02_tools/README.md:1: names the test a_stale_answer_is_not_taken, which is not there; name another";
        assert_eq!(found(named_tests, &[(PATH, text), test]), [gone]);
    }
}
