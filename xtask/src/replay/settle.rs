//! What git would take for a conflict although nobody disagrees, settled before it merges.
//!
//! A lesson's items stand in one `use` line, which nearly every chapter has in another form: merged as text, each new item
//! would be a conflict in each of them. So imports are merged as the sets of names that they are. And the semicolon behind a
//! chain of calls stands alone while git merges, so that a chapter's own last call is no change of the one before it.
//! Invariant: what a chapter imports stays, but for what the change takes away; what only some of the texts import from is
//! left to git.

use std::collections::BTreeMap;

/// The texts ours, before and after with the same `use` line for each lesson that all of them import from.
pub fn settled(texts: [&str; 3]) -> [String; 3] {
    let [ours, before, after] = texts.map(lessons);
    let mut settled = texts.map(str::to_owned);
    for (lesson, mine) in &ours {
        let (Some(before), Some(after)) = (before.get(lesson), after.get(lesson)) else {
            continue;
        };
        if before == after {
            continue;
        }
        let stays = |item: &&&str| after.contains(item) || !before.contains(item);
        let mut items: Vec<&str> = mine.iter().filter(stays).copied().collect();
        let is_new = |item: &&&str| !before.contains(item) && !mine.contains(item);
        items.extend(after.iter().filter(is_new));
        let line = match &items[..] {
            [] => continue,
            [item] => format!("use {lesson}::{item};"),
            items => format!("use {lesson}::{{{}}};", items.join(", ")),
        };
        for text in &mut settled {
            *text = with_line(text, lesson, &line);
        }
    }
    settled.map(|text| apart(&text))
}

/// The text with the semicolon of each chain of calls on a line of its own.
fn apart(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let call = line.trim_start().strip_prefix('.').and(line.strip_suffix(";\n"));
        call.map_or(line.to_owned(), |call| format!("{call}\n{ALONE}"))
    });
    lines.collect()
}

/// The text with each semicolon back behind its call.
pub fn joined(text: &str) -> String {
    text.replace(&format!("\n{ALONE}"), ";\n")
}

/// How a semicolon stands on a line of its own; rustfmt leaves none there.
const ALONE: &str = ";\n";

/// The items of each lesson that is imported from.
fn lessons(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let statements = text.split("\nuse ").skip(1);
    let trees = statements.filter_map(|statement| statement.split(';').next()?.split_once("::"));
    let names = |list| str::split(list, ['{', ',', '}']).map(str::trim);
    let items = |list| names(list).filter(|name| !name.is_empty()).collect();
    trees.map(|(lesson, list)| (lesson, items(list))).collect()
}

/// The text with this line in the place of its `use` of the lesson.
fn with_line(text: &str, lesson: &str, line: &str) -> String {
    let Some((before, rest)) = text.split_once(&format!("\nuse {lesson}::")) else {
        return text.to_owned();
    };
    let (_, behind) = rest.split_once(';').unwrap_or_default();
    format!("{before}\n{line}{behind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(uses: &[&str]) -> String {
        let lines = uses.iter().map(|line| format!("\nuse {line};"));
        format!("//! A chapter.\n{}\n\nfn main() {{}}\n", lines.collect::<String>())
    }

    #[test]
    fn a_new_item_joins_what_each_chapter_imports() {
        let before = text(&["anyhow::Result", "s01::{A, B}", "s02::C"]);
        let after = text(&["anyhow::Result", "s01::{A, New}", "s02::{C, D}"]);
        let ours = text(&["anyhow::Result", "s01::{\n    Own, A,\n    B,\n}", "s02::C", "s03::E"]);

        let [ours, before, after] = settled([&ours, &before, &after]);

        let joined = ["anyhow::Result", "s01::{Own, A, New}", "s02::{C, D}"];
        assert_eq!(ours, text(&[&joined[..], &["s03::E"]].concat()));
        assert_eq!((before, after), (text(&joined), text(&joined)));
    }

    #[test]
    fn a_last_call_of_its_own_is_no_change_of_the_one_before() {
        let chain = "    let a = b()\n        .with(c())\n        .with(d());\n    e(f);\n";
        let [text, ..] = settled([chain; 3]);
        assert!(text.contains("        .with(c())\n        .with(d())\n;\n    e(f);\n"), "{text}");
        assert_eq!(joined(&text), chain);
    }

    #[test]
    fn what_only_some_import_from_is_left_to_git() {
        let texts = [text(&["s01::A"]), text(&["s01::A", "s02::B"]), text(&["s01::A"])];
        assert_eq!(settled([&texts[0], &texts[1], &texts[2]]), texts);
    }
}
