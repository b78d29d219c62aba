//! One value in a body: read, replaced or taken out where it stands.
//!
//! A relay renames a tool or a progress token in a body of which it knows nothing else. Invariant: every byte outside the
//! value (and, where it is added or taken out, its key and comma) stays as it was. Of a key that is there twice the last
//! one counts, as in JavaScript and Python.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The value at `path`, a key for each level.
pub fn get<'a>(body: &'a RawValue, path: &[&str]) -> Option<&'a RawValue> {
    path.iter().try_fold(body, |body, key| Some(look(body, key)?.hit?.1))
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
    let added = path.iter().rev().fold(value.get().to_owned(), |inner, key| {
        format!("{{{}:{inner}}}", serde_json::Value::from(*key))
    });
    let comma = if found.before.is_some() { "," } else { "" };
    let end = text.len() - 1;
    // Of what was added for this level, the braces are there already.
    spliced(text, end..end, &[comma, &added[1..added.len() - 1]].concat())
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
fn look<'a>(body: &'a RawValue, wanted: &str) -> Option<Found<'a>> {
    let (mut found, mut last) = (Found::default(), None);
    let read = members(body.get(), |key, value| {
        if string(key) == wanted {
            found.hit = Some((key, value));
            (found.before, found.after) = (last, None);
        } else if found.hit.is_some() {
            found.after = found.after.or(Some(key));
        } else {
            found.before = Some(value);
        }
        last = Some(value);
    });
    read.ok().map(|()| found)
}

/// What a string in JSON stands for; as it is written, when it stands for no text.
pub(crate) fn string(raw: &RawValue) -> Cow<'_, str> {
    let text = raw.get();
    let decoded = text.contains('\\').then(|| serde_json::from_str(text));
    match decoded {
        Some(Ok(decoded)) => Cow::Owned(decoded),
        _ => Cow::Borrowed(text.trim_matches('"')),
    }
}

/// Visits the members of the object that `text` is: each key, with its quotes, and its value.
pub(crate) fn members<'a>(
    text: &'a str,
    visit: impl FnMut(&'a RawValue, &'a RawValue),
) -> serde_json::Result<()> {
    struct Members<F>(F);
    impl<'de, F: FnMut(&'de RawValue, &'de RawValue)> Visitor<'de> for Members<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
            while let Some((key, value)) = map.next_entry()? {
                (self.0)(key, value);
            }
            Ok(())
        }
    }
    let mut text = serde_json::Deserializer::from_str(text);
    text.deserialize_map(Members(visit))?;
    text.end()
}
