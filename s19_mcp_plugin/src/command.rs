//! `/tools` and `/mcp`: what the model can call at this moment, and how the servers are.
//!
//! Invariant: what is shown is made by the functions that the loop calls.

use std::future::{Ready, ready};

use kit::grouped;
use s02_tools::{Tool, Toolbox, Workspace};
use s04_hooks::{HookOutput, Prompt};
use s10_cache::{Context, assemble};

use crate::mcp::Mcp;
use crate::pool::mark;
use crate::text::one_line;

/// About how many bytes make a token, as s01 estimates it.
const BYTES_PER_TOKEN: usize = 4;

impl Mcp {
    /// UserPromptSubmit: `/tools` shows the pool and its size, `/mcp` the servers; nothing is sent.
    pub fn command(
        &self,
        ws: &Workspace,
        built_in: &Toolbox,
    ) -> impl Fn(Prompt) -> Ready<HookOutput> + Send + Sync + 'static {
        let (mcp, ws, built_in) = (self.clone(), ws.clone(), built_in.clone());
        move |prompt| {
            ready(match prompt.text.trim() {
                "/tools" => HookOutput::Block(mcp.shown_tools(&ws, &built_in)),
                "/mcp" => HookOutput::Block(mcp.shown_servers()),
                _ => HookOutput::Go,
            })
        }
    }

    /// All servers, one a line.
    fn shown_servers(&self) -> String {
        let (statuses, complaint) = self.statuses();
        let lines = statuses.into_iter();
        let lines = lines.map(|(name, status)| (one_line(&name, 40), one_line(&status.state, 320)));
        let lines: Vec<_> = lines.collect();
        let widths = lines.iter().map(|(name, _)| name.chars().count());
        let width = widths.max().unwrap_or(0);
        let lines = lines.iter().map(|(name, status)| format!("{name:width$}  {status}"));
        lines.chain(complaint).collect::<Vec<_>>().join("\n")
    }

    /// The pool as the next request will hold it, and its size: a request costs that before it holds a word of the
    /// conversation.
    fn shown_tools(&self, ws: &Workspace, built_in: &Toolbox) -> String {
        let (pool, names) = (self.pool(), built_in.names());
        let mut lines = vec![format!("{} built in: {}", names.len(), names.join(", "))];
        let is_offered = |tool: &&Tool| built_in.get(tool.name()).is_none();
        let offered = pool.tools.iter().filter(is_offered);
        lines.extend(offered.map(|tool| format!("{} {}", tool.name(), mark(tool))));
        lines.extend(pool.left_out.iter().map(|(server, out)| {
            let (server, tool) = (one_line(server, 40), one_line(&out.tool, 80));
            format!("left out: {tool} of {server} {}", out.why)
        }));
        let tools = built_in.clone().with_all(pool.tools);
        let system = assemble(&Context::read(ws, &tools).servers(self.servers()));
        let specs = tools.specs();
        let bytes = system.size() + specs.iter().map(|spec| spec.wire().len()).sum::<usize>();
        lines.push(format!(
            "[{} tools; with the prompt {} tokens]",
            grouped(specs.len()),
            grouped(bytes / BYTES_PER_TOKEN)
        ));
        lines.join("\n")
    }
}
