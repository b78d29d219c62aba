//! What starts a job, what does not, and what the model is told at once.

use std::fs;

use serde_json::json;

use crate::Desk;

#[tokio::test]
async fn a_job_is_answered_at_once_and_read_while_it_runs() {
    let desk = Desk::new();
    let told = desk.start("printf begun; cat gate; echo ' and done'").await;
    assert!(
        told.starts_with("job_1 runs in the background; a notice comes by itself"),
        "{told}"
    );
    assert_eq!(desk.jobs.running().len(), 1);
    let output = desk.output(&told);
    // The job reaches its gate after it has written; whoever opens the gate waits for that.
    desk.open_gate().await;
    let notice = desk.notice().await;
    assert_eq!(desk.output(&notice), output);
    assert_eq!(fs::read_to_string(output).unwrap(), "begun and done\n");
    assert!(desk.jobs.running().is_empty());
}

#[tokio::test]
async fn half_a_line_is_in_the_file_before_its_end_comes() {
    let desk = Desk::new();
    let told = desk.start("printf half; cat gate").await;
    let output = desk.output(&told);
    while fs::read_to_string(&output).unwrap() != "half" {
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.jobs.running().len(), 1);
    desk.open_gate().await;
    desk.notice().await;
}

#[tokio::test]
async fn a_command_goes_to_the_background_only_when_the_model_asks() {
    let desk = Desk::new();
    fs::write(desk.dir.path().join("latest.txt"), "cargo test passed\n").unwrap();
    for input in [
        json!({"command": "cat latest.txt"}),
        json!({"command": "cat latest.txt", "run_in_background": false}),
    ] {
        assert_eq!(desk.call(input).await.text, "cargo test passed");
    }
    assert!(desk.jobs.running().is_empty() && !desk.ws.state("outputs").exists());
}

#[tokio::test]
async fn a_wrong_argument_is_named_and_starts_nothing() {
    let desk = Desk::new();
    let input = json!({"command": "touch made", "run_in_background": "perhaps"});
    let output = desk.call(input).await;
    assert!(
        output.is_error && output.text.contains("run_in_background"),
        "{}",
        output.text
    );
    assert!(desk.jobs.running().is_empty() && !desk.dir.path().join("made").exists());
}

#[tokio::test]
async fn a_fatal_command_is_refused_in_the_background_too() {
    let desk = Desk::new();
    let input = json!({"command": "sudo ls", "run_in_background": true});
    let output = desk.call(input).await;
    assert!(
        output.is_error && output.text.starts_with("refused: `sudo`"),
        "{}",
        output.text
    );
    assert!(desk.jobs.running().is_empty() && desk.notices.take().is_empty());
}

#[tokio::test]
async fn a_job_whose_output_cannot_be_kept_does_not_start() {
    let desk = Desk::new();
    fs::create_dir(desk.dir.path().join(".harness")).unwrap();
    fs::write(desk.ws.state("outputs"), "in the way").unwrap();
    let input = json!({"command": "touch made", "run_in_background": true});
    let output = desk.call(input).await;
    assert!(
        output.is_error && output.text.contains("creating"),
        "{}",
        output.text
    );
    assert!(!desk.dir.path().join("made").exists());
}

#[tokio::test]
async fn the_same_tool_use_id_twice_is_two_jobs_with_two_outputs() {
    let desk = Desk::new();
    let [one, other] = [desk.start("echo one").await, desk.start("echo other").await];
    assert!(one.starts_with("job_1 ") && other.starts_with("job_2 "));
    let mut seen = String::new();
    while !(seen.contains("job: job_1") && seen.contains("job: job_2")) {
        seen += &desk.notice().await;
    }
    assert_eq!(fs::read_to_string(desk.output(&one)).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(desk.output(&other)).unwrap(), "other\n");
}
