//! The tools on offer: which of them reads, writes, runs a command, whatever they are called here.
//!
//! A tool is known by its name in this course or another harness, else by its schema and description. Invariant: only
//! tools on offer are found, and the arguments have the names of their schema, with nothing left out that it requires; so has
//! text that must be an instance of a schema, and a call that is demanded.

use std::cell::OnceCell;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::types::{Choice, Reply, Request, Tool};
use crate::words::has;

/// How a tool is known: a line of `tools.txt`.
struct Kind {
    can: Can,
    /// What a call of it does, in words, with its arguments by role.
    what: &'static str,
    /// Names in this and other harnesses, in lower case without `_` and `-`.
    names: &'static str,
    /// Properties by role: the role's name and other names for it.
    props: Vec<Vec<&'static str>>,
    /// A tool of another name has all these properties, and one of these words in its name or description.
    words: Vec<&'static str>,
}

named! {
    /// What a tool can do; `tools.txt` says it in words.
    Can:
    Bash Edit Write Read Glob Todo Task Skill Compact CreateTask ListTasks GetTask ClaimTask CompleteTask
    Schedule ListCrons CancelCron Spawn Send Inbox Shutdown RequestPlan ReviewPlan SubmitPlan MakeTree RemoveTree KeepTree Connect
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let lines = include_str!("tools.txt").lines().filter(|line| !line.starts_with('#'));
    let read = |line| known(line).unwrap_or_else(|| panic!("tools.txt cannot be read at: {line}"));
    lines.map(read).collect()
});

fn known(line: &'static str) -> Option<Kind> {
    let (can, rest) = line.split_once(": ")?;
    let [what, names, props, words] =
        rest.split(" |").map(str::trim).collect::<Vec<_>>().try_into().ok()?;
    let props = props.split_whitespace().map(|names| names.split(',').collect()).collect();
    let words = words.split(',').filter(|word| !word.is_empty()).collect();
    Some(Kind {
        can: Can::read(can)?,
        what,
        names,
        props,
        words,
    })
}

impl Can {
    /// What a call does, in words: `read {path}`.
    pub fn what(self) -> &'static str {
        KINDS.iter().find(|kind| kind.can == self).map_or("", |kind| kind.what)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What it is for; none for a tool that only its server knows.
    pub can: Option<Can>,
    pub name: String,
    pub input: Value,
    /// The same arguments by role, for telling.
    pub args: Value,
}

impl Call {
    /// A call of a tool that only its server knows.
    pub fn of(name: &str, input: Value) -> Self {
        let (name, args) = (name.to_owned(), input.clone());
        Self {
            can: None,
            name,
            input,
            args,
        }
    }
}

pub struct Tools<'a> {
    all: &'a [Tool<'a>],
    known: Vec<(Can, &'a Tool<'a>)>,
    outside: OnceCell<Vec<&'a Tool<'a>>>,
}

impl<'a> Tools<'a> {
    pub fn of(request: &'a Request<'a>) -> Self {
        let mut known: Vec<(Can, &Tool)> = Vec::new();
        let plain: Vec<(String, &Tool)> =
            request.tools.iter().map(|tool| (plain(tool.name), tool)).collect();
        for kind in KINDS.iter() {
            // A name counts only when the properties are there as well: an MCP tool may be called `search` or `write`.
            let is_it =
                |known: &str, (name, tool): &(String, &Tool)| name == known && kind.fits(tool);
            let named =
                kind.names.split(' ').find_map(|known| plain.iter().find(|one| is_it(known, one)));
            known.extend(named.map(|(_, tool)| (kind.can, *tool)));
        }
        for kind in KINDS.iter().filter(|kind| !kind.words.is_empty()) {
            if known.iter().any(|(can, _)| *can == kind.can) {
                continue;
            }
            let is_free = |tool: &&Tool| !known.iter().any(|(_, other)| other.name == tool.name);
            let found = request.tools.iter().filter(is_free).find(|tool| {
                !tool.name.starts_with("mcp__") && kind.fits(tool) && kind.is_told_by(tool)
            });
            known.extend(found.map(|tool| (kind.can, tool)));
        }
        Self {
            all: &request.tools,
            known,
            outside: OnceCell::new(),
        }
    }

    pub fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.all.iter().map(|tool| tool.name)
    }

    pub fn named(&self, name: &str) -> Option<&'a Tool<'a>> {
        self.all.iter().find(|tool| tool.name == name)
    }

    pub fn get(&self, can: Can) -> Option<&'a Tool<'a>> {
        self.known.iter().find(|(known, _)| *known == can).map(|(_, tool)| *tool)
    }

    pub fn can(&self, can: Can) -> bool {
        self.get(can).is_some()
    }

    /// The tools of servers: those that no kind of this table knows, but for one that only hands a call on.
    pub fn outside(&self) -> &[&'a Tool<'a>] {
        self.outside.get_or_init(|| {
            let is_known =
                |tool: &Tool| self.known.iter().any(|(_, known)| std::ptr::eq(*known, tool));
            self.all.iter().filter(|tool| !is_known(tool) && !hands_on(tool)).collect()
        })
    }

    /// A call of the tool that can do this. The arguments are given by role.
    pub fn call(&self, can: Can, args: Value) -> Option<Call> {
        let tool = self.get(can)?;
        let kind = KINDS.iter().find(|kind| kind.can == can)?;
        let mut input = Map::new();
        for (role, value) in args.as_object().into_iter().flatten() {
            let names =
                kind.props.iter().find(|names| names[0] == role || names.contains(&role.as_str()));
            let name = names.and_then(|names| property(tool, names)).unwrap_or(role);
            input.insert(name.to_owned(), value.clone());
        }
        Some(Call {
            can: Some(can),
            name: tool.name.to_owned(),
            input: instance(tool.schema, "", &Value::Object(input)),
            args,
        })
    }
}

impl Kind {
    fn fits(&self, tool: &Tool) -> bool {
        self.props.iter().all(|names| property(tool, names).is_some())
    }

    fn is_told_by(&self, tool: &Tool) -> bool {
        let (name, description) = (tool.name.to_lowercase(), tool.description);
        let first: String = description.chars().take(200).collect::<String>().to_lowercase();
        self.words.iter().any(|word| name.contains(word) || first.contains(word))
    }
}

/// A name without what differs between harnesses.
fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_' && *c != '-').map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a tool calls others, by name.
pub fn hands_on(tool: &Tool) -> bool {
    property(tool, &["tool_name"]).is_some() && property(tool, &["arguments"]).is_some()
}

/// The property of a tool that has one of these names.
fn property<'a>(tool: &Tool<'a>, names: &[&str]) -> Option<&'a str> {
    let named =
        |known: &&str| properties(tool.schema).find(|(name, _)| name.eq_ignore_ascii_case(known));
    names.iter().find_map(named).map(|(name, _)| name.as_str())
}

pub fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// The properties that an instance must have.
pub fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The values of which an instance must be one.
pub fn choices(schema: &Value) -> impl Iterator<Item = &str> {
    schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The type that a schema names first.
pub fn kind(schema: &Value) -> Option<&str> {
    schema["type"].as_str().or_else(|| schema["type"].get(0)?.as_str())
}

/// A value that obeys the schema and holds what is given. What it requires beside is its first choice, else the longest
/// text that is given, else this text.
pub fn instance(schema: &Value, text: &str, given: &Value) -> Value {
    build(schema, schema, text, given, 0)
}

fn build(schema: &Value, root: &Value, text: &str, given: &Value, depth: usize) -> Value {
    let inner =
        |schema: &Value, text: &str, given: &Value| build(schema, root, text, given, depth + 1);
    if let Some(name) = schema["$ref"].as_str() {
        let target = name.strip_prefix('#').and_then(|path| root.pointer(path));
        return target.filter(|_| depth < 8).map_or(Value::Null, |it| inner(it, text, given));
    }
    let known = schema.get("const").or(schema["enum"].get(0)).or(schema.get("default"));
    let mut several = ["anyOf", "oneOf", "allOf"].iter();
    let first = several.find_map(|several| schema[several].get(0));
    let is_object = given.is_object() || schema.get("properties").is_some();
    let guess = if is_object { "object" } else { "string" };
    match (given, kind(schema).unwrap_or(guess)) {
        (Value::Null, _) if let Some(known) = known => known.clone(),
        (Value::Null, _) if let Some(first) = first => inner(first, text, given),
        (Value::Object(_), _) | (Value::Null, "object") => {
            let some = given.as_object().into_iter().flatten();
            let texts = some.clone().filter_map(|(_, value)| value.as_str());
            let text = texts.max_by_key(|text| text.len()).unwrap_or(text);
            let names = required(schema).chain(some.map(|(name, _)| name.as_str()));
            let one = |name: &str| inner(&schema["properties"][name], text, &given[name]);
            names.map(|name| (name.to_owned(), one(name))).collect()
        }
        // The items of a list are filled in as well: a plan of another harness wants more of each.
        (Value::Array(all), _) => {
            all.iter().map(|one| inner(&schema["items"], text, one)).collect()
        }
        (Value::Null, "array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            (0..least).map(|_| inner(&schema["items"], text, given)).collect()
        }
        (Value::Null, "integer") => json!(schema["minimum"].as_i64().unwrap_or(0)),
        (Value::Null, "number") => json!(schema["minimum"].as_f64().unwrap_or(0.0)),
        (Value::Null, "boolean") => json!(false),
        (Value::Null, "null") => Value::Null,
        (Value::Null, _) => {
            let most = schema["maxLength"].as_u64().map_or(usize::MAX, |most| most as usize);
            json!(text.chars().take(most).collect::<String>())
        }
        (given, _) => given.clone(),
    }
}

/// Makes the reply call what `tool_choice` demands.
pub fn obey_choice(request: &Request, reply: &mut Reply) {
    let wanted = match &request.choice {
        Choice::Auto | Choice::None => return,
        Choice::Any => None,
        Choice::Tool(name) => Some(name),
    };
    reply.calls.retain(|(called, _)| wanted.is_none_or(|name| name == called));
    if !reply.calls.is_empty() {
        return;
    }
    // A tool that reads does no harm when nobody knows what is wanted.
    let is_verb = |word: &str| has("list read get check glob search", word);
    let reads = |name: &str| name.to_lowercase().split(['_', '-']).any(is_verb);
    let is_it = |tool: &&Tool| wanted.map_or_else(|| reads(tool.name), |name| name == tool.name);
    let tool =
        request.tools.iter().find(is_it).or(request.tools.first().filter(|_| wanted.is_none()));
    let mut users = request.messages.iter().rev().filter(|message| message.from_user);
    let asked = users.find_map(|user| user.texts().next_back());
    if let Some(tool) = tool {
        reply.calls = vec![(
            tool.name.to_owned(),
            instance(tool.schema, asked.unwrap_or_default().trim(), &Value::Null),
        )];
        reply.text = String::new();
    }
}
