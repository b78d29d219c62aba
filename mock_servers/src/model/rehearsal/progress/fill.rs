//! A call made from a row's templates.
//!
//! Invariant: an argument nobody filled is not given, unless it is a text.

use serde_json::Value;

use super::Call;
use crate::model::rehearsal::slots::Slots;
use crate::model::rehearsal::table::Way;

/// The call of this way with these slots.
pub fn fill(way: &'static Way, slots: &Slots, path: Option<&str>) -> Call {
    let args = way.args.iter().filter_map(|(name, template)| {
        let text = slots.render(template, path);
        let is_spelled = ["|number}", "|json}"]
            .iter()
            .any(|end| template.ends_with(end));
        if is_spelled && text.is_empty() {
            return None;
        }
        let spelled = is_spelled.then(|| serde_json::from_str(&text).ok());
        Some((
            name.to_string(),
            spelled.flatten().unwrap_or(Value::from(text)),
        ))
    });
    Call {
        tool: way.tool.into(),
        input: Value::Object(args.collect()),
    }
}
