//! The pool and connect_mcp through their handles: what odd servers list, and what becomes of it.

use s01_loop::{Answer, Output, Refusal, Repl, ToolCall, ToolSpec};
use s02_tools::{Tool, Toolbox};
use s03_permission::Policy;
use s19_mcp_plugin::{Mcp, StdioServerConfig};
use serde_json::json;

use crate::scene::{HEAR, STAY, Scene, User, hello, tool_call};

/// A session with mock docs servers of these names, each started with these faults.
struct Session {
    scene: Scene,
    mcp: Mcp,
    connect: Tool,
}

impl Session {
    fn with(servers: &[(&str, &[&str])]) -> Self {
        let scene = Scene::new();
        let configs = servers.iter().map(|(name, faults)| StdioServerConfig {
            name: (*name).to_owned(),
            ..scene.docs(faults)
        });
        let repl = Repl::typed("s19").quiet();
        let mcp = Mcp::with_servers(&scene.ws, &repl, configs.collect::<Vec<_>>());
        let connect = mcp.connect_tool();
        Self {
            scene,
            mcp,
            connect,
        }
    }

    async fn connect(&self, name: &str) -> String {
        let call = tool_call("connect_mcp", json!({ "name": name }));
        self.connect.call(call).await.text
    }

    /// Writes a `.mcp.json` that says how x is started.
    fn write(&self, command: &str, args: &[&str]) {
        let entry = json!({"command": command, "args": args});
        let file = json!({"mcpServers": {"x": entry}});
        self.scene.write(".mcp.json", &file.to_string());
    }

    fn names(&self) -> Vec<String> {
        let tools = self.mcp.tools();
        tools.iter().map(|tool| tool.name().to_owned()).collect()
    }
}

#[tokio::test]
async fn five_hundred_tools_are_a_pool_and_a_short_answer() {
    let session = Session::with(&[("docs", &["500-tools"])]);
    let answer = session.connect("docs").await;
    assert_eq!(session.names().len(), 502);
    assert!(answer.ends_with(" and 452 more") && answer.len() < 3_000, "{answer}");
    session.mcp.shut_down().await;
    assert_eq!(session.names(), [""; 0]);
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
    // It writes what stands in a file: a command line has a limit.
    let page = json!({"jsonrpc": "2.0", "id": 2, "result": {"tools": tools}});
    session.scene.write("page", &format!("{page}\n"));
    let says = [HEAR, &hello(), HEAR, HEAR, "cat page", STAY].join("\n");
    session.write("bash", &["-c", &says]);
    let answer = session.connect("x").await;
    let mut sentences = answer.split(". Left out: ");
    assert_eq!(sentences.next(), Some("Connected to 'x'. Discovered: a, e"), "{answer}");
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
async fn each_call_reaches_its_own_of_two_twins_and_a_built_in_tool_wins_a_clash_of_names() {
    let session = Session::with(&[("docs", &["twins"])]);
    session.connect("docs").await;
    let spec = ToolSpec::with_schema("mcp__docs__search", "Ours.", json!({"type": "object"}));
    let ours = Tool::new(spec, async |_| Output::ok("ours"));
    let tools = Toolbox::new().with(ours).with_all(session.mcp.tools());
    let mut answers = Vec::new();
    for name in tools.names().iter().filter(|name| name.len() > 33) {
        answers.push(tools.call(tool_call(name, json!({}))).await.text);
    }
    assert!(matches!(&answers[..], [one, two] if one != two), "{answers:?}");
    let answer = tools.call(tool_call("mcp__docs__search", json!({}))).await;
    assert_eq!(answer.text, "ours");
}

#[tokio::test]
async fn two_who_connect_at_once_start_one_server() {
    let session = Session::with(&[("docs", &[])]);
    let (one, two) = tokio::join!(session.connect("docs"), session.connect("docs"));
    let mut answers = [one, two];
    answers.sort();
    assert!(answers[0].starts_with("Already connected to 'docs'."), "{answers:?}");
    assert!(answers[1].starts_with("Connected to 'docs'."), "{answers:?}");
    assert_eq!(session.names().len(), 2);
}

fn connect_x(id: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        ..tool_call("connect_mcp", json!({"name": "x"}))
    }
}

#[tokio::test]
async fn what_the_policy_was_shown_is_what_is_started() {
    let session = Session::with(&[]);
    let shown = |call: &ToolCall| session.connect.shell_command(call);
    let (unknown, yes, no) = (connect_x("toolu_0"), connect_x("toolu_1"), connect_x("toolu_2"));
    assert_eq!(shown(&unknown), None);
    session.write("no-such-program-one", &[]);
    assert_eq!(shown(&yes).as_deref(), Some("no-such-program-one"));
    // The user says yes to this one and no to the next one of the same reply.
    session.write("no-such-program-two", &[]);
    assert_eq!(shown(&no).as_deref(), Some("no-such-program-two"));
    let answer = session.connect.call(yes).await.text;
    assert!(answer.contains("no-such-program-one"), "{answer}");
    let answer = session.connect.call(unknown).await.text;
    assert!(answer.starts_with("there is no server 'x'"), "{answer}");
}

#[tokio::test]
async fn no_spelling_of_a_program_starts_it_without_a_question() {
    let session = Session::with(&[]);
    let user = User::default();
    let policy = Policy::open(&session.scene.ws, user.clone());
    let tools = Toolbox::new().with(session.connect.clone());
    for (command, args) in [
        ("./server", &[][..]),
        ("LANG=a/server", &["cat", "README.md"]),
        ("LANG=a/${HOME:-}", &["cat"]),
        ("cat README.md", &[]),
        ("#", &[]),
        ("cat\n./server", &[]),
    ] {
        session.write(command, args);
        *user.answers.lock().unwrap() = [Answer::No(Refusal::User)].into();
        let verdict = policy.check(&tools, &connect_x("toolu_1")).await;
        assert!(verdict.is_err(), "{command}");
    }
}
