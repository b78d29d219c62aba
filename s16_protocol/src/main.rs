//! s16 · protocol. Start with README.md.

use std::process::ExitCode;

use anyhow::Result;
use s01_loop::{Client, Failure, History, Repl};
use s02_tools::{Toolbox, Workspace, bash, read_file, write_file};
use s03_permission::Policy;
use s04_hooks::{Hooks, PromptDecision, large_output, log, permission, summary};
use s08_compact::Compactor;
use s09_memory::Memory;
use s10_cache::{Context, PromptCache, cache_report};
use s11_recovery::Recovery;
use s12_tasks::Board;
use s13_background::{Jobs, Notices};
use s15_mailbox::{LEAD, Mailboxes, Team, check_inbox, send_message};
use s16_protocol::{Protocol, teammate::Worker};

struct Agent {
    repl: Repl,
    client: Recovery,
    history: History,
    tools: Toolbox,
    hooks: Hooks,
    compactor: Compactor,
    memory: Memory,
    ws: Workspace,
    prompt: PromptCache,
    notices: Notices,
}

impl Agent {
    fn new(repl: &Repl) -> Result<Self> {
        let ws = Workspace::here()?;
        let client = Client::from_env(repl.watcher())?.with_breakpoint_on_last_message();
        let client = Recovery::new(client, repl);
        let compactor = Compactor::new(&client, &ws, repl);
        let client = client.with_compactor(&compactor);
        let memory = Memory::open(&ws, &client, repl);
        let policy = Policy::open(&ws, repl.clone());
        let hooks = Hooks::from_settings(&ws, repl)
            .on_pre_tool(permission(&policy))
            .on_pre_tool(log(&ws))
            .on_post_tool(large_output)
            .on_stop(summary(repl))
            .on_stop(cache_report(repl));
        let board = Board::open(&ws);
        let notices = Notices::default();
        let jobs = Jobs::new(&ws, &notices, repl);
        let mail = Mailboxes::open(&ws, board.session());
        mail.deliver_to(&notices, repl);
        let protocol = Protocol::new(&mail, repl);
        let hooks = hooks.on_pre_tool_first(protocol.gate());
        let rules = (&hooks, &policy);
        let worker = Worker {
            protocol: protocol.clone(),
        };
        let team = Team::new(&client, &ws, rules, &mail, &notices, repl, worker);
        let hooks = hooks.clone().on_prompt(team.command());
        let tools = Toolbox::new()
            .with(jobs.around(bash(&ws)))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with_all(board.tools(LEAD))
            .with(team.spawn_tool())
            .with(send_message(&mail, LEAD))
            .with(check_inbox(&mail))
            .with_all(protocol.tools());
        Ok(Self {
            repl: repl.clone(),
            client,
            history: History::default(),
            tools,
            hooks,
            compactor,
            memory,
            ws,
            prompt: PromptCache::new(repl),
            notices,
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
            self.history.remind(self.notices.take());
            self.compactor.shrink(&mut self.history).await;
            let context = Context::read(&self.ws, &self.tools).memory(self.memory.index());
            let (system, specs) = self.prompt.assemble(context);
            let reply = self.client.send(system, &mut self.history, &specs).await?;
            self.history.reply(&reply);
            if !reply.wants_tools() {
                match self.hooks.stop(&self.history).await {
                    Some(reason) => self.history.remind([reason]),
                    None => return Ok(()),
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
    while let Some(line) = agent.notices.next_input(&repl).await {
        repl.run(agent.turn(line)).await;
    }
    Ok(repl.exit_code())
}
