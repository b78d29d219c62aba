//! `recall` and `scan`: how well tools are found and descriptions judged, on labelled data of one's own.
//!
//! Invariant: the last line is JSON, and the same data give the same line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use mcp_proxy::index::Index;
use mcp_proxy::index::synonyms::Synonyms;
use mcp_proxy::recall::{Queries, Tools, curve, measure};
use mcp_proxy::trust;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::say;

#[derive(clap::Args)]
pub struct Recall {
    /// Tools: {"tools": [{"name", "server", "description", "inputSchema"}]}
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// Queries: {"queries": [{"kind", "query", "gold": [names]}]}
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Groups of synonyms beside the built-in ones
    #[arg(long, value_name = "FILE")]
    synonyms: Option<PathBuf>,
    /// Static token embeddings in the model2vec layout
    #[arg(long, value_name = "DIR")]
    embeddings: Option<PathBuf>,
    /// Prints what thresholds for refusals cost, too
    #[arg(long)]
    refusals: bool,
    /// Prints JSON alone
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub struct Scan {
    /// Entries: {"entries": [{"id", "description", "label", "category"}]}; label and category may be missing
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Prints JSON alone
    #[arg(long)]
    json: bool,
}

impl Scan {
    pub fn run(&self) -> Result<()> {
        scan(&read(&self.file)?, self.json);
        Ok(())
    }
}

impl Recall {
    pub fn run(&self) -> Result<()> {
        let mut groups = Synonyms::built_in();
        if let Some(path) = &self.synonyms {
            let text = text(path)?;
            groups = groups.with(&text).with_context(|| format!("in {}", path.display()))?;
        }
        let tools = read::<Tools>(&self.tools)?.tools;
        let queries = read::<Queries>(&self.queries)?.queries;
        let mut index = Index::new(tools.clone(), groups.clone());
        self.embeddings.as_ref().map(|folder| index.embed(folder)).transpose()?;
        let figures = measure(index, &queries);
        let curve = if self.refusals { curve(&tools, &groups, &queries) } else { Vec::new() };
        if !self.json {
            for (kind, figures) in &figures {
                say(format!("{kind}: {figures}"));
            }
            for row in &curve {
                say(format!(
                    "threshold {:.2}: {:3.0} % of foreign queries refused, {:3.0} % of hits lost",
                    row.threshold,
                    row.right * 100.0,
                    row.lost * 100.0
                ));
            }
        }
        say(json!({"kinds": figures, "refusals": curve}));
        Ok(())
    }
}

#[derive(Deserialize)]
struct Corpus {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    id: String,
    description: String,
    #[serde(default)]
    label: String,
    #[serde(default)]
    category: String,
}

fn scan(corpus: &Corpus, json: bool) {
    let mut categories = BTreeMap::new();
    for entry in &corpus.entries {
        let signs = trust::signs(&entry.description, &BTreeSet::new());
        let (flagged, passed) = categories.entry((&entry.label, &entry.category)).or_insert((0, 0));
        *if signs.is_empty() { passed } else { flagged } += 1;
        let wrong = signs.is_empty() == (entry.label == "malicious");
        if !json && (wrong || !signs.is_empty()) {
            let verdict = if signs.is_empty() { "missed" } else { "flagged" };
            let said = signs.iter().map(|sign| format!("{} ({:?})", sign.category, sign.words));
            say(format!("{} {verdict}: {}", entry.id, said.collect::<Vec<_>>().join("; ")));
        }
    }
    let rows = categories.into_iter().map(|((label, category), (flagged, passed))| {
        json!({"label": label, "category": category, "flagged": flagged, "passed": passed})
    });
    let rows: Vec<_> = rows.collect();
    if !json {
        for row in &rows {
            say(format!(
                "{} {}: {} flagged, {} passed",
                row["label"], row["category"], row["flagged"], row["passed"]
            ));
        }
    }
    say(json!({"categories": rows}));
}

fn text(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_str(&text(path)?)
        .with_context(|| format!("{} is of another form", path.display()))
}
