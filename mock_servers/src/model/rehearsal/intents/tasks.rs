//! The task board: making tasks that block each other, and working through them.
//!
//! Ids come from earlier results; the functions below read them there.
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::board;
use crate::model::rehearsal::table::{Intent, On, PART, Part, ROW, way};
use crate::model::rehearsal::task_words;

const LISTED: &[Part] = &[Part {
    row: "list the tasks",
    on: On::Nothing,
    ..PART
}];

/// The rows.
pub const TASKS: &[Intent] = &[
    Intent {
        name: "put tasks on the board",
        needs: "create_task",
        says: &[
            "create|add|make|open|file|register|set|need|want up|out|in|for|board task|tasks {job:text}",
            "create|add|make|open|file|register|set|need|want task|tasks {job:text}",
            "create|add|make|open|need|want {n:number} task|tasks {job:text}",
            "create|add|make|open|need|want {n:number} linked|dependent|related task|tasks {job:text}",
            "put|add|write|place * on|to task|tasks board {job:text}",
            "put|add|write|place * on|to board {job:text}",
            "break|split|divide * into task|tasks {job:text}",
            "i|we need|want for task|tasks {job:text}",
            "i|we need|want task|tasks {job:text}",
            "i|we need|want {n:number} task|tasks {job:text}",
        ],
        by: &[way(
            "create_task",
            &[("subject", "{subject}"), ("blockedBy", "{blockers|json}")],
        )],
        changes: true,
        beside: true,
        whole: true,
        splits: Some(task_words::tasks),
        says_of: Some(board::created),
        told: "{said}",
        doing: "create the task “{subject}”",
        ..ROW
    },
    Intent {
        name: "tell which tasks are free",
        needs: "list_tasks",
        says: &[
            "what|which can|could|should|shall i|we|you start|begin|work|claim|take|pick with|on|next|now|first|up",
            "what|which can|could|should|shall i|we|you start|begin|claim $",
            "list|show|what|which|are|is|check|see|tell|get|display * unblocked|claimable|unlocked",
            "what|which|are|is|show|list|any * tasks|task|ones * available|ready|free|startable",
            "which|what tasks|task can be|i|we * claimed|start|claim|started",
            "what|which can be|i|we * claimed|claim",
        ],
        by: &[way("list_tasks", &[])],
        says_of: Some(board::free),
        told: "{said}",
        doing: "look at the board",
        ..ROW
    },
    Intent {
        name: "show a task in full",
        needs: "get_task",
        says: &[
            "show|get|give|tell|describe|display|print * details|detail|description of|about|for|on {which:text}",
            "describe {which:text} task",
        ],
        by: &[way("get_task", &[("task_id", "{task}")])],
        parts: LISTED,
        later: Some(board::named),
        told: "{printed}",
        doing: "look at the task",
        ..ROW
    },
    Intent {
        name: "list the tasks",
        needs: "list_tasks",
        says: &[
            "list|show|display|print|what|which|see|view|check|get|give|read|look|how * tasks|board|statuses",
            "show|display|print|view|see|open|get * task list|overview|graph",
            "^ tasks|board $",
        ],
        by: &[way("list_tasks", &[])],
        told: "{printed}",
        doing: "list the tasks",
        ..ROW
    },
    Intent {
        name: "claim a task",
        needs: "claim_task",
        says: &[
            "claim|grab|pick|take|start|begin up|on|with {which:text} task|tasks|one",
            "claim|grab|pick|take|start|begin {which:text} task|tasks|one",
            "claim|grab {which:text}",
            "work on {which:text} task|one",
            "assign {which:text} to me|you|yourself",
        ],
        by: &[way("claim_task", &[("task_id", "{task}")])],
        changes: true,
        parts: LISTED,
        later: Some(board::claimable),
        says_of: Some(board::claimed),
        told: "{said}",
        doing: "claim a task",
        ..ROW
    },
    Intent {
        name: "complete the claimed task",
        needs: "complete_task",
        says: &[
            "complete|finish|close|resolve|do it|that|them",
            "complete|finish|close|resolve task $",
            "mark|set|report it|that|task * completed|complete|done|finished",
            "complete|finish|close|resolve claimed|current task",
            "^ do work",
        ],
        by: &[way("complete_task", &[("task_id", "{task}")])],
        changes: true,
        later: Some(board::own),
        says_of: Some(board::completed),
        told: "{said}",
        doing: "complete the task",
        ..ROW
    },
    Intent {
        name: "complete a task",
        needs: "complete_task",
        says: &[
            "complete|finish|close|resolve {which:text} task",
            "mark|set {which:text} as|to completed|complete|done|finished",
        ],
        by: &[way("complete_task", &[("task_id", "{task}")])],
        changes: true,
        parts: LISTED,
        later: Some(board::named),
        says_of: Some(board::completed),
        told: "{said}",
        doing: "complete the task",
        ..ROW
    },
];
