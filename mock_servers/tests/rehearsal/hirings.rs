//! What was understood wrongly in requests to a team: who is hired, who is given what, and what comes of it.

use crate::teams::{last, play};
use crate::troupe::Troupe;

#[test]
fn whoever_hands_out_tasks_is_no_teammate() {
    for prompt in [
        "Create two tasks, then spawn carol and dave and hand each of them a task",
        "Create two tasks. Spawn carol and dave. Hand each of them a task to do.",
        "Create two tasks, spawn carol and dave, assign each one a task",
        "Create two tasks, then spawn carol and dave. Assign each of them a task.",
        "Create two tasks, then start carol and dave and let them take the tasks",
        "Put 2 tasks on the board. Launch carol and dave. Let each do one task.",
        "Create two tasks, then create worktrees for each. Spawn carol and dave and let each do one task in its worktree.",
    ] {
        let troupe = play(17, prompt);
        let hired = troupe.inputs("lead", "spawn_teammate");
        let names: Vec<&str> = hired
            .iter()
            .filter_map(|input| input["name"].as_str())
            .collect();
        assert_eq!(names, ["carol", "dave"], "{prompt}");
        for (number, input) in (1..).zip(&hired) {
            let given = format!("Your task is {number:04}-abcdefgh: ");
            assert!(
                input["prompt"].as_str().unwrap().starts_with(&given),
                "{prompt}: {input}"
            );
        }
        assert!(troupe.lead.has("notes/tools.md"), "{prompt}");
    }
}

#[test]
fn to_find_work_is_to_look_at_the_board() {
    for prompt in [
        "Put two tasks on the board, then hire carol and dave and let them find their work",
        "Create two tasks, then spawn carol and dave and let them share the tasks among themselves",
        "Create 2 tasks. Spawn carol and dave and have them pick what to do from the board.",
    ] {
        let troupe = play(18, prompt);
        for input in troupe.inputs("lead", "spawn_teammate") {
            let told = input["prompt"].as_str().unwrap();
            assert!(told.starts_with("Look at the board"), "{prompt}: {told}");
        }
        let done = ["carol", "dave"].map(|name| troupe.inputs(name, "complete_task").len());
        assert_eq!(done, [1, 1], "{prompt}");
    }
}

#[test]
fn teammates_without_names_are_given_some() {
    for (prompt, count) in [
        ("Create 3 tasks, spawn two teammates and watch them work", 2),
        ("Create 3 tasks. Spawn 3 agents and watch them work.", 3),
    ] {
        let troupe = play(18, prompt);
        assert_eq!(troupe.mates.len(), count, "{prompt}");
        assert!(
            last(&troupe).ends_with("Nothing is left on the board."),
            "{prompt}"
        );
    }
    let troupe = play(15, "start redis and postgres");
    assert!(troupe.mates.is_empty(), "programs are no teammates");
}

#[test]
fn a_table_is_called_what_it_was_asked_to_be_called() {
    for prompt in [
        "Spawn alice as a backend developer. Ask her to create a users table in schema.sql.",
        "Spawn alice to write a users table in schema.sql",
        "Spawn alice. Ask her to put a users table into schema.sql.",
        "Spawn alice and tell her to create schema.sql containing a users table",
        "Create schema.sql with a users table",
    ] {
        let troupe = play(15, prompt);
        let schema = troupe.lead.text("schema.sql");
        assert!(
            schema.starts_with("CREATE TABLE users (") && schema.contains("email"),
            "{prompt}: {schema}"
        );
    }
}

#[test]
fn every_step_of_a_plan_says_something() {
    for job in [
        "do a refactoring task on boil.py",
        "create hello.txt and b.txt",
        "create hello.py, count the lines of boil.py, read boil.py, and say hello",
        "write tests for boil.py. Thank you. ...",
        "create a.txt, tell who does what, and tell me the time",
    ] {
        let prompt = format!("Spawn bob to {job}. Have him submit a plan first.");
        let troupe = play(16, &prompt);
        let plans = troupe.inputs("bob", "submit_plan");
        let plan = plans[0]["plan"].as_str().expect("a plan is a text");
        for line in plan.lines() {
            let step = line.split_once(". ").map_or(line, |(_, step)| step);
            assert!(step.contains(char::is_alphanumeric), "{job}: {plan}");
        }
        let boil = troupe.lead.text("boil.py");
        assert!(boil.contains("print('boil')"), "{job}: {boil}");
    }
}

#[test]
fn what_is_not_understood_takes_five_lines() {
    let troupe = play(18, "Solve world hunger");
    let answer = last(&troupe);
    assert!(answer.lines().count() <= 5, "{answer}");
    assert!(
        answer.lines().all(|line| line.len() <= 150),
        "each fits in two lines of a terminal: {answer}"
    );
    let all = play(18, "what else can you do?");
    assert!(last(&all).contains("ask a teammate to leave"));
}

#[test]
fn a_second_plan_of_the_first_teammate_is_answered_itself() {
    let mut troupe = Troupe::of_chapter(18);
    troupe.ask(
        "Spawn alice and bob as developers. Ask them to submit plans before they create a.txt.",
    );
    troupe.mail_to_lead(&troupe.plan("alice", "req_3"));
    while troupe.someone_works() {}
    let answered = troupe.inputs("lead", "review_plan");
    let ids: Vec<_> = answered.iter().map(|input| &input["request_id"]).collect();
    assert_eq!(ids, ["req_1", "req_2", "req_3"]);
}
