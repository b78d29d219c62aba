//! Exercise 2 · compact by hand (10 minutes).
//!
//! The user knows best when a piece of work is done. Who types `/compact`, or `/compact` and what matters (`/compact the
//! names of the files`), has the conversation summarized at once, with that as the focus. It is no prompt: the lead's
//! model is not sent it, and it is not in the conversation. Where there is nothing to summarize the user reads so.
//! Only the whole word is the command, and only at the beginning of a line; blanks around it do not matter. Ctrl-C during
//! the summary works as it does during a turn.
//!
//! Hint: the compactor has a verb for it that nobody calls yet. It wants the history, so a hook cannot do it.
//!
//! Hint: `Repl::run` is what Ctrl-C interrupts. What runs inside of it?

use mock_servers::model::{MockModel, calls, says};
use serde_json::json;
use testkit::Class;

use crate::stage::SUMMARIZER;

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s08_compact"))
        .file("notes.md", "A line of the notes.\n".repeat(100))
}

#[test]
#[ignore = "exercise 2"]
fn slash_compact_summarizes_with_a_focus_and_is_no_prompt() {
    let model = MockModel::scripted([
        calls("read_file", json!({"path": "notes.md"})),
        says("Read."),
        says("Going on."),
    ]);
    model.script_for(SUMMARIZER, [says("There are notes.")]);
    let lines = ["read notes.md", "/compact the names of the files", "go on"];
    let ran = class().model(&model).types(&lines);
    let requests = model.requests();
    let summaries: Vec<_> =
        requests.iter().filter(|request| request.system.starts_with(SUMMARIZER)).collect();
    assert_eq!(
        summaries.len(),
        1,
        "`/compact …` was to lead to one request for a summary\n{}",
        ran.transcript()
    );
    let question = summaries[0].user_texts().concat();
    assert!(
        question.ends_with("<focus>the names of the files</focus>"),
        "what stands behind `/compact` is the focus of the summary; the question ends with\n{}",
        question.lines().last().unwrap_or_default()
    );
    let texts = model.last_request().user_texts();
    assert!(
        texts[0].contains("There are notes.") && texts.last().is_some_and(|text| text == "go on"),
        "the next request was to begin with the summary and end with `go on`: {texts:#?}"
    );
    assert!(
        !texts.iter().any(|text| text.starts_with("/compact")),
        "`/compact` was not to be in the conversation: {texts:#?}"
    );
    ran.shows(" messages summarized, ");
}

#[test]
#[ignore = "exercise 2"]
fn with_nothing_to_summarize_nobody_is_asked_and_other_words_are_prompts() {
    let others = ["/compactness is a word", "what does /compact do?"];
    let model = MockModel::scripted(["1", "2"].map(says));
    let class = class().model(&model);
    let ran = class.types(&["/compact", "  /compact  ", others[0], others[1]]);
    assert_eq!(
        model.last_request().user_texts(),
        others,
        "the prompts in the conversation; the first two lines are the command, the others are not\n{}",
        ran.transcript()
    );
    let said = ran.stdout.matches("there is nothing to summarize").count();
    assert_eq!(said, 2, "how often the user reads that there is nothing to summarize");
}
