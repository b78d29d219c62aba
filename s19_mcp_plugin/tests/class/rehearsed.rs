//! The prompts of the lesson and other words for them, with the model that a newcomer meets.
//!
//! Invariant: a request in other words connects the same servers and calls the same tools.

use mock_servers::model::{MockModel, Request};

use super::{BOTH, DEPLOY, SEARCH, class, run};

/// The tools that were called, without those of the harness itself.
fn called(model: &MockModel) -> Vec<String> {
    let all: Vec<String> = model.last_request().calls().concat();
    all.into_iter().filter(|name| name != "connect_mcp").collect()
}

/// How many tools a request offers.
fn offered(request: &Request) -> usize {
    request.tools.len()
}

#[test]
fn docs_is_connected_and_searched() {
    for prompt in [
        SEARCH,
        "Plug in the docs server and look up permission rules",
        "Use the docs server to find out how hooks work",
        "Connect to docs over MCP, then search the docs for subagents.",
    ] {
        let model = MockModel::strict_rehearsal();
        run(&class().model(&model), &[prompt]).never_shows("needs permission");
        assert_eq!(called(&model), ["mcp__docs__search"], "{prompt}");
        assert_eq!(offered(&model.last_request()), 20, "{prompt}");
    }
}

#[test]
fn a_deployment_is_triggered_when_the_user_says_so() {
    for (prompt, service) in [
        (DEPLOY, "api"),
        ("Connect to deploy and deploy the web service", "web"),
        ("Hook up the deploy server, then trigger a deployment of worker.", "worker"),
    ] {
        for (answer, is_deployed) in [("y", true), ("n", false)] {
            let model = MockModel::strict_rehearsal();
            let ran = run(&class().model(&model), &[prompt, answer]);
            ran.shows("mcp__deploy__trigger needs permission");
            let results = model.last_request().results();
            let queued = format!("{service} version");
            let is_queued = |(is_error, text): &(bool, String)| !is_error && text.contains(&queued);
            assert_eq!(results.iter().any(is_queued), is_deployed, "{}", ran.transcript());
        }
    }
}

#[test]
fn both_are_connected_and_their_tools_named() {
    for prompt in [
        BOTH,
        "Connect the docs and the deploy server and list the tools",
        "Connect to docs and deploy. Which tools do you have now?",
    ] {
        let model = MockModel::strict_rehearsal();
        let ran = run(&class().model(&model), &[prompt]);
        ran.shows("mcp__docs__search (readOnly)").shows("mcp__deploy__trigger (destructive)");
        let requests = model.requests();
        assert_eq!((offered(&requests[0]), offered(&requests[1])), (18, 23), "{prompt}");
    }
}
