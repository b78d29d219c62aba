//! Which tools a chapter's agents are offered: its `tests/pool.txt`.
//!
//! The chapter's class test holds the same file against what the model was sent, so nothing has to be counted by hand.
//! Invariant: an agent that the file does not name has no tools, and a chapter without the file has no agents.

use crate::workspace::{Chapter, Workspace};

/// Where a chapter keeps it.
pub const FILE: &str = "tests/pool.txt";

/// The agents of a chapter with their tools, in the order of the file: `lead: bash, read_file`.
pub fn read<'a>(ws: &'a Workspace, chapter: &Chapter) -> Vec<(&'a str, Vec<&'a str>)> {
    let lines = ws.text(chapter, FILE).unwrap_or_default().lines();
    lines
        .filter_map(|line| line.split_once(": "))
        .map(|(agent, tools)| (agent, tools.split(", ").collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn each_agent_has_a_line() {
        let ws = fixture::course(&[(
            "s02_tools/tests/pool.txt",
            "lead: bash, glob\nteammate: bash\n",
        )]);

        assert_eq!(
            read(&ws, ws.chapter("s02").unwrap()),
            [("lead", vec!["bash", "glob"]), ("teammate", vec!["bash"])]
        );
        assert_eq!(read(&ws, ws.chapter("s01").unwrap()), []);
    }
}
