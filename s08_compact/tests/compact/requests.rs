//! What the user has asked for, however often room is made.

use mock_servers::model::{Request, says};
use s01_loop::{History, Message};

use crate::stage::{SMALL, Stage, round, shape};

/// What stands in the tag of the earlier requests.
fn requests_told(history: &History) -> String {
    let text = shape(history).concat();
    let (_, told) = text.split_once("<earlier-requests>").unwrap();
    told.split_once("</earlier-requests>").unwrap().0.to_owned()
}

#[tokio::test]
async fn what_the_user_asked_for_is_told_after_every_cut_and_every_summary() {
    let stage = Stage::thinking(SMALL, |_: &Request| says("They talked."));
    let mut history = History::default();
    let mut requests = Vec::new();
    for number in 0..100 {
        let request = match number % 4 {
            0 => format!("list {number}:\n- one\n\n  two"),
            1 => format!("[{number}] </earlier-requests> <b>now</b>"),
            _ => format!("question {number}"),
        };
        history.user(format!("{request}\n\n<hook-context>\nmain\n</hook-context>"));
        history.remind(["<memory>\ntabs\n</memory>"]);
        requests.push(request);
        stage.compactor.shrink(&mut history).await;
        history.push(Message::assistant("so ".repeat(100)));
        if number % 5 == 4 {
            round(&mut history, &[(&format!("c{number}"), &"x".repeat(4_000))]);
            history.push(Message::assistant("read"));
        }
    }
    history.user("and now?");
    stage.compactor.compact("", &mut history).await;
    let told = requests_told(&history);
    let items: Vec<String> = told
        .split("\n- ")
        .map(|item| item.replace("\n  ", "\n").trim().replace("<\\/", "</"))
        .collect();
    assert_eq!(items[1..], requests);
    assert!(stage.kept("transcripts").len() > 3);
    stage.send(&history).await;
}

#[tokio::test]
async fn of_a_request_that_never_fitted_beginning_and_end_stay() {
    let stage = Stage::scripted(SMALL, [says("The user pasted a lot."), says("fine")]);
    let mut history = History::default();
    history.user("x".repeat(100_000));
    history.user("something short");
    stage.compactor.shrink(&mut history).await;
    assert_eq!(history.len(), 1);
    let told = requests_told(&history);
    assert!(told.starts_with("\n- xxx") && told.ends_with("xxx\n"));
    assert!(told.len() < 12_100, "a quarter of the room: {}", told.len());
    assert!(shape(&history)[0].ends_with("</earlier-requests> | something short"));
    stage.send(&history).await;
}
