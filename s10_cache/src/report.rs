//! The report of a turn: how much of its input the API read from its prompt cache.
//!
//! Without figures, a cache that stopped hitting shows only in the bill. Invariant: the figures are the
//! API's own counts, summed over the requests of the turn; nothing is estimated.

use std::future::{Ready, ready};

use kit::grouped;
use s01_loop::{Repl, Usage};
use s04_hooks::{HookOutput, Stop};

/// Stop: says how many input tokens of the turn were read from the prompt cache, written to it, and neither.
pub fn cache_report(repl: &Repl) -> impl Fn(Stop) -> Ready<HookOutput> + Send + Sync + 'static {
    let repl = repl.clone();
    move |Stop { history, .. }| {
        repl.remark(&line(history.spent()));
        ready(HookOutput::Go)
    }
}

fn line(spent: &Usage) -> String {
    format!(
        "[cache: read {} · wrote {} · fresh {} tokens]",
        grouped(spent.cache_read_input_tokens),
        grouped(spent.cache_creation_input_tokens),
        grouped(spent.input_tokens)
    )
}
