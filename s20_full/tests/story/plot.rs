//! The plot: at which minute what is said to the lead, and what the lead does about it, reply by reply.

use std::collections::BTreeMap;

use mock_servers::model::{Reply, calls};
use serde_json::{Value, json};

/// Ids by the names they were given for.
pub type Ids = BTreeMap<String, String>;

/// One reply of the lead.
pub type Step = fn(&Ids) -> Reply;

/// Minute, line, replies; after the last one the lead has nothing more to say.
pub const PLOT: [(u64, &str, &[Step]); 16] = [
    (
        0,
        "Plan the day.",
        &[plans, looks_around, schedules, cancels],
    ),
    (
        1,
        "Prepare the house.",
        &[delegates, writes, connects, searches],
    ),
    (2, "Bring in the team.", &[makes_room, spawns]),
    (8, "Build in the background.", &[builds]),
    (8, "(the job ends)", &[]),
    (
        10,
        "Read the long report.",
        &[reads_twice, reads_twice, reads_twice, reads_twice],
    ),
    (11, "Tidy up the conversation.", &[compacts]),
    (12, "Meet carol.", &[meets, parts]),
    (
        14,
        "Ask the library again.",
        &[kills, searches, connects, searches],
    ),
    (
        16,
        "Do one yourself.",
        &[creates_docs, claims_docs, completes_docs],
    ),
    (18, "Sort the worktrees.", &[merges, removes]),
    (20, "I prefer tabs.", &[]),
    (22, "(again)", &[]),
    (23, "What do I prefer?", &[lists_crons, rings]),
    (27, "Was there a bell?", &[]),
    (30, "That was it.", &[]),
];

fn todos(statuses: [&str; 2]) -> Value {
    let todo = |content: &str, status: &str| json!({"content": content, "status": status});
    json!({"todos": [todo("plan", statuses[0]), todo("build", statuses[1])]})
}

fn id(ids: &Ids, name: &str) -> String {
    ids.get(name)
        .cloned()
        .unwrap_or_else(|| format!("no id of {name} in {ids:?}"))
}

fn plans(_: &Ids) -> Reply {
    calls("todo_write", todos(["in_progress", "pending"]))
        .and_calls("create_task", json!({"subject": "schema"}))
        .and_calls(
            "create_task",
            json!({"subject": "api", "blockedBy": ["schema"]}),
        )
}

fn looks_around(ids: &Ids) -> Reply {
    calls("list_tasks", json!({}))
        .and_calls("get_task", json!({"task_id": id(ids, "schema")}))
        .and_calls("glob", json!({"pattern": "*.md"}))
        .and_calls("read_file", json!({"path": "README.md"}))
}

fn schedules(_: &Ids) -> Reply {
    let never = json!({"cron": "0 0 1 1 *", "prompt": "a happy new year", "durable": true});
    calls("schedule_cron", never).and_calls(
        "schedule_cron",
        json!({"cron": "*/5 * * * *", "prompt": "look at the board"}),
    )
}

fn cancels(ids: &Ids) -> Reply {
    let first = ids.iter().find(|(name, _)| name.starts_with("job"));
    let first = first.map(|(_, id)| id.as_str());
    calls("list_crons", json!({})).and_calls("cancel_cron", json!({"job_id": first}))
}

fn delegates(_: &Ids) -> Reply {
    calls("load_skill", json!({"name": "code-review"}))
        .and_calls("task", json!({"description": "List the files."}))
}

fn writes(_: &Ids) -> Reply {
    let edit = json!({"path": "notes.txt", "old_text": "wrold", "new_text": "world"});
    calls(
        "write_file",
        json!({"path": "notes.txt", "content": "hello wrold\n"}),
    )
    .and_calls("edit_file", edit)
}

fn connects(_: &Ids) -> Reply {
    calls("connect_mcp", json!({"name": "library"}))
}

fn searches(_: &Ids) -> Reply {
    calls("mcp__library__search", json!({"query": "agent loop"}))
}

fn makes_room(ids: &Ids) -> Reply {
    calls(
        "create_worktree",
        json!({"name": "one", "task_id": id(ids, "schema")}),
    )
    .and_calls(
        "create_worktree",
        json!({"name": "two", "task_id": id(ids, "api")}),
    )
}

fn spawn(name: &str) -> Value {
    json!({"name": name, "role": "developer", "prompt": "Take tasks from the board."})
}

fn spawns(_: &Ids) -> Reply {
    let plan = |name: &str| json!({"teammate": name, "task": "what you claim"});
    calls("spawn_teammate", spawn("alice"))
        .and_calls("request_plan", plan("alice"))
        .and_calls("spawn_teammate", spawn("bob"))
        .and_calls("request_plan", plan("bob"))
}

fn builds(_: &Ids) -> Reply {
    calls(
        "bash",
        json!({"command": "echo built", "run_in_background": true}),
    )
}

fn reads_twice(_: &Ids) -> Reply {
    let read = || json!({"path": "report.txt"});
    calls("read_file", read()).and_calls("read_file", read())
}

fn compacts(_: &Ids) -> Reply {
    calls("compact", json!({"focus": "the tasks"}))
}

fn meets(_: &Ids) -> Reply {
    calls("spawn_teammate", spawn("carol")).and_calls(
        "send_message",
        json!({"to": "carol", "content": "Welcome."}),
    )
}

fn parts(_: &Ids) -> Reply {
    calls("request_shutdown", json!({"teammate": "carol"}))
}

fn kills(_: &Ids) -> Reply {
    calls("bash", json!({"command": "kill -KILL $(cat library.pid)"}))
}

fn creates_docs(_: &Ids) -> Reply {
    calls("create_task", json!({"subject": "docs"}))
        .and_calls("todo_write", todos(["completed", "in_progress"]))
}

fn claims_docs(ids: &Ids) -> Reply {
    calls("claim_task", json!({"task_id": id(ids, "docs")})).and_calls("check_inbox", json!({}))
}

fn completes_docs(ids: &Ids) -> Reply {
    calls("complete_task", json!({"task_id": id(ids, "docs")}))
        .and_calls("todo_write", todos(["completed", "completed"]))
}

fn merges(_: &Ids) -> Reply {
    calls("keep_worktree", json!({"name": "one"}))
        .and_calls("bash", json!({"command": "git add --all && git commit -qm notes && git merge -q --no-edit wt/two"}))
}

fn removes(_: &Ids) -> Reply {
    calls("remove_worktree", json!({"name": "two"}))
}

fn lists_crons(_: &Ids) -> Reply {
    calls("list_crons", json!({}))
}

fn rings(_: &Ids) -> Reply {
    let once = json!({"cron": "26 9 * * *", "prompt": "ring the bell", "recurring": false});
    calls("schedule_cron", once)
}
