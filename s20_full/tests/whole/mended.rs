//! Replies that no later request could hold, and saved sessions with such replies in them: both go on.

use std::fs;

use mock_servers::model::{Request, calls, says};
use serde_json::{Value, json};

use crate::{class, echo, echoing, id, model, saved};

#[test]
fn a_call_nested_too_deeply_is_answered_and_its_session_goes_on() {
    for levels in [101, 123, 125, 127] {
        let input = (1..levels).fold(json!({}), |inner, _| json!({ "path": inner }));
        let model = model(move |request: &Request| {
            match (request.results().last(), request.user_texts().len()) {
                (None, _) => calls("read_file", input.clone()),
                (Some((_, text)), 1) => says(text.clone()),
                _ => echo(request),
            }
        });
        let class = class(&[]).model(&model);
        class
            .types(&["go"])
            .succeeds()
            .shows("read_file: the input was nested more than 100 levels deep");
        class
            .runs(&["--resume"], "and on\n")
            .succeeds()
            .shows("You said: and on")
            .never_shows("damaged");
    }
}

#[test]
fn a_saved_session_with_what_the_api_refuses_goes_on() {
    let (model, class) = echoing();
    class.types(&["hi"]).succeeds();
    let mut session = saved(&class).remove(0);
    let call =
        |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "call 1", "content": "found"});
    session["messages"] = json!([
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [{"type": "reasoning"}, call("call 1", "web.search"), {"type": "tool_use"}]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "reasoning"}]},
    ]);
    let file = format!(".harness/sessions/{}.json", id(&session));
    fs::write(class.dir().join(file), session.to_string()).unwrap();
    class
        .runs(&["--resume"], "and on\n")
        .succeeds()
        .shows("You said: and on");
    let requests = model.requests();
    let mut results = requests.iter().flat_map(|request| request.results());
    let first = results.next().map(|(_, text)| text);
    assert_eq!(first.as_deref(), Some("found"), "it has followed its call");
    let kept: Value = saved(&class).remove(0);
    assert!(!kept.to_string().contains("reasoning"));
}
