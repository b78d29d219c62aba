//! The lesson as a class sees it: a request to leave, a plan, and the answers to them.

mod session;

use mock_servers::model::{MockModel, Request, says};
use testkit::team::{self, lead, mail, round, spawn};
use testkit::{Class, leaves_no_trace};

const ALICE: &str =
    "Spawn alice as a backend dev. Ask her to create a file. Then request her shutdown.";
const BOB: &str =
    "Spawn bob with a refactoring task. Have him submit a plan first. Then review and approve it.";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s16_protocol"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .file("hello.py", "print('hello')\n")
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    leaves_no_trace(env!("CARGO_BIN_EXE_s16_protocol"));
}

#[test]
fn the_end_of_the_input_does_not_wait_for_who_is_idle() {
    let lead = |request: &Request| match round(request) {
        0 => spawn("alice", "Say that you are ready."),
        _ => says(mail(request, "alice", "result").concat()),
    };
    let model = team::model(lead, |_| says("I am ready."));
    let ran = class().model(&model).types(&["go"]);
    ran.succeeds().shows("I am ready.").never_shows("[stopped");
}

/// No call of the lead has failed, and no mail came that belongs to no request.
#[track_caller]
fn all_matched(lead: &Request) {
    let results = lead.results();
    assert!(results.iter().all(|(failed, _)| !failed), "{results:?}");
    let texts = lead.user_texts();
    assert!(!texts.join("\n").contains("<mail-ignored"), "{texts:?}");
}

/// The prompt and other words for it, with the model a newcomer meets: the work first, then the request, then its answer.
#[test]
fn the_rehearsal_lets_alice_leave_in_other_words_as_well() {
    for (prompt, file) in [
        (ALICE, "new_file.txt"),
        (
            "Spawn a backend dev named alice, let her create a file called notes.txt, and then dismiss her.",
            "notes.txt",
        ),
        (
            "Recruit alice as a backend developer. Have her make a file. Then shut her down.",
            "new_file.txt",
        ),
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let ran = class.types(&[prompt]);
        ran.succeeds()
            .shows(&format!("alice reports: I created {file}."))
            .shows("alice │ (left as asked)")
            .shows("alice has left as asked.")
            .never_shows("not understand")
            .never_shows("[stopped");
        // Nobody said what it shall hold.
        assert_eq!(class.read(file), "");
        let lead = lead(&model);
        assert_eq!(lead.calls(), [["spawn_teammate"], ["request_shutdown"]]);
        assert!(lead.results()[1].1.starts_with("asked alice to leave (req_"));
        assert_eq!(mail(&lead, "alice", "shutdown_response").len(), 1);
        all_matched(&lead);
        team::assert_knows_its_job_alone(&model, "alice", prompt);
    }
}

/// The prompt and other words for it: a plan, the answer with its id, and only then a change.
#[test]
fn the_rehearsal_approves_bob_s_plan_in_other_words_as_well_and_the_tool_pool_is_known() {
    for prompt in [
        BOB,
        "Recruit bob for a refactoring task. He has to submit a plan first; review it and approve it.",
        "Spawn a developer named bob to refactor hello.py. Have him send you a plan first, then review and approve the plan.",
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let ran = class.types(&[prompt]);
        ran.succeeds()
            .shows("bob │ plan:")
            .shows("bob sends a plan:")
            .shows("bob reports:")
            .never_shows("not understand")
            .never_shows("[stopped");
        assert!(class.read("hello.py").contains("\"\"\""), "a docstring");
        // The plan is on the screen before the answer to it.
        let at = |text: &str| ran.stdout.find(text).unwrap_or_else(|| panic!("{text}"));
        assert!(at("bob │ plan:") < at("> review_plan"), "{}", ran.transcript());
        let lead = lead(&model);
        all_matched(&lead);
        let results = lead.results();
        let approved = results.iter().filter(|(_, text)| text.ends_with(" is approved"));
        let plans = mail(&lead, "bob", "plan_approval_request");
        assert!(!plans.is_empty() && approved.count() == plans.len());
        team::assert_knows_its_job_alone(&model, "bob", prompt);
        team::assert_both_pools(env!("CARGO_MANIFEST_DIR"), &model);
    }
}
