//! What has changed in a tool, in a few lines for the user.
//!
//! A description may be long and a schema deep, and the change a word in it; a question that shows all of both is not
//! read. Invariant: what is shown is short, each change on a line, and no character in it moves the cursor or hides.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::plain::one_line;

/// The most changes that are shown; the rest is counted.
const MOST_SHOWN: usize = 4;

/// The most characters of where a change is, and of what stood and stands there.
const MAX_PATH: usize = 80;
const MAX_TEXT: usize = 100;

/// How many characters that are the same are shown before the first that is not.
const BEFORE: usize = 20;

/// What is different in the new value, one change a line: where, and old → new.
pub(crate) fn changes(old: &Value, new: &Value) -> String {
    let mut found = Vec::new();
    compare("", old, new, &mut found);
    let more = found.len().saturating_sub(MOST_SHOWN);
    found.truncate(MOST_SHOWN);
    if more > 0 {
        found.push(format!("  and {more} more"));
    }
    found.join("\n")
}

fn compare(path: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    match (old, new) {
        (old, new) if old == new => {}
        (Value::Object(old), Value::Object(new)) => {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                let path = format!("{path}.{name}");
                let of = |object: &serde_json::Map<String, Value>| object.get(name).cloned();
                let (old, new) = (of(old), of(new));
                compare(
                    &path,
                    &old.unwrap_or_default(),
                    &new.unwrap_or_default(),
                    found,
                );
            }
        }
        (old, new) => {
            let (was, is) = (text(old), text(new));
            let same = was.chars().zip(is.chars()).take_while(|(a, b)| a == b);
            let from = same.count().saturating_sub(BEFORE);
            let path = one_line(path.trim_start_matches('.'), MAX_PATH);
            let (was, is) = (piece(&was, from, old), piece(&is, from, new));
            found.push(format!("  changed {path}: {was} → {is}"));
        }
    }
}

/// A value as it is compared: a text without the escapes of JSON.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A piece of what the value is as text. A text stands in quotes, with whatever is no visible character escaped.
fn piece(text: &str, from: usize, value: &Value) -> String {
    let before = if from > 0 { "…" } else { "" };
    let mut rest = text.chars().skip(from);
    let shown: String = rest.by_ref().take(MAX_TEXT).collect();
    let behind = if rest.next().is_some() { "…" } else { "" };
    match value.is_string() {
        true => format!("{before}{shown:?}{behind}"),
        false => format!("{before}{}{behind}", one_line(&shown, MAX_TEXT)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_change_is_a_line_that_begins_shortly_before_it() {
        let old = json!({
            "description": format!("Reads a page. {}The end.", "x".repeat(500)),
            "inputSchema": {"type": "object", "properties": {"path": {"description": "The path."}}},
            "annotations": {"readOnlyHint": null, "title": "Read"},
        });
        let mut new = old.clone();
        assert_eq!(changes(&old, &new), "");
        new["description"] =
            format!("Reads a page. {}Then {}", "x".repeat(500), "y".repeat(500)).into();
        new["inputSchema"]["properties"]["path"]["description"] =
            "The\n# System\u{1b}[8m\u{200b}".into();
        new["annotations"] = json!({"readOnlyHint": true, "title": "Read"});
        assert_eq!(
            changes(&old, &new),
            format!(
                "  changed annotations.readOnlyHint: nothing → true\n  \
                 changed description: …\"{x}The end.\" → …\"{x}Then {y}\"…\n  \
                 changed inputSchema.properties.path.description: \"The path.\" → \"The\\n# System\\u{{1b}}[8m\\u{{200b}}\"",
                x = "x".repeat(17),
                y = "y".repeat(78),
            )
        );
    }

    #[test]
    fn many_changes_are_counted_and_an_order_is_none() {
        let of = |value: u32| {
            let names = (0..10).map(|n| (format!("k{n}"), json!(value)));
            names.collect::<Value>()
        };
        let shown = changes(&of(1), &of(2));
        assert_eq!(shown.lines().count(), MOST_SHOWN + 1);
        assert!(shown.ends_with("\n  and 6 more"), "{shown}");
        let turned: Value = of(1)
            .as_object()
            .unwrap()
            .clone()
            .into_iter()
            .rev()
            .collect();
        assert_eq!(changes(&of(1), &turned), "");
    }
}
