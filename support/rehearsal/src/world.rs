//! What there is around a request: tools, teammates, servers, skills.
//!
//! Invariant: it is read from the conversation and the tools on offer, and from nothing else.

use std::cell::RefCell;

use crate::mcp;
use crate::scene::{Past, Scene};
use crate::table::Row;
use crate::tools::{Can, Tools};
use crate::words::{has, unique};

/// What there is around a request.
pub struct World<'a> {
    pub tools: &'a Tools<'a>,
    pub scene: &'a Scene<'a>,
    pub system: &'a str,
    /// The teammates that were hired in this conversation.
    pub mates: Vec<String>,
    /// The servers that can be connected or are.
    pub servers: Vec<String>,
    /// The servers that are connected.
    pub connected: Vec<String>,
    /// Tools of servers that were called and are no longer on offer.
    pub gone: Vec<&'a str>,
    /// The file that was spoken of last.
    pub last_path: Option<String>,
    /// The names of what another agent can do, for whom a job is looked at.
    pub lent: &'static str,
    /// The calls of the conversation that are spoken for: a call counts once.
    pub used: RefCell<Vec<usize>>,
}

impl<'a> World<'a> {
    pub fn new(tools: &'a Tools<'a>, scene: &'a Scene<'a>, system: &'a str) -> Self {
        let spawn = tools.get(Can::Spawn).map(|tool| tool.name);
        let hired = scene.calls.iter().filter(|call| Some(call.name) == spawn && !call.failed);
        let mates =
            hired.filter_map(|call| call.input["name"].as_str()).map(str::to_owned).collect();
        let all = mcp::connected(tools);
        let servers = unique(mcp::available(tools).into_iter().chain(all.clone()));
        // What this request has connected was not there when it was understood first.
        let connect = tools.get(Can::Connect).map(|tool| tool.name);
        let newest = scene.newest().unwrap_or_default();
        let here = scene.calls.iter().filter(|call| call.at > newest && Some(call.name) == connect);
        let here: Vec<&str> = here.filter_map(|call| call.input["name"].as_str()).collect();
        let connected = all.into_iter().filter(|server| !here.contains(&server.as_str())).collect();
        let named = ["path", "file_path", "filePath"];
        let path = |call: &Past| {
            named.iter().find_map(|name| call.input[*name].as_str()).map(str::to_owned)
        };
        let is_gone = |name: &&str| name.starts_with("mcp__") && tools.named(name).is_none();
        let gone = unique(scene.calls.iter().map(|call| call.name).filter(is_gone));
        let last_path = scene.calls.iter().rev().filter(|call| !call.failed).find_map(path);
        Self {
            tools,
            scene,
            system,
            mates,
            servers,
            connected,
            gone,
            last_path,
            lent: "",
            used: RefCell::default(),
        }
    }

    /// The calls of the tool that can do this.
    pub fn called(&self, can: Can) -> impl Iterator<Item = &Past<'a>> {
        let name = self.tools.get(can).map(|tool| tool.name);
        self.scene.calls.iter().filter(move |call| Some(call.name) == name)
    }

    /// Whether a tool that a row wants is on offer.
    pub fn can_do(&self, row: &Row) -> bool {
        row.tools.is_empty() || row.tools.iter().any(|can| self.can(*can))
    }

    pub fn can(&self, can: Can) -> bool {
        self.tools.can(can) || has(self.lent, &format!("{can:?}"))
    }

    /// The skills of the catalogue: name and description.
    pub fn skills(&self) -> Vec<(&str, &str)> {
        let Some(at) = self.system.find("skill") else { return Vec::new() };
        let lines =
            self.system[at..].lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        };
        lines
            .filter(|(name, _)| is_name(name))
            .take_while(|(_, description)| !description.is_empty())
            .collect()
    }
}
