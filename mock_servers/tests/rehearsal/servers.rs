//! MCP servers: connected, searched, deployed with, and used without anybody having told the model what they can.
//!
//! Invariant: what a server cannot do is said in a sentence, and so is what went wrong.

mod company;
mod played;
mod strangers;
mod written;

pub use played::{Served, company_stage, stage};

const NO: &str =
    "permission denied: the user said no. Do not try to get there another way; tell the user.";

/// Asks each of these on a stage of its own; the calls are these, in these rounds.
fn calls(stage: fn() -> Served, expected: &[(usize, &str)], requests: &[&str]) {
    for request in requests {
        let play = stage().ask(request);
        let calls: Vec<(usize, String)> = play
            .calls
            .iter()
            .map(|(round, name, input)| (*round, format!("{name} {input}")))
            .collect();
        let calls: Vec<(usize, &str)> = calls.iter().map(|(at, call)| (*at, &call[..])).collect();
        assert_eq!(calls, expected, "{request}: {}", play.answer);
        assert!(
            !play.answer.contains("understand"),
            "{request}: {}",
            play.answer
        );
    }
}

/// The answer to the last of these requests, and its calls.
fn talk(mut served: Served, requests: &[&str]) -> (Vec<String>, String) {
    let mut last = (Vec::new(), String::new());
    for request in requests {
        let play = served.ask(request);
        let calls = play
            .calls
            .iter()
            .map(|(_, name, input)| format!("{name} {input}"));
        last = (calls.collect(), play.answer);
    }
    last
}

#[test]
fn a_server_is_connected_and_searched_in_the_next_round() {
    let expected = [
        (0, r#"connect_mcp {"name":"docs"}"#),
        (1, r#"mcp__docs__search {"query":"agent loop"}"#),
    ];
    calls(
        stage,
        &expected,
        &[
            "Connect to the docs MCP server and search for something",
            "Connect to the docs MCP server and search for agent loop",
            "Connect to docs and search for the agent loop",
            "Please connect the docs server, then look up \"agent loop\"",
            "Hook up the docs MCP server and find what it says about the agent loop",
            "Attach docs and query it for agent loop",
            "connect docs. Then search something in it.",
            "Use the docs server to search for agent loop",
            "search the docs for agent loop",
            "What do the docs say about the agent loop?",
            "Can you look in the docs for the agent loop?",
            "Ask the docs server about the agent loop",
        ],
    );
    let play = stage().ask("Connect to the docs MCP server and search for something");
    let told = "Connected to 'docs'. Discovered: search, get_version\ndocs:\n1. s01_loop: found agent loop\n2. s04_hooks: found it, too";
    assert_eq!(play.answer, told);
}

#[test]
fn a_deployment_is_triggered_and_its_service_is_one_there_is() {
    let expected = [
        (0, r#"connect_mcp {"name":"deploy"}"#),
        (1, r#"mcp__deploy__trigger {"service":"api"}"#),
    ];
    calls(
        stage,
        &expected,
        &[
            "Connect to the deploy server and trigger a deployment",
            "Connect to deploy, then start a deployment",
            "Attach the deploy MCP server and kick off a deployment of the api",
            "connect the deploy server and deploy api",
            "Please deploy the api service",
            "trigger a deployment of api",
            "use the deploy server to deploy the api",
            "Launch a rollout of the api service",
        ],
    );
}

#[test]
fn both_servers_are_connected_side_by_side_and_their_tools_told_with_their_marks() {
    for request in [
        "Connect both servers — what tools are now available?",
        "Connect both MCP servers and list the tools",
        "Connect to docs and deploy, then tell me which tools you have",
        "Plug in the docs and deploy servers. What tools are there now?",
        "connect docs and deploy and show me all tools",
        "Hook up all MCP servers, which tools do I get?",
        "Connect everything and list your tools",
    ] {
        let play = stage().ask(request);
        let mut rounds: Vec<(usize, &str)> = play
            .calls
            .iter()
            .map(|(round, _, input)| (*round, input["name"].as_str().unwrap()))
            .collect();
        rounds.sort_unstable();
        assert_eq!(rounds, [(0, "deploy"), (0, "docs")], "{request}");
        for told in [
            "Connected to 'docs'. Discovered: search, get_version",
            "Connected to 'deploy'. Discovered: trigger, status, logs",
            "- mcp__docs__search (readOnly)",
            "- mcp__deploy__trigger (destructive)",
            "I was given 32: 27 of my own (bash, ",
        ] {
            assert!(play.answer.contains(told), "{request}: {}", play.answer);
        }
    }
}

#[test]
fn what_follows_speaks_of_the_server_of_before() {
    let connect = "Connect to the docs MCP server";
    for (requests, expected) in [
        (
            &[connect, "now search it for hooks"][..],
            r#"mcp__docs__search {"query":"hooks"}"#,
        ),
        (
            &[connect, "search for hooks"],
            r#"mcp__docs__search {"query":"hooks"}"#,
        ),
        (
            &[connect, "look up hooks there"],
            r#"mcp__docs__search {"query":"hooks"}"#,
        ),
        (
            &["search the docs for skills", "and which version is it?"],
            "mcp__docs__get_version {}",
        ),
        (
            &["deploy web", "and what is its status?"],
            r#"mcp__deploy__status {"service":"web"}"#,
        ),
        (
            &["deploy web", "is it live yet?"],
            r#"mcp__deploy__status {"service":"web"}"#,
        ),
        (
            &["deploy worker", "how far is it?"],
            r#"mcp__deploy__status {"service":"worker"}"#,
        ),
        (
            &["deploy web", "show me the last 5 lines of its logs"],
            r#"mcp__deploy__logs {"lines":5,"service":"web"}"#,
        ),
        (
            &["deploy web", "what is its status?", "and the logs?"],
            r#"mcp__deploy__logs {"service":"web"}"#,
        ),
        (
            &["Which tools does the docs server have?", "connect it"],
            r#"connect_mcp {"name":"docs"}"#,
        ),
    ] {
        let (calls, answer) = talk(stage(), requests);
        assert_eq!(calls, [expected], "{requests:?}: {answer}");
    }
    let (calls, _) = talk(stage(), &[connect, "search for TODO in src"]);
    assert_eq!(calls.len(), 1);
    assert!(
        calls[0].starts_with("bash "),
        "a place of the workspace is no server: {calls:?}"
    );
}

#[test]
fn status_and_logs_follow_a_trigger_in_the_same_request() {
    let expected = [
        (0, r#"connect_mcp {"name":"deploy"}"#),
        (1, r#"mcp__deploy__trigger {"service":"web"}"#),
        (2, r#"mcp__deploy__status {"service":"web"}"#),
        (3, r#"mcp__deploy__logs {"service":"web"}"#),
    ];
    calls(
        stage,
        &expected,
        &[
            "Deploy web, then tell me its status and show the logs",
            "Trigger a deployment of web, check its status and read its logs",
        ],
    );
}

#[test]
fn an_unknown_server_is_told_with_those_there_are_and_nothing_is_asked_of_it() {
    for (server, request) in [
        (
            "github",
            "Connect to the github server and search for hooks",
        ),
        ("github", "connect to github"),
        ("slack", "Connect the slack MCP server, then look for hooks"),
        ("weather", "Attach the weather server"),
        ("sentry", "please connect to the MCP server called sentry"),
        ("github", "Hook up the github server and find hooks"),
    ] {
        let play = stage().ask(request);
        assert_eq!(play.lines(), [format!("connect_mcp {server}")], "{request}");
        let told = format!(
            "I could not connect to {server}: there is no server '{server}'; available: deploy, docs."
        );
        assert!(play.answer.starts_with(&told), "{request}: {}", play.answer);
    }
}

#[test]
fn a_server_that_is_connected_already_is_no_failure() {
    let (calls, answer) = talk(
        stage(),
        &["connect to docs", "Connect to the docs MCP server"],
    );
    assert_eq!(calls, [r#"connect_mcp {"name":"docs"}"#]);
    assert_eq!(answer, "'docs' is already connected");
}

#[test]
fn a_denied_deployment_is_told_and_not_tried_again() {
    for (request, named) in [
        ("trigger a deployment", "trigger a deployment"),
        (
            "trigger a deployment of web please",
            "trigger a deployment of web",
        ),
    ] {
        let mut served = stage();
        served.answering(|name, _| (name == "mcp__deploy__trigger").then(|| (NO.to_owned(), true)));
        let play = served.ask(&format!("Connect to the deploy server and {request}"));
        assert_eq!(play.calls.len(), 2);
        let told = format!(
            "Connected to 'deploy'. Discovered: trigger, status, logs\nI did not {named}: permission denied: the user said no. I did not try another way."
        );
        assert_eq!(play.answer, told);
    }
}

#[test]
fn a_dead_server_and_a_failed_tool_are_told_in_a_sentence() {
    for (content, told) in [
        (
            "the server 'docs' has ended: exit code 1",
            "I could not search for hooks: the server 'docs' has ended: exit code 1.",
        ),
        (
            "query: expected at least one word",
            "I could not search for hooks: query: expected at least one word.",
        ),
    ] {
        let mut served = stage();
        served.connect("docs");
        served.answering(move |name, _| {
            (name == "mcp__docs__search").then(|| (content.to_owned(), true))
        });
        let play = served.ask("Connect to docs and search for hooks");
        assert_eq!(play.calls.len(), 2, "it is not tried again");
        assert!(play.answer.ends_with(told), "{}", play.answer);
    }
}

#[test]
fn a_server_that_is_connected_and_brings_no_tool_is_not_connected_for_ever() {
    let mut served = stage();
    served.answering(|name, _| {
        (name == "connect_mcp")
            .then(|| ("Connected to 'docs'. Discovered: nothing".to_owned(), false))
    });
    let play = served.ask("search the docs for hooks");
    assert_eq!(play.calls.len(), 1);
    assert_eq!(
        play.answer,
        "The docs server is connected and offers no tool."
    );
}

#[test]
fn which_servers_there_are_and_what_they_offer_is_told_without_a_call() {
    let (calls, answer) = talk(
        stage(),
        &["connect to docs", "Which MCP servers are there?"],
    );
    assert!(calls.is_empty());
    let told = "The MCP servers I know of:\n- deploy: not connected\n- docs: connected, with search (readOnly) and get_version (readOnly)";
    assert_eq!(answer, told);
    let (_, answer) = talk(
        stage(),
        &["connect to docs", "what tools does the docs server have?"],
    );
    assert_eq!(
        answer,
        "The docs server offers search (readOnly) and get_version (readOnly)."
    );
}

#[test]
fn issues_are_found_read_made_and_moved() {
    for (requests, expected) in [
        (
            &["Connect to jira and search for login issues"][..],
            r#"mcp__jira__search_issues {"query":"login"}"#,
        ),
        (
            &["Find jira tickets about login"],
            r#"mcp__jira__search_issues {"query":"login"}"#,
        ),
        (
            &["search jira for login", "show me the first one"],
            r#"mcp__jira__get_issue {"key":"WEB-3"}"#,
        ),
        (
            &["What is WEB-3 about?"],
            r#"mcp__jira__get_issue {"key":"WEB-3"}"#,
        ),
        (
            &["show me issue WEB-3"],
            r#"mcp__jira__get_issue {"key":"WEB-3"}"#,
        ),
        (
            &["Create a jira issue titled \"Login fails\" in project WEB"],
            r#"mcp__jira__create_issue {"project":"WEB","summary":"Login fails"}"#,
        ),
        (
            &["open a ticket in WEB called \"Login fails\""],
            r#"mcp__jira__create_issue {"project":"WEB","summary":"Login fails"}"#,
        ),
        (
            &["show WEB-3", "move it to In Progress"],
            r#"mcp__jira__transition_issue {"key":"WEB-3","status":"In Progress"}"#,
        ),
        (
            &["transition WEB-3 to Done"],
            r#"mcp__jira__transition_issue {"key":"WEB-3","status":"Done"}"#,
        ),
        (
            &["Close WEB-3"],
            r#"mcp__jira__transition_issue {"key":"WEB-3","status":"Done"}"#,
        ),
    ] {
        let (calls, answer) = talk(company_stage(), requests);
        assert_eq!(
            calls.last().map(String::as_str),
            Some(expected),
            "{requests:?}: {answer}"
        );
    }
}

#[test]
fn pages_are_found_read_and_written() {
    for (requests, expected) in [
        (
            &["Search notion for onboarding"][..],
            r#"mcp__notion__search_pages {"query":"onboarding"}"#,
        ),
        (
            &["connect notion and find pages about teams"],
            r#"mcp__notion__search_pages {"query":"teams"}"#,
        ),
        (
            &["Search notion for onboarding", "open the first page"],
            r#"mcp__notion__get_page {"id":"page-2"}"#,
        ),
        (
            &["get page page-2 from notion"],
            r#"mcp__notion__get_page {"id":"page-2"}"#,
        ),
        (
            &["Create a notion page titled \"Notes\" with the content \"Version 3 is out\""],
            r#"mcp__notion__create_page {"content":"Version 3 is out","title":"Notes"}"#,
        ),
        (
            &["write a page called Welcome in notion saying Good to have you here"],
            r#"mcp__notion__create_page {"content":"Good to have you here","title":"Welcome"}"#,
        ),
    ] {
        let (calls, answer) = talk(company_stage(), requests);
        assert_eq!(
            calls.last().map(String::as_str),
            Some(expected),
            "{requests:?}: {answer}"
        );
    }
}
