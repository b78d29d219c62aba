//! Tools that only their server knows: chosen by name, description and schema.
//!
//! A tool that reads may answer a question; a tool that changes something needs its own verb at the head of the clause.
//! Invariant: each argument is a word of the request that the schema accepts, and a word that nothing accounts for stops it.

use serde_json::{Map, Value, json};

use crate::clause::{Clause, is_filler};
use crate::pattern::{self, says};
use crate::rank;
use crate::tools::{Can, Tools, complete};
use crate::types::Tool;
use crate::words::{Shape, Token, has, number, set, stem, unique};

/// Words that mean the same to a server.
fn same() -> impl Iterator<Item = std::str::Split<'static, char>> {
    set("same").split(" | ").map(|group| group.split(' '))
}

/// The servers that can be connected, as the tool that connects says of itself.
pub fn available(tools: &Tools) -> Vec<String> {
    let description = tools.get(Can::Connect).map_or("", |tool| tool.description);
    let Some((_, list)) = description.split_once("ervers: ") else { return Vec::new() };
    let list = list.split(['.', '\n']).next().unwrap_or_default();
    list.split([',', ' '])
        .map(str::trim)
        .filter(|name| !name.is_empty() && *name != "and")
        .map(str::to_owned)
        .collect()
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
        let some = tokens[at..]
            .iter()
            .take_while(|token| is_part(token) || is_filler(token) || token.is("over via"))
            .count();
        let last = tokens[at..at + some].iter().rposition(|token| is_part(&token))?;
        let is_any = tokens[at..=at + last].iter().any(|token| is_server(token) || token.is(ALL));
        (kind == "servers" && is_any).then_some(at + last + 1)
    };
    let found = pattern::find("connect", clause, &kind)?;
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

/// A word of a clause, with all that means the same to a server.
struct Wanted<'a> {
    token: &'a Token,
    /// Its stem, and those of words that mean the same.
    same: Vec<String>,
}

fn wanted(token: &Token) -> Wanted<'_> {
    let groups = same().filter(|group| group.clone().any(|word| stem(word) == token.stem));
    let mut same: Vec<String> = groups.flat_map(|group| group.map(stem)).collect();
    same.push(token.stem.clone());
    Wanted { token, same }
}

/// Why a tool cannot be called.
#[derive(Debug)]
pub struct Missing {
    /// What nobody accounts for, or the request without an argument.
    pub what: String,
    /// What the argument may be.
    pub choices: Vec<String>,
}

/// The call that a clause asks a server's tool for; nothing when no tool is near. The error says what nobody accounts for, or
/// which argument is missing; a choice may be left to the first one where nobody could know them yet.
pub fn pick(
    clause: &Clause,
    tools: &Tools,
    server: Option<&str>,
    may_choose: bool,
) -> Option<Result<(String, Value), Missing>> {
    let content = clause.tokens.iter().filter(|token| !is_filler(token));
    let content: Vec<Wanted> = content.map(wanted).collect();
    let verb = clause
        .tokens
        .first()
        .filter(|first| rank::is_verb(&first.low) && !clause.is_question())
        .map(wanted);
    let orders = !clause.is_question()
        && clause.tokens.first().is_some_and(|first| first.is(set("changes")));
    let mut best: Option<(f32, &Tool)> = None;
    for tool in tools.outside().iter().filter(|tool| is_of(tool, server)) {
        let score = nearness(tool, (verb.as_ref(), orders), &content);
        if score > best.map_or(0.9, |(best, _)| best) {
            best = Some((score, tool));
        }
    }
    // A question to a server that can be searched: its words are looked up.
    let is_search = |tool: &&&Tool| {
        reads(tool, &name_words(tool)) && has_property(tool, |name| name == "query")
    };
    let asked = server.filter(|_| clause.is_question());
    let search = || {
        tools.outside().iter().filter(|tool| asked.is_some() && is_of(tool, asked)).find(is_search)
    };
    match best {
        Some((_, tool)) => match (arguments(tool, clause, may_choose), search()) {
            (Err(missing), Some(other)) => {
                Some(arguments(other, clause, may_choose).or(Err(missing)))
            }
            (went, _) => Some(went),
        },
        None => search().map(|tool| arguments(tool, clause, may_choose)),
    }
}

fn is_of(tool: &Tool, server: Option<&str>) -> bool {
    server.is_none_or(|server| parts(tool.name).0.eq_ignore_ascii_case(server))
}

fn name_words(tool: &Tool) -> Vec<String> {
    let (_, short) = parts(tool.name);
    short.split(['_', '-', '.']).map(str::to_lowercase).filter(|word| !word.is_empty()).collect()
}

fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (stem(one), stem(other));
    one == other
        || same().any(|group| {
            [&one, &other].iter().all(|word| group.clone().any(|same| stem(same) == **word))
        })
}

fn reads(tool: &Tool, names: &[String]) -> bool {
    tool.description.contains("(readOnly)")
        || (names.first().is_some_and(|verb| has(set("reads"), verb))
            && !tool.description.contains("(destructive)"))
}

/// How near a tool is to the words of a clause; one that reads is none for an order, one that acts needs its own verb.
fn nearness(tool: &Tool, (verb, orders): (Option<&Wanted>, bool), content: &[Wanted]) -> f32 {
    let words = name_words(tool);
    let names: Vec<String> = words.iter().map(|name| stem(name)).collect();
    let is_meant = |verb: &Wanted| names.first().is_some_and(|name| verb.same.contains(name));
    let may = if reads(tool, &words) { !orders } else { verb.is_some_and(is_meant) };
    if !may {
        return 0.0;
    }
    let is_id = |name: &str| name.contains("key") || name.ends_with("id");
    let description = tool.description.to_lowercase();
    let is_told =
        |word: &Wanted| word.token.stem.len() > 2 && description.contains(&word.token.stem);
    let score = |word: &Wanted| match word.token {
        token if token.shape == Shape::Key && has_property(tool, is_id) => 2.0,
        token if names.contains(&token.stem) => 3.0,
        _ if names.iter().any(|name| word.same.contains(name)) => 2.0,
        token if is_choice(tool, token) => 1.5,
        _ if is_told(word) => 1.0,
        _ => 0.0,
    };
    content.iter().map(score).sum::<f32>() - 0.1 * names.len() as f32
}

fn has_property(tool: &Tool, is: impl Fn(&str) -> bool) -> bool {
    tool.schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|all| all.keys())
        .any(|name| is(name))
}

fn choices(schema: &Value) -> impl Iterator<Item = &str> {
    schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn is_choice(tool: &Tool, token: &Token) -> bool {
    let all = tool.schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|all| all.values())
        .flat_map(choices);
    all.into_iter().any(|choice| choice_words(choice).contains(&token.low))
}

fn choice_words(choice: &str) -> Vec<String> {
    choice.to_lowercase().split([' ', '_', '-']).map(str::to_owned).collect()
}

/// Fills the arguments; the error is a word that is left over, or an argument that is missing.
fn arguments(tool: &Tool, clause: &Clause, may_choose: bool) -> Result<(String, Value), Missing> {
    let tokens = &clause.tokens;
    let (server, _) = parts(tool.name);
    let words = name_words(tool);
    let only_reads = reads(tool, &words);
    let is_told = |token: &Token| {
        is_filler(token)
            || token.is(set("of-servers"))
            || only_reads && token.is(set("tells"))
            || names(token, server)
            || token.shape == Shape::Word && words.iter().any(|word| is_same(word, &token.low))
    };
    let mut used: Vec<bool> = tokens.iter().map(is_told).collect();
    let mut input = Map::new();
    let required: Vec<&str> = tool.schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, schema) in tool.schema["properties"].as_object().into_iter().flatten() {
        let is_required = required.contains(&name.as_str());
        if let Some(value) = argument(clause, (name, schema, is_required), &mut used) {
            input.insert(name.clone(), value);
        }
    }
    // What the description speaks of says nothing new.
    let description = tool.description.to_lowercase();
    let is_in = |token: &Token| {
        description.contains(&token.stem) || has_property(tool, |name| stem(name) == token.stem)
    };
    let is_new =
        |token: &Token| token.shape != Shape::Word || token.stem.len() < 3 || !is_in(token);
    if let Some(at) = (0..tokens.len()).find(|at| !used[*at] && is_new(&tokens[*at])) {
        return Err(Missing {
            what: format!("“{}”", tokens[at].text),
            choices: Vec::new(),
        });
    }
    for name in required.iter().filter(|name| !input.contains_key(**name)) {
        let all: Vec<&str> = choices(&tool.schema["properties"][*name]).collect();
        if all.is_empty() || !may_choose || required.len() > 1 {
            let some =
                if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) };
            let what = format!("“{}” without its {name}{some}", clause.text());
            return Err(Missing {
                what,
                choices: all.into_iter().map(str::to_owned).collect(),
            });
        }
    }
    complete(tool, &mut input);
    Ok((tool.name.to_owned(), Value::Object(input)))
}

/// The value of one argument: a choice, a number, an id, a quotation, free text.
fn argument(clause: &Clause, wanted: (&str, &Value, bool), used: &mut [bool]) -> Option<Value> {
    let (name, schema, is_required) = wanted;
    let tokens = &clause.tokens;
    let kind =
        schema["type"].as_str().or_else(|| schema["type"].get(0)?.as_str()).unwrap_or("string");
    let low = name.to_lowercase();
    let mut take = |is: &dyn Fn(&Token) -> bool| {
        let at = (0..tokens.len()).find(|at| !used[*at] && is(&tokens[*at]))?;
        used[at] = true;
        Some(&tokens[at])
    };
    if schema["enum"].is_array() {
        return choice(schema, tokens, used).map(Value::from);
    }
    if kind == "integer" || kind == "number" {
        return take(&|token| number(&token.low).is_some())
            .and_then(|token| number(&token.low))
            .map(Value::from);
    }
    if low.contains("key") || low == "id" || low.ends_with("_id") {
        return take(&|token| token.shape == Shape::Key).map(|token| json!(token.text));
    }
    if kind != "string" {
        return None;
    }
    let quoted = take(&|token| matches!(token.shape, Shape::Quoted | Shape::Code))
        .map(|token| json!(token.text));
    quoted.or_else(|| if is_required { free_text(clause, used).map(Value::from) } else { None })
}

/// The choice whose words stand side by side in the clause.
fn choice(schema: &Value, tokens: &[Token], used: &mut [bool]) -> Option<String> {
    let mut all: Vec<&str> = choices(schema).collect();
    all.sort_by_key(|choice| std::cmp::Reverse(choice.len()));
    all.into_iter().find_map(|choice| {
        let words = choice_words(choice);
        let at = tokens
            .windows(words.len())
            .position(|some| some.iter().zip(&words).all(|(token, word)| token.low == *word))?;
        used[at..at + words.len()].iter_mut().for_each(|used| *used = true);
        Some(choice.to_owned())
    })
}

/// Free text: from the first word that nobody accounts for to the last.
fn free_text(clause: &Clause, used: &mut [bool]) -> Option<String> {
    let from = used.iter().position(|used| !used)?;
    let to = used.iter().rposition(|used| !used)? + 1;
    used[..to].iter_mut().for_each(|used| *used = true);
    let text = clause.between(from, to);
    Some(text.to_owned())
}
