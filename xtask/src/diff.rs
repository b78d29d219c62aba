//! `cargo x diff s04`: what the class sees of a chapter.
//!
//! The diff of the carried files, the new files, and the lessons that the imports point back to; nothing else changed.
//! Invariant: what is shown comes from the files as they are now, so it can never disagree with the code.

use similar::{ChangeTag, TextDiff};

use crate::change::{self, Marked};
use crate::header;
use crate::step::{self, Pair};
use crate::terminal::{bold, cyan, green, red};
use crate::workspace::{CARRIED, Chapter, MAIN, Workspace};

/// What a person sees who goes from the chapter `from` to the chapter `to`; without `from`, who begins with `to`.
pub fn show(ws: &Workspace, from: Option<&Chapter>, to: &Chapter) -> String {
    let mut parts = vec![title(from, to)];
    for file in CARRIED {
        if let Some(pair) = from.and_then(|from| step::pair(ws, from, to, file)) {
            parts.push(format!("{}\n{file}: {}\n", unified(&pair), pair.count()));
        }
    }
    if let (None, Some(text)) = (from, ws.text(to, MAIN)) {
        parts.push(format!("{}\n\n{text}", bold(&to.path(MAIN))));
    }
    // The chapters whose new files a person meets between the two.
    let first = from.map_or(to.number, |from| from.number + 1);
    let met = ws.chapters.iter().filter(|it| (first..=to.number).contains(&it.number));
    parts.extend(met.filter_map(|chapter| new_files(ws, chapter)));
    parts.extend(gains(ws, from, to));
    parts.join("\n")
}

/// The lessons that the carried files import from, and the tools, with what comes and goes.
pub fn gains(ws: &Workspace, from: Option<&Chapter>, to: &Chapter) -> Vec<String> {
    let files = CARRIED.iter();
    let lessons = files.filter_map(|file| lessons(ws, from, to, file));
    lessons.chain(tools(ws, from, to)).collect()
}

fn title(from: Option<&Chapter>, to: &Chapter) -> String {
    let mut title = format!("{} · adds {}", bold(&to.name), to.adds);
    if let Some(Chapter { name, .. }) = from {
        let is_base = to.base.as_ref() == Some(name);
        let relation = if is_base { "base" } else { "compared with" };
        title += &format!(" · {relation} {name}");
    }
    if !to.rests.is_empty() {
        title += &format!(" · rests {}", to.rests.join(", "));
    }
    title + "\n"
}

/// The diff of one carried file as a person reads it.
pub fn unified(Pair { old, new }: &Pair<'_>) -> String {
    let diff = TextDiff::from_lines(old.1, new.1);
    let names = [red(&format!("--- {}", old.0)), green(&format!("+++ {}", new.0))];
    let mut text = names.join("\n") + "\n";
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        let first = hunk.ops().first().map_or(0, |op| op.old_range().start);
        let place = format!("{} {}", hunk.header(), scope(old.1, first));
        text += &format!("{}\n", cyan(place.trim_end()));
        for change in hunk.iter_changes() {
            let line = change.value().trim_end_matches('\n');
            text += &match change.tag() {
                ChangeTag::Equal => format!(" {line}\n"),
                ChangeTag::Delete => red(&format!("-{line}")) + "\n",
                ChangeTag::Insert => green(&format!("+{line}")) + "\n",
            };
        }
    }
    text
}

/// What a line stands in: the nearest one above it that opens a function or a type. `book/theme/pairs.js` finds the same.
fn scope(text: &str, line: usize) -> &str {
    let opens = |it: &&str| {
        let words = it.trim_start().split([' ', '<']);
        let mut words = words.skip_while(|word| ["pub", "async"].contains(word));
        let word = words.next().unwrap_or_default();
        ["fn", "impl", "struct", "enum", "trait"].contains(&word)
    };
    let above = text.lines().take(line).filter(opens).last();
    above.unwrap_or_default().trim()
}

/// The files that the chapter brings, by their paths in it: not `lib.rs`, which is its README and a list of modules.
pub fn files_of<'a>(ws: &'a Workspace, chapter: &'a Chapter) -> Vec<(&'a str, &'a str)> {
    let is_carried_on = |file: &str| {
        CARRIED.contains(&file) && (file == MAIN || ws.origin(chapter, file).is_some())
    };
    let files = ws.tree.iter().filter_map(|(path, text)| {
        let own = path.strip_prefix(&chapter.name)?.strip_prefix('/')?;
        let is_new = own.starts_with("src/") && own != "src/lib.rs" && !is_carried_on(own);
        is_new.then_some((own, text))
    });
    files.collect()
}

fn new_files(ws: &Workspace, chapter: &Chapter) -> Option<String> {
    let files = files_of(ws, chapter);
    let width = files.iter().map(|(file, _)| file.len()).max()?;
    let mut text = bold(&format!("New files of {}", chapter.name)) + "\n";
    for (path, file) in files {
        let sentence = header::first_sentence(file).unwrap_or_default();
        let lines = file.lines().count();
        let line = format!("  {path:<width$} {lines:>4} lines  {sentence}");
        text += &format!("{}\n", line.trim_end());
    }
    Some(text)
}

/// The lessons that the imports of a carried file point back to, when `to` has a copy of its own.
fn lessons(ws: &Workspace, from: Option<&Chapter>, to: &Chapter, file: &str) -> Option<String> {
    let all = change::lessons(ws, from, to, file)?;
    let from = from.filter(|from| ws.carrier(from, file).is_some());
    let title = format!("Lessons that {file} imports from");
    Some(listed(&title, from, "imported", all))
}

/// The tools that come and go, agent by agent; all of them when there is nothing to compare with.
fn tools(ws: &Workspace, from: Option<&Chapter>, to: &Chapter) -> Option<String> {
    let mut all = change::tools(ws, from, to);
    for (_, tools) in &mut all {
        tools.retain(|(mark, _)| from.is_none() || *mark != ' ');
    }
    all.retain(|(_, tools)| !tools.is_empty());
    (!all.is_empty()).then(|| listed("Tools", from, "offered", all))
}

/// A title with its legend, and a line for each agent or lesson.
fn listed(title: &str, from: Option<&Chapter>, verb: &str, all: Vec<Marked>) -> String {
    let legend = |from: &Chapter| format!(" (+ is not {verb} in {}, - only there)", from.name);
    let mut text = format!("{}{}\n", bold(title), from.map(legend).unwrap_or_default());
    for (of, names) in all {
        let shown = names.into_iter().map(|(mark, name)| match mark {
            '+' => green(&format!("+{name}")),
            '-' => red(&format!("-{name}")),
            _ => name,
        });
        text += &format!("  {of}: {}\n", shown.collect::<Vec<_>>().join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    const FIRST: &str = "//! s01 · the loop. Start with README.md.\n\nuse s01_loop::{Client, bash};\n\nfn main() {\n    bash();\n}\n";
    const SECOND: &str = "//! s02 · tools. Start with README.md.\n\nuse s01_loop::Client;\nuse s02_tools::Toolbox;\n\nfn main() {\n    Toolbox::new();\n}\n";

    #[test]
    fn the_class_sees_the_step_the_new_files_and_the_lessons() {
        let ws =
            fixture::course(&[("s01_loop/src/main.rs", FIRST), ("s02_tools/src/main.rs", SECOND)]);
        let (first, second) = (ws.chapter("s01").unwrap(), ws.chapter("s02").unwrap());

        assert_eq!(
            show(&ws, Some(first), second),
            "\
s02_tools · adds tools · base s01_loop

--- s01_loop/src/main.rs
+++ s02_tools/src/main.rs
@@ -1,7 +1,8 @@
-//! s01 · the loop. Start with README.md.
+//! s02 · tools. Start with README.md.
 
-use s01_loop::{Client, bash};
+use s01_loop::Client;
+use s02_tools::Toolbox;
 
 fn main() {
-    bash();
+    Toolbox::new();
 }

src/main.rs: +4 −3

New files of s02_tools
  src/toolbox.rs   10 lines  A toolbox: tools by name.

Lessons that src/main.rs imports from (+ is not imported in s01_loop, - only there)
  s01_loop: Client, -bash
  s02_tools: +Toolbox
"
        );
    }

    #[test]
    fn a_hunk_is_headed_by_what_it_stands_in() {
        let text = "use x;\n\nimpl<T> Agent<T> {\n    pub async fn turn(&mut self) {\n        functional();\n";
        let heads =
            [(0, ""), (2, ""), (3, "impl<T> Agent<T> {"), (5, "pub async fn turn(&mut self) {")];
        for (line, head) in heads {
            assert_eq!(scope(text, line), head, "{line}");
        }
    }

    #[test]
    fn a_chapter_may_be_shown_whole_or_beside_any_other() {
        let teammate = |text: &str| format!("//! The teammate's loop.\n\nuse {text};\n");
        let ws = fixture::course(&[
            ("s01_loop/src/main.rs", FIRST),
            ("s02_tools/src/main.rs", SECOND),
            ("s01_loop/src/teammate.rs", &teammate("crate::Client")),
            ("s02_tools/src/teammate.rs", &teammate("s01_loop::{Client, Repl}")),
            ("s01_loop/tests/pool.txt", "lead: bash, glob\n"),
            ("s02_tools/tests/pool.txt", "lead: bash, task\nsubagent: bash\n"),
        ]);
        let (first, second) = (ws.chapter("s01").unwrap(), ws.chapter("s02").unwrap());
        let holds = |from, to, there: &[&str], not: &str| {
            let shown = show(&ws, from, to);
            assert!(there.iter().all(|part| shown.contains(part)), "{shown}");
            assert!(!shown.contains(not), "{shown}");
        };
        let start = format!(
            "s01_loop · adds the loop\n\ns01_loop/src/main.rs\n\n{FIRST}\nNew files of s01_loop\n"
        );
        let whole = [
            &start[..],
            "src/teammate.rs    3 lines  The teammate's loop.",
            "Lessons that src/main.rs imports from\n  s01_loop: Client, bash\n",
            "\nTools\n  lead: bash, glob\n",
        ];
        holds(None, first, &whole, "+++");
        let on = [
            "+++ s02_tools/src/teammate.rs\n",
            "src/teammate.rs imports from (+ is not imported in s01_loop, - only there)\n  s01_loop: Client, +Repl\n",
            "\nTools (+ is not offered in s01_loop, - only there)\n  lead: +task, -glob\n  subagent: +bash\n",
        ];
        holds(Some(first), second, &on, "teammate.rs    3 lines");
        let back = [
            "s01_loop · adds the loop · compared with s02_tools\n",
            "\n-use s02_tools::Toolbox;\n",
            "  s01_loop: Client, +bash\n  s02_tools: -Toolbox\n",
        ];
        holds(Some(second), first, &back, "New files");
    }
}
