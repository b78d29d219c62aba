//! The models the mock lists, and their limits.
//!
//! The mock answers whatever model it is asked for; the list exists for clients that show one.
//! Invariant: a model that is not listed may be asked for as much as most models.

use serde_json::{Value, json};

/// A model of the list.
struct Model {
    id: &'static str,
    name: &'static str,
    /// The most tokens a reply may be asked for.
    most_output: u32,
}

const MODELS: [Model; 3] = [
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
        id: "claude-haiku-4-5",
        name: "Claude Haiku 4.5",
        most_output: USUAL_OUTPUT,
    },
];

const USUAL_OUTPUT: u32 = 64_000;

/// The most tokens a reply of this model, or of a dated version of it, may be asked for.
pub fn most_output(id: &str) -> u32 {
    let model = MODELS.iter().find(|model| id.starts_with(model.id));
    model.map_or(USUAL_OUTPUT, |model| model.most_output)
}

/// The body of `GET /v1/models`, for a server with this context window.
pub fn all(window: u32) -> Value {
    let data = MODELS
        .iter()
        .map(|model| model.json(window))
        .collect::<Vec<_>>();
    json!({
        "data": data,
        "has_more": false,
        "first_id": MODELS.first().map(|model| model.id),
        "last_id": MODELS.last().map(|model| model.id),
    })
}

/// The body of `GET /v1/models/{id}`.
pub fn one(id: &str, window: u32) -> Option<Value> {
    MODELS
        .iter()
        .find(|model| model.id == id)
        .map(|model| model.json(window))
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
