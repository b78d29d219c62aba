//! One request and one answer, for scripts.

use mock_servers::model::{Fault, MockModel, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Gate, Ran};

use super::{background, class, echoing, id, is_subagent, model, saved, spawn, teammate};

const JSON: [&str; 3] = ["-p", "--output-format", "json"];

/// What was printed as JSON.
fn answer(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).expect("the answer is JSON")
}

#[test]
fn what_is_piped_in_follows_the_prompt_and_a_command_is_answered_too() {
    let (model, class) = echoing();
    for (args, piped, said) in [
        (
            &["--print", "What is", "this?"][..],
            "line one\nline two\n",
            "You said: What is this?\n\nline one\nline two\n",
        ),
        (&["-p"], "only this", "You said: only this\n"),
        (&["-p", "/team"], "", "there is no teammate yet\n"),
    ] {
        assert_eq!(class.runs(args, piped).stdout, said);
    }
    let asked = model.requests().len();
    let ran = class.runs(&[&JSON[..], &["/tasks"]].concat(), "");
    assert_eq!(answer(&ran)["result"], "the board is empty");
    for (args, piped, wrong) in [
        (&["-p"][..], " \n", "-p needs a prompt"),
        (&["--colour"], "", "unknown option --colour; try --help\n"),
    ] {
        let ran = class.runs(args, piped);
        ran.fails_with(2).complains(&format!("s20_full: {wrong}"));
        assert_eq!((&*ran.stdout, ran.stderr.lines().count()), ("", 1));
    }
    for (option, shown) in [("--help", "--resume [ID]"), ("--version", "s20_full 0.")] {
        class.runs(&[option], "").succeeds().shows(shown);
    }
    assert_eq!(model.requests().len(), asked);
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
    let start = r#"{"type":"result","subtype":"success","is_error":false,"result":"#;
    assert!(ran.succeeds().stdout.starts_with(start));
    let answer = answer(&ran);
    assert_eq!(answer["result"], "A \"small\" project.");
    assert_eq!(answer["num_turns"], 2);
    assert_eq!(answer["session_id"], saved(&class)[1]["id"]);
    assert!(answer["duration_ms"].is_u64());
    let usage = answer["usage"].as_object().unwrap();
    let counts = usage.values().map(|count| count.as_u64().unwrap());
    assert!(usage.len() == 4 && counts.min() > Some(0), "{usage:?}");
}

#[test]
fn a_failure_is_an_exit_code_an_error_and_json_all_the_same() {
    let (model, class) = echoing();
    let bad = super::class(&[]).env("ANTHROPIC_BASE_URL", "ftp://models");
    let refusing = MockModel::rehearsal();
    refusing.fault(Fault::TooLong, 99);
    let refused = super::class(&[]).model(&refusing);
    for (class, args, said) in [
        (&class, &["/halp"][..], "there is no command /halp"),
        (&class, &["/clear all"], "/clear takes nothing behind it"),
        (&class, &["/resume zz"], "there is no saved session \"zz\""),
        (&class, &["hi", "--resume", "zz"], "there is no saved session"),
        (&bad, &["hi"], "ANTHROPIC_BASE_URL must begin with http"),
        (&refused, &["hi"], "400"),
    ] {
        let ran = class.runs(&[&["-p"], args].concat(), "");
        ran.fails_with(1).complains(said);
        assert_eq!(ran.stdout, "");
        let ran = class.runs(&[&JSON[..], args].concat(), "");
        ran.fails_with(1).complains(said);
        let answer = answer(&ran);
        assert_eq!(
            (&answer["is_error"], &answer["subtype"]),
            (&json!(true), &json!("error_during_execution"))
        );
        assert!(answer["result"].as_str().unwrap().contains(said), "{answer}");
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
    let class = class(&[]).model(&model);
    let ran = class.runs(&["-p", "go"], "");
    ran.fails_with(3).shows("nobody was there to answer the question").never_shows("[y]es");
    let ran = class.runs(&["-p", "go", "--output-format", "json"], "");
    let answer = answer(ran.fails_with(3));
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

/// Nobody waits for a reminder, nor for a teammate that rests, and the job does not end. A script is told as well.
#[test]
fn who_leaves_hears_what_ends() {
    let ring = json!({"cron": "0 0 1 1 *", "prompt": "ring", "recurring": false});
    let cron = ring.clone();
    let model = model(move |request: &Request| match request.calls().len() {
        _ if teammate(request).is_some() => says("I wait."),
        0 => background("cat gate"),
        1 => calls("spawn_teammate", spawn("alice")),
        2 => calls("schedule_cron", cron.clone()),
        _ => says("Done."),
    });
    let class = class(&[]).model(&model);
    Gate::new(&class.dir());
    let mut terminal = class.terminal(100, 40);
    terminal
        .wait_for("s20 >>")
        .type_line("go")
        .wait_for("[mail from alice: result]")
        .type_line("/quit")
        .wait_for("[stopped at the end: job_1: cat gate]\n[ended with the session: cron_")
        .wait_for(": ring · alice]");
    assert_eq!(terminal.wait_exit(), 0);

    let model = super::model(move |request: &Request| match request.calls().len() {
        0 => calls("schedule_cron", ring.clone()),
        _ => says("Done."),
    });
    let ran = super::class(&[]).model(&model).runs(&["-p", "go"], "");
    ran.succeeds().complains("[ended with the session: cron_");
    assert!(ran.stdout == "Done.\n" && ran.stderr.ends_with(": ring]\n"));
}

/// A job ends after its turn. A hook may refuse what arrives beside the conversation; the answer is the model's all the same.
#[test]
fn what_works_beside_the_turn_is_waited_for_and_a_notice_that_is_refused_is_no_answer() {
    for (prompt_hook, said) in [
        ("exit 0", "It is ready.\n"),
        ("if grep -q task_notification; then echo not now >&2; exit 2; fi", "It runs.\n"),
    ] {
        let model = model(|request: &Request| match request.calls().len() {
            0 => background("cat gate"),
            _ if request.user_texts().concat().contains("task_notification") => {
                says("It is ready.")
            }
            _ => says("It runs."),
        });
        let hook = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
        let opens = "[ -e opened ] || { touch opened; echo open > gate; }";
        let settings =
            json!({"hooks": {"UserPromptSubmit": hook(prompt_hook), "Stop": hook(opens)}});
        let class = class(&[]).file(".harness/settings.json", settings.to_string()).model(&model);
        Gate::new(&class.dir());
        let ran = class.runs(&["-p", "go"], "");
        assert_eq!(ran.stdout, said, "{}", ran.transcript());
    }
}

#[test]
fn a_session_goes_on_from_script_to_script() {
    let model = model(|request: &Request| {
        let said = request.user_texts();
        let count = said.iter().filter(|text| !text.starts_with('<')).count();
        says(format!("{count} requests so far"))
    });
    let class = class(&[]).model(&model);
    let ask = |args: &[&str], count: usize| {
        let ran = class.runs(&[&["-p"], args].concat(), "");
        assert_eq!(ran.stdout, format!("{count} requests so far\n"), "{}", ran.transcript());
    };
    ask(&["one"], 1);
    ask(&["--resume", "--", "two"], 2);
    let session = id(&saved(&class)[0]).to_owned();
    ask(&["three", "--resume", &session[..3]], 3);
    assert_eq!(saved(&class).len(), 1);
}
