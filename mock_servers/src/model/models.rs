//! The models the mock lists, and their limits.
//!
//! The mock answers whatever model it is asked for; the list exists for clients that show one.
//! Invariant: a model that is not listed has the limits of most models.

use serde_json::{Value, json};

/// A model of the list.
struct Model {
    id: &'static str,
    name: &'static str,
    created: &'static str,
}

const MODELS: [Model; 3] = [
    Model {
        id: "claude-opus-4-5",
        name: "Claude Opus 4.5",
        created: "2025-11-24T00:00:00Z",
    },
    Model {
        id: "claude-haiku-4-5",
        name: "Claude Haiku 4.5",
        created: "2025-10-01T00:00:00Z",
    },
    Model {
        id: "claude-sonnet-4-5",
        name: "Claude Sonnet 4.5",
        created: "2025-09-29T00:00:00Z",
    },
];

/// The most output tokens of the listed models.
const USUAL_OUTPUT: u32 = 64_000;

/// The most tokens a reply of this model may be asked for.
pub fn most_output(model: &str) -> u32 {
    match model {
        // The one well-known family with a smaller limit than the rest.
        model if model.starts_with("claude-opus-4-1") => 32_000,
        _ => USUAL_OUTPUT,
    }
}

/// The body of `GET /v1/models`.
pub fn all() -> Value {
    let data = MODELS.iter().map(Model::json).collect::<Vec<_>>();
    json!({
        "data": data,
        "has_more": false,
        "first_id": MODELS.first().map(|model| model.id),
        "last_id": MODELS.last().map(|model| model.id),
    })
}

/// The body of `GET /v1/models/{id}`.
pub fn one(id: &str) -> Option<Value> {
    MODELS.iter().find(|model| model.id == id).map(Model::json)
}

impl Model {
    fn json(&self) -> Value {
        json!({"type": "model", "id": self.id, "display_name": self.name, "created_at": self.created})
    }
}
