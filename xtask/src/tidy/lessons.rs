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
/// The sections of a lesson; in front of the third stands what changes, in all but the first chapter.
const SECTIONS: &str =
    "In short, How it works, Try it, Predict, then run, Exercises, Left out on purpose, Next";

/// The READMEs of the chapters.
fn lessons(ws: &Workspace) -> impl Iterator<Item = (&Chapter, String, &str)> {
    ws.chapters.iter().map(|chapter| {
        let text = ws.text(chapter, "README.md").unwrap_or_default();
        (chapter, chapter.path("README.md"), text)
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
        let (mut bullets, mut drawings) = (0, 0);
        for (event, _) in markdown::events(in_short) {
            bullets += usize::from(matches!(event, Event::Start(Tag::Item)));
            drawings += usize::from(matches!(event, Event::Start(Tag::CodeBlock(_))));
        }
        if bullets != 3 || drawings == 0 {
            let advice = "write problem, mechanism and invariant, and draw it in a code block";
            let text = format!("the short version is not three bullets and a diagram; {advice}");
            found.file(&path, text);
        }
        let mut wanted = SECTIONS.to_owned();
        if let Some(base) = ws.base(chapter) {
            let changes = format!("Changes from {}, {TRY}", base.name);
            wanted = wanted.replace(TRY, &changes);
        }
        let mut headings = markdown::headings(text);
        headings.retain(|(_, level, _)| *level == 2);
        let headings: Vec<_> = headings.into_iter().map(|(.., words)| words).collect();
        if headings.join(", ") != wanted {
            found.file(&path, format!("the sections are not those of a lesson: {wanted}"));
        }
    }
}

/// Each prompt of "Try it" is typed in a class test: a prompt that nobody ran goes stale unseen.
pub(super) fn prompts(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in lessons(ws) {
        let class = chapter.path("tests/class");
        let files = ws.tree.iter().filter(|(path, _)| path.starts_with(&class));
        let typed: String = files.map(|(_, file)| unescaped(file)).collect();
        if !typed.contains("the_tool_pool") {
            let advice = "write one that ends in assert_pool, for cargo x pool";
            found.file(&path, format!("no class test names the_tool_pool; {advice}"));
        }
        let section = markdown::section(text, TRY);
        let mut prompts = markdown::codes(text);
        // A command of the shell is no prompt.
        prompts.retain(|(at, code, opens)| {
            *opens && section.contains(at) && !code.starts_with("cargo ")
        });
        if prompts.is_empty() {
            let advice = "write each as a list item that opens with the prompt in backticks";
            let line = line_at(text, section.start);
            found.at(&path, line, format!("no prompts to try; {advice}"));
        }
        for (at, prompt, _) in prompts {
            // A long one goes on in the next line, behind the item's indent.
            let prompt = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
            if !typed.contains(&prompt) {
                let advice = "is not in tests/class.rs; type it in a class test";
                let line = line_at(text, at);
                found.at(&path, line, format!("the prompt `{prompt}` {advice}"));
            }
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
    for (chapter, path, readme) in lessons(ws) {
        let exercises = of(ws, chapter);
        if !(2..=3).contains(&exercises.len()) {
            let number = exercises.len();
            let text = format!("{number} exercises; write two or three, exN_….rs");
            found.file(&path, text);
        }
        for (number, exercise) in (1..).zip(exercises) {
            match exercise {
                Err((path, problem)) => found.file(&path, problem),
                Ok(it) if it.number != number => {
                    let text = format!("the numbers have a gap; this is exercise {number}");
                    found.file(&it.path, text);
                }
                Ok(it) if !readme.contains(&format!("({FOLDER}/{}.rs)", it.module)) => {
                    let text =
                        format!("the README does not name it; link ({FOLDER}/{}.rs)", it.module);
                    found.file(&it.path, text);
                }
                Ok(_) => {}
            }
        }
    }
}
