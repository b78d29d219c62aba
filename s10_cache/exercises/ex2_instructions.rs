//! Exercise 2 · instructions (15 minutes).
//!
//! Projects keep what every agent should know in a file `AGENTS.md`. Give it a section of the system prompt: the heading
//! `# Instructions`, then the text of the file, behind the workspace and in front of the skills. It is read for every
//! request, so what the user or the model writes into it counts at once, and `[prompt rebuilt: instructions]` says so.
//! Without the file, or with nothing but white space in it, there is no such section, and nothing is said.
//!
//! Hint: a new section begins in `section.rs`, with a variant; from there the compiler leads you.
//!
//! Hint: where is a prompt's input read, and where is it written down? A file that is read in the wrong one of the two is
//! not missed before it changes.

use mock_servers::model::{MockModel, Reply, calls, says};
use serde_json::{Value, json};
use testkit::Ran;

use super::{class, lead};
use crate::class::leads;

const HEADING: &str = "# Instructions";

fn write(path: &str, content: &str) -> Reply {
    calls("write_file", json!({"path": path, "content": content}))
}

/// How many lines say that the instructions were rebuilt.
fn rebuilt(ran: &Ran) -> usize {
    ran.stdout.matches("[prompt rebuilt: instructions]\n").count()
}

/// The texts of the sections of the last request, and whether a breakpoint stands behind each.
fn sections(model: &MockModel) -> Vec<(String, bool)> {
    let body = leads(model).pop().expect("a request").json();
    let blocks = body["system"].as_array().expect("sections").iter();
    let section = |block: &Value| {
        let text = block["text"].as_str().expect("a text").to_owned();
        (text, block.get("cache_control").is_some())
    };
    blocks.map(section).collect()
}

#[test]
#[ignore = "exercise 2"]
fn the_file_stands_in_the_stable_part_of_the_prompt() {
    let model = lead([says("Hi.")]);
    let skill = "---\nname: tea\ndescription: Make tea.\n---\nBoil water.\n";
    let class = class()
        .file("AGENTS.md", "Write tests first.\n")
        .file("skills/tea/SKILL.md", skill)
        .model(&model);
    class.types(&["Hello"]).succeeds();
    let sections = sections(&model);
    let texts: Vec<&str> = sections.iter().map(|(text, _)| text.as_str()).collect();
    let place = |heading: &str| texts.iter().position(|text| text.starts_with(heading));
    let (Some(workspace), Some(instructions), Some(skills)) =
        (place("# Workspace"), place(HEADING), place("# Skills"))
    else {
        panic!("a section that begins with {HEADING:?} was to stand in the prompt\n{texts:#?}");
    };
    assert!(
        workspace < instructions && instructions < skills,
        "it was to stand behind the workspace and in front of the skills\n{texts:#?}"
    );
    assert!(
        texts[instructions].contains("Write tests first."),
        "it was to hold the text of AGENTS.md\n{}",
        texts[instructions]
    );
    let marked = sections.iter().filter(|(_, has_breakpoint)| *has_breakpoint);
    let marked: Vec<&str> = marked.map(|(text, _)| text.lines().next().unwrap_or("")).collect();
    assert!(
        matches!(&marked[..], ["# Skills", _]),
        "the two breakpoints of the prompt were to stay where they are: behind the skills, and at the end; they stand \
         behind {marked:?}"
    );
}

#[test]
#[ignore = "exercise 2"]
fn what_is_written_into_it_counts_in_the_next_request() {
    let model = lead([
        write("AGENTS.md", "Write tests first."),
        write("AGENTS.md", "Write tests last."),
        write("notes.md", "nothing"),
        says("Done."),
    ]);
    let ran = class().model(&model).types(&["go"]);
    ran.succeeds();
    let requests = leads(&model);
    let has = |text: &str| -> Vec<bool> {
        let prompts = requests.iter();
        prompts.map(|request| request.system.contains(text)).collect()
    };
    assert_eq!(
        (has("Write tests first."), has("Write tests last.")),
        (vec![false, true, false, false], vec![false, false, true, true]),
        "the model wrote the file in its first reply and changed it in its second; the next request each time was to have \
         the new text\n{}",
        ran.transcript()
    );
    assert_eq!(
        rebuilt(&ran),
        2,
        "the file changed twice, and nothing else did; so many lines were to say that the instructions were rebuilt\n{}",
        ran.transcript()
    );
}

#[test]
#[ignore = "exercise 2"]
fn a_file_with_nothing_in_it_is_no_section() {
    let model = lead([
        write("AGENTS.md", "  \n\n"),
        write("AGENTS.md", "Write tests first."),
        write("AGENTS.md", "\n"),
        says("Done."),
    ]);
    let ran = class().model(&model).types(&["go"]);
    ran.succeeds();
    let has_section: Vec<bool> =
        leads(&model).iter().map(|request| request.system.contains(HEADING)).collect();
    assert_eq!(
        has_section,
        [false, false, true, false],
        "only in the third request was there something in AGENTS.md\n{}",
        ran.transcript()
    );
    assert_eq!(
        rebuilt(&ran),
        2,
        "the section appeared once and went once; a file that has nothing to say is no news\n{}",
        ran.transcript()
    );
}
