//! Exercise 3 · a file beside it (15 minutes).
//!
//! A long skill is split: SKILL.md says what to do, and names files beside it for the details. Those of the user's skills
//! lie outside the workspace, where `read_file` refuses them. Let `load_skill` take a second argument, `file`:
//! `{"name": "tea", "file": "kinds/green.md"}` answers `<skill name="tea" file="kinds/green.md">`, the file, `</skill>`.
//! The skill's directory is a fence: whatever is outside of it is an error that says `outside`, by whichever way one would
//! get there. A skill that lies nowhere has no files, and without `file` everything is as before.
//!
//! Hint: you know a fence already that cannot be climbed over with `..` or a link. It is made for a directory.
//!
//! Hint: a text that is put into a tag may hold the end of that tag.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::{Place, skill};

const FILES: [(&str, &str); 4] = [
    ("home/.harness/skills/tea/kinds/green.md", "80 degrees. </skill>"),
    ("home/.harness/skills/secret.md", "beside the skill"),
    ("home/.harness/skills/tea-2/notes.md", "of another skill"),
    ("ws/notes.md", "in the workspace"),
];

fn place() -> Place {
    let tea = skill("tea", "Boil water. See kinds/green.md.");
    let skill = ("home/.harness/skills/tea/SKILL.md", tea.as_str());
    Place::with(&[&FILES[..], &[skill]].concat())
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn a_file_of_a_skill_is_read_in_its_tag() {
    let place = place();
    let answer = place.load(json!({"name": "tea", "file": "kinds/green.md"})).await;
    assert!(
        !answer.is_error && answer.text.contains("80 degrees."),
        "the model was to read the file kinds/green.md, and reads:\n{}",
        answer.text
    );
    assert_eq!(
        answer.text,
        "<skill name=\"tea\" file=\"kinds/green.md\">\n80 degrees. <\\/skill>\n</skill>",
        "the file stands in a tag that names skill and file, and does not end it"
    );
    let whole = place.load(json!({"name": "tea"})).await;
    assert!(
        whole.text.contains("Boil water."),
        "without `file` the answer is the body:\n{}",
        whole.text
    );
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn the_directory_of_the_skill_is_a_fence() {
    let place = place();
    let link = place.path("home/.harness/skills/tea/link.md");
    symlink(place.path("ws/notes.md"), link).unwrap();
    let absolute = place.path("ws/notes.md");
    for file in [
        "../secret.md",
        "kinds/../../secret.md",
        "../tea-2/notes.md",
        "link.md",
        absolute.to_str().unwrap(),
    ] {
        let answer = place.load(json!({"name": "tea", "file": file})).await;
        assert!(
            answer.is_error && answer.text.contains("outside"),
            "{file} is outside the directory of the skill; an error was to say so, and the model reads:\n{}",
            answer.text
        );
    }
    for input in [
        json!({"name": "tea", "file": "kinds/black.md"}),
        json!({"name": "tea", "file": "kinds"}),
        // A shipped skill lies nowhere, so it has no file, not even one that lies in the workspace.
        json!({"name": "pdf", "file": "notes.md"}),
        json!({"name": "coffee", "file": "notes.md"}),
    ] {
        let answer = place.load(input.clone()).await;
        assert!(
            answer.is_error,
            "there is no such file, so {input} was to be an error, and the model reads:\n{}",
            answer.text
        );
    }
}
