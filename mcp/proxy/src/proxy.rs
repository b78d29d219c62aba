//! Two tools in front of many: what `discover_tools` answers, and what becomes of a call.
//!
//! An answer is a recipe and an error is the next step: a model that copies the one and reads the other needs no schema.
//! Invariants: nothing reaches a server before its arguments fit the tool's schema; a result leaves as the server wrote it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use kit::BoxFuture;
use mcp_client::fleet::Limits;
use mcp_client::{Server, login};
use mcp_relay::service::{self, About, Refusal, Service};
use mcp_wire::body;
use mcp_wire::frame::code;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::backends::{Backends, Standing};
use crate::calls::Calls;
use crate::index::{Tool, tokens};
use crate::settings::Settings;
use crate::store::Store;
use crate::template::{recipe, template};
use crate::view::{CALL, DISCOVER, LIMIT, View, only_reads};

/// For servers that are still connecting when something is asked.
const PATIENCE: Duration = Duration::from_secs(10);
/// Faults of arguments that are told at once.
const FAULTS: usize = 5;

/// What a proxy is made of.
pub struct Setup {
    /// What the user wants.
    pub settings: Settings,
    /// The servers, in the order of the configuration.
    pub servers: Vec<Server>,
    /// What is kept of logins to them.
    pub logins: Arc<login::Store>,
    /// How many are connected to at once, and how long each may take.
    pub limits: Limits,
    /// The memory.
    pub store: Store,
    /// What is wrong with the configuration, a sentence each.
    pub wrong: Vec<String>,
}

/// Many tools behind two. Clones share all.
#[derive(Clone)]
pub struct Proxy {
    backends: Arc<Backends>,
    store: Store,
    calls: Calls,
    view: watch::Receiver<Arc<View>>,
    rebuild: watch::Sender<()>,
    tools_change: watch::Receiver<()>,
}

impl Proxy {
    /// Begins to connect to the servers.
    pub fn start(setup: Setup) -> Self {
        let backends = Backends::start(setup.servers, &setup.logins, setup.limits);
        let (settings, store, wrong) = (setup.settings, setup.store, setup.wrong);
        let (rebuild, wanted) = watch::channel(());
        let first = View::build(&settings, &store, &wrong, backends.standings());
        let (shown, view) = watch::channel(Arc::new(first));
        let (change_tools, tools_change) = watch::channel(());
        let proxy = Self {
            calls: Calls::new(&store),
            backends: backends.clone(),
            store: store.clone(),
            view,
            rebuild,
            tools_change,
        };
        let build = move |standings, more: Option<String>| {
            let wrong: Vec<_> = wrong.iter().cloned().chain(more).collect();
            View::build(&settings, &store, &wrong, standings)
        };
        tokio::spawn(keep(backends, wanted, build, move |view| {
            let old = shown.send_replace(Arc::new(view));
            if old.tools != shown.borrow().tools {
                change_tools.send_replace(());
            }
        }));
        proxy
    }

    /// What is shown, and each change of it.
    pub fn views(&self) -> watch::Receiver<Arc<View>> {
        self.view.clone()
    }

    /// What is shown once all servers have answered, or when they have had their time. A memory that another process has
    /// changed is read again.
    pub async fn view(&self) -> Arc<View> {
        let mut view = self.view.clone();
        let settled = |view: &Arc<View>| view.connecting().is_empty();
        let _ = timeout(PATIENCE, view.wait_for(settled)).await;
        if view.borrow_and_update().stamp != self.store.stamp() {
            self.rebuild.send_replace(());
            let _ = timeout(PATIENCE, view.changed()).await;
        }
        view.borrow().clone()
    }

    /// Answers a call of one of the tools that are listed; None when there is no such tool.
    pub async fn call(
        &self,
        name: &str,
        arguments: &RawValue,
        progress: impl FnMut(&RawValue) + Send,
    ) -> Option<Box<RawValue>> {
        let view = self.view().await;
        let answer = if name == DISCOVER {
            let arguments = serde_json::from_str(arguments.get()).unwrap_or_default();
            discover(&view, &arguments).map(service::text)
        } else if CALL.contains(&name) && view.tools.iter().any(|tool| tool["name"] == name) {
            let wanted = body::text(arguments, &["tool_name"]).unwrap_or_default();
            match target(&view, name, &wanted) {
                Ok(tool) => {
                    let arguments = body::get(arguments, &["arguments"]).unwrap_or(RawValue::NULL);
                    self.run(&view, tool, arguments, "found", progress).await
                }
                Err(why) => Err(why),
            }
        } else {
            let tool = view.always.iter().find(|tool| tool.name == name)?;
            self.run(&view, tool, arguments, "always on", progress).await
        };
        Some(answer.unwrap_or_else(service::failed))
    }

    /// Calls a server's tool with these arguments, as they are written.
    async fn run(
        &self,
        view: &View,
        tool: &Tool,
        arguments: &RawValue,
        how: &str,
        progress: impl FnMut(&RawValue) + Send,
    ) -> Result<Box<RawValue>, String> {
        let none = service::raw(json!({}));
        let arguments = if arguments.get() == "null" { &none } else { arguments };
        fits(tool, arguments).map_err(|faults| {
            let template = template(&shown(view, tool), view.caller(tool));
            format!("{}: {faults}. Nothing was done.\n{template}", tool.name)
        })?;
        let began = Instant::now();
        let answer = self.backends.call(tool, arguments, progress).await;
        self.calls.note(tool, how, answer.is_ok(), began.elapsed());
        answer
    }
}

impl Service for Proxy {
    fn about(&self) -> About {
        self.calls.note_session();
        About {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: json!({}),
            instructions: self.view.borrow().instructions(),
        }
    }

    fn tools(&self) -> Vec<Box<RawValue>> {
        self.view.borrow().tools.iter().map(service::raw).collect()
    }

    fn call(&self, call: service::Call) -> BoxFuture<'static, Result<Box<RawValue>, Refusal>> {
        let own = self.clone();
        Box::pin(async move {
            let progress = |report: &RawValue| call.progress.offer(report);
            let answer = own.call(&call.name, &call.arguments, progress).await;
            let unknown = || format!("Unknown tool: '{}'", call.name);
            answer.ok_or_else(|| Refusal::new(code::INVALID_PARAMS, unknown()))
        })
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.tools_change.clone()
    }
}

/// Builds the view anew after each change, several at once where they come faster than that. When it cannot be built there is
/// one without tools that says so.
async fn keep(
    backends: Arc<Backends>,
    mut wanted: watch::Receiver<()>,
    build: impl Fn(Vec<(Server, Standing)>, Option<String>) -> View + Send + Sync + 'static,
    show: impl Fn(View),
) {
    let build = Arc::new(build);
    let mut changes = backends.changes();
    changes.mark_changed();
    loop {
        tokio::select! {
            Ok(()) = changes.changed() => {}
            Ok(()) = wanted.changed() => {}
            else => return,
        }
        let (whole, standings) = (build.clone(), backends.standings());
        let view = tokio::task::spawn_blocking(move || whole(standings, None)).await;
        show(view.unwrap_or_else(|error| {
            let mut standings = backends.standings();
            standings.iter_mut().for_each(|(_, standing)| standing.tools.clear());
            build(standings, Some(format!("the index cannot be built: {error}")))
        }));
    }
}

/// The answer of `discover_tools`.
///
/// # Errors
/// What is wrong with the arguments.
pub fn discover(view: &View, arguments: &Value) -> Result<String, String> {
    let query = arguments["query"].as_str().map(str::trim).unwrap_or_default();
    if query.is_empty() {
        return Err(format!("{DISCOVER} needs `query`: the task in a few words"));
    }
    let whole = match arguments["detail"].as_str() {
        Some("schema") => true,
        Some("recipe") => false,
        None if arguments["detail"].is_null() => false,
        _ => return Err("`detail` is \"recipe\" or \"schema\"".to_owned()),
    };
    let limit = match (&arguments["limit"], arguments["limit"].as_u64()) {
        (Value::Null, _) => [LIMIT.0, 1][usize::from(whole)],
        (_, Some(limit)) if limit > 0 => usize::try_from(limit).unwrap_or(LIMIT.1).min(LIMIT.1),
        _ => return Err(format!("`limit` is a number from 1 to {}", LIMIT.1)),
    };
    let found = view.index.search(query, limit);
    let mut tools = named(view, query);
    let exact = tools.len();
    for tool in found.tools {
        if !tools[..exact].iter().any(|it| std::ptr::eq(*it, tool)) {
            tools.push(tool);
        }
    }
    tools.truncate(limit);
    let mut text = answer(view, &tools, whole);
    if tools.is_empty() {
        text = format!("No tool matches \"{query}\". Try broader terms.\n");
        if !found.unknown.is_empty() {
            text += &format!("No tool knows: {}.\n", found.unknown.join(", "));
        }
        if !found.near.is_empty() {
            text += &format!("Nearest servers: {}.\n", found.near.join(", "));
        }
    }
    view.lacks().iter().for_each(|lack| text += &format!("Missing: {lack}.\n"));
    Ok(text.trim_end().to_owned())
}

/// Tools as recipes, and with the whole schema of each.
pub fn answer(view: &View, tools: &[&Tool], whole: bool) -> String {
    let recipes = tools.iter().map(|tool| {
        let recipe = recipe(&shown(view, tool), view.caller(tool));
        let schema = format!("Schema: {}\n", tool.input_schema);
        recipe + if whole { &schema } else { "" } + "\n"
    });
    recipes.collect()
}

/// The tools that somebody calls so: `name`, or `server:name`.
fn named<'a>(view: &'a View, name: &str) -> Vec<&'a Tool> {
    let plain: Vec<_> = view.index.named(name).iter().collect();
    let qualified = name.split_once(':').map(|(server, name)| {
        view.index.named(name).iter().filter(move |tool| tool.server == server)
    });
    if plain.is_empty() { qualified.into_iter().flatten().collect() } else { plain }
}

/// A tool under the name by which it is called here.
fn shown(view: &View, tool: &Tool) -> Tool {
    let mut shown = tool.clone();
    if view.index.named(&tool.name).len() > 1 {
        shown.name = tool.key();
    }
    shown
}

/// The tool that a call means.
fn target<'a>(view: &'a View, caller: &str, name: &str) -> Result<&'a Tool, String> {
    if name.is_empty() {
        return Err(format!("{caller} needs `tool_name`, as {DISCOVER} has answered it"));
    }
    let tools = named(view, name);
    match tools.as_slice() {
        [] => Err(unknown(view, name)),
        [tool] if caller == CALL[1] && !only_reads(tool) => {
            Err(format!("{name} may write, and {caller} calls what only reads. Use {}.", CALL[2]))
        }
        [tool] => Ok(tool),
        several => {
            let names: Vec<_> = several.iter().map(|tool| shown(view, tool).name).collect();
            Err(format!("Several servers have '{name}'. Use one of: {}.", names.join(", ")))
        }
    }
}

fn unknown(view: &View, name: &str) -> String {
    let is_it = |tool: &Tool| tool.name == name || tool.key() == name;
    if view.held.iter().any(|(listed, _)| is_it(&listed.tool)) {
        return format!(
            "'{name}' is held back until the user has looked at it: `mcp_proxy quarantine` tells why, `mcp_proxy trust` releases it."
        );
    }
    let query = tokens::joined(name, " ");
    let mut text =
        format!("Unknown tool: '{name}'. Use {DISCOVER}(\"{query}\") to find the right tool name.");
    let near =
        view.index.tools().iter().map(|tool| (strsim::damerau_levenshtein(&tool.name, name), tool));
    // As many slips of the pen as a third of the name.
    let most = name.chars().count() / 3;
    if let Some((_, tool)) =
        near.filter(|(slips, _)| *slips <= most).min_by_key(|(slips, _)| *slips)
    {
        text += &format!(" Did you mean '{}'?", shown(view, tool).name);
    }
    view.lacks().iter().for_each(|lack| text += &format!("\nMissing: {lack}."));
    text
}

/// Whether a tool takes these arguments; what is wrong, by field.
fn fits(tool: &Tool, arguments: &RawValue) -> Result<(), String> {
    let arguments: Value = serde_json::from_str(arguments.get()).unwrap_or_default();
    if !arguments.is_object() {
        return Err("`arguments` must be an object".to_owned());
    }
    // A schema that is broken, or leads elsewhere, is for the server to judge.
    let Ok(validator) = jsonschema::validator_for(&tool.input_schema) else {
        return Ok(());
    };
    let faults = validator.iter_errors(&arguments).take(FAULTS).map(|fault| {
        let field = fault.instance_path().to_string();
        kit::cut(
            &format!(
                "{}{}{fault}",
                field.trim_start_matches('/'),
                if field.is_empty() { "" } else { ": " }
            ),
            300,
        )
    });
    let faults: Vec<_> = faults.collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}
