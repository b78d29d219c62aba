//! What somebody gains and loses who goes from one chapter to another: tools and imported items.
//!
//! `cargo x diff` prints it and the book shows it, so both must see the same.
//! Invariant: what is gone is named as well as what is new; from nowhere, nothing is new.

use std::collections::BTreeSet;

use crate::pool;
use crate::rust::{self, Imports};
use crate::workspace::{Chapter, Workspace};

/// What has become of something on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    /// It is there before and after, or there is nothing to compare it with.
    Kept,
    /// It is there after only.
    Added,
    /// It is there before only.
    Removed,
}

/// Names with what has become of them.
pub type Fates = Vec<(String, Fate)>;

/// The tools of each agent, in the order of the chapter they arrive at; those that are gone come last.
pub fn tools(ws: &Workspace, from: Option<&Chapter>, to: &Chapter) -> Vec<(String, Fates)> {
    let before = from.map(|from| pool::read(ws, from));
    let now = pool::read(ws, to);
    let of = |pools: &[(&str, Vec<&str>)], agent: &str| -> Vec<String> {
        let found = pools.iter().find(|(name, _)| *name == agent);
        let tools = found.map(|(_, tools)| tools.as_slice()).unwrap_or_default();
        tools.iter().map(|tool| (*tool).to_owned()).collect()
    };
    let mut agents: Vec<&str> = now.iter().map(|(agent, _)| *agent).collect();
    let gone = before.iter().flatten().map(|(agent, _)| *agent);
    let gone: Vec<_> = gone.filter(|agent| !agents.contains(agent)).collect();
    agents.extend(gone);
    agents
        .into_iter()
        .map(|agent| {
            let before = before.as_ref().map(|before| of(before, agent));
            (
                agent.to_owned(),
                fates(before.as_deref(), &of(&now, agent), false),
            )
        })
        .collect()
}

/// The lessons that a carried file of `to` imports from, and those that only the one of `from` does. `None` when `to`
/// has no copy of its own.
pub fn lessons(
    ws: &Workspace,
    from: Option<&Chapter>,
    to: &Chapter,
    file: &str,
) -> Option<Vec<(String, Fates)>> {
    let now = read(ws, to, file)?;
    Some(compared(before(ws, from, file), now))
}

/// What the copy of a carried file that `from` runs imports. `None` when it runs none.
pub fn before(ws: &Workspace, from: Option<&Chapter>, file: &str) -> Option<Imports> {
    let carrier = ws.carrier(from?, file)?;
    read(ws, carrier, file)
}

/// What the chapter's own copy of a carried file imports.
fn read(ws: &Workspace, chapter: &Chapter, file: &str) -> Option<Imports> {
    Some(rust::lessons(ws.text(chapter, file)?, &chapter.name))
}

fn compared(before: Option<Imports>, now: Imports) -> Vec<(String, Fates)> {
    let items = |imports: &Imports, lesson: &str| -> Vec<String> {
        imports.get(lesson).into_iter().flatten().cloned().collect()
    };
    let all = before.iter().flatten().chain(&now);
    let lessons: BTreeSet<_> = all.map(|(lesson, _)| lesson).collect();
    lessons
        .into_iter()
        .map(|lesson| {
            let before = before.as_ref().map(|before| items(before, lesson));
            (
                lesson.clone(),
                fates(before.as_deref(), &items(&now, lesson), true),
            )
        })
        .collect()
}

/// Both lists as one; without a list to compare with, all is kept.
fn fates(before: Option<&[String]>, now: &[String], sorted: bool) -> Fates {
    let fate = |name: &String| match before {
        Some(before) if !before.contains(name) => Fate::Added,
        _ => Fate::Kept,
    };
    let mut all: Fates = now.iter().map(|name| (name.clone(), fate(name))).collect();
    let gone = before.unwrap_or_default().iter();
    let gone = gone.filter(|name| !now.contains(name));
    all.extend(gone.map(|name| (name.clone(), Fate::Removed)));
    if sorted {
        all.sort_by(|one, other| one.0.cmp(&other.0));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;
    use crate::workspace::MAIN;

    fn named(fates: &[(&str, Fate)]) -> Fates {
        fates
            .iter()
            .map(|(name, fate)| ((*name).to_owned(), *fate))
            .collect()
    }

    #[test]
    fn tools_come_and_go_and_so_do_agents() {
        let ws = fixture::course(&[
            (
                "s01_loop/tests/pool.txt",
                "lead: glob, bash\nsubagent: bash\n",
            ),
            (
                "s02_tools/tests/pool.txt",
                "lead: bash, task\nteammate: bash\n",
            ),
        ]);
        let (first, second) = (ws.chapter("s01").unwrap(), ws.chapter("s02").unwrap());

        let agents = tools(&ws, Some(first), second);

        let lead = named(&[
            ("bash", Fate::Kept),
            ("task", Fate::Added),
            ("glob", Fate::Removed),
        ]);
        assert_eq!(
            agents,
            [
                ("lead".to_owned(), lead),
                ("teammate".to_owned(), named(&[("bash", Fate::Added)])),
                ("subagent".to_owned(), named(&[("bash", Fate::Removed)])),
            ]
        );
        let alone = tools(&ws, None, first);
        assert_eq!(alone[1].1, named(&[("bash", Fate::Kept)]));
    }

    #[test]
    fn an_import_that_is_gone_is_named_with_its_lesson() {
        let ws = fixture::course(&[
            ("s01_loop/src/main.rs", "use s01_loop::{Client, bash};\n"),
            ("s02_tools/src/main.rs", "use s02_tools::Toolbox;\n"),
        ]);
        let (first, second) = (ws.chapter("s01").unwrap(), ws.chapter("s02").unwrap());

        let all = lessons(&ws, Some(first), second, MAIN).unwrap();

        let gone = named(&[("Client", Fate::Removed), ("bash", Fate::Removed)]);
        assert_eq!(
            all,
            [
                ("s01_loop".to_owned(), gone),
                ("s02_tools".to_owned(), named(&[("Toolbox", Fate::Added)])),
            ]
        );
    }
}
