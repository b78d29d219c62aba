//! The rule for "Try it": what a lesson tells the class to type is typed in a test.
//!
//! A prompt that nobody ran goes stale unseen; a prompt is a list item that opens with its text in backticks.

use super::markdown::{Line, Place};
use super::readme::{TRY, lessons, section};
use super::{Finding, Rule, Subject, line_of, markdown};

pub(super) const RULES: [Rule; 1] = [prompts];

/// Each prompt of "Try it" is typed in a class test.
fn prompts(subject: &Subject<'_>) -> Vec<Finding> {
    let ws = subject.ws;
    let mut findings = Vec::new();
    for (chapter, path, text) in lessons(ws) {
        let typed: String = ws
            .tree
            .below(&chapter.path("tests"))
            .filter(|(path, _)| path.starts_with(&chapter.path("tests/class")))
            .map(|(_, file)| unescaped(&file.text))
            .collect();
        let lines = markdown::lines(text);
        let section = section(&lines, TRY);
        let prompts: Vec<_> = section
            .iter()
            .filter_map(|line| Some((line.number, prompt(line, text)?)))
            .collect();
        if prompts.is_empty() && !section.is_empty() {
            let advice = "write each as a list item that opens with the prompt in backticks";
            findings.push(Finding::at(
                &path,
                line_of(text, "## Try it"),
                format!("no prompts to try; {advice}"),
            ));
        }
        for (line, prompt) in prompts {
            if !typed.contains(&prompt) {
                let text = format!(
                    "the prompt `{prompt}` is not in tests/class.rs; type it in a class test"
                );
                findings.push(Finding::at(&path, line, text));
            }
        }
    }
    findings
}

/// The prompt that a list item, a quotation or a table row opens with, in backticks. A command of the shell is none.
fn prompt(line: &Line<'_>, text: &str) -> Option<String> {
    let start = line.text.trim_start();
    let marked =
        start.starts_with(['-', '*', '>', '|']) || start.starts_with(|c: char| c.is_ascii_digit());
    let opening = start.trim_start_matches(|c: char| "-*>|. ".contains(c) || c.is_ascii_digit());
    if line.place != Place::Prose || !marked || !opening.starts_with('`') {
        return None;
    }
    // A long prompt may go on in the next line of the item.
    let rest: Vec<_> = text
        .lines()
        .skip(line.number + 1)
        .take_while(|line| !line.trim().is_empty())
        .map(str::trim)
        .collect();
    let item = format!("{opening} {}", rest.join(" "));
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

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::super::readme::tests::with;
    use super::*;
    use crate::fixture::{CHANGES, readme};

    const PATH: &str = "s02_tools/README.md";

    #[test]
    fn each_prompt_is_typed_in_a_class_test() {
        let advice = "is not in tests/class.rs; type it in a class test";
        for item in [
            "1. `List no files`: x",
            "- `List no\n  files`",
            "> `List no files`",
            "| `List no files` | x |",
        ] {
            let findings = with(prompts, "1. `List all files`: one call.", item);
            assert_eq!(
                findings,
                [format!(
                    "s02_tools/README.md:31: the prompt `List no files` {advice}"
                )],
                "{item}"
            );
        }
        assert_eq!(
            with(
                prompts,
                "1. `List all files`: one call.",
                "1. List all files."
            ),
            [
                "s02_tools/README.md:29: no prompts to try; write each as a list item that opens with the prompt in backticks"
            ]
        );
        assert_eq!(
            with(
                prompts,
                "1. `List",
                "- `cargo run -p s02_tools`, then\n1. `List"
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_prompt_is_found_through_the_escapes_of_a_string() {
        let class = "fn a() {\n    typed(\"Say \\\"hi\\\" \\\n        to all\");\n}\n";
        let text = readme("s02_tools", CHANGES).replace("List all files", "Say \"hi\" to all");

        assert_eq!(
            found(
                prompts,
                &[(PATH, &text), ("s02_tools/tests/class.rs", class)]
            ),
            [""; 0]
        );
    }
}
