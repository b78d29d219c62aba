//! Merges memories that say the same.
//!
//! Invariant: nothing is lost. An entry goes only into another of the same name or of nearly the same content, and what
//! it says beyond that one goes with it.

use serde_json::Value;

use crate::model::rehearsal::likeness::alike;
use crate::model::rehearsal::style::Style;

/// The memories that remain, as a JSON array; a sentence when they cannot be read.
pub fn answer(question: &str) -> String {
    let memories = super::inside(question, "memories").unwrap_or(question);
    let Ok(memories) = serde_json::from_str::<Vec<Value>>(memories.trim()) else {
        return "I could not read the memories: they are no JSON array.".to_owned();
    };
    let mut kept: Vec<Value> = Vec::new();
    for memory in memories {
        match kept.iter_mut().find(|known| say_the_same(known, &memory)) {
            Some(known) => merge(known, memory),
            None => kept.push(memory),
        }
    }
    Value::Array(kept).to_string()
}

fn text<'m>(memory: &'m Value, field: &str) -> &'m str {
    memory
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn say_the_same(memory: &Value, other: &Value) -> bool {
    let name = |memory| text(memory, "name").to_lowercase().replace([' ', '_'], "-");
    let named_alike = !name(memory).is_empty() && name(memory) == name(other);
    let (content, others) = (text(memory, "content"), text(other, "content"));
    // Tabs over spaces and spaces over tabs have the same words.
    named_alike || alike(content, others) && Style::of_text(content) == Style::of_text(others)
}

/// The later entry stands; what the earlier one says otherwise is put in front.
fn merge(known: &mut Value, later: Value) {
    let (before, after) = (text(known, "content"), text(&later, "content"));
    let content = match () {
        () if after.contains(before) || alike(before, after) && after.len() >= before.len() => {
            after.to_owned()
        }
        () if before.contains(after) || alike(before, after) => before.to_owned(),
        () => format!("{before}\n{after}"),
    };
    let name = known.get("name").cloned();
    *known = later;
    known["content"] = Value::from(content);
    if let Some(name) = name {
        known["name"] = name;
    }
}
