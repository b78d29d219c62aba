//! Building the index of 10,000 tools, and a query on it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mcp_proxy::index::{Index, Tool, synonyms::Synonyms};
use mcp_proxy::recall::{Queries, Tools};

const TOOLS: usize = 10_000;

fn main() {
    let tools: Tools = serde_json::from_str(include_str!("../data/livemcp_tools.json")).unwrap();
    let queries: Queries =
        serde_json::from_str(include_str!("../data/livemcp_step_queries.json")).unwrap();
    let numbered = |(number, tool): (usize, &Tool)| Tool {
        name: format!("{}_{number}", tool.name),
        ..tool.clone()
    };
    let many: Vec<Tool> =
        tools.tools.iter().cycle().take(TOOLS).enumerate().map(numbered).collect();
    let mut builds = Vec::new();
    for _ in 0..9 {
        let tools = many.clone();
        let start = Instant::now();
        let index = black_box(Index::new(tools, Synonyms::built_in()));
        builds.push(start.elapsed());
        drop(index);
    }
    let index = Index::new(many, Synonyms::built_in());
    let mut searches = Vec::new();
    for _ in 0..20 {
        for query in &queries.queries {
            let start = Instant::now();
            black_box(index.search(&query.query, 5));
            searches.push(start.elapsed());
        }
    }
    println!("index of {TOOLS} tools: {:?}", percentile(&mut builds, 50));
    println!(
        "query: p50 {:?}, p99 {:?}",
        percentile(&mut searches, 50),
        percentile(&mut searches, 99)
    );
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}
