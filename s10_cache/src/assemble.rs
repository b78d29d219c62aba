//! The system prompt, assembled in sections.
//!
//! In one long string a change is hard to find; sections in a fixed order show what changed and what that costs.
//! Invariant: the same context gives the same bytes; no clock, no map in random order.

use s01_loop::System;

use crate::context::Context;
use crate::section::Section;

/// The prompt of this context, with a prompt-cache breakpoint after its stable sections and one at its end.
pub fn assemble(context: &Context) -> System {
    join(&Section::ALL.map(|section| section.render(context)))
}

/// The texts of all sections as one prompt.
pub(crate) fn join(texts: &[String; Section::ALL.len()]) -> System {
    let mut system = System::default();
    for (section, text) in Section::ALL.into_iter().zip(texts) {
        system = system.and(text);
        if section == Section::LAST_STABLE {
            system = system.breakpoint();
        }
    }
    system.breakpoint()
}
