//! Rules for the lessons: a README has the same sections in every chapter and is short, what it tells the class to do is tried
//! in a test, and its exercises can be found and finished.
//!
//! Whether the exercises fail without their patches and pass with them is proved by `cargo x exercises`.

use super::markdown::{self, Line};
use super::{Findings, Rule, line_of};
use crate::exercises::{FOLDER, of};
use crate::workspace::{Chapter, Workspace};
use crate::{bodies, markers, session};

pub(super) const RULES: [Rule; 5] = [lesson, sections, prompts, named_tests, exercises];

const LINES: usize = 150;
const IN_SHORT: &str = "In short";
const TRY: &str = "Try it";

/// The READMEs of the chapters.
fn lessons(ws: &Workspace) -> impl Iterator<Item = (&Chapter, String, &str)> {
    let chapters = ws.chapters.iter();
    chapters.filter_map(|it| Some((it, it.path("README.md"), ws.text(it, "README.md")?)))
}

/// A lesson is short (its recorded session not counted), says its minutes, and opens with problem, mechanism, invariant and a
/// drawing.
fn lesson(ws: &Workspace, found: &mut Findings) {
    let mut chapters = ws.chapters.iter();
    if let Some(silent) = chapters.find(|chapter| ws.text(chapter, "README.md").is_none()) {
        found.file(
            &silent.path("README.md"),
            "there is no README; write the lesson",
        );
    }
    for (chapter, path, text) in lessons(ws) {
        // What a command writes there costs no reader anything but a look.
        let recorded = markers::inside(text, session::MARKERS).unwrap_or_default();
        let length = text.lines().count() - recorded.lines().count();
        if length > LINES {
            let text = format!("{length} lines; shorten the lesson, {LINES} is the limit");
            found.at(&path, LINES, text);
        }
        let minutes = chapter.minutes.unwrap_or_default();
        if !text.starts_with(&format!("---\nminutes: {minutes}\n---\n")) {
            let advice = format!("open with a front matter that says minutes: {minutes}");
            found.file(
                &path,
                format!("the minutes are not those of Cargo.toml; {advice}"),
            );
        }
        let lines = markdown::lines(text);
        let section = section(&lines, IN_SHORT);
        let bullets = section
            .iter()
            .filter(|line| !line.in_code && line.text.starts_with("- "));
        if bullets.count() != 3 || !section.iter().any(|line| line.in_code) {
            let advice = "write problem, mechanism and invariant, and draw it in a code block";
            let first = section.first().map_or(0, |line| line.number);
            found.at(
                &path,
                first,
                format!("the short version is not three bullets and a diagram; {advice}"),
            );
        }
    }
}

/// A lesson has these sections in this order.
fn sections(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in lessons(ws) {
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
        let lines = markdown::lines(text);
        let headings = lines.iter().filter_map(|line| markdown::heading(line, 2));
        let present: Vec<_> = headings.collect();
        if present != wanted {
            let at = present
                .iter()
                .zip(&wanted)
                .position(|(one, other)| one != other);
            let line = at.map_or(0, |at| line_of(text, &format!("## {}", present[at])));
            let missing = wanted[at.unwrap_or(present.len()).min(wanted.len() - 1)];
            let wanted = wanted.join(", ");
            found.at(
                &path,
                line,
                format!("`## {missing}` belongs here; a lesson has the sections {wanted}"),
            );
        }
    }
}

/// The lines of a section, its heading first; none when it is not there.
fn section<'a, 'b>(lines: &'b [Line<'a>], name: &str) -> &'b [Line<'a>] {
    let is_it = |line: &Line| markdown::heading(line, 2) == Some(name);
    let start = lines.iter().position(is_it).unwrap_or(lines.len());
    let mut behind = lines.iter().skip(start + 1);
    let length = behind.position(|line| markdown::heading(line, 2).is_some());
    &lines[start..length.map_or(lines.len(), |length| start + 1 + length)]
}

/// Each prompt of "Try it" is typed in a class test: a prompt that nobody ran goes stale unseen.
fn prompts(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in lessons(ws) {
        let class = chapter.path("tests/class");
        let files = ws.tree.iter().filter(|(path, _)| path.starts_with(&class));
        let typed: String = files.map(|(_, file)| unescaped(&file.text)).collect();
        if !typed.contains("fn the_tool_pool(") {
            let advice = "write one that ends in assert_pool, for cargo x pool";
            found.file(&path, format!("no class test the_tool_pool; {advice}"));
        }
        let lines = markdown::lines(text);
        let section = section(&lines, TRY);
        let prompts = section
            .iter()
            .filter_map(|line| Some((line.number, prompt(line, text)?)));
        let prompts: Vec<_> = prompts.collect();
        if prompts.is_empty() {
            let advice = "write each as a list item that opens with the prompt in backticks";
            let first = section.first().map_or(0, |line| line.number);
            found.at(&path, first, format!("no prompts to try; {advice}"));
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
    let marks = |c: char| "-*>|. ".contains(c) || c.is_ascii_digit();
    let opening = start.trim_start_matches(marks);
    if line.in_code || opening == start || !opening.starts_with('`') {
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

/// A test that a lesson names is one of the chapter's; its name is a sentence of five words and more.
fn named_tests(ws: &Workspace, found: &mut Findings) {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    let is_sentence = |name: &&str| name.split('_').count() >= 5 && name.split('_').all(is_word);
    for (chapter, path, text) in lessons(ws) {
        for line in markdown::lines(text).iter().filter(|line| !line.in_code) {
            for name in line.text.split('`').skip(1).step_by(2).filter(is_sentence) {
                let function = format!("fn {name}(");
                let mut files = ws.tree.below(&chapter.name);
                if !files.any(|(_, file)| file.text.contains(&function)) {
                    let text = format!("names the test {name}, which is not there; name another");
                    found.at(&path, line.number, text);
                }
            }
        }
    }
}

/// A chapter has two or three exercises, numbered from 1 and switched off; each is in the test target and in the README, and has
/// a solution within its chapter. The bodies that a student writes are there.
fn exercises(ws: &Workspace, found: &mut Findings) {
    for (chapter, _, readme) in lessons(ws) {
        let main = chapter.path(&format!("{FOLDER}/main.rs"));
        let exercises = of(ws, chapter);
        if !(2..=3).contains(&exercises.len()) {
            let text = format!(
                "{} exercises; write two or three, exN_….rs",
                exercises.len()
            );
            found.file(&main, text);
        }
        for (index, exercise) in exercises.into_iter().enumerate() {
            let exercise = match exercise {
                Ok(exercise) => exercise,
                Err((path, problem)) => {
                    found.file(&path, problem);
                    continue;
                }
            };
            let (path, number) = (&exercise.path, exercise.number);
            let text = ws.tree.text(path).unwrap_or_default();
            let module = format!("mod {};", exercise.module);
            let link = format!("({FOLDER}/{}.rs)", exercise.module);
            let off = format!("#[ignore = \"exercise {number}\"]");
            let tests =
                text.matches("\n#[test]\n").count() + text.matches("\n#[tokio::test").count();
            let patch = ws.tree.text(&exercise.patch()).unwrap_or_default();
            let own = format!("+++ b/{}/", chapter.name);
            let mut changed = patch.lines().filter(|line| line.starts_with("+++ "));
            let problems = [
                (
                    number != index + 1,
                    format!("the numbers have a gap; this is exercise {}", index + 1),
                ),
                (
                    !ws.tree.text(&main).unwrap_or_default().contains(&module),
                    format!("does not run; write `{module}` into main.rs"),
                ),
                (
                    !readme.contains(&link),
                    format!("the README does not name it; link {link}"),
                ),
                (
                    tests != text.matches(&off).count(),
                    format!("a test that is on; write {off} under it"),
                ),
                (
                    patch.is_empty(),
                    format!("has no reference patch; write {}", exercise.patch()),
                ),
                (
                    !changed.all(|line| line.starts_with(&own)),
                    format!(
                        "its patch changes a file of others; stay in {}",
                        chapter.name
                    ),
                ),
            ];
            let wrong = problems.into_iter().filter(|(is_wrong, _)| *is_wrong);
            wrong.for_each(|(_, problem)| found.file(path, problem));
        }
        let problem = match bodies::take_out(ws, chapter) {
            Ok(emptied) if !emptied.is_empty() => continue,
            Ok(_) => "the chapter does not say what a student builds; write start = [\"src/…\"]"
                .to_owned(),
            Err(error) => error.to_string(),
        };
        found.file(&chapter.path("Cargo.toml"), problem);
    }
}
