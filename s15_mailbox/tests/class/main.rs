//! The lesson as a class sees it: somebody else works, and what they say comes by itself.

mod terminal;

use std::sync::atomic::{AtomicUsize, Ordering};

use mock_servers::model::{MockModel, Options, Reply, Request, calls, says};
use serde_json::json;
use testkit::team::{self, lead, mail, round, spawn};
use testkit::{Class, leaves_no_trace};

const ALICE: &str = "Spawn alice as a backend developer. Ask her to create a file called schema.sql with a users table.";
const INBOX: &str = "Check your inbox for alice's result.";
const BOB: &str =
    "Spawn bob as a tester. Ask him to check if schema.sql exists and list its contents.";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s15_mailbox")).file("README.md", "# Demo\n\nA small project.\n")
}

/// A lead that spawns alice, calls on until her report has come, and then tells it.
fn lead_of_alice(request: &Request) -> Reply {
    match (mail(request, "alice", "result").pop(), round(request)) {
        (Some(report), _) => says(report),
        (None, 0) => spawn("alice", "Create schema.sql with a users table."),
        (None, _) => calls("read_file", json!({"path": "README.md"})),
    }
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    leaves_no_trace(env!("CARGO_BIN_EXE_s15_mailbox"));
}

#[test]
fn mail_reaches_a_running_turn_behind_the_results() {
    let model = team::model(lead_of_alice, |_| says("It is done."));
    let ran = class().model(&model).types(&["go"]);
    ran.succeeds().shows("It is done.");
}

#[test]
fn the_tool_pool() {
    let model = team::model(lead_of_alice, |_| says("It is done."));
    class().model(&model).types(&["go"]).succeeds();
    team::assert_both_pools(env!("CARGO_MANIFEST_DIR"), &model);
}

#[test]
fn the_team_command_costs_no_request() {
    let model = MockModel::scripted([]);
    let ran = class().model(&model).types(&["/team"]);
    ran.succeeds().shows("there is no teammate yet");
}

#[test]
fn a_teammate_s_question_names_it_and_the_end_of_the_input_is_a_no() {
    let model = team::model(lead_of_alice, |request| match round(request) {
        0 => calls("bash", json!({"command": "touch schema.sql"})),
        _ => says(request.results()[0].1.clone()),
    });
    let class = class().model(&model);
    let ran = class.types(&["go"]);
    ran.succeeds()
        .shows("alice │ bash needs permission")
        .shows("touch schema.sql");
    assert!(!class.dir().join("schema.sql").exists());
    let told = mail(&model.last_request(), "alice", "result");
    let why = "nobody was there to answer";
    assert!(told[0].contains(why), "{told:?}");
}

#[test]
fn a_teammate_s_conversation_that_grows_too_long_is_shortened_and_it_goes_on() {
    let options = Options {
        context_tokens: 30_000,
        ..Options::strict()
    };
    let rounds = AtomicUsize::new(0);
    let brain = move |request: &Request| {
        if request.system.starts_with("You summarize a conversation") {
            return says("Alice was asked to read on, and has read.");
        }
        match team::teammate(request) {
            None if round(request) == 0 => spawn("alice", "Read long.txt eight times."),
            None => says("Noted."),
            Some(_) if rounds.fetch_add(1, Ordering::Relaxed) < 8 => {
                calls("read_file", json!({"path": "long.txt"}))
            }
            Some(_) => says("I have read it eight times."),
        }
    };
    let model = MockModel::start(options, brain).unwrap();
    class()
        .file("long.txt", "a line of the long file\n".repeat(1_000))
        .env("MODEL_CONTEXT_TOKENS", "30000")
        .model(&model)
        .types(&["go"])
        .succeeds()
        .shows("alice │ I have read it eight times.");
    let refused = model.refusals();
    assert!(!refused.is_empty(), "the conversation was too long once");
    for refusal in refused {
        assert!(refusal.message.contains("too long"), "{refusal:?}");
    }
}

/// How often the lead has called a tool.
fn count(request: &Request, tool: &str) -> usize {
    let calls = request.calls().into_iter().flatten();
    calls.filter(|called| called == tool).count()
}

/// The prompt and other words for it, with the model a newcomer meets: the report comes, and nobody asks for it.
#[test]
fn the_rehearsal_spawns_alice_in_other_words_as_well() {
    for (prompt, typed) in [
        (ALICE, true),
        (ALICE, false),
        (
            "Recruit alice as a database developer. She should make schema.sql with a users table.",
            true,
        ),
        (
            "Spawn a teammate, alice, for the backend. Tell her to make a schema.sql with a users table.",
            true,
        ),
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let ran = if typed {
            class.types(&[prompt])
        } else {
            class.asks(prompt)
        };
        ran.succeeds()
            .shows("alice │ > write_file  path=schema.sql")
            .shows("alice reports: I created schema.sql.")
            .never_shows("not understand");
        assert!(class.read("schema.sql").contains("CREATE TABLE users"));
        assert_eq!(lead(&model).calls(), [["spawn_teammate"]], "{prompt}");
        team::assert_knows_its_job_alone(&model, "alice", prompt);
    }
}

/// Whether she is done by then or not, the inbox is looked into once and her result is told.
#[test]
fn the_rehearsal_looks_into_the_inbox_in_other_words_as_well() {
    for prompt in [
        INBOX,
        "Open your mailbox: what did alice write?",
        "Is there mail for you?",
    ] {
        let model = MockModel::strict_rehearsal();
        let ran = class().model(&model).types(&[ALICE, prompt]);
        ran.succeeds()
            .shows("alice reports: I created schema.sql.")
            .never_shows("not understand");
        let last = lead(&model);
        assert_eq!(count(&last, "check_inbox"), 1, "{}", ran.transcript());
        assert_eq!(count(&last, "spawn_teammate"), 1, "{}", ran.transcript());
    }
}

#[test]
fn the_rehearsal_lets_bob_look_in_other_words_as_well() {
    for prompt in [
        BOB,
        "Recruit bob as a tester, and let him find out if schema.sql exists and print its contents.",
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let class = class.file("schema.sql", "CREATE TABLE users (\n  id INTEGER\n);\n");
        let ran = class.types(&[prompt]);
        ran.succeeds()
            .shows("bob │ > read_file  schema.sql")
            .shows("bob │     id INTEGER")
            .shows("bob reports:")
            .never_shows("not understand");
        let (_, told) = ran.stdout.split_once("bob reports:").unwrap();
        assert!(told.contains("CREATE TABLE users"), "{}", ran.transcript());
        assert_eq!(lead(&model).calls(), [["spawn_teammate"]], "{prompt}");
        team::assert_knows_its_job_alone(&model, "bob", prompt);
    }
    let ran = class().model(&MockModel::strict_rehearsal()).types(&[BOB]);
    ran.succeeds()
        .shows("bob reports: schema.sql does not exist.");
}

#[test]
fn the_rehearsal_lets_alice_write_to_bob() {
    let model = MockModel::strict_rehearsal();
    let prompt =
        "Spawn alice and bob. Ask bob to run `true`. Ask alice to tell bob that the tests pass.";
    let ran = class().model(&model).types(&[prompt]);
    ran.succeeds()
        .shows("alice │ > send_message  to=bob content=\"The tests pass.\"")
        .never_shows("not understand");
}

/// The three prompts one after the other, each at the prompt that the one before has left.
#[test]
fn the_rehearsal_plays_the_whole_lesson_at_a_terminal() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    let mut terminal = class.terminal(160, 60);
    terminal.wait_for("s15 >>");
    for (prompt, told) in [
        (ALICE, "\nalice reports: I created schema.sql."),
        (
            INBOX,
            "\nThere is no new mail. This came by itself before: alice reports: I created schema.sql.",
        ),
        (BOB, "\nbob reports:"),
    ] {
        terminal.type_line(prompt).wait_for_below(told, "\ns15 >>");
    }
    let screen = terminal.screen();
    let (_, told) = screen.split_once("\nbob reports:").unwrap();
    assert!(told.contains("CREATE TABLE users"), "{screen}");
    let expected = [["spawn_teammate"], ["check_inbox"], ["spawn_teammate"]];
    assert_eq!(lead(&model).calls(), expected);
    for (name, typed) in [("alice", ALICE), ("bob", BOB)] {
        team::assert_knows_its_job_alone(&model, name, typed);
    }
}
