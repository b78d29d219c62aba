//! Exercise 2 · undo (15 minutes).
//!
//! `/undo` takes the last request out of the conversation with everything that came of it, and tells how many messages
//! that were; the model has never heard of it. Typed again, it takes back the one before. Files, tasks and the board
//! stay as they are. What is undone stays undone for whoever goes on with `--resume`, also when nothing is left of the
//! conversation. With nothing to undo the user is told so. `/help` lists the command.
//!
//! Hint: [`History::turn`](s01_loop::History::turn) knows where the last request begins. A result is a message of the
//! user, too, so looking for the last one yourself finds the wrong place.
//!
//! Hint: `Sessions::switch` puts other messages into a history. Why does it take a new one?
//!
//! Hint: which conversations does `Sessions::save` not write, and why? Which of them must be written now?

use mock_servers::model::{Reply, Request, calls, says};
use serde_json::json;

use super::{asked, class, echo, last_texts, model};

/// Looks at a file and writes one for each request that says so.
fn works(request: &Request) -> Reply {
    let texts = request.user_texts();
    let last = texts.last().map_or("", String::as_str);
    let has_answered = request.messages.last().is_some_and(|last| {
        let text = format!("{last:?}");
        text.contains("ToolResult")
    });
    match (last.starts_with("work"), has_answered) {
        (true, false) => calls("read_file", json!({"path": "README.md"}))
            .and_calls("write_file", json!({"path": "made.txt", "content": "made\n"})),
        (true, true) => says("Done."),
        (false, _) => echo(request),
    }
}

#[test]
#[ignore = "exercise 2"]
fn the_last_request_goes_with_all_that_came_of_it() {
    let model = model(works);
    let class = class().model(&model);
    let ran = class.types(&["My name is Ada.", "work on it", "/undo", "Who am I?", "/help"]);
    ran.succeeds().shows("4 messages").shows("/undo ");
    assert_eq!(
        last_texts(&model),
        ["My name is Ada.", "Who am I?"],
        "the model should not hear of what was undone\n{}",
        ran.transcript()
    );
    let requests = model.requests();
    assert!(requests.last().unwrap().calls().is_empty(), "nor of its calls");
    assert_eq!(class.read("made.txt"), "made\n", "files stay as they are");
    assert_eq!(asked(&model), 4, "no command should reach the model");
}

#[test]
#[ignore = "exercise 2"]
fn once_more_takes_back_the_one_before() {
    let model = model(works);
    let class = class().model(&model);
    let ran = class.types(&[
        "one",
        "work on two",
        "work on three",
        "/undo",
        "/undo",
        "four",
        "/undo",
        "five",
    ]);
    ran.succeeds();
    assert_eq!(
        last_texts(&model),
        ["one", "five"],
        "\"work on two\", \"work on three\" and \"four\" were undone\n{}",
        ran.transcript()
    );
    let ran = class.runs(&["--resume"], "/undo\nsix\n");
    ran.succeeds();
    let texts = last_texts(&model);
    assert!(texts.contains(&"one".to_owned()) && texts.contains(&"six".to_owned()), "{texts:?}");
}

#[test]
#[ignore = "exercise 2"]
fn with_nothing_to_undo_the_user_is_told() {
    let model = model(echo);
    let class = class().model(&model);
    let ran = class.types(&["/undo", "hi", "/undo", "/undo", "What did I say?"]);
    ran.succeeds().shows("nothing to undo").never_shows("did you mean");
    assert_eq!(last_texts(&model), ["What did I say?"], "{}", ran.transcript());
}

/// A session of which nothing is left must not come back whole.
#[test]
#[ignore = "exercise 2"]
fn what_is_undone_does_not_come_back() {
    let model = model(echo);
    let class = class().model(&model);
    let ran = class.types(&["My secret is 1815.", "/undo"]);
    ran.succeeds().shows("2 messages");
    // With no session to go on with, it begins a new one; either is good.
    class.runs(&["--resume"], "What is my secret?\n");
    class.types(&["What is it?"]).succeeds();
    let requests = model.requests();
    let later = requests.iter().skip_while(|request| {
        let texts = request.user_texts().join("\n");
        !texts.contains("What is ")
    });
    for request in later {
        let texts = request.user_texts();
        assert!(
            !texts.join("\n").contains("1815"),
            "the request was undone before the program ended, and --resume brought it back: {texts:?}"
        );
    }
}
