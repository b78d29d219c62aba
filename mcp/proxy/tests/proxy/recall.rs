//! The floors of the evaluation, on the data that comes with the crate.

use mcp_proxy::index::{Index, synonyms::Synonyms};
use mcp_proxy::recall::{Queries, Tools, measure};

const LIVEMCP: [&str; 2] = [
    include_str!("../../data/livemcp_tools.json"),
    include_str!("../../data/livemcp_step_queries.json"),
];
const MCPPROXY: [&str; 2] = [
    include_str!("../../data/mcpproxy_tools.json"),
    include_str!("../../data/mcpproxy_queries.json"),
];

#[test]
fn recall_stays_above_its_floors() {
    for ([tools, queries], kind, floor) in [(LIVEMCP, "step", 0.84), (MCPPROXY, "golden", 0.80)] {
        let tools: Tools = serde_json::from_str(tools).unwrap();
        let queries: Queries = serde_json::from_str(queries).unwrap();
        let index = Index::new(tools.tools, Synonyms::built_in());
        let figures = &measure(index, &queries.queries)[kind];
        println!("{kind}: {figures:?}");
        assert!(figures.r5.mean >= floor, "{kind}: {figures:?}");
    }
}

/// `EMBEDDINGS=DIR` names a folder in the model2vec layout; `cargo x external mcp_proxy` makes one.
#[cfg(feature = "embeddings")]
#[test]
fn static_embeddings_raise_recall() {
    let Some(folder) = std::env::var_os("EMBEDDINGS") else {
        return;
    };
    for ([tools, queries], kind, floor) in [(LIVEMCP, "step", 0.86), (MCPPROXY, "golden", 0.88)] {
        let tools: Tools = serde_json::from_str(tools).unwrap();
        let queries: Queries = serde_json::from_str(queries).unwrap();
        let mut index = Index::new(tools.tools, Synonyms::built_in());
        index.embed(folder.as_ref()).unwrap();
        let figures = &measure(index, &queries.queries)[kind];
        println!("{kind}: {figures:?}");
        assert!(figures.r5.mean >= floor, "{kind}: {figures:?}");
    }
}
