//! The server jira: the issues of a small team.
//!
//! It shows three kinds of tools beside each other: some that read, one that adds, and one that changes and may be
//! repeated. Invariant: a key names one issue for ever.

use std::fmt::{self, Display};
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
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Issue {
    key: String,
    status: Status,
    summary: String,
    description: String,
}

/// An issue's place in a list.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Entry {
    key: String,
    status: Status,
    summary: String,
}

/// What a search found, in the order of the keys.
#[derive(Serialize, JsonSchema)]
struct Issues {
    issues: Vec<Entry>,
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
        .tool(MockTool::new(
            "get_issue",
            Effect::Reads,
            "Read one issue.",
            move |Key { key }| get.issue(&key, |_| {}),
        ))
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

    fn search(&self, query: &str) -> Result<Issues, String> {
        let query = filled("query", query)?;
        let has_all = |issue: &&Issue| has_all_words(&issue.to_string(), query);
        let entry = |issue: &Issue| Entry {
            key: issue.key.clone(),
            status: issue.status,
            summary: issue.summary.clone(),
        };
        let issues = self.issues.lock().unwrap();
        let issues = issues.iter().filter(has_all).map(entry).collect();
        Ok(Issues { issues })
    }

    fn create(&self, new: &NewIssue) -> Result<Issue, String> {
        let summary = line("summary", &new.summary)?;
        let mut issues = self.issues.lock().unwrap();
        let prefix = format!("{}-", new.project);
        let number = issues
            .iter()
            .filter(|issue| issue.key.starts_with(&prefix))
            .count()
            + 1;
        let issue = Issue {
            key: format!("{prefix}{number}"),
            status: Status::ToDo,
            summary: summary.to_owned(),
            description: new.description.trim().to_owned(),
        };
        issues.push(issue.clone());
        Ok(issue)
    }

    /// The issue `key`, after `change`.
    fn issue(&self, key: &str, change: impl Fn(&mut Issue)) -> Result<Issue, String> {
        let key = filled("key", key)?;
        let mut issues = self.issues.lock().unwrap();
        let found = issues
            .iter_mut()
            .find(|issue| issue.key.eq_ignore_ascii_case(key));
        let issue = found.ok_or_else(|| format!("key: there is no issue '{key}'"))?;
        change(issue);
        Ok(issue.clone())
    }
}

impl Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&word(self))
    }
}

impl Display for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&word(self))
    }
}

impl Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}] {}", self.key, self.status, self.summary)?;
        if !self.description.is_empty() {
            write!(f, "\n{}", self.description)?;
        }
        Ok(())
    }
}

impl Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |entry: &Entry| format!("{} [{}] {}", entry.key, entry.status, entry.summary);
        f.write_str(&listed(
            self.issues.iter().map(line),
            "No issue has all these words.",
        ))
    }
}
