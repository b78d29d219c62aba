//! The index over all tools: which of them a sentence asks for.
//!
//! Pure: tools in, names out; nothing here knows MCP, files or time. A query is ranked by BM25F over a tool's fields
//! ([`bm25`]), with synonyms; with static embeddings the two rankings are fused by reciprocal rank (Cormack, Clarke and
//! Büttcher, *Reciprocal Rank Fusion outperforms Condorcet*, SIGIR 2009).
//! Invariant: equal scores are ordered by name, so that an answer is the same from run to run.

pub mod bm25;
#[cfg(feature = "embeddings")]
pub mod embeddings;
pub mod synonyms;
pub mod tokens;

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use bm25::Bm25;
use synonyms::Synonyms;

/// What the words of a field count: the name, the description, the names of the parameters, their descriptions.
const WEIGHTS: [f32; 4] = [4.0, 1.0, 0.5, 0.2];
/// The seed's threshold: below it not even a common word is shared.
const LEAST_SCORE: f32 = 0.01;
/// The share of the query's idf that the best tool must match. The README has the curve that it was chosen from.
const LEAST_SHARE: f32 = 0.2;
/// What a word that no tool knows counts in that: few tools have few words, and not every other one is foreign.
const UNKNOWN: f32 = 0.5;
/// How deep parameters of parameters are read.
const DEPTH: usize = 4;
#[cfg(feature = "embeddings")]
const RRF_K: f32 = 60.0;

/// A tool as its server described it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The name by which it is called.
    pub name: String,
    /// The server that has it.
    #[serde(default)]
    pub server: String,
    /// What it says of itself.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments.
    #[serde(default)]
    pub input_schema: Value,
    /// `readOnlyHint` and the like, or null.
    #[serde(default)]
    pub annotations: Value,
}

impl Tool {
    /// Its name among all servers': `SERVER:TOOL`.
    pub fn key(&self) -> String {
        format!("{}:{}", self.server, self.name)
    }
}

/// The tools and how to find them.
pub struct Index {
    tools: Vec<Tool>,
    bm25: Bm25,
    synonyms: Synonyms,
    least_share: f32,
    #[cfg(feature = "embeddings")]
    embedded: Option<embeddings::Embedded>,
}

/// What a query found.
#[derive(Debug)]
pub struct Found<'a> {
    /// The tools, best first; empty when the query is refused.
    pub tools: Vec<&'a Tool>,
    /// The share of the query's idf that the best tool matches, 0 to 1.
    pub share: f32,
    /// Words of the query that no tool has, nor a synonym of them.
    pub unknown: Vec<String>,
    /// The servers of the best-scored tools, three at most: where to look when the query is refused.
    pub near: Vec<&'a str>,
}

impl Index {
    /// Indexes these tools.
    pub fn new(mut tools: Vec<Tool>, synonyms: Synonyms) -> Self {
        tools.sort_by(|a, b| (&a.name, &a.server).cmp(&(&b.name, &b.server)));
        Self {
            bm25: Bm25::new(&tools, WEIGHTS, texts),
            tools,
            synonyms,
            least_share: LEAST_SHARE,
            #[cfg(feature = "embeddings")]
            embedded: None,
        }
    }

    /// Refuses a query when its best tool matches a smaller share of its idf; 0 refuses only what shares no word.
    pub fn least_share(mut self, share: f32) -> Self {
        self.least_share = share;
        self
    }

    /// Ranks by meaning, too, with the static embeddings of this folder.
    ///
    /// # Errors
    /// Says what is missing in the folder, or that this program was built without embeddings.
    pub fn embed(&mut self, folder: &Path) -> anyhow::Result<()> {
        #[cfg(feature = "embeddings")]
        {
            let model = embeddings::Model::load(folder)?;
            self.embedded = Some(embeddings::Embedded::new(model, &self.tools));
            Ok(())
        }
        #[cfg(not(feature = "embeddings"))]
        anyhow::bail!(
            "{} cannot be used: this program was built without embeddings; build it with `--features embeddings`",
            folder.display()
        )
    }

    /// All tools, by name.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tools of this name, which several servers may have.
    pub fn named(&self, name: &str) -> &[Tool] {
        let from = self.tools.partition_point(|tool| *tool.name < *name);
        let count = self.tools[from..].iter().take_while(|tool| tool.name == name).count();
        &self.tools[from..from + count]
    }

    /// Finds up to `limit` tools.
    pub fn search(&self, query: &str, limit: usize) -> Found<'_> {
        let words = tokens::words(query);
        let stems: BTreeSet<String> = tokens::stems(query).into_iter().collect();
        let scored = self.bm25.scores(&stems, &self.synonyms);
        let best = scored.iter().map(|scored| scored.matched).fold(0.0, f32::max);
        let weight = |stem: &String| if self.knows(stem) { 1.0 } else { UNKNOWN };
        let all: f32 = stems.iter().map(|stem| weight(stem) * self.bm25.idf(stem)).sum();
        let share = if all > 0.0 { best / all } else { 0.0 };
        let scores: Vec<f32> = scored.iter().map(|scored| scored.score).collect();
        let ranking = ranking(&scores);
        let mut servers: Vec<&str> = Vec::new();
        for tool in &ranking {
            let server = self.tools[*tool].server.as_str();
            if servers.len() < 3 && !servers.contains(&server) {
                servers.push(server);
            }
        }
        let ranking = self.fused(query, ranking);
        let refused = share < self.least_share || scores.iter().all(|score| *score < LEAST_SCORE);
        let shown = if refused { 0 } else { limit };
        let found = ranking.into_iter().take(shown);
        let is_unknown = |word: &String| !tokens::stems(word).iter().any(|it| self.knows(it));
        Found {
            tools: found.map(|tool| &self.tools[tool]).collect(),
            share,
            unknown: words.into_iter().filter(is_unknown).collect(),
            near: servers,
        }
    }

    /// True if some tool has the stem, or a synonym of it.
    fn knows(&self, stem: &str) -> bool {
        self.bm25.knows(stem) || self.synonyms.of(stem).any(|other| self.bm25.knows(other))
    }

    #[cfg(not(feature = "embeddings"))]
    fn fused(&self, _: &str, lexical: Vec<usize>) -> Vec<usize> {
        lexical
    }

    /// Fuses the ranking by words, which counts twice, with that by meaning.
    #[cfg(feature = "embeddings")]
    fn fused(&self, query: &str, lexical: Vec<usize>) -> Vec<usize> {
        let Some(embedded) = &self.embedded else {
            return lexical;
        };
        let semantic = ranking(&embedded.scores(query));
        let mut scores = vec![0.0; self.tools.len()];
        for (ranking, weight) in [(lexical, 2.0), (semantic, 1.0)] {
            for (rank, tool) in ranking.into_iter().enumerate() {
                scores[tool] += weight / (RRF_K + rank as f32 + 1.0);
            }
        }
        ranking(&scores)
    }
}

/// What scores above 0, best first. The tools are in the order of their names, and so are equal ones here.
fn ranking(scores: &[f32]) -> Vec<usize> {
    let mut ranking: Vec<usize> = (0..scores.len()).filter(|tool| scores[*tool] > 0.0).collect();
    ranking.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    ranking
}

/// Hands out the texts of a tool, each with the number of its field.
fn texts(tool: &Tool, each: &mut dyn FnMut(usize, &str)) {
    each(0, &tool.name);
    each(1, &tool.description);
    parameters(&tool.input_schema, DEPTH, &mut |name, description| {
        each(2, name);
        each(3, description);
    });
}

/// Calls `each` with name and description of every parameter, and of the parameters in it.
fn parameters(schema: &Value, depth: usize, each: &mut impl FnMut(&str, &str)) {
    if depth == 0 {
        return;
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        each(name, schema["description"].as_str().unwrap_or_default());
        parameters(schema, depth - 1, each);
        parameters(&schema["items"], depth - 1, each);
    }
}
