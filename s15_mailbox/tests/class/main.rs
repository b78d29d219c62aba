//! The lesson as a class sees it: somebody else works, and what they say comes by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mock_servers::model::{Block, MockModel, Options, Reply, Request, Role, calls, says};
use serde_json::json;
use testkit::{Class, Ran, assert_pool};

const ALICE: &str = "Spawn alice as a backend developer. Ask her to create a file called schema.sql with a users table.";
const INBOX: &str = "Check your inbox for alice's result.";
const BOB: &str =
    "Spawn bob as a tester. Ask him to check if schema.sql exists and list its contents.";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s15_mailbox")).file("README.md", "# Demo\n\nA small project.\n")
}

/// The name of the teammate that asks; none for the lead.
fn teammate(request: &Request) -> Option<&str> {
    let (_, rest) = request.system.split_once("You are a teammate named '")?;
    rest.split('\'').next()
}

/// What the model itself has said and called in this conversation.
fn own(request: &Request) -> Vec<Block> {
    let own = request.messages.iter();
    let own = own.filter(|message| message.role == Role::Assistant);
    own.flat_map(|message| message.blocks.clone()).collect()
}

/// The newest request of the lead's conversation.
fn lead(model: &MockModel) -> Arc<Request> {
    let leads = |request: &&Arc<Request>| request.tool_names().contains(&"spawn_teammate".into());
    let requests = model.requests();
    requests.iter().rfind(leads).expect("the lead asks").clone()
}

/// A teammate is an agent of its own: its system prompt names it, its conversation begins with its job, and neither what
/// was typed nor what the lead has said or can call is in it.
#[track_caller]
fn knows_its_job_alone(model: &MockModel, name: &str, typed: &str) {
    let lead = lead(model);
    let own_of_lead = own(&lead);
    let job = own_of_lead.iter().find_map(|block| match block {
        Block::ToolUse { input, .. } if input["name"] == name => input["prompt"].as_str(),
        _ => None,
    });
    let requests = model.requests();
    let mut asked = 0;
    for request in requests.iter().filter(|of| teammate(of) == Some(name)) {
        asked += 1;
        assert_ne!(request.system, lead.system);
        assert_eq!(request.user_texts().first().map(String::as_str), job);
        let body = String::from_utf8_lossy(&request.body);
        assert!(!body.contains(typed), "{body}");
        assert!(!body.contains("spawn_teammate"), "{body}");
        for block in own_of_lead.iter() {
            if let Block::Text(said) = block {
                assert!(!body.contains(said.as_str()), "{said:?} is in {body}");
            }
        }
    }
    assert!(asked > 0, "{name} has asked nothing");
}

/// A model in which the lead and the teammates think each for itself.
fn model(lead: fn(&Request) -> Reply, mate: fn(&Request) -> Reply) -> MockModel {
    let brain = move |request: &Request| match request.system.contains("You are a teammate named") {
        true => mate(request),
        false => lead(request),
    };
    MockModel::start(Options::strict(), brain).unwrap()
}

fn spawn(name: &str, prompt: &str) -> Reply {
    let input = json!({"name": name, "role": "backend developer", "prompt": prompt});
    calls("spawn_teammate", input)
}

/// Whether mail of this kind has reached this conversation.
fn has_mail(request: &Request, from: &str, kind: &str) -> bool {
    let head = format!("<mail from=\"{from}\" type=\"{kind}\">");
    let results = request.results();
    let results = results.iter().map(|(_, text)| text.clone());
    let mut texts = results.chain(request.user_texts());
    texts.any(|text| text.contains(&head))
}

fn round(request: &Request) -> usize {
    request.results().len()
}

/// The lead of the first prompt: it spawns alice, and its turn is over before she is done, or not.
fn lead_of_alice(request: &Request) -> Reply {
    match (has_mail(request, "alice", "result"), round(request)) {
        (true, _) => says("Alice has created schema.sql."),
        (false, 0) => spawn("alice", "Create schema.sql with a users table."),
        (false, _) => says("Alice is at work."),
    }
}

fn alice(request: &Request) -> Reply {
    let content = "CREATE TABLE users (id INTEGER PRIMARY KEY);\n";
    match round(request) {
        0 => calls(
            "write_file",
            json!({"path": "schema.sql", "content": content}),
        ),
        _ => says("schema.sql has a users table."),
    }
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s15_mailbox"));
}

#[test]
fn alice_works_and_her_report_comes_by_itself() {
    for typed in [true, false] {
        let model = model(lead_of_alice, alice);
        let class = class().model(&model);
        let ran = match typed {
            true => class.types(&[ALICE]),
            false => class.asks(ALICE),
        };
        ran.succeeds()
            .shows("alice │ > write_file  path=schema.sql");
        ran.shows("Alice has created schema.sql.");
        assert!(class.read("schema.sql").contains("users"));
        let lead: Vec<_> = model.requests();
        let lead = lead
            .iter()
            .filter(|request| !request.system.contains("teammate named"));
        assert!(lead.count() <= 4, "nobody asks again and again");
    }
}

#[test]
fn the_inbox_can_be_asked_and_says_that_mail_comes_by_itself() {
    let model = MockModel::scripted([calls("check_inbox", json!({})), says("Nothing yet.")]);
    class().model(&model).types(&[INBOX]).succeeds();
    assert_eq!(
        model.last_request().results(),
        [(
            false,
            "no new mail; what comes later reaches you by itself".to_owned()
        )]
    );
}

#[test]
fn bob_looks_at_what_alice_has_left() {
    let model = model(
        |request| match (has_mail(request, "bob", "result"), round(request)) {
            (true, _) => says("Bob has found it."),
            (false, 0) => spawn("bob", "Check whether schema.sql exists; list its contents."),
            (false, _) => says("Bob looks."),
        },
        |request| match round(request) {
            0 => calls("read_file", json!({"path": "schema.sql"})),
            _ => says(format!("It exists: {}", request.results()[0].1)),
        },
    );
    let ran = class()
        .file("schema.sql", "CREATE TABLE users;\n")
        .model(&model)
        .types(&[BOB]);
    ran.succeeds().shows("Bob has found it.");
    let last = model.last_request();
    let report = last
        .user_texts()
        .into_iter()
        .find(|text| text.contains("It exists"));
    assert!(report.is_some_and(|report| report.contains("CREATE TABLE users")));
}

#[test]
fn mail_reaches_a_running_turn_behind_the_results() {
    let model = model(
        |request| match (has_mail(request, "alice", "result"), round(request)) {
            (true, _) => says("I have her report."),
            (false, 0) => spawn("alice", "Create schema.sql."),
            (false, _) => calls("read_file", json!({"path": "README.md"})),
        },
        alice,
    );
    let ran = class().model(&model).types(&["go"]);
    ran.succeeds().shows("I have her report.");
}

#[test]
fn mail_wakes_a_session_that_was_asked_something_else_meanwhile() {
    let model = model(
        |request| match request.user_texts().last().unwrap().as_str() {
            "go" if round(request) == 0 => spawn("alice", "Create schema.sql."),
            text if text.starts_with("<mail") => says("I have her report."),
            _ => says("Well."),
        },
        alice,
    );
    let ran = class().model(&model).types(&["go", "/team", "and you?"]);
    ran.succeeds()
        .shows("alice  backend developer  ")
        .shows("I have her report.");
}

#[test]
fn the_team_command_costs_no_request() {
    let model = MockModel::scripted([]);
    class()
        .model(&model)
        .types(&["/team"])
        .succeeds()
        .shows("there is no teammate yet");
}

#[test]
fn a_teammate_s_question_names_it_and_the_end_of_the_input_is_a_no() {
    let model = model(lead_of_alice, |request| match round(request) {
        0 => calls("bash", json!({"command": "touch schema.sql"})),
        _ => says(request.results()[0].1.clone()),
    });
    let class = class().model(&model);
    let ran = class.types(&["go"]);
    ran.succeeds()
        .shows("alice │ bash needs permission")
        .shows("touch schema.sql");
    assert!(!class.dir().join("schema.sql").exists());
    let last = model.last_request();
    let told = last
        .user_texts()
        .into_iter()
        .find(|text| text.contains("type=\"result\""));
    assert!(told.is_some_and(|told| told.contains("nobody was there to answer")));
}

#[test]
fn a_message_to_a_teammate_that_has_left_says_so() {
    let model = model(
        |request| match (has_mail(request, "alice", "result"), round(request)) {
            (true, 1) => calls("send_message", json!({"to": "alice", "content": "Thanks."})),
            (_, 0) => spawn("alice", "Create schema.sql."),
            (true, _) => says(request.results().last().unwrap().1.clone()),
            (false, _) => says("She is at work."),
        },
        alice,
    );
    class()
        .model(&model)
        .types(&["go"])
        .succeeds()
        .shows("there is no agent \"alice\"");
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
        if !request.system.contains("You are a teammate named") {
            return lead_of_alice(request);
        }
        match rounds.fetch_add(1, Ordering::Relaxed) {
            0..8 => calls("read_file", json!({"path": "long.txt"})),
            _ => says("I have read it eight times."),
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
    assert!(
        refused
            .iter()
            .all(|refusal| refusal.message.contains("too long")),
        "{refused:?}"
    );
}

#[test]
fn the_tool_pool() {
    let model = model(lead_of_alice, alice);
    let ran: Ran = class().model(&model).types(&["go"]);
    ran.succeeds();
    let offered = |is_mate: bool| {
        let requests = model.requests();
        let of = |request: &&std::sync::Arc<Request>| {
            request.system.contains("You are a teammate named") == is_mate
        };
        requests.iter().find(of).unwrap().tool_names()
    };
    let (lead, mate) = (offered(false), offered(true));
    assert_pool(
        env!("CARGO_MANIFEST_DIR"),
        [("lead", lead), ("teammate", mate)],
    );
}

/// How often the lead has called a tool.
fn count(request: &Request, tool: &str) -> usize {
    let calls = request.calls().into_iter().flatten();
    calls.filter(|called| called == tool).count()
}

/// The prompt and other words for it, with the model a newcomer meets: the report comes, and nobody asks for it.
#[test]
fn the_rehearsal_spawns_alice_in_other_words_as_well() {
    for prompt in [
        ALICE,
        "Recruit alice as a database developer. She should make schema.sql with a users table.",
        "Spawn a teammate, alice, for the backend. Tell her to make a schema.sql with a users table.",
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let ran = class.types(&[prompt]);
        ran.succeeds()
            .shows("alice │ > write_file  path=schema.sql")
            .shows("alice reports: I created schema.sql.")
            .never_shows("not understand");
        assert!(class.read("schema.sql").contains("CREATE TABLE users"));
        assert_eq!(lead(&model).calls(), [["spawn_teammate"]], "{prompt}");
        knows_its_job_alone(&model, "alice", prompt);
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
        knows_its_job_alone(&model, "bob", prompt);
    }
    let ran = class().model(&MockModel::strict_rehearsal()).types(&[BOB]);
    ran.succeeds()
        .shows("bob reports: schema.sql does not exist.");
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
        terminal.type_line(prompt);
        terminal.wait_until(&format!("a prompt below {told:?}"), |screen| {
            let below = screen.split_once(told).map_or("", |(_, below)| below);
            below.contains("\ns15 >>")
        });
    }
    let bob = terminal.screen();
    let (_, told) = bob.split_once("\nbob reports:").unwrap();
    assert!(told.contains("CREATE TABLE users"), "{bob}");
    let last = lead(&model);
    assert_eq!(
        last.calls(),
        [["spawn_teammate"], ["check_inbox"], ["spawn_teammate"]]
    );
    for (name, typed) in [("alice", ALICE), ("bob", BOB)] {
        knows_its_job_alone(&model, name, typed);
    }
}
