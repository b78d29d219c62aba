//! Who answers what: the tools, resources and prompts of all backends in one list each.
//!
//! It is made anew from the listings whenever one changes, so nothing of a backend that is gone stays in it. Invariants: a
//! name belongs to one backend, the first in the file that has it, whoever connected first; a tool that a model could not
//! call is left out and named.

use std::collections::HashMap;

use mcp_wire::body;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::config::Entry;
use crate::lifecycle::raw;

/// The lists a server may have: the capability, the method, the key of the result.
pub const LISTS: [(&str, &str, &str); 4] = [
    ("tools", "tools/list", "tools"),
    ("resources", "resources/list", "resources"),
    ("resources", "resources/templates/list", "resourceTemplates"),
    ("prompts", "prompts/list", "prompts"),
];

/// What a user or a model is shown of each, and how many characters of it.
const SHOWN: [(&[&str], usize); 4] = [
    (&["name"], NAME),
    (&["title"], 200),
    (&["annotations", "title"], 200),
    (&["description"], 4000),
];
/// The longest name that is called, by the specification.
const NAME: usize = 128;

/// What one backend lists, in the order of [`LISTS`].
pub type Listing = [Vec<Box<RawValue>>; 4];

/// Of one kind of thing: all there are, and who has each.
#[derive(Default)]
pub struct Table {
    /// As clients see them.
    pub items: Vec<Box<RawValue>>,
    /// By the name that clients use: the backend, and its own name for it.
    owners: HashMap<String, (String, String)>,
}

impl Table {
    /// Who has it, and what it is called there.
    pub fn owner(&self, name: &str) -> Option<(&str, &str)> {
        self.owners.get(name).map(|(backend, own)| (&**backend, &**own))
    }
}

/// Who answers what.
#[derive(Default)]
pub struct Routing {
    /// In the order of [`LISTS`].
    pub tables: [Table; 4],
    /// By backend: the names of its tools as clients see them, and each tool that is left out, with the reason.
    pub tools: HashMap<String, (Vec<String>, Vec<String>)>,
}

impl Routing {
    /// From the listings, in the order of the file; `reserved` are names that are taken.
    pub fn new<'a>(
        backends: impl Iterator<Item = (&'a Entry, &'a Listing)>,
        reserved: &[&str],
    ) -> Self {
        let mut routing = Self::default();
        for (entry, listing) in backends {
            let (mut names, mut invalid) = (Vec::new(), Vec::new());
            for tool in &listing[0] {
                let wrong = match validate(tool) {
                    Err((name, why)) => Err(format!("{name} - {why}")),
                    Ok(name) => {
                        let shown = format!("{}{name}", entry.prefix);
                        let taken =
                            routing.tables[0].owner(&shown).map(|(owner, _)| owner.to_owned());
                        let taken = taken.or_else(|| {
                            reserved.contains(&&*shown).then(|| "the relay".to_owned())
                        });
                        match taken {
                            Some(owner) => Err(format!(
                                "{shown} - {owner} has a tool of this name; `prefix` tells them apart"
                            )),
                            None => {
                                routing.add(0, entry, "name", &name, tool);
                                Ok(shown)
                            }
                        }
                    }
                };
                wrong.map_or_else(|why| invalid.push(why), |name| names.push(name));
            }
            for (at, key) in [(1, "uri"), (2, "uriTemplate"), (3, "name")] {
                for item in &listing[at] {
                    let name = body::text(item, &[key]);
                    if let Some(name) = name.filter(|it| key != "name" || callable(it).is_ok()) {
                        routing.add(at, entry, key, &name, item);
                    }
                }
            }
            routing.tools.insert(entry.name().to_owned(), (names, invalid));
        }
        routing
    }

    fn add(&mut self, at: usize, entry: &Entry, key: &str, name: &str, item: &RawValue) {
        let prefix = if key == "name" { &*entry.prefix } else { "" };
        let shown = format!("{prefix}{name}");
        let table = &mut self.tables[at];
        if table.owners.contains_key(&shown) {
            return;
        }
        let mut item = item.to_owned();
        if !prefix.is_empty() {
            item = body::set(&item, &[key], &raw(&shown)).unwrap_or(item);
        }
        for (path, most) in SHOWN {
            let text = body::text(&item, path).filter(|_| path != [key]);
            let clean =
                text.as_ref().map(|text| clean(text, most)).filter(|it| Some(it) != text.as_ref());
            item = clean.and_then(|clean| body::set(&item, path, &raw(clean))).unwrap_or(item);
        }
        table.items.push(item);
        table.owners.insert(shown, (entry.name().to_owned(), name.to_owned()));
    }

    /// Who has a resource: the one who lists it, or whose template it fits.
    pub fn resource(&self, uri: &str) -> Option<&str> {
        let listed = self.tables[1].owner(uri).or_else(|| self.tables[2].owner(uri));
        let fits = || self.tables[2].owners.iter().find(|(template, _)| fits(template, uri));
        listed.map(|(backend, _)| backend).or_else(|| fits().map(|(_, (backend, _))| &**backend))
    }
}

/// What a server says, without what would steer a terminal, and cut.
pub fn clean(text: &str, most: usize) -> String {
    let plain = |it: &char| !it.is_control() || matches!(it, '\n' | '\t');
    kit::cut(&text.chars().filter(plain).collect::<String>(), most)
}

/// Whether a URI may come of a template: its fixed parts stand in it in their order.
fn fits(template: &str, uri: &str) -> bool {
    let mut parts = template.split('{');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = uri.strip_prefix(first).filter(|_| !first.is_empty()) else {
        return false;
    };
    for part in parts {
        let fixed = part.split_once('}').map_or("", |(_, fixed)| fixed);
        match rest.find(fixed) {
            Some(at) => rest = &rest[at + fixed.len()..],
            None => return false,
        }
    }
    true
}

/// Whether something can be called by this name.
fn callable(name: &str) -> Result<(), &'static str> {
    if name.chars().any(char::is_control) {
        return Err("'name' has control characters");
    }
    if name.chars().count() > NAME {
        return Err("'name' is longer than 128 characters");
    }
    Ok(())
}

/// The name of a tool that a model can call.
///
/// # Errors
/// Its name as far as it has one, and what is wrong.
pub fn validate(tool: &RawValue) -> Result<String, (String, String)> {
    let tool: Value = serde_json::from_str(tool.get()).unwrap_or_default();
    let name = tool["name"].as_str().unwrap_or_default();
    let wrong = |why: &str| {
        let name = kit::cut(&kit::one_line(name), 100);
        Err((if name.is_empty() { "(no name)".to_owned() } else { name }, why.to_owned()))
    };
    for field in ["name", "description"] {
        match &tool[field] {
            Value::String(text) if field == "name" && text.trim().is_empty() => {
                return wrong("'name' is empty");
            }
            Value::String(_) => {}
            Value::Null => return wrong(&format!("Missing '{field}' field")),
            _ => return wrong(&format!("'{field}' must be a string")),
        }
    }
    if let Err(why) = callable(name) {
        return wrong(why);
    }
    let schema = &tool["inputSchema"];
    let (properties, required) = (&schema["properties"], &schema["required"]);
    if schema.is_null() {
        return wrong("Missing 'inputSchema' field");
    }
    if schema["type"] != "object" {
        return wrong("'inputSchema' must be of type 'object'");
    }
    if !(properties.is_null() || properties.is_object()) {
        return wrong("'properties' must be an object");
    }
    let fields: Option<Vec<&str>> = match required {
        Value::Null => Some(Vec::new()),
        Value::Array(fields) => fields.iter().map(Value::as_str).collect(),
        _ => None,
    };
    let Some(fields) = fields else {
        return wrong("'required' must be a list of strings");
    };
    match fields.iter().find(|field| properties.get(**field).is_none()) {
        Some(field) => {
            wrong(&format!("Required field '{}' is not in 'properties'", kit::one_line(field)))
        }
        None => Ok(name.to_owned()),
    }
}
