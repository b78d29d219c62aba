//! The rules of the fields beside tools, system and messages.
//!
//! Most of them change nothing in a rehearsal, but a wrong type would cost the whole request with the real API.
//! Invariant: a field that the API does not know is refused by its name.

use serde_json::Value;

use super::fields::{Fields, life, list, text};
use crate::model::cache::Life;
use crate::model::refusal::Flaw;

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
    /// The tool that must be called.
    pub forced_tool: Option<String>,
}

/// Fields that the API knows and the mock does not use.
const UNUSED: [&str; 12] = [
    "container",
    "context_management",
    "diagnostics",
    "inference_geo",
    "mcp_servers",
    "output_config",
    "output_format",
    "service_tier",
    "speed",
    "thinking",
    "user_profile_id",
    "workspace_id",
];

/// Reads one field.
pub fn option(name: &str, value: Value, options: &mut Options) -> Result<(), Flaw> {
    match name {
        "model" => options.model = Some(model(value)?),
        "max_tokens" => options.max_tokens = Some(max_tokens(&value)?),
        "stream" => options.stream = flag(&value)?,
        "cache_control" if value.is_null() => {}
        "cache_control" => options.cache = Some(life(value)?),
        "tool_choice" => options.forced_tool = tool_choice(value)?,
        "temperature" | "top_p" => fraction(&value)?,
        "top_k" => count(&value).map(drop)?,
        "stop_sequences" => {
            let texts = list(value)?.into_iter().map(text).enumerate();
            for (i, text) in texts {
                text.map_err(|flaw| flaw.under(i))?;
            }
        }
        "metadata" => {
            let mut fields = Fields::of(value)?;
            fields.optional_string("user_id")?;
            fields.none_left()?;
        }
        name if UNUSED.contains(&name) => {}
        _ => return Err(Flaw::here("Extra inputs are not permitted")),
    }
    Ok(())
}

fn model(value: Value) -> Result<String, Flaw> {
    match text(value)? {
        id if id.is_empty() => Err(Flaw::here("String should have at least 1 character")),
        id => Ok(id),
    }
}

fn max_tokens(value: &Value) -> Result<u32, Flaw> {
    match count(value)? {
        0 => Err(Flaw::here("Input should be greater than or equal to 1")),
        count => Ok(u32::try_from(count).unwrap_or(u32::MAX)),
    }
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

fn flag(value: &Value) -> Result<bool, Flaw> {
    value
        .as_bool()
        .ok_or_else(|| Flaw::here("Input should be a valid boolean"))
}

fn fraction(value: &Value) -> Result<(), Flaw> {
    match value.as_f64() {
        Some(number) if (0.0..=1.0).contains(&number) => Ok(()),
        Some(_) => Err(Flaw::here("range: 0..1")),
        None => Err(Flaw::here("Input should be a valid number")),
    }
}

fn tool_choice(value: Value) -> Result<Option<String>, Flaw> {
    let mut fields = Fields::of(value)?;
    let kind = fields.string("type")?;
    let forced = match kind.as_str() {
        "auto" | "any" | "none" => None,
        "tool" => Some(fields.string("name")?),
        _ => {
            return Err(Flaw::at(
                "type",
                "Input should be 'auto', 'any', 'tool' or 'none'",
            ));
        }
    };
    fields.flag("disable_parallel_tool_use")?;
    fields.none_left()?;
    Ok(forced)
}
