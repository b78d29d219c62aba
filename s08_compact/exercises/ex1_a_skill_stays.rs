//! Exercise 1 · a skill stays (10 minutes).
//!
//! When half of the window is full, the third layer makes one line of an old result, and tells the model to call the tool
//! again. What a file said has been read and used; what a skill says is to be followed until the work is done. Leave the
//! results of `load_skill` as they are, however old. All other results become lines as before, those beside a skill in one message, too. Where skills are
//! all that is old there is nothing to do, and the conversation stays the very one it was.
//!
//! Hint: a result does not say which tool it comes from. The line that stands in its place does; where does it know it
//! from?
//!
//! Hint: a result for which there is no line stays as it is.

use s01_loop::{Block, History, Output};

use super::{round, three_reads};
use crate::stage::Stage;

/// A window that the conversations here fill to more than half, and not to the limit.
const WINDOW: u32 = 24_000;

/// The characters of each of the three newest results.
const LARGE: usize = 14_000;

fn skill() -> Output {
    let rule = "Read twice before you write. ";
    Output::ok(format!("<skill name=\"tea\">\n{}\n</skill>", rule.repeat(200)))
}

/// What became of each result.
fn results(history: &History) -> Vec<&'static str> {
    let blocks = history.iter().flat_map(|message| message.blocks());
    let text = |block: &Block| match block {
        Block::ToolResult { content, .. } => Some(content.clone()),
        Block::Text { .. } | Block::ToolUse(_) | Block::Other(_) => None,
    };
    let fate = |text: String| {
        if text.starts_with("[old result of ") { "a line" } else { "as it was" }
    };
    blocks.filter_map(text).map(fate).collect()
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn an_old_skill_stays_and_what_stands_beside_it_goes() {
    let stage = Stage::scripted(WINDOW, []);
    let mut history = History::default();
    history.user("review this");
    let long = Output::ok("y".repeat(2_000));
    round(
        &mut history,
        &[
            ("read_file", "a.py", long.clone()),
            ("load_skill", "tea", skill()),
            // A file that only looks like a skill.
            ("read_file", "SKILL.md", skill()),
        ],
    );
    three_reads(&mut history, LARGE);
    stage.compactor.shrink(&mut history).await;
    assert_eq!(
        results(&history)[..3],
        ["a line", "as it was", "a line"],
        "what became of the three results of the oldest round: two files and, between them, a skill"
    );
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn where_only_skills_are_old_nothing_is_replaced() {
    let stage = Stage::scripted(WINDOW, []);
    let mut history = History::default();
    history.user("review this");
    round(&mut history, &[("load_skill", "tea", skill())]);
    round(&mut history, &[("load_skill", "tea", skill())]);
    three_reads(&mut history, LARGE);
    let before = history.to_vec();
    stage.compactor.shrink(&mut history).await;
    assert_eq!(
        results(&history)[..2],
        ["as it was"; 2],
        "what became of the results of the two skills"
    );
    let same = std::iter::zip(history.iter(), &before);
    for (at, (new, old)) in same.enumerate() {
        assert!(
            std::ptr::eq(new.wire(), old.wire()),
            "there was nothing to do, and message {at} was made anew"
        );
    }
}
