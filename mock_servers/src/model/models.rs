//! The models the mock lists, and their limits.
//!
//! The mock answers whatever model it is asked for; the list exists for clients that show one.
//! Invariant: a model that is not listed may be asked for as much as most models.

use serde_json::{Value, json};

use super::refusal::Flaw;

/// A model of the list.
struct Model {
    id: &'static str,
    name: &'static str,
    /// The most tokens a reply may be asked for.
    most_output: u32,
}

/// The models, newest first.
const MODELS: [Model; 4] = [
    Model {
        id: "claude-opus-5-5",
        name: "Claude Opus 5.5",
        most_output: 128_000,
    },
    Model {
        id: "claude-sonnet-5-5",
        name: "Claude Sonnet 5.5",
        most_output: 128_000,
    },
    Model {
        id: "claude-sonnet-4-6",
        name: "Claude Sonnet 4.6",
        most_output: 128_000,
    },
    Model {
        id: "claude-haiku-4-5",
        name: "Claude Haiku 4.5",
        most_output: USUAL_OUTPUT,
    },
];

const USUAL_OUTPUT: u32 = 64_000;
/// How many models are on a page, unless the client says.
const PAGE: usize = 20;
const MOST_ON_A_PAGE: usize = 1000;

/// The most tokens a reply of this model, or of a dated version of it, may be asked for.
pub fn most_output(id: &str) -> u32 {
    let model = MODELS.iter().find(|model| id.starts_with(model.id));
    model.map_or(USUAL_OUTPUT, |model| model.most_output)
}

/// The body of `GET /v1/models` with this query, for a server with this context window.
pub fn page(query: &str, window: u32) -> Result<Value, Flaw> {
    let (mut models, mut limit, mut backwards) = (&MODELS[..], PAGE, false);
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        let at = || {
            let at = MODELS.iter().position(|model| model.id == value);
            at.ok_or_else(|| Flaw::at(name, format!("no model has the id '{value}'")))
        };
        match name {
            "after_id" => models = &MODELS[at()? + 1..],
            "before_id" => (models, backwards) = (&MODELS[..at()?], true),
            "limit" => {
                let number = value.parse().ok();
                let number = number.filter(|number| (1..=MOST_ON_A_PAGE).contains(number));
                let rule = format!("Input should be a whole number from 1 to {MOST_ON_A_PAGE}");
                limit = number.ok_or_else(|| Flaw::at(name, rule))?;
            }
            _ => {}
        }
    }
    let has_more = models.len() > limit;
    let count = models.len().min(limit);
    let models = if backwards { &models[models.len() - count..] } else { &models[..count] };
    Ok(json!({
        "data": models.iter().map(|model| model.json(window)).collect::<Vec<_>>(),
        "has_more": has_more,
        "first_id": models.first().map(|model| model.id),
        "last_id": models.last().map(|model| model.id),
    }))
}

/// The body of `GET /v1/models/{id}`.
pub fn one(id: &str, window: u32) -> Option<Value> {
    MODELS.iter().find(|model| model.id == id).map(|model| model.json(window))
}

impl Model {
    fn json(&self, window: u32) -> Value {
        json!({
            "type": "model",
            "id": self.id,
            "display_name": self.name,
            // The API gives the epoch for a date it does not know.
            "created_at": "1970-01-01T00:00:00Z",
            "lifecycle": "active",
            "max_input_tokens": window,
            "max_tokens": self.most_output,
        })
    }
}
