//! Exercise 1 · a slash and a name (15 minutes).
//!
//! The model chooses a skill by its description. Let the user choose one by its name: `/tea with milk` goes to the model
//! as it was typed, and with it, in the same message, what `load_skill` would have answered for `tea`. No call is needed.
//! Only the first word of a prompt can be such a command, and only as a whole: `/etc/hosts` is a path, also when there
//! is a skill `etc`. A prompt whose first word names no skill goes to the model as it is. A skill that was written a
//! moment ago counts.
//!
//! Hint: which event of the last chapters sees a prompt, and what can a hook say there other than no?
//!
//! Hint: `load_skill` has the text already. A method of `Skills` that returns a hook leaves `turn` as it is; the skills
//! must then be there before the hooks are.

use mock_servers::model::{MockModel, Request, calls, says};
use serde_json::json;
use testkit::Class;

use super::skill;

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s07_skills"))
        .file("skills/tea/SKILL.md", skill("tea", "Boil water."))
        .file("skills/etc/SKILL.md", skill("etc", "Everything else."))
}

/// The newest prompt of the user, with what came with it.
fn asked(request: &Request) -> String {
    request.user_texts().pop().expect("the user has asked")
}

#[test]
#[ignore = "exercise 1"]
fn a_prompt_that_begins_with_a_skill_brings_its_body_along() {
    let greeting =
        json!({"path": "skills/greeting/SKILL.md", "content": skill("greeting", "In verse.")});
    let model = MockModel::scripted([
        says("Here is your tea."),
        calls("write_file", greeting),
        says("Written."),
        says("Roses are red."),
    ]);
    let class = class().model(&model);
    class.types(&["/tea with milk", "write a skill that greets", "/greeting"]).succeeds();
    let requests = model.requests();
    let tea = asked(&requests[0]);
    assert!(
        tea.starts_with("/tea with milk") && tea.contains("<skill name=\"tea\""),
        "the model was to read the prompt and then `<skill name=\"tea\" …`, and reads:\n{tea}"
    );
    assert!(tea.contains("Boil water."), "the body of the skill was to be in it:\n{tea}");
    let greeting = asked(&requests[3]);
    assert!(
        greeting.starts_with("/greeting") && greeting.contains("In verse."),
        "the skill was written one turn before, and its body was to be in:\n{greeting}"
    );
}

#[test]
#[ignore = "exercise 1"]
fn what_only_looks_like_one_goes_to_the_model_as_it_is() {
    let plain =
        ["/etc/hosts: what is in it?", "what does /tea do?", "/unknown, please", "tea", "/"];
    let model =
        MockModel::scripted([says("1"), says("2"), says("3"), says("4"), says("5"), says("6")]);
    let class = class().model(&model);
    class.types(&[&plain[..], &["/etc"]].concat()).succeeds();
    let asked: Vec<String> = model.requests().iter().map(|request| asked(request)).collect();
    assert_eq!(
        asked[..5],
        plain,
        "none of these begins with `/`, the name of a skill, and a blank or the end"
    );
    assert!(
        asked[5].contains("Everything else."),
        "`/etc` alone is the skill, and its body was to be in:\n{}",
        asked[5]
    );
}
