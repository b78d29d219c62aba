//! Rules for the carried files: they hold control flow and nothing else.
//!
//! What a carried file holds is shown again in every later diff, so it must be short, steady and worth reading.

use super::{Findings, Rule};
use crate::rust::has_word;
use crate::workspace::{CARRIED, Chapter, MAIN, Workspace, chapter_number};

pub(super) const RULES: [Rule; 4] = [main_header, only_the_agent, control_flow, imports_by_lesson];

const COLUMNS: usize = 100;
const TO_REPL: &str = "print through Repl or a hook";
const TO_LIBRARY: &str = "move it into the chapter's library";
const TO_TESTS: &str = "move it into tests/";
const METHOD: &str = "put it behind one tested, cancel-safe method of the library";
const SCHEMA: &str = "derive the schema from a type of the library";
/// What a carried file does not do.
const FORBIDDEN: [(&[&str], &str); 5] = [
    (
        &[
            "println!",
            "print!",
            "eprintln!",
            "eprint!",
            "dbg!",
            "stdin",
            "stdout",
        ],
        TO_REPL,
    ),
    (&["select!"], METHOD),
    (
        &[
            "sleep",
            "spawn",
            "Duration",
            "Instant",
            "fs::",
            "process::Command",
            "env::var",
            "env::args",
        ],
        TO_LIBRARY,
    ),
    (&["json!"], SCHEMA),
    (&["#[test]", "#[tokio::test]", "#[cfg(test)]"], TO_TESTS),
];

/// The last lines of a `main.rs` whose agent a test plays: it is private, so its player is a module of the binary.
const PLAYER: &str = "\n#[cfg(test)]\nmod story;\n";

/// The carried files of all chapters, without a player.
fn carried(ws: &Workspace) -> impl Iterator<Item = (&Chapter, String, &str)> {
    let files = ws
        .chapters
        .iter()
        .flat_map(|chapter| CARRIED.map(|file| (chapter, file)));
    files.filter_map(|(chapter, file)| {
        let text = ws.text(chapter, file)?;
        Some((
            chapter,
            chapter.path(file),
            text.strip_suffix(PLAYER).unwrap_or(text),
        ))
    })
}

fn mains(ws: &Workspace) -> impl Iterator<Item = (&Chapter, String, &str)> {
    carried(ws).filter(|(chapter, path, _)| *path == chapter.path(MAIN))
}

/// `main.rs` opens with one header line that names the chapter's number and its lesson.
fn main_header(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in mains(ws) {
        let start = format!("//! {} · ", chapter.short());
        let end = ". Start with README.md.";
        let lesson = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix(&start)?.strip_suffix(end));
        let goes_on = text
            .lines()
            .nth(1)
            .is_some_and(|line| line.starts_with("//!"));
        if goes_on || lesson.is_none_or(str::is_empty) {
            let advice = format!("write `{start}the lesson{end}`");
            found.file(
                &path,
                format!("the header is not one line of the usual form; {advice}"),
            );
        }
    }
}

/// `main.rs` declares `Agent` with `new` and `turn`, and `main`.
fn only_the_agent(ws: &Workspace, found: &mut Findings) {
    for (_, path, text) in mains(ws) {
        for (number, line) in text.lines().enumerate() {
            let name = |keyword: &str| {
                let (before, rest) = line.split_once(keyword)?;
                let name = rest
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next();
                name.filter(|_| ["", "pub ", "async ", "pub async "].contains(&before.trim_start()))
            };
            let kinds = ["struct ", "enum ", "trait ", "type ", "mod "];
            let kind = kinds.iter().find(|kind| line.starts_with(**kind));
            let declared = name("fn ").or_else(|| name(kind?));
            if let Some(name) = declared.filter(|it| !["new", "turn", "main", "Agent"].contains(it))
            {
                let text = format!(
                    "main.rs declares `{name}`; it holds Agent, new, turn and main only, {TO_LIBRARY}"
                );
                found.at(&path, number, text);
            }
        }
    }
}

/// No printing, waiting, starting, reading, schemas, tests or prompts; and no chapter's number outside `use`, so that a line
/// means the same in every chapter.
fn control_flow(ws: &Workspace, found: &mut Findings) {
    for (_, path, text) in carried(ws) {
        let mut in_use = false;
        for (number, line) in text.lines().enumerate().skip(1) {
            let code = line.split("//").next().unwrap_or_default();
            for (words, advice) in FORBIDDEN {
                if let Some(word) = words.iter().find(|word| has_word(code, word)) {
                    found.at(
                        &path,
                        number,
                        format!("a carried file holds `{word}`; {advice}"),
                    );
                }
            }
            if line.chars().count() > COLUMNS {
                found.at(
                    &path,
                    number,
                    format!("more than {COLUMNS} columns; break the line"),
                );
            }
            if line.ends_with('\\') {
                found.at(
                    &path,
                    number,
                    format!("a text of several lines in a carried file; {TO_LIBRARY}"),
                );
            }
            in_use |= line.starts_with("use ");
            if let Some(word) = chapter_named(code).filter(|_| !in_use) {
                let advice =
                    "import the item with `use`, or take the name from env!(\"CARGO_PKG_NAME\")";
                found.at(
                    &path,
                    number,
                    format!("`{word}` names a chapter in the code; {advice}"),
                );
            }
            in_use &= !line.contains(';');
        }
    }
}

/// The first word of `text` that is a chapter's name or short name.
fn chapter_named(text: &str) -> Option<&str> {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.find(|word| {
        let is_short = word.len() == 3 && chapter_number(&format!("{word}_x")).is_some();
        is_short || chapter_number(word).is_some()
    })
}

/// One `use` for each lesson, in the order of the lessons.
fn imports_by_lesson(ws: &Workspace, found: &mut Findings) {
    for (_, path, text) in carried(ws) {
        let mut last = "";
        for (number, line) in text.lines().enumerate() {
            let lesson = line
                .strip_prefix("use ")
                .and_then(|rest| rest.split([':', ';']).next());
            let Some(lesson) = lesson.filter(|name| chapter_number(name).is_some()) else {
                continue;
            };
            if lesson == last {
                found.at(
                    &path,
                    number,
                    format!("`{lesson}` is imported twice; write one `use` for a lesson"),
                );
            } else if lesson < last {
                found.at(
                    &path,
                    number,
                    format!("`{lesson}` comes after `{last}`; import in chapter order"),
                );
            }
            last = lesson;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::finds;
    use super::*;

    const HEADER: &str = "//! s02 · tools. Start with README.md.\n";
    const PATH: &str = "s02_tools/src/main.rs";

    #[track_caller]
    fn in_main(rule: Rule, body: &str, wanted: &[&str]) {
        finds(rule, &[(PATH, &format!("{HEADER}{body}"), wanted)]);
    }

    #[test]
    fn the_header_of_main_is_one_line_of_the_usual_form() {
        let advice = "1: the header is not one line of the usual form; write `//! s02 · the lesson. Start with README.md.`";
        for text in [
            "//! Tools.\n",
            "//! s03 · tools. Start with README.md.\n",
            "",
        ] {
            finds(main_header, &[(PATH, text, &[advice])]);
        }
        in_main(main_header, "//! And more.\n", &[advice]);
        in_main(main_header, "\nfn main() {}\n", &[]);
    }

    #[test]
    fn main_declares_the_agent_only() {
        let body = "struct Agent;\nimpl Agent {\n    async fn turn() {}\n    fn shrink() {}\n}\nenum Mode { A }\nfn main() {}\n";
        let only = "it holds Agent, new, turn and main only, move it into the chapter's library";
        let [shrink, mode] = ["5: main.rs declares `shrink`", "7: main.rs declares `Mode`"]
            .map(|declares| format!("{declares}; {only}"));
        in_main(only_the_agent, body, &[&shrink, &mode]);
        in_main(
            only_the_agent,
            "\nfn main() {}\n\n#[cfg(test)]\nmod story;\n",
            &[],
        );
    }

    #[test]
    fn a_carried_file_does_no_work_of_its_own() {
        for (words, advice) in FORBIDDEN {
            for word in words {
                let finding = format!("3: a carried file holds `{word}`; {advice}");
                in_main(
                    control_flow,
                    &format!("fn main() {{\n    {word};\n}}\n"),
                    &[&finding],
                );
            }
        }
        in_main(
            control_flow,
            "// no sleep here\nuse s15_mailbox::spawn_teammate;\n",
            &[],
        );
        in_main(
            control_flow,
            "\nfn main() {}\n\n#[cfg(test)]\nmod story;\n",
            &[],
        );
        let prompt =
            "3: a text of several lines in a carried file; move it into the chapter's library";
        in_main(
            control_flow,
            "\nconst SYSTEM: &str = \"You are \\\n",
            &[prompt],
        );
        in_main(control_flow, &format!("// {}\n", "é".repeat(97)), &[]);
        let wide = "2: more than 100 columns; break the line";
        in_main(control_flow, &format!("// {}\n", "é".repeat(98)), &[wide]);
    }

    #[test]
    fn a_chapter_is_named_in_use_lines_only() {
        let good = "use s01_loop::{\n    Client, // s01\n};\nfn main() { env!(\"CARGO_PKG_NAME\"); s3cret(); }\n";
        in_main(control_flow, good, &[]);
        let advice = "names a chapter in the code; import the item with `use`, or take the name from env!(\"CARGO_PKG_NAME\")";
        let [call, text] = ["3: `s01_loop`", "4: `s02`"].map(|named| format!("{named} {advice}"));
        in_main(
            control_flow,
            "fn main() {\n    s01_loop::run();\n    \"s02 >> \";\n}\n",
            &[&call, &text],
        );
    }

    #[test]
    fn there_is_one_use_for_a_lesson_in_chapter_order() {
        let good = "use anyhow::Result;\nuse s01_loop::{Client, Repl};\nuse s02_tools::bash;\n";
        in_main(imports_by_lesson, good, &[]);
        in_main(
            imports_by_lesson,
            "use s02_tools::bash;\nuse s01_loop::Client;\nuse s01_loop::Repl;\n",
            &[
                "3: `s01_loop` comes after `s02_tools`; import in chapter order",
                "4: `s01_loop` is imported twice; write one `use` for a lesson",
            ],
        );
    }
}
