//! What a turn leaves: files, and lines of the index.

use std::fs;

use mock_servers::model::{Fault, StopReason, says};
use s01_loop::Message;
use serde_json::json;

use crate::stage::{EXTRACT, Stage, asking, entry, turn};

#[tokio::test]
async fn what_is_learned_is_a_file_and_a_line_of_the_index() {
    let stage = Stage::new();
    let memory = stage.memory();
    assert_eq!(memory.index(), "");
    assert!(!stage.path("memory").exists(), "nothing is made before it is needed");
    stage.answers(EXTRACT, [json!([entry("Tabs", "Indent with tabs.")])]);
    memory.learn(&turn()).await;
    assert_eq!(
        stage.read("memory/tabs.md"),
        "---\nname: Tabs\ndescription: about Tabs\ntype: user\n---\n\nIndent with tabs.\n"
    );
    assert_eq!(stage.read("memory/MEMORY.md"), "- [Tabs](tabs.md) — about Tabs\n");
    let index = memory.index();
    assert!(index.starts_with("# Memory\n"), "{index}");
    assert!(index.ends_with("\n\n- [Tabs](tabs.md) — about Tabs"), "{index}");
    assert_eq!(stage.memory().index(), index, "another process sees the same");
}

#[tokio::test]
async fn the_last_ten_messages_and_the_index_are_what_is_searched() {
    let stage = Stage::new();
    stage.knows(&["tabs"]);
    let mut history = asking("request 1");
    for number in 2..9 {
        history.push(Message::assistant(format!("reply {number}")));
        history.user(format!("request {number}"));
    }
    history.push(Message::assistant("</conversation> the end"));
    stage.answers(EXTRACT, [json!([])]);
    stage.memory().learn(&history).await;
    let question = stage.question();
    assert!(question.contains("<memories>\n- [tabs](tabs.md) — about tabs\n</memories>"));
    assert!(question.contains("request 4") && !question.contains("reply 3"), "{question}");
    assert_eq!(question.matches("</conversation>").count(), 1, "{question}");
    assert!(stage.model.last_request().tools.is_empty());
}

#[tokio::test]
async fn what_a_long_turn_was_asked_for_is_searched_too() {
    let stage = Stage::new();
    let mut history = asking("an older request");
    history.push(Message::assistant("done"));
    history.user("Remember tabs, and say it often.");
    for _ in 0..12 {
        history.push(Message::assistant("tabs"));
        history.remind(["<stop-hook>\nmore\n</stop-hook>"]);
    }
    history.push(Message::assistant("the end"));
    stage.answers(EXTRACT, [json!([])]);
    stage.memory().learn(&history).await;
    let question = stage.question();
    let tagged = question.split_once("<conversation>\n").unwrap().1;
    assert!(tagged.starts_with("User: Remember tabs, and say it often.\n\n"), "{question}");
    assert!(!question.contains("an older request"));
}

#[tokio::test]
async fn ctrl_c_while_it_is_learned_leaves_nothing_half_done_and_no_lock() {
    let stage = Stage::new();
    let memory = stage.memory();
    stage.answers(EXTRACT, [json!([entry("tabs", "Indent with tabs.")])]);
    stage.model.fault(Fault::Stall, 1);
    {
        let conversation = turn();
        let learning = memory.learn(&conversation);
        let asked = async {
            while stage.asked(EXTRACT) == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = learning => panic!("the side call stalls"),
            () = asked => {}
        }
    }
    assert!(!stage.path("memory").exists());
    memory.learn(&turn()).await;
    assert_eq!(stage.names(), ["tabs.md"]);
}

#[tokio::test]
async fn the_same_name_updates_its_file_and_keeps_fields_it_does_not_know() {
    let stage = Stage::new();
    let tabs = "---\n# by hand\nname: Tabs\nsource: [chat, \"a: b\"]\ntype: user\n---\nIndent with tabs.\n";
    stage.write("memory/mine.md", tabs);
    stage.answers(EXTRACT, [json!([entry(" Tabs", "Indent with two tabs.")])]);
    stage.memory().learn(&turn()).await;
    assert_eq!(stage.names(), ["mine.md"]);
    assert_eq!(
        stage.read("memory/mine.md"),
        "---\nname: Tabs\ndescription: about  Tabs\ntype: user\n# by hand\nsource: [chat, \"a: b\"]\n---\n\nIndent with two tabs.\n"
            .replace("  ", " ")
    );
    let index = stage.read("memory/MEMORY.md");
    assert_eq!(index, "- [Tabs](mine.md) — about Tabs\n");
}

#[tokio::test]
async fn what_is_known_is_not_kept_twice() {
    let stage = Stage::new();
    let tabs = entry("tabs", "Indent with tabs.");
    let again = entry("indentation", "Indent with tabs.");
    stage.answers(EXTRACT, [json!([tabs, tabs]), json!([tabs, again])]);
    let memory = stage.memory();
    let changed = || fs::metadata(stage.path("memory/tabs.md")).unwrap().modified().unwrap();
    memory.learn(&turn()).await;
    let written = changed();
    memory.learn(&turn()).await;
    assert_eq!(stage.names(), ["tabs.md"]);
    assert_eq!(changed(), written, "a file without news is not written");
}

#[tokio::test]
async fn a_memory_called_memory_never_overwrites_the_index() {
    let stage = Stage::new();
    let names = ["memory", "MEMORY", "MEMORY.md", "../x", "/etc/x", "\u{1f980}", "."];
    let entries = names.map(|name| entry(name, &format!("All about {name}.")));
    stage.answers(EXTRACT, [json!(entries)]);
    stage.memory().learn(&turn()).await;
    let files = ["etc-x", "memory-2", "memory-3", "memory-md", "note-2", "note", "x"];
    assert_eq!(stage.names(), files.map(|slug| format!("{slug}.md")));
    assert_eq!(stage.read("memory/MEMORY.md").lines().count(), names.len());
    let outside = fs::read_dir(stage.dir.path()).unwrap().count();
    assert_eq!(outside, 1, "nothing is written outside");
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_leaves_nothing() {
    let stage = Stage::new();
    let memory = stage.memory();
    for nonsense in ["nothing to keep", "{\"name\": 1}", "[1, 2]", "[{\"name\": \"a\"}]"] {
        stage.says(EXTRACT, nonsense);
        memory.learn(&turn()).await;
    }
    let cut = says("[{\"name\": \"a\", \"content\": \"b\"}]").stops_with(StopReason::MaxTokens);
    stage.model.script_for(EXTRACT, [cut]);
    memory.learn(&turn()).await;
    assert!(!stage.path("memory").exists());
}

#[tokio::test]
async fn a_damaged_file_is_left_alone_and_its_name_not_taken() {
    let stage = Stage::new();
    let damaged =
        [("tabs", "no front matter"), ("x", "---\nname: [x\n---\n"), ("y", "---\nname: y")];
    for (slug, text) in damaged {
        stage.write(&format!("memory/{slug}.md"), text);
    }
    stage.write("memory/MEMORY.md", "- [tabs](tabs.md) — by hand\n");
    fs::write(stage.path("memory/bytes.md"), b"---\nname: \xff\n---\n").unwrap();
    fs::create_dir(stage.path("memory/folder.md")).unwrap();
    stage
        .answers(EXTRACT, [json!([entry("tabs", "a"), entry("folder", "b"), entry("bytes", "c")])]);
    stage.memory().learn(&turn()).await;
    for (slug, text) in damaged {
        assert_eq!(stage.read(&format!("memory/{slug}.md")), text);
    }
    assert_eq!(
        stage.read("memory/MEMORY.md"),
        "- [tabs](tabs.md) — by hand\n- [bytes](bytes-2.md) — about bytes\n- [folder](folder-2.md) — about folder\n\
         - [tabs](tabs-2.md) — about tabs\n"
    );
    // An index that is no text, too.
    fs::write(stage.path("memory/MEMORY.md"), b"\xff\xfe").unwrap();
    stage.answers(EXTRACT, [json!([entry("quotes", "single")])]);
    stage.memory().learn(&turn()).await;
    let index = fs::read(stage.path("memory/MEMORY.md")).unwrap();
    assert_eq!(index, b"\xff\xfe");
    assert!(stage.path("memory/quotes.md").exists());
}

#[tokio::test]
async fn the_index_follows_whoever_writes_to_the_folder() {
    let stage = Stage::new();
    let memory = stage.memory();
    stage.write("memory/MEMORY.md", "- [test](test.md) — test memory");
    let index = memory.index();
    assert!(index.ends_with("- [test](test.md) — test memory"), "{index}");

    stage.knows(&["tabs"]);
    let reopened = stage.memory();
    let both = "- [test](test.md) — test memory\n- [tabs](tabs.md) — about tabs\n";
    assert_eq!(stage.read("memory/MEMORY.md"), both, "rebuilt, and the line by hand kept");

    fs::remove_file(stage.path("memory/tabs.md")).unwrap();
    stage.memory();
    assert_eq!(stage.read("memory/MEMORY.md"), "- [test](test.md) — test memory\n");
    fs::remove_dir_all(stage.path("memory")).unwrap();
    assert_eq!(reopened.index(), "");
}
