//! The lesson as a class sees it: room is made before the eyes of the user, and the work goes on.

mod session;

use mock_servers::model::{Fault, MockModel, Options, Rehearsal, Reply, calls, says};
use serde_json::json;
use testkit::{Class, Ran, assert_pool};

use crate::long_run::{FILES, REQUEST, ROUNDS, Reader, content};

fn class() -> Class {
    let layers = "//! The layers.\n\nfn layer() {}\n".repeat(40);
    let files = [
        ("README.md", "# Tea timer\n\nA timer for tea.\n"),
        ("Cargo.toml", "[package]\nname = \"tea_timer\"\n"),
        ("s01_loop/README.md", "# The loop\n\nCall, run, feed back.\n"),
        ("s08_compact/README.md", "# Room\n\nThe cheapest layer first.\n"),
        ("s08_compact/Cargo.toml", "[package]\nname = \"s08_compact\"\n"),
        ("s08_compact/src/lib.rs", "//! Makes room.\n\nmod layers;\n"),
        ("s08_compact/src/layers.rs", &layers),
    ];
    let class = Class::new(env!("CARGO_BIN_EXE_s08_compact"));
    files.iter().fold(class, |class, (name, text)| class.file(name, text))
}

/// The files of the workspace that a request to read the chapter must reach.
const CHAPTER: [&str; 4] = [
    "s08_compact/Cargo.toml",
    "s08_compact/README.md",
    "s08_compact/src/layers.rs",
    "s08_compact/src/lib.rs",
];

fn window(tokens: u32) -> Options {
    Options {
        context_tokens: tokens,
        ..Options::strict()
    }
}

/// A class whose model has a window of this size, and says so.
fn small(class: Class, model: &MockModel) -> Class {
    class.model(model).env("MODEL_CONTEXT_TOKENS", model.context_tokens().to_string())
}

fn scripted(tokens: u32, replies: impl IntoIterator<Item = Reply>) -> MockModel {
    MockModel::scripted_with(window(tokens), replies)
}

fn rehearsal(tokens: u32) -> MockModel {
    MockModel::start(window(tokens), Rehearsal).expect("loopback has a free port")
}

fn read(path: &str) -> Reply {
    calls("read_file", json!({"path": path}))
}

/// The files that the model has read, in order, whatever was compacted in between.
fn files_read(ran: &Ran) -> Vec<&str> {
    let calls = ran.stdout.lines();
    calls.filter_map(|line| line.strip_prefix("> read_file  ")).collect()
}

/// The lines about compaction, without their figures.
fn layers(ran: &Ran) -> Vec<&str> {
    let lines = ran.stdout.lines();
    let lines = lines.filter_map(|line| line.strip_prefix("[compacted: "));
    lines.filter_map(|line| line.split_once(", ")).map(|(what, _)| what).collect()
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s08_compact"));
}

/// Thirty requests, 61 messages: more than one layer would take, were the window not nearly empty.
#[test]
fn with_room_each_request_begins_with_the_whole_one_before() {
    let model = MockModel::scripted((0..30).map(|_| says("Yes.")));
    let lines: Vec<String> = (0..30).map(|number| format!("is {number} a number?")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let ran = class().model(&model).types(&lines);
    ran.succeeds().never_shows("[compacted:");
    assert_eq!(model.last_request().user_texts(), lines);
    for pair in model.requests().windows(2) {
        let [before, after] = [0, 1].map(|at| pair[at].json()["messages"].clone());
        let (before, after) = (before.as_array().unwrap(), after.as_array().unwrap());
        assert!(after.starts_with(before), "{before:?}");
    }
}

#[test]
fn every_file_is_read_although_old_results_go() {
    for model in [MockModel::strict_rehearsal(), rehearsal(5_000)] {
        let ran = small(class(), &model).types(&[
            "Read the file README.md, then read Cargo.toml, then read s01_loop/README.md",
            "Read every file in s08_compact/",
        ]);
        ran.succeeds().never_shows("no longer in this conversation");
        let (_, answer) = ran.stdout.rsplit_once("\n> ").unwrap();
        for path in CHAPTER {
            assert!(
                files_read(&ran).contains(&path) && answer.contains(&format!("{path}: ")),
                "{path}\n{}",
                ran.transcript()
            );
        }
        assert!(files_read(&ran).len() <= 3 + 2 * CHAPTER.len(), "{}", ran.transcript());
    }
}

/// Five files that do not fit beside each other: what was read before a summary is known behind it.
#[test]
fn what_was_read_before_a_summary_is_not_read_again() {
    for (order, most) in [("Summarize", 5), ("Read", 10)] {
        let model = rehearsal(6_000);
        let names = ["1.txt", "2.txt", "3.txt", "4.txt", "5.txt"];
        let text =
            |name: &str| format!("What {name} says.\n\n{}", "One of many lines.\n".repeat(140));
        let class = names.iter().fold(class(), |class, name| class.file(name, text(name)));
        let ran = small(class, &model).types(&[&format!("{order} {}", names.join(", then "))]);
        ran.succeeds().shows("[compacted: ");
        let (_, answer) = ran.stdout.rsplit_once("\n[compacted: ").unwrap();
        assert!(files_read(&ran).len() <= most, "{}", ran.transcript());
        for name in names {
            assert!(answer.contains(&format!("{name}:")), "{name}\n{}", ran.transcript());
        }
    }
}

#[test]
fn twenty_turns_of_chat_are_summarized_and_the_first_request_is_still_known() {
    let model = rehearsal(6_000);
    let chat = ["What else can you do?"; 20];
    let lines = [&["Read the file README.md"][..], &chat, &["What did I ask you first?"]].concat();
    let ran = small(class(), &model).types(&lines);
    ran.succeeds().shows(" messages summarized, ").never_shows("<conversation-summary>");
    let answers = ran.stdout.matches("I am the rehearsal model of this course");
    assert_eq!(answers.count(), 20);
    let summarized = layers(&ran).len();
    assert!((2..=8).contains(&summarized), "{}", ran.transcript());
    let (_, answer) = ran.stdout.rsplit_once("What did I ask you first?").unwrap();
    assert!(answer.contains("Read the file README.md"), "{answer}");
}

#[test]
fn the_files_of_a_request_are_read() {
    let three = ["README.md", "Cargo.toml", "s01_loop/README.md"];
    for (request, files) in [
        ("Read the file README.md, then read Cargo.toml, then read s01_loop/README.md", &three[..]),
        ("look at README.md, Cargo.toml and s01_loop/README.md, please", &three),
        ("please read all the files in the directory s08_compact", &CHAPTER),
        ("I want you to read each file in s08_compact", &CHAPTER),
        ("Open all files in s08_compact and tell me what they are", &CHAPTER),
    ] {
        let model = MockModel::strict_rehearsal();
        let ran = class().model(&model).types(&[request]);
        let mut read = files_read(ran.succeeds());
        if files == CHAPTER {
            read.sort();
        }
        assert_eq!(read, files, "{request}\n{}", ran.transcript());
    }
}

#[test]
fn each_layer_says_in_one_line_what_it_did() {
    let large = "a line of a large file\n".repeat(2_000);
    let rounds = ["large.txt"].into_iter().chain(["a.txt"; 5]).map(read);
    let model = scripted(8_000, rounds.chain([says("Done.")]));
    let class = class().file("large.txt", large).file("a.txt", "x".repeat(2_000));
    let ran = small(class, &model).types(&["go"]);
    assert_eq!(layers(ran.succeeds()), ["1 result kept in files", "3 results"]);
    let line = ran.stdout.lines().find(|line| line.starts_with("[compacted: 1 result kept"));
    let line = line.unwrap().strip_suffix(" tokens]").unwrap();
    let (before, after) = line.rsplit_once(", ").unwrap().1.split_once(" → ").unwrap();
    let number = |text: &str| text.replace(',', "").parse::<u32>().unwrap();
    assert!(number(before) > number(after) + 10_000, "{line}");

    let reads = (0..60).map(|_| read("README.md"));
    let model = scripted(4_000, reads.chain([says("Done.")]));
    let ran = small(self::class(), &model).types(&["go"]);
    assert_eq!(layers(ran.succeeds()), ["52 messages left out"]);
    let texts = model.last_request().user_texts();
    assert_eq!(texts[0], "go");
    assert!(texts[1].starts_with("[52 messages left out here: .harness/transcripts/"));
}

#[test]
fn a_user_who_asks_for_a_summary_gets_one() {
    let model = MockModel::strict_rehearsal();
    let large = "# Tea\n".to_owned() + &"Tea takes its time.\n".repeat(200);
    let ran = class()
        .file("tea.md", large)
        .model(&model)
        .types(&["Read the file tea.md", "Compact the conversation"]);
    ran.succeeds();
    assert_eq!(layers(&ran), ["5 messages summarized"]);
}

#[test]
fn a_prompt_that_the_api_finds_too_long_is_made_shorter_and_sent_again() {
    // The window is smaller than the settings say.
    let model = scripted(6_000, [read("big.txt"), read("big.txt"), says("Done.")]);
    model.script_for("You summarize a conversation", [says("Read once.")]);
    let class = class().file("big.txt", "x".repeat(16_000)).model(&model);
    let ran = class.types(&["what is in big.txt?"]);
    let did = ["1 result kept in files", "1 result", "3 messages summarized"];
    assert_eq!(layers(ran.succeeds().shows("Done.")), did);
    assert_eq!(model.refusals().len(), 1);
    assert_eq!(model.last_request().user_texts()[1], "what is in big.txt?");
}

#[test]
fn a_first_request_that_is_too_long_is_an_error_and_the_next_turn_is_none_the_worse() {
    let model = MockModel::scripted([says("Hi.")]);
    model.fault(Fault::TooLong, 1);
    let ran = class().model(&model).types(&["go", "Hello"]);
    ran.shows("prompt is too long").shows("Hi.");
    assert_eq!(layers(&ran), [""; 0]);
}

#[test]
fn two_hundred_rounds_of_large_outputs_fit_into_a_small_window() {
    let brain = Reader::default();
    let model = MockModel::start(window(20_000), brain.clone()).expect("loopback has a free port");
    let mut class = small(Class::new(env!("CARGO_BIN_EXE_s08_compact")), &model);
    for (name, size) in FILES {
        class = class.file(name, content(size));
    }
    let ran = class.types(&[REQUEST]);
    ran.succeeds().shows("The ninth door is green.").never_shows("too long");
    for what in ["kept in files", "messages summarized", "results"] {
        assert!(layers(&ran).iter().any(|layer| layer.contains(what)), "{what}");
    }
    let requests = model.requests();
    let (summaries, rounds): (Vec<_>, Vec<_>) =
        requests.iter().partition(|request| request.system.starts_with("You summarize"));
    assert_eq!((rounds.len(), summaries.len()), (ROUNDS + 1, brain.summaries()));
    for request in rounds {
        assert!(request.user_texts().iter().any(|text| text == REQUEST));
    }
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([calls("task", json!({"description": "Greet."})), says("Hi.")]);
    model.script_for("You are a subagent", [says("Done.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let requests = model.requests();
    let [names, subagent] = [0, 1].map(|at| requests[at].tool_names());
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names), ("subagent", subagent)]);
}
