//! Rules for the lessons: a README has the same sections in every chapter and is short, what it tells the class to do is tried
//! in a test, and its exercises can be found.
//!
//! Whether the exercises fail without their patches and pass with them is proved by `cargo x exercises`.

use pulldown_cmark::{Event, Tag};

use super::{Findings, line_at, markdown};
use crate::exercises::{FOLDER, of};
use crate::workspace::{Chapter, Workspace};
use crate::{markers, session};

const LINES: usize = 150;
const IN_SHORT: &str = "In short";
const TRY: &str = "Try it";

/// The READMEs of the chapters.
fn lessons(ws: &Workspace) -> impl Iterator<Item = (&Chapter, String, &str)> {
    let chapters = ws.chapters.iter();
    chapters.map(|it| {
        (
            it,
            it.path("README.md"),
            ws.text(it, "README.md").unwrap_or_default(),
        )
    })
}

/// A lesson is short (its recorded session not counted), says its minutes, opens with problem, mechanism, invariant and a
/// drawing, and has the sections of all lessons.
pub(super) fn shape(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in lessons(ws) {
        // What a command writes there costs no reader anything but a look.
        let recorded = markers::inside(text, session::MARKERS).unwrap_or_default();
        let length = text.lines().count() - recorded.lines().count();
        if length > LINES {
            let text = format!("{length} lines; shorten the lesson, {LINES} is the limit");
            found.at(&path, LINES, text);
        }
        let minutes = chapter.minutes;
        if !text.starts_with(&format!("---\nminutes: {minutes}\n---\n")) {
            let advice = format!("open with a front matter that says minutes: {minutes}");
            let text = format!("the minutes are not those of Cargo.toml; {advice}");
            found.file(&path, text);
        }
        let in_short = &text[markdown::section(text, IN_SHORT)];
        let count = |wanted: fn(&Event) -> bool| {
            markdown::events(in_short)
                .filter(|(event, _)| wanted(event))
                .count()
        };
        let bullets = count(|it| matches!(it, Event::Start(Tag::Item)));
        if bullets != 3 || count(|it| matches!(it, Event::Start(Tag::CodeBlock(_)))) == 0 {
            let advice = "write problem, mechanism and invariant, and draw it in a code block";
            let text = format!("the short version is not three bullets and a diagram; {advice}");
            found.file(&path, text);
        }
        sections(ws, chapter, (&path, text), found);
    }
}

fn sections(ws: &Workspace, chapter: &Chapter, (path, text): (&str, &str), found: &mut Findings) {
    let changes = ws
        .base(chapter)
        .map(|base| format!("Changes from {}", base.name));
    let front = [IN_SHORT, "How it works"]
        .into_iter()
        .chain(changes.as_deref());
    let behind = [
        TRY,
        "Predict, then run",
        "Exercises",
        "Left out on purpose",
        "Next",
    ];
    let wanted: Vec<&str> = front.chain(behind).collect();
    let headings = markdown::headings(text).into_iter();
    let headings: Vec<_> = headings.filter(|(_, level, _)| *level == 2).collect();
    let present: Vec<_> = headings.iter().map(|(.., words)| words.as_str()).collect();
    if present != wanted {
        let same = present
            .iter()
            .zip(&wanted)
            .take_while(|(one, other)| one == other);
        let at = same.count();
        let line = headings
            .get(at)
            .map_or(0, |(range, ..)| line_at(text, range.start));
        let missing = wanted[at.min(wanted.len() - 1)];
        let all = wanted.join(", ");
        let text = format!("`## {missing}` belongs here; a lesson has the sections {all}");
        found.at(path, line, text);
    }
}

/// Each prompt of "Try it" is typed in a class test: a prompt that nobody ran goes stale unseen.
pub(super) fn prompts(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in lessons(ws) {
        let class = chapter.path("tests/class");
        let files = ws.tree.iter().filter(|(path, _)| path.starts_with(&class));
        let typed: String = files.map(|(_, file)| unescaped(file)).collect();
        if !typed.contains("fn the_tool_pool(") {
            let advice = "write one that ends in assert_pool, for cargo x pool";
            found.file(&path, format!("no class test the_tool_pool; {advice}"));
        }
        let section = markdown::section(text, TRY);
        // A command of the shell is no prompt.
        let codes = markdown::codes(text).into_iter();
        // A long one goes on in the next line, behind the item's indent.
        let codes = codes.map(|(at, code, opens)| {
            (
                at,
                code.split_whitespace().collect::<Vec<_>>().join(" "),
                opens,
            )
        });
        let prompts = codes.filter(|(at, code, opens)| {
            *opens && section.contains(at) && !code.starts_with("cargo ")
        });
        let prompts: Vec<_> = prompts.collect();
        if prompts.is_empty() {
            let advice = "write each as a list item that opens with the prompt in backticks";
            let line = line_at(text, section.start);
            found.at(&path, line, format!("no prompts to try; {advice}"));
        }
        for (at, prompt, _) in prompts.iter().filter(|(_, it, _)| !typed.contains(it)) {
            let advice = "type it in a class test";
            let problem = format!("the prompt `{prompt}` is not in tests/class.rs; {advice}");
            found.at(&path, line_at(text, *at), problem);
        }
    }
}

/// Rust source with the escapes of its string literals undone, as far as prompts need it.
fn unescaped(source: &str) -> String {
    let mut pieces = source.split("\\\n");
    let first = pieces.next().unwrap_or_default().to_owned();
    let joined = pieces.fold(first, |text, piece| text + piece.trim_start());
    joined.replace("\\\"", "\"").replace("\\\\", "\\")
}

/// A test that a lesson names is one of the chapter's; its name is a sentence of five words and more.
pub(super) fn named_tests(ws: &Workspace, found: &mut Findings) {
    let of_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_word = |word: &str| !word.is_empty() && word.chars().all(of_word);
    let is_sentence = |name: &str| name.split('_').count() >= 5 && name.split('_').all(is_word);
    for (chapter, path, text) in lessons(ws) {
        for (at, name, _) in markdown::codes(text) {
            let function = format!("fn {name}(");
            let mut files = ws.tree.below(&chapter.name);
            if is_sentence(&name) && !files.any(|(_, file)| file.contains(&function)) {
                let problem = format!("names the test {name}, which is not there; name another");
                found.at(&path, line_at(text, at), problem);
            }
        }
    }
}

/// A chapter has two or three exercises, numbered from 1, and its README names them.
pub(super) fn exercises(ws: &Workspace, found: &mut Findings) {
    for (chapter, _, readme) in lessons(ws) {
        let exercises = of(ws, chapter);
        if !(2..=3).contains(&exercises.len()) {
            let number = exercises.len();
            let text = format!("{number} exercises; write two or three, exN_….rs");
            found.file(&chapter.path(&format!("{FOLDER}/main.rs")), text);
        }
        for (number, exercise) in (1..).zip(exercises) {
            let exercise = match exercise {
                Ok(exercise) => exercise,
                Err((path, problem)) => {
                    found.file(&path, problem);
                    continue;
                }
            };
            let link = format!("({FOLDER}/{}.rs)", exercise.module);
            if exercise.number != number {
                let text = format!("the numbers have a gap; this is exercise {number}");
                found.file(&exercise.path, text);
            }
            if !readme.contains(&link) {
                let text = format!("the README does not name it; link {link}");
                found.file(&exercise.path, text);
            }
        }
    }
}
