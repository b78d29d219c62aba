//! What somebody gains and loses who goes from one chapter to another: tools and imported items.
//!
//! `cargo x diff` prints it and the book shows it, so both must see the same.
//! Invariant: what is gone is named as well as what is new; from nowhere, nothing is new.

use std::collections::BTreeSet;

use crate::pool;
use crate::rust::{self, Imports};
use crate::workspace::{Chapter, Workspace};

/// Names in front of which stands `+` when they are new, `-` when they are gone, and else a blank; with the agent that has
/// the tools, or the lesson that the items come from.
pub type Marked = (String, Vec<(char, String)>);

/// The tools of each agent, in the order of the chapter they arrive at; those that are gone come last.
pub fn tools(ws: &Workspace, from: Option<&Chapter>, to: &Chapter) -> Vec<Marked> {
    let before = from.map(|from| pool::read(ws, from));
    let now = pool::read(ws, to);
    let gone = before.iter().flatten().map(|(agent, _)| agent);
    let gone = gone.filter(|agent| now.iter().all(|(name, _)| name != *agent));
    let agents = now.iter().map(|(agent, _)| agent).chain(gone);
    let of = |pools: &pool::Pools, agent: &str| {
        let found = pools.iter().filter(|(name, _)| *name == agent);
        let tools = found.flat_map(|(_, tools)| tools);
        tools.map(|tool| (*tool).to_owned()).collect::<Vec<_>>()
    };
    let marked = |agent: &&str| {
        let before = before.as_ref().map(|before| of(before, agent));
        ((*agent).to_owned(), marked(before, of(&now, agent)))
    };
    agents.map(marked).collect()
}

/// The lessons that a carried file of `to` imports from, and those that only the one of `from` does. `None` when `to`
/// has no copy of its own.
pub fn lessons(
    ws: &Workspace,
    from: Option<&Chapter>,
    to: &Chapter,
    file: &str,
) -> Option<Vec<Marked>> {
    let read = |it: &Chapter| Some(rust::lessons(ws.text(it, file)?, &it.name));
    let now = read(to)?;
    let before = from.and_then(|from| read(ws.carrier(from, file)?));
    let lessons: BTreeSet<_> = before.iter().flatten().chain(&now).map(|it| it.0).collect();
    let of = |imports: &Imports, lesson: &str| {
        let items = imports.get(lesson).into_iter().flatten();
        items.cloned().collect::<Vec<_>>()
    };
    let marked = |lesson: &String| {
        let before = before.as_ref().map(|before| of(before, lesson));
        let mut items = marked(before, of(&now, lesson));
        items.sort_by(|(_, one), (_, other)| one.cmp(other));
        (lesson.clone(), items)
    };
    Some(lessons.into_iter().map(marked).collect())
}

/// Both lists as one.
fn marked(before: Option<Vec<String>>, now: Vec<String>) -> Vec<(char, String)> {
    let is_new = |name: &String| before.as_ref().is_some_and(|before| !before.contains(name));
    let kept = now.iter().map(|name| (if is_new(name) { '+' } else { ' ' }, name));
    let gone = before.iter().flatten().filter(|name| !now.contains(name));
    let all = kept.chain(gone.map(|name| ('-', name)));
    all.map(|(mark, name)| (mark, name.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;
    use crate::workspace::MAIN;

    fn shown(all: Vec<Marked>) -> Vec<String> {
        let names = |names: Vec<(char, String)>| {
            names.iter().map(|it| format!(" {}{}", it.0, it.1)).collect::<String>()
        };
        all.into_iter().map(|(of, all)| format!("{of}:{}", names(all))).collect()
    }

    #[test]
    fn tools_and_imports_come_and_go() {
        let ws = fixture::course(&[
            ("s01_loop/tests/pool.txt", "lead: glob, bash\nsubagent: bash\n"),
            ("s02_tools/tests/pool.txt", "lead: bash, task\nteammate: bash\n"),
            ("s01_loop/src/main.rs", "use s01_loop::{Client, bash};\n"),
            ("s02_tools/src/main.rs", "use s02_tools::Toolbox;\n"),
        ]);
        let (first, second) = (ws.chapter("s01").unwrap(), ws.chapter("s02").unwrap());

        let agents = ["lead:  bash +task -glob", "teammate: +bash", "subagent: -bash"];
        assert_eq!(shown(tools(&ws, Some(first), second)), agents);
        assert_eq!(shown(tools(&ws, None, first)), ["lead:  glob  bash", "subagent:  bash"]);
        let imports = lessons(&ws, Some(first), second, MAIN).unwrap();
        assert_eq!(shown(imports), ["s01_loop: -Client -bash", "s02_tools: +Toolbox"]);
    }
}
