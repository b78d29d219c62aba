//! What came of the steps before, or of the request before, into a file.
//!
//! Invariant: what is written is what a tool returned; without a result nothing is written.

use crate::model::rehearsal::table::{Intent, ROW, bash, way};

/// The row that writes results.
pub const WRITE: &str = "write a result to a file";

/// The rows.
pub const RESULTS: &[Intent] = &[
    Intent {
        name: "write the output of a command to a file",
        says: &[
            "write|save|put|store|redirect|send|dump output|result|results of|from {command:quote} to|in|into {path}",
            "write|save|put|store|redirect|send|dump output|result|results of|from {command:program} to|in|into {path}",
        ],
        by: &[bash(&[("command", "{mkdir}{command} > {path|sh}")])],
        changes: true,
        told: "I wrote the output of `{command}` to {path}.",
        doing: "write the output of `{command}` to {path}",
        ..ROW
    },
    Intent {
        name: "append a result to a file",
        says: &[
            "append|add * result|results|output|answer|findings|hits|matches to|at|in {path}",
            "append|add what you|it|they found|find|says|said|returned|answered to|at|in {path}",
        ],
        by: &[bash(&[(
            "command",
            "printf '%s\\n' {results|line} >> {path|sh}",
        )])],
        changes: true,
        told: "I appended the result to {path}.",
        doing: "append the result to {path}",
        ..ROW
    },
    Intent {
        name: WRITE,
        says: &[
            "write|save|put|store|note|record|keep|dump|log|copy|export|collect * result|results|output|outputs|answer|answers|findings|hits|matches|response|reply|outcome to|in|into|as|under {path}",
            "write|save|put|store|export list|listing to|in|into|as|under {path}",
            "write|save|put|store|note|record|keep|dump|log|copy * what you|it|they|he|she|docs|server found|find|says|said|say|returns|returned|answers|answered|get|got to|in|into|under {path}",
            "write|save|put|store|note|record|keep|dump|log|copy * what is found|returned to|in|into|under {path}",
        ],
        by: &[
            way(
                "write_file",
                &[("path", "{path}"), ("content", "{results}")],
            ),
            bash(&[(
                "command",
                "{mkdir}printf '%s\\n' {results|line} > {path|sh}",
            )]),
        ],
        changes: true,
        told: "I wrote the result to {path}.",
        doing: "write the result to {path}",
        ..ROW
    },
];
