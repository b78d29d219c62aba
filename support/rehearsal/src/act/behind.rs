//! Tools behind two: a server that has one tool to find others, and one to call what was found.
//!
//! What was found is chosen like any other tool of a server, and its call goes out through the second. Invariant: nothing is
//! called that was not found for this very request.

use serde_json::{Value, json};

use super::named;
use crate::clause::Clause;
use crate::mcp::{parts, pick};
use crate::run::{Run, Went};
use crate::tools::{Call, Tools, hands_on, properties};
use crate::types::{Request, Tool};

/// Stands in front of a call that is ready to be copied, with the name of the tool that makes it.
const READY: &str = "Ready to call with ";

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
    let tools = found.iter().map(|(name, description, schema, _)| Tool {
        name,
        description,
        schema,
    });
    let offered = Request {
        tools: tools.collect(),
        ..Request::default()
    };
    let (name, args) = pick(&Clause::of(request), &Tools::of(&offered), None)?.ok()?;
    let (.., call) = found.iter().find(|(found, ..)| *found == name)?;
    let input = json!({ "tool_name": call.input["tool_name"], "arguments": args });
    Some(named(
        run,
        Call {
            args,
            ..Call::of(&call.name, input)
        },
        "",
    ))
}

/// A tool that was found: its name, what it does, its schema, and the call that calls it.
type Found = (String, String, Value, Call);

/// Reads a recipe: a name, what the tool does, which tool calls it, the call, and what else may stand in it.
fn read(recipe: &str, prefix: &str) -> Option<Found> {
    let (told, rest) = recipe.split_once(READY)?;
    let (caller, rest) = rest.split_once(":\n")?;
    let call: Value = serde_json::from_str(rest.lines().next()?).ok()?;
    let arguments = call["arguments"].as_object()?;
    let one = |(name, value): (&String, &Value)| {
        // `# service: or "web", "worker"`: the other values that it may have.
        let others =
            rest.split_once(&format!("\n# {name}: or ")).and_then(|(_, rest)| rest.lines().next());
        let all =
            others.and_then(|others| serde_json::from_str(&format!("[{value},{others}]")).ok());
        let kind = match value {
            Value::Number(_) => "integer",
            Value::String(_) | Value::Null => "string",
            _ => "object",
        };
        let schema =
            all.map_or_else(|| json!({ "type": kind }), |all: Value| json!({ "enum": all }));
        (name.clone(), schema)
    };
    let known: Value = arguments.iter().map(one).collect();
    let required: Vec<&String> = arguments.keys().collect();
    let schema = json!({ "properties": known, "required": required });
    let description = told.trim().lines().skip(1).collect::<Vec<_>>().join(" ");
    let own = call["tool_name"].as_str()?;
    let name = format!("{prefix}{}", own.rsplit(':').next().unwrap_or(own));
    Some((name, description, schema, Call::of(&format!("{prefix}{caller}"), call)))
}
