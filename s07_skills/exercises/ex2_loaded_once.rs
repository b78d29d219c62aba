//! Exercise 2 · loaded once (10 minutes).
//!
//! A model that loads a skill twice has its body in the conversation twice, and pays for both in every request. Answer
//! the second call with one line that names the skill and says `is loaded already`. That is true only as long as what
//! stands in the conversation is what the file says now: when the skill has changed, or another one has taken its name,
//! the new body is handed out.
//!
//! Hint: the name is not enough to know a body by.
//!
//! Hint: `Shared` lasts as long as the session. What was handed out can be kept there.

use serde_json::json;

use super::{Place, skill, write};

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_body_is_handed_out_once() {
    let tea = skill("tea", "Boil water.");
    let place = Place::with(&[("ws/skills/tea/SKILL.md", &tea)]);
    let first = place.load(json!({"name": "tea"})).await;
    assert!(first.text.contains("Boil water."), "{first:?}");
    let second = place.load(json!({"name": " tea"})).await;
    assert!(
        !second.is_error
            && second.text.lines().count() == 1
            && second.text.contains("tea")
            && second.text.contains("is loaded already"),
        "the second call was to be answered with one line, `… tea … is loaded already …`, and is answered with:\n{}",
        second.text
    );
    let another = place.load(json!({"name": "pdf"})).await;
    assert!(
        another.text.starts_with("<skill name=\"pdf\">"),
        "`pdf` was not loaded before, and the answer is:\n{}",
        another.text
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_body_that_has_changed_is_handed_out_again() {
    let place = Place::with(&[("home/.harness/skills/tea/SKILL.md", &skill("tea", "Boil water."))]);
    let project = place.path("ws/skills/tea/SKILL.md");
    for (body, expected) in [
        (None, "Boil water."),
        (None, "is loaded already"),
        (Some("Boil milk."), "Boil milk."),
        (None, "is loaded already"),
        (Some("Boil more milk."), "Boil more milk."),
        (None, "is loaded already"),
    ] {
        if let Some(body) = body {
            // The project's skill wins over the user's.
            write(&project, skill("tea", body));
        }
        let answer = place.load(json!({"name": "tea"})).await.text;
        assert!(
            answer.contains(expected),
            "the call was to be answered with {expected:?}, and is answered with:\n{answer}"
        );
    }
}
