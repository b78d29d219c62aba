//! Rules for the carried files: they hold control flow and nothing else.
//!
//! What a carried file holds is shown again in every later diff, so it must be short, steady and worth reading.

use super::{Finding, Rule, RustFile, Subject, words};
use crate::imports;
use crate::workspace::{CARRIED, Chapter, MAIN, chapter_number};

pub(super) const RULES: [Rule; 7] = [
    main_header,
    only_the_agent,
    forbidden,
    prompt_text,
    width,
    chapter_numbers,
    imports_by_lesson,
];

/// A longer literal is a prompt, which belongs to a library.
const LITERAL_LIMIT: usize = 120;
const COLUMNS: usize = 100;

const TO_REPL: &str = "print through Repl or a hook";
const TO_LIBRARY: &str = "move it into the chapter's library";
const TO_TESTS: &str = "move it into tests/";
const FORBIDDEN: [(&str, &str); 22] = [
    ("println!", TO_REPL),
    ("print!", TO_REPL),
    ("eprintln!", TO_REPL),
    ("eprint!", TO_REPL),
    ("dbg!", TO_REPL),
    ("stdin", TO_REPL),
    ("stdout", TO_REPL),
    (
        "select!",
        "put it behind one tested, cancel-safe method of the library",
    ),
    ("sleep", TO_LIBRARY),
    ("spawn", TO_LIBRARY),
    ("Duration", TO_LIBRARY),
    ("Instant", TO_LIBRARY),
    ("std::fs", TO_LIBRARY),
    ("tokio::fs", TO_LIBRARY),
    ("fs::", TO_LIBRARY),
    ("process::Command", TO_LIBRARY),
    ("env::var", TO_LIBRARY),
    ("env::args", TO_LIBRARY),
    ("json!", "derive the schema from a type of the library"),
    ("#[test]", TO_TESTS),
    ("#[tokio::test]", TO_TESTS),
    ("#[cfg(test)]", TO_TESTS),
];

/// The last lines of a `main.rs` whose agent a test plays: it is private, so its player is a module of the binary.
const PLAYER: &str = "\n#[cfg(test)]\nmod story;\n";

/// The carried files of all chapters.
fn carried<'a>(subject: &'a Subject<'_>) -> impl Iterator<Item = (&'a Chapter, &'a RustFile<'a>)> {
    let chapters = subject.ws.chapters.iter();
    chapters.flat_map(move |chapter| {
        CARRIED
            .iter()
            .filter_map(move |file| Some((chapter, subject.rust(&chapter.path(file))?)))
    })
}

/// The code of a carried file, without a player.
fn code<'a>(file: &'a RustFile<'_>) -> impl Iterator<Item = (usize, &'a str)> {
    let without = file.text.strip_suffix(PLAYER).unwrap_or(file.text);
    let last = without.lines().count();
    file.code().take_while(move |(line, _)| *line < last)
}

fn mains<'a>(subject: &'a Subject<'_>) -> impl Iterator<Item = (&'a Chapter, &'a RustFile<'a>)> {
    carried(subject).filter(|(chapter, file)| file.path == chapter.path(MAIN))
}

/// `main.rs` opens with one header line that names the chapter's number and its lesson.
fn main_header(subject: &Subject<'_>) -> Vec<Finding> {
    let wrong = mains(subject).filter(|(chapter, file)| {
        let mut lines = file.text.lines();
        let lesson = lines
            .next()
            .and_then(|line| line.strip_prefix(&format!("//! {} · ", chapter.short())))
            .and_then(|rest| rest.strip_suffix(". Start with README.md."));
        lesson.is_none_or(str::is_empty) || lines.next().is_some_and(|line| line.starts_with("//!"))
    });
    wrong
        .map(|(chapter, file)| {
            let header = format!(
                "//! {} · the lesson. Start with README.md.",
                chapter.short()
            );
            Finding::file(
                file.path,
                format!("the header is not one line of the usual form; write `{header}`"),
            )
        })
        .collect()
}

/// `main.rs` declares `Agent` with `new` and `turn`, and `main`.
fn only_the_agent(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, file) in mains(subject) {
        let functions = file
            .source
            .functions()
            .into_iter()
            .map(|function| (function.lines.start, function.name));
        let types = code(file).filter_map(|(line, code)| {
            let kind = ["struct ", "enum ", "trait ", "type ", "mod "]
                .into_iter()
                .find(|kind| code.starts_with(kind))?;
            let name = code[kind.len()..]
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()?;
            Some((line, name.to_owned()))
        });
        for (line, name) in functions.chain(types) {
            if !["new", "turn", "main", "Agent"].contains(&name.as_str()) {
                let text = format!(
                    "main.rs declares `{name}`; it holds Agent, new, turn and main only, {TO_LIBRARY}"
                );
                findings.push(Finding::at(file.path, line, text));
            }
        }
    }
    findings
}

/// No printing, waiting, starting, reading, schemas or tests.
fn forbidden(subject: &Subject<'_>) -> Vec<Finding> {
    carried(subject)
        .flat_map(|(_, file)| words(file.path, code(file), "a carried file holds", &FORBIDDEN))
        .collect()
}

/// No prompt text.
fn prompt_text(subject: &Subject<'_>) -> Vec<Finding> {
    let long = carried(subject).flat_map(|(_, file)| {
        let literals = file
            .source
            .strings
            .iter()
            .filter(|literal| literal.text.chars().count() > LITERAL_LIMIT);
        literals.map(|literal| {
            let text = format!(
                "a text of more than {LITERAL_LIMIT} characters in a carried file; {TO_LIBRARY}"
            );
            Finding::at(file.path, literal.line, text)
        })
    });
    long.collect()
}

/// Lines that fit on a screen.
fn width(subject: &Subject<'_>) -> Vec<Finding> {
    let wide = carried(subject).flat_map(|(_, file)| {
        let lines = file
            .text
            .lines()
            .enumerate()
            .filter(|(_, text)| text.chars().count() > COLUMNS);
        lines.map(|(line, _)| {
            Finding::at(
                file.path,
                line,
                format!("more than {COLUMNS} columns; break the line"),
            )
        })
    });
    wide.collect()
}

/// No chapter's number outside `use`, so that a line means the same in every chapter.
fn chapter_numbers(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, file) in carried(subject) {
        let uses = imports::uses(&file.source);
        let code = file
            .code()
            .filter(|(line, _)| !uses.iter().any(|found| found.lines.contains(line)));
        let strings = file
            .source
            .strings
            .iter()
            .map(|literal| (literal.line, literal.text.as_str()));
        for (line, text) in code.chain(strings) {
            findings.extend(chapter_named(text).map(|word| {
                let advice =
                    "import the item with `use`, or take the name from env!(\"CARGO_PKG_NAME\")";
                Finding::at(
                    file.path,
                    line,
                    format!("`{word}` names a chapter in the code; {advice}"),
                )
            }));
        }
    }
    findings
}

/// The first word of `text` that is a chapter's name or short name.
fn chapter_named(text: &str) -> Option<&str> {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.find(|word| {
        chapter_number(word).is_some()
            || (word.len() == 3 && chapter_number(&format!("{word}_x")).is_some())
    })
}

/// One `use` for each lesson, in the order of the lessons.
fn imports_by_lesson(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, file) in carried(subject) {
        let mut last = String::new();
        for found in imports::uses(&file.source) {
            let Some(lesson) = found.paths.first().and_then(|path| path.split("::").next()) else {
                continue;
            };
            if chapter_number(lesson).is_none() {
                continue;
            }
            let problem = match lesson.cmp(last.as_str()) {
                std::cmp::Ordering::Less => Some(format!(
                    "`{lesson}` comes after `{last}`; import in chapter order"
                )),
                std::cmp::Ordering::Equal => Some(format!(
                    "`{lesson}` is imported twice; write one `use` for a lesson"
                )),
                std::cmp::Ordering::Greater => None,
            };
            findings.extend(problem.map(|text| Finding::at(file.path, found.lines.start, text)));
            lesson.clone_into(&mut last);
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const HEADER: &str = "//! s02 · tools. Start with README.md.\n";
    const PATH: &str = "s02_tools/src/main.rs";

    fn in_main(rule: Rule, body: &str) -> Vec<String> {
        found(rule, &[(PATH, &format!("{HEADER}{body}"))])
    }

    #[test]
    fn the_header_of_main_is_one_line_of_the_usual_form() {
        let advice = "s02_tools/src/main.rs:1: the header is not one line of the usual form; \
                      write `//! s02 · the lesson. Start with README.md.`";
        for text in [
            "//! Tools.\n",
            "//! s03 · tools. Start with README.md.\n",
            "//! s02 · tools. Start with README.md.\n//! And more.\n",
            "",
        ] {
            assert_eq!(found(main_header, &[(PATH, text)]), [advice], "{text}");
        }
        assert_eq!(in_main(main_header, "\nfn main() {}\n"), [""; 0]);
    }

    #[test]
    fn main_declares_the_agent_only() {
        let body = "struct Agent;\nimpl Agent {\n    async fn turn() {}\n    fn shrink() {}\n}\nenum Mode { A }\nfn main() {}\n";

        assert_eq!(
            in_main(only_the_agent, body),
            [
                "s02_tools/src/main.rs:5: main.rs declares `shrink`; it holds Agent, new, turn and main only, \
                 move it into the chapter's library",
                "s02_tools/src/main.rs:7: main.rs declares `Mode`; it holds Agent, new, turn and main only, \
                 move it into the chapter's library",
            ]
        );
    }

    #[test]
    fn a_carried_file_does_no_work_of_its_own() {
        for (word, _) in FORBIDDEN {
            let findings = in_main(forbidden, &format!("fn main() {{\n    {word};\n}}\n"));
            assert_eq!(findings.len(), 1, "{word}: {findings:?}");
            assert!(
                findings[0].starts_with("s02_tools/src/main.rs:3: a carried file holds `"),
                "{findings:?}"
            );
        }
        assert_eq!(
            in_main(
                forbidden,
                "// no sleep here\nuse s15_mailbox::spawn_teammate;\n"
            ),
            [""; 0]
        );
    }

    #[test]
    fn the_player_of_a_story_is_the_one_module_and_stands_last() {
        let body = "\nfn main() {}\n\n#[cfg(test)]\nmod story;\n";
        for (body, count) in [(body, 0), (&format!("{body}\nfn new() {{}}\n"), 1)] {
            assert_eq!(in_main(only_the_agent, body).len(), count, "{body}");
            assert_eq!(in_main(forbidden, body).len(), count, "{body}");
        }
    }

    #[test]
    fn prompt_text_belongs_to_a_library() {
        let prompt = |length| format!("const SYSTEM: &str = \"{}\";\n", "x".repeat(length));

        assert_eq!(in_main(prompt_text, &prompt(120)), [""; 0]);
        assert_eq!(
            in_main(prompt_text, &prompt(121)),
            [
                "s02_tools/src/main.rs:2: a text of more than 120 characters in a carried file; \
              move it into the chapter's library"
            ]
        );
    }

    #[test]
    fn a_line_fits_in_a_hundred_columns() {
        assert_eq!(in_main(width, &format!("// {}\n", "é".repeat(97))), [""; 0]);
        assert_eq!(
            in_main(width, &format!("// {}\n", "é".repeat(98))),
            ["s02_tools/src/main.rs:2: more than 100 columns; break the line"]
        );
    }

    #[test]
    fn a_chapter_is_named_in_use_lines_only() {
        let good = "use s01_loop::{\n    Client, // s01\n};\nfn main() { env!(\"CARGO_PKG_NAME\"); s3cret(); }\n";
        assert_eq!(in_main(chapter_numbers, good), [""; 0]);

        let advice = "names a chapter in the code; import the item with `use`, or take the name from env!(\"CARGO_PKG_NAME\")";
        assert_eq!(
            in_main(
                chapter_numbers,
                "fn main() {\n    s01_loop::run(\"s02 >> \");\n}\n"
            ),
            [
                format!("s02_tools/src/main.rs:3: `s01_loop` {advice}"),
                format!("s02_tools/src/main.rs:3: `s02` {advice}")
            ]
        );
    }

    #[test]
    fn there_is_one_use_for_a_lesson_in_chapter_order() {
        assert_eq!(
            in_main(
                imports_by_lesson,
                "use anyhow::Result;\nuse s01_loop::{Client, Repl};\nuse s02_tools::bash;\n"
            ),
            [""; 0]
        );
        assert_eq!(
            in_main(
                imports_by_lesson,
                "use s02_tools::bash;\nuse s01_loop::Client;\nuse s01_loop::Repl;\n"
            ),
            [
                "s02_tools/src/main.rs:3: `s01_loop` comes after `s02_tools`; import in chapter order",
                "s02_tools/src/main.rs:4: `s01_loop` is imported twice; write one `use` for a lesson",
            ]
        );
    }
}
