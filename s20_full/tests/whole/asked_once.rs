//! One request and one answer, for scripts.

use mock_servers::model::{Fault, MockModel, Request, calls, says};
use serde_json::{Value, json};
use testkit::Ran;

use crate::{class, echoing, id, is_subagent, model, saved, teammate};

const JSON: [&str; 3] = ["-p", "--output-format", "json"];

/// What was printed as JSON.
fn answer(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).expect("the answer is JSON")
}

#[test]
fn what_is_piped_in_follows_the_prompt() {
    let (_model, class) = echoing();
    let ran = class.runs(&["--print", "What is", "this?"], "line one\nline two\n");
    assert_eq!(
        ran.stdout,
        "You said: What is this?\n\nline one\nline two\n"
    );
    let ran = class.runs(&["-p"], "only this");
    assert_eq!(ran.stdout, "You said: only this\n");
    class
        .runs(&["-p"], " \n")
        .fails_with(2)
        .complains("-p needs a prompt");
}

#[test]
fn text_is_the_answer_alone_and_json_says_what_it_cost_and_where_it_goes_on() {
    let model = model(|request: &Request| match request.calls().len() {
        0 => calls("read_file", json!({"path": "README.md"})).and_says("I will look."),
        _ => says("A \"small\" project."),
    });
    let class = class(&[]).model(&model);
    let ran = class.runs(&["-p", "What is this?"], "");
    let shown = ("A \"small\" project.\n", "");
    assert_eq!((&*ran.succeeds().stdout, &*ran.stderr), shown);
    let ran = class.runs(&[&JSON[..], &["What is this?"]].concat(), "");
    ran.succeeds();
    assert!(
        ran.stdout
            .starts_with(r#"{"type":"result","subtype":"success","is_error":false,"result":"#)
    );
    let answer = answer(&ran);
    assert_eq!(answer["result"], "A \"small\" project.");
    assert_eq!(answer["num_turns"], 2);
    assert_eq!(answer["session_id"], saved(&class)[1]["id"]);
    assert!(answer["duration_ms"].is_u64());
    let usage = &answer["usage"];
    for kind in [
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "output_tokens",
    ] {
        assert!(usage[kind].as_u64().unwrap() > 0, "{kind} of {usage}");
    }
}

#[test]
fn a_failure_is_an_exit_code_an_error_and_json_all_the_same() {
    let (model, class) = echoing();
    let bad = crate::class(&[]).env("ANTHROPIC_BASE_URL", "ftp://models");
    let refusing = MockModel::rehearsal();
    refusing.fault(Fault::TooLong, 99);
    let refused = crate::class(&[]).model(&refusing);
    for (class, args, said) in [
        (&class, &["/halp"][..], "there is no command /halp"),
        (&class, &["/clear all"], "/clear takes nothing behind it"),
        (&class, &["/resume zz"], "there is no saved session \"zz\""),
        (
            &class,
            &["hi", "--resume", "zz"],
            "there is no saved session",
        ),
        (&bad, &["hi"], "ANTHROPIC_BASE_URL must begin with http"),
        (&refused, &["hi"], "400"),
    ] {
        let ran = class.runs(&[&["-p"], args].concat(), "");
        ran.fails_with(1).complains(said);
        assert_eq!(ran.stdout, "");
        let ran = class.runs(&[&JSON[..], args].concat(), "");
        ran.fails_with(1).complains(said);
        let answer = answer(&ran);
        assert_eq!(answer["is_error"], true);
        assert_eq!(answer["subtype"], "error_during_execution");
        let result = answer["result"].as_str().unwrap();
        assert!(result.contains(said), "{answer}");
    }
    assert!(model.requests().is_empty());
}

/// A script has nobody who could answer, and its output is no place for a question.
#[test]
fn nobody_is_asked_and_the_model_and_the_script_are_told() {
    let model = model(|request: &Request| match request.results().last() {
        None if is_subagent(request) => calls("bash", json!({"command": "touch made"})),
        None => calls("task", json!({"description": "make it"})),
        Some((_, text)) => says(text.clone()),
    });
    let settings = json!({"permissions": {"deny": ["edit_file"]}}).to_string();
    let class = class(&[])
        .file(".harness/settings.json", settings)
        .model(&model);
    let ran = class.runs(&["-p", "go"], "");
    ran.fails_with(3)
        .shows("nobody was there to answer the question");
    ran.never_shows("[y]es");
    let ran = class.runs(&["-p", "go", "--output-format", "json"], "");
    ran.fails_with(3);
    let answer = answer(&ran);
    assert_eq!(answer["is_error"], false);
    let mut denials = answer["permission_denials"].clone();
    let id = denials[0]["tool_use_id"].take();
    assert!(id.as_str().unwrap().starts_with("toolu_"), "{answer}");
    assert_eq!(
        denials,
        json!([{"tool_name": "bash", "tool_use_id": null, "tool_input": {"command": "touch made"}}])
    );
    assert!(!class.dir().join("made").exists());
}

/// Nobody waits for a reminder, nor for a teammate that rests, and the job does not end.
#[test]
fn who_leaves_hears_what_ends() {
    let model = model(|request: &Request| match request.calls().len() {
        _ if teammate(request).is_some() => says("I wait."),
        0 => calls(
            "bash",
            json!({"command": "cat gate", "run_in_background": true}),
        ),
        1 => calls(
            "spawn_teammate",
            json!({"name": "alice", "role": "writer", "prompt": "Wait."}),
        ),
        2 => calls(
            "schedule_cron",
            json!({"cron": "0 0 1 1 *", "prompt": "ring", "recurring": false, "durable": false}),
        ),
        _ => says("Done."),
    });
    let class = class(&[]).model(&model);
    let mut terminal = class.terminal(100, 40);
    terminal
        .wait_for("s20 >>")
        .type_line("go")
        .wait_for("[mail from alice: result]")
        .type_line("/quit")
        .wait_for("[stopped at the end: job_1: cat gate]\n[ended with the session: cron_")
        .wait_for(": ring · alice]");
    assert_eq!(terminal.wait_exit(), 0);
}

#[test]
fn a_script_hears_what_ends_on_standard_error() {
    let model = model(|request: &Request| match request.calls().len() {
        0 => calls(
            "schedule_cron",
            json!({"cron": "0 0 1 1 *", "prompt": "ring"}),
        ),
        _ => says("Done."),
    });
    let ran = class(&[]).model(&model).runs(&["-p", "go"], "");
    ran.succeeds().complains("[ended with the session: cron_");
    assert_eq!(ran.stdout, "Done.\n");
    assert!(ran.stderr.ends_with(": ring]\n"), "{}", ran.transcript());
}

/// Runs one request whose turn leaves a job behind that ends after it. This hook sees each request and notice.
fn leaves_a_job(prompt_hook: &str) -> Ran {
    let model = model(|request: &Request| match request.calls().len() {
        0 => calls(
            "bash",
            json!({"command": "cat gate", "run_in_background": true}),
        ),
        _ if request.user_texts().join("").contains("task_notification") => says("It is ready."),
        _ => says("It runs."),
    });
    let hook = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let opens = "[ -e opened ] || { touch opened; echo open > gate; }";
    let settings = json!({"hooks": {"UserPromptSubmit": hook(prompt_hook), "Stop": hook(opens)}});
    let class = class(&[])
        .file(".harness/settings.json", settings.to_string())
        .model(&model);
    class.runs(&["-p", "go"], "")
}

#[test]
fn what_works_beside_the_turn_is_waited_for() {
    let ran = leaves_a_job("exit 0");
    assert_eq!(ran.stdout, "It is ready.\n", "{}", ran.transcript());
}

/// A hook may refuse what arrives beside the conversation. The answer is the model's all the same.
#[test]
fn a_notice_that_is_refused_is_no_answer() {
    let ran = leaves_a_job("if grep -q task_notification; then echo not now >&2; exit 2; fi");
    assert_eq!(ran.stdout, "It runs.\n", "{}", ran.transcript());
}

#[test]
fn a_command_is_answered_too() {
    let (model, class) = echoing();
    let ran = class.runs(&["-p", "/team"], "");
    assert_eq!(ran.stdout, "there is no teammate yet\n");
    let ran = class.runs(&[&JSON[..], &["/tasks"]].concat(), "");
    assert_eq!(answer(&ran)["result"], "the board is empty");
    assert!(model.requests().is_empty());
}

#[test]
fn a_wrong_command_line_is_one_sentence_and_exit_code_2() {
    let ran = class(&[]).runs(&["--colour"], "");
    ran.fails_with(2);
    let sentence = "s20_full: unknown option --colour; try --help\n";
    assert_eq!((&*ran.stdout, &*ran.stderr), ("", sentence));
    class(&[])
        .runs(&["--help"], "")
        .succeeds()
        .shows("--resume [ID]");
    class(&[])
        .runs(&["--version"], "")
        .succeeds()
        .shows("s20_full 0.");
}

#[test]
fn a_session_goes_on_from_script_to_script() {
    let model = model(|request: &Request| {
        let said = request.user_texts();
        let said: Vec<_> = said.iter().filter(|text| !text.starts_with('<')).collect();
        says(format!("{} requests so far", said.len()))
    });
    let class = class(&[]).model(&model);
    assert_eq!(class.runs(&["-p", "one"], "").stdout, "1 requests so far\n");
    assert_eq!(
        class.runs(&["-p", "--resume", "--", "two"], "").stdout,
        "2 requests so far\n"
    );
    let session = id(&saved(&class)[0]).to_owned();
    let ran = class.runs(&["-p", "three", "--resume", &session[..3]], "");
    assert_eq!(ran.stdout, "3 requests so far\n", "{}", ran.transcript());
    assert_eq!(saved(&class).len(), 1);
}
