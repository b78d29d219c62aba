//! Slash commands: none of them reaches a model that is not meant to, and a request never becomes a command.

use mock_servers::model::{Reply, Request, calls, says};
use serde_json::json;

use crate::{class, echo, echoing, id, is_side_call, is_subagent, last_texts, model, saved};

#[test]
fn help_lists_every_command_and_is_mentioned_at_the_start() {
    let (model, class) = echoing();
    let ran = class.types(&["/help"]);
    ran.succeeds().shows("[/help lists the commands]\n");
    for name in [
        "/help", "/tools", "/mcp", "/tasks", "/team", "/cost", "/compact", "/clear", "/resume",
        "/fault", "/exit", "/quit",
    ] {
        ran.shows(&format!("\n{name} "));
    }
    assert!(model.requests().is_empty());
}

#[test]
fn an_unknown_command_is_told_with_the_nearest_one_and_not_sent() {
    let (model, class) = echoing();
    let ran = class.types(&["/halp", "/frobnicate now", "/clear the table"]);
    ran.fails_with(1)
        .shows("there is no command /halp; did you mean /help? Nothing was sent.")
        .shows("there is no command /frobnicate; /help lists them. Nothing was sent.")
        .shows("/clear takes nothing behind it; nothing was done");
    assert!(model.requests().is_empty());
    assert!(saved(&class).is_empty());
}

#[test]
fn a_question_about_a_path_is_a_request() {
    let model = model(echo);
    let ran =
        class(&[])
            .model(&model)
            .types(&["/etc/hosts is what?", "/tmp is full", "/ is what?"]);
    ran.succeeds()
        .shows("You said: /etc/hosts is what?")
        .shows("You said: /tmp is full")
        .shows("You said: / is what?");
}

#[test]
fn what_hooks_and_boards_show_costs_no_request() {
    let model = model(|request: &Request| match request.calls().len() {
        0 => calls("create_task", json!({"subject": "write the schema"})),
        _ => says("Created."),
    });
    let lines = ["/team", "/tools", "/mcp", "/tasks", "go", "/tasks"];
    let ran = class(&[]).model(&model).types(&lines);
    ran.succeeds()
        .shows("there is no teammate yet")
        .shows("27 built in: bash, cancel_cron, ")
        .shows("docs    available")
        .shows("the board is empty\n")
        .shows("[ ] 0001-")
        .shows(" write the schema\n");
    assert_eq!(last_texts(&model), ["go"]);
}

#[test]
fn cost_counts_everybody_who_asked() {
    let model = model(
        |request: &Request| match (is_subagent(request), request.calls().len()) {
            (true, _) => says("Nothing found."),
            (false, 0) => calls("task", json!({"description": "look around"})),
            (false, _) => says("Done."),
        },
    );
    let ran = class(&[])
        .model(&model)
        .types(&["/cost", "go", "/cost", "/clear", "/cost"]);
    ran.succeeds()
        .shows("this session   fresh 0 · read 0 · written 0 · out 0 tokens")
        .shows("conversation   0 of 200,000 tokens");
    let requests = model.requests();
    assert!(requests.iter().any(|request| is_side_call(request)));
    let line = |start: &str, at: usize| {
        let mut lines = ran.stdout.lines().filter(|line| line.starts_with(start));
        lines.nth(at).expect("it is shown").to_owned()
    };
    let (session, program) = (line("this session", 1), line("this program", 0));
    // A subagent's and a side call's input is not cached, so only they make it fresh.
    for none in ["fresh 0 ", "read 0 "] {
        assert!(!session.contains(none), "{session}");
    }
    let told = session.replace("session", "program");
    assert_eq!(told, program, "and /clear takes nothing back");
}

#[test]
fn compact_asks_for_a_summary_with_the_focus_given() {
    let model = model(|_: &Request| says("A long answer. ".repeat(200)));
    let ran = class(&[])
        .model(&model)
        .types(&["one", "two", "/compact the schema", "three"]);
    ran.succeeds()
        .shows("messages summarized")
        .shows("the conversation has ");
    let requests = model.requests();
    let mut requests = requests.iter();
    let asked = requests.find(|request| request.system.starts_with("You summarize"));
    assert!(asked.unwrap().user_texts().join("").contains("the schema"));
    let texts = last_texts(&model).join("\n");
    assert!(
        texts.contains("<conversation-summary>") && texts.contains("three"),
        "{texts}"
    );
}

#[test]
fn clear_begins_anew_empties_the_plan_and_keeps_the_old_session() {
    let plan = json!({"todos": [{"content": "count to ten", "status": "pending"}]});
    let model =
        model(
            move |request: &Request| match request.user_texts().last().unwrap().as_str() {
                "plan" if request.calls().is_empty() => calls("todo_write", plan.clone()),
                "look" => looks_around(request),
                _ => says("Done."),
            },
        );
    let class = class(&[]).model(&model);
    let ran = class.types(&["plan", "/clear", "look"]);
    ran.succeeds()
        .shows("a new session; the old one is kept: /resume ");
    ran.never_shows("reminded of the plan");
    let sessions = saved(&class);
    assert_eq!(sessions.len(), 2);
    ran.shows(&format!("/resume {}\n", id(&sessions[0])));
    assert_eq!(sessions[0]["request"], "plan");
    assert_eq!(sessions[1]["request"], "look");
    assert!(!last_texts(&model).contains(&"plan".to_owned()));
}

/// Enough rounds for a reminder of an open plan.
fn looks_around(request: &Request) -> Reply {
    match request.calls().len() {
        ..6 => calls("read_file", json!({"path": "README.md"})),
        _ => says("I looked."),
    }
}

#[test]
fn quit_leaves_and_what_follows_is_not_read() {
    for leave in ["/quit", "/exit", "q"] {
        let model = model(echo);
        let ran = class(&[]).model(&model).types(&["hi", leave, "never"]);
        ran.succeeds().shows("You said: hi").never_shows("never");
    }
}
