//! `/tools` and `/mcp`: what the model can call at this moment, and what it costs to say so.
//!
//! The pool of this chapter is made anew for every request. Whether that is dear is measured where the class sits, with
//! the servers it has connected. Invariant: what is shown is made by the functions that the loop calls.

use std::future::{Ready, ready};
use std::hint::black_box;
use std::time::{Duration, Instant};

use kit::grouped;
use s02_tools::{Tool, Toolbox, Workspace};
use s04_hooks::{HookOutput, Prompt};
use s10_cache::{Context, PromptCache, assemble};

use crate::mcp::{Mcp, Standing};
use crate::plain::one_line;
use crate::pool::mark;

/// How often rebuilding is tried, and for how long at most; the median counts.
const TRIES: usize = 15;
const MOST_TIME: Duration = Duration::from_millis(100);

/// About how many bytes make a token, as s01 estimates it.
const BYTES_PER_TOKEN: usize = 4;

impl Mcp {
    /// UserPromptSubmit: `/tools` shows the pool and what it costs to make, `/mcp` the servers; nothing is sent.
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

    /// All servers, one a line: how each is, and how many tools it has.
    fn shown_servers(&self) -> String {
        let standings = self.standings();
        let names: Vec<String> = standings.keys().map(|name| one_line(name, 40)).collect();
        let width = names
            .iter()
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(0);
        let lines = names
            .iter()
            .zip(standings.values())
            .map(|(name, standing)| {
                let standing = match standing {
                    Standing::Connected(1) => "connected, 1 tool".to_owned(),
                    Standing::Connected(tools) => {
                        format!("connected, {} tools", grouped(*tools as u64))
                    }
                    Standing::Available => "available".to_owned(),
                    Standing::Unusable(why) => {
                        format!("cannot be used: it {}", one_line(why, 300))
                    }
                    Standing::Failed(why) => format!("failed: {}", one_line(why, 300)),
                };
                format!("{name:width$}  {standing}")
            });
        let complaint = self.catalog().complaint;
        lines.chain(complaint).collect::<Vec<_>>().join("\n")
    }

    /// The pool as the next request will hold it, and what it costs to make.
    fn shown_tools(&self, ws: &Workspace, built_in: &Toolbox) -> String {
        let pool = self.pool();
        let mut lines = vec![format!(
            "{} built in: {}",
            built_in.names().len(),
            built_in.names().join(", ")
        )];
        let is_offered = |tool: &&Tool| built_in.get(tool.name()).is_none();
        lines.extend(
            pool.tools
                .iter()
                .filter(is_offered)
                .map(|tool| format!("{} {}", tool.name(), mark(tool))),
        );
        lines.extend(pool.left_out.iter().map(|out| {
            let (server, tool) = (one_line(&out.server, 40), one_line(&out.tool, 80));
            format!("left out: {tool} of {server} {}", out.why)
        }));
        lines.push(self.price(ws, built_in));
        lines.join("\n")
    }

    /// What a request costs before it holds a word of the conversation.
    fn price(&self, ws: &Workspace, built_in: &Toolbox) -> String {
        let context = || {
            let tools = built_in.clone().with_all(self.tools());
            Context::read(ws, &tools).servers(self.servers())
        };
        let fresh = || {
            let tools = built_in.clone().with_all(self.tools());
            let context = Context::read(ws, &tools).servers(self.servers());
            (assemble(&context), tools.specs())
        };
        let (system, specs) = fresh();
        let bytes = system.size() + specs.iter().map(|spec| spec.wire().len()).sum::<usize>();
        let rebuilt = median(fresh);
        let mut cache = PromptCache::unseen();
        cache.assemble(context());
        let kept = median(|| cache.assemble(context()));
        format!(
            "[{} tools; with the prompt {} tokens; made in {} µs, {} µs with the cache of s10]",
            grouped(specs.len() as u64),
            grouped((bytes / BYTES_PER_TOKEN) as u64),
            grouped(rebuilt.as_micros() as u64),
            grouped(kept.as_micros() as u64),
        )
    }
}

/// The median time of a work that is done several times.
fn median<T>(mut work: impl FnMut() -> T) -> Duration {
    let began = Instant::now();
    let mut times = Vec::with_capacity(TRIES);
    while times.len() < TRIES && (times.is_empty() || began.elapsed() < MOST_TIME) {
        let start = Instant::now();
        black_box(work());
        times.push(start.elapsed());
    }
    times.sort();
    times[times.len() / 2]
}
