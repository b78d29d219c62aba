//! An input schema, as far as one has to know it to fill it.
//!
//! Servers write `enum`, `oneOf` with constants, references and nullable types; what a value may be is read from all of
//! them. Invariant: an unknown schema is that of a text.

use serde_json::Value;

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// A list.
    List,
    /// An object.
    Object,
}

/// A part of a schema, with the whole it may refer to.
#[derive(Clone, Copy)]
pub struct Schema<'s> {
    root: &'s Value,
    part: &'s Value,
}

impl<'s> Schema<'s> {
    /// A whole schema.
    pub fn of(root: &'s Value) -> Self {
        Self { root, part: root }.resolved()
    }

    fn at(self, part: &'s Value) -> Self {
        Self { part, ..self }.resolved()
    }

    /// Follows references and the part of a choice that is not null.
    fn resolved(mut self) -> Self {
        for _ in 0..8 {
            let target = self.part.get("$ref").and_then(Value::as_str);
            let target = target.and_then(|path| self.root.pointer(path.strip_prefix('#')?));
            let choices = ["anyOf", "allOf"]
                .iter()
                .find_map(|key| self.part.get(*key)?.as_array());
            let is_null = |choice: &&Value| choice.get("type").is_some_and(|kind| kind == "null");
            let chosen = choices.and_then(|choices| choices.iter().find(|choice| !is_null(choice)));
            match target.or(chosen) {
                Some(part) => self.part = part,
                None => break,
            }
        }
        self
    }

    /// The kind of value.
    pub fn kind(self) -> Kind {
        let is = |name: &str| match self.part.get("type") {
            Some(Value::String(kind)) => kind == name,
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
            _ => false,
        };
        match () {
            () if is("array") => Kind::List,
            () if is("object") || self.part.get("properties").is_some() => Kind::Object,
            () if is("integer") || is("number") => Kind::Number,
            () if is("boolean") => Kind::Flag,
            () => Kind::Text,
        }
    }

    /// The only values it may have; none when it may have any.
    pub fn choices(self) -> Vec<&'s str> {
        let listed = self
            .part
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let listed = listed.filter_map(Value::as_str);
        let constants = self
            .part
            .get("oneOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        listed
            .chain(constants.filter_map(|one| one.get("const")?.as_str()))
            .collect()
    }

    /// The value it has when nobody gives one.
    pub fn default(self) -> Option<&'s Value> {
        self.part.get("default").filter(|value| !value.is_null())
    }

    /// The schema of a list's items.
    pub fn items(self) -> Option<Schema<'s>> {
        Some(self.at(self.part.get("items")?))
    }

    /// The properties of an object, those it requires first, in their order; with whether they are required.
    pub fn properties(self) -> Vec<(&'s str, Schema<'s>, bool)> {
        let Some(properties) = self.part.get("properties").and_then(Value::as_object) else {
            return Vec::new();
        };
        let required = self
            .part
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let is_required = |name: &str| required.contains(&name);
        let first = required
            .iter()
            .filter_map(|name| properties.get_key_value(*name));
        let others = properties.iter().filter(|(name, _)| !is_required(name));
        let all = first.chain(others);
        all.map(|(name, part)| (name.as_str(), self.at(part), is_required(name)))
            .collect()
    }
}
