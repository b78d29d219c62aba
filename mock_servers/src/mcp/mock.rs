//! A mock server: some tools, served by the official SDK.
//!
//! Handshake, versions and framing are the SDK's; listing and calling are here.
//! Invariant: a bad argument is the tool's answer, which a model reads; an unknown tool is the protocol's error.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};

use super::tool::MockTool;
use super::{deploy, docs};

/// One of the servers. A clone shares its data.
#[derive(Clone)]
pub struct Mock {
    name: &'static str,
    instructions: &'static str,
    tools: Arc<[MockTool]>,
}

impl Mock {
    /// The server `name`, with fresh data; `None` when there is no such server.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "docs" => Some(docs::server()),
            "deploy" => Some(deploy::server(deploy::since_now())),
            _ => None,
        }
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
        }
    }
}

impl ServerHandler for Mock {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(self.name, env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.iter().map(|tool| tool.listed.clone());
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let called = self
            .tools
            .iter()
            .find(|tool| tool.listed.name == request.name);
        match called {
            Some(tool) => Ok(tool.call(request.arguments).into()),
            None => {
                let unknown = format!("Unknown tool: {}", request.name);
                Err(ErrorData::invalid_params(unknown, None))
            }
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.tools.iter().find(|tool| tool.listed.name == name)?;
        Some(tool.listed.clone())
    }
}
