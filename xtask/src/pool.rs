//! Which tools a chapter's agents are offered: its `tests/pool.txt`, and `cargo x pool`.
//!
//! The chapter's class test holds the same file against what the model was sent, so nothing has to be counted by hand; the
//! numbers in the READMEs follow from it.
//! Invariant: a chapter without the file hands on the pool of its base; an agent that the file does not name has no tools.

use anyhow::{Result, ensure};

use crate::budget;
use crate::cargo::{cargo, succeeds};
use crate::workspace::{Chapter, Workspace};

/// Where a chapter keeps it.
const FILE: &str = "tests/pool.txt";
/// What the class tests are called that ask for it, and those with the snapshots that show tools.
const TESTS: [&str; 2] = ["the_tool_pool", "the_prompt"];

/// Compares the pools with what the chapters offer, or writes them, and the snapshots, as they are now.
///
/// # Errors
/// When a chapter offers other tools than its pool names, or a run fails.
pub fn run(ws: &Workspace, write: bool) -> Result<()> {
    let mut command = cargo(&["test", "--quiet", "--workspace", "--no-fail-fast"]);
    command.args(["--test", "main", "--"]).args(TESTS).current_dir(&ws.root);
    if write {
        // What the test and insta want to hear.
        command.env("POOL", "write").env("INSTA_UPDATE", "always");
    }
    let passed = succeeds(&mut command)?;
    if write {
        // The READMEs count what has just been written.
        budget::write(&Workspace::find(&ws.root)?)?;
    }
    let why = if write {
        "what was offered is written; a test fails for another reason, told above"
    } else {
        "a pool is not what the chapter offers; if the chapter is right: cargo x pool --write"
    };
    ensure!(passed, why);
    Ok(())
}

/// Agents with their tools.
pub type Pools<'a> = Vec<(&'a str, Vec<&'a str>)>;

/// The agents of a chapter with their tools, in the order of the file: `lead: bash, read_file`.
pub fn read<'a>(ws: &'a Workspace, chapter: &'a Chapter) -> Pools<'a> {
    let carrier = ws.carrier(chapter, FILE);
    let text = carrier.and_then(|carrier| ws.text(carrier, FILE));
    let lines = text.unwrap_or_default().lines();
    let agents = lines.filter_map(|line| line.split_once(": "));
    agents.map(|(agent, tools)| (agent, tools.split(", ").collect())).collect()
}

/// A README with the numbers of tools as they are, in rows such as `| lead tools | 5 | 6 |`: those of the base, and those
/// of the chapter. A cell without a number stays.
pub fn counted(ws: &Workspace, chapter: &Chapter, readme: &str) -> String {
    let pools = [ws.base(chapter), Some(chapter)].map(|chapter| Some(read(ws, chapter?)));
    let line = |line: &str| {
        let agent = line.strip_prefix("| ")?.split_once(" tools |")?.0;
        let mut cells: Vec<String> = line.split('|').map(str::to_owned).collect();
        for (cell, pool) in cells.iter_mut().skip(2).zip(&pools) {
            let tools = pool.iter().flatten().find(|(name, _)| *name == agent);
            let tail = cell.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
            if let Some((_, tools)) = tools.filter(|_| tail.len() < cell.trim_start().len()) {
                *cell = format!(" {}{tail}", tools.len());
            }
        }
        Some(cells.join("|"))
    };
    let lines = readme.split_inclusive('\n');
    lines.map(|it| line(it).unwrap_or(it.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn each_agent_has_a_line_and_a_chapter_without_a_file_hands_on() {
        let pool = "lead: bash, glob\nteammate: bash\n";
        let ws = fixture::course(&[("s01_loop/tests/pool.txt", pool)]);
        let expected = [("lead", vec!["bash", "glob"]), ("teammate", vec!["bash"])];
        for chapter in ["s01", "s02"] {
            assert_eq!(read(&ws, ws.chapter(chapter).unwrap()), expected);
        }
        assert_eq!(read(&fixture::course(&[]), ws.chapter("s02").unwrap()), []);
    }

    #[test]
    fn the_numbers_of_a_readme_follow_from_the_pools() {
        let ws = fixture::course(&[
            ("s01_loop/tests/pool.txt", "lead: bash\n"),
            ("s02_tools/tests/pool.txt", "lead: bash, glob\nteammate: bash\n"),
        ]);
        let readme = "| x | 7 | 7 |\n| lead tools | 5 | 6, and more |\n| teammate tools | | 9 |\n";
        assert_eq!(
            counted(&ws, ws.chapter("s02").unwrap(), readme),
            "| x | 7 | 7 |\n| lead tools | 1 | 2, and more |\n| teammate tools | | 1 |\n"
        );
    }
}
