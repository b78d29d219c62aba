//! Slash commands: none of them reaches a model that is not meant to, and a request never becomes a command.

use mock_servers::model::{Request, calls, says};
use serde_json::json;
use testkit::Key;

use super::{PROMPT, class, echoing, id, is_side_call, is_subagent, last_texts, model, saved};

#[test]
fn a_command_is_told_and_not_sent_and_a_question_about_a_path_is_a_request() {
    let (model, class) = echoing();
    let help = class.types(&["/help"]);
    help.succeeds().shows("[/help lists the commands]\n");
    for name in [
        "/help", "/tools", "/mcp", "/tasks", "/team", "/cost", "/compact", "/clear", "/resume",
        "/fault", "/exit", "/quit",
    ] {
        help.shows(&format!("\n{name} "));
    }
    let ran = class.types(&["/halp", "/frobnicate now", "/clear the table", "/tools", "/mcp"]);
    ran.fails_with(1)
        .shows("there is no command /halp; did you mean /help? Nothing was sent.")
        .shows("there is no command /frobnicate; /help lists them. Nothing was sent.")
        .shows("/clear takes nothing behind it; nothing was done")
        .shows("27 built in: bash, cancel_cron, ")
        .shows("docs    stdio  built in  available");
    assert!(model.requests().is_empty() && saved(&class).is_empty());
    let asked = ["/etc/hosts is what?", "/tmp is full", "/ is what?"];
    let ran = class.types(&asked);
    for asked in asked {
        ran.succeeds().shows(&format!("You said: {asked}"));
    }
    for leave in ["/quit", "/exit", "q"] {
        let ran = class.types(&["hi", leave, "never"]);
        ran.succeeds().shows("You said: hi").never_shows("never");
    }
}

#[test]
fn cost_counts_everybody_who_asked() {
    let model = model(|request: &Request| match (is_subagent(request), request.calls().len()) {
        (true, _) => says("Nothing found."),
        (false, 0) => calls("task", json!({"description": "look around"})),
        (false, _) => says("Done."),
    });
    let ran = class(&[]).model(&model).types(&["/cost", "go", "/cost", "/clear", "/cost"]);
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
    let ran = class(&[]).model(&model).types(&["one", "two", "/compact the schema", "three"]);
    ran.succeeds().shows("messages summarized").shows("the conversation has ");
    let requests = model.requests();
    let mut requests = requests.iter();
    let asked = requests.find(|request| request.system.starts_with("You summarize"));
    assert!(asked.unwrap().user_texts().concat().contains("the schema"));
    let texts = last_texts(&model).join("\n");
    let is_told = texts.contains("<conversation-summary>") && texts.contains("three");
    assert!(is_told, "{texts}");
}

/// The second request goes on long enough for a reminder of an open plan.
#[test]
fn clear_begins_anew_empties_the_plan_and_keeps_the_old_session() {
    let plan = json!({"todos": [{"content": "count to ten", "status": "pending"}]});
    let model = model(move |request: &Request| {
        let asked = request.user_texts().pop().unwrap();
        match (&*asked, request.calls().len()) {
            ("plan", 0) => calls("todo_write", plan.clone()),
            ("look", ..6) => calls("read_file", json!({"path": "README.md"})),
            _ => says("Done."),
        }
    });
    let class = class(&[]).model(&model);
    let ran = class.types(&["plan", "/clear", "look"]);
    let sessions = saved(&class);
    let kept = format!("a new session; the old one is kept: /resume {}\n", id(&sessions[0]));
    ran.succeeds().shows(&kept).never_shows("reminded of the plan");
    let requests: Vec<_> = sessions.iter().map(|one| &one["request"]).collect();
    assert_eq!(requests, ["plan", "look"]);
    assert!(!last_texts(&model).contains(&"plan".to_owned()));
}

#[test]
fn help_is_named_at_the_start_tab_completes_a_command_and_quit_leaves() {
    let model = model(|_: &Request| says("A request."));
    let mut terminal = class(&[]).model(&model).terminal(100, 40);
    terminal.wait_for("[/help lists the commands]").wait_for(PROMPT);
    terminal.type_text("/c").press(Key::Tab);
    // Three commands with nothing more in common: they are shown, and the line stays.
    terminal.wait_for("/cost  /compact  /clear");
    terminal.wait_until("the line", |screen| screen.trim_end().ends_with("s20 >> /c"));
    terminal.type_text("os").press(Key::Tab).press(Key::Enter);
    terminal.wait_for("this session   fresh 0").wait_for(PROMPT);
    terminal.type_text("what is /he").press(Key::Tab);
    terminal.type_line("lp?").wait_for("A request.");
    let texts = model.requests()[0].user_texts();
    assert_eq!(texts, ["what is /help?"], "Tab is no part of a request");
    assert_eq!(terminal.type_line("/quit").wait_exit(), 0);
}

#[test]
fn what_help_shows_can_be_typed_as_it_stands() {
    let help = class(&[]).asks("help");
    let lines = help.stdout.lines();
    let requests: Vec<&str> = lines.filter_map(|line| line.strip_prefix("- ")).collect();
    assert_eq!(requests.len(), 8, "{}", help.transcript());
    for request in requests {
        class(&[])
            .asks(request)
            .succeeds()
            .never_shows("✗")
            .never_shows("I could not")
            .never_shows("I am only");
    }
}
