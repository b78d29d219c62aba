//! What was found so far, as the text of a file.
//!
//! Invariant: it is what the tools returned, whole, as far as it is still there.

use super::{Deed, Outcome, Walk};
use crate::model::rehearsal::gist;
use crate::model::rehearsal::left::Left;
use crate::model::rehearsal::servers;
use crate::model::rehearsal::table::Intent;
use crate::model::rehearsal::verdict::{Verdict, judge};

/// The slot with what was found.
pub(super) const SLOT: &str = "results";

/// Tools whose answers are no result anybody wants to keep.
const SILENT: &[&str] = &["write_file", "edit_file", "todo_write", "connect_mcp"];

/// Whether a row writes what was found.
pub(super) fn are_written_by(intent: &Intent) -> bool {
    let mut args = intent.by.iter().flat_map(|way| way.args);
    args.any(|(_, template)| template.contains("{results"))
}

impl Walk<'_, '_> {
    /// What the steps before returned; for the first step, what the request before returned. Why there is nothing, else.
    pub(super) fn results(&self) -> Result<String, Outcome<'static>> {
        let deeds = self.outcomes.iter().flat_map(Outcome::deeds);
        let now = deeds.filter(|deed| is_kept(deed));
        let mut texts: Vec<String> = now.map(|deed| text(&deed.tool, deed.content)).collect();
        if self.outcomes.is_empty() {
            let before = self.turn.calls_before();
            let last = before
                .iter()
                .rfind(|past| judge(past) == Verdict::Fine && !is_silent(&past.name));
            texts.extend(last.map(|past| text(&past.name, past.content)));
        }
        texts.retain(|text| !text.is_empty());
        match (texts.is_empty(), self.outcomes.is_empty()) {
            (false, _) => Ok(texts.join("\n")),
            (true, true) => Err(Outcome::Unserved(
                "There is no result yet that I could write to a file.".to_owned(),
            )),
            (true, false) => Err(Outcome::Skipped),
        }
    }
}

/// Whether a call gave something to keep; a command that fails has an output, too.
fn is_kept(deed: &Deed) -> bool {
    let is_output = gist::exit_code(deed.content).is_some() && deed.tool == "bash";
    let is_there = deed.verdict == Verdict::Fine && deed.left != Left::Nothing;
    !is_silent(&deed.tool) && (is_there || is_output)
}

fn is_silent(tool: &str) -> bool {
    SILENT.contains(&tool)
}

/// A result without what a harness or a protocol put around it.
fn text(tool: &str, content: &str) -> String {
    let text = match tool {
        "read_file" => gist::unnumbered(gist::body(content)),
        _ => servers::text(content).to_owned(),
    };
    match text.trim_end() {
        "" => String::new(),
        text => format!("{text}\n"),
    }
}
