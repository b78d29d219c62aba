//! Tools behind two: a server that has one tool to find others, and one to call what was found.
//!
//! What was found is chosen like any other tool of a server, and its call goes out through the second. Invariant: nothing is
//! called that was not found for this very request.

use serde_json::{Map, Value, json};

use super::named;
use crate::clause::Clause;
use crate::mcp::{parts, pick};
use crate::run::{Run, Went};
use crate::tools::{Call, Tools, hands_on, properties};
use crate::types::{Request, Tool};

/// Stands in front of a call that is ready to be copied, with the name of the tool that makes it.
const READY: &str = "Ready to call with ";

struct Found {
    name: String,
    description: String,
    schema: Value,
    /// The tool that makes the call, and what it calls this one.
    caller: String,
    own: String,
}

impl Found {
    fn tool(&self) -> Tool<'_> {
        let (name, description) = (&self.name, &self.description);
        Tool {
            name,
            description,
            schema: &self.schema,
        }
    }
}

/// Looks for a tool that does what a request says, and calls it; nothing when there is none that finds, or none was found.
pub fn search(run: &Run, request: &str) -> Option<Went> {
    let tools = run.world.tools;
    let calls_others = |server: &str| {
        let mut own = tools.names().filter(|name| parts(name).0 == server);
        own.any(|name| tools.named(name).is_some_and(hands_on))
    };
    let finds = |tool: &&&Tool| {
        let (server, name) = parts(tool.name);
        let takes_query = properties(tool.schema).any(|(name, _)| name == "query");
        takes_query && name.contains("tool") && calls_others(server)
    };
    let finder = tools.outside().iter().find(finds)?.name;
    let past = match run.made(vec![Call::of(finder, json!({ "query": request }))], "") {
        Ok(mut past) => past.remove(0),
        Err(stop) => return Some(Err(stop)),
    };
    let prefix = finder.strip_suffix(parts(finder).1)?;
    let found: Vec<Found> =
        past.text.split("\n\n").filter_map(|recipe| read(recipe, prefix)).collect();
    let tools = found.iter().map(Found::tool).collect();
    let offered = Request {
        tools,
        ..Request::default()
    };
    let picked = pick(&Clause::of(request), &Tools::of(&offered), None, false);
    let (name, input) = picked?.ok()?;
    let it = found.iter().find(|it| it.name == name)?;
    let args = input.clone();
    let input = json!({ "tool_name": it.own, "arguments": input });
    Some(named(
        run,
        Call {
            args,
            ..Call::of(&it.caller, input)
        },
        "",
    ))
}

/// Reads a recipe: a name, what the tool does, which tool calls it, the call, and what may stand in it.
fn read(recipe: &str, prefix: &str) -> Option<Found> {
    let (told, rest) = recipe.split_once(READY)?;
    let mut lines = rest.lines();
    let caller = lines.next()?.trim_end_matches(':');
    let call: Value = serde_json::from_str(lines.next()?).ok()?;
    let own = call["tool_name"].as_str()?;
    let notes: Vec<&str> = lines.filter_map(|line| line.strip_prefix("# ")).collect();
    let arguments = call["arguments"].as_object()?;
    let mut known = Map::new();
    for (name, value) in arguments {
        let others = notes.iter().find_map(|note| note.strip_prefix(&format!("{name}: or ")));
        known.insert(name.clone(), schema(value, others));
    }
    for optional in notes.iter().filter_map(|note| note.strip_prefix("Optional: ")) {
        let named = optional.split(", ").filter_map(|it| it.trim().split_once(' '));
        known.extend(named.map(|(name, kind)| (name.to_owned(), json!({ "type": kind }))));
    }
    let required: Vec<&String> = arguments.keys().collect();
    Some(Found {
        name: format!("{prefix}{}", own.rsplit(':').next().unwrap_or(own)),
        description: told.trim().lines().skip(1).collect::<Vec<_>>().join(" "),
        schema: json!({ "type": "object", "properties": known, "required": required }),
        caller: format!("{prefix}{caller}"),
        own: own.to_owned(),
    })
}

/// The schema of an argument, as its place holder tells it, and the other values that it may have.
fn schema(value: &Value, others: Option<&str>) -> Value {
    let kind = match value {
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::String(_) | Value::Null => "string",
    };
    let others = others.and_then(|others| serde_json::from_str(&format!("[{others}]")).ok());
    let all = others.map(|others: Vec<Value>| [vec![value.clone()], others].concat());
    all.map_or_else(|| json!({ "type": kind }), |all| json!({ "type": kind, "enum": all }))
}
