//! The arguments of a tool that nobody wrote a row for: from the words of a wish, by the names of the schema's properties.
//!
//! A property's own name in the words says most (`path: a.txt`, `of type person`); after that what such names mean: a
//! `query` is what one looks for, a `message` what one says.
//! Invariant: all that is required is there, or nothing is called and what is missing is named.

use serde_json::{Map, Value, json};

use super::Asked;
use super::fit::{name_words, stem};
use super::names::{parts, short};
use super::phrase::Phrase;
use super::said::{Meaning, meaning};
use super::schema::{Kind, Schema};
use crate::model::Tool;
use crate::model::rehearsal::{direct, pattern};

/// Words that end the value of an argument.
pub(super) const ENDS: &[&str] = &[
    "with", "and", "of", "named", "called", "titled", "saying", "to", "from", "as", "in", "into",
    "on", "for",
];

/// The arguments of a call, or the name of the one that is missing. `earlier` are the calls to servers so far.
pub fn arguments(wish: &str, tool: &Tool, earlier: &[Asked]) -> Result<Value, String> {
    let server = parts(&tool.name).map_or("", |(server, _)| server);
    let filler = Filler {
        phrase: Phrase::new(wish, server),
        wish,
        server,
        verbs: name_words(short(&tool.name)),
        earlier,
    };
    let schema = Schema::of(&tool.input_schema);
    if let Some(json) = direct::given_as_json(wish) {
        return Ok(Value::Object(json));
    }
    filler.object(schema, true).map(Value::Object)
}

/// Fills a schema from the words of a wish.
pub(super) struct Filler<'w> {
    pub(super) phrase: Phrase<'w>,
    wish: &'w str,
    pub(super) server: &'w str,
    /// The words of the tool's name.
    pub(super) verbs: Vec<String>,
    pub(super) earlier: &'w [Asked],
}

impl Filler<'_> {
    fn object(&self, schema: Schema, outermost: bool) -> Result<Map<String, Value>, String> {
        let mut input = Map::new();
        let mut numbers = self.numbers();
        for (name, part, is_required) in schema.properties() {
            let value = self.named(name, part).or_else(|| match is_required {
                true => self.value(name, part, &mut numbers, outermost),
                false => self.wished(name, part),
            });
            match (value, is_required) {
                (Some(value), _) => drop(input.insert(name.to_owned(), value)),
                (None, true) => return Err(name.to_owned()),
                (None, false) => {}
            }
        }
        Ok(input)
    }

    /// A value that stands behind the property's name: `path=a`, `path: a`, `of type person`, `title "x"`.
    fn named(&self, name: &str, schema: Schema) -> Option<Value> {
        let holds_objects = |items: Schema| items.kind() == Kind::Object;
        if schema.kind() == Kind::Object || schema.items().is_some_and(holds_objects) {
            return None;
        }
        let tokens = &self.phrase.tokens;
        let last = name_words(name).pop().unwrap_or_default();
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| !token.quoted) {
            if let Some((key, value)) = token.text.split_once('=')
                && key.eq_ignore_ascii_case(name)
                && !value.is_empty()
            {
                return spelled(value.trim_matches(['"', '\'']), schema);
            }
            let is_name = token.text.eq_ignore_ascii_case(name) || stem(token.text) == last;
            let marked = self.wish[token.start..token.end].ends_with([':', '=']);
            let next = tokens.get(at + 1);
            let is_quoted = next.is_some_and(|next| next.quoted);
            let before = at.checked_sub(1).map(|at| &tokens[at]);
            let of =
                before.is_some_and(|before| before.is_any(&["of", "as", "with", "from", "is"]));
            let plain =
                matches!(schema.kind(), Kind::Text) && next.is_some_and(|next| !next.is_any(ENDS));
            if !is_name || !(marked || is_quoted || plain && of && meaning(name) == Meaning::Other)
            {
                continue;
            }
            let text = self.phrase.from(at + 1, if marked { &[] } else { ENDS })?;
            return self.wrapped(text, schema);
        }
        None
    }

    /// What is required and not named.
    fn value(
        &self,
        name: &str,
        schema: Schema,
        numbers: &mut Vec<Value>,
        outermost: bool,
    ) -> Option<Value> {
        if let Some(choice) = self.choice(schema) {
            return Some(choice);
        }
        match schema.kind() {
            Kind::Number => {
                let next = (!numbers.is_empty()).then(|| numbers.remove(0));
                next.or_else(|| schema.default().cloned())
                    .or_else(|| Some(json!(1)))
            }
            Kind::Flag => Some(json!(
                !self
                    .phrase
                    .tokens
                    .iter()
                    .any(|token| token.is_any(&["not", "without", "no"]))
            )),
            Kind::Object => self.object(schema, false).ok().map(Value::Object),
            Kind::List => match schema.items()? {
                items if items.kind() == Kind::Object => {
                    Some(json!([self.object(items, false).ok()?]))
                }
                items => match self.text(name, items, outermost) {
                    Some(text) => Some(json!([text])),
                    None => (!outermost).then(|| json!([])),
                },
            },
            Kind::Text => self
                .text(name, schema, outermost)
                .or_else(|| self.before(name))
                .or_else(|| schema.choices().first().map(|choice| choice.to_string()))
                .or_else(|| self.stand_in(name, outermost))
                .map(Value::from),
        }
    }

    /// What is not required and still asked for: a number of lines, a choice.
    fn wished(&self, name: &str, schema: Schema) -> Option<Value> {
        let words = name_words(name);
        let tokens = &self.phrase.tokens;
        if schema.kind() != Kind::Number {
            return None;
        }
        let at = tokens
            .iter()
            .position(|token| words.contains(&stem(token.text)))?;
        let from = at.saturating_sub(2);
        let near = tokens[from..(at + 3).min(tokens.len())].iter();
        let near = near.filter(|token| !token.is_any(&["last", "latest", "one"]));
        near.into_iter()
            .find_map(|token| serde_json::from_str(pattern::number(token)?).ok())
    }

    /// One of the values that are allowed, when a word names it.
    fn choice(&self, schema: Schema) -> Option<Value> {
        let choices = schema.choices();
        let said = |choice: &&&str| {
            let plain: String = choice.to_lowercase().replace(['_', '-'], " ");
            let text = self.wish.to_lowercase().replace(['_', '-'], " ");
            let is_word = self
                .phrase
                .tokens
                .iter()
                .any(|token| token.text.eq_ignore_ascii_case(choice));
            is_word || plain.contains(' ') && text.contains(&plain)
        };
        choices.iter().find(said).map(|choice| json!(choice))
    }

    fn numbers(&self) -> Vec<Value> {
        let tokens = self.phrase.tokens.iter();
        tokens
            .filter_map(|token| {
                serde_json::from_str(pattern::number(token).unwrap_or(token.text)).ok()
            })
            .filter(Value::is_number)
            .collect()
    }

    fn wrapped(&self, text: String, schema: Schema) -> Option<Value> {
        match schema.kind() {
            Kind::List => {
                let items: Vec<&str> = text
                    .split(", ")
                    .flat_map(|item| item.split(" and "))
                    .collect();
                Some(json!(items))
            }
            _ => spelled(&text, schema),
        }
    }
}

/// A word as the kind of value its schema wants.
fn spelled(word: &str, schema: Schema) -> Option<Value> {
    match schema.kind() {
        Kind::Number | Kind::Flag => serde_json::from_str(word).ok(),
        Kind::Text => Some(json!(word)),
        Kind::List | Kind::Object => serde_json::from_str(word).ok(),
    }
}
