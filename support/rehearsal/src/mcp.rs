//! Tools that only their server knows: chosen by name, description and schema.
//!
//! A tool that reads may answer a question; a tool that changes something needs its own verb at the head of the clause.
//! Invariant: each argument is a word of the request that the schema accepts, and a word that nothing accounts for stops it.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::clause::{self, Clause, is_filler, says};
use crate::table;
use crate::tools::{Can, Tools, choices, instance, kind, properties, required};
use crate::types::Tool;
use crate::words::{Shape, Token, has, number, set, stem, unique};

/// The servers that can be connected, as the tool that connects says of itself.
pub fn available(tools: &Tools) -> Vec<String> {
    let description = tools.get(Can::Connect).map_or("", |tool| tool.description);
    let Some((_, list)) = description.split_once("ervers: ") else { return Vec::new() };
    let list = list.split(['.', '\n']).next().unwrap_or_default();
    let names = list.split([',', ' ']).filter(|name| !name.is_empty() && *name != "and");
    names.map(str::to_owned).collect()
}

/// The server and the short name of a tool.
pub fn parts(name: &str) -> (&str, &str) {
    match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some(parts) => parts,
        None => name.split_once('_').unwrap_or(("", name)),
    }
}

/// The servers whose tools are on offer.
pub fn connected(tools: &Tools) -> Vec<String> {
    let all =
        tools.outside().iter().map(|tool| parts(tool.name).0).filter(|server| !server.is_empty());
    unique(all.map(str::to_owned))
}

/// Whether a word names this server: `documentation` names docs.
pub fn names(token: &Token, server: &str) -> bool {
    let server = server.to_lowercase();
    let short = server.strip_suffix('s').filter(|short| short.len() >= 3);
    matches!(token.shape, Shape::Word | Shape::Path)
        && (token.low == server
            || short.is_some_and(|short| {
                token.low == short || (token.low.starts_with(short) && token.low.len() > 8)
            }))
}

/// Whether a word says what this tool is called for: its name, or a word that means the same.
pub fn is_called(tool: &str, token: &Token) -> bool {
    let word = Word::of(token.stem.clone());
    !is_filler(token) && name_words(tool).iter().any(|name| name.is_like(&word))
}

fn name_words(tool: &str) -> Vec<Word> {
    let short = parts(tool).1.to_lowercase();
    let words = short.split(['_', '-', '.']).filter(|word| !word.is_empty());
    words.map(|word| Word::of(stem(word))).collect()
}

/// A clause that connects: which servers, and what is left of it for them. The error is a server that nobody knows.
pub fn connecting(
    clause: &Clause,
    servers: &[String],
) -> Option<Result<(Vec<String>, String), String>> {
    const SERVER: &str = "server servers mcp";
    const ALL: &str = "both all every";
    let is_server = |token: &Token| servers.iter().any(|server| names(token, server));
    let kind = |kind: &str, tokens: &[Token], at: usize| {
        let is_part = |token: &&Token| is_server(token) || token.is(SERVER) || token.is(ALL);
        let is_in = |token: &&Token| is_part(token) || is_filler(token) || token.is("over via");
        let some = tokens[at..].iter().take_while(is_in).count();
        let last = tokens[at..at + some].iter().rposition(|token| is_part(&token))?;
        let is_any = tokens[at..=at + last].iter().any(|token| is_server(token) || token.is(ALL));
        (kind == "servers" && is_any).then_some(at + last + 1)
    };
    let found = clause::find("connect", clause, &kind)?;
    let said = found.tokens("servers");
    if found.label == "use" && !says(said, SERVER) {
        return None;
    }
    let is_said = |server: &&String| said.iter().any(|token| names(token, server));
    let mut wanted: Vec<String> = servers.iter().filter(is_said).cloned().collect();
    if wanted.is_empty() && says(said, ALL) {
        wanted = servers.to_vec();
    }
    if wanted.is_empty() {
        let is_name = |token: &&Token| !is_filler(token) && !token.is(SERVER) && !is_server(token);
        let unknown =
            found.tokens("unknown").iter().find(is_name).map_or(clause.text(), |token| &token.text);
        if !servers.is_empty() {
            return Some(Err(unknown.to_owned()));
        }
        wanted.push(unknown.to_owned());
    }
    Some(Ok((wanted, found.text("rest").to_owned())))
}

/// Words that mean the same to a server: the groups that a stem is in.
static GROUPS: LazyLock<HashMap<String, u64>> = LazyLock::new(|| {
    let mut groups: HashMap<String, u64> = HashMap::new();
    for (at, group) in set("same").split(" | ").enumerate() {
        group.split(' ').for_each(|word| *groups.entry(stem(word)).or_default() |= 1 << at);
    }
    groups
});

/// A word as servers are asked: its stem, and the groups of words with its meaning, a bit each.
struct Word {
    stem: String,
    groups: u64,
}

impl Word {
    fn of(stem: String) -> Self {
        let groups = GROUPS.get(&stem).copied().unwrap_or_default();
        Self { stem, groups }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.stem == other.stem || self.groups & other.groups != 0
    }
}

/// Why a tool cannot be called.
#[derive(Debug)]
pub struct Missing {
    /// What nobody accounts for, or the request without an argument.
    pub what: String,
    /// What the argument may be.
    pub choices: Vec<String>,
}

pub type Picked = Result<(String, Value), Missing>;

/// The call that a clause asks a server's tool for; nothing when no tool is near. The error says what nobody accounts for, or
/// which argument is missing.
pub fn pick(clause: &Clause, tools: &Tools, server: Option<&str>) -> Option<Picked> {
    let is_of =
        |tool: &&&Tool| server.is_none_or(|server| parts(tool.name).0.eq_ignore_ascii_case(server));
    let all: Vec<Served> =
        tools.outside().iter().filter(is_of).map(|tool| Served::of(tool)).collect();
    let content = clause.tokens.iter().filter(|token| !is_filler(token));
    let content: Vec<(&Token, Word)> =
        content.map(|token| (token, Word::of(token.stem.clone()))).collect();
    let order = clause.tokens.first().filter(|_| !clause.is_question());
    // Of several that are as near, the first.
    let scored = all.iter().rev().map(|one| (one.nearness(order, &content), one));
    let near = scored.filter(|(score, _)| *score > 0.9);
    let best = near.max_by(|one, other| one.0.total_cmp(&other.0));
    // A question to a server that can be searched: its words are looked up.
    let is_search =
        |one: &&Served| one.reads && properties(one.tool.schema).any(|(name, _)| name == "query");
    let search = || all.iter().find(is_search).filter(|_| server.is_some() && clause.is_question());
    let fill = |one: &Served| one.arguments(clause);
    match best {
        Some((_, one)) => {
            let other = |missing| search().and_then(|other| fill(other).ok()).ok_or(missing);
            Some(fill(one).or_else(other))
        }
        None => search().map(fill),
    }
}

/// A server's tool, with the words of its name.
struct Served<'t> {
    tool: &'t Tool<'t>,
    names: Vec<Word>,
    reads: bool,
    description: String,
}

impl<'t> Served<'t> {
    fn of(tool: &'t Tool<'t>) -> Self {
        let mut short = parts(tool.name).1.split(['_', '-', '.']);
        let has_verb = short.next().is_some_and(|verb| has(set("reads"), &verb.to_lowercase()));
        let reads = tool.description.contains("(readOnly)")
            || has_verb && !tool.description.contains("(destructive)");
        Self {
            tool,
            names: name_words(tool.name),
            reads,
            description: tool.description.to_lowercase(),
        }
    }

    fn is_named(&self, word: &Word) -> bool {
        self.names.iter().any(|name| name.is_like(word))
    }

    /// How near it is to the words of a clause; what reads is not for an order, what acts needs its own verb.
    fn nearness(&self, order: Option<&Token>, content: &[(&Token, Word)]) -> f32 {
        let is_own = |verb: &Token| {
            let verb_word = Word::of(verb.stem.clone());
            table::is_verb(&verb.low)
                && self.names.first().is_some_and(|name| name.is_like(&verb_word))
        };
        let changes = |verb: &Token| verb.is(set("changes"));
        if self.reads && order.is_some_and(changes) || !self.reads && !order.is_some_and(is_own) {
            return 0.0;
        }
        let score = |(token, word): &(&Token, Word)| {
            let is_told = word.stem.len() > 2 && self.description.contains(&word.stem);
            let mut all = properties(self.tool.schema).flat_map(|(_, schema)| choices(schema));
            let takes_id = || properties(self.tool.schema).any(|(name, _)| is_id(name));
            if token.shape == Shape::Key && takes_id() {
                2.0
            } else if self.names.iter().any(|name| name.stem == word.stem) {
                3.0
            } else if self.is_named(word) {
                2.0
            } else if all.any(|choice| choice_words(choice).contains(&token.low)) {
                1.5
            } else if is_told {
                1.0
            } else {
                0.0
            }
        };
        content.iter().map(score).sum::<f32>() - 0.1 * self.names.len() as f32
    }

    /// Fills the arguments; the error is a word that is left over, or an argument that is missing.
    fn arguments(&self, clause: &Clause) -> Picked {
        let (tokens, schema) = (&clause.tokens, self.tool.schema);
        let is_told = |token: &Token| {
            is_filler(token)
                || token.is(set("of-servers"))
                // What is asked of somebody else is handed on whole.
                    && (self.reads || !token.is("what which how about whether"))
                || self.reads && token.is(set("tells"))
                || names(token, parts(self.tool.name).0)
                || token.shape == Shape::Word && self.is_named(&Word::of(token.stem.clone()))
        };
        let mut used: Vec<bool> = tokens.iter().map(is_told).collect();
        let required: Vec<&str> = required(schema).collect();
        let is_optional = |name: &str| !required.contains(&name);
        // Choices and ids take their words before texts do, and what is required before what is not.
        let mut all: Vec<(&String, &Value)> = properties(schema).collect();
        all.sort_by_key(|(name, schema)| (is_text(name, schema), is_optional(name)));
        let mut input = Map::new();
        for (name, schema) in all {
            let mut value = argument(name, schema, tokens, &mut used);
            if value.is_none() && is_text(name, schema) && !is_optional(name) {
                value = free_text(clause, &mut used, !self.reads).map(Value::from);
            }
            input.extend(value.map(|value| (name.clone(), value)));
        }
        // What the description speaks of says nothing new.
        let is_new = |token: &Token| {
            token.shape != Shape::Word
                || token.stem.len() < 3
                || !self.description.contains(&token.stem)
                    && properties(schema).all(|(name, _)| stem(name) != token.stem)
        };
        let mut left = tokens.iter().zip(&used);
        if let Some((token, _)) = left.find(|(token, used)| !**used && is_new(token)) {
            let (what, choices) = (format!("“{}”", token.text), Vec::new());
            return Err(Missing { what, choices });
        }
        if let Some(name) = required.iter().find(|name| !input.contains_key(**name)) {
            let choices: Vec<String> =
                choices(&schema["properties"][*name]).map(str::to_owned).collect();
            let mut what = format!("“{}” without its {name}", clause.text());
            if !choices.is_empty() {
                what.push_str(&format!(" ({})", choices.join(", ")));
            }
            return Err(Missing { what, choices });
        }
        Ok((self.tool.name.to_owned(), instance(schema, "", &Value::Object(input))))
    }
}

fn is_id(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("key") || name == "id" || name.ends_with("_id")
}

fn is_text(name: &str, schema: &Value) -> bool {
    !schema["enum"].is_array() && kind(schema).is_none_or(|kind| kind == "string") && !is_id(name)
}

fn choice_words(choice: &str) -> Vec<String> {
    choice.to_lowercase().split([' ', '_', '-']).map(str::to_owned).collect()
}

/// The value of one argument: a choice, a number, an id, a quotation.
fn argument(name: &str, schema: &Value, tokens: &[Token], used: &mut [bool]) -> Option<Value> {
    if schema["enum"].is_array() {
        return choice(schema, tokens, used).map(Value::from);
    }
    let value = |token: &Token| match kind(schema) {
        Some("integer" | "number") => number(&token.low).map(Value::from),
        _ if is_id(name) => (token.shape == Shape::Key).then(|| json!(token.text)),
        _ => (is_text(name, schema) && token.is_quoted()).then(|| json!(token.text)),
    };
    let mut open = (0..tokens.len()).filter(|at| !used[*at]);
    let (at, value) = open.find_map(|at| Some((at, value(&tokens[at])?)))?;
    used[at] = true;
    Some(value)
}

/// The choice whose words stand side by side in the clause.
fn choice(schema: &Value, tokens: &[Token], used: &mut [bool]) -> Option<String> {
    let mut all: Vec<&str> = choices(schema).collect();
    all.sort_by_key(|choice| std::cmp::Reverse(choice.len()));
    all.into_iter().find_map(|choice| {
        let words = choice_words(choice);
        let mut places = tokens.windows(words.len());
        let at = places
            .position(|some| some.iter().zip(&words).all(|(token, word)| token.low == *word))?;
        used[at..at + words.len()].fill(true);
        Some(choice.to_owned())
    })
}

/// Free text: from the first word that nobody accounts for to the last. What is handed on to somebody keeps the small words
/// around it.
fn free_text(clause: &Clause, used: &mut [bool], is_whole: bool) -> Option<String> {
    let from = used.iter().position(|used| !used)?;
    let to = used.iter().rposition(|used| !used)? + 1;
    let is_small = |token: &&Token| is_whole && token.is_filler && !token.is("to please now");
    let from = from - clause.tokens[..from].iter().rev().take_while(is_small).count();
    let to = to + clause.tokens[to..].iter().take_while(is_small).count();
    used[..to].fill(true);
    Some(clause.between(from, to).to_owned())
}
