//! Exercise 3 · forget (15 minutes).
//!
//! What the agent has remembered, the user can take back: after `/forget NAME` the memory of that name is gone. Its file
//! has moved to `.harness/memory.old/`, its line is no longer in the index, the user reads
//! `forgot NAME; its file is in .harness/memory.old`, and the model is sent nothing. The name is all that follows the
//! command, and it is the memory's name, as the index shows it, not the name of a file. When there is no such memory,
//! nothing changes, and the user reads a line that begins with `there is no memory` and names those there are.
//!
//! Hint: a UserPromptSubmit hook sees what is typed before the model does, and may refuse it with a reason, which the user
//! reads. `permission` in s04 is a hook that waits for something.
//!
//! Hint: who writes to the folder has the right to write, a `Writing`; it holds the lock, and what has to happen first has
//! happened when you get it. Write what you need beside `Writing::keep`.

use mock_servers::model::{MockModel, Options, Request, says};
use testkit::Class;

/// What begins the lead's system prompt.
const LEAD: &str = "You are a coding agent";

/// A workspace in which an earlier session has left two memories, one of them in a file of another name.
fn class(model: &MockModel) -> Class {
    let memory = |name: &str| {
        format!(
            "---\nname: {name}\ndescription: about {name}\ntype: user\n---\n\nAll about {name}.\n"
        )
    };
    Class::new(env!("CARGO_BIN_EXE_s09_memory"))
        .file(".harness/memory/quotes.md", memory("quotes"))
        .file(".harness/memory/indent.md", memory("Tabs & Spaces"))
        .file(".harness/memory/MEMORY.md", "- [mine](mine.md) — by hand\n")
        .file(".harness/notes.md", memory("notes"))
        .model(model)
}

/// A model that says fine to everything, and of memories that there is nothing to choose and nothing to keep.
fn model() -> MockModel {
    let brain = |request: &Request| {
        if request.system.starts_with(LEAD) { says("Fine.") } else { says("[]") }
    };
    MockModel::start(Options::strict(), brain).unwrap()
}

/// What the lead was asked, each request by the last thing the user said in it.
fn asked(model: &MockModel) -> Vec<String> {
    let requests = model.requests();
    let leads = requests.iter().filter(|request| request.system.starts_with(LEAD));
    leads.filter_map(|request| request.user_texts().pop()).collect()
}

/// What is in the folder of the memory and what the user can still get back, by file names.
fn files(class: &Class) -> [Vec<String>; 2] {
    ["memory", "memory.old"].map(|folder| {
        let found = std::fs::read_dir(class.dir().join(".harness").join(folder));
        let found = found.into_iter().flatten();
        let names = found.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
        names.sort();
        names
    })
}

#[test]
#[ignore = "exercise 3"]
fn a_forgotten_memory_is_out_of_the_folder_the_index_and_the_prompt() {
    let model = model();
    let class = class(&model);
    let ran = class.types(&["/forget quotes", "go"]);
    ran.succeeds().shows("forgot quotes; its file is in .harness/memory.old\n");
    assert_eq!(
        files(&class),
        [vec!["MEMORY.md", "indent.md"], vec!["quotes.md"]],
        "`quotes.md` was to move from .harness/memory to .harness/memory.old, and nothing else was to change"
    );
    assert_eq!(
        class.read(".harness/memory/MEMORY.md"),
        "- [mine](mine.md) — by hand\n- [Tabs & Spaces](indent.md) — about Tabs & Spaces\n",
        "the index was to lose the line of `quotes` and to keep the others, the one by hand among them"
    );
    assert_eq!(asked(&model), ["go"], "the model was to be sent `go` and nothing of the command");
    let requests = model.requests();
    let lead = requests.iter().find(|request| request.system.starts_with(LEAD));
    let prompt = &lead.expect("the lead was asked to go").system;
    assert!(!prompt.contains("quotes"), "the system prompt still names `quotes`\n{prompt}");
}

#[test]
#[ignore = "exercise 3"]
fn a_memory_is_forgotten_by_its_name_whatever_its_file_is_called() {
    let model = model();
    let class = class(&model);
    let ran = class.types(&["  /forget   Tabs & Spaces "]);
    ran.succeeds().shows("forgot Tabs & Spaces; its file is in .harness/memory.old\n");
    assert_eq!(
        files(&class),
        [vec!["MEMORY.md", "quotes.md"], vec!["indent.md"]],
        "the memory `Tabs & Spaces` lies in indent.md, and that file was to move"
    );
}

#[test]
#[ignore = "exercise 3"]
fn a_name_that_leads_elsewhere_is_no_memory() {
    let model = model();
    let class = class(&model);
    for name in ["../notes", "indent", "MEMORY", "mine", ""] {
        let line = format!("/forget {name}");
        let ran = class.types(&[&line]);
        ran.succeeds().shows("there is no memory").shows("quotes").shows("Tabs & Spaces");
        assert_eq!(
            files(&class),
            [vec!["MEMORY.md", "indent.md", "quotes.md"], vec![]],
            "{line:?} names no memory, so nothing was to change"
        );
        assert!(
            class.dir().join(".harness/notes.md").exists(),
            "{line:?} took away a file that is not in the folder of the memory"
        );
    }
}

#[test]
#[ignore = "exercise 3"]
fn only_a_line_that_begins_with_the_word_is_the_command() {
    let model = model();
    let class = class(&model);
    let ran = class.types(&[
        "/forgetful people use notes",
        "/forget quotes",
        "What does /forget quotes do?",
    ]);
    ran.succeeds().shows("forgot quotes; its file is in .harness/memory.old\n");
    assert_eq!(
        asked(&model),
        ["/forgetful people use notes", "What does /forget quotes do?"],
        "three lines were typed; the second is the command, the others were to go to the model"
    );
}
