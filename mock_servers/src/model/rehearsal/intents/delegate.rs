//! Jobs for a subagent.
//!
//! The job is handed on in the user's own words; whoever wants it checked gets it checked here, by the one who asked.
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{Intent, ROW, bash, way};

/// The rows.
pub const DELEGATE: &[Intent] = &[
    Intent {
        name: "check what a subagent made",
        needs: "task",
        says: &[
            "verify|check|confirm|test|inspect|review {path:it} * parent|yourself|lead|main|directly",
            "verify|check|confirm|test * file|result|work|function * parent|yourself|lead|main|directly",
            "verify|check|confirm|test {path} * parent|yourself|lead|main|directly",
            "verify|confirm {path:it}",
        ],
        fills: &[("path", "it")],
        by: &[
            way("read_file", &[("path", "{path}")]),
            bash(&[("command", "cat {path|sh}")]),
        ],
        each: true,
        told: "I checked it myself: {defines}.",
        doing: "check {path} myself",
        ..ROW
    },
    Intent {
        name: "hand a job to a subagent",
        needs: "task",
        says: &[
            "hand|give|pass|assign|leave|outsource|delegate|send {job:text} to|over {who:subagent} $",
            "hand|give|pass|assign|leave|outsource|delegate|send * {who:subagent} {job:text}",
            "delegate|outsource {job:text}",
            "use|using|start|spawn|launch|run|dispatch|invoke|try task|tasks|agent|agents {job:text}",
            "use|using|start|spawn|launch|run|dispatch|invoke|try {n:number} tasks|agents {job:text}",
            "use|using|start|spawn|launch|run|dispatch|invoke|try|create|make * {who:subagent} {job:text}",
            "have|let|make|get|ask|tell|instruct|want|need|send * {who:subagent} {job:text}",
            "^ in|with|through|via|by {who:subagent} {job:text}",
            "^ a|an|the|another|one {who:subagent} {job:text}",
            "^ {n:number} {who:subagent} {job:text}",
            "^ {job:text} with|using|via|in|through|by {who:subagent} $",
        ],
        by: &[way("task", &[("description", "{job}")])],
        changes: true,
        beside: true,
        whole: true,
        told: "{reported}",
        doing: "have a subagent {job}",
        ..ROW
    },
];
