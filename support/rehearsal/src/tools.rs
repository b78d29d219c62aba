//! The tools on offer: which of them reads, writes, runs a command, whatever they are called here.
//!
//! A tool is known by its name in this course or another harness, else by its schema and description. Invariant: only
//! tools on offer are found, and the arguments have the names of their schema, with nothing left out that it requires.

use std::cell::OnceCell;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::types::{Request, Tool};

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
    lines
        .map(|line| kind(line).unwrap_or_else(|| panic!("tools.txt cannot be read at: {line}")))
        .collect()
});

fn kind(line: &'static str) -> Option<Kind> {
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

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What it is for; none for a tool that only its server knows.
    pub can: Option<Can>,
    /// The tool's name.
    pub name: String,
    /// The arguments.
    pub input: Value,
    /// The same arguments by role, for telling.
    pub args: Value,
}

/// The tools on offer.
pub struct Tools<'a> {
    all: &'a [Tool<'a>],
    known: Vec<(Can, &'a Tool<'a>)>,
    outside: OnceCell<Vec<&'a Tool<'a>>>,
}

impl<'a> Tools<'a> {
    /// The tools of a request.
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

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.all.iter().map(|tool| tool.name)
    }

    /// The tool of this name.
    pub fn named(&self, name: &str) -> Option<&'a Tool<'a>> {
        self.all.iter().find(|tool| tool.name == name)
    }

    /// The tool that can do this.
    pub fn get(&self, can: Can) -> Option<&'a Tool<'a>> {
        self.known.iter().find(|(known, _)| *known == can).map(|(_, tool)| *tool)
    }

    /// Whether some tool can do this.
    pub fn can(&self, can: Can) -> bool {
        self.get(can).is_some()
    }

    /// The tools of servers: those that no kind of this table knows.
    pub fn outside(&self) -> &[&'a Tool<'a>] {
        self.outside.get_or_init(|| {
            let is_known =
                |tool: &Tool| self.known.iter().any(|(_, known)| std::ptr::eq(*known, tool));
            self.all.iter().filter(|tool| !is_known(tool)).collect()
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
        complete(tool, &mut input);
        Some(Call {
            can: Some(can),
            name: tool.name.to_owned(),
            input: Value::Object(input),
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

/// The property of a tool that has one of these names.
fn property<'a>(tool: &Tool<'a>, names: &[&str]) -> Option<&'a str> {
    let properties = tool.schema.get("properties")?.as_object()?;
    let named = |known: &&str| properties.keys().find(|name| name.eq_ignore_ascii_case(known));
    names.iter().find_map(named).map(String::as_str)
}

/// Fills in what the schema requires beside: its first choice, else the longest text that is given.
pub fn complete(tool: &Tool, input: &mut Map<String, Value>) {
    let required = tool.schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if input.contains_key(name) {
            continue;
        }
        let schema = &tool.schema["properties"][name];
        let longest = input.values().filter_map(Value::as_str).max_by_key(|text| text.len());
        let value = match (schema["enum"].get(0), schema["type"].as_str()) {
            (Some(first), _) => first.clone(),
            (None, Some("string") | None) => json!(longest.unwrap_or(name)),
            (None, Some(_)) => crate::schema::instance(schema, ""),
        };
        input.insert(name.to_owned(), value);
    }
    // A plan of another harness wants more of each item.
    let items = &tool.schema["properties"]["todos"]["items"];
    let wanted: Vec<&str> =
        items["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for item in input.get_mut("todos").and_then(Value::as_array_mut).into_iter().flatten() {
        let content = item["content"].clone();
        for name in
            wanted.iter().filter(|name| item.get(**name).is_none()).copied().collect::<Vec<_>>()
        {
            item[name] = items["properties"][name]["enum"]
                .get(0)
                .cloned()
                .unwrap_or_else(|| content.clone());
        }
    }
}
