//! The rules of the fields beside tools, system and messages.
//!
//! Most of them change nothing in a rehearsal, but a wrong one would cost the whole request with the real API.
//! Invariant: a field that the API does not know, or knows only by a beta that was not asked for, is refused by its name.

use serde_json::Value;

use super::betas::Need;
use super::fields::{Fields, choice, life, list, tag, text, unless_null};
use super::tools::ToolSet;
use crate::model::cache::Life;
use crate::model::refusal::{Flaw, Refusal};

/// The small fields of a request, each absent until it was read.
#[derive(Debug, Default)]
pub struct Options {
    /// The model id.
    pub model: Option<String>,
    /// The most tokens the reply may have.
    pub max_tokens: Option<u32>,
    /// Whether the reply is streamed.
    pub stream: bool,
    /// A breakpoint on the last block, wherever that is.
    pub cache: Option<Life>,
    /// What is refused without the header of its beta.
    pub needs: Vec<Need>,
    tool_choice: ToolChoice,
    thinking: Thinking,
    temperature: Option<f64>,
    top_k: Option<u64>,
    top_p: Option<f64>,
    schema: bool,
    thread: bool,
}

#[derive(Debug, Default, PartialEq)]
enum ToolChoice {
    #[default]
    Free,
    Any,
    Named(String),
}

#[derive(Debug, Default, PartialEq)]
enum Thinking {
    #[default]
    Off,
    Adaptive,
    Budget(u64),
}

/// A field: its name, the betas that bring it (none when every request may have it), and how its value is read.
struct Field {
    name: &'static str,
    betas: &'static [&'static str],
    read: fn(Value, &mut Options) -> Result<(), Flaw>,
}

const fn field(name: &'static str, read: fn(Value, &mut Options) -> Result<(), Flaw>) -> Field {
    beta(name, &[], read)
}

const fn beta(
    name: &'static str,
    betas: &'static [&'static str],
    read: fn(Value, &mut Options) -> Result<(), Flaw>,
) -> Field {
    Field { name, betas, read }
}

const FIELDS: [Field; 22] = [
    field("cache_control", |value, options| {
        options.cache = unless_null(value, life)?;
        Ok(())
    }),
    field("container", |value, _| match value {
        Value::Null | Value::String(_) => Ok(()),
        value => Fields::of(value).map(drop),
    }),
    field("diagnostics", |value, _| {
        unless_null(value, Fields::of).map(drop)
    }),
    field("inference_geo", |value, _| {
        unless_null(value, text).map(drop)
    }),
    field("max_tokens", |value, options| {
        let tokens = count(&value)?;
        options.max_tokens = Some(u32::try_from(tokens).unwrap_or(u32::MAX));
        Ok(())
    }),
    field("metadata", |value, _| {
        let mut fields = Fields::of(value)?;
        fields.optional_string("user_id")?;
        fields.none_left()
    }),
    field("model", |value, options| match text(value)? {
        id if id.is_empty() => Err(Flaw::here("String should have at least 1 character")),
        id => {
            options.model = Some(id);
            Ok(())
        }
    }),
    field("output_config", output_config),
    field("service_tier", |value, _| {
        choice(value, &["auto", "standard_only"])
    }),
    field("speed", |value, _| {
        unless_null(value, |value| choice(value, &["standard", "fast"])).map(drop)
    }),
    field("stop_sequences", |value, _| {
        let mut texts = list(value)?.into_iter().map(text).enumerate();
        texts.try_for_each(|(i, text)| text.map(drop).map_err(|flaw| flaw.under(i)))
    }),
    field("stream", |value, options| {
        let flag = value.as_bool();
        options.stream = flag.ok_or_else(|| Flaw::here("Input should be a valid boolean"))?;
        Ok(())
    }),
    field("temperature", |value, options| {
        options.temperature = Some(fraction(&value)?);
        Ok(())
    }),
    field("thinking", thinking),
    field("tool_choice", tool_choice),
    field("top_k", |value, options| {
        options.top_k = Some(count(&value)?);
        Ok(())
    }),
    field("top_p", |value, options| {
        options.top_p = Some(fraction(&value)?);
        Ok(())
    }),
    beta(
        "context_management",
        &["context-management-", "compact-"],
        |value, _| unless_null(value, Fields::of).map(drop),
    ),
    beta(
        "fallbacks",
        &["server-side-fallback-"],
        |value, _| match value {
            Value::Null => Ok(()),
            Value::String(_) => choice(value, &["default"]),
            value => list(value).map(drop),
        },
    ),
    beta("mcp_servers", &["mcp-client-"], |value, _| {
        list(value).map(drop)
    }),
    beta(
        "output_format",
        &["structured-outputs-"],
        |value, options| {
            options.schema |= unless_null(value, format)?.is_some();
            Ok(())
        },
    ),
    beta("thread", &["message-threads-"], |value, options| {
        let kinds = ["continue", "create"];
        options.thread = unless_null(value, |value| tag(&value, &kinds))?.is_some();
        Ok(())
    }),
];

/// Reads one field.
pub fn option(name: &str, value: Value, options: &mut Options) -> Result<(), Flaw> {
    let unknown = || Flaw::here("Extra inputs are not permitted");
    let field = FIELDS.iter().find(|field| field.name == name);
    let field = field.ok_or_else(unknown)?;
    if !field.betas.is_empty() {
        let flaw = unknown().under(name);
        options.needs.push(Need::new(field.betas, flaw));
    }
    (field.read)(value, options)
}

impl Options {
    /// Refuses a thread with the code at which clients go on without one.
    pub fn threads(&self) -> Result<(), Refusal> {
        if !self.thread {
            return Ok(());
        }
        let rule = "thread: message threads are not kept here. Send the full conversation without `thread`.";
        Err(Refusal {
            code: Some("thread_unsupported_request"),
            ..Refusal::invalid(rule)
        })
    }

    /// Checks that the tool which must be called is on offer.
    pub fn chosen_among(&self, tools: &ToolSet) -> Result<(), Flaw> {
        match &self.tool_choice {
            ToolChoice::Named(name) if tools.tools.iter().all(|tool| tool.name != *name) => {
                let rule = format!("Tool '{name}' not found in provided tools");
                Err(Flaw::at("tool_choice", rule))
            }
            ToolChoice::Any if tools.pieces.is_empty() => {
                let rule = "may only be specified while providing tools";
                Err(Flaw::at("tool_choice.any", rule))
            }
            ToolChoice::Named(_) | ToolChoice::Any | ToolChoice::Free => Ok(()),
        }
    }

    /// Checks what spans fields. `interleaved` is whether thinking may go on between the calls of tools.
    pub fn together(&self, interleaved: bool) -> Result<(), Refusal> {
        let thinks = self.thinking != Thinking::Off;
        let forced = self.tool_choice != ToolChoice::Free;
        let budget = match self.thinking {
            Thinking::Budget(budget) => Some(budget),
            Thinking::Off | Thinking::Adaptive => None,
        };
        let most = self.max_tokens.map(u64::from);
        let none = most == Some(0);
        let rules = [
            (
                // Between the calls of tools a budget is that of the whole turn, of which this reply is a part.
                !interleaved
                    && most.is_some_and(|most| budget.is_some_and(|budget| budget >= most)),
                "`max_tokens` must be greater than `thinking.budget_tokens`",
            ),
            (
                thinks
                    && self
                        .temperature
                        .is_some_and(|temperature| temperature < 1.0),
                "`temperature` may only be set to 1 when thinking is enabled",
            ),
            (
                thinks && self.top_k.is_some(),
                "`top_k` must be unset when thinking is enabled",
            ),
            (
                thinks && self.top_p.is_some_and(|top_p| top_p < 0.95),
                "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled",
            ),
            (
                thinks && forced,
                "Thinking may not be enabled when tool_choice forces tool use",
            ),
            (
                none && self.stream,
                "max_tokens: 0 is not allowed together with `stream`",
            ),
            (
                none && budget.is_some(),
                "max_tokens: 0 is not allowed together with `thinking.budget_tokens`",
            ),
            (
                none && forced,
                "max_tokens: 0 is not allowed together with a `tool_choice` that forces tool use",
            ),
            (
                none && self.schema,
                "max_tokens: 0 is not allowed together with a format of the output",
            ),
        ];
        let broken = rules.iter().find(|(broken, _)| *broken);
        broken.map_or(Ok(()), |(_, rule)| Err(Refusal::invalid(*rule)))
    }
}

fn thinking(value: Value, options: &mut Options) -> Result<(), Flaw> {
    let kind = tag(
        &value,
        &["adaptive", "between_tools", "disabled", "enabled"],
    )?;
    let read = || {
        let mut fields = Fields::of(value)?;
        fields.ignore(&["type"]);
        options.thinking = match kind {
            "enabled" => Thinking::Budget(budget(fields.required("budget_tokens")?)?),
            "adaptive" => Thinking::Adaptive,
            _ => Thinking::Off,
        };
        if ["adaptive", "enabled"].contains(&kind)
            && let Some(display) = fields.optional("display")
        {
            choice(display, &["summarized", "omitted"]).map_err(|flaw| flaw.under("display"))?;
        }
        fields.none_left()
    };
    read().map_err(|flaw: Flaw| flaw.under(kind))
}

fn budget(value: Value) -> Result<u64, Flaw> {
    const LEAST: u64 = 1024;
    let least = || Flaw::here(format!("Input should be greater than or equal to {LEAST}"));
    let budget =
        count(&value).and_then(|tokens| (tokens >= LEAST).then_some(tokens).ok_or_else(least));
    budget.map_err(|flaw| flaw.under("budget_tokens"))
}

fn output_config(value: Value, options: &mut Options) -> Result<(), Flaw> {
    let mut fields = Fields::of(value)?;
    if let Some(effort) = fields.optional("effort") {
        let efforts = ["low", "medium", "high", "xhigh", "max"];
        choice(effort, &efforts).map_err(|flaw| flaw.under("effort"))?;
    }
    if let Some(value) = fields.optional("format") {
        format(value).map_err(|flaw| flaw.under("format"))?;
        options.schema = true;
    }
    if fields.optional("task_budget").is_some() {
        let flaw = Flaw::at(
            "output_config.task_budget",
            "Extra inputs are not permitted",
        );
        options.needs.push(Need::new(&["task-budgets-"], flaw));
    }
    fields.none_left()
}

/// The schema that a reply must follow.
fn format(value: Value) -> Result<(), Flaw> {
    let mut fields = Fields::of(value)?;
    choice(fields.required("type")?, &["json_schema"]).map_err(|flaw| flaw.under("type"))?;
    Fields::of(fields.required("schema")?).map_err(|flaw| flaw.under("schema"))?;
    fields.none_left()
}

fn tool_choice(value: Value, options: &mut Options) -> Result<(), Flaw> {
    let kind = tag(&value, &["any", "auto", "none", "tool"])?;
    let read = || {
        let mut fields = Fields::of(value)?;
        fields.ignore(&["type"]);
        options.tool_choice = match kind {
            "any" => ToolChoice::Any,
            "tool" => ToolChoice::Named(fields.string("name")?),
            _ => ToolChoice::Free,
        };
        if kind != "none" {
            fields.flag("disable_parallel_tool_use")?;
        }
        fields.none_left()
    };
    read().map_err(|flaw: Flaw| flaw.under(kind))
}

fn count(value: &Value) -> Result<u64, Flaw> {
    match value {
        Value::Number(number) if number.as_i64().is_some_and(|n| n < 0) => {
            Err(Flaw::here("Input should be greater than or equal to 0"))
        }
        value => value
            .as_u64()
            .ok_or_else(|| Flaw::here("Input should be a valid integer")),
    }
}

fn fraction(value: &Value) -> Result<f64, Flaw> {
    match value.as_f64() {
        Some(number) if (0.0..=1.0).contains(&number) => Ok(number),
        Some(_) => Err(Flaw::here("range: 0..1")),
        None => Err(Flaw::here("Input should be a valid number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The row of the README's table with this head.
    fn row(head: &str) -> &'static str {
        let readme = include_str!("../../../README.md");
        let mut rows = readme.lines().filter_map(|line| line.strip_prefix(head));
        rows.next().expect("the README has this row")
    }

    #[test]
    fn the_readme_names_every_field_and_no_other() {
        let (any, _) = row("| fields | any but ")
            .split_once(';')
            .expect("names end");
        let mut named = any.split(", ").collect::<Vec<_>>();
        let open = FIELDS.iter().filter(|field| field.betas.is_empty());
        let parts = ["messages", "system", "tools"].into_iter();
        let fields = open.map(|field| field.name).chain(parts);
        let mut fields = fields.map(|name| format!("`{name}`")).collect::<Vec<_>>();
        fields.sort_unstable();
        named.sort_unstable();
        assert_eq!(named, fields);
        let (_, betas) = row("| betas | ").split_once(": ").expect("names begin");
        let (betas, _) = betas.split_once(';').expect("names end");
        let brought = FIELDS.iter().filter(|field| !field.betas.is_empty());
        let brought = brought.map(|field| format!("`{}`", field.name));
        assert_eq!(
            betas.split(", ").collect::<Vec<_>>(),
            brought.collect::<Vec<_>>()
        );
    }
}
