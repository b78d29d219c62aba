//! Long outputs: a module of many functions, written to a file or only shown.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{Intent, ROW, bash, way};

/// What tells how many functions, and where they go.
const DETAILS: &[&str] = &[
    "{n:number} functions|documented|different|distinct|small|short|long|python|helper|utility|well",
    "called|named|in|into|to|as {path:file}",
    "^ write|create|make|generate|produce {path:file}",
];

/// The rows.
pub const LONG: &[Intent] = &[
    Intent {
        name: "show a long module",
        says: &[
            "show|print|display|output|recite|type|give|tell|say * long|huge|large|big|giant|enormous|endless python module|script|program|library",
            "show|print|display|output|recite|type|give|tell|say * long|huge|large|big|giant|enormous|endless module|script|program|library",
            "show|print|display|output|recite|type|give|tell|say {n:number} functions",
            "show|print|display|output|recite|type|give|tell|say {n:number} documented|different|distinct|small|long|python|helper|utility functions",
            "show|print|display|output|recite|type|give|tell|say * module|script|program of|with {n:number} functions",
            "write|create|make|generate|produce * functions|module|script * not|don't|without|no write|create|use|using|file|files|saving|writing|tool|tools",
            "write|create|make|generate|produce * functions|module|script * here|chat|text|reply|answer|inline|screen $",
        ],
        also: DETAILS,
        fills: &[("n", "40")],
        told: "Here are {n|functions} functions:\n\n```python\n{long}```",
        ..ROW
    },
    Intent {
        name: "write a long module",
        says: &[
            "write|create|make|generate|produce|build|add|need|want * long|huge|large|big|giant|enormous|endless python module|script|program|library|file",
            "write|create|make|generate|produce|build|add|need|want * long|huge|large|big|giant|enormous|endless module|script|program|library|file",
            "write|create|make|generate|produce|build|add|need|want {n:number} functions",
            "write|create|make|generate|produce|build|add|need|want {n:number} documented|different|distinct|small|long|python|helper|utility functions",
            "write|create|make|generate|produce|build|add|need|want * module|script|program|file|library of|with|containing|holding {n:number} functions",
            "write|create|make|generate|produce|build|add|need|want * module|script|program|file|library of|with|containing|holding {n:number} documented|different|distinct|small|long|python|helper|utility functions",
            "write|create|make|generate|produce {path:file} with|containing|of {n:number} functions",
            "write|create|make|generate|produce {path:file} with|containing|of {n:number} documented|different|distinct|small|long|python|helper|utility functions",
            "long|huge|large|big|giant|enormous|endless python|long|huge|large module|script|program|library",
            "long|huge|large|big|giant|enormous|endless module|script|program|library",
        ],
        also: DETAILS,
        fills: &[("n", "40"), ("path", "long_module.py")],
        by: &[
            way("write_file", &[("path", "{path}"), ("content", "{long}")]),
            bash(&[("command", "{mkdir}printf '%s\\n' {long|line} > {path|sh}")]),
        ],
        changes: true,
        told: "I wrote {n|functions} functions with docstrings to {path}.",
        doing: "write {n|functions} functions to {path}",
        ..ROW
    },
];
