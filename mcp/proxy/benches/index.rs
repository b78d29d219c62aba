//! Building the index of 10,000 tools, what it takes in memory, and a query on it.

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
    let tools = many.clone();
    // Before anything else has been built and freed.
    let before = resident();
    let index = Index::new(tools, Synonyms::built_in());
    let memory = resident().saturating_sub(before);
    let mut builds = Vec::new();
    for _ in 0..9 {
        let tools = many.clone();
        let start = Instant::now();
        let index = black_box(Index::new(tools, Synonyms::built_in()));
        builds.push(start.elapsed());
        drop(index);
    }
    let mut searches = Vec::new();
    for _ in 0..20 {
        for query in &queries.queries {
            let start = Instant::now();
            black_box(index.search(&query.query, 5));
            searches.push(start.elapsed());
        }
    }
    println!(
        "index of {TOOLS} tools: {:?}, {} MiB beside the tools",
        percentile(&mut builds, 50),
        memory >> 20
    );
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

/// Bytes of this process in memory.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0) * 4096
}
