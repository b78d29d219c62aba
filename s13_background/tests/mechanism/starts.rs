//! What starts a job, what does not, and what the model is told at once.

use std::fs;

use s01_loop::{Repl, ToolCall};
use s02_tools::bash;
use s13_background::{Jobs, Notices};
use serde_json::json;
use tokio::task::yield_now;

use crate::desk::Desk;

#[tokio::test]
async fn a_job_is_answered_at_once_and_read_while_it_runs() {
    let desk = Desk::new(&["gate"]);
    let told = desk
        .start("printf begun; cat ../gate; echo ' and done'")
        .await;
    let begin = "job_1 runs in the background; a notice comes by itself";
    assert!(told.starts_with(begin), "{told}");
    let output = desk.output(&told);
    // Half a line is in the file before its end comes.
    while fs::read_to_string(&output).unwrap() != "begun" {
        yield_now().await;
    }
    assert_eq!(desk.jobs.running().len(), 1);
    drop(desk.hold("gate").await);
    let notice = desk.notice().await;
    assert_eq!(desk.output(&notice), output);
    assert_eq!(fs::read_to_string(output).unwrap(), "begun and done\n");
    assert!(desk.jobs.running().is_empty());
}

#[tokio::test]
async fn a_command_goes_to_the_background_only_when_the_model_asks() {
    let desk = Desk::new(&[]);
    fs::write(desk.ws.root().join("latest.txt"), "cargo test passed\n").unwrap();
    for input in [
        json!({"command": "cat latest.txt"}),
        json!({"command": "cat latest.txt", "run_in_background": false}),
    ] {
        assert_eq!(desk.call(input).await.text, "cargo test passed");
    }
    assert!(desk.jobs.running().is_empty() && !desk.ws.state("outputs").exists());
}

#[tokio::test]
async fn what_cannot_start_is_refused_with_a_reason() {
    for (input, why) in [
        (
            json!({"command": "touch made", "run_in_background": "perhaps"}),
            "run_in_background",
        ),
        (
            json!({"command": "sudo touch made", "run_in_background": true}),
            "refused: `sudo`",
        ),
        // Its output cannot be kept.
        (
            json!({"command": "touch made", "run_in_background": true}),
            "creating",
        ),
    ] {
        let desk = Desk::new(&[]);
        fs::create_dir(desk.ws.root().join(".harness")).unwrap();
        fs::write(desk.ws.state("outputs"), "in the way").unwrap();
        let output = desk.call(input).await;
        assert!(output.is_error && output.text.contains(why), "{output:?}");
        assert!(desk.jobs.running().is_empty() && desk.notices.take().is_empty());
        assert!(!desk.ws.root().join("made").exists());
    }
}

/// The same tool_use id twice, and another session in the same folder, whose first job is a `job_1` as well.
#[tokio::test]
async fn each_job_has_an_output_of_its_own() {
    let desk = Desk::new(&[]);
    let [one, two] = [desk.start("echo one").await, desk.start("echo two").await];
    assert!(one.starts_with("job_1 ") && two.starts_with("job_2 "));
    let notices = Notices::default();
    let other = Jobs::new(&desk.ws, &notices, &Repl::once("test", ""));
    let input = json!({"command": "echo other", "run_in_background": true});
    let call = ToolCall::new("toolu_1", "bash", input);
    let other = other.around(bash(&desk.ws)).call(call).await.text;
    assert!(other.starts_with("job_1 "), "{other}");
    desk.notices(2).await;
    while notices.take().is_empty() {
        yield_now().await;
    }
    for (told, text) in [(one, "one\n"), (two, "two\n"), (other, "other\n")] {
        assert_eq!(fs::read_to_string(desk.output(&told)).unwrap(), text);
    }
}
