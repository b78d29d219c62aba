//! Requests that were once read wrongly: messages without words, another task than the one meant, two answers to one.
//!
//! Invariant: what a request says is what is done, once, and what is told is what came of it.

use mock_servers::model::{Block, Role};

use crate::stage::{FILES, Stage};
use crate::teams::play;
use crate::troupe::Troupe;

const ALICE: &str = "Spawn alice as a backend developer. Ask her to create a file called schema.sql with a users table.";

#[test]
fn a_message_has_the_words_it_was_given() {
    let mut troupe = play(18, ALICE);
    for (request, content) in [
        ("Tell alice that lunch is ready", "lunch is ready"),
        ("Ask alice to read schema.sql", "read schema.sql"),
        ("Tell alice \"create c.txt\"", "create c.txt"),
        (
            "Tell alice to also add an orders table",
            "also add an orders table",
        ),
    ] {
        let answer = troupe.ask(request);
        let sent = troupe.inputs("lead", "send_message");
        let sent = sent.last().expect("it was sent");
        assert_eq!(sent["content"], content, "{request}: {answer}");
    }
    let schema = troupe.lead.text("schema.sql");
    let tables = ["CREATE TABLE users (", "CREATE TABLE orders ("];
    assert!(
        tables.iter().all(|table| schema.contains(table)),
        "{schema}"
    );
}

#[test]
fn a_tester_lists_the_contents_and_not_their_first_line() {
    let mut troupe = play(15, ALICE);
    let answer = troupe
        .ask("Spawn bob as a tester. Ask him to check if schema.sql exists and list its contents.");
    for line in ["CREATE TABLE users (", "    name TEXT NOT NULL,", ");"] {
        assert!(answer.contains(line), "{answer}");
    }
}

#[test]
fn an_output_goes_into_the_file_it_is_wanted_in() {
    for (request, path, content) in [
        (
            "list all Python files and write the list to files.txt",
            "files.txt",
            "boil.py\nsrc/pour.py\n",
        ),
        (
            "run `cat boil.py` and save the output to log.txt",
            "log.txt",
            "print('boil')\n",
        ),
        (
            "write the output of `cat boil.py` to log.txt",
            "log.txt",
            "print('boil')\n",
        ),
        (
            "read boil.py and append the result to src/pour.py",
            "src/pour.py",
            "print('pour')\nprint('boil')\n",
        ),
    ] {
        let mut stage = Stage::new(FILES);
        let answer = stage.ask(request).answer;
        assert_eq!(stage.text(path), content, "{request}: {answer}");
    }
}

#[test]
fn one_look_at_the_board_answers_what_it_can_answer() {
    let mut troupe = play(
        12,
        "Create tasks: setup database schema, write docs (depends on schema)",
    );
    troupe.ask("Claim the first unblocked task and complete it");
    let before = troupe.calls.len();
    let answer = troupe.ask("List tasks again — which ones are now unblocked?");
    assert_eq!(troupe.calls.len(), before + 1, "{answer}");
    assert_eq!(answer.matches("[x] 0001-abcdefgh").count(), 1, "{answer}");
    assert!(answer.starts_with("Unblocked now: write docs"), "{answer}");
}

#[test]
fn the_task_that_was_spoken_of_is_claimed_again_and_no_other() {
    let mut troupe = play(12, "Create 3 tasks on the board");
    troupe.ask("Claim the first unblocked task");
    troupe.ask("claim it again");
    let claims = troupe.inputs("lead", "claim_task");
    assert_eq!(claims[1]["task_id"], "0001-abcdefgh", "{claims:?}");
}

#[test]
fn tasks_with_worktrees_and_plans_in_other_words_still() {
    for prompt in [
        "Create two tasks and a worktree for each, then hire alice and bob. Ask both for a plan before they claim.",
        "Set up two tasks with a worktree each, hire alice and bob and ask both for a plan before they claim a task.",
        "Make two tasks and worktrees for them, spawn alice and bob; both shall plan before they claim.",
        "I need two tasks with a worktree each. Spawn alice and bob and let each plan first.",
        "Create two tasks, each with its own worktree, then spawn alice and bob. They must get a plan approved before claiming.",
        "Put two tasks on the board and give each a worktree. Hire alice and bob. I want plans from both before they claim tasks.",
        "Create two tasks, bind a worktree to each, then bring in alice and bob and have them send plans before claiming.",
    ] {
        let troupe = play(18, prompt);
        let tools: Vec<String> = troupe.calls_of("lead");
        let count = |tool: &str| tools.iter().filter(|call| call.starts_with(tool)).count();
        for tool in [
            "create_task",
            "create_worktree",
            "spawn_teammate",
            "request_plan",
            "review_plan",
        ] {
            assert_eq!(count(tool), 2, "{prompt}: {tools:?}");
        }
        for name in ["alice", "bob"] {
            assert_eq!(troupe.inputs(name, "submit_plan").len(), 1, "{prompt}");
            assert_eq!(troupe.inputs(name, "complete_task").len(), 1, "{prompt}");
        }
        let said = troupe.said.join("\n");
        assert!(!said.contains("understand"), "{prompt}: {said}");
    }
}

#[test]
fn a_second_plan_of_one_is_answered_and_not_the_first_of_another() {
    let mut troupe = Troupe::of_chapter(18);
    troupe.ask("Spawn alice and bob. Ask them to submit plans for boil.py first.");
    let reviews = troupe.inputs("lead", "review_plan").len();
    troupe.lead.push(
        Role::User,
        vec![Block::Text(
            "<mail from=\"alice\" type=\"plan_approval_request\">\n1. Again.\n</mail>\nAnswer with review_plan, request_id req_9.".to_owned(),
        )],
    );
    let play = troupe.lead.play();
    assert_eq!(reviews, 2);
    let ids: Vec<&str> = play
        .calls
        .iter()
        .filter_map(|(_, _, input)| input["request_id"].as_str())
        .collect();
    assert_eq!(ids, ["req_9"]);
}

#[test]
fn what_a_team_has_done_is_told_once() {
    let mut troupe = play(
        18,
        "Create 3 tasks on the board, then spawn alice and bob. Watch them auto-claim and work.",
    );
    troupe.ask("Create two tasks and watch them work");
    let said = troupe.said[troupe.said.len() - 2..].join("\n");
    assert_eq!(said.matches("I wait for").count(), 1, "{said}");
    assert_eq!(
        said.matches("Nothing is left on the board.").count(),
        1,
        "{said}"
    );
}

#[test]
fn a_stopped_turn_is_neither_told_again_nor_gone_on_with() {
    let mut troupe = Troupe::of_chapter(18);
    let lead = &mut troupe.lead;
    lead.push(
        Role::User,
        vec![Block::Text(
            "Create two tasks, then spawn alice and bob. Watch them work.".to_owned(),
        )],
    );
    let blocks = lead.reply(0);
    lead.push(Role::Assistant, blocks.clone());
    let answered = blocks.into_iter().filter_map(|block| match block {
        Block::ToolUse { id, name, input } => {
            let (content, is_error) = lead.run(&name, &input);
            Some(Block::ToolResult {
                tool_use_id: id,
                content,
                is_error,
            })
        }
        Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => None,
    });
    let answered: Vec<Block> = answered.collect();
    lead.push(Role::User, answered);
    let note = "[The turn above ended before its answer was complete.]";
    lead.push(Role::User, vec![Block::Text(note.to_owned())]);
    let play = lead.ask("hello");
    assert_eq!(play.calls, [], "{}", play.answer);
    assert!(play.answer.starts_with("Hello!"), "{}", play.answer);
    assert_eq!(play.answer.lines().count(), 1, "{}", play.answer);
}
