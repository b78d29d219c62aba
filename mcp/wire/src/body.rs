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
use serde_json::{Value, json};

use crate::frame::raw;

/// The value at `path`, a key for each level.
pub fn get<'a>(body: &'a RawValue, path: &[impl AsRef<str>]) -> Option<&'a RawValue> {
    path.iter().try_fold(body, |body, key| {
        let members = members(body.get()).ok()?;
        Some(members[find(&members, key.as_ref())?].1)
    })
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
    let text = body.get();
    let members = members(text).ok()?;
    if let Some(at) = find(&members, key) {
        let old = members[at].1;
        return spliced(text, place(text, old), set(old, deeper, value)?.get());
    }
    let comma = if members.is_empty() { "" } else { "," };
    let (key, inner) = (Value::from(*key), set(&raw(json!({})), deeper, value)?);
    let end = text.len() - 1;
    spliced(text, end..end, &format!("{comma}{key}:{inner}"))
}

/// The body without the key at `path`. None when it is not there.
pub fn remove(body: &RawValue, path: &[&str]) -> Option<Box<RawValue>> {
    let (key, deeper) = path.split_first()?;
    let text = body.get();
    let members = members(text).ok()?;
    let at = find(&members, key)?;
    let (name, old) = members[at];
    if !deeper.is_empty() {
        return spliced(text, place(text, old), remove(old, deeper)?.get());
    }
    let (start, end) = (place(text, name).start, place(text, old).end);
    let cut = match (at.checked_sub(1), members.get(at + 1)) {
        (Some(before), _) => place(text, members[before].1).end..end,
        (None, Some((after, _))) => start..place(text, after).start,
        (None, None) => start..end,
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

/// What a string in JSON stands for; as it is written, when it stands for no text.
pub(crate) fn string(raw: &RawValue) -> Cow<'_, str> {
    let text = raw.get();
    let decoded = text.contains('\\').then(|| serde_json::from_str(text));
    match decoded {
        Some(Ok(decoded)) => Cow::Owned(decoded),
        _ => Cow::Borrowed(text.trim_matches('"')),
    }
}

/// A key with its quotes, and its value, borrowed from the text, so that it is known where they stand.
type Member<'a> = (&'a RawValue, &'a RawValue);

/// The members of the object that `text` is.
pub(crate) fn members(text: &str) -> serde_json::Result<Vec<Member<'_>>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<Member<'de>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            std::iter::from_fn(|| map.next_entry().transpose()).collect()
        }
    }
    let mut text = serde_json::Deserializer::from_str(text);
    let members = text.deserialize_map(Members)?;
    text.end().map(|()| members)
}

fn find(members: &[Member<'_>], wanted: &str) -> Option<usize> {
    members.iter().rposition(|(key, _)| string(key) == wanted)
}
