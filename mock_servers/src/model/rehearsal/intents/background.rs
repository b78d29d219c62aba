//! Commands that run on while the model does something else. Only where bash can do that.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{Intent, ROW, Way, way};

const NEEDS: &str = "bash.run_in_background";
const BY: &[Way] = &[way(
    "bash",
    &[
        ("command", "{command}"),
        ("run_in_background", "{background|json}"),
    ],
)];
const TOLD: &str = "`{command}` runs in the background as {said}; its end will be reported to me.";

/// `job_1 runs in the background; …`: the job.
fn job(content: &str) -> String {
    content
        .split_whitespace()
        .next()
        .unwrap_or("a job")
        .to_owned()
}

/// The rows.
pub const BACKGROUND: &[Intent] = &[
    Intent {
        name: "run a command in the background",
        needs: NEEDS,
        says: &[
            "run|execute|start|launch|kick|begin|fire|put|have|let|do * {command:quote} * background",
            "run|execute|start|launch|begin|put|have|let|do {command:program} in|into|as|on background",
            "run|execute|start|launch|begin|put|have|let|do {command:program} run|running in|as background",
            "kick|fire off {command:program} in|as background",
            "run|execute|start|launch|begin command {command:program} in|as background",
            "^ in background run|execute|start|launch {command}",
            "^ background {command}",
            "^ {command:quote} * background",
            "^ {command:program} is|are running|executing in background",
            "^ {command:program} runs|run|running|is in background",
            "^ {command:program} in background",
        ],
        fills: &[("background", "true")],
        by: BY,
        says_of: Some(job),
        told: TOLD,
        doing: "run `{command}` in the background",
        ..ROW
    },
    Intent {
        name: "build in the background",
        needs: NEEDS,
        says: &[
            "build|compile * background",
            "run|start|launch build in|as background",
        ],
        fills: &[("background", "true"), ("command", "cargo build")],
        by: BY,
        says_of: Some(job),
        told: TOLD,
        doing: "build in the background",
        ..ROW
    },
    Intent {
        name: "test in the background",
        needs: NEEDS,
        says: &["run|start|launch|execute tests|test in|as background"],
        fills: &[("background", "true"), ("command", "cargo test")],
        by: BY,
        says_of: Some(job),
        told: TOLD,
        doing: "run the tests in the background",
        ..ROW
    },
];
