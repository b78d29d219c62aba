//! The conversation's beginning: what the user asked for earlier. No tool is needed to answer.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{Intent, ROW, way};

/// The rows.
pub const ASKING_BACK: &[Intent] = &[
    Intent {
        name: "say what was asked first",
        says: &[
            "what|which did|have|was i ask|asked|say|said|tell|told|want|wanted|request|type|typed * first|initially|originally|beginning|start",
            "what|which did|have|was i first|initially|originally ask|asked|say|said|tell|told|want|wanted|request|type|typed",
            "what|which was|is * first|original|initial|very request|question|prompt|message|task|thing",
            "what|which request|question|prompt|task did i ask|give|type|make * first",
            "repeat|quote|recall|show|tell * first|original|initial request|question|prompt|message",
            "how did i|we|conversation|session start|begin",
            "how did this|it|conversation|session all start|begin",
            "what did we|i start|begin with",
        ],
        told: "{asked_first}",
        ..ROW
    },
    Intent {
        name: "count the requests",
        says: &[
            "how long * talking|talked|chatting|going|conversation",
            "how many questions|requests|turns|prompts|messages",
            "count questions|requests|turns|prompts|messages",
        ],
        told: "{requests}",
        ..ROW
    },
    Intent {
        name: "compact the conversation and keep something",
        needs: "compact",
        says: &[
            "compact|compress|condense|shrink|shorten|summarize|summarise conversation|history|context|chat|talk * keep|keeping|focus|focusing|remember on|about|what {focus:text}",
            "compact|compress|condense|shrink|shorten|summarize|summarise conversation|history|context|chat|talk * keep|keeping|focus|focusing|remember {focus:text}",
        ],
        by: &[way("compact", &[("focus", "{focus}")])],
        changes: true,
        told: "The conversation is compacted; {focus} is kept.",
        doing: "compact the conversation",
        ..ROW
    },
    Intent {
        name: "compact the conversation",
        needs: "compact",
        says: &[
            "compact|compress|condense|shrink|shorten|summarize|summarise conversation|history|context|chat|talk",
            "make|free room|space in|for context|conversation|history",
            "make|free room|space",
            "^ compact",
        ],
        by: &[way("compact", &[])],
        changes: true,
        told: "The conversation is compacted.",
        doing: "compact the conversation",
        ..ROW
    },
    Intent {
        name: "say what was asked before",
        says: &[
            "what|which did i ask|say|tell|want|request|type * before|last|previously|earlier|just",
            "what|which did i just ask|say|tell|want|request|type",
            "what|which was|is * last|previous request|question|prompt|message",
            "repeat|quote|recall * last|previous request|question|prompt|message",
        ],
        told: "{asked_before}",
        ..ROW
    },
    Intent {
        name: "say what was asked",
        says: &[
            "what|which did|have i|we ask|asked|request|requested",
            "what|which * requests|questions|prompts did|have i|we",
            "list|show|tell|repeat my|our|all * requests|questions|prompts",
        ],
        told: "{asked}",
        ..ROW
    },
];
