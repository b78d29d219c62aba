//! The lesson as a class sees it: tasks on a board, teammates that take them, and a lead that sums up.

use std::path::PathBuf;
use std::sync::Arc;

use mock_servers::model::{Block, Brain, MockModel, Options, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Ran, assert_pool};

const TASKS: &str =
    "Create 3 tasks on the board, then spawn alice and bob. Watch them auto-claim and work.";
const WORKTREES: &str = "Create two tasks, then create worktrees for each (bind with task_id). Spawn alice and bob. Watch them auto-claim and work in isolated directories.";
const SUBJECTS: [&str; 3] = ["schema", "api", "docs"];

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s18_teams"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .git()
}

fn model(brain: impl Brain + 'static) -> MockModel {
    MockModel::start(Options::strict(), brain).unwrap()
}

/// The name of the teammate that asks; none for the lead.
fn teammate(request: &Request) -> Option<&str> {
    let (_, rest) = request.system.split_once("You are a teammate named '")?;
    rest.split('\'').next()
}

fn create_tasks(count: usize) -> Reply {
    let create =
        |reply: Reply, subject: &&str| reply.and_calls("create_task", json!({"subject": subject}));
    SUBJECTS[..count].iter().fold(Reply::default(), create)
}

fn spawn_both() -> Reply {
    let spawn = |name: &str| json!({"name": name, "role": "developer", "prompt": "Take tasks from the board."});
    calls("spawn_teammate", spawn("alice")).and_calls("spawn_teammate", spawn("bob"))
}

/// What the lead says once its team is at work: who has reported, and that all is done.
fn sums_up(request: &Request, count: usize) -> Reply {
    let mail = request.user_texts().join("\n");
    let done = |subject: &&&str| mail.contains(&format!("{subject} is done"));
    let done = SUBJECTS[..count].iter().filter(done).count();
    says(match done == count {
        true => "Summary: every task is done.".to_owned(),
        false => format!("{done} of {count} tasks are done."),
    })
}

/// Does the task it has claimed last: a file of the subject's name, then the task is complete.
fn works(request: &Request) -> Reply {
    let claimed = request.messages.iter().rposition(|message| {
        let note =
            |block: &Block| matches!(block, Block::Text(text) if text.contains("<claimed_task>"));
        message.blocks.iter().any(note)
    });
    let Some(claimed) = claimed else {
        return says("I am ready.");
    };
    let texts = request.user_texts();
    let note = texts.iter().rfind(|text| text.contains("<claimed_task>"));
    let (id, rest) = note
        .unwrap()
        .split_once("task ")
        .unwrap()
        .1
        .split_once(": ")
        .unwrap();
    let subject = rest.split(['\n', '.']).next().unwrap();
    let since = request.messages[claimed..].iter();
    let called = |name: &str| {
        let is_it = |block: &Block| matches!(block, Block::ToolUse { name: of, .. } if of == name);
        since
            .clone()
            .any(|message| message.blocks.iter().any(is_it))
    };
    let write = json!({"path": format!("{subject}.txt"), "content": "done\n"});
    match (called("write_file"), called("complete_task")) {
        (false, _) => calls("write_file", write),
        (true, false) => calls("complete_task", json!({"task_id": id})),
        (true, true) => says(format!("{subject} is done.")),
    }
}

fn three_tasks(request: &Request) -> Reply {
    match (teammate(request), request.calls().len()) {
        (Some(_), _) => works(request),
        (None, 0) => create_tasks(3),
        (None, 1) => spawn_both(),
        (None, _) => sums_up(request, 3),
    }
}

fn two_worktrees(request: &Request) -> Reply {
    let id = |index: usize| {
        let (_, text) = request.results().swap_remove(index);
        let id = text.strip_prefix("created ").unwrap().split(':').next();
        id.unwrap().to_owned()
    };
    match (teammate(request), request.calls().len()) {
        (Some(_), _) => works(request),
        (None, 0) => create_tasks(2),
        (None, 1) => calls("create_worktree", json!({"name": "one", "task_id": id(0)}))
            .and_calls("create_worktree", json!({"name": "two", "task_id": id(1)})),
        (None, 2) => spawn_both(),
        (None, _) => sums_up(request, 2),
    }
}

/// The tasks, oldest first: their ids sort in the order in which they were made.
fn board(class: &Class) -> Vec<Value> {
    let files = std::fs::read_dir(class.dir().join(".harness/tasks")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let is_task = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "json");
    let mut paths: Vec<PathBuf> = paths.filter(is_task).collect();
    paths.sort();
    let task = |path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    paths.into_iter().map(task).collect()
}

#[track_caller]
fn all_are_done(class: &Class, ran: &Ran, count: usize) {
    let tasks = board(class);
    assert_eq!(tasks.len(), count);
    for task in &tasks {
        assert_eq!(task["status"], "completed", "{task}\n{}", ran.transcript());
        let owner = task["owner"].as_str().unwrap();
        assert!(["alice", "bob"].contains(&owner), "{task}");
    }
}

/// How often each task was completed, whoever did it.
fn completions(model: &MockModel) -> Vec<String> {
    let mut last: Vec<Arc<Request>> = Vec::new();
    for request in model.requests() {
        last.retain(|other| teammate(other) != teammate(&request));
        last.push(request);
    }
    let results = last.iter().flat_map(|request| request.results());
    let texts = results.map(|(_, text)| text);
    let mut done: Vec<String> = texts
        .filter(|text| text.contains(" is completed: "))
        .collect();
    done.sort();
    done
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s18_teams"));
}

#[test]
fn three_tasks_are_done_once_each_by_two_teammates() {
    let model = model(three_tasks);
    let class = class().model(&model);
    let ran = class.types(&[TASKS]);
    ran.succeeds().never_shows("belongs to");
    all_are_done(&class, &ran, 3);
    assert_eq!(completions(&model).len(), 3, "{:?}", completions(&model));
    for subject in SUBJECTS {
        assert_eq!(class.read(format!("{subject}.txt")), "done\n");
    }
    let said = ran.stdout.trim_end();
    assert!(
        said.contains("Summary: every task is done."),
        "{}",
        ran.transcript()
    );
}

#[test]
fn each_works_in_the_worktree_of_the_task_it_has_claimed() {
    let model = model(two_worktrees);
    let class = class().model(&model);
    let ran = class.types(&[WORKTREES]);
    ran.succeeds().shows("Summary: every task is done.");
    all_are_done(&class, &ran, 2);
    for (worktree, subject) in [("one", "schema"), ("two", "api")] {
        let file = format!("{subject}.txt");
        assert_eq!(
            class.read(format!(".harness/worktrees/{worktree}/{file}")),
            "done\n"
        );
        assert!(
            !class.dir().join(&file).exists(),
            "{file} is in the main directory"
        );
    }
}

#[test]
fn the_tool_pool() {
    let model = model(three_tasks);
    class().model(&model).types(&[TASKS]).succeeds();
    let requests = model.requests();
    let of = |is_mate: bool| {
        let of_it = |request: &&Arc<Request>| teammate(request).is_some() == is_mate;
        requests.iter().find(of_it).unwrap().tool_names()
    };
    assert_pool(
        env!("CARGO_MANIFEST_DIR"),
        [("lead", of(false)), ("teammate", of(true))],
    );
}

/// At the end of the input the session waits for tasks that idle teammates have not seen yet.
#[test]
fn tasks_that_come_when_everybody_is_idle_are_done_before_the_session_ends() {
    let model = model(|request: &Request| {
        let line = |words: &str| request.user_texts().iter().any(|text| text == words);
        match (teammate(request), request.calls().len()) {
            (Some(_), _) => works(request),
            (None, 0) => spawn_both(),
            (None, 1) if line("now the tasks") => create_tasks(3),
            (None, _) => sums_up(request, 3),
        }
    });
    let class = class().model(&model);
    let ran = class.types(&["spawn a team", "now the tasks"]);
    ran.succeeds().shows("Summary: every task is done.");
    all_are_done(&class, &ran, 3);
}

#[test]
fn a_task_after_the_other_in_a_small_window_is_done_and_no_request_is_lost() {
    let options = Options {
        context_tokens: 12_000,
        strict: false,
        ..Options::strict()
    };
    let brain = |request: &Request| match (teammate(request), request.calls().len()) {
        (None, _) if request.system.starts_with("You summarize") => says("Tasks were done."),
        (None, 0) => (0..6).fold(Reply::default(), |reply, number| {
            reply.and_calls("create_task", json!({"subject": format!("part {number}")}))
        }),
        (None, 1) => spawn_alice(),
        (None, _) => says("Noted."),
        (Some(_), _) => reads_a_lot(request),
    };
    let model = MockModel::start(options, brain).unwrap();
    let class = class()
        .file("big.txt", "All work and no play. ".repeat(900))
        .model(&model)
        .env("MODEL_CONTEXT_TOKENS", "12000");
    let ran = class.types(&["go"]);
    ran.succeeds();
    let tasks = board(&class);
    assert_eq!(tasks.len(), 6);
    for task in &tasks {
        assert_eq!(task["status"], "completed", "{task}\n{}", ran.transcript());
    }
    let too_long = model.refusals();
    assert!(
        !too_long.is_empty(),
        "the window was small enough to be of use here"
    );
    assert!(
        too_long
            .iter()
            .all(|refusal| refusal.body("").to_string().contains("too long"))
    );
}

fn spawn_alice() -> Reply {
    calls(
        "spawn_teammate",
        json!({"name": "alice", "role": "reader", "prompt": "Take tasks from the board."}),
    )
}

/// Reads a big file for each task before it works on it.
fn reads_a_lot(request: &Request) -> Reply {
    let reply = works(request);
    let has_read = request
        .results()
        .last()
        .is_some_and(|(_, text)| text.contains("no play"))
        || request
            .calls()
            .last()
            .is_some_and(|calls| calls[0] == "read_file");
    let writes = reply.blocks.iter().any(|block| {
        matches!(block, mock_servers::model::ReplyBlock::ToolUse { name, .. } if name == "write_file")
    });
    match writes && !has_read {
        true => calls("read_file", json!({"path": "big.txt"})),
        false => reply,
    }
}

/// As a class does it: the second prompt while the team of the first is still there.
#[test]
fn a_team_that_stays_does_not_take_the_next_tasks_before_they_have_their_worktrees() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    let ran = class.types(&[TASKS, WORKTREES]);
    ran.succeeds();
    all_are_done(&class, &ran, 5);
    for task in &board(&class)[3..] {
        let worktree = task["worktree"].as_str();
        let worktree = worktree.unwrap_or_else(|| panic!("{task}\n{}", ran.transcript()));
        let notes = class
            .dir()
            .join(".harness/worktrees")
            .join(worktree)
            .join("notes");
        assert!(notes.is_dir(), "{}", ran.transcript());
    }
}

/// The prompts and other words for them, with the model a newcomer meets.
#[test]
fn the_rehearsal_does_the_prompts_in_other_words_as_well() {
    for (prompt, count) in [
        (TASKS, 3),
        (WORKTREES, 2),
        (
            "Create three tasks, then spawn alice and bob and watch them claim and work.",
            3,
        ),
        (
            "Add 4 tasks to the board and spawn alice and bob. Watch how they claim them.",
            4,
        ),
        (
            "Put three tasks on the board and spawn alice and bob, who claim and do them by themselves.",
            3,
        ),
        (
            "Add two tasks, make a worktree for each, bound to its task, and spawn alice and bob to pick them up by themselves.",
            2,
        ),
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let ran = class.types(&[prompt]);
        ran.succeeds();
        all_are_done(&class, &ran, count);
        assert_eq!(completions(&model).len(), count, "{}", ran.transcript());
        let in_worktrees = class.dir().join(".harness/worktrees/events.jsonl").exists();
        let here = class.dir().join("notes").exists();
        assert_ne!(here, in_worktrees, "{}", ran.transcript());
    }
}
