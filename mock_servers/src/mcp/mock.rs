//! A mock server: some tools, served by the official SDK.
//!
//! Handshake, versions and framing are the SDK's; listing and calling are here.
//! Invariant: a bad argument is the tool's answer, which a model reads; an unknown tool is the protocol's error.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};

use super::faults::{self, Crook, Fault};
use super::tool::MockTool;
use super::{deploy, docs, jira, notion};

/// One of the servers. A clone shares its data.
#[derive(Clone)]
pub struct Mock {
    name: &'static str,
    instructions: &'static str,
    tools: Arc<[MockTool]>,
    /// What is wrong with the list of tools, on request, and the tools that this brings.
    crooks: Arc<[Crook]>,
    more: Arc<[MockTool]>,
    /// What a tool is before and after a call that brings or changes it, and which of the two it is.
    called: Arc<([Option<MockTool>; 2], AtomicBool)>,
}

impl Mock {
    /// The server `name`, with fresh data; `None` when there is no such server.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "docs" => Some(docs::server()),
            "deploy" => Some(Self::deploy(since_now())),
            "jira" => Some(jira::server()),
            "notion" => Some(notion::server()),
            _ => None,
        }
    }

    /// The server deploy, with its time from `clock`: the time since its start.
    pub fn deploy(clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        deploy::server(Box::new(clock))
    }

    pub(super) fn new(
        name: &'static str,
        instructions: &'static str,
        tools: impl IntoIterator<Item = MockTool>,
    ) -> Self {
        Self {
            name,
            instructions,
            tools: tools.into_iter().collect(),
            crooks: Arc::new([]),
            more: Arc::new([]),
            called: Arc::default(),
        }
    }

    /// The same server with a crooked list of tools, when one of `faults` is about that.
    pub fn with_faults(mut self, faults: &[Fault]) -> Self {
        let crooks = faults.iter().filter_map(|fault| match fault {
            Fault::Lists(crook) => Some(*crook),
            _ => None,
        });
        self.crooks = crooks.collect();
        let more = self.crooks.iter().flat_map(|crook| crook.tools());
        self.more = more.collect();
        if let Some(called) = self.crooks.iter().find_map(|crook| crook.called()) {
            self.called = Arc::new((called, AtomicBool::new(false)));
        }
        if self.crooks.contains(&Crook::RudeInstructions) {
            self.instructions = faults::rude_instructions();
        }
        self
    }

    fn changes(&self) -> bool {
        let [_, after] = &self.called.0;
        after.is_some()
    }

    /// A call has been made: whether that has changed the list.
    fn has_changed(&self) -> bool {
        let ([before, _], is_called) = &*self.called;
        let was_called = is_called.load(Ordering::Relaxed);
        let changes = self.changes() && (before.is_some() || !was_called);
        if changes {
            is_called.store(!was_called, Ordering::Relaxed);
        }
        changes
    }

    /// The tools there are at the moment.
    fn tools(&self) -> impl Iterator<Item = &MockTool> {
        let ([before, after], is_called) = &*self.called;
        let called = if is_called.load(Ordering::Relaxed) {
            after
        } else {
            before
        };
        self.tools.iter().chain(self.more.iter()).chain(called)
    }

    fn tool(&self, name: &str) -> Option<&MockTool> {
        self.tools().find(|tool| tool.listed.name == name)
    }
}

impl ServerHandler for Mock {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        let capabilities = if self.changes() {
            capabilities.enable_tool_list_changed()
        } else {
            capabilities
        };
        ServerConfig::new(capabilities.build())
            .with_server_info(Implementation::new(self.name, env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = self.tools().map(|tool| tool.listed.clone());
        let all = all.collect::<Vec<_>>();
        let cursor = page.and_then(|page| page.cursor);
        let from = match cursor.as_deref().map(str::parse::<usize>) {
            None => 0,
            Some(Ok(from)) if from < all.len() => from,
            Some(_) => return Err(ErrorData::invalid_params("cursor: not one of mine", None)),
        };
        let size = self.crooks.iter().find_map(|crook| crook.page());
        let to = size.map_or(all.len(), |size| all.len().min(from + size));
        let mut result = ListToolsResult::with_all_items(all[from..to].to_vec());
        result.next_cursor = (to < all.len()).then(|| to.to_string());
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tool(&request.name) else {
            let unknown = format!("Unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(unknown, None));
        };
        let result = tool.call(request.arguments);
        if self.has_changed() {
            // A client that is gone need not know.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        Ok(result.into())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tool(name).map(|tool| tool.listed.clone())
    }
}

/// A clock that begins now.
fn since_now() -> impl Fn() -> Duration {
    let start = Instant::now();
    move || start.elapsed()
}
