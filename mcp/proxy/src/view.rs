//! What the proxy shows at one moment: which tools are found, which are held back, what is missing.
//!
//! It is built anew when a server or the memory has changed, and never changes itself, so that an answer is of one piece.
//! Invariants: a tool that is held back is neither found nor called nor listed; what is missing is said in every answer;
//! what a model reads unasked has no text of a server in it but the tools that the user wants there.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Context;
use mcp_client::{Server, State};
use serde_json::{Value, json};

use crate::backends::{Listed, Standing};
use crate::index::synonyms::Synonyms;
use crate::index::{Index, Tool};
use crate::settings::Settings;
use crate::store::Store;
use crate::trust;

/// Tools in an answer, unless a call says otherwise, and at most.
pub const LIMIT: (usize, usize) = (5, 50);
/// Of a description that is shown unasked.
const DESCRIPTION: usize = 2000;
/// For the names of servers in the instructions.
const SERVERS: usize = 200;

/// The tool that finds tools.
pub const DISCOVER: &str = "discover_tools";
/// The tool that calls them; in two parts, the one that only reads and the one that may write.
pub const CALL: [&str; 3] = ["call_tool", "call_tool_read", "call_tool_write"];

/// All that there is to show.
pub struct View {
    /// The tools that may be found and called.
    pub index: Index,
    /// Those that may not, and why.
    pub held: Vec<(Arc<Listed>, String)>,
    /// What `tools/list` has.
    pub tools: Vec<Value>,
    /// Those of them that are a server's.
    pub always: Vec<Tool>,
    /// What is wrong, a sentence each; away servers not.
    pub problems: Vec<String>,
    /// The servers, and where each stands.
    pub servers: Vec<(Server, Standing)>,
    /// The memory that it was built with.
    pub stamp: Option<SystemTime>,
    split: bool,
}

impl View {
    /// Judges and indexes what the servers list. It reads files.
    pub fn build(
        settings: &Settings,
        store: &Store,
        wrong: &[String],
        servers: Vec<(Server, Standing)>,
    ) -> Self {
        let mut problems = wrong.to_vec();
        let listed: Vec<_> = servers.iter().flat_map(|(_, it)| it.tools.iter().cloned()).collect();
        let mut owners: HashMap<&str, BTreeSet<&str>> = HashMap::new();
        for Tool { name, server, .. } in listed.iter().map(|it| &it.tool) {
            owners.entry(name).or_default().insert(server);
        }
        let suspected = listed.iter().map(|it| (&**it, suspicion(it, &owners)));
        let judged = store.judge(&suspected.collect::<Vec<_>>()).unwrap_or_else(|error| {
            problems.push(format!("{error:#}; until then no tool is shown"));
            vec![Some("the memory of tools cannot be used".to_owned()); listed.len()]
        });
        let stamp = store.stamp();
        let (mut free, mut held) = (Vec::new(), Vec::new());
        for (it, judged) in listed.into_iter().zip(judged) {
            match judged {
                Some(why) => held.push((it, why)),
                None => free.push(it),
            }
        }
        let mut view = Self {
            index: index(settings, &free, &mut problems),
            held,
            tools: Vec::new(),
            always: Vec::new(),
            problems,
            servers,
            stamp,
            split: settings.split,
        };
        view.tools = view.own_tools();
        settings.always_on.iter().for_each(|wanted| view.show(wanted, &free));
        view
    }

    fn own_tools(&self) -> Vec<Value> {
        let query = "The task in a few words, or a tool's name";
        let mut tools = vec![json!({
            "name": DISCOVER,
            "description": "Finds tools for a task. Answers with calls to copy.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": query},
                    "limit": {"type": "integer", "minimum": 1, "maximum": LIMIT.1, "default": LIMIT.0},
                    "detail": {"enum": ["recipe", "schema"], "description": "schema: all of the best tool"},
                },
                "required": ["query"],
            },
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        })];
        let all = self.index.tools().iter();
        let (reading, writing): (Vec<_>, Vec<_>) = all.clone().partition(|it| only_reads(it));
        let callers = if self.split {
            let (read, write) = ("Calls a tool that only reads.", "Calls a tool that may write.");
            vec![(CALL[1], read, worst(&reading)), (CALL[2], write, worst(&writing))]
        } else {
            let about = "Calls a tool that discover_tools has found.";
            vec![(CALL[0], about, worst(&all.collect::<Vec<_>>()))]
        };
        let properties = json!({"tool_name": {"type": "string"}, "arguments": {"type": "object"}});
        let schema = json!({"type": "object", "properties": properties, "required": ["tool_name"]});
        tools.extend(callers.into_iter().map(|(name, description, annotations)| {
            json!({"name": name, "description": description, "inputSchema": schema, "annotations": annotations})
        }));
        tools
    }

    /// Lists what the user wants to appear as itself: `name`, `server:name` or `server:*`.
    fn show(&mut self, wanted: &str, free: &[Arc<Listed>]) {
        let mut found = false;
        for Listed { tool, whole, .. } in free.iter().map(|it| &**it) {
            let Some(rest) = wanted.strip_prefix(&format!("{}:", tool.server)).or(Some(wanted))
            else {
                continue;
            };
            if rest != tool.name && (rest != "*" || rest == wanted) {
                continue;
            }
            found = true;
            let is_it = |it: &Tool| (&it.name, &it.server) == (&tool.name, &tool.server);
            if self.always.iter().any(is_it) {
                continue;
            }
            if self.tools.iter().any(|it| it["name"] == *tool.name) {
                let key = tool.key();
                self.problems.push(format!("always_on: another tool is called as {key} is"));
                continue;
            }
            let mut whole = trust::cleaned(whole);
            whole["description"] = kit::cut(&tool.description, DESCRIPTION).into();
            self.tools.push(whole);
            self.always.push(tool.clone());
        }
        if !found && self.connecting().is_empty() {
            self.problems.push(format!("always_on: there is no tool {wanted}"));
        }
    }

    /// The tool that calls this one.
    pub fn caller(&self, tool: &Tool) -> &'static str {
        CALL[if !self.split {
            0
        } else if only_reads(tool) {
            1
        } else {
            2
        }]
    }

    /// Servers that were not reached yet.
    pub fn connecting(&self) -> Vec<&str> {
        self.those(|state| matches!(state, State::Pending))
    }

    /// Servers that cannot be reached.
    fn away(&self) -> Vec<&str> {
        self.those(|state| !matches!(state, State::Pending | State::Connected))
    }

    fn those(&self, stands: impl Fn(&State) -> bool) -> Vec<&str> {
        let those = self.servers.iter().filter(|(_, standing)| stands(&standing.state));
        those.map(|(server, _)| server.name.as_str()).collect()
    }

    /// What a model must know before it relies on an answer, a sentence each.
    pub fn lacks(&self) -> Vec<String> {
        let mut lacks = self.problems.clone();
        for (state, names) in [("still connecting", self.connecting()), ("away", self.away())] {
            if !names.is_empty() {
                lacks.push(format!("{state}: {}", short(&names)));
            }
        }
        if !self.held.is_empty() {
            let count = kit::counted(self.held.len(), "tool");
            lacks.push(format!("{count} held back: `mcp_proxy quarantine` tells the user why"));
        }
        if self.index.tools().is_empty() && self.connecting().is_empty() {
            lacks.push("there are no tools".to_owned());
        }
        lacks
    }

    /// What `initialize` says.
    pub fn instructions(&self) -> String {
        let servers: Vec<_> = self.servers.iter().map(|(server, _)| server.name.as_str()).collect();
        let mut text = format!(
            "{} of {} behind {DISCOVER}: describe the task, then copy the call. Servers: {}.",
            kit::counted(self.index.tools().len(), "tool"),
            kit::counted(servers.len(), "server"),
            short(&servers)
        );
        self.lacks().iter().for_each(|lack| text += &format!("\nMissing: {lack}."));
        text
    }

    /// What a person must know, a sentence each; nothing when all is well.
    pub fn wrongs(&self) -> Vec<String> {
        let mut wrongs = self.problems.clone();
        for (server, standing) in &self.servers {
            let name = &server.name;
            match &standing.state {
                State::Connected => {}
                State::Pending => wrongs.push(format!("{name}: connecting")),
                State::Disabled => wrongs.push(format!("{name}: disabled")),
                State::Failed(why) | State::NeedsAuth(why) => wrongs.push(format!("{name}: {why}")),
            }
            wrongs.extend(standing.left_out.iter().map(|why| format!("{name}: left out: {why}")));
        }
        wrongs
    }
}

/// Names up to a length, and how many more there are.
fn short(names: &[&str]) -> String {
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        if text.len() + name.len() > SERVERS {
            return format!("{text} and {} more", names.len() - at);
        }
        text += if at == 0 { "" } else { ", " };
        text += name;
    }
    text
}

/// What is suspicious about a tool: what it says, or that it speaks of a tool that only others have.
fn suspicion(listed: &Listed, owners: &HashMap<&str, BTreeSet<&str>>) -> Option<String> {
    let said = listed.signs.iter().map(|sign| format!("{} ({:?})", sign.category, sign.words));
    let foreign = listed.mentions.iter().filter_map(|name| Some((name, owners.get(&**name)?)));
    let foreign = foreign.filter(|(_, owners)| !owners.contains(&*listed.tool.server));
    let foreign = foreign.map(|(name, _)| format!("speaks of another server's tool ({name:?})"));
    let all: Vec<_> = said.chain(foreign).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn index(settings: &Settings, free: &[Arc<Listed>], problems: &mut Vec<String>) -> Index {
    let mut groups = Synonyms::built_in();
    if let Some(path) = &settings.synonyms {
        let read = fs::read_to_string(path).context("it cannot be read");
        match read.and_then(|text| Ok(groups.clone().with(&text)?)) {
            Ok(more) => groups = more,
            Err(error) => {
                problems.push(kit::one_line(&format!("synonyms {}: {error:#}", path.display())))
            }
        }
    }
    let tools = free.iter().map(|it| it.tool.clone()).collect();
    let mut index = Index::new(tools, groups);
    if let Some(share) = settings.least_share {
        index = index.least_share(share);
    }
    if let Some(Err(error)) = settings.embeddings.as_ref().map(|folder| index.embed(folder)) {
        problems.push(kit::one_line(&format!("embeddings: {error:#}; words alone are searched")));
    }
    index
}

/// True when a tool says that it changes nothing.
pub fn only_reads(tool: &Tool) -> bool {
    tool.annotations["readOnlyHint"] == true
}

/// The annotations of a tool that may turn out to be any of these; what one does not say is taken as the worst.
fn worst(tools: &[&Tool]) -> Value {
    let says = |tool: &Tool, hint: &str| tool.annotations[hint].as_bool();
    let reads = !tools.is_empty() && tools.iter().all(|it| only_reads(it));
    let destroys = |it: &&Tool| !only_reads(it) && says(it, "destructiveHint") != Some(false);
    let repeats = |it: &&Tool| only_reads(it) || says(it, "idempotentHint") == Some(true);
    json!({
        "readOnlyHint": reads,
        "destructiveHint": tools.is_empty() || tools.iter().any(destroys),
        "idempotentHint": !tools.is_empty() && tools.iter().all(repeats),
        "openWorldHint": tools.is_empty() || tools.iter().any(|it| says(it, "openWorldHint") != Some(false)),
    })
}
