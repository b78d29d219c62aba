//! Compaction: the conversation is cut in every way a harness may cut it, and the work still comes to its end.

use std::collections::HashMap;
use std::sync::Arc;

use mock_servers::model::rehearsal::Rehearsal;
use mock_servers::model::{Block, Brain, Message, ReplyBlock, Request, Role};

use crate::stage::{Compact, FILES, Play, Stage};

type Messages = Vec<Arc<Message>>;

/// The tools of a harness that compacts.
const COMPACTING: &[&str] = &[
    "bash",
    "read_file",
    "write_file",
    "edit_file",
    "glob",
    "todo_write",
    "compact",
];

fn is_result(block: &Block) -> bool {
    matches!(block, Block::ToolResult { .. })
}

/// Where the last request stands: a message of the user without results.
fn request_at(messages: &Messages) -> usize {
    let asks = |message: &Arc<Message>| {
        message.role == Role::User && !message.blocks.iter().any(is_result)
    };
    messages.iter().rposition(asks).expect("there is a request")
}

/// Changes the results of every round but the newest ones.
fn change_results(messages: &mut Messages, newest: usize, change: impl Fn(&str) -> Option<String>) {
    let rounds = messages
        .iter()
        .filter(|message| message.blocks.iter().any(is_result))
        .count();
    let old = messages
        .iter_mut()
        .filter(|message| message.blocks.iter().any(is_result));
    for message in old.take(rounds.saturating_sub(newest)) {
        let blocks = message.blocks.iter().map(|block| match block {
            Block::ToolResult {
                tool_use_id,
                content,
                is_error,
            } => Block::ToolResult {
                tool_use_id: tool_use_id.clone(),
                content: change(content).unwrap_or_else(|| content.clone()),
                is_error: *is_error,
            },
            other => other.clone(),
        });
        *message = Arc::new(Message {
            role: message.role,
            blocks: blocks.collect(),
        });
    }
}

/// Old results become one line.
fn remove_old(newest: usize) -> impl Fn(&mut Messages) {
    move |messages| {
        change_results(messages, newest, |content| {
            let line = format!(
                "[old result of a tool removed: {} characters; call it again if you need it]",
                content.len()
            );
            (content.len() > 30).then_some(line)
        });
    }
}

/// Long results are kept in a file, the newest ones, too.
fn persist(messages: &mut Messages) {
    change_results(messages, 0, |content| {
        let preview = content
            .get(..120)
            .filter(|_| content.len() > 250 && !content.starts_with("<persisted"))?;
        Some(format!(
            "<persisted-output path=\".harness/outputs/1.txt\" chars=\"{}\">\n{preview}\n</persisted-output>",
            content.len()
        ))
    });
}

/// The request and the newest messages stay, with the first ones or without; nothing tells of the rest.
fn cut(first: usize, newest: usize) -> impl Fn(&mut Messages) {
    move |messages| {
        let request = request_at(messages);
        let mut from = messages.len().saturating_sub(newest).max(request + 1);
        while from < messages.len() && messages[from].role == Role::User {
            from -= 1;
        }
        if from <= request.max(first) + 1 {
            return;
        }
        let kept = messages[..first.min(request)].to_vec();
        let tail = messages[from..].to_vec();
        let request = Arc::clone(&messages[request]);
        messages.clear();
        for message in kept.into_iter().chain([request]).chain(tail) {
            match messages.last_mut().filter(|last| last.role == message.role) {
                Some(last) => {
                    let blocks = [last.blocks.clone(), message.blocks.clone()].concat();
                    *last = Arc::new(Message {
                        role: message.role,
                        blocks,
                    });
                }
                None => messages.push(message),
            }
        }
    }
}

/// One paragraph per block.
fn transcript(messages: &[Arc<Message>]) -> String {
    let paragraphs = messages.iter().flat_map(|message| {
        message
            .blocks
            .iter()
            .map(|block| match (block, message.role) {
                (Block::Text(text), Role::User) => format!("User: {text}"),
                (Block::Text(text), Role::Assistant) => format!("Assistant: {text}"),
                (Block::ToolUse { name, input, .. }, _) => format!("Tool call: {name} {input}"),
                (Block::ToolResult { content, .. }, _) => format!("Tool result: {content}"),
                (Block::Other(value), _) => value.to_string(),
            })
    });
    let text = paragraphs.collect::<Vec<_>>().join("\n\n");
    text.replace("</conversation", "<\\/conversation")
}

/// A summary stands for everything but the request and the newest round.
fn sum_up(most: usize) -> impl Fn(&mut Messages) {
    move |messages| {
        let request = request_at(messages);
        if messages.len() <= most {
            return;
        }
        let newest = messages.len().saturating_sub(2).max(request + 1);
        let question = format!(
            "<conversation>\n{}\n</conversation>",
            transcript(&messages[..newest])
        );
        let reply = Rehearsal.answer(&Request {
            model: String::new(),
            max_tokens: 4_000,
            system: "You summarize a conversation.".into(),
            tools: Arc::new([]),
            messages: vec![Arc::new(Message {
                role: Role::User,
                blocks: vec![Block::Text(question)],
            })],
            body: Default::default(),
        });
        let [ReplyBlock::Text(summary)] = &reply.blocks[..] else {
            panic!("a summary is a text");
        };
        let summary = format!("<conversation-summary>\n{summary}\n</conversation-summary>");
        let own = messages[request].blocks.iter().filter(|block| match block {
            Block::Text(text) => !text.starts_with("<conversation-summary>"),
            _ => true,
        });
        let blocks = [Block::Text(summary)]
            .into_iter()
            .chain(own.cloned())
            .collect();
        let tail = messages[newest..].to_vec();
        *messages = vec![Arc::new(Message {
            role: Role::User,
            blocks,
        })];
        messages.extend(tail);
    }
}

/// Every way to make room, with its name.
fn ways() -> Vec<(&'static str, Compact)> {
    vec![
        ("nothing", Box::new(|_| {})),
        ("old results are removed", Box::new(remove_old(3))),
        (
            "all results but the newest are removed",
            Box::new(remove_old(1)),
        ),
        ("results are persisted", Box::new(persist)),
        ("the middle is cut", Box::new(cut(3, 8))),
        ("only the newest round stays", Box::new(cut(0, 2))),
        ("a summary now and then", Box::new(sum_up(8))),
        ("a summary before every request", Box::new(sum_up(3))),
        (
            "all of it",
            Box::new(|messages| {
                persist(messages);
                cut(3, 10)(messages);
                remove_old(2)(messages);
                sum_up(7)(messages);
            }),
        ),
    ]
}

/// A folder with so many notes.
fn with_notes(count: usize) -> Stage {
    let stage = Stage::new(COMPACTING);
    std::fs::create_dir(stage.dir.join("notes")).expect("the workspace is writable");
    for number in 10..10 + count {
        let text = format!(
            "# Note {number}\n\nThis note is about tea number {number}.\n\n{}",
            "More of it.\n".repeat(20)
        );
        stage.put(&format!("notes/{number}.md"), &text);
    }
    stage
}

fn times_called(play: &Play) -> HashMap<String, usize> {
    let mut times = HashMap::new();
    for line in play.lines() {
        *times.entry(line).or_insert(0) += 1;
    }
    times
}

#[test]
fn many_files_are_read_once_each_however_the_conversation_is_cut() {
    for (name, compact) in ways() {
        let mut stage = with_notes(18).compacting(compact);
        stage.ask("hello");
        stage.ask("What is this project about?");
        let play = stage.ask("Read every file in notes/");
        let times = times_called(&play);
        if name == "only the newest round stays" {
            // Nothing tells what was read: all there is to do is to stop.
            assert!(
                play.answer.ends_with("this takes more than I planned."),
                "{}",
                play.answer
            );
            continue;
        }
        for number in 10..28 {
            let line = format!("read_file notes/{number}.md");
            assert_eq!(times.get(&line), Some(&1), "{name}: {times:?}");
        }
        // A cut without a summary takes the first notes along.
        let told = if name.contains("cut") { 24 } else { 10 };
        for number in [told, 26, 27] {
            assert!(
                play.answer
                    .contains(&format!("notes/{number}.md: Note {number}. ")),
                "{name}: {}",
                play.answer
            );
        }
    }
}

#[test]
fn a_long_plan_is_carried_out_once_however_the_conversation_is_cut() {
    let steps: Vec<String> = (0..14)
        .map(|number| format!("then create step{number}.txt"))
        .collect();
    for (name, compact) in ways() {
        let mut stage = Stage::new(FILES).compacting(compact);
        let play = stage.ask(&format!(
            "Read README.md, {}, then count the lines of boil.py",
            steps.join(", ")
        ));
        let times = times_called(&play);
        assert_eq!(times.len(), 16, "{name}: {times:?}");
        assert!(times.values().all(|times| *times == 1), "{name}: {times:?}");
        assert!(
            play.answer.contains("boil.py has 1 line."),
            "{name}: {}",
            play.answer
        );
    }
}

#[test]
fn three_files_are_read_once_each_and_told() {
    for (name, compact) in ways() {
        let mut stage = with_notes(1).compacting(compact);
        let play =
            stage.ask("Read the file README.md, then read Cargo.toml, then read notes/10.md");
        let lines = [
            "read_file README.md",
            "read_file Cargo.toml",
            "read_file notes/10.md",
        ];
        assert_eq!(play.lines(), lines, "{name}");
        assert!(
            play.answer
                .contains("Note 10. This note is about tea number 10."),
            "{name}: {}",
            play.answer
        );
    }
}

#[test]
fn the_first_request_is_known_after_any_compaction() {
    for (name, compact) in ways() {
        let mut stage = Stage::new(FILES).compacting(compact);
        stage.ask("Read the file README.md, please");
        stage.ask("hello");
        stage.ask("list the files");
        stage.ask("count the lines of boil.py");
        for request in [
            "What did I ask you first?",
            "what was my first request",
            "what was the very first thing I asked",
            "how did this conversation start?",
            "which question did I ask you first?",
            "Repeat my first question",
        ] {
            let play = stage.ask(request);
            assert!(play.calls.is_empty(), "{name}: {request}");
            // A cut without a summary leaves nothing to know it from.
            if name != "only the newest round stays" {
                assert_eq!(
                    play.answer, "You asked first: “Read the file README.md, please”",
                    "{name}: {request}"
                );
            }
        }
    }
}

#[test]
fn a_request_made_again_after_a_summary_is_carried_out_again() {
    let mut stage = Stage::new(FILES).compacting(sum_up(3));
    for _ in 0..3 {
        assert_eq!(stage.ask("Read README.md").lines(), ["read_file README.md"]);
        assert_eq!(stage.ask("list the files").lines(), ["bash ls"]);
    }
}

#[test]
fn a_long_result_is_told_with_where_it_lies() {
    let mut stage = with_notes(1).compacting(persist);
    let play = stage.ask("Read notes/10.md");
    assert_eq!(
        play.answer,
        "notes/10.md: Note 10. This note is about tea number 10.\n\
         It is long: 286 characters, kept in .harness/outputs/1.txt."
    );
}

#[test]
fn a_long_listing_is_worked_on_as_far_as_it_is_shown_and_that_is_said() {
    let mut stage = with_notes(30).compacting(persist);
    let play = stage.ask("Read every file in notes/");
    assert_eq!(play.calls.len(), 1 + 9);
    assert!(
        play.answer.ends_with(
            "I took the beginning of a long list; all of it is in .harness/outputs/1.txt."
        ),
        "{}",
        play.answer
    );
}

#[test]
fn a_file_is_refactored_once_however_the_conversation_is_cut() {
    let source =
        "def greet(name):\n    return \"Hello, \" + name\n\nprint(greet(\"World\"))\n".to_owned();
    let source = source + &"print(greet(\"all of you\"))\n".repeat(5);
    for (name, compact) in ways() {
        let mut stage = Stage::new(COMPACTING).compacting(compact);
        stage.put("hello.py", &source);
        let play = stage.ask("Refactor hello.py: add type hints, docstrings, and a main guard");
        let text = stage.text("hello.py");
        assert!(text.matches("__main__").count() <= 1, "{name}: {text}");
        // Under harder cuts it may stop early; what it does then is done once and told as it is.
        if [
            "nothing",
            "old results are removed",
            "results are persisted",
            "the middle is cut",
        ]
        .contains(&name)
        {
            assert!(
                text.contains("name: str") && text.contains("__main__"),
                "{name}: {text}"
            );
            let edits = play.calls.iter().filter(|(_, tool, _)| tool == "edit_file");
            assert_eq!(edits.count(), 3, "{name}: {:?}", play.lines());
            assert!(
                play.answer.starts_with("I added type hints to greet"),
                "{name}: {}",
                play.answer
            );
        }
    }
}
