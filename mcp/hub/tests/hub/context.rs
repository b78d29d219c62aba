//! What is cut how: each row of the README's table.

use std::fs;

use mcp_hub::context::{Context, fit};
use mcp_hub::files::Files;
use serde_json::json;

use crate::stage::{ask, hub, question, run, says};

const CUTS: &str = include_str!("cuts.txt");

/// 10 characters a line, so that 100 lines are 250 tokens.
fn lines(count: usize) -> String {
    (1..=count).map(|line| format!("line {line:04}\n")).collect()
}

#[test]
fn each_piece_keeps_what_the_table_says() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| fs::write(dir.path().join(name), text).unwrap();
    let (text, large) = (lines(1000), lines(450_000));
    write("plan.md", text.as_bytes());
    write("run.log", text.as_bytes());
    write("large.log", large.as_bytes());
    write("large.txt", large.as_bytes());
    write("a.png", b"\x89PNG\0");
    let files = Files::below(&[dir.path().to_owned()]).unwrap();
    for row in CUTS.lines().filter(|row| !row.starts_with('#')) {
        let [sent, budget, title, first, last, cut] = row.split(" | ").collect::<Vec<_>>()[..]
        else {
            panic!("{row}")
        };
        let sent = match sent {
            "value" => json!({ "values": { "v": text } }),
            "snippet" => json!({ "snippets": [text] }),
            "log" => json!({ "logs": [text] }),
            file => json!({ "files": [file] }),
        };
        let pieces = Context::parse(&sent).unwrap().pieces(&files).unwrap();
        let fitted = fit(&pieces, budget.parse().unwrap());
        let nothing = ("-".to_owned(), "-".to_owned());
        let (shown, text) = fitted.pieces.first().unwrap_or(&nothing);
        assert!(shown.starts_with(title), "{row}: {shown}");
        assert!(text.starts_with(first) && text.trim_end().ends_with(last), "{row}: {text}");
        let said = fitted.cuts.first().map_or("-", String::as_str);
        assert!(said.starts_with(cut), "{row}: {said}");
        assert_eq!(fitted.text().contains("Not shown:\n- "), cut != "-", "{row}");
    }
}

#[tokio::test]
async fn of_a_thread_the_latest_questions_go_along_in_half_of_the_budget() {
    let dir = tempfile::tempdir().unwrap();
    let echo = says(|asked| {
        let known = asked["prompt"].as_str().unwrap().matches("Your answer").count();
        json!({ "response": format!("it knew {known}") })
    });
    let spoke = format!(
        "  - {{name: gpt, kind: run, url: '{}', limits: {{context_tokens: 400}}}}",
        run(echo).await
    );
    let hub = hub(dir.path(), &spoke).await;
    for (known, left_out) in [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)] {
        let mut asked = question("gpt");
        // With its answer, 83 tokens.
        (asked.prompt, asked.thread) = ("why? ".repeat(64), Some("t".to_owned()));
        let answer = ask(&hub, asked).await.unwrap();
        assert!(answer.contains(&format!("it knew {known}")), "{answer}");
        assert_eq!(answer.contains("not seen"), left_out > 0, "{answer}");
        let said = format!("[gpt has not seen: {left_out} earlier question");
        assert!(left_out == 0 || answer.contains(&said), "{answer}");
    }
}
