//! MCP servers beside everything else: asked about, hooked, interrupted, compacted away from, and gone after a resume.

use mock_servers::model::{MockModel, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Key};

use crate::{
    PATIENCE, PROMPT, QUESTION, class, is_subagent, model, news, prompt_below, session, side_call,
    watch,
};

/// A server of the workspace called `odd`, with this fault, that holds the gate open as long as it lives.
fn with_odd(class: Class, fault: &str) -> Class {
    let line = format!("exec 3> gate; exec \"$0\" mock-mcp docs --fault {fault}");
    let server = json!({"command": "sh", "args": ["-c", line, env!("CARGO_BIN_EXE_s20_full")]});
    class.file(
        ".mcp.json",
        json!({"mcpServers": {"odd": server}}).to_string(),
    )
}

fn search(server: &str) -> (String, Value) {
    (
        format!("mcp__{server}__search"),
        json!({"query": "agent loop"}),
    )
}

/// A lead that calls this after it has connected to the server, and says what came of it.
fn connects_and(server: &'static str, tool: String, input: Value) -> MockModel {
    model(
        move |request: &Request| match (side_call(request), request.calls().len()) {
            (Some(reply), _) => reply,
            (None, _) if news(request).contains("still there?") => says("Still here."),
            (None, 0) => calls("connect_mcp", json!({"name": server})),
            (None, 1) => calls(tool.clone(), input.clone()),
            (None, _) => says(format!("told: {}", news(request))),
        },
    )
}

#[test]
fn what_only_reads_runs_and_what_may_destroy_asks_first() {
    let (tool, input) = search("docs");
    let model = connects_and("docs", tool, input);
    let class = class(&[]).model(&model);
    let ran = class.types(&["go"]);
    ran.succeeds()
        .shows("told: ")
        .never_shows(QUESTION)
        .never_shows("permission denied");

    let trigger = || ("mcp__deploy__trigger".to_owned(), json!({"service": "web"}));
    for (answer, told) in [("n", "permission denied: the user said no"), ("y", "web")] {
        let (tool, input) = trigger();
        let model = connects_and("deploy", tool, input);
        let class = crate::class(&[]).model(&model);
        class
            .types(&["go", answer])
            .succeeds()
            .shows(QUESTION)
            .shows(told);
        let denied = news(&model.last_request()).contains("permission denied");
        assert!(!denied || answer == "n");
    }
    let (tool, input) = trigger();
    let model = connects_and("deploy", tool, input);
    let denied = json!({"permissions": {"deny": ["mcp__deploy__trigger"]}});
    let class = crate::class(&[])
        .file(".harness/settings.json", denied.to_string())
        .model(&model);
    class
        .types(&["go"])
        .succeeds()
        .shows("told: permission denied: the rule")
        .never_shows(QUESTION);
}

#[test]
fn a_hook_sees_the_call_of_a_server_and_stops_it() {
    let refuses = json!([{"matcher": "mcp__docs__search", "hooks": [{"type": "command",
        "command": "cat > seen.json; echo 'not today' >&2; exit 2"}]}]);
    let (tool, input) = search("docs");
    let model = connects_and("docs", tool, input);
    let settings = json!({"hooks": {"PreToolUse": refuses}}).to_string();
    let class = class(&[])
        .file(".harness/settings.json", settings)
        .model(&model);
    class.types(&["go"]).succeeds().shows("told: not today");
    assert!(class.read("seen.json").contains("\"query\":\"agent loop\""));
}

/// A call that hangs ends with the turn and the server stays; one that hangs at its start goes with the turn.
#[test]
fn ctrl_c_while_a_server_says_nothing() {
    for (fault, shown) in [
        ("hang-call", "> mcp__odd__search"),
        ("hang-start", "> connect_mcp  odd"),
    ] {
        let (tool, input) = search("odd");
        let model = connects_and("odd", tool, input);
        let class = with_odd(class(&["connect_mcp", "mcp__odd__search"]), fault).model(&model);
        let gate = watch(&class.dir());
        let mut terminal = session(&class);
        terminal.type_line("go").wait_for(shown);
        gate.recv_timeout(PATIENCE).expect("the server has begun");
        terminal.press(Key::CtrlC).wait_for("(interrupted)");
        if fault == "hang-start" {
            gate.recv_timeout(PATIENCE).expect("the server is gone");
        }
        terminal.type_line("still there?");
        prompt_below(&mut terminal, "Still here.");
        let mut requests = model.requests();
        requests.retain(|request| side_call(request).is_none());
        let names = requests.pop().expect("requests").tool_names();
        let has_tool = names.iter().any(|name| name == "mcp__odd__search");
        assert_eq!(has_tool, fault == "hang-call", "{fault}");
        terminal.wait_for(PROMPT).type_line("exit");
        assert_eq!(terminal.wait_exit(), 0);
        if fault == "hang-call" {
            gate.recv_timeout(PATIENCE)
                .expect("the server ends with the session");
        }
    }
}

/// The tools of a server are no part of the conversation, so a summary does not take them away.
#[test]
fn a_summary_and_a_subagent_beside_a_connected_server() {
    let model = model(
        |request: &Request| match (side_call(request), is_subagent(request)) {
            (Some(reply), _) => reply,
            (None, true) if request.calls().is_empty() => {
                let (tool, input) = search("docs");
                calls(tool, input)
            }
            (None, true) => says(format!("it said: {}", news(request))),
            (None, false) if news(request) == "connect" => {
                calls("connect_mcp", json!({"name": "docs"}))
            }
            (None, false) if news(request) == "search" => {
                let (tool, input) = search("docs");
                calls(tool, input)
            }
            (None, false) if news(request) == "delegate" => {
                calls("task", json!({"description": "search the docs"}))
            }
            (None, false) => says(format!("told: {}", news(request))),
        },
    );
    let class = class(&[]).model(&model);
    let ran = class.types(&["connect", "/compact", "search", "delegate"]);
    ran.succeeds().shows("[compacted: ").shows("Discovered: ");
    let found = |request: &Request| {
        request
            .results()
            .iter()
            .any(|(is_error, text)| !is_error && text.contains("loop"))
    };
    assert!(
        model.requests().iter().any(|request| found(request)),
        "{}",
        ran.transcript()
    );
    ran.shows("it said: there is no tool `mcp__docs__search`");
}

/// What ran in the earlier process does not run in this one, and the model knows.
#[test]
fn a_resumed_session_has_neither_its_servers_nor_its_team() {
    let model = model(|request: &Request| {
        let news = news(request);
        let is = |line: &str| news.lines().any(|said| said == line);
        match side_call(request) {
            Some(reply) => reply,
            None if crate::teammate(request).is_some() => says("I am ready."),
            None if is("begin") => calls("connect_mcp", json!({"name": "docs"}))
                .and_calls("create_task", json!({"subject": "schema"}))
                .and_calls("spawn_teammate", crate::spawn("alice")),
            None if is("go on") => {
                let (tool, input) = search("docs");
                calls(tool, input)
                    .and_calls("send_message", json!({"to": "alice", "content": "Hello."}))
            }
            None if news.contains("there is no tool `mcp__docs__search`") => {
                calls("connect_mcp", json!({"name": "docs"}))
                    .and_calls("spawn_teammate", crate::spawn("alice"))
            }
            None => says("Noted."),
        }
    });
    let class = class(&[]).model(&model);
    class
        .types(&["begin"])
        .succeeds()
        .shows("[mail from alice: result]");
    let class = class.arg("--resume");
    let ran = class.types(&["go on"]);
    ran.succeeds();
    let last = model
        .requests()
        .into_iter()
        .rfind(|request| request.tools.len() > 20)
        .unwrap();
    assert!(
        last.tool_names().contains(&"mcp__docs__search".to_owned()),
        "{}",
        ran.transcript()
    );
    let texts = last.user_texts().join("\n");
    assert!(
        texts.contains("ended"),
        "the note of the resumed session: {texts}"
    );
    let results = last.results();
    let failed: Vec<_> = results.iter().filter(|(is_error, _)| *is_error).collect();
    assert_eq!(failed.len(), 2, "{failed:#?}");
    assert!(failed[1].1.contains("alice"), "{failed:#?}");
}
