//! Sessions: what is kept, what goes on, and what two programs at once do not do to each other.

use std::fs;

use mock_servers::model::{Options, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::Class;

use crate::{class, echo, echoing, id, last_texts, model, model_with, saved};

const SESSIONS: &str = ".harness/sessions";

fn write(class: &Class, id: &str, content: &str) {
    let file = class.dir().join(SESSIONS).join(format!("{id}.json"));
    fs::write(file, content).unwrap();
}

#[test]
fn another_process_goes_on_and_knows_what_has_ended() {
    let (model, class) = echoing();
    class.types(&["My name is Ada."]).succeeds();
    let ran = class.runs(&["--resume"], "What is my name?\n");
    ran.succeeds()
        .shows("2 messages · it began with: My name is Ada.]");
    let texts = last_texts(&model);
    assert_eq!(texts[0], "My name is Ada.");
    assert!(
        texts[1].starts_with("<resumed-session>\nThis conversation was saved "),
        "{texts:?}"
    );
    assert!(
        texts[1].contains("teammates, background jobs and MCP connections"),
        "{texts:?}"
    );
    assert_eq!(texts[2], "What is my name?");
    let sessions = saved(&class);
    assert_eq!(sessions.len(), 1, "it is the same session");
    assert_eq!(sessions[0]["version"], 1);
    assert_eq!(sessions[0]["request"], "My name is Ada.");
    assert_eq!(sessions[0]["messages"].as_array().unwrap().len(), 4);
}

/// Sixty requests, in a window that holds them all and in one that is summarized many times.
#[test]
fn a_long_session_keeps_all_that_the_user_asked_for() {
    for window in [200_000, 14_000] {
        let options = Options {
            context_tokens: window,
            ..Options::strict()
        };
        let model = model_with(options, |_| says("word ".repeat(300)));
        let class = class(&[]).model(&model);
        let class = class.env("MODEL_CONTEXT_TOKENS", window.to_string());
        let lines: Vec<String> = (0..60).map(|at| format!("request number {at}.")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let ran = class.types(&lines);
        let is_summarized = ran.succeeds().stdout.contains("messages summarized");
        assert_eq!(is_summarized, window < 200_000, "{}", ran.transcript());
        let kept = saved(&class)[0]["messages"].to_string();
        class.runs(&["--resume"], "and now?\n").succeeds();
        let sent = last_texts(&model).concat();
        for line in lines {
            assert!(
                kept.contains(line) && sent.contains(line),
                "{line}: {kept:.3000}"
            );
        }
    }
}

#[test]
fn looking_into_a_session_changes_nothing_and_without_one_nothing_is_written() {
    let (_model, class) = echoing();
    class
        .types(&["/help", "/cost", "/clear", "/resume"])
        .succeeds()
        .shows("there is no saved session yet");
    assert!(!class.dir().join(SESSIONS).exists());
    class.types(&["hi"]).succeeds();
    let before = saved(&class);
    class.runs(&["--resume"], "").succeeds();
    class.runs(&["--resume"], "/cost\n/resume\n").succeeds();
    assert_eq!(saved(&class), before);
}

#[test]
fn sessions_are_listed_and_switched_between() {
    let (model, class) = echoing();
    class.types(&["the first request of all"]).succeeds();
    let first = id(&saved(&class)[0]).to_owned();
    let ran = class.types(&[
        "another one",
        "/resume",
        &format!("/resume {}", &first[..4]),
        "go on",
        "/resume",
    ]);
    ran.succeeds();
    let sessions = saved(&class);
    let second = id(&sessions[1]);
    ran.shows(&format!(
        "{second}        just now    2 messages  another one (this one)\n"
    ))
    .shows(&format!(
        "{first}        just now    2 messages  the first request of all\n"
    ))
    .shows(&format!(
        "session {first}, saved just now: 2 messages · it began with: the first request of all"
    ))
    .shows(&format!(
        "{first}        just now    4 messages  the first request of all (this one)\n"
    ));
    assert_eq!(last_texts(&model)[0], "the first request of all");
    assert_eq!(sessions[0]["messages"].as_array().unwrap().len(), 4);
    assert_eq!(sessions[1]["messages"].as_array().unwrap().len(), 2);
}

/// In one run of the program nothing has ended when the user comes back to a session.
#[test]
fn coming_back_to_a_session_of_the_same_run_ends_nothing() {
    let (model, class) = echoing();
    let mut terminal = class.terminal(100, 40);
    terminal
        .wait_for("s20 >>")
        .type_line("one")
        .wait_for("You said: one");
    terminal.type_line("/clear").wait_for("the old one is kept");
    let id = id(&saved(&class)[0]).to_owned();
    terminal
        .type_line(&format!("/resume {id}"))
        .wait_for("it began with: one");
    terminal.type_line("two").wait_for("You said: two");
    assert_eq!(last_texts(&model), ["one", "two"]);
    terminal.type_line("/quit").wait_exit();
}

#[test]
fn a_name_that_fits_none_or_several_is_told() {
    let (_model, class) = echoing();
    class
        .runs(&["--resume"], "")
        .fails_with(1)
        .complains("there is no saved session to resume here");
    class.types(&["hi"]).succeeds();
    let saved = saved(&class).remove(0);
    for name in ["zz1", "zz2", "zz"] {
        write(&class, name, &saved.to_string().replace(id(&saved), name));
    }
    for (name, said) in [
        ("nothing", "there is no saved session \"nothing\""),
        ("z", "give more of the id"),
        ("../zz", "there is no saved session \"../zz\""),
    ] {
        let ran = class.runs(&["--resume", name], "");
        ran.fails_with(1).complains(said);
    }
    let ran = class.runs(&["--resume", "zz"], "");
    ran.succeeds().shows("[session zz, ");
}

#[test]
fn a_damaged_file_is_named_set_aside_and_never_overwritten() {
    let (_model, class) = echoing();
    class.types(&["hi"]).succeeds();
    write(&class, "stolen", &saved(&class)[0].to_string());
    let (broken, newer) = (
        r#"{"version": 1, "id": "brok"#,
        r#"{"version": 2, "shape": "?"}"#,
    );
    write(&class, "broken", broken);
    write(&class, "newer", newer);
    let ran = class.runs(&["--resume"], "");
    ran.succeeds()
        .shows("[sessions/broken.json is damaged (")
        .shows("it was moved to sessions/damaged/broken.json]")
        .shows("[sessions/stolen.json is damaged (it says its id is ")
        .shows("[the session newer was saved by a newer program (format 2); it was left alone]")
        .shows("it began with: hi]");
    write(&class, "broken", "again");
    let ran = class.types(&["/resume"]);
    ran.succeeds().shows("sessions/damaged/broken-2.json");
    assert_eq!(class.read(".harness/sessions/damaged/broken.json"), broken);
    assert_eq!(class.read(".harness/sessions/newer.json"), newer);
}

#[test]
fn two_programs_do_not_write_one_file() {
    let (_model, class) = echoing();
    class.types(&["an old one"]).succeeds();
    let mut terminal = class.terminal(100, 40);
    terminal
        .wait_for("s20 >>")
        .type_line("mine")
        .wait_for("You said: mine");
    let sessions = saved(&class);
    let (old, mine) = (id(&sessions[0]), id(&sessions[1]));
    let refused = class.runs(&["--resume", mine], "");
    refused
        .fails_with(1)
        .complains(&format!("the session {mine} is open in another process"));
    // The newest one is open there, so the one before it goes on here.
    class
        .runs(&["--resume"], "")
        .succeeds()
        .shows(&format!("[session {old}, "));
    fs::remove_file(class.dir().join(SESSIONS).join(format!("{old}.json"))).unwrap();
    class
        .runs(&["--resume"], "")
        .fails_with(1)
        .complains("the only saved session is open in another process");
    terminal.type_line("/quit").wait_exit();
    class
        .runs(&["--resume"], "")
        .succeeds()
        .shows(&format!("[session {mine}, "));
    let left = fs::read_dir(class.dir().join(SESSIONS)).unwrap();
    let mut names = left.map(|file| file.unwrap().file_name());
    assert!(!names.any(|name| name.to_string_lossy().ends_with(".lock")));
}

#[test]
fn a_session_that_cannot_be_kept_is_told_once_and_goes_on() {
    let model = model(echo);
    let class = class(&[])
        .file(".harness/sessions", "in the way")
        .model(&model);
    let ran = class.types(&["one", "two"]);
    ran.succeeds().shows("You said: one").shows("You said: two");
    assert_eq!(
        ran.stdout.matches("[the session is not kept: ").count(),
        1,
        "{}",
        ran.transcript()
    );
}

/// Whoever leaves a conversation that is nowhere but here is told, or stays in it.
#[test]
fn a_session_that_cannot_be_written_is_not_said_to_be_kept() {
    let model = model(|request: &Request| match request.results().last() {
        None if request.user_texts().join("").contains("lock") => calls(
            "bash",
            json!({"command": "chmod a-w .harness/sessions/*.json"}),
        ),
        _ => echo(request),
    });
    let allow = json!({"permissions": {"allow": ["bash(chmod:*)"]}}).to_string();
    let class = class(&[])
        .file(".harness/settings.json", allow)
        .model(&model);
    class.types(&["first"]).succeeds();
    let first = id(&saved(&class)[0]).to_owned();
    let ran = class.types(&[
        "lock",
        "y",
        &format!("/resume {first}"),
        "/clear",
        "and now",
    ]);
    ran.fails_with(1)
        .shows("the session you are in cannot be written; /clear gives it up")
        .shows("a new session; the end of the old one could not be written")
        .never_shows("the old one is kept");
    assert_eq!(last_texts(&model), ["and now"]);
}

/// The plan belongs to a conversation; what it has cost goes on.
#[test]
fn a_resumed_session_counts_on() {
    let model = model(|_: &Request| -> Reply { says("Done.") });
    let class = class(&[]).model(&model);
    class.types(&["hi"]).succeeds();
    let before = saved(&class)[0]["usage"]["output_tokens"].as_u64().unwrap();
    assert!(before > 0);
    let ran = class.runs(&["--resume"], "again\n/cost\n");
    ran.succeeds()
        .shows("this session   ")
        .shows("this program   ");
    assert_eq!(
        saved(&class)[0]["usage"]["output_tokens"].as_u64().unwrap(),
        2 * before
    );
}

#[test]
fn a_saved_session_with_what_the_api_refuses_goes_on() {
    let (model, class) = echoing();
    class.types(&["hi"]).succeeds();
    let mut session = saved(&class).remove(0);
    let call =
        |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "call 1", "content": "found"});
    session["messages"] = json!([
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [{"type": "reasoning"}, call("call 1", "web.search"), {"type": "tool_use"}]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "reasoning"}]},
    ]);
    write(&class, id(&session), &session.to_string());
    class
        .runs(&["--resume"], "and on\n")
        .succeeds()
        .shows("You said: and on");
    let requests = model.requests();
    let mut results = requests.iter().flat_map(|request| request.results());
    let first = results.next().map(|(_, text)| text);
    assert_eq!(first.as_deref(), Some("found"), "it has followed its call");
    let kept: Value = saved(&class).remove(0);
    assert!(!kept.to_string().contains("reasoning"));
}
