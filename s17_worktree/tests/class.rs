//! The lesson as a class sees it: two agents, two tasks, two directories, and nothing of either in the third.

use mock_servers::model::{MockModel, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, leaves_no_trace, team};

const PROMPT: &str = "Create two tasks, then create worktrees for each (bind with task_id). Spawn alice and bob and give each one of the tasks to do in its worktree.";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s17_worktree"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .git()
}

/// The ids of the tasks that this conversation has created.
fn ids(request: &Request) -> Vec<String> {
    let results = request.results().into_iter();
    let created = results.filter_map(|(_, text)| {
        let (id, _) = text.strip_prefix("created ")?.split_once(": ")?;
        Some(id.to_owned())
    });
    created.collect()
}

/// Does what the prompt asks for, and says who has reported.
fn lead(request: &Request) -> Reply {
    let ids = ids(request);
    let spawn = |name: &str, id: &str| {
        let prompt = format!("Do task {id} in its worktree: write {name}.txt.");
        json!({"name": name, "role": "developer", "prompt": prompt})
    };
    match request.calls().len() {
        0 => calls("create_task", json!({"subject": "Write the API"}))
            .and_calls("create_task", json!({"subject": "Write the page"})),
        1 => calls("create_worktree", json!({"name": "api", "task_id": ids[0]})).and_calls(
            "create_worktree",
            json!({"name": "page", "task_id": ids[1]}),
        ),
        2 => calls("spawn_teammate", spawn("alice", &ids[0]))
            .and_calls("spawn_teammate", spawn("bob", &ids[1])),
        _ => {
            let mail = request.user_texts().join("\n");
            let reports = mail.matches("type=\"result\"").count();
            says(format!("{reports} of 2 have reported."))
        }
    }
}

/// Looks where it is, and writes a file there.
fn mate(request: &Request) -> Reply {
    let name = team::teammate(request).expect("a teammate asks");
    let file = format!("{name}.txt");
    match team::round(request) {
        0 => calls("bash", json!({"command": "pwd"})),
        1 => calls("write_file", json!({"path": file, "content": "mine\n"})),
        _ => says(format!("I wrote {file}.")),
    }
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    leaves_no_trace(env!("CARGO_BIN_EXE_s17_worktree"));
}

/// Also when variables lead git elsewhere: ours is not led.
#[test]
fn each_works_in_the_worktree_of_its_task() {
    let model = team::model(lead, mate);
    let class = class()
        .model(&model)
        .env("GIT_DIR", "/nowhere/.git")
        .env("GIT_WORK_TREE", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere/index")
        .env("GIT_TRACE", "1")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.bare")
        .env("GIT_CONFIG_VALUE_0", "true");
    let ran = class.types(&[PROMPT]);
    ran.succeeds()
        .shows("created .harness/worktrees/api on branch wt/api, for task 0001-")
        .shows("2 of 2 have reported.");
    let requests = model.requests();
    for (name, worktree) in [("alice", "api"), ("bob", "page")] {
        let file = format!("{name}.txt");
        let written = class.read(format!(".harness/worktrees/{worktree}/{file}"));
        assert_eq!(written, "mine\n");
        let is_here = class.dir().join(&file).exists();
        assert!(!is_here, "{file} is in the main directory");
        let mut mine = requests.iter();
        let mine = mine.rfind(|request| team::teammate(request) == Some(name));
        let (_, here) = &mine.unwrap().results()[0];
        assert!(here.ends_with(&format!("worktrees/{worktree}")), "{here}");
    }
}

#[test]
fn the_tool_pool() {
    let model = team::model(lead, mate);
    class().model(&model).types(&[PROMPT]).succeeds();
    team::assert_both_pools(env!("CARGO_MANIFEST_DIR"), &model);
}

#[test]
fn a_worktree_with_work_in_it_stays_until_the_user_says_so_whatever_a_rule_allows() {
    let remove = |discard: bool| {
        let input = match discard {
            true => json!({"name": "api", "discard_changes": true}),
            false => json!({"name": "api"}),
        };
        calls("remove_worktree", input)
    };
    let model = MockModel::scripted([
        calls("create_worktree", json!({"name": "api"})),
        calls(
            "write_file",
            json!({"path": ".harness/worktrees/api/new.txt", "content": "mine\n"}),
        ),
        remove(false),
        remove(true),
        says("It holds work. Shall I discard it?"),
        remove(true),
        says("It is gone."),
    ]);
    let settings = json!({"permissions": {"allow": ["remove_worktree"]}}).to_string();
    let class = class()
        .file(".harness/settings.json", settings)
        .model(&model);
    let mut terminal = class.terminal(100, 40);
    let asks = |why: &'static str| {
        move |screen: &str| screen.contains(why) && screen.trim_end().ends_with("[N]o:")
    };
    terminal
        .wait_for("s17 >>")
        .type_line("Create a worktree called api, add a file, and remove it.")
        .wait_until("the question of the file", asks("decides what is allowed"))
        .type_line("y")
        .wait_until("the question of the worktree", asks("would be lost"))
        .type_line("n")
        .wait_for("Shall I discard it?");
    assert!(class.dir().join(".harness/worktrees/api").exists());
    // An "always" would have been for this one, too.
    terminal
        .type_line("yes, discard it")
        .wait_until("another question", |screen| {
            screen.trim_end().ends_with("[N]o:")
        });
    terminal.type_line("a").wait_for("It is gone.");
    let results = model.last_request().results();
    assert!(
        results[2].0 && results[2].1.contains("?? new.txt"),
        "{results:?}"
    );
    assert!(results[3].0 && !results[4].0, "{results:?}");
    assert!(!class.dir().join(".harness/worktrees/api").exists());
    let events = class.read(".harness/worktrees/events.jsonl");
    let names: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone())
        .collect();
    assert_eq!(names, ["created", "removed"]);
}

/// The prompt and other words for it, with the model a newcomer meets: each file lies in the worktree of its task.
#[test]
fn the_rehearsal_does_the_prompt_in_other_words_as_well() {
    for prompt in [
        PROMPT,
        "Make two tasks, make worktrees for each of them bound by task_id, spawn alice and bob, and give each one of the tasks.",
        "Put two tasks on the board, create a worktree for each and bind it with task_id. Spawn alice and bob and give each of them one of the tasks to do in its worktree.",
        "Add two tasks to the board, add a worktree for each task (bind it), spawn alice and bob and give each a task.",
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let ran = class.types(&[prompt]);
        ran.succeeds().shows("alice reports").shows("bob reports");
        let worktrees = std::fs::read_dir(class.dir().join(".harness/worktrees")).unwrap();
        let folders = worktrees.map(|entry| entry.unwrap().path());
        let with_notes = folders.filter(|folder| folder.join("notes").is_dir());
        assert_eq!(with_notes.count(), 2, "{}", ran.transcript());
        assert!(!class.dir().join("notes").exists(), "{}", ran.transcript());
    }
}
