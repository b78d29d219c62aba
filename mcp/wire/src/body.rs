//! One value in a body: read, replaced or taken out where it stands.
//!
//! A relay renames a tool or a progress token in a body of which it knows nothing else. Invariant: every byte outside the
//! value (and, where it is added or taken out, its key and comma) stays as it was. Of a key that is there twice the last
//! one counts, as in JavaScript and Python.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The value at `path`, a key for each level.
pub fn get<'a>(body: &'a RawValue, path: &[&str]) -> Option<&'a RawValue> {
    path.iter()
        .try_fold(body, |body, key| Some(look(body, key)?.hit?.1))
}

/// The string at `path`.
pub fn text(body: &RawValue, path: &[&str]) -> Option<String> {
    serde_json::from_str(get(body, path)?.get()).ok()
}

/// The body with `value` at `path`; what is missing on the way is added. None when something on the way is no object.
pub fn set(body: &RawValue, path: &[&str], value: &RawValue) -> Option<Box<RawValue>> {
    let Some((key, deeper)) = path.split_first() else {
        return Some(value.to_owned());
    };
    let found = look(body, key)?;
    let text = body.get();
    if let Some((_, old)) = found.hit {
        return spliced(text, place(text, old), set(old, deeper, value)?.get());
    }
    let new = deeper
        .iter()
        .rev()
        .fold(value.get().to_owned(), |inner, key| {
            format!("{{{}:{inner}}}", serde_json::Value::from(*key))
        });
    let comma = if found.before.is_some() { "," } else { "" };
    let end = text.len() - 1;
    let added = format!("{comma}{}:{new}", serde_json::Value::from(*key));
    spliced(text, end..end, &added)
}

/// The body without the key at `path`. None when it is not there.
pub fn remove(body: &RawValue, path: &[&str]) -> Option<Box<RawValue>> {
    let (key, deeper) = path.split_first()?;
    let found = look(body, key)?;
    let text = body.get();
    let (name, old) = found.hit?;
    if !deeper.is_empty() {
        return spliced(text, place(text, old), remove(old, deeper)?.get());
    }
    let cut = match (found.before, found.after) {
        (Some(before), _) => place(text, before).end..place(text, old).end,
        (None, Some(after)) => place(text, name).start..place(text, after).start,
        (None, None) => place(text, name).start..place(text, old).end,
    };
    spliced(text, cut, "")
}

/// Where in `text` the part lies that was read from it.
fn place(text: &str, part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.get().len()
}

fn spliced(text: &str, cut: Range<usize>, new: &str) -> Option<Box<RawValue>> {
    let whole = [&text[..cut.start], new, &text[cut.end..]].concat();
    RawValue::from_string(whole).ok()
}

/// A member of an object and its neighbours, borrowed from the text, so that it is known where they stand.
#[derive(Default)]
struct Found<'a> {
    /// The key with its quotes, and the value.
    hit: Option<(&'a RawValue, &'a RawValue)>,
    /// The value in front of the hit; without a hit, the last one.
    before: Option<&'a RawValue>,
    /// The key behind the hit.
    after: Option<&'a RawValue>,
}

/// None when `body` is no object.
fn look<'a>(body: &'a RawValue, key: &str) -> Option<Found<'a>> {
    let mut text = serde_json::Deserializer::from_str(body.get());
    Wanted(key).deserialize(&mut text).ok()
}

struct Wanted<'k>(&'k str);

impl Wanted<'_> {
    fn is(&self, raw: &RawValue) -> bool {
        let text = raw.get();
        if text.contains('\\') {
            serde_json::from_str::<String>(text).is_ok_and(|decoded| decoded == self.0)
        } else {
            &text[1..text.len() - 1] == self.0
        }
    }
}

impl<'de> DeserializeSeed<'de> for Wanted<'_> {
    type Value = Found<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Found::default();
        let mut last = None;
        while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            if self.is(key) {
                found = Found {
                    hit: Some((key, value)),
                    before: last,
                    after: None,
                };
            } else if found.hit.is_some() && found.after.is_none() {
                found.after = Some(key);
            }
            last = Some(value);
        }
        if found.hit.is_none() {
            found.before = last;
        }
        Ok(found)
    }
}
