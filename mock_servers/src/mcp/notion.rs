//! The server notion: a few pages of a company's notes.
//!
//! Its answers are longer texts, which come from elsewhere and are not to be obeyed.
//! Invariant: an id names one page for ever.

use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::Deserialize;

use super::mock::MockServer;
use super::tool::{Effect, MockTool, Query, filled, has_all_words, line, listed};

const INSTRUCTIONS: &str = "The team's notes. Search gives the ids of pages; get_page reads one.";

/// Title and content of the pages that the server begins with; the first has the id page-1.
const PAGES: &str = include_str!("notion.json");

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Id {
    /// For instance page-2.
    id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewPage {
    /// One line.
    title: String,
    /// The text.
    content: String,
}

/// A page.
struct Page {
    id: String,
    title: String,
    content: String,
}

/// All pages.
#[derive(Clone)]
struct Notes {
    // Never held across an `.await`: the tools are plain functions.
    pages: Arc<Mutex<Vec<Page>>>,
}

/// The server, with its pages.
pub fn server() -> MockServer {
    let notes = Notes::new();
    let [search, get, create] = std::array::from_fn(|_| notes.clone());
    MockServer::new("notion", INSTRUCTIONS)
        .tool(MockTool::new(
            "search_pages",
            Effect::Reads,
            "Find pages that have all words of the query; gives their ids and titles.",
            move |Query { query }| search.search(&query),
        ))
        .tool(MockTool::new("get_page", Effect::Reads, "Read one page.", move |Id { id }| {
            get.get(&id)
        }))
        .tool(MockTool::new("create_page", Effect::Adds, "Create a page.", move |new: NewPage| {
            create.create(&new)
        }))
}

impl Notes {
    fn new() -> Self {
        let notes = Self {
            pages: Arc::default(),
        };
        let pages: Vec<(String, String)> = serde_json::from_str(PAGES).expect("the pages are JSON");
        for (title, content) in pages {
            notes.add(&title, &content);
        }
        notes
    }

    fn add(&self, title: &str, content: &str) -> String {
        let mut pages = self.pages.lock().unwrap();
        let page = Page {
            id: format!("page-{}", pages.len() + 1),
            title: title.to_owned(),
            content: content.to_owned(),
        };
        let text = page.text();
        pages.push(page);
        text
    }

    fn search(&self, query: &str) -> Result<String, String> {
        let query = filled("query", query)?;
        let has_all = |page: &&Page| has_all_words(&page.text(), query);
        let line = |Page { id, title, .. }: &Page| format!("{id} · {title}");
        let pages = self.pages.lock().unwrap();
        let found = pages.iter().filter(has_all).map(line);
        Ok(listed(found, "No page has all these words."))
    }

    fn get(&self, id: &str) -> Result<String, String> {
        let id = filled("id", id)?;
        let pages = self.pages.lock().unwrap();
        let page = pages.iter().find(|page| page.id == id);
        page.map(Page::text).ok_or_else(|| format!("id: there is no page '{id}'"))
    }

    fn create(&self, new: &NewPage) -> Result<String, String> {
        let title = line("title", &new.title)?;
        Ok(self.add(title, filled("content", &new.content)?))
    }
}

impl Page {
    fn text(&self) -> String {
        format!("{} · {}\n\n{}", self.id, self.title, self.content)
    }
}
