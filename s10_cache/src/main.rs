//! s10 · cache. Start with README.md.

use std::process::ExitCode;

use anyhow::Result;
use s01_loop::{Client, Failure, History, Repl};
use s02_tools::{Toolbox, Workspace, bash, edit_file, glob, read_file, write_file};
use s03_permission::Policy;
use s04_hooks::{Hooks, PromptDecision, large_output, log, permission, summary};
use s05_todo::Todo;
use s06_subagent::Subagents;
use s07_skills::Skills;
use s08_compact::Compactor;
use s09_memory::Memory;
use s10_cache::{Context, PromptCache, cache_report};

struct Agent {
    repl: Repl,
    client: Client,
    history: History,
    tools: Toolbox,
    hooks: Hooks,
    todo: Todo,
    skills: Skills,
    compactor: Compactor,
    memory: Memory,
    ws: Workspace,
    prompt: PromptCache,
}

impl Agent {
    fn new(repl: &Repl) -> Result<Self> {
        let ws = Workspace::here()?;
        let client = Client::from_env(repl.watcher())?.with_breakpoint_on_last_message();
        let compactor = Compactor::new(&client, &ws, repl);
        let memory = Memory::open(&ws, &client, repl);
        let policy = Policy::open(&ws, repl.clone());
        let hooks = Hooks::from_settings(&ws, repl)
            .on_pre_tool(permission(&policy))
            .on_pre_tool(log(&ws))
            .on_post_tool(large_output)
            .on_stop(summary(repl))
            .on_stop(cache_report(repl));
        let todo = Todo::new(repl);
        let tools = Toolbox::new()
            .with(bash(&ws))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with(edit_file(&ws))
            .with(glob(&ws));
        let subagents = Subagents::new(&client, &tools, &hooks, &policy, repl);
        let skills = Skills::open(&ws, repl);
        let tools = tools.with(todo.tool()).with(subagents.tool()).with(skills.tool());
        let tools = tools.with(compactor.tool());
        Ok(Self {
            repl: repl.clone(),
            client,
            history: History::default(),
            tools,
            hooks,
            todo,
            skills,
            compactor,
            memory,
            ws,
            prompt: PromptCache::new(repl),
        })
    }

    async fn turn(&mut self, line: String) -> Result<()> {
        match self.hooks.prompt(line).await {
            PromptDecision::Go(request) => self.history.user(request),
            PromptDecision::Refused(why) => {
                self.repl.say(&why);
                return Ok(());
            }
        }
        self.history.remind(self.memory.recall(&self.history).await);
        loop {
            self.history.remind(self.todo.nag());
            self.compactor.shrink(&mut self.history).await;
            let context = Context::read(&self.ws, &self.tools)
                .skills(self.skills.catalogue())
                .memory(self.memory.index());
            let (system, specs) = self.prompt.assemble(context);
            let reply = match self.client.send(system, &self.history, &specs).await {
                Err(why) if self.compactor.recover(&why, &mut self.history).await => continue,
                reply => reply?,
            };
            self.history.reply(&reply);
            if !reply.wants_tools() {
                match self.hooks.stop(&self.history).await {
                    Some(reason) => self.history.remind([reason]),
                    None => {
                        self.memory.learn(&self.history).await;
                        return Ok(());
                    }
                }
                continue;
            }

            for batch in self.tools.batches(reply.tool_calls()) {
                let mut steps = Vec::new();
                for call in batch {
                    steps.push(self.hooks.pre_tool(&self.tools, call).await);
                }
                let mut running = self.tools.run(steps);
                while let Some((call, output)) = running.next().await {
                    let output = self.hooks.post_tool(&call, output).await;
                    self.repl.result(&call, &output);
                    self.history.answer(&call, output);
                }
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Failure> {
    let repl = Repl::new(env!("CARGO_PKG_NAME"));
    let mut agent = Agent::new(&repl)?;
    while let Some(line) = repl.line().await {
        repl.run(agent.turn(line)).await;
    }
    Ok(repl.exit_code())
}
