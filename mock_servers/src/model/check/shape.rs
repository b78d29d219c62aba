//! The shapes of a request's parts, as `shapes.txt` lists them, and the check of a value against one.
//!
//! The API names a wrong, a missing and a surplus field alike by its path, so one reader of one table does. Invariant: a
//! field that the table does not have is refused; one that a beta brings is refused without it as if the API had never
//! heard of it.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::betas::Need;
use super::schema::input_schema;
use crate::model::refusal::Flaw;

/// What betas a value needs, or what is wrong with it.
pub type Checked = Result<Vec<Need>, Flaw>;

const EXTRA: &str = "Extra inputs are not permitted";
const REQUIRED: &str = "Field required";

struct Object {
    fields: Vec<Field>,
    /// It takes other fields, too.
    is_open: bool,
    betas: Vec<&'static str>,
}

#[derive(Clone)]
struct Field {
    name: &'static str,
    is_required: bool,
    /// Null is as good as nothing.
    may_be_null: bool,
    /// In the words of the table.
    shape: &'static str,
    betas: Vec<&'static str>,
}

/// The objects of the table by their names.
static OBJECTS: LazyLock<HashMap<&str, Object>> = LazyLock::new(|| {
    let mut objects: HashMap<&str, Object> = HashMap::new();
    let mut last = "";
    let lines = include_str!("shapes.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (rest, betas) = line.split_once(" @").unwrap_or((line, ""));
        let betas: Vec<_> = betas.split(',').filter(|beta| !beta.is_empty()).collect();
        if let Some(field) = rest.strip_prefix("  ") {
            let object = objects.get_mut(last).expect("a field stands in an object");
            object.fields.extend(fields(field, &betas));
        } else if let Some((name, same)) = rest.split_once(" = ") {
            let Object {
                fields,
                is_open,
                betas,
            } = &objects[same];
            let (fields, betas, is_open) = (fields.clone(), betas.clone(), *is_open);
            objects.insert(
                name,
                Object {
                    fields,
                    is_open,
                    betas,
                },
            );
        } else {
            let name = rest.trim_end_matches(" *");
            let is_open = name != rest;
            let implied = match name.split_once('.') {
                Some(("block" | "tool", _)) => "type any\ncache_control life",
                Some(_) => "type any",
                None => "",
            };
            let fields = implied.lines().flat_map(|line| fields(line, &[])).collect();
            objects.insert(
                name,
                Object {
                    fields,
                    is_open,
                    betas,
                },
            );
            last = name;
        }
    }
    objects
});

/// The fields of a line.
fn fields(line: &'static str, betas: &[&'static str]) -> Vec<Field> {
    let (names, shape) = line.split_once(' ').expect("a field has a shape");
    let name = names.trim_end_matches(['!', '~']);
    let field = |name| Field {
        name,
        is_required: names.ends_with('!'),
        may_be_null: names.ends_with(name),
        shape,
        betas: betas.to_vec(),
    };
    name.split(',').map(field).collect()
}

/// Checks a value against the object of this name.
pub fn object(name: &str, value: &Value) -> Checked {
    let object = &OBJECTS[name];
    let map = value.as_object();
    let map = map.ok_or_else(|| Flaw::here("Input should be an object"))?;
    let mut needs = Vec::new();
    for field in &object.fields {
        match map.get(field.name) {
            None if field.is_required => return Err(Flaw::at(field.name, REQUIRED)),
            None => {}
            Some(value) => {
                needs.extend(under(field.name, field.checks(value))?);
                if field.shape == "said" {
                    speaks(value.as_str().unwrap_or_default())?;
                }
            }
        }
    }
    let is_known = |key: &String| object.fields.iter().any(|field| field.name == key);
    match map.keys().find(|key| !object.is_open && !is_known(key)) {
        Some(key) => Err(Flaw::at(key, EXTRA)),
        None => Ok(needs),
    }
}

/// Checks the value of one field of a request.
pub fn field(name: &str, value: &Value) -> Checked {
    let fields = &OBJECTS["request"].fields;
    let field = fields.iter().find(|field| field.name == name);
    field.ok_or_else(|| Flaw::here(EXTRA))?.checks(value)
}

/// The fields of a request, and whether a beta brings them.
#[cfg(test)]
pub fn request_fields() -> impl Iterator<Item = (&'static str, bool)> {
    let fields = OBJECTS["request"].fields.iter();
    fields.map(|field| (field.name, !field.betas.is_empty()))
}

/// The `type` of a value that is one of the objects `NAME.tag`, and the beta that brings it.
pub fn tag<'a>(name: &str, value: &'a Value) -> Result<(&'a str, Option<Need>), Flaw> {
    let kind = match value.get("type") {
        None | Some(Value::Null) if name == "tool" => return Ok(("custom", None)),
        Some(Value::String(kind)) => kind,
        Some(_) => return Err(Flaw::at("type", "Input should be a valid string")),
        None if value.is_object() => return Err(Flaw::at("type", REQUIRED)),
        None => return Err(Flaw::here("Input should be an object")),
    };
    let object = OBJECTS.get(&*format!("{name}.{kind}"));
    if object.is_some_and(|object| object.betas.is_empty()) {
        return Ok((kind, None));
    }
    let open = OBJECTS.iter().filter(|(_, object)| object.betas.is_empty());
    let tags = open.filter_map(|(key, _)| key.strip_prefix(name)?.strip_prefix('.'));
    let mut tags: Vec<_> = tags.collect();
    tags.sort_unstable();
    let rule = "found using 'type' does not match any of the expected tags";
    let flaw = Flaw::here(format!("Input tag '{kind}' {rule}: '{}'", tags.join("', '")));
    match object {
        Some(object) => Ok((kind, Some(Need::new(&object.betas, flaw)))),
        None => Err(flaw),
    }
}

/// Checks one of the objects `NAME.tag`.
pub fn tagged(name: &str, value: &Value) -> Checked {
    let (kind, need) = tag(name, value)?;
    let mut needs = under(kind, object(&format!("{name}.{kind}"), value))?;
    needs.extend(need);
    Ok(needs)
}

/// Puts `outer` before the places.
pub fn under(outer: impl std::fmt::Display, checked: Checked) -> Checked {
    match checked {
        Ok(needs) => Ok(needs.into_iter().map(|need| need.under(&outer)).collect()),
        Err(flaw) => Err(flaw.under(outer)),
    }
}

/// Refuses a text that says nothing.
pub fn speaks(text: &str) -> Result<(), Flaw> {
    match text.trim() {
        _ if text.is_empty() => Err(Flaw::here("text content blocks must be non-empty")),
        "" => Err(Flaw::here("text content blocks must contain non-whitespace text")),
        _ => Ok(()),
    }
}

impl Field {
    fn checks(&self, value: &Value) -> Checked {
        let mut needs = Vec::new();
        if !self.betas.is_empty() {
            needs.push(Need::new(&self.betas, Flaw::here(EXTRA)));
        }
        if !(self.may_be_null && value.is_null()) {
            needs.extend(shape(self.shape, value)?);
        }
        Ok(needs)
    }
}

/// Checks a value against a shape in the words of the table.
fn shape(shape: &str, value: &Value) -> Checked {
    let text = value.as_str();
    let is = |holds: bool, rule: &str| {
        let flaw = || Flaw::here(rule);
        holds.then(Vec::new).ok_or_else(flaw)
    };
    match shape {
        "any" => Ok(Vec::new()),
        "bool" => is(value.is_boolean(), "Input should be a valid boolean"),
        "object" => is(value.is_object(), "Input should be an object"),
        "dictionary" => is(value.is_object(), "Input should be a valid dictionary"),
        "schema" => input_schema(value).map(|()| Vec::new()),
        "fraction" => {
            let number = value.as_f64();
            is(number.is_some(), "Input should be a valid number")?;
            is(number.is_some_and(|number| (0.0..=1.0).contains(&number)), "range: 0..1")
        }
        "text" | "said" | "filled" | "word" | "tool_name" | "url" => {
            is(text.is_some(), "Input should be a valid string")?;
            let text = text.unwrap_or_default();
            match shape {
                "filled" => is(!text.is_empty(), "String should have at least 1 character"),
                "word" => is(is_word(text), "String should match pattern '^[a-zA-Z0-9_-]+$'"),
                "tool_name" => {
                    let rule = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
                    is(is_word(text) && text.len() <= 128, rule)
                }
                "url" => {
                    let is_http = text.starts_with("https://") || text.starts_with("http://");
                    is(is_http, "Only HTTP and HTTPS URLs are supported.")
                }
                _ => Ok(Vec::new()),
            }
        }
        _ => compound(shape, value),
    }
}

/// The same for a shape that names others.
fn compound(shape_of: &str, value: &Value) -> Checked {
    if let Some(least) = shape_of.strip_prefix("count") {
        return count(value, least);
    }
    if let Some((text, other)) = shape_of.split_once(" or ") {
        return shape(if value.is_string() { text } else { other }, value);
    }
    if let Some(item) = shape_of.strip_prefix('[') {
        return list(value, "Input should be a valid array", |inner| {
            shape(item.trim_end_matches(']'), inner)
        });
    }
    if let Some(of) = shape_of.strip_prefix("content") {
        if value.is_string() {
            return Ok(Vec::new());
        }
        return list(value, "Input should be a valid string or array", |item| match of.trim() {
            "" => Ok(Vec::new()),
            of => tagged(of, item),
        });
    }
    if shape_of.starts_with('\'') {
        return choice(value, shape_of);
    }
    match shape_of.strip_suffix(".*") {
        Some(name) => tagged(name, value),
        None => object(shape_of, value),
    }
}

fn count(value: &Value, least: &str) -> Checked {
    let least = least.trim_start_matches(">=").parse().unwrap_or(0);
    match (value.as_u64(), value.as_i64()) {
        (Some(count), _) if count >= least => Ok(Vec::new()),
        (None, None) => Err(Flaw::here("Input should be a valid integer")),
        _ => Err(Flaw::here(format!("Input should be greater than or equal to {least}"))),
    }
}

fn list(value: &Value, rule: &str, check: impl Fn(&Value) -> Checked) -> Checked {
    let items = value.as_array().ok_or_else(|| Flaw::here(rule))?;
    let mut needs = Vec::new();
    for (i, item) in items.iter().enumerate() {
        needs.extend(under(i, check(item))?);
    }
    Ok(needs)
}

/// `'a'|'b'`
fn choice(value: &Value, choices: &str) -> Checked {
    let mut choices = choices.split('|');
    let named = value.as_str().map(|text| format!("'{text}'"));
    if choices.clone().any(|choice| Some(choice) == named.as_deref()) {
        return Ok(Vec::new());
    }
    let last = choices.next_back().unwrap_or_default();
    let others = choices.collect::<Vec<_>>().join(", ");
    let or = if others.is_empty() { "" } else { " or " };
    Err(Flaw::here(format!("Input should be {others}{or}{last}")))
}

/// Letters, digits, `_` and `-`, at least one.
fn is_word(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !text.is_empty() && text.bytes().all(allowed)
}
