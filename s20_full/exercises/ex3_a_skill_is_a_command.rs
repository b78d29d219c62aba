//! Exercise 3 · a skill is a command (15 minutes).
//!
//! Whoever knows the skill he wants types it: `/greeting in French` is sent to the model as it was typed, and beside
//! it stands what `load_skill` would have answered for `greeting`, so that no round is lost. A skill that was written
//! a moment ago counts. Commands of the harness come first: a skill called `clear` or `team` changes nothing about
//! `/clear` and `/team`. A word that is neither is told as before, and a path is still a path.
//!
//! Hint: two stations are concerned. `Commands::run` must let the line pass, and something must put the skill beside
//! it before it is a request: who adds to a prompt in this course?
//!
//! Hint: `Skills::tool` is a tool, and a tool can be called by anybody.

use testkit::Class;

use super::{asked, class, echo, last_texts, model};

fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: How to do {name}.\n---\n{body}\n")
}

fn with_skills() -> Class {
    class()
        .file("skills/greeting/SKILL.md", skill("greeting", "Say hello in verse."))
        .file("skills/clear/SKILL.md", skill("clear", "Wash the dishes."))
        .file("skills/team/SKILL.md", skill("team", "Play football."))
}

#[test]
#[ignore = "exercise 3"]
fn the_skill_stands_beside_the_request() {
    let model = model(echo);
    let class = with_skills().model(&model);
    let ran = class.types(&["/greeting in French"]);
    ran.succeeds();
    assert_eq!(
        asked(&model),
        1,
        "/greeting names a skill and should be sent\n{}",
        ran.transcript()
    );
    let text = last_texts(&model).join("\n");
    assert!(text.contains("/greeting in French"), "{text:?}");
    assert!(
        text.contains("<skill name=\"greeting\"") && text.contains("Say hello in verse."),
        "the skill should stand beside the request: {text:?}"
    );
}

#[test]
#[ignore = "exercise 3"]
fn commands_of_the_harness_come_first() {
    let model = model(echo);
    let class = with_skills().model(&model);
    let ran = class.types(&["hi", "/clear", "/team", "/greeting", "what now?"]);
    ran.succeeds().shows("a new session; the old one is kept").shows("there is no teammate yet");
    assert_eq!(
        asked(&model),
        3,
        "hi, /greeting and the last line should reach the model\n{}",
        ran.transcript()
    );
    let text = last_texts(&model).join("\n");
    assert!(
        !text.contains("Wash the dishes.") && !text.contains("Play football."),
        "/clear and /team are commands of the harness: {text:?}"
    );
    assert!(
        text.contains("Say hello in verse.") && !text.contains("hi\n"),
        "the new conversation has the skill it asked for: {text:?}"
    );
}

#[test]
#[ignore = "exercise 3"]
fn what_is_no_skill_is_what_it_was() {
    let model = model(echo);
    let class = with_skills().model(&model);
    let ran = class.types(&[
        "/greetings",
        "/halp",
        "/etc/hosts is what?",
        "what does /greeting do?",
        "/greeting",
    ]);
    ran.shows("there is no command /greetings")
        .shows("did you mean /help?")
        .shows("You said: /etc/hosts is what?")
        .shows("You said: what does /greeting do?");
    let requests = model.requests();
    let with_skill = requests.iter().filter(|request| {
        let last = request.user_texts().pop().unwrap_or_default();
        last.contains("<skill name=")
    });
    let count = with_skill.filter(|request| !super::is_aside(request)).count();
    assert_eq!(count, 1, "only the line that is the command brings the skill");
    assert_eq!(
        asked(&model),
        3,
        "/greetings and /halp should not reach the model\n{}",
        ran.transcript()
    );
}
