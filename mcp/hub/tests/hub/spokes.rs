//! Spokes that answer, hang, die, answer garbage or far too much.

use std::time::{Duration, Instant};

use mcp_hub::mode::Mode;
use mcp_hub::telemetry;
use serde_json::json;

use crate::stage::{ask, echoes, from, hub, pipe, question, run, says, serve};

#[tokio::test]
async fn a_question_has_its_mode_its_files_and_what_was_cut_of_them() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plan.md"), "# Plan\nship it\n".repeat(4000)).unwrap();
    let url = run(says(|asked| {
        let keys: Vec<_> = asked["context"].as_object().unwrap().keys().cloned().collect();
        json!({ "response": format!("{}\n{keys:?}", asked["prompt"].as_str().unwrap()), "model": "m",
            "usage": { "input_tokens": 1200, "output_tokens": 3 } })
    }))
    .await;
    let hub = hub(
        dir.path(),
        &format!("  - {{name: gpt, kind: run, url: '{url}', limits: {{context_tokens: 1000}}}}"),
    )
    .await;
    let mut asked = question("gpt");
    (asked.mode, asked.context) =
        (Some(Mode::Challenge), json!({ "files": ["plan.md"], "values": { "lr": 0.1 } }));
    let answer = ask(&hub, asked).await.unwrap();
    assert!(answer.starts_with("─── gpt · challenge mode ─"), "{answer}");
    assert!(answer.contains("[CHALLENGE MODE] Review critically."), "{answer}");
    assert!(answer.contains(r#"["lr", "not shown", "plan.md, lines 1-"#), "{answer}");
    assert!(answer.contains("[gpt has not seen: plan.md: lines "), "{answer}");
    assert!(answer.contains("1,200 tokens in, 3 out"), "{answer}");
    let mut asked = question("gpt");
    asked.context = json!({ "files": ["/etc/passwd"] });
    let error = ask(&hub, asked).await.unwrap_err();
    assert!(error.starts_with("/etc/passwd: it is not below "), "{error}");
}

#[tokio::test]
async fn a_thread_goes_on_and_other_threads_know_nothing_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let hub =
        hub(dir.path(), &format!("  - {{name: gpt, kind: run, url: '{}'}}", run(echoes()).await))
            .await;
    for (thread, prompt, knows) in [
        (Some("a"), "first question", false),
        (Some("a"), "second", true),
        (Some("b"), "third", false),
        (None, "fourth", false),
    ] {
        let mut asked = question("gpt");
        (asked.thread, asked.prompt) = (thread.map(str::to_owned), prompt.to_owned());
        let answer = ask(&hub, asked).await.unwrap();
        assert_eq!(answer.contains("<earlier>\nQuestion: first question"), knows, "{answer}");
    }
}

#[tokio::test]
async fn of_twenty_questions_over_four_spokes_the_good_ones_are_answered_and_the_others_fail_in_time()
 {
    let dir = tempfile::tempdir().unwrap();
    let hangs = run(std::sync::Arc::new(|_| Box::pin(std::future::pending()))).await;
    let good = run(echoes()).await;
    let spokes = format!(
        "  - {{name: good, kind: run, url: '{good}'}}
  - {{name: cat, kind: command, command: [cat]}}
  - {{name: hangs, kind: run, url: '{hangs}', limits: {{seconds: 1}}}}
  - {{name: dies, kind: command, command: [sh, -c, 'echo no more memory >&2; kill -9 $$']}}"
    );
    let hub = hub(dir.path(), &spokes).await;
    let began = Instant::now();
    let names = ["good", "cat", "hangs", "dies"];
    let asked = (0..20).map(|at| async move { (names[at % 4], at) });
    let asked = asked.map(|named| async {
        let (name, _) = named.await;
        (name, ask(&hub, question(name)).await)
    });
    let answers = futures_util::future::join_all(asked).await;
    assert!(began.elapsed() < Duration::from_secs(30));
    for (name, answer) in &answers {
        match *name {
            "good" | "cat" => assert!(answer.as_ref().unwrap().contains("Review this plan")),
            "hangs" => assert_eq!(
                answer.as_ref().unwrap_err(),
                "hangs has not answered within 1 s (limits.seconds)"
            ),
            _ => {
                let error = answer.as_ref().unwrap_err();
                assert!(
                    error.starts_with("dies ended with signal: 9 (SIGKILL)")
                        && error.ends_with("no more memory"),
                    "{error}"
                );
            }
        }
    }
    let (records, odd) = telemetry::read(&hub.log()).unwrap();
    assert_eq!(
        (records.len(), records.iter().filter(|it| it.error.is_none()).count(), odd),
        (20, 10, 0)
    );
}

#[tokio::test]
async fn garbage_is_an_error_and_five_megabytes_are_cut_with_the_rest_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let html = run(std::sync::Arc::new(|_| Box::pin(async { Some("<html>".to_owned()) }))).await;
    let empty = run(says(|_| json!({ "text": "x" }))).await;
    let ends = run(std::sync::Arc::new(|_| Box::pin(async { None }))).await;
    let spokes = format!(
        "  - {{name: html, kind: run, url: '{html}'}}
  - {{name: empty, kind: run, url: '{empty}'}}
  - {{name: ends, kind: run, url: '{ends}'}}
  - {{name: away, kind: run, url: 'http://127.0.0.1:1'}}
  - {{name: silent, kind: command, command: ['true']}}
  - {{name: fails, kind: command, command: [echo, '{{\"result\":\"no key\",\"is_error\":true}}']}}
  - {{name: large, kind: command, command: [sh, -c, 'yes a line of the answer | head -c 5000000']}}"
    );
    let hub = hub(dir.path(), &spokes).await;
    for (name, why) in [
        ("html", "html answers what is no JSON: <html>"),
        ("empty", "empty answers with neither `response` nor `tool_requests`"),
        ("ends", "ends: "),
        ("away", "away: Connection refused"),
        ("silent", "silent answers nothing"),
        ("fails", "fails failed: no key"),
        ("gone", "there is no agent \"gone\"; there are: html, "),
    ] {
        let error = ask(&hub, question(name)).await.unwrap_err();
        assert!(error.starts_with(why), "{error}");
    }
    assert!(
        hub.listed().contains("away (run, its own model): away, tried again when asked: "),
        "{}",
        hub.listed()
    );
    let answer = ask(&hub, question("large")).await.unwrap();
    assert!(answer.len() < 100_000 && answer.contains("[cut here, in line "));
    let file = std::fs::read_dir(dir.path().join(".harness/hub/answers"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert!(file.metadata().unwrap().len() > 4_999_900);
}

#[tokio::test]
async fn a_question_that_is_taken_back_interrupts_its_program() {
    let dir = tempfile::tempdir().unwrap();
    let (began, ended) = (pipe(dir.path(), "began"), pipe(dir.path(), "ended"));
    let script = "trap 'echo interrupted > ended; exit' INT TERM; echo yes > began; while :; do read -r _ < never; done";
    let never = pipe(dir.path(), "never");
    let hub = hub(
        dir.path(),
        &format!("  - {{name: slow, kind: command, command: [sh, -c, \"{script}\"]}}"),
    )
    .await;
    let scope = hub.scope("slow");
    tokio::select! {
        answer = hub.ask(question("slow"), &scope) => panic!("{answer:?}"),
        said = from(began) => assert_eq!(said, "yes\n"),
    }
    assert_eq!(from(ended).await, "interrupted\n");
    drop(never);
    let (records, _) = telemetry::read(&hub.log()).unwrap();
    assert_eq!(records[0].error.as_deref(), Some("the client has taken the question back"));
}

/// The child is a shell that says where this test listens, as opencode does.
#[tokio::test]
async fn a_question_that_is_taken_back_is_aborted_in_opencode_and_the_next_one_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let (seen, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let url = serve(std::sync::Arc::new(move |path, body| {
        let first = path.starts_with("POST") && body["title"].is_string();
        let hangs = path == "POST /session/s1/message" && body["parts"][0]["text"] == "hang";
        let answer = match path.as_str() {
            "GET /global/health" => json!({ "version": "0.fake" }),
            "POST /mcp" => json!({ "hub": { "status": "connected" } }),
            _ if first => json!({ "id": "s1" }),
            _ => json!({ "parts": [{ "type": "text", "text": body["system"] }],
                "info": { "modelID": "m", "tokens": { "input": 7, "cache": { "read": 3 }, "output": 5, "reasoning": 1 } } }),
        };
        seen.send(path).unwrap();
        Box::pin(async move {
            if hangs {
                std::future::pending::<()>().await;
            }
            Some(answer.to_string())
        })
    }))
    .await;
    let child = format!("command: [sh, -c, 'echo listening on {url}; exec sleep 1000']");
    let hub = hub(dir.path(), &format!("  - {{name: gpt, kind: opencode, {child}}}")).await;
    assert!(hub.listed().contains("ready, opencode 0.fake at http"), "{}", hub.listed());
    let mut hanging = question("gpt");
    hanging.prompt = "hang".to_owned();
    let until = async |requests: &mut tokio::sync::mpsc::UnboundedReceiver<String>, last: &str| {
        let mut all = Vec::new();
        while all.last().is_none_or(|it| it != last) {
            all.push(requests.recv().await.unwrap());
        }
        all
    };
    let before = tokio::select! {
        answer = ask(&hub, hanging) => panic!("{answer:?}"),
        seen = until(&mut requests, "POST /session/s1/message") => seen,
    };
    assert_eq!(before[..3], ["GET /global/health", "POST /mcp", "POST /session"]);
    let after = until(&mut requests, "DELETE /session/s1").await;
    assert_eq!(after, ["POST /session/s1/abort", "DELETE /session/s1"]);
    let answer = ask(&hub, question("gpt")).await.unwrap();
    assert!(
        answer.contains("[COLLABORATE MODE]") && answer.contains("10 tokens in, 6 out"),
        "{answer}"
    );
    assert_eq!(until(&mut requests, "POST /session/s1/message").await[0], "POST /session");
}
