//! The server jira: the issues of a small team.
//!
//! It shows three kinds of tools beside each other: some that read, one that adds, and one that changes and may be
//! repeated. Invariant: a key names one issue for ever.

use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mock::MockServer;
use super::tool::{Effect, MockTool, Query, filled, has_all_words, line, listed, word};

const INSTRUCTIONS: &str = "The issues of the projects WEB and OPS. A key looks like WEB-3.";

/// What the server begins with.
const ISSUES: &str = include_str!("jira.json");

/// Where an issue stands.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
enum Status {
    #[serde(rename = "To Do")]
    ToDo,
    #[serde(rename = "In Progress")]
    InProgress,
    Done,
}

/// The projects there are.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
enum Project {
    Web,
    Ops,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Key {
    /// For instance WEB-3.
    key: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewIssue {
    /// The project it belongs to.
    project: Project,
    /// One line.
    summary: String,
    /// As much as there is to say.
    #[serde(default)]
    description: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Transition {
    /// For instance WEB-3.
    key: String,
    /// The new status.
    status: Status,
}

/// An issue.
#[derive(Deserialize)]
struct Issue {
    key: String,
    status: Status,
    summary: String,
    description: String,
}

/// All issues.
#[derive(Clone)]
struct Tracker {
    // Never held across an `.await`: the tools are plain functions.
    issues: Arc<Mutex<Vec<Issue>>>,
}

/// The server, with a dozen issues.
pub fn server() -> MockServer {
    let tracker = Tracker::new();
    let [search, get, create, transition] = std::array::from_fn(|_| tracker.clone());
    MockServer::new("jira", INSTRUCTIONS)
        .tool(MockTool::new(
            "search_issues",
            Effect::Reads,
            "Find issues that have all words of the query.",
            move |Query { query }| search.search(&query),
        ))
        .tool(MockTool::new("get_issue", Effect::Reads, "Read one issue.", move |Key { key }| {
            get.issue(&key, |_| {})
        }))
        .tool(MockTool::new(
            "create_issue",
            Effect::Adds,
            "Create an issue.",
            move |new: NewIssue| create.create(&new),
        ))
        .tool(MockTool::new(
            "transition_issue",
            Effect::Sets,
            "Move an issue to another status.",
            move |Transition { key, status }| transition.issue(&key, |issue| issue.status = status),
        ))
}

impl Tracker {
    fn new() -> Self {
        let issues: Vec<Issue> = serde_json::from_str(ISSUES).expect("the issues are JSON");
        Self {
            issues: Arc::new(Mutex::new(issues)),
        }
    }

    fn search(&self, query: &str) -> Result<String, String> {
        let query = filled("query", query)?;
        let has_all = |issue: &&Issue| has_all_words(&issue.text(), query);
        let issues = self.issues.lock().unwrap();
        let found = issues.iter().filter(has_all).map(Issue::line);
        Ok(listed(found, "No issue has all these words."))
    }

    fn create(&self, new: &NewIssue) -> Result<String, String> {
        let summary = line("summary", &new.summary)?;
        let mut issues = self.issues.lock().unwrap();
        let prefix = format!("{}-", word(&new.project));
        let of_project = issues.iter().filter(|issue| issue.key.starts_with(&prefix));
        let issue = Issue {
            key: format!("{prefix}{}", of_project.count() + 1),
            status: Status::ToDo,
            summary: summary.to_owned(),
            description: new.description.trim().to_owned(),
        };
        let text = issue.text();
        issues.push(issue);
        Ok(text)
    }

    /// The issue `key`, after `change`.
    fn issue(&self, key: &str, change: impl Fn(&mut Issue)) -> Result<String, String> {
        let key = filled("key", key)?;
        let mut issues = self.issues.lock().unwrap();
        let found = issues.iter_mut().find(|issue| issue.key.eq_ignore_ascii_case(key));
        let issue = found.ok_or_else(|| format!("key: there is no issue '{key}'"))?;
        change(issue);
        Ok(issue.text())
    }
}

impl Issue {
    fn line(&self) -> String {
        format!("{} [{}] {}", self.key, word(&self.status), self.summary)
    }

    fn text(&self) -> String {
        let text = format!("{}\n{}", self.line(), self.description);
        text.trim_end().to_owned()
    }
}
