//! A mock server: some tools, served by the official SDK.
//!
//! Handshake, versions and framing are the SDK's; listing and calling are here.
//! Invariant: a bad argument is the tool's answer, which a model reads; an unknown tool is the protocol's error.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomNotification, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, ServerNotification, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer};
use serde_json::Value;

use super::faults::Fault;
use super::tool::MockTool;
use super::{alerts, deploy, docs, jira, notion};

/// A server with some tools, made by a builder. A clone shares its data.
#[derive(Clone)]
pub struct MockServer {
    name: String,
    instructions: String,
    tools: Vec<Arc<MockTool>>,
    /// How many tools a page of the list has.
    page: Option<usize>,
    /// What a tool is before and after a call that brings or changes it, and which of the two it is.
    called: Arc<([Option<MockTool>; 2], AtomicBool)>,
    channel: Option<(Outbox, Heard)>,
}

/// What a tool wants to be sent after its call.
pub type Outbox = Arc<Mutex<Vec<Pushed>>>;

/// Called with each notification that the protocol does not know.
type Heard = Arc<dyn Fn(&str, &Value) + Send + Sync>;

/// A notification that a server sends of its own accord.
pub struct Pushed {
    after: Duration,
    notification: ServerNotification,
}

impl Pushed {
    /// To be sent so long after the call.
    pub fn new(after: Duration, method: &str, params: Value) -> Self {
        let notification = CustomNotification::new(method, Some(params)).into();
        Self {
            after,
            notification,
        }
    }

    async fn send(self, peer: Peer<RoleServer>) {
        tokio::time::sleep(self.after).await;
        // A client that is gone need not know.
        let _ = peer.send_notification(self.notification).await;
    }
}

impl MockServer {
    /// A server of this name, which says this of itself, without tools.
    pub fn new(name: &str, instructions: &str) -> Self {
        Self {
            name: name.to_owned(),
            instructions: instructions.to_owned(),
            tools: Vec::new(),
            page: None,
            called: Arc::default(),
            channel: None,
        }
    }

    /// Makes it a channel: after a call it sends what is in the outbox, and it hears what the protocol does not know.
    pub fn channel(
        mut self,
        outbox: Outbox,
        heard: impl Fn(&str, &Value) + Send + Sync + 'static,
    ) -> Self {
        self.channel = Some((outbox, Arc::new(heard)));
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: MockTool) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Makes the list of tools crooked, when the fault is about that.
    pub fn fault(mut self, fault: Fault) -> Self {
        if let Fault::Lists(crook) = fault {
            let crook = crook();
            self.page = crook.page.or(self.page);
            self.instructions = crook.instructions.unwrap_or(self.instructions);
            if crook.called[1].is_some() {
                self.called = Arc::new((crook.called, AtomicBool::new(false)));
            }
            self.tools.extend(crook.more.into_iter().map(Arc::new));
        }
        self
    }

    /// The server `name`, with fresh data; `None` when there is no such server.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "alerts" => Some(alerts::server()),
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
        let called = if is_called.load(Ordering::Relaxed) { after } else { before };
        self.tools.iter().map(|tool| &**tool).chain(called)
    }

    fn find(&self, name: &str) -> Option<&MockTool> {
        self.tools().find(|tool| tool.listed.name == name)
    }
}

impl ServerHandler for MockServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        let capabilities =
            if self.changes() { capabilities.enable_tool_list_changed() } else { capabilities };
        let mut capabilities = capabilities.build();
        capabilities.experimental = self.channel.as_ref().map(|_| {
            let declared = |name: &str| (name.to_owned(), Default::default());
            [declared("claude/channel"), declared("claude/channel/permission")].into()
        });
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(self.name.as_str(), env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions.as_str())
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
        let to = self.page.map_or(all.len(), |size| all.len().min(from + size));
        let mut result = ListToolsResult::with_all_items(all[from..to].to_vec());
        result.next_cursor = (to < all.len()).then(|| to.to_string());
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.find(&request.name) else {
            let unknown = format!("Unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(unknown, None));
        };
        let result = tool.call(request.arguments);
        if self.has_changed() {
            // A client that is gone need not know.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        let pushed = self
            .channel
            .iter()
            .flat_map(|(outbox, _)| std::mem::take(&mut *outbox.lock().unwrap()));
        for pushed in pushed.collect::<Vec<_>>() {
            if pushed.after.is_zero() {
                pushed.send(context.peer.clone()).await;
            } else {
                tokio::spawn(pushed.send(context.peer.clone()));
            }
        }
        Ok(result.into())
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _context: NotificationContext<RoleServer>,
    ) {
        if let Some((_, heard)) = &self.channel {
            heard(&notification.method, &notification.params.unwrap_or_default());
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.find(name).map(|tool| tool.listed.clone())
    }
}

/// A clock that begins now.
fn since_now() -> impl Fn() -> Duration {
    let start = Instant::now();
    move || start.elapsed()
}
