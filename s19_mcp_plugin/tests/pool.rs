//! The pool through its handle: what odd servers list, and what becomes of it.
//!
//! Invariant: what is in the pool can be sent, whatever the server does.

use mock_servers::model::{MockModel, Options, Request, says};
use s01_loop::{Answer, Client, History, Refusal, Repl, Settings, ToolCall, ToolSpec, Unobserved};
use s02_tools::{Access, Tool, Toolbox, Workspace};
use s03_permission::{Answering, Approver, Policy};
use s19_mcp_plugin::{Launch, MAX_NAME, Mcp};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A session with servers: mock servers, each started with a fault.
struct Session {
    _directory: TempDir,
    mcp: Mcp,
    connect: Tool,
}

impl Session {
    fn with(servers: &[(&str, &str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let ws = Workspace::at(directory.path()).unwrap();
        let launches = servers.iter().map(|(name, mock, fault)| {
            let args = ["mock-mcp", mock, "--fault", fault];
            let args = if fault.is_empty() {
                &args[..2]
            } else {
                &args[..]
            };
            Launch {
                name: (*name).to_owned(),
                command: env!("CARGO_BIN_EXE_s19_mcp_plugin").into(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                ..Launch::default()
            }
        });
        let mcp = Mcp::with_servers(&ws, &Repl::typed("s19").quiet(), launches);
        let connect = mcp.connect_tool();
        Self {
            _directory: directory,
            mcp,
            connect,
        }
    }

    async fn connected(servers: &[(&str, &str, &str)]) -> (Self, Vec<String>) {
        let session = Self::with(servers);
        let mut answers = Vec::new();
        for (name, ..) in servers {
            answers.push(session.connect(name).await);
        }
        (session, answers)
    }

    async fn connect(&self, name: &str) -> String {
        let call = call("connect_mcp", json!({ "name": name }));
        self.connect.call(call).await.text
    }

    fn names(&self) -> Vec<String> {
        let tools = self.mcp.tools();
        tools.iter().map(|tool| tool.name().to_owned()).collect()
    }

    fn tool(&self, name: &str) -> Tool {
        let tool = self
            .mcp
            .tools()
            .into_iter()
            .find(|tool| tool.name() == name);
        tool.unwrap_or_else(|| panic!("no {name} in {:?}", self.names()))
    }
}

fn call(name: &str, input: Value) -> ToolCall {
    ToolCall {
        id: "toolu_1".into(),
        name: name.into(),
        input,
        extra: Map::new(),
    }
}

/// The mock model takes a request with these tools: the API would, too.
async fn can_be_sent(tools: &[Tool]) {
    let model = MockModel::start(Options::strict(), |_: &Request| says("Taken.")).unwrap();
    let settings = Settings {
        base_url: Some(model.url().to_owned()),
        ..Settings::default()
    };
    let client = Client::new(settings, std::sync::Arc::new(Unobserved)).unwrap();
    let mut history = History::default();
    history.user("Which tools are there?");
    let specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec().clone()).collect();
    client
        .send("You are a test.", &history, &specs)
        .await
        .unwrap();
    assert_eq!(model.last_request().tools.len(), tools.len());
}

#[tokio::test]
async fn five_hundred_tools_are_a_pool() {
    let (session, answers) = Session::connected(&[("docs", "docs", "500-tools")]).await;
    let tools = session.mcp.tools();
    assert_eq!(tools.len(), 502);
    assert!(
        answers[0].ends_with(" and 452 more") && answers[0].len() < 3_000,
        "{}",
        answers[0]
    );
    can_be_sent(&tools).await;
    session.mcp.shut_down().await;
    assert_eq!(session.names(), [""; 0]);
}

#[tokio::test]
async fn a_tool_with_a_broken_schema_stays_out_and_is_named() {
    let (session, answers) = Session::connected(&[("docs", "docs", "broken-schema")]).await;
    assert_eq!(
        session.names(),
        ["mcp__docs__search", "mcp__docs__get_version"]
    );
    assert!(answers[0].contains(". Left out: "), "{}", answers[0]);
    assert!(
        answers[0].contains(" has an input schema that the API refuses: "),
        "{}",
        answers[0]
    );
    can_be_sent(&session.mcp.tools()).await;
}

#[tokio::test]
async fn nothing_that_a_server_lists_goes_without_a_word() {
    let session = Session::with(&[]);
    let schema = json!({"type": "object"});
    let key = format!("\u{1b}{}", "x".repeat(100_000));
    let tools = json!([
        {"name": "a", "inputSchema": schema},
        {"name": "a", "inputSchema": schema},
        {"inputSchema": schema},
        {"name": "b", "inputSchema": {"type": "object", "properties": {key: {"type": "wish"}}}},
        {"name": "c", "inputSchema": schema, "annotations": "none"},
        {"name": "d", "inputSchema": schema, "execution": {"taskSupport": "required"}},
        {"name": "e", "inputSchema": schema, "execution": {"taskSupport": "optional"}},
    ]);
    let answer = |id, result| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}});
    // It writes what stands in a file: a command line has a limit.
    let lines = [answer(1, hello), answer(2, json!({"tools": tools}))].join("\n");
    std::fs::write(session._directory.path().join("lines"), lines + "\n").unwrap();
    let says =
        "read -r ask; head -n1 lines; read -r told; read -r ask; tail -n1 lines; cat >/dev/null";
    let entry = json!({"command": "bash", "args": ["-c", says]});
    let file = json!({"mcpServers": {"x": entry}}).to_string();
    std::fs::write(session._directory.path().join(".mcp.json"), file).unwrap();
    let answer = session.connect("x").await;
    let mut sentences = answer.split(". Left out: ");
    assert_eq!(
        sentences.next(),
        Some("Connected to 'x'. Discovered: a, e"),
        "{answer}"
    );
    for sentence in [
        "a tool without a name cannot be read: missing field `name`",
        "c cannot be read at `annotations`: invalid type: string \"none\"",
        "a has the name of another one, which is offered",
        "b has an input schema that the API refuses: `",
        "d runs only as a task, which is not supported here",
    ] {
        let left_out = sentences.next().unwrap_or_default();
        assert!(left_out.starts_with(sentence), "{left_out}");
        assert!(left_out.len() < 1_000 && !left_out.contains('\u{1b}'));
    }
    assert_eq!(session.names(), ["mcp__x__a", "mcp__x__e"]);
}

#[tokio::test]
async fn twins_have_names_of_their_own_and_each_call_reaches_its_own() {
    let (session, _) = Session::connected(&[("docs", "docs", "twins")]).await;
    can_be_sent(&session.mcp.tools()).await;
    let names = session.names();
    let twins: Vec<&String> = names.iter().filter(|name| name.len() > 33).collect();
    assert_eq!(twins.len(), 2, "{names:?}");
    assert_ne!(twins[0], twins[1]);
    let mut answers = Vec::new();
    for twin in twins {
        answers.push(session.tool(twin).call(call(twin, json!({}))).await.text);
    }
    assert_ne!(answers[0], answers[1], "they are not the same tool");
}

#[tokio::test]
async fn a_long_name_and_a_rude_description_can_be_sent() {
    let servers = [
        ("long", "docs", "long-name"),
        ("rude", "docs", "rude-description"),
    ];
    let (session, _) = Session::connected(&servers).await;
    let tools = session.mcp.tools();
    can_be_sent(&tools).await;
    assert!(tools.iter().any(|tool| tool.name().len() == MAX_NAME));
    for tool in &tools {
        let words = tool.spec().description();
        assert!(
            !words.contains(|c: char| c.is_control() && c != '\n'),
            "{words:?}"
        );
        assert!(
            words.ends_with("(readOnly)") || words.ends_with("(destructive)"),
            "{words}"
        );
    }
}

#[tokio::test]
async fn names_do_not_hang_on_who_was_connected_first() {
    let servers = [("my docs", "docs", ""), ("my_docs", "docs", "")];
    let mut sorted = Vec::new();
    for order in [servers, [servers[1], servers[0]]] {
        let (session, _) = Session::connected(&order).await;
        let mut names = session.names();
        names.sort();
        sorted.push(names);
    }
    assert_eq!(sorted[0], sorted[1]);
    assert_eq!(sorted[0].len(), 4);
}

#[tokio::test]
async fn a_built_in_tool_wins_a_clash_of_names() {
    let (session, _) = Session::connected(&[("docs", "docs", "")]).await;
    let spec = ToolSpec::with_schema("mcp__docs__search", "Ours.", json!({"type": "object"}));
    let ours = Tool::new(spec, async |_| s01_loop::Output::ok("ours"));
    let tools = Toolbox::new().with(ours).with_all(session.mcp.tools());
    assert_eq!(
        tools.names(),
        ["mcp__docs__search", "mcp__docs__get_version"]
    );
    assert_eq!(
        tools.call(call("mcp__docs__search", json!({}))).await.text,
        "ours"
    );
}

#[tokio::test]
async fn two_who_connect_at_once_start_one_server() {
    let session = Session::with(&[("docs", "docs", "")]);
    let (one, two) = tokio::join!(session.connect("docs"), session.connect("docs"));
    let mut answers = [one, two];
    answers.sort();
    assert!(
        answers[0].starts_with("Already connected to 'docs'."),
        "{answers:?}"
    );
    assert!(
        answers[1].starts_with("Connected to 'docs'."),
        "{answers:?}"
    );
    assert_eq!(session.names().len(), 2);
}

#[tokio::test]
async fn a_server_is_what_its_tools_say_and_may_fail_a_call() {
    let (session, _) = Session::connected(&[("deploy", "deploy", "")]).await;
    let (status, trigger) = (
        session.tool("mcp__deploy__status"),
        session.tool("mcp__deploy__trigger"),
    );
    assert_eq!(
        (status.touches(), trigger.touches()),
        (Access::Nothing, Access::Anything)
    );
    assert_eq!(trigger.known(), Some("its server calls it destructive"));
    let wrong = status
        .call(call("mcp__deploy__status", json!({"service": "moon"})))
        .await;
    assert!(
        wrong.is_error && wrong.text.contains("service"),
        "{}",
        wrong.text
    );
    let right = status
        .call(call("mcp__deploy__status", json!({"service": "web"})))
        .await;
    assert!(
        !right.is_error && right.text.contains("web"),
        "{}",
        right.text
    );
}

/// A session without servers of its own, and a way to write into its `.mcp.json` how x is started.
fn session_with_a_file() -> (Session, impl Fn(&str, &[&str])) {
    let session = Session::with(&[]);
    let file = session._directory.path().join(".mcp.json");
    let write = move |command: &str, args: &[&str]| {
        let entry = json!({"command": command, "args": args});
        std::fs::write(&file, json!({"mcpServers": {"x": entry}}).to_string()).unwrap();
    };
    (session, write)
}

fn connect_x(id: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        ..call("connect_mcp", json!({"name": "x"}))
    }
}

#[tokio::test]
async fn what_the_policy_was_shown_is_what_is_started() {
    let (session, write) = session_with_a_file();
    let shown = |call: &ToolCall| session.connect.shell_command(call);
    let (yes, no) = (connect_x("toolu_1"), connect_x("toolu_2"));
    write("no-such-program-one", &[]);
    assert_eq!(shown(&yes).as_deref(), Some("no-such-program-one"));
    // The user says yes to this one and no to the next one of the same reply.
    write("no-such-program-two", &[]);
    assert_eq!(shown(&no).as_deref(), Some("no-such-program-two"));
    let answer = session.connect.call(yes).await.text;
    assert!(answer.contains("no-such-program-one"), "{answer}");
}

#[tokio::test]
async fn a_server_that_was_unknown_when_the_call_was_judged_is_not_started() {
    let (session, write) = session_with_a_file();
    let unjudged = connect_x("toolu_1");
    assert_eq!(session.connect.shell_command(&unjudged), None);
    write("no-such-program", &[]);
    let answer = session.connect.call(unjudged).await.text;
    assert!(answer.starts_with("there is no server 'x'"), "{answer}");
}

/// Says no to whatever is asked.
struct Naysayer;

impl Approver for Naysayer {
    fn ask<'a>(&'a self, _: &'a str) -> Answering<'a> {
        Box::pin(std::future::ready(Answer::No(Refusal::User)))
    }

    fn tell(&self, _: &str) {}
}

#[tokio::test]
async fn no_spelling_of_a_program_starts_it_without_a_question() {
    let (session, write) = session_with_a_file();
    let ws = Workspace::at(session._directory.path()).unwrap();
    let policy = Policy::open(&ws, Naysayer);
    let tools = Toolbox::new().with(session.connect.clone());
    for (command, args) in [
        ("./server", &[][..]),
        ("LANG=a/server", &["cat", "README.md"]),
        ("LANG=a/${HOME:-}", &["cat"]),
        ("cat README.md", &[]),
        ("#", &[]),
        ("cat\n./server", &[]),
    ] {
        write(command, args);
        let verdict = policy.check(&tools, &connect_x("toolu_1")).await;
        assert!(verdict.is_err(), "{command}");
    }
}
