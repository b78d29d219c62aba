//! Any text is answered: nothing panics, loops or says nothing. The stage checks the rest.

use serde_json::json;

use crate::stage::{BASH, FILES, Stage};

/// All tools of a lead that plans, delegates and loads skills.
const LEAD: &[&str] = &[
    "bash",
    "read_file",
    "write_file",
    "edit_file",
    "glob",
    "todo_write",
    "task",
    "load_skill",
];

const WORDS: &[&str] = &[
    "create",
    "read",
    "it",
    "and",
    "then",
    "the",
    "file",
    "a.txt",
    "\"",
    "'",
    "`",
    "```",
    ",",
    ".",
    "\n",
    "1.",
    "-",
    "to",
    "with",
    "rename",
    "them",
    "all",
    "Python",
    "files",
    "in",
    "src",
    "delete",
    "summary",
    "run",
    "ls",
    "find",
    "for",
    "what",
    "is",
    "<a-b>",
    "</a-b>",
    "[x]",
    "{",
    "}",
    "é",
    "日本",
    "\u{202e}",
    "🫖",
    "README.md",
    "tell",
    "me",
    "about",
    ":",
    ";",
    "--",
    "refactor",
    "plan",
    "for",
    "package",
    "under",
    "fix",
    "style",
    "subagent",
    "two",
    "subtasks",
    "delegate",
    "another",
    "load",
    "skill",
    "first",
    "review",
    "follow",
    "a.py",
    "spawn",
    "alice",
    "bob",
    "as a tester",
    "ask her",
    "have him",
    "submit a plan",
    "approve",
    "request her shutdown",
    "worktrees",
    "tasks",
    "watch",
    "inbox",
];

/// All tools of a lead with teammates.
const TEAM: &[&str] = &[
    "bash",
    "read_file",
    "write_file",
    "create_task",
    "list_tasks",
    "spawn_teammate",
    "send_message",
    "check_inbox",
    "request_shutdown",
    "request_plan",
    "review_plan",
    "create_worktree",
];

/// All tools of a teammate.
const MATE: &[&str] = &[
    "bash",
    "read_file",
    "write_file",
    "send_message",
    "submit_plan",
    "list_tasks",
    "claim_task",
    "complete_task",
];

/// Texts drawn from the words above by a small generator, the same in every run.
fn texts(count: usize) -> impl Iterator<Item = String> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    (0..count).map(move |_| {
        let length = 1 + next(30);
        let words: Vec<&str> = (0..length).map(|_| WORDS[next(WORDS.len())]).collect();
        words.join(if next(4) == 0 { "" } else { " " })
    })
}

#[test]
fn every_text_comes_to_an_end_whatever_the_tools_answer() {
    let answers: [(&str, bool); 7] = [
        ("", false),
        ("(no output)", false),
        ("a.txt\nb.txt", false),
        ("no such file", true),
        ("permission denied: no", true),
        ("missing field `x`", true),
        ("boom\n(exit code 1)", true),
    ];
    for (index, text) in texts(3_000).enumerate() {
        let (content, is_error) = answers[index % answers.len()];
        let tools = [BASH, FILES, &[], &["glob", "read_file"], LEAD][index % 5];
        let mut stage =
            Stage::bare(tools).intercepting(move |_, _| Some((content.to_owned(), is_error)));
        stage.ask(&text);
        stage.ask("delete it");
    }
}

#[test]
fn lead_and_teammate_come_to_an_end_whatever_is_asked_and_answered() {
    use mock_servers::model::{Block, Role};
    let mails = [
        "<mail from=\"alice\" type=\"result\">\nDone 0001-a.\n</mail>",
        "<mail from=\"bob\" type=\"plan_approval_request\">\n1. x\n</mail>\nAnswer with review_plan, request_id req_1.",
        "<mail from=\"lead\" type=\"message\">\nBefore you change anything, send a plan with submit_plan for: x\n</mail>",
        "<mail from=\"lead\" type=\"plan_approval_response\">\nYour plan is rejected. No.\n</mail>",
        "<claimed_task>\nYou have claimed task 0001-a: write tests\n\nDo it, then complete it with complete_task.\n</claimed_task>",
        "<mail from=\"",
    ];
    let answers = [
        ("fine", false),
        ("created 0001-a: x", false),
        ("[ ] 0001-a x\n[ ] 0002-b y", false),
        (
            "the lead wants your plan first: read what you need, then call submit_plan",
            true,
        ),
        (
            "your plan req_1 waits for its answer; nothing runs until it has come",
            true,
        ),
        ("boom", true),
        ("0001-a is yours: write tests", false),
    ];
    for (index, text) in texts(1_500).enumerate() {
        let (content, is_error) = answers[index % answers.len()];
        let (tools, system) = match index % 2 {
            0 => (TEAM, "You are a coding agent."),
            _ => (MATE, "You are a teammate named 'alice', a tester."),
        };
        let mut stage = Stage::bare(tools)
            .with_system(system)
            .intercepting(move |_, _| Some((content.to_owned(), is_error)));
        stage.ask(&text);
        for at in 0..3 {
            let mail = mails[(index + at) % mails.len()];
            stage.push(Role::User, vec![Block::Text(mail.to_owned())]);
            stage.play();
        }
    }
}

#[test]
fn odd_and_huge_texts_are_answered() {
    let huge = [
        "a".repeat(100_000),
        "create show list find read what, ".repeat(3_000),
        "\"' ` ".repeat(20_000),
        "<a-b>\n".repeat(15_000),
        "read a.txt\n".repeat(9_000),
        "é日🫖 ".repeat(8_000),
        format!("create big.txt with ```\n{}```", "line\n".repeat(20_000)),
    ];
    let odd = [
        " ",
        "?",
        "\"",
        "'",
        "```",
        "\u{0}",
        "{",
        "}",
        "{path}",
        "[x]",
        "<a-b></a-b>",
        "1.",
        "-",
        "then",
        "and and",
        "99999999999999999999. a",
        "4294967295. a\n65535) b\n65536. c",
        "list files ???",
        "...",
        "it",
    ];
    for text in odd.into_iter().map(str::to_owned).chain(huge) {
        let mut stage = Stage::bare(FILES).intercepting(|_, _| Some(("fine".to_owned(), false)));
        stage.ask(&text);
    }
}

#[test]
fn a_quoted_content_arrives_unchanged_however_long_it_is() {
    let content = "let tea = \"Earl Grey\"; // it's 'hot', then read a.md\n".repeat(2_000);
    let mut stage = Stage::bare(FILES).intercepting(|_, _| Some(("fine".to_owned(), false)));
    let play = stage.ask(&format!(
        "Create big.rs with this content:\n```rust\n{content}```"
    ));
    assert_eq!(play.calls.len(), 1);
    assert_eq!(
        play.calls[0].2,
        json!({"path": "big.rs", "content": content})
    );
}

#[test]
fn a_repeated_tool_use_id_does_not_confuse_it() {
    use mock_servers::model::{Block, Role};
    let mut stage = Stage::new(FILES);
    stage.push(
        Role::User,
        vec![Block::Text("read README.md and boil.py".to_owned())],
    );
    let call = |path: &str| Block::ToolUse {
        id: "toolu_1".to_owned(),
        name: "read_file".to_owned(),
        input: json!({"path": path}),
    };
    stage.push(Role::Assistant, vec![call("README.md"), call("boil.py")]);
    let result = |content: &str| Block::ToolResult {
        tool_use_id: "toolu_1".to_owned(),
        content: content.to_owned(),
        is_error: false,
    };
    stage.push(Role::User, vec![result("# Tea"), result("print('boil')")]);
    let play = stage.play();
    assert!(play.calls.is_empty());
    assert_eq!(
        play.answer,
        "README.md (1 line): Tea\nboil.py (1 line): print('boil')"
    );
}

#[test]
fn what_is_too_long_to_read_is_said_to_be_left_out() {
    let mut stage = Stage::bare(FILES).intercepting(|_, _| Some(("fine".to_owned(), false)));
    let answer = stage.ask(&"read a.txt\n".repeat(1_000)).answer;
    assert!(
        answer.contains("I did not understand “read a.txt”, so I left it out."),
        "{answer}"
    );
    assert!(answer.ends_with("more of your sentences."), "{answer}");
    assert!(answer.len() < 3_000, "{answer}");
}
