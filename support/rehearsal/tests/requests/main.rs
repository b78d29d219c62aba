//! What requests do, on a stage in memory: the five promises over one table, and the tools of other harnesses.
//!
//! A line of `table.txt` is a request and what must come of it. Invariant: nothing is done wrongly; what is not done is
//! refused with the words that were not understood.

mod layers;
mod readmes;
mod stage;

use std::collections::BTreeSet;

use rehearsal::{Block, Choice, Message, Request, Tool, answer};
use serde_json::{Value, json};
use stage::{Stage, tool};

/// Tools that change nothing and send nothing.
const LOOKS: [&str; 6] =
    ["read_file", "glob", "list_tasks", "list_crons", "get_task", "check_inbox"];

/// What came of the table.
#[derive(Default)]
struct Shares {
    done: usize,
    told: usize,
    refused: usize,
    refused_wrongly: Vec<String>,
    done_wrongly: Vec<String>,
}

fn acts(stage: &Stage, name: &str, at: usize) -> bool {
    let command = stage.calls[at].1["command"].as_str().unwrap_or_default();
    !LOOKS.contains(&name) && !command.starts_with("find . -maxdepth")
}

/// Plays a line of the table, and counts it.
fn play(line: &str, shares: &mut Shares) {
    let (requests, expected) = line.split_once(" => ").expect("a line has an arrow");
    let mut stage = Stage::new();
    let (mut told, mut from) = (String::new(), 0);
    for request in requests.split(" // ") {
        from = stage.calls.len();
        if let Some(request) = request.strip_suffix(" (interrupted)") {
            stage.is_interrupted(request);
        } else if let Some(server) = request.strip_prefix("(gone) ") {
            stage.tools.retain(|(name, ..)| !name.starts_with(&format!("mcp__{server}__")));
        } else {
            told = stage.asks(request);
        }
    }
    let before = Stage::new().files;
    let may_change: Vec<&str> =
        expected.split(' ').filter_map(|word| word.strip_prefix('~')).collect();
    let lost = before.iter().find(|(path, text)| {
        stage.files.get(*path) != Some(text) && !may_change.contains(&path.as_str())
    });
    let calls: Vec<&str> = stage.called()[from..].to_vec();
    let acted = (from..stage.calls.len()).any(|at| acts(&stage, &stage.calls[at].0, at));
    let wanted: Vec<&str> = expected.split(' ').filter(|word| !word.starts_with('~')).collect();
    let what = format!("{line}\n  called {calls:?}, lost {lost:?}\n  said {told}");
    let is_no = ["“", "there is no", "I know no", "is gone"].iter().any(|no| told.contains(no));
    assert!(!told.contains("Noted: .") && !told.contains("[The"), "{what}");
    match wanted.as_slice() {
        ["no"] if !acted && lost.is_none() && is_no => shares.refused += 1,
        ["told"]
            if calls.is_empty() && lost.is_none() && !told.contains("I did not understand") =>
        {
            shares.told += 1
        }
        ["no"] => shares.done_wrongly.push(what),
        _ if lost.is_some() || (calls != wanted && acted) => shares.done_wrongly.push(what),
        _ if calls == wanted => shares.done += 1,
        _ => shares.refused_wrongly.push(what),
    }
}

#[test]
fn nothing_in_the_table_is_done_wrongly() {
    let lines =
        include_str!("table.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut shares = Shares::default();
    let mut count = 0;
    for line in lines {
        play(line, &mut shares);
        count += 1;
    }
    let all = [shares.done_wrongly.join("\n"), shares.refused_wrongly.join("\n")].concat();
    assert!(shares.done_wrongly.is_empty() && shares.refused_wrongly.is_empty(), "{all}");
    assert!(
        count >= 150 && shares.refused * 3 >= count,
        "{count} requests, {} refused",
        shares.refused
    );
    let row =
        format!("| {count} | {} | {} | {} | 0 | 0 |", shares.done, shares.told, shares.refused);
    assert!(include_str!("../../README.md").contains(&row), "the README shall say: {row}");
}

/// What a reply offers to type.
fn offers(told: &str) -> Vec<&str> {
    told.lines().filter_map(|line| line.strip_prefix("- `")?.strip_suffix('`')).collect()
}

#[test]
fn what_a_refusal_offers_is_done_when_it_is_typed() {
    let (mut tried, mut wrong) = (BTreeSet::new(), Vec::new());
    for requests in include_str!("table.txt").lines().filter_map(|line| line.strip_suffix(" => no"))
    {
        let (before, last) = requests.rsplit_once(" // ").unwrap_or(("", requests));
        let stage = || {
            let mut stage = Stage::new();
            before.split(" // ").filter(|it| !it.is_empty()).for_each(|it| _ = stage.asks(it));
            stage
        };
        for offer in offers(&stage().asks(last)) {
            if !before.is_empty() || tried.insert(offer.to_owned()) {
                let told = stage().asks(offer);
                // Whether a file is there that only the user has named, nobody can know.
                let is_missing = told.contains("no such file")
                    && !last.contains(offer.trim_start_matches("read "));
                let is_refused = !offers(&told).is_empty() && offer != "what can you do?";
                wrong
                    .extend((is_missing || is_refused).then(|| format!("{last}: {offer}: {told}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_refusal_helps() {
    for (request, offers) in [
        ("translate notes.md to French", ["notes.md"]),
        ("sing about the docs", ["connect to docs"]),
        ("deploy api", ["connect to deploy"]),
        ("hire a tester", ["spawn alice as a tester"]),
        ("remind me soon to eat", ["remind me in 10 minutes"]),
        ("Hire alice to work on the backend", ["spawn alice as a developer"]),
        (
            "Spawn alice, ask her for a plan to refactor app.py, and approve it",
            ["spawn alice to refactor app.py. Ask alice for a plan and approve it."],
        ),
    ] {
        let told = Stage::new().asks(request);
        for offer in offers {
            assert!(told.contains(offer), "{request}: {told}");
        }
        let lines: Vec<&str> =
            told.lines().filter_map(|line| line.strip_prefix("- `")?.strip_suffix('`')).collect();
        assert!((1..=3).contains(&lines.len()), "{told}");
    }
}

#[test]
fn a_tool_that_went_with_its_server_is_told_of_before_it_was_ever_called() {
    let mut stage = Stage::new();
    stage.asks("connect to deploy");
    stage.tools.retain(|(name, ..)| !name.starts_with("mcp__deploy__"));
    let told = stage.asks("what is the status of api?");
    assert!(told.contains("is gone") && told.contains("`connect to deploy`"), "{told}");
}

#[test]
fn a_choice_that_nobody_made_is_said_before_it_is_taken() {
    let mut stage = Stage::new();
    stage.asks("Connect to the deploy server and trigger a deployment");
    assert_eq!(stage.called(), ["connect_mcp", "mcp__deploy__trigger"]);
    let said = stage.texts();
    assert!(said.contains("without its service (api, web, worker), so I take api."), "{said}");
    // Where one was named before, it is not the first that is taken.
    let mut other = Stage::new();
    let told = other.asks("Connect to deploy and trigger web, then tell me its status");
    assert!(other.calls.len() == 2 && told.contains("without its service"), "{told}");
    // Where the choices are known, it asks.
    let told = stage.asks("trigger a deployment");
    assert!(told.contains("`trigger a deployment of web`") && stage.calls.len() == 2, "{told}");
}

#[test]
fn what_is_offered_can_be_typed() {
    let told = Stage::new().asks("what else can you do?");
    let offers: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    assert!(offers.len() > 50, "{told}");
    for offer in offers {
        let mut stage = Stage::new();
        stage.asks("spawn alice and bob");
        let told = stage.asks(offer);
        assert!(
            !told.contains("I did not understand") && !told.contains("I have no tool"),
            "{offer}: {told}"
        );
    }
}

#[test]
fn tools_behind_two_are_found_and_called_and_nothing_else_is() {
    let mut stage = Stage::new();
    stage.tools.extend([
        tool("mcp__proxy__discover_tools", "Find tools.", "query limit?"),
        tool("mcp__proxy__call_tool", "Calls a tool.", "tool_name arguments"),
        tool("mcp__proxy__call_tool_write", "Calls a tool.", "tool_name arguments"),
    ]);
    let (find, call) = ("mcp__proxy__discover_tools", "mcp__proxy__call_tool");
    let told = stage.asks("what is the weather in Berlin?");
    assert!(stage.called() == [find] && told.contains("I did not understand"), "{told}");
    stage.asks("search the issues for login");
    let search = json!({"tool_name": "search_issues", "arguments": {"query": "login"}});
    assert!(stage.called()[1] == find && stage.calls[2..] == [(call.to_owned(), search)]);
    stage.asks("trigger a deployment of web");
    let trigger = json!({"tool_name": "trigger", "arguments": {"service": "web"}});
    let trigger = ("mcp__proxy__call_tool_write".to_owned(), trigger);
    assert!(stage.called()[3] == find && stage.calls[4..] == [trigger]);
    assert!(stage.texts().contains("I will call trigger of the proxy server (service: web)."));
}

/// One request with these tools, and the calls of the reply.
fn calls(tools: &[(String, String, Value)], text: &str, choice: Choice) -> Vec<(String, Value)> {
    let tools = tools.iter().map(|(name, description, schema)| Tool {
        name,
        description,
        schema,
    });
    let messages = vec![Message {
        from_user: true,
        blocks: vec![Block::Text(text)],
    }];
    answer(&Request {
        tools: tools.collect(),
        messages,
        choice,
        ..Request::default()
    })
    .calls
}

#[test]
fn tools_of_other_harnesses_are_known_by_schema_and_description() {
    let claude = [
        tool("Bash", "Executes a given bash command", "command description? timeout?"),
        tool("Read", "Reads a file from the local filesystem.", "file_path offset? limit?"),
        tool("Write", "Writes a file to the local filesystem.", "file_path content"),
        tool(
            "Edit",
            "Performs exact string replacements in files.",
            "file_path old_string new_string replace_all?",
        ),
        tool("Glob", "Fast file pattern matching tool", "pattern path?"),
        tool("docs_search", "Search the documentation.", "query"),
    ];
    let strange = [
        tool("execute_shell_cmd", "Runs a shell command.", "cmd"),
        tool("slurp", "Read a text file.", "filename"),
        tool("spit", "Write text to a file.", "filename contents"),
        tool("poke", "Edit a file: replace text.", "filename old_str new_str"),
        tool("ls_glob", "List files that match a glob.", "pattern"),
    ];
    let call = |name: &str, input: Value| vec![(name.to_owned(), input)];
    for (tools, request, expected) in [
        (&claude[..], "run `ls`", call("Bash", json!({"command": "ls"}))),
        (&claude, "read README.md", call("Read", json!({"file_path": "README.md"}))),
        (
            &claude,
            "create a.txt with the text hi",
            call("Write", json!({"file_path": "a.txt", "content": "hi\n"})),
        ),
        (&claude, "replace a with b in c.txt", call("Read", json!({"file_path": "c.txt"}))),
        (&claude, "find all Python files", call("Glob", json!({"pattern": "**/*.py"}))),
        (&claude, "search the docs for hooks", call("docs_search", json!({"query": "hooks"}))),
        (&strange, "run `ls`", call("execute_shell_cmd", json!({"cmd": "ls"}))),
        (&strange, "read README.md", call("slurp", json!({"filename": "README.md"}))),
        (
            &strange,
            "create a.txt with the text hi",
            call("spit", json!({"filename": "a.txt", "contents": "hi\n"})),
        ),
        (&strange, "find all Python files", call("ls_glob", json!({"pattern": "**/*.py"}))),
    ] {
        assert_eq!(calls(tools, request, Choice::Auto), expected, "{request}");
    }
}

#[test]
fn tool_choice_stop_sequences_and_a_format_are_obeyed() {
    let tools = [
        tool("read_file", "Read a text file.", "path"),
        tool("weather", "The weather of a city.", "city"),
    ];
    assert!(calls(&tools, "read README.md", Choice::None).is_empty());
    assert_eq!(calls(&tools, "hello", Choice::Any)[0].0, "read_file");
    assert_eq!(
        calls(&tools, "in Paris", Choice::Tool("weather".into())),
        [("weather".to_owned(), json!({"city": "in Paris"}))]
    );
    let messages = vec![Message {
        from_user: true,
        blocks: vec![Block::Text("hello")],
    }];
    let schema = json!({"type": "object", "required": ["ok", "kind", "list"], "properties": {
        "ok": {"type": "boolean"}, "kind": {"enum": ["a", "b"]}, "list": {"type": "array", "minItems": 1, "items": {"type": "integer"}}}});
    let formed = answer(&Request {
        messages: messages.clone(),
        format: Some(schema),
        ..Request::default()
    });
    assert_eq!(
        serde_json::from_str::<Value>(&formed.text).unwrap(),
        json!({"ok": false, "kind": "a", "list": [0]})
    );
    let stopped = answer(&Request {
        messages,
        stops: vec!["rehearsal".into()],
        ..Request::default()
    });
    assert_eq!(
        (stopped.text.as_str(), stopped.stopped_at.as_deref()),
        ("Hello! I am the ", Some("rehearsal"))
    );
}
