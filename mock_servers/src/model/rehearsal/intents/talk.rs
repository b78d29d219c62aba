//! The conversation itself: what was done, which tools there are. No tool is needed to answer.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{First, Intent, ROW};

/// The rows.
pub const TALK: &[Intent] = &[
    Intent {
        name: "say what was done",
        says: &[
            "what|which * did|have you",
            "what|which * you created|made|changed|done|ran|deleted|wrote",
        ],
        told: "{history}",
        ..ROW
    },
    Intent {
        name: "list the tools",
        says: &[
            "what|which|list|show * tools",
            "tools available|offer|offered",
        ],
        told: "{tools}",
        ..ROW
    },
    Intent {
        name: "tell what a project is about",
        says: &[
            "tell|explain|describe|say * project|repo|repository|workspace|codebase|crate|program",
            "summarize|summarise project|repo|repository|workspace|codebase|crate|program",
            "summarize|summarise what|purpose|idea|goal|gist|point * project|repo|repository|workspace|codebase|crate|program",
            "what * project|repo|repository|workspace|codebase|crate|program about|do|does|for",
            "what project|repo|repository|workspace|codebase|crate",
            "what is it|this|that about|for",
            "what it|this|that|they is|are about|for",
            "tell|explain|describe|summarize|summarise|say what|how each|everyone|they * does|do|did|is|are|works",
            "tell|explain|describe|summarize|summarise it|them|that|contents|content|findings|about",
        ],
        first: Some(First {
            intent: "read a file",
            path: "README.md",
        }),
        retells: true,
        told: "{gists}",
        ..ROW
    },
    Intent {
        name: "show the last output",
        says: &[
            "tell|show|give|report|explain|print|display|what * output|outputs|prints|printed|result|results|happens|happened",
            "what it|that says|said|does|did|prints|printed|contains",
            "tell|give|report|list it|them|what",
        ],
        told: "{previous}",
        ..ROW
    },
];
