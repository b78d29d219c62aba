//! What the user wants known: noting it, and telling it again. No tool is needed: what stays beyond the conversation is
//! the harness's work.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{Intent, ROW};

/// The rows.
pub const MEMORY: &[Intent] = &[
    Intent {
        name: "tell what I know from you",
        says: &[
            "what|which * did|have i tell|told|say|said|mention|mentioned * about|of|regarding",
            "what|which * did|have i tell|told you",
            "what|which * do|did you know|remember|recall|learn about me|my|us|our|preferences|user",
            "what|which * do|did you remember|recall",
            "what|which are|is|were my|our preferences|preference|preferred|favorite|favourite|rules|conventions|style",
            "what|which * do i like|prefer|want|love|hate|use",
            "which|what * quotes|indentation do i prefer|like|use",
            "what is my name",
            "do|can|could|did you know|remember|recall what|how|which|who|my|me|about|that|if|whether|anything|something",
            "do i like|prefer|use|hate",
            "tell|show|list|repeat|recall what|everything i told|said|know|prefer|like",
            "tell|show|list|repeat|recall|summarize|summarise my|our preferences|preference|rules|conventions|memories|memory",
            "tell|show|list what you know|remember",
            "which|what preferences|preference|rules|conventions did|do|have i|you",
            "what|which have|do|did you stored|saved|noted|remembered|learned|store|save|note|learn",
            "show|list|tell|print memory|memories",
            "when|where do|does we|i deploy|release|ship|meet|work",
            "^ what you know|remember|recall",
            "have i told|said|mentioned",
            "how do i like|prefer|want",
            "^ what|everything i told|said|mentioned|prefer|like",
        ],
        told: "{recalled}",
        ..ROW
    },
    Intent {
        name: "forget something",
        says: &[
            "^ forget|unlearn that|what|about|my|the|everything|i|all|our",
            "delete|remove|erase|clear|wipe * memory|memories|preference|preferences",
        ],
        told: "{forgetting}",
        ..ROW
    },
    Intent {
        name: "note something for later",
        says: &[
            "remember|memorize|memorise|note that|this|it|what|how|my|our|the|we|i|to",
            "^ remember|memorize|memorise|note $",
            "^ remember|memorize|memorise {what:text}",
            "^ fyi {what:text}",
            "keep in|that mind",
            "do|don't|not forget",
            "make note",
            "take note",
            "^ don't|never forget",
            "for the record|future",
        ],
        told: "{noted}",
        whole: true,
        ..ROW
    },
    Intent {
        name: "note a preference",
        says: &[
            "^ i prefer|like|love|hate|dislike|favor|favour|always|never|use|work|live",
            "^ i also prefer|like|love|hate|dislike|favor|favour|always|never|use",
            "^ i really|much|strongly prefer|like|love|hate|dislike",
            "^ i am|would|do|don't|usually|generally rather|like|not|prefer|called|a|an|the",
            "^ i'm|i'd a|an|the|rather|prefer",
            "^ my favorite|favourite|preferred * is|are",
            "^ update|change my preference|preferences|indentation|style",
            "^ save|add|store|commit|write to memory",
            "^ my name|favorite|favourite|preference|preferred|editor|role|team|language|timezone is",
            "^ my indentation|coding|code|style|quote|quotes|formatting * is|are",
            "^ call me {who:word} $",
            "^ from now|here on",
            "^ going forward",
            "^ in future",
            "^ we always|never|use|prefer|deploy|release|write|work|don't|do",
            "^ this|project|codebase|repo|repository project|codebase|repo|repository|uses|targets|requires uses|targets|requires|is|has|needs",
            "^ always {what:words}",
            "^ never use|write|add|commit|put|create|touch|delete|run|push|indent|call|change|edit|forget|format",
            "^ you should|must always|never",
            "^ avoid|stop using|tabs|spaces|double|single",
            "^ avoid|stop",
            "^ use|using|prefer|indent|go|stick|switch|don't * tabs|spaces",
            "^ use|using|prefer|go|stick|switch|don't single|double quotes|quote|quotation",
            "^ use|using|prefer|go|stick|switch|don't with|to|use single|double quotes|quote|quotation",
            "^ no tabs|spaces|double|single",
            "^ tabs|spaces over|not|only|instead|are|please",
            "^ single|double quotes over|not|only|instead|are|please",
        ],
        told: "{noted}",
        ..ROW
    },
];
