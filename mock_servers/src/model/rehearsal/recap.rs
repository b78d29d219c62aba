//! A recap of a conversation: what a summary says, written by the side call and read again by the agent.
//!
//! A model that is shown only a summary must know what was asked and which calls were made, else it makes them for ever.
//! Invariant: `read` understands what `write` writes, and in any other text the lines that begin with `- done:`.

use std::fmt::Write;

use serde_json::{Map, Value};

/// The longest request that is repeated, in characters.
const MAX_REQUEST: usize = 600;

/// The longest argument that is repeated, in characters; of a longer one as much as `KEPT`.
const MAX_ARGUMENT: usize = 100;
const KEPT: usize = 60;

/// How many lines of each kind are kept: requests in between, calls of earlier requests, calls of this one, findings.
const MAX_LINES: [usize; 4] = [12, 12, 100, 60];

/// What is known of the earlier conversation.
#[derive(Clone, Debug, Default)]
pub struct Recap {
    /// The user's requests, the first one first.
    pub requests: Vec<String>,
    /// Calls for earlier requests.
    pub earlier: Vec<Done>,
    /// Calls for the last request.
    pub done: Vec<Done>,
    /// What was found: one line each.
    pub findings: Vec<String>,
}

/// A call that was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// The tool.
    pub name: String,
    /// Its arguments, as far as they are known; long ones are cut and end in `…`.
    pub input: Value,
}

const FIRST: &str = "The user asked first: ";
const THEN: &str = "The user asked then: ";
const LATEST: &str = "The user asked last: ";
const EARLIER: &str = "Calls for earlier requests:";
const LAST: &str = "Calls for this request:";
const FOUND: &str = "Findings:";
const DONE: &str = "- done: ";

impl Recap {
    /// Reads a summary.
    pub fn read(text: &str) -> Self {
        let mut recap = Self::default();
        let (mut finding, mut earlier) = (false, false);
        for line in text.lines().map(str::trim) {
            let request = [FIRST, THEN, LATEST]
                .iter()
                .find_map(|lead| line.strip_prefix(lead));
            finding = line == FOUND || finding && line.starts_with("- ") && !line.starts_with(DONE);
            if let Some(request) = request {
                recap.requests.push(request.to_owned());
            } else if line == EARLIER || line == LAST {
                earlier = line == EARLIER;
            } else if let Some(done) = line.strip_prefix(DONE) {
                let calls = if earlier {
                    &mut recap.earlier
                } else {
                    &mut recap.done
                };
                calls.push(Done::read(done));
            } else if let Some(found) = line.strip_prefix("- ").filter(|_| finding) {
                recap.findings.push(found.to_owned());
            }
        }
        recap
    }

    /// Writes a summary.
    pub fn write(&self) -> String {
        let [most_requests, most_earlier, most_done, most_findings] = MAX_LINES;
        let mut text = String::new();
        if let [first, rest @ ..] = &self.requests[..] {
            let _ = writeln!(text, "{FIRST}{first}");
            if let [between @ .., last] = rest {
                for request in newest(between, most_requests) {
                    let _ = writeln!(text, "{THEN}{request}");
                }
                let _ = writeln!(text, "{LATEST}{last}");
            }
        }
        let calls = [
            (EARLIER, newest(&self.earlier, most_earlier)),
            (LAST, newest(&self.done, most_done)),
        ];
        for (heading, done) in calls.into_iter().filter(|(_, done)| !done.is_empty()) {
            let _ = writeln!(text, "{heading}");
            for Done { name, input } in done {
                let _ = writeln!(text, "{DONE}{name} {input}");
            }
        }
        if !self.findings.is_empty() {
            let _ = writeln!(text, "{FOUND}");
            for found in newest(&self.findings, most_findings) {
                let _ = writeln!(text, "- {found}");
            }
        }
        text.trim_end().to_owned()
    }

    /// The user asks for something else: what was done is done for an earlier request.
    pub fn asked(&mut self, request: &str) {
        let request = one_line(request);
        if self.requests.last() != Some(&request) {
            self.requests.push(request);
            self.earlier.append(&mut self.done);
        }
    }

    /// Whether this is the request the last calls were made for.
    pub fn is_about(&self, request: &str) -> bool {
        self.requests
            .last()
            .is_none_or(|last| *last == one_line(request))
    }

    /// The turn is over: what was done is done for an earlier request.
    pub fn answered(&mut self) {
        self.earlier.append(&mut self.done);
    }

    /// A call was made.
    pub fn did(&mut self, done: Done) {
        if !self.done.contains(&done) {
            self.done.push(done);
        }
    }

    /// Something was found.
    pub fn found(&mut self, line: String) {
        let about = |line: &str| {
            line.split_once(": ")
                .map_or(line, |(about, _)| about)
                .to_owned()
        };
        self.findings.retain(|known| about(known) != about(&line));
        self.findings.push(line);
    }
}

impl Done {
    /// Reads `name {json}`; of arguments that were cut, those that are whole.
    pub fn read(line: &str) -> Self {
        let (name, json) = line
            .trim()
            .split_once(char::is_whitespace)
            .unwrap_or((line.trim(), ""));
        Self {
            name: name.to_owned(),
            input: Value::Object(whole_arguments(json)),
        }
        .shortened()
    }

    /// Whether it was this call.
    pub fn is(&self, name: &str, input: &Value) -> bool {
        let (Some(known), Some(given)) = (self.input.as_object(), input.as_object()) else {
            return false;
        };
        let same = |(field, known): (&String, &Value)| match (known.as_str(), given.get(field)) {
            (_, Some(given)) if known == given => true,
            (Some(known), Some(Value::String(given))) => known
                .strip_suffix('…')
                .is_some_and(|head| given.starts_with(head)),
            (_, _) => false,
        };
        self.name == name && known.is_empty() == given.is_empty() && known.iter().all(same)
    }

    fn shortened(mut self) -> Self {
        for value in self
            .input
            .as_object_mut()
            .into_iter()
            .flat_map(Map::values_mut)
        {
            if let Value::String(text) = value
                && text.chars().count() > MAX_ARGUMENT
            {
                *value = Value::from(format!("{}…", text.chars().take(KEPT).collect::<String>()));
            } else if value.is_array() || value.is_object() {
                *value = Value::Null;
            }
        }
        if let Some(fields) = self.input.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        self
    }
}

/// A text in one line, cut where it gets long.
pub fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_REQUEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn newest<T>(items: &[T], most: usize) -> &[T] {
    &items[items.len().saturating_sub(most)..]
}

/// The arguments at the start of a JSON object that are complete.
fn whole_arguments(json: &str) -> Map<String, Value> {
    if let Ok(Value::Object(whole)) = serde_json::from_str(json) {
        return whole;
    }
    let mut found = Map::new();
    let mut rest = json.trim_start().strip_prefix('{').unwrap_or("");
    while let Some((Value::String(name), behind)) = value_at(rest) {
        let Some((value, behind)) = behind.trim_start().strip_prefix(':').and_then(value_at) else {
            break;
        };
        found.insert(name, value);
        rest = behind.trim_start().strip_prefix(',').unwrap_or("");
    }
    found
}

fn value_at(json: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, &json[values.byte_offset()..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut recap = Recap::default();
        recap.asked("Read a.md,\nplease");
        recap.did(Done::read(r#"read_file {"path":"a.md"}"#));
        recap.asked("Now b.md");
        recap.did(Done::read(r#"read_file {"path":"b.md"}"#));
        recap.found("b.md: tea".to_owned());
        let again = Recap::read(&recap.write());
        assert_eq!(again.write(), recap.write());
        assert_eq!(again.requests, ["Read a.md, please", "Now b.md"]);
        assert!(again.is_about("Now  b.md") && !again.is_about("Read a.md, please"));
        assert_eq!((again.earlier.len(), again.done.len()), (1, 1));
    }

    #[test]
    fn a_cut_or_long_call_is_known_by_what_is_left_of_it() {
        let content = "x".repeat(5_000);
        let input = json!({"content": content, "path": "a.txt"});
        for line in [
            format!("write_file {input}"),
            r#"write_file {"path":"a.txt","content":"xxx … xx"#.to_owned(),
        ] {
            let done = Done::read(&line);
            assert!(done.is("write_file", &input), "{done:?}");
            assert!(done.input.to_string().len() < 400, "{done:?}");
            assert!(
                !done.is("write_file", &json!({"content": content, "path": "b.txt"})),
                "{done:?}"
            );
        }
    }

    #[test]
    fn done_lines_of_any_summary_count() {
        let recap = Recap::read("We talked.\n- done: glob {\"pattern\":\"*\"}\nMore talk.");
        assert!(recap.done[0].is("glob", &json!({"pattern": "*"})));
        assert!(recap.is_about("anything"));
    }
}
