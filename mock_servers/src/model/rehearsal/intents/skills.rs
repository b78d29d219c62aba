//! Skills, and the code review that one of them is about.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::findings;
use crate::model::rehearsal::skills;
use crate::model::rehearsal::table::{Intent, On, PART, Part, ROW, bash, way};

/// The rows.
pub const SKILLS: &[Intent] = &[
    Intent {
        name: "list the skills",
        needs: "load_skill",
        says: &[
            "what|which|list|show|tell|name|give|do|are * skills",
            "skills available|offered|there",
            "what|which skill have|has|can|exist|exists|is|helps|help|fits|do|does|should|would|for|covers|handles",
            "tell|explain|describe * skill $",
        ],
        told: "{skills}",
        ..ROW
    },
    Intent {
        name: "load a skill",
        needs: "load_skill",
        says: &[
            "load|use|get|activate|open|apply|fetch|invoke|try|read|follow|using|consult skill called|named {skill:word}",
            "load|use|get|activate|open|apply|fetch|invoke|try|read|follow|using|consult {skill:word} skill",
            "load|use|get|activate|open|apply|fetch|invoke|try|read|follow|using|consult * {skill:word} skill",
            "load|use|get|activate|open|apply|fetch|invoke|try|read|follow|using|consult|find * skill for|to|about|on|that|which {topic:text}",
            "load|use|get|activate|open|apply|fetch|invoke|try|read|follow|using|consult skill {skill:word}",
            "load|use|get|activate|open|apply|fetch|find skill",
            "need|want {skill:word} skill",
        ],
        by: &[way("load_skill", &[("name", "{skill}")])],
        changes: true,
        told: "I loaded the skill {skill}. {gist}",
        doing: "load the skill {skill}",
        ..ROW
    },
    Intent {
        name: "follow a skill",
        needs: "load_skill",
        says: &[
            "follow|apply|obey|execute * instructions|steps|guidance|checklist|advice|procedure|rules",
            "follow|apply|obey it|them",
            "do what it|skill says|asks",
        ],
        tells: Some(skills::instructions),
        told: "{found}",
        ..ROW
    },
    Intent {
        name: "look where to begin",
        by: &[way("glob", &[("pattern", "*")]), bash(&[("command", "ls")])],
        told: "I see {list}.",
        doing: "look at what there is to apply it to",
        ..ROW
    },
    Intent {
        name: "review the code",
        says: &[
            "do|make|perform|run|give|start|need|want|conduct|carry * code review",
            "review code|changes|diff|project|repo|repository|codebase|work|source|sources",
            "^ code review",
        ],
        parts: &[
            Part {
                row: "look at what changed",
                on: On::Nothing,
                ..PART
            },
            Part {
                row: "find source files",
                on: On::Nothing,
                fills: &[
                    ("kinds", "{rs,py,js,ts,go,java,c,rb,sh}"),
                    ("label", "source files"),
                ],
                ..PART
            },
            Part {
                row: "read source files",
                on: On::Found(1),
                most: 4,
                ..PART
            },
        ],
        tells: Some(findings::review),
        told: "{found}",
        ..ROW
    },
    Intent {
        name: "look at what changed",
        by: &[bash(&[("command", "git status --short && git diff")])],
        told: "{printed}",
        doing: "look at what changed",
        ..ROW
    },
    Intent {
        name: "find source files",
        by: &[
            way("glob", &[("pattern", "**/*.{kinds}")]),
            bash(&[(
                "command",
                "find . -type f -name '*.[rpjtgcs]*' -not -path '*/.*' -not -path '*/target/*' -not -name '*.toml'",
            )]),
        ],
        told: "I found {list}.",
        doing: "look for source files",
        ..ROW
    },
    Intent {
        name: "read source files",
        by: &[
            way("read_file", &[("path", "{path}")]),
            bash(&[("command", "cat {path|sh}")]),
        ],
        told: "I read {path}.",
        doing: "read some of them",
        ..ROW
    },
    Intent {
        name: "find the testing framework",
        says: &[
            "find|what|which|tell|identify|determine|detect|figure|check|name|explain|show|look|see|how|discover * testing|test|tests framework|frameworks|library|libraries|runner|tool|tools|setup",
            "what|which|how * project|repo|repository|codebase|code|we test|tests|tested|testing",
            "what|which * used|use|uses for testing|tests",
        ],
        parts: &[
            Part {
                row: "find manifests",
                on: On::Nothing,
                fills: &[(
                    "kinds",
                    "{Cargo.toml,package.json,pyproject.toml,setup.cfg,tox.ini,pytest.ini,requirements.txt,go.mod,Gemfile,pom.xml}",
                )],
                ..PART
            },
            Part {
                row: "read manifests",
                on: On::Found(0),
                most: 3,
                ..PART
            },
            Part {
                row: "find test files",
                on: On::Nothing,
                ..PART
            },
            Part {
                row: "read test files",
                on: On::Found(2),
                most: 3,
                ..PART
            },
        ],
        tells: Some(findings::framework),
        told: "{found}",
        ..ROW
    },
    Intent {
        name: "find manifests",
        by: &[
            way("glob", &[("pattern", "**/{kinds}")]),
            bash(&[(
                "command",
                "find . -type f '(' -name Cargo.toml -o -name package.json -o -name pyproject.toml -o -name setup.cfg -o -name tox.ini -o -name pytest.ini -o -name requirements.txt -o -name go.mod -o -name Gemfile -o -name pom.xml ')' -not -path '*/.*'",
            )]),
        ],
        told: "I found {list}.",
        doing: "look for manifests",
        ..ROW
    },
    Intent {
        name: "read manifests",
        by: &[
            way("read_file", &[("path", "{path}")]),
            bash(&[("command", "cat {path|sh}")]),
        ],
        told: "I read {path}.",
        doing: "read the manifests",
        ..ROW
    },
    Intent {
        name: "find test files",
        by: &[
            way("glob", &[("pattern", "**/*test*")]),
            bash(&[(
                "command",
                "find . -type f -name '*test*' -not -path '*/.*' -not -path '*/target/*'",
            )]),
        ],
        told: "I found {list}.",
        doing: "look for test files",
        ..ROW
    },
    Intent {
        name: "read test files",
        by: &[
            way("read_file", &[("path", "{path}")]),
            bash(&[("command", "cat {path|sh}")]),
        ],
        told: "I read {path}.",
        doing: "read some test files",
        ..ROW
    },
];
