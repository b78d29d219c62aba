//! The lesson as a class sees it: somebody else works, and what they say comes by itself.

mod session;
mod terminal;

use mock_servers::model::{MockModel, Reply, Request, calls, says};
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
fn mail_reaches_a_running_turn_behind_the_results_and_the_tool_pool_is_known() {
    let model = team::model(lead_of_alice, |_| says("It is done."));
    let ran = class().model(&model).types(&["go"]);
    ran.succeeds().shows("It is done.");
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
    ran.succeeds().shows("alice │ bash needs permission").shows("touch schema.sql");
    assert!(!class.dir().join("schema.sql").exists());
    let told = mail(&model.last_request(), "alice", "result");
    let why = "nobody was there to answer";
    assert!(told[0].contains(why), "{told:?}");
}

/// Other words than the prompts', with the model a newcomer meets: the report comes, and nobody asks for it.
#[test]
fn the_rehearsal_understands_other_words_as_well() {
    let made =
        &["alice │ > write_file  path=schema.sql", "alice reports: I created schema.sql."][..];
    for (prompt, shown) in [
        (
            "Recruit alice as a database developer. She should make schema.sql with a users table.",
            made,
        ),
        (
            "Spawn alice as a database developer. Tell her to make a schema.sql with a users table.",
            made,
        ),
        (
            "Recruit bob as a tester, and let him find out if schema.sql exists and print its contents.",
            &["bob reports: schema.sql does not exist."],
        ),
        (
            "Spawn alice and bob. Ask bob to run `true`. Ask alice to tell bob that the tests pass.",
            &["alice │ > send_message  to=bob content=\"The tests pass.\""],
        ),
    ] {
        let ran = class().model(&MockModel::strict_rehearsal()).types(&[prompt]);
        shown.iter().for_each(|text| {
            ran.succeeds().shows(text).never_shows("not understand");
        });
    }
    for asked in ["Open your mailbox: what did alice write?", "Is there mail for you?"] {
        let model = MockModel::strict_rehearsal();
        let ran = class().model(&model).types(&[ALICE, asked]);
        ran.succeeds().shows(made[1]).shows("> check_inbox").never_shows("not understand");
    }
    class().model(&MockModel::strict_rehearsal()).asks(ALICE).succeeds().shows(made[1]);
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
