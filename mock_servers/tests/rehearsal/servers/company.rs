//! The four servers of the course, as they look to the model.
//!
//! Invariant: names, descriptions and schemas are those of the real ones.

use mock_servers::model::Tool;
use serde_json::{Value, json};

use super::played::Server;
use crate::everything::tool;

/// The docs.
pub fn docs() -> Server {
    vec![
        (
            tool(
                "search",
                "Search the course's documentation. (readOnly)",
                &["query"],
                &[],
            ),
            |input| {
                let query = text(input, "query");
                (
                    format!("1. s01_loop: found {query}\n2. s04_hooks: found it, too"),
                    false,
                )
            },
        ),
        (
            tool(
                "get_version",
                "The version of the documentation. (readOnly)",
                &[],
                &[],
            ),
            |_| ("20.1".to_owned(), false),
        ),
    ]
}

/// Deployments.
pub fn deploy() -> Server {
    let with = |name: &str, description: &str| Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: json!({"type": "object", "required": ["service"], "properties": {
            "service": {"type": "string", "enum": ["api", "web", "worker"]},
            "lines": {"type": ["integer", "null"]},
        }}),
    };
    vec![
        (
            with(
                "trigger",
                "Deploy the next version of a service. It replaces the version that is live. (destructive)",
            ),
            |input| {
                (
                    format!("deploy-4: {} version 18 is queued", text(input, "service")),
                    false,
                )
            },
        ),
        (
            with(
                "status",
                "How far the newest deployment of a service is: queued, running or live. (readOnly)",
            ),
            |input| {
                (
                    format!("deploy-4: {} version 18 is running", text(input, "service")),
                    false,
                )
            },
        ),
        (
            with(
                "logs",
                "The newest lines of a service's deployment log. (readOnly)",
            ),
            |input| {
                let service = text(input, "service");
                (
                    format!("{service} 18 is queued\n{service} 18 is running"),
                    false,
                )
            },
        ),
    ]
}

/// Issues.
pub fn jira() -> Server {
    vec![
        (
            tool(
                "search_issues",
                "Find issues by words. (readOnly)",
                &["query"],
                &[],
            ),
            |input| {
                (
                    format!(
                        "WEB-3 (To Do): {} fails\nAPI-2 (Done): another",
                        text(input, "query")
                    ),
                    false,
                )
            },
        ),
        (
            tool(
                "get_issue",
                "An issue with its description. (readOnly)",
                &["key"],
                &[],
            ),
            |input| {
                (
                    format!("{} (To Do): the login fails", text(input, "key")),
                    false,
                )
            },
        ),
        (create_issue(), |input| {
            (
                format!(
                    "created {}-9: {}",
                    text(input, "project"),
                    text(input, "summary")
                ),
                false,
            )
        }),
        (
            tool(
                "transition_issue",
                "Give an issue another status. (destructive)",
                &["key", "status"],
                &[],
            ),
            |input| {
                (
                    format!("{} is now {}", text(input, "key"), text(input, "status")),
                    false,
                )
            },
        ),
    ]
}

fn create_issue() -> Tool {
    let create = tool(
        "create_issue",
        "Put a new issue into a project.",
        &["project", "summary"],
        &["description"],
    );
    let mut schema = create.input_schema.clone();
    schema["properties"]["project"]["enum"] = json!(["WEB", "API"]);
    Tool {
        input_schema: schema,
        ..create
    }
}

/// Pages.
pub fn notion() -> Server {
    vec![
        (
            tool(
                "search_pages",
                "Find pages by words. (readOnly)",
                &["query"],
                &[],
            ),
            |input| {
                (
                    format!("page-2: About {}\npage-5: Another", text(input, "query")),
                    false,
                )
            },
        ),
        (
            tool(
                "get_page",
                "A page with its content. (readOnly)",
                &["id"],
                &[],
            ),
            |input| {
                (
                    format!("{}: Welcome to the team.", text(input, "id")),
                    false,
                )
            },
        ),
        (
            tool(
                "create_page",
                "Write a new page.",
                &["title", "content"],
                &[],
            ),
            |input| (format!("created page-9: {}", text(input, "title")), false),
        ),
    ]
}

fn text<'i>(input: &'i Value, name: &str) -> &'i str {
    input[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name} is missing in {input}"))
}
