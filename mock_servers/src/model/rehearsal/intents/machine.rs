//! Commands, programs and the machine they run on.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{Intent, ROW, bash};

/// The rows.
pub const MACHINE: &[Intent] = &[
    Intent {
        name: "print the working directory",
        says: &[
            "print|show|tell|display|get|name|what|which working|current directory|folder|dir|path",
            "print|show|tell|display|get|name|what|which is working|current directory|folder|dir|path",
            "print|show|tell|display|get|name|what|which current working directory|folder|dir|path",
            "print|show|tell|display|get|name|what|which is current working directory|folder|dir|path",
            "print|show|tell|display|get path of working|current|this directory|folder|dir",
            "where am|are i|we",
            "what|which directory|folder am|are",
            "working directory",
        ],
        by: &[bash(&[("command", "pwd")])],
        told: "The working directory is {first}.",
        doing: "print the working directory",
        ..ROW
    },
    Intent {
        name: "tell the date and time",
        says: &[
            "what|tell|show|print|give|get|display|current|which * date|time|day|clock|weekday",
            "today|now date",
        ],
        by: &[bash(&[("command", "date")])],
        told: "It is {first}.",
        doing: "ask for the date",
        ..ROW
    },
    Intent {
        name: "tell a program's version",
        says: &[
            "what|which|show|print|check|tell|get * version of {program:word}",
            "what|which|show|print|check|tell|get {program:word} version",
            "is {program:word} installed",
        ],
        by: &[bash(&[("command", "{program} --version")])],
        told: "{printed}",
        doing: "ask {program} for its version",
        ..ROW
    },
    Intent {
        name: "tell the user's name",
        says: &["which|what|as user am|is i", "who am i"],
        by: &[bash(&[("command", "whoami")])],
        told: "{printed}",
        doing: "ask for the user's name",
        ..ROW
    },
    Intent {
        name: "run the tests",
        says: &[
            "run|execute|start|do|launch * tests|test suite|testsuite",
            "run|execute * tests|test",
            "^ test code|project|it|this",
            "do|are tests pass|green|passing",
            "check|see if|whether|that tests pass",
        ],
        by: &[bash(&[("command", "cargo test")])],
        changes: true,
        told: "{printed}",
        told_empty: "The tests ran and printed nothing.",
        doing: "run the tests",
        ..ROW
    },
    Intent {
        name: "build the project",
        says: &[
            "build|compile project|code|it|crate|workspace|program|everything",
            "^ build",
            "^ compile",
            "does it|project|code build|compile",
        ],
        by: &[bash(&[("command", "cargo build")])],
        changes: true,
        told: "{printed}",
        told_empty: "The project is built.",
        doing: "build the project",
        ..ROW
    },
    Intent {
        name: "run a command",
        says: &[
            "run|execute|exec|launch|invoke|start|try command|line|program {command}",
            "run|execute|exec|launch|invoke|start|try {command}",
            "what does {command} print|say|show|output|return|give",
            "output of {command}",
            "show|what|print|give * of {command}",
            "^ {command}",
        ],
        by: &[bash(&[("command", "{command}")])],
        changes: true,
        told: "{printed}",
        told_empty: "I ran `{command}`; it printed nothing.",
        doing: "run `{command}`",
        ..ROW
    },
    Intent {
        name: "run a script",
        says: &[
            "run|execute|start|launch|test|try * {path}",
            "run|execute|start|launch {path:it}",
            "run|execute|start|launch script|program|file|code",
        ],
        fills: &[("path", "it")],
        by: &[bash(&[("command", "{runner}")])],
        changes: true,
        each: true,
        told: "{printed}",
        told_empty: "I ran {path}; it printed nothing.",
        doing: "run {path}",
        ..ROW
    },
];
