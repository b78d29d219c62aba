//! What is cut how: each row of the README's table.

use std::fs;

use mcp_hub::context::{Context, fit};
use mcp_hub::files::Files;
use serde_json::{Value, json};

use crate::stage::{ask, hub, question, run, says};

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
    let file = |name: &str| json!({ "files": [name] });
    let lost = |cut: &'static str| Some(cut);
    // What is sent, the budget in tokens, the title of what is shown, its first and last line, what is said to be lost.
    let rows: [(Value, usize, &str, &str, &str, Option<&str>); 11] = [
        (
            json!({ "values": { "v": text } }),
            250,
            "v, lines 1-100 of 1000",
            "line 0001",
            "line 0100",
            lost("v: lines 101-1000"),
        ),
        (
            json!({ "snippets": [text] }),
            250,
            "snippet 1, lines 1-100 of 1000",
            "line 0001",
            "line 0100",
            lost("snippet 1: lines 101-1000"),
        ),
        (
            file("plan.md"),
            250,
            "plan.md, lines 1-100 of 1000",
            "line 0001",
            "line 0100",
            lost("plan.md: lines 101-1000"),
        ),
        (file("plan.md"), 2500, "plan.md", "line 0001", "line 1000", None),
        (
            file("plan.md:500"),
            250,
            "plan.md, lines 450-549 of 1000",
            "line 0450",
            "line 0549",
            lost("plan.md: lines 1-449 and 550-1000"),
        ),
        (
            file("plan.md:300-900"),
            250,
            "plan.md, lines 300-399 of 1000",
            "line 0300",
            "line 0399",
            lost("plan.md: lines 1-299 and 400-1000"),
        ),
        (
            json!({ "logs": [text] }),
            250,
            "log 1, lines 901-1000 of 1000",
            "line 0901",
            "line 1000",
            lost("log 1: lines 1-900"),
        ),
        (
            file("run.log"),
            250,
            "run.log, lines 901-1000 of 1000",
            "line 0901",
            "line 1000",
            lost("run.log: lines 1-900"),
        ),
        (
            file("large.log"),
            250,
            "large.log (its last 4 MiB), lines ",
            "line 4499",
            "line 450000",
            lost("large.log (its last 4 MiB): lines 1-"),
        ),
        (
            file("a.png"),
            250,
            "a.png",
            "[a binary file of 1 KiB that begins with 89 50 4e 47 00; not shown]",
            "",
            None,
        ),
        (
            file("large.txt"),
            250,
            "large.txt",
            "[a text of ",
            "too large to be read; its first line: line 0001]",
            None,
        ),
    ];
    for (sent, budget, title, first, last, cut) in rows {
        let pieces = Context::parse(&sent).unwrap().pieces(&files).unwrap();
        let fitted = fit(&pieces, budget);
        let (shown, text) = &fitted.pieces[0];
        assert!(shown.starts_with(title), "{title}: {shown}");
        assert!(text.starts_with(first) && text.trim_end().ends_with(last), "{title}: {text}");
        let said = fitted.cuts.first().map(String::as_str);
        assert!(
            said.is_some() == cut.is_some() && said.unwrap_or("").starts_with(cut.unwrap_or("")),
            "{title}: {said:?}"
        );
        assert!(
            cut.is_none() || fitted.text().contains("You have not seen all of it. Not shown:\n- ")
        );
    }
    let both = Context::parse(&json!({ "snippets": [lines(30), text] })).unwrap();
    let fitted = fit(&both.pieces(&files).unwrap(), 75 + 49);
    assert_eq!(fitted.cuts[0], "snippet 2: left out, all 2500 tokens of it");
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
