//! Work that takes several steps, and the plan that is kept of it.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::comments;
use crate::model::rehearsal::python::{refactor, style};
use crate::model::rehearsal::table::{Intent, On, PART, Part, ROW, Way, bash, way};

/// The ways to change a file that was read.
const REWRITE: &[Way] = &[
    way(
        "edit_file",
        &[
            ("path", "{path}"),
            ("old_text", "{old}"),
            ("new_text", "{new}"),
        ],
    ),
    way("write_file", &[("path", "{path}"), ("content", "{whole}")]),
    bash(&[("command", "printf '%s\\n' {whole|line} > {path|sh}")]),
];

/// The ways to read a file.
const READ: &[Way] = &[
    way("read_file", &[("path", "{path}")]),
    bash(&[("command", "cat {path|sh}")]),
];

/// The rows.
pub const PLAN: &[Intent] = &[
    Intent {
        name: "show the todo list",
        needs: "todo_write",
        says: &[
            "what|which|show|list|tell|print|display|read|how * todo|todos|to-do|checklist",
            "show|list|print|display plan $",
            "what is plan $",
            "what|which is|comes next|open|left $",
            "what is next step|item|task",
        ],
        told: "{todos}",
        ..ROW
    },
    Intent {
        name: "make a plan",
        needs: "todo_write",
        says: &[
            "make|create|write|draw|draft|prepare|give|set|start|need|want * plan|todo|todos|to-do|checklist list|up|down|items for|to|of|on|about {what:text}",
            "make|create|write|draw|draft|prepare|give|set|start|need|want * plan|todo|todos|to-do|checklist for|to|of|on|about {what:text}",
            "put together|up * plan|todo|todos|to-do|checklist list|up|down|items for|to|of|on|about {what:text}",
            "put together|up * plan|todo|todos|to-do|checklist for|to|of|on|about {what:text}",
            "^ plan out {what:text}",
            "^ plan {what:text}",
            "break down {what:text}",
        ],
        by: &[way("todo_write", &[("todos", "{todo|json}")])],
        changes: true,
        told: "I wrote a plan for {what}. {todos}",
        doing: "write a plan for {what}",
        ..ROW
    },
    Intent {
        name: "refactor a file",
        says: &[
            "refactor|modernize|modernise|polish|improve * {path}",
            "clean|tidy up {path:file}",
            "tidy {path:file}",
            "rewrite|update|change * {path} * hints|docstrings|docstring|guard|annotations",
            "give|equip|provide {path} * hints|docstrings|docstring|guard|annotations|types",
            "add|put|insert|include|write|attach|place|provide * hints|hint|annotations|docstrings|docstring|guard|types * {path}",
            "document|annotate {path:file}",
            "refactor {path:it}",
        ],
        parts: &[
            Part {
                row: "read a file to change it",
                ..PART
            },
            Part {
                row: "add type hints",
                when: &[
                    "hint",
                    "hints",
                    "type",
                    "types",
                    "typing",
                    "annotations",
                    "annotate",
                ],
                ..PART
            },
            Part {
                row: "add docstrings",
                when: &["docstring", "docstrings", "documentation", "document"],
                ..PART
            },
            Part {
                row: "add a main guard",
                when: &["guard", "__main__", "__name__"],
                ..PART
            },
            Part {
                row: "look at the result",
                fills: &[("n", "200")],
                ..PART
            },
        ],
        each: true,
        planned: true,
        ..ROW
    },
    Intent {
        name: "refactor all files of a kind",
        says: &[
            "add|put|insert|include|write * hints|hint|annotations|docstrings|docstring|guard * {kind:files} files|file|code|scripts|modules|sources",
            "refactor|modernize|modernise|polish|document|annotate {kind:files} files|file|code|scripts|modules|sources",
        ],
        also: &["in|inside|under|within|of {where:place}"],
        fills: &[("label", "files"), ("where", ".")],
        parts: &[
            Part {
                row: "find files",
                on: On::Nothing,
                ..PART
            },
            Part {
                row: "read files to change them",
                on: On::Found(0),
                ..PART
            },
            Part {
                row: "add type hints",
                on: On::Found(0),
                when: &["hint", "hints", "type", "types", "annotations", "annotate"],
                ..PART
            },
            Part {
                row: "add docstrings",
                on: On::Found(0),
                when: &["docstring", "docstrings", "document"],
                ..PART
            },
            Part {
                row: "add a main guard",
                on: On::Found(0),
                when: &["guard"],
                ..PART
            },
        ],
        planned: true,
        ..ROW
    },
    Intent {
        name: "comment a file",
        says: &[
            "add|put|insert|include|write|attach|place * comment|comments|header * to|at|in|into|on|of|above {path:file}",
            "comment {path:file}",
        ],
        parts: &[
            Part {
                row: "read a file to change it",
                ..PART
            },
            Part {
                row: "add a comment",
                ..PART
            },
        ],
        each: true,
        ..ROW
    },
    Intent {
        name: "check the style of all files of a kind",
        says: &[
            "check|review|inspect|examine|rate|judge|assess * style|formatting|lint|pep8 * {kind:files} files|file|code|scripts|modules|sources",
            "check|review|inspect|examine|rate|judge|assess * style|formatting|lint|pep8 * files|code in|under|inside|of {where:place}",
        ],
        also: &["in|inside|under|within|of {where:place}"],
        fills: &[("kind", "*.py"), ("label", "Python files"), ("where", ".")],
        parts: &[
            Part {
                row: "find files",
                on: On::Nothing,
                ..PART
            },
            Part {
                row: "read files to change them",
                on: On::Found(0),
                ..PART
            },
            Part {
                row: "check the style",
                on: On::Found(0),
                ..PART
            },
        ],
        ..ROW
    },
    Intent {
        name: "create a Python package",
        says: &[
            "create|make|build|set|scaffold|generate|write|start|add * package under|in|at|inside|into|called|named|as {dir:place}",
            "create|make|build|set|scaffold|generate|write|start|add * package {dir:place}",
            "scaffold|bootstrap {dir:place} * package",
            "create|make|build|set|scaffold|generate {dir:place} as * package",
        ],
        also: &["in|under|inside {where:place}"],
        parts: &[
            Part {
                row: "write a file of a package",
                on: On::Each,
                ..PART
            },
            Part {
                row: "list a package",
                on: On::Nothing,
                fills: &[("label", "files")],
                ..PART
            },
        ],
        planned: true,
        ..ROW
    },
    Intent {
        name: "fix the style of all files of a kind",
        says: &[
            "review|check|lint|inspect|examine|go|look|scan * {kind:files} * fix|correct|repair|clean|tidy|style|lint|pep8|formatting",
            "fix|correct|repair|clean|tidy|improve * style|formatting|lint|pep8|whitespace * {kind:files} files|file|code|scripts|modules|sources",
            "fix|correct|repair|clean|tidy|improve|lint|reformat|format * {kind:files} files|file|code|scripts|modules|sources",
            "fix|correct|repair|clean|tidy|improve * style|formatting|lint|pep8|whitespace issues|issue|problems|faults|errors in|of|under|inside {where:place}",
            "lint|reformat {kind:files}",
            "lint|reformat|tidy|format|clean * files|file|code|everything|scripts in|under|inside|of {where:place}",
            "tidy|clean|lint|reformat up {where:place} folder|directory|files|code",
            "tidy|clean|lint|reformat {where:place} folder|directory|files|code",
        ],
        also: &["in|inside|under|within|of {where:place}"],
        fills: &[("kind", "*.py"), ("label", "Python files"), ("where", ".")],
        parts: &[
            Part {
                row: "find files",
                on: On::Nothing,
                ..PART
            },
            Part {
                row: "read files to change them",
                on: On::Found(0),
                ..PART
            },
            Part {
                row: "fix the style",
                on: On::Found(0),
                ..PART
            },
        ],
        planned: true,
        ..ROW
    },
    Intent {
        name: "fix the style of a file",
        says: &[
            "fix|correct|repair|clean|tidy|improve * style|formatting|lint|pep8|whitespace * {path}",
            "review|check|lint|inspect|examine {path} * fix|correct|repair|style",
            "lint|reformat|format {path}",
        ],
        parts: &[
            Part {
                row: "read a file to change it",
                ..PART
            },
            Part {
                row: "fix the style",
                ..PART
            },
        ],
        each: true,
        ..ROW
    },
    Intent {
        name: "read a file to change it",
        by: READ,
        told: "I read {path}.",
        doing: "read {path}",
        ..ROW
    },
    Intent {
        name: "read files to change them",
        by: READ,
        told: "I read {path}.",
        doing: "read the files",
        ..ROW
    },
    Intent {
        name: "add type hints",
        by: REWRITE,
        changes: true,
        rewrites: Some(refactor::hints),
        told: "{note}.",
        doing: "add type hints to {path}",
        ..ROW
    },
    Intent {
        name: "add docstrings",
        by: REWRITE,
        changes: true,
        rewrites: Some(refactor::docstrings),
        told: "{note}.",
        doing: "add docstrings to {path}",
        ..ROW
    },
    Intent {
        name: "add a main guard",
        by: REWRITE,
        changes: true,
        rewrites: Some(refactor::guard),
        told: "{note}.",
        doing: "add a main guard to {path}",
        ..ROW
    },
    Intent {
        name: "look at the result",
        // Not the call that read it first: both results are in the conversation.
        by: &[
            way("read_file", &[("path", "{path}"), ("limit", "{n|number}")]),
            bash(&[("command", "head -n {n} {path|sh}")]),
        ],
        told: "I looked at {path}.",
        doing: "look at {path} again",
        ..ROW
    },
    Intent {
        name: "fix the style",
        by: REWRITE,
        changes: true,
        rewrites: Some(style::repaired),
        told: "{note}.",
        doing: "fix the style of what was read",
        ..ROW
    },
    Intent {
        name: "add a comment",
        by: REWRITE,
        changes: true,
        rewrites: Some(comments::commented),
        told: "{note}.",
        doing: "add a comment to {path}",
        ..ROW
    },
    Intent {
        name: "check the style",
        by: REWRITE,
        changes: true,
        rewrites: Some(style::checked),
        told: "{note}.",
        doing: "check the style of what was read",
        ..ROW
    },
    Intent {
        name: "write a file of a package",
        by: &[
            way(
                "write_file",
                &[("path", "{path}"), ("content", "{content}")],
            ),
            bash(&[(
                "command",
                "{mkdir}printf '%s\\n' {content|line} > {path|sh}",
            )]),
        ],
        changes: true,
        told: "I created {path}.",
        doing: "create {path}",
        ..ROW
    },
    Intent {
        name: "list a package",
        by: &[
            way("glob", &[("pattern", "{where|under}**/*")]),
            bash(&[("command", "find {where|sh} -type f")]),
        ],
        told: "The package holds {list}.",
        doing: "check that the files are there",
        ..ROW
    },
];
