//! How well the index finds what people ask for, measured on labelled queries.
//!
//! R@k of a query is the share of its gold tools among the first k names found; that of a set is the mean over its queries.
//! MRR is the mean of one by the rank of the first gold tool. The interval is the 95 % percentile bootstrap over queries
//! (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13), with a fixed seed.
//! Invariant: the measure never refuses a query, so that ranking and refusal are judged apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::index::synonyms::Synonyms;
use crate::index::{Index, Tool};

/// Samples of the bootstrap.
const SAMPLES: usize = 1000;

/// A file of tools: `{"tools": […]}`.
#[derive(Deserialize)]
pub struct Tools {
    /// The tools.
    pub tools: Vec<Tool>,
}

/// A file of queries: `{"queries": […]}`.
#[derive(Deserialize)]
pub struct Queries {
    /// The queries.
    pub queries: Vec<Query>,
}

/// A labelled query.
#[derive(Deserialize)]
pub struct Query {
    /// The set it belongs to.
    pub kind: String,
    /// What somebody asked for.
    pub query: String,
    /// The names of the tools that do it.
    pub gold: Vec<String>,
}

/// A mean and its 95 % interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Mean {
    /// The mean over the queries.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The figures of one kind of queries.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// How many queries there are.
    pub queries: usize,
    /// Recall in the first answer.
    pub r1: Mean,
    /// Recall in the first five.
    pub r5: Mean,
    /// Recall in the first ten.
    pub r10: Mean,
    /// Mean reciprocal rank.
    pub mrr: Mean,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} queries", self.queries)?;
        let named = [("R@1", self.r1), ("R@5", self.r5), ("R@10", self.r10), ("MRR", self.mrr)];
        for (name, Mean { mean, low, high }) in named {
            write!(f, "  {name} {mean:.3} [{low:.3}, {high:.3}]")?;
        }
        Ok(())
    }
}

/// Measures an index, by kind of query.
pub fn measure(index: Index, queries: &[Query]) -> BTreeMap<String, Figures> {
    let index = index.least_share(0.0);
    let mut kinds: BTreeMap<String, Vec<[f64; 4]>> = BTreeMap::new();
    for query in queries {
        let kind = kinds.entry(query.kind.clone()).or_default();
        kind.push(one(&index, query));
    }
    let figures = kinds.into_iter().map(|(kind, rows)| {
        let [r1, r5, r10, mrr] = std::array::from_fn(|column| {
            bootstrap(&rows.iter().map(|row| row[column]).collect::<Vec<_>>())
        });
        let queries = rows.len();
        (
            kind,
            Figures {
                queries,
                r1,
                r5,
                r10,
                mrr,
            },
        )
    });
    figures.collect()
}

/// What a threshold for refusals costs, see [`curve`].
#[derive(Debug, Serialize)]
pub struct Refusals {
    /// The least share of a query's idf that the best tool must match.
    pub threshold: f32,
    /// The share of foreign queries that are refused.
    pub right: f64,
    /// The share of queries whose gold tool is among the first five and that are refused all the same.
    pub lost: f64,
}

/// The curve of right refusals against lost hits. A query is made foreign by taking away the servers of its gold tools.
pub fn curve(tools: &[Tool], synonyms: &Synonyms, queries: &[Query]) -> Vec<Refusals> {
    let whole = Index::new(tools.to_vec(), synonyms.clone()).least_share(0.0);
    let (mut foreign, mut hits) = (Vec::new(), Vec::new());
    for query in queries {
        let gold = tools.iter().filter(|tool| query.gold.contains(&tool.name));
        let servers: BTreeSet<&str> = gold.map(|tool| tool.server.as_str()).collect();
        let others = tools.iter().filter(|tool| !servers.contains(tool.server.as_str()));
        let others = Index::new(others.cloned().collect(), synonyms.clone());
        foreign.push(others.search(&query.query, 1).share);
        let found = whole.search(&query.query, 5);
        if found.tools.iter().any(|tool| query.gold.contains(&tool.name)) {
            hits.push(found.share);
        }
    }
    let below = |shares: &[f32], threshold| {
        let refused = shares.iter().filter(|share| **share < threshold).count();
        refused as f64 / shares.len().max(1) as f64
    };
    let thresholds = (0..=14).map(|step| step as f32 * 0.05);
    let row = |threshold| Refusals {
        threshold,
        right: below(&foreign, threshold),
        lost: below(&hits, threshold),
    };
    thresholds.map(row).collect()
}

/// R@1, R@5, R@10 and the reciprocal rank of a query. Two tools of one name count as one.
fn one(index: &Index, query: &Query) -> [f64; 4] {
    let mut names: Vec<&str> = Vec::new();
    for tool in index.search(&query.query, usize::MAX).tools {
        if !names.contains(&tool.name.as_str()) {
            names.push(&tool.name);
        }
    }
    let is_gold = |name: &&str| query.gold.iter().any(|gold| gold == name);
    let recall = |k: usize| {
        let found = names.iter().take(k).copied().filter(|name| is_gold(name)).count();
        found as f64 / query.gold.len().max(1) as f64
    };
    let first = names.iter().position(is_gold);
    let reciprocal = first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
    [recall(1), recall(5), recall(10), reciprocal]
}

fn bootstrap(values: &[f64]) -> Mean {
    let count = values.len();
    let average = |sum: f64| sum / count.max(1) as f64;
    // xorshift64: a fixed sequence is what is wanted, not a good one.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % count.max(1) as u64) as usize
    };
    let sample = |_| average((0..count).map(|_| values[next()]).sum());
    let mut means: Vec<f64> = (0..SAMPLES).map(sample).collect();
    means.sort_unstable_by(f64::total_cmp);
    Mean {
        mean: average(values.iter().sum()),
        low: means[SAMPLES / 40],
        high: means[SAMPLES - 1 - SAMPLES / 40],
    }
}
