//! The server jira: the issues of a small team.
//!
//! It shows three kinds of tools beside each other: some that read, one that adds, and one that changes and may be
//! repeated. Invariant: a key names one issue for ever.

use std::fmt::{self, Display};
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mock::Mock;
use super::tool::{Again, Effect, MockTool, filled};

const INSTRUCTIONS: &str = "The issues of the projects WEB and OPS. A key looks like WEB-3.";

/// Key, status, summary, description.
const ISSUES: [(&str, Status, &str, &str); 12] = [
    (
        "WEB-1",
        Status::Done,
        "Login page rejects long passwords",
        "Anything over 64 characters is cut before it is hashed.",
    ),
    (
        "WEB-2",
        Status::InProgress,
        "Search is slow on the start page",
        "The query runs without an index; it takes 4 seconds.",
    ),
    (
        "WEB-3",
        Status::ToDo,
        "Dark mode",
        "Follow the setting of the system.",
    ),
    (
        "WEB-4",
        Status::ToDo,
        "Sign-up mail arrives twice",
        "The worker retries although the first try went out.",
    ),
    (
        "WEB-5",
        Status::InProgress,
        "Upload fails above 10 MB",
        "The proxy refuses the body with a 413.",
    ),
    (
        "WEB-6",
        Status::Done,
        "Footer links are broken",
        "They still point to the old domain.",
    ),
    (
        "WEB-7",
        Status::ToDo,
        "Keyboard navigation in the menu",
        "Tab skips the second level.",
    ),
    (
        "OPS-1",
        Status::Done,
        "Rotate the database password",
        "Due each quarter.",
    ),
    (
        "OPS-2",
        Status::InProgress,
        "Nightly backup takes six hours",
        "It copies what has not changed.",
    ),
    (
        "OPS-3",
        Status::ToDo,
        "Alert when the disk is 80 % full",
        "Last time we learned it from a customer.",
    ),
    (
        "OPS-4",
        Status::ToDo,
        "Upgrade the build machines",
        "They run a release without support.",
    ),
    (
        "OPS-5",
        Status::InProgress,
        "Certificate of the API expires",
        "The renewal job has no permission on the new bucket.",
    ),
];

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
struct Query {
    /// Words that the issue has in its key, its summary, its description or its status.
    query: String,
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
#[derive(Clone, Serialize, JsonSchema)]
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
pub fn server() -> Mock {
    let tracker = Tracker::new();
    let [search, get, create, transition] = std::array::from_fn(|_| tracker.clone());
    let again = Again::Same;
    let tools = [
        MockTool::new(
            "search_issues",
            Effect::Reads,
            "Find issues that have all words of the query.",
            move |Query { query }| search.search(&query),
        ),
        MockTool::new(
            "get_issue",
            Effect::Reads,
            "Read one issue.",
            move |Key { key }| get.issue(&key, |_| {}),
        ),
        MockTool::new(
            "create_issue",
            Effect::Adds,
            "Create an issue.",
            move |new: NewIssue| create.create(&new),
        ),
        MockTool::new(
            "transition_issue",
            Effect::Changes { again },
            "Move an issue to another status.",
            move |Transition { key, status }| transition.issue(&key, |issue| issue.status = status),
        ),
    ];
    Mock::new("jira", INSTRUCTIONS, tools)
}

impl Tracker {
    fn new() -> Self {
        let issues = ISSUES.map(|(key, status, summary, description)| Issue {
            key: key.to_owned(),
            status,
            summary: summary.to_owned(),
            description: description.to_owned(),
        });
        Self {
            issues: Arc::new(Mutex::new(issues.to_vec())),
        }
    }

    fn search(&self, query: &str) -> Result<Issues, String> {
        let query = filled("query", query)?.to_lowercase();
        let has_all = |issue: &&Issue| {
            let Issue {
                key,
                status,
                summary,
                description,
            } = issue;
            let text = format!("{key} {status} {summary} {description}").to_lowercase();
            query.split_whitespace().all(|word| text.contains(word))
        };
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
        let summary = filled("summary", &new.summary)?;
        if summary.contains('\n') {
            return Err("summary: must be one line".to_owned());
        }
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
        f.write_str(match self {
            Status::ToDo => "To Do",
            Status::InProgress => "In Progress",
            Status::Done => "Done",
        })
    }
}

impl Display for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Project::Web => "WEB",
            Project::Ops => "OPS",
        })
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
        if self.issues.is_empty() {
            return f.write_str("No issue has all these words.");
        }
        for (index, entry) in self.issues.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            write!(f, "{gap}{} [{}] {}", entry.key, entry.status, entry.summary)?;
        }
        Ok(())
    }
}
