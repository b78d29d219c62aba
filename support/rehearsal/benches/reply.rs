//! How long a reply takes, by request and by the number of tools on offer.
//!
//! A class runs the debug build, and each round of each agent asks: thinking must cost nothing beside the rest. Invariant:
//! nothing here asserts; figures are for a reader.
//!
//! `cargo bench -p rehearsal`, and `cargo bench -p rehearsal --profile dev` for what a class runs.

use std::hint::black_box;
use std::time::Instant;

use rehearsal::{Block, Message, Request, Tool, answer};
use serde_json::{Value, json};

const ROUNDS: u32 = 200;

const REQUESTS: [&str; 5] = [
    "Read the file README.md and tell me what this project is about",
    "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.",
    "search the records of customer 42",
    "translate the whole of README.md to French and send it to everybody whom you know",
    "what else can you do?",
];

fn main() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "query": {"type": "string"}}});
    for count in [30, 500] {
        let tools: Vec<(String, String)> = (0..count).map(|at| match at {
            0 => ("read_file".to_owned(), "Read a text file, or some of its lines.".to_owned()),
            1 => ("bash".to_owned(), "Run a shell command in the working directory.".to_owned()),
            at => (format!("mcp__server{}__search_{at}", at % 9), format!("Search the records number {at} of a system, with all that belongs to them, and list what was found.")),
        }).collect();
        for request in REQUESTS {
            println!("{count:>4} tools  {:>8.3} ms  {request}", time(&tools, &schema, request));
        }
    }
}

/// Milliseconds a reply, on average.
fn time(tools: &[(String, String)], schema: &Value, request: &str) -> f64 {
    let start = Instant::now();
    for _ in 0..ROUNDS {
        let tools = tools.iter().map(|(name, description)| Tool {
            name,
            description,
            schema,
        });
        let messages = vec![Message {
            from_user: true,
            blocks: vec![Block::Text(request)],
        }];
        black_box(answer(&Request {
            system: "You are a coding agent.",
            tools: tools.collect(),
            messages,
            ..Request::default()
        }));
    }
    start.elapsed().as_secs_f64() * 1_000.0 / f64::from(ROUNDS)
}
