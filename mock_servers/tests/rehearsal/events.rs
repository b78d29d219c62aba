//! What happens beside the conversation: jobs that end, prompts that fire.

use mock_servers::model::{Block, Role};

use crate::stage::{FILES, Stage};

const ENDED: &str = "<task_notification>\njob: job_1\nstatus: failed, exit code 2\ncommand: make\n\
                     output: .harness/outputs/job_1-x.txt (9 bytes)\nno rule\n</task_notification>";

/// A message that nobody typed.
fn comes(stage: &mut Stage, text: &str) -> String {
    stage.push(Role::User, vec![Block::Text(text.to_owned())]);
    stage.play().answer
}

#[test]
fn a_notice_that_wakes_the_model_is_told_and_the_request_before_it_not_done_again() {
    let mut stage = Stage::new(FILES);
    stage.ask("list the Python files");
    stage.push(Role::User, vec![Block::Text(ENDED.to_owned())]);
    let play = stage.play();
    assert!(play.calls.is_empty(), "{:?}", play.calls);
    assert_eq!(play.answer, "job_1 (`make`) failed, exit code 2: no rule");
}

#[test]
fn a_notice_in_a_running_turn_is_told_at_its_end() {
    let mut stage = Stage::new(FILES);
    stage.push(
        Role::User,
        vec![Block::Text("list the Python files".to_owned())],
    );
    let call = stage.reply(0);
    let Some(Block::ToolUse { id, .. }) = call
        .iter()
        .find(|block| matches!(block, Block::ToolUse { .. }))
        .cloned()
    else {
        panic!("a call: {call:?}");
    };
    stage.push(Role::Assistant, call);
    let result = Block::ToolResult {
        tool_use_id: id,
        content: "boil.py".to_owned(),
        is_error: false,
    };
    stage.push(Role::User, vec![result, Block::Text(ENDED.to_owned())]);
    assert_eq!(
        stage.play().answer,
        "I found 1 Python file: boil.py.\njob_1 (`make`) failed, exit code 2: no rule"
    );
    assert!(
        !stage.ask("thanks").answer.contains("job_1"),
        "it is told once"
    );
}

#[test]
fn scheduled_prompts_are_requests_also_when_several_fire_together() {
    let mut stage = Stage::new(FILES);
    let answer = comes(&mut stage, "[Scheduled] list the Python files");
    assert!(answer.starts_with("I found 2 Python files: "), "{answer}");
    let answer = comes(
        &mut stage,
        "[Scheduled] list the Python files\n\n[Scheduled] count the lines of README.md\n\
         <missed-at>2026-11-22 09:00; nothing ran then</missed-at>",
    );
    assert!(answer.contains("I found 2 Python files: "), "{answer}");
    assert!(answer.ends_with("README.md has 7 lines."), "{answer}");
    let answer = comes(
        &mut stage,
        &format!("{ENDED}\n\n[Scheduled] count the lines of README.md"),
    );
    assert_eq!(
        answer,
        "README.md has 7 lines.\njob_1 (`make`) failed, exit code 2: no rule"
    );
}
