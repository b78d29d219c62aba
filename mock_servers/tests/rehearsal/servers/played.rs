//! Servers that are played: their tools come on offer when they are connected, and not before.
//!
//! Invariant: a server answers as the real one does, as far as the model can see.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use mock_servers::model::{Block, Role, Tool};
use serde_json::Value;

use super::company;
use crate::everything::built_in;
use crate::stage::{Play, Stage};

/// What a server's tool answers, and whether that is an error.
pub type Answer = fn(&Value) -> (String, bool);

/// A server: its tools, each with what it answers.
pub type Server = Vec<(Tool, Answer)>;

/// A stage on which servers can be connected.
pub struct Served {
    pub stage: Stage,
    servers: Rc<BTreeMap<String, Server>>,
    connected: Rc<RefCell<Vec<String>>>,
    instead: Instead,
}

type Instead = Rc<RefCell<Box<dyn Fn(&str, &Value) -> Option<(String, bool)>>>>;

/// The servers docs and deploy, and every built-in tool.
pub fn stage() -> Served {
    with([("docs", company::docs()), ("deploy", company::deploy())])
}

/// The four servers of the course.
pub fn company_stage() -> Served {
    with([
        ("docs", company::docs()),
        ("deploy", company::deploy()),
        ("jira", company::jira()),
        ("notion", company::notion()),
    ])
}

/// These servers.
pub fn with<const N: usize>(servers: [(&str, Server); N]) -> Served {
    let servers: BTreeMap<String, Server> = servers
        .map(|(name, server)| (name.to_owned(), server))
        .into();
    let (servers, connected) = (Rc::new(servers), Rc::<RefCell<Vec<String>>>::default());
    let instead: Instead = Rc::new(RefCell::new(Box::new(|_, _| None)));
    let (known, now, first) = (servers.clone(), connected.clone(), instead.clone());
    let mut stage = Stage::new(&[]).intercepting(move |name, input| {
        let instead = first.borrow()(name, input);
        instead.or_else(|| answer(&known, &now, name, input))
    });
    stage.tools = pool(&servers, &[]);
    Served {
        stage,
        servers,
        connected,
        instead,
    }
}

impl Served {
    /// Answers some calls otherwise.
    pub fn answering(
        &mut self,
        instead: impl Fn(&str, &Value) -> Option<(String, bool)> + 'static,
    ) {
        *self.instead.borrow_mut() = Box::new(instead);
    }

    /// Connects a server before anybody asks for it.
    pub fn connect(&mut self, name: &str) {
        self.connected.borrow_mut().push(name.to_owned());
        self.stage.tools = pool(&self.servers, &self.connected.borrow());
    }

    /// The user asks; after each reply the tools on offer are those of the servers that are connected by then.
    pub fn ask(&mut self, request: &str) -> Play {
        self.stage
            .push(Role::User, vec![Block::Text(request.to_owned())]);
        let mut calls = Vec::new();
        for round in 0..crate::stage::MAX_ROUNDS {
            let play = self.round(round, &mut calls);
            if let Some(answer) = play {
                return Play { calls, answer };
            }
        }
        panic!("no end: {calls:#?}");
    }

    /// One reply and its results; the last words when there are no calls.
    fn round(&mut self, round: usize, calls: &mut Vec<(usize, String, Value)>) -> Option<String> {
        self.stage.tools = pool(&self.servers, &self.connected.borrow());
        let blocks = self.stage.reply(round);
        self.stage.push(Role::Assistant, blocks.clone());
        let mut results = Vec::new();
        let mut said = String::new();
        for block in blocks {
            match block {
                Block::Text(text) => said = text,
                Block::ToolUse { id, name, input } => {
                    let (content, is_error) = self.stage.run(&name, &input);
                    results.push(Block::ToolResult {
                        tool_use_id: id,
                        content,
                        is_error,
                    });
                    calls.push((round, name, input));
                }
                Block::ToolResult { .. } | Block::Other(_) => unreachable!("a model says neither"),
            }
        }
        if results.is_empty() {
            return Some(said);
        }
        self.stage.push(Role::User, results);
        None
    }
}

fn pool(servers: &BTreeMap<String, Server>, connected: &[String]) -> Arc<[Tool]> {
    let mut tools = built_in();
    let connect = tools.last_mut().expect("there are tools");
    let names: Vec<&str> = servers.keys().map(String::as_str).collect();
    connect.description = format!(
        "Connect an MCP server; its tools come with the next reply. Available: {}.",
        names.join(", ")
    );
    for server in connected {
        tools.extend(servers[server].iter().map(|(tool, _)| Tool {
            name: format!("mcp__{server}__{}", tool.name),
            ..tool.clone()
        }));
    }
    tools.into()
}

fn answer(
    servers: &BTreeMap<String, Server>,
    connected: &RefCell<Vec<String>>,
    name: &str,
    input: &Value,
) -> Option<(String, bool)> {
    if name == "connect_mcp" {
        let wanted = input["name"].as_str().unwrap_or_default();
        let Some(server) = servers.get(wanted) else {
            let names: Vec<&str> = servers.keys().map(String::as_str).collect();
            return Some((
                format!(
                    "there is no server '{wanted}'; available: {}",
                    names.join(", ")
                ),
                true,
            ));
        };
        if connected.borrow().iter().any(|name| name == wanted) {
            return Some((format!("'{wanted}' is already connected"), false));
        }
        connected.borrow_mut().push(wanted.to_owned());
        let names: Vec<&str> = server.iter().map(|(tool, _)| tool.name.as_str()).collect();
        return Some((
            format!("Connected to '{wanted}'. Discovered: {}", names.join(", ")),
            false,
        ));
    }
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    let (_, answer) = servers[server]
        .iter()
        .find(|(known, _)| known.name == tool)?;
    Some(answer(input))
}
