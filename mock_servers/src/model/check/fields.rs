//! Takes the fields out of a JSON object one by one.
//!
//! The API names a wrong, a missing and a surplus field alike by its path, so does this.
//! Invariant: a field that nobody takes is refused by `none_left`.

use serde_json::{Map, Value};

use crate::model::cache::Life;
use crate::model::refusal::Flaw;

/// The fields not taken yet.
pub struct Fields(Map<String, Value>);

impl Fields {
    /// The fields of an object; anything else is refused.
    pub fn of(value: Value) -> Result<Self, Flaw> {
        match value {
            Value::Object(map) => Ok(Self(map)),
            _ => Err(Flaw::here("Input should be an object")),
        }
    }

    /// Takes a field that may be absent; `null` is absent.
    pub fn optional(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// Takes a field that must be there.
    pub fn required(&mut self, name: &str) -> Result<Value, Flaw> {
        self.0
            .remove(name)
            .ok_or_else(|| Flaw::at(name, "Field required"))
    }

    /// Takes a string that must be there.
    pub fn string(&mut self, name: &str) -> Result<String, Flaw> {
        text(self.required(name)?).map_err(|flaw| flaw.under(name))
    }

    /// Takes a string that may be absent.
    pub fn optional_string(&mut self, name: &str) -> Result<Option<String>, Flaw> {
        let value = self.optional(name).map(text).transpose();
        value.map_err(|flaw| flaw.under(name))
    }

    /// Takes a truth value that may be absent, and then is false.
    pub fn flag(&mut self, name: &str) -> Result<bool, Flaw> {
        match self.optional(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(Flaw::at(name, "Input should be a valid boolean")),
        }
    }

    /// Takes a cache breakpoint.
    pub fn cache_control(&mut self) -> Result<Option<Life>, Flaw> {
        let value = self.optional("cache_control").map(life).transpose();
        value.map_err(|flaw| flaw.under("cache_control"))
    }

    /// Takes fields that the mock accepts and does not use.
    pub fn ignore(&mut self, names: &[&str]) {
        for name in names {
            self.0.remove(*name);
        }
    }

    /// Refuses what is left.
    pub fn none_left(self) -> Result<(), Flaw> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(Flaw::at(name, "Extra inputs are not permitted")),
        }
    }
}

/// The string in a value.
pub fn text(value: Value) -> Result<String, Flaw> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(Flaw::here("Input should be a valid string")),
    }
}

/// The list in a value.
pub fn list(value: Value) -> Result<Vec<Value>, Flaw> {
    match value {
        Value::Array(items) => Ok(items),
        _ => Err(Flaw::here("Input should be a valid array")),
    }
}

/// Reads a value that may be null.
pub fn unless_null<T>(
    value: Value,
    read: impl FnOnce(Value) -> Result<T, Flaw>,
) -> Result<Option<T>, Flaw> {
    match value {
        Value::Null => Ok(None),
        value => read(value).map(Some),
    }
}

/// Checks that a value is one of these strings.
pub fn choice(value: Value, choices: &[&str]) -> Result<(), Flaw> {
    if value.as_str().is_some_and(|text| choices.contains(&text)) {
        return Ok(());
    }
    let quoted = choices.iter().map(|choice| format!("'{choice}'"));
    let quoted = quoted.collect::<Vec<_>>();
    let choices = match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    };
    Err(Flaw::here(format!("Input should be {choices}")))
}

/// The `type` of an object, which is one of these.
pub fn tag(value: &Value, tags: &[&'static str]) -> Result<&'static str, Flaw> {
    let kind = match value.get("type") {
        Some(Value::String(kind)) => kind,
        Some(_) => return Err(Flaw::at("type", "Input should be a valid string")),
        None if value.is_object() => return Err(Flaw::at("type", "Field required")),
        None => return Err(Flaw::here("Input should be an object")),
    };
    let known = tags.iter().find(|tag| **tag == kind);
    known.copied().ok_or_else(|| {
        let tags = tags.join("', '");
        let rule = "found using 'type' does not match any of the expected tags";
        Flaw::here(format!("Input tag '{kind}' {rule}: '{tags}'"))
    })
}

/// How long a breakpoint keeps its prefix.
pub fn life(value: Value) -> Result<Life, Flaw> {
    let mut fields = Fields::of(value)?;
    choice(fields.required("type")?, &["ephemeral"]).map_err(|flaw| flaw.under("type"))?;
    let ttl = fields.optional("ttl");
    let hour = ttl.as_ref().is_some_and(|ttl| ttl == "1h");
    if let Some(ttl) = ttl {
        choice(ttl, &["5m", "1h"]).map_err(|flaw| flaw.under("ttl"))?;
    }
    fields.none_left()?;
    Ok(if hour {
        Life::OneHour
    } else {
        Life::FiveMinutes
    })
}
