//! The board through its public handle: rules, damaged files, and many processes at once.

mod processes;

use std::fs;

use s12_tasks::Status;
use serde_json::{Value, json};

use crate::desk::Desk;

fn refusal<T: std::fmt::Debug>(result: anyhow::Result<T>) -> String {
    format!("{:#}", result.unwrap_err())
}

#[test]
fn tasks_of_one_reply_name_each_other_by_subject() {
    let desk = Desk::new();
    let schema = desk.task("setup database schema", &[]);
    let api = desk.task("create API endpoints", &[" Setup  Database Schema "]);
    assert_eq!(api.blocked_by, vec![schema.id.clone()]);
    let tests = desk.task("write tests", &[&api.id, &api.id]);
    assert_eq!(tests.blocked_by, [api.id]);
}

/// Of two calls that block each other the first names what is not there yet, so a cycle cannot be made.
#[test]
fn a_blocker_that_is_not_there_would_block_for_ever_and_is_refused() {
    let desk = Desk::new();
    for (subject, blockers, why) in [
        ("write tests", &["endpoints"][..], "neither an id nor a subject"),
        ("chicken", &["egg"], "neither an id nor a subject"),
        ("egg", &["chicken"], "neither an id nor a subject"),
        ("write tests", &["Write tests"], "blocked by itself"),
        (" ", &[], "the subject is empty"),
    ] {
        let refused = refusal(desk.try_task(subject, blockers));
        assert!(refused.contains(why), "{refused}");
    }
    assert_eq!(desk.board.list().unwrap().0.len(), 0);
}

#[test]
fn a_subject_that_two_tasks_bear_is_refused_until_one_is_done() {
    let desk = Desk::new();
    let [first, second] = [desk.task("build", &[]), desk.task("build", &[])];
    let both = refusal(desk.try_task("ship", &["build"]));
    assert!(both.contains(&first.id) && both.contains(&second.id), "{both}");
    desk.done(&first);
    assert_eq!(desk.task("ship", &["build"]).blocked_by, [second.id]);
}

#[test]
fn a_blocked_task_cannot_be_claimed_until_its_blockers_are_completed() {
    let desk = Desk::new();
    let schema = desk.task("schema", &[]);
    let docs = desk.task("docs", &["schema"]);
    let blocked = refusal(desk.board.claim(&docs.id, "lead"));
    assert!(blocked.contains(&format!("is blocked by {}", schema.id)), "{blocked}");
    desk.board.claim(&schema.id, "lead").unwrap();
    let (_, freed) = desk.board.complete(&schema.id, "lead").unwrap();
    assert_eq!(freed, vec![docs.clone()]);
    assert_eq!(desk.board.claim(&docs.id, "bob").unwrap().owner.as_deref(), Some("bob"));
}

#[test]
fn only_the_owner_completes_a_task() {
    let desk = Desk::new();
    let board = &desk.board;
    let id = desk.task("build", &[]).id;
    let refused = |result, why: &str| {
        let refused = refusal(result);
        assert!(refused.contains(why), "{refused}");
    };
    let complete = |agent| board.complete(&id, agent).map(|(task, _)| task);
    refused(complete("bob"), "belongs to nobody");
    board.claim(&id, "alice").unwrap();
    refused(complete("bob"), "belongs to alice");
    refused(board.claim(&id, "bob"), "belongs to alice");
    // She is not sent to another one.
    refused(board.claim(&id, "alice"), "is yours already");
    complete("alice").unwrap();
    refused(board.claim(&id, "bob"), "completed already");
}

#[test]
fn a_name_in_another_session_is_another_agent() {
    let desk = Desk::new();
    let task = desk.task("build", &[]);
    let other = desk.another_session();
    desk.board.claim(&task.id, "alice").unwrap();
    let theirs = "belongs to alice of another session";
    assert!(refusal(other.complete(&task.id, "alice")).contains(theirs));
    assert!(refusal(other.claim(&task.id, "alice")).contains(theirs));
    assert!(other.held_by("alice").unwrap().is_empty());
    assert_eq!(desk.board.held_by("alice").unwrap().len(), 1);
    // Looking for what an agent holds begins no session.
    let sessions = fs::read_dir(desk.ws.state("sessions")).unwrap();
    assert_eq!(sessions.count(), 1);
}

#[test]
fn the_task_of_an_owner_who_is_gone_is_free_again() {
    let desk = Desk::new();
    let task = desk.task("build", &[]);
    let gone = desk.another_session();
    gone.claim(&task.id, "lead").unwrap();
    assert!(!desk.board.get(&task.id).unwrap().is_orphan);
    drop(gone);
    assert!(desk.board.get(&task.id).unwrap().is_orphan);
    let early = refusal(desk.board.complete(&task.id, "lead"));
    assert!(early.contains("in a session that has ended; claim it first"), "{early}");
    let claimed = desk.board.claim(&task.id, "bob").unwrap();
    assert_eq!(claimed.owner.as_deref(), Some("bob"));
    desk.board.complete(&task.id, "bob").unwrap();
}

#[test]
fn an_agent_that_leaves_gives_its_task_back() {
    let desk = Desk::new();
    let task = desk.task("build", &[]);
    desk.board.claim(&task.id, "alice").unwrap();
    assert_eq!(desk.board.release("alice").unwrap().len(), 1);
    let free = desk.board.get(&task.id).unwrap();
    assert!(free.is_claimable());
    assert_eq!(desk.board.claim_first("bob", |_| true).unwrap().unwrap().id, task.id);
    assert_eq!(desk.board.claim_first("bob", |_| true).unwrap(), None);
}

#[test]
fn fields_of_a_newer_program_outlive_a_claim() {
    let desk = Desk::new();
    let stored = json!({"version": 9, "id": "0001-new", "subject": "build", "status": "pending",
        "blockedBy": [], "lane": {"name": "x"}});
    let path = desk.ws.state("tasks/0001-new.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, stored.to_string()).unwrap();
    desk.board.claim("0001-new", "lead").unwrap();
    let kept: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(kept["lane"], json!({"name": "x"}));
    assert_eq!(kept["version"], 9);
    assert_eq!(kept["status"], "in_progress");
}

#[test]
fn a_damaged_file_is_named_and_set_aside_and_harms_no_other() {
    let desk = Desk::new();
    let task = desk.task("build", &[]);
    let folder = desk.ws.state("tasks");
    fs::write(folder.join("0000-half.json"), "{\"version\": 1, \"id\"").unwrap();
    fs::write(
        folder.join("0000-other.json"),
        fs::read(folder.join(format!("{}.json", task.id))).unwrap(),
    )
    .unwrap();
    let (listed, damaged) = desk.board.list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(damaged.len(), 2, "{damaged:?}");
    assert!(
        damaged.iter().all(|sentence| sentence.contains("moved to tasks/damaged/")),
        "{damaged:?}"
    );
    assert_eq!(
        fs::read_to_string(folder.join("damaged/0000-half.json")).unwrap(),
        "{\"version\": 1, \"id\""
    );
    assert_eq!(desk.board.list().unwrap().1.len(), 0, "said once");
}

#[test]
fn a_blocker_whose_file_is_gone_blocks_nothing() {
    let desk = Desk::new();
    let schema = desk.task("schema", &[]);
    let docs = desk.task("docs", &["schema"]);
    fs::remove_file(desk.ws.state(&format!("tasks/{}.json", schema.id))).unwrap();
    assert_eq!(desk.board.get(&docs.id).unwrap().waits_for.len(), 0);
    desk.board.claim(&docs.id, "lead").unwrap();
}

#[test]
fn an_id_that_leads_elsewhere_is_no_task() {
    let desk = Desk::new();
    desk.task("build", &[]);
    for id in ["../settings", "a/b", "", "0001-\n", "/etc/passwd"] {
        let refused = refusal(desk.board.claim(id, "lead"));
        assert!(refused.contains("there is no task"), "{refused}");
    }
    assert_eq!(desk.board.list().unwrap().0[0].task.status, Status::Pending);
}
