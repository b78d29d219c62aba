//! Sessions: what is kept, what goes on, and what two programs at once do not do to each other.

use std::fs;

use mock_servers::model::{Options, Request, says};
use testkit::Class;

use super::{bash, class, echo, echoing, id, last_texts, model, model_with, saved};

const SESSIONS: &str = ".harness/sessions";

fn write(class: &Class, id: &str, content: &str) {
    let file = class.dir().join(SESSIONS).join(format!("{id}.json"));
    fs::write(file, content).unwrap();
}

#[test]
fn another_process_goes_on_and_knows_what_has_ended() {
    let (model, class) = echoing();
    class.types(&["My name is Ada."]).succeeds();
    let spent = || saved(&class)[0]["usage"]["output_tokens"].as_u64().unwrap();
    let before = spent();
    let ran = class.runs(&["--resume"], "What is my name?\n/cost\n");
    ran.succeeds()
        .shows("2 messages · it began with: My name is Ada.]")
        .shows("this session   ")
        .shows("this program   ");
    assert!(before > 0 && spent() > before, "it counts on");
    let texts = last_texts(&model);
    assert_eq!(texts[0], "My name is Ada.");
    assert!(texts[1].starts_with("<resumed-session>\nThis conversation was saved "), "{texts:?}");
    assert!(texts[1].contains("teammates, background jobs and MCP connections"), "{texts:?}");
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
            assert!(kept.contains(line) && sent.contains(line), "{line}: {kept:.3000}");
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
    let resume = format!("/resume {}", &first[..4]);
    let ran = class.types(&["another one", "/resume", &resume, "go on", "/resume"]);
    ran.succeeds();
    let sessions = saved(&class);
    let second = id(&sessions[1]);
    let beginning = "the first request of all";
    for line in [
        format!("{second}        just now    2 messages  another one (this one)\n"),
        format!("{first}        just now    2 messages  {beginning}\n"),
        format!("session {first}, saved just now: 2 messages · it began with: {beginning}"),
        format!("{first}        just now    4 messages  {beginning} (this one)\n"),
    ] {
        ran.shows(&line);
    }
    assert_eq!(last_texts(&model)[0], beginning);
    let counts = sessions.iter().map(|one| one["messages"].as_array().unwrap().len());
    assert_eq!(counts.collect::<Vec<_>>(), [4, 2]);
    // In one run of the program nothing has ended when the user comes back to a session.
    let mut terminal = super::session(&class);
    terminal.type_line("one").wait_for("You said: one");
    terminal.type_line("/clear").wait_for("the old one is kept");
    let third = id(&saved(&class)[2]).to_owned();
    terminal.type_line(&format!("/resume {third}"));
    terminal.wait_for("it began with: one");
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
    let (broken, newer) = (r#"{"version": 1, "id": "brok"#, r#"{"version": 2, "shape": "?"}"#);
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
    terminal.wait_for("s20 >>").type_line("mine").wait_for("You said: mine");
    let sessions = saved(&class);
    let (old, mine) = (id(&sessions[0]), id(&sessions[1]));
    let refused = class.runs(&["--resume", mine], "");
    refused.fails_with(1).complains(&format!("the session {mine} is open in another process"));
    // The newest one is open there, so the one before it goes on here.
    class.runs(&["--resume"], "").succeeds().shows(&format!("[session {old}, "));
    fs::remove_file(class.dir().join(SESSIONS).join(format!("{old}.json"))).unwrap();
    class
        .runs(&["--resume"], "")
        .fails_with(1)
        .complains("the only saved session is open in another process");
    terminal.type_line("/quit").wait_exit();
    class.runs(&["--resume"], "").succeeds().shows(&format!("[session {mine}, "));
    let left = fs::read_dir(class.dir().join(SESSIONS)).unwrap();
    let mut names = left.map(|file| file.unwrap().file_name());
    assert!(!names.any(|name| name.to_string_lossy().ends_with(".lock")));
}

/// Whoever leaves a conversation that is nowhere but here is told, or stays in it.
#[test]
fn a_session_that_cannot_be_written_is_not_said_to_be_kept() {
    let model = model(|request: &Request| match request.results().last() {
        None if request.user_texts().concat().contains("lock") => {
            bash("chmod a-w .harness/sessions/*.json")
        }
        _ => echo(request),
    });
    let class = class(&["bash(chmod:*)"]).model(&model);
    class.types(&["first"]).succeeds();
    let first = id(&saved(&class)[0]).to_owned();
    let resume = format!("/resume {first}");
    let ran = class.types(&["lock", "y", &resume, "/clear", "and now"]);
    ran.fails_with(1)
        .shows("the session you are in cannot be written; /clear gives it up")
        .shows("a new session; the end of the old one could not be written")
        .never_shows("the old one is kept");
    assert_eq!(last_texts(&model), ["and now"]);

    let (_model, class) = echoing();
    let class = class.file(".harness/sessions", "in the way");
    let ran = class.types(&["one", "two"]);
    ran.succeeds().shows("You said: one").shows("You said: two");
    let told = ran.stdout.matches("[the session is not kept: ").count();
    assert_eq!(told, 1, "{}", ran.transcript());
}
