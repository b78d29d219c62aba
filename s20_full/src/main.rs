//! s20 · all of it. Start with README.md.

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
use s11_recovery::Recovery;
use s12_tasks::Board;
use s13_background::{Jobs, Notices};
use s14_cron::Cron;
use s15_mailbox::{LEAD, Mailboxes, Team, check_inbox, send_message};
use s16_protocol::Protocol;
use s17_worktree::Worktrees;
use s18_teams::teammate::Worker;
use s19_mcp_plugin::Mcp;
use s20_full::{Commands, Denials, Servers, Sessions, Start, Stream, built_in};

struct Agent {
    repl: Repl,
    stream: Stream,
    client: Recovery,
    history: History,
    tools: Toolbox,
    hooks: Hooks,
    denials: Denials,
    todo: Todo,
    skills: Skills,
    compactor: Compactor,
    memory: Memory,
    ws: Workspace,
    prompt: PromptCache,
    mcp: Mcp,
    notices: Notices,
    commands: Commands,
    sessions: Sessions,
}

impl Agent {
    fn new(start: &Start, repl: &Repl) -> Result<Self> {
        let ws = Workspace::here()?;
        let client = Client::from_env(repl.watcher())?.with_breakpoint_on_last_message();
        let client = Recovery::new(client, repl);
        let compactor = Compactor::new(&client, &ws, repl);
        let client = client.with_compactor(&compactor);
        let memory = Memory::open(&ws, &client, repl);
        let policy = Policy::open(&ws, repl.clone());
        let denials = Denials::default();
        let hooks = Hooks::from_settings(&ws, repl)
            .on_pre_tool(denials.of(permission(&policy)))
            .on_pre_tool(log(&ws))
            .on_post_tool(large_output)
            .on_stop(summary(repl))
            .on_stop(cache_report(repl));
        let todo = Todo::new(repl);
        let skills = Skills::open(&ws, repl);
        let board = Board::open(&ws);
        let notices = Notices::default();
        let jobs = Jobs::new(&ws, &notices, repl);
        let cron = Cron::start(&ws, &notices, repl);
        let mail = Mailboxes::open(&ws, board.session());
        mail.deliver_to(&notices, repl);
        let protocol = Protocol::new(&mail, repl);
        let hooks = hooks.on_pre_tool_first(protocol.gate());
        let worktrees = Worktrees::open(&ws, &board, &mail);
        let hooks = hooks.on_pre_tool_first(worktrees.gate());
        let rules = (&hooks, &policy);
        let worker = Worker {
            protocol: protocol.clone(),
            board: board.clone(),
            worktrees: worktrees.clone(),
        };
        let team = Team::new(&client, &ws, rules, &mail, &notices, repl, worker);
        let hooks = hooks.clone().on_prompt(team.command());
        let (servers, mcp) = Servers::open(&ws, &notices, repl);
        let basic = Toolbox::new()
            .with(bash(&ws))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with(edit_file(&ws))
            .with(glob(&ws));
        let subagents = Subagents::new(&client, &basic, &hooks, &policy, repl);
        let tools = Toolbox::new()
            .with(jobs.around(bash(&ws)))
            .with_all(basic)
            .with(todo.tool())
            .with(servers.lend(subagents).tool())
            .with(skills.tool())
            .with(compactor.tool())
            .with_all(board.tools(LEAD))
            .with_all(cron.tools())
            .with(team.spawn_tool())
            .with(send_message(&mail, LEAD))
            .with(check_inbox(&mail))
            .with_all(protocol.tools())
            .with_all(worktrees.tools())
            .with(mcp.connect_tool());
        let tools = built_in(tools);
        let hooks = hooks.on_prompt(servers.command()).on_prompt(mcp.command(&ws, &tools));
        let sessions = Sessions::open(&ws, &client, &mail, repl);
        let commands = Commands::new(repl, &client, &todo, &board, &compactor, &sessions);
        Ok(Self {
            repl: repl.clone(),
            stream: start.stream(&commands, &denials),
            client,
            history: History::default(),
            tools,
            hooks,
            denials,
            todo,
            skills,
            compactor,
            memory,
            ws,
            prompt: PromptCache::new(repl),
            mcp,
            notices,
            commands,
            sessions,
        })
    }

    async fn turn(&mut self, line: String) -> Result<()> {
        if let Some(told) = self.commands.run(&line, &mut self.history).await? {
            self.commands.tell(&told);
            return Ok(());
        }
        match self.hooks.prompt(line).await {
            PromptDecision::Go(request) => self.history.user(request),
            PromptDecision::Refused(why) => {
                self.commands.tell(&why);
                return Ok(());
            }
        }
        self.history.remind(self.memory.recall(&self.history).await);
        loop {
            self.history.remind(self.notices.take());
            self.sessions.save(&self.history);
            self.history.remind(self.todo.nag());
            self.compactor.shrink(&mut self.history).await;
            let tools = self.tools.clone().with_all(self.mcp.tools());
            let context = Context::read(&self.ws, &tools)
                .servers(self.mcp.servers())
                .skills(self.skills.catalogue())
                .memory(self.memory.index());
            let (system, specs) = self.prompt.assemble(context);
            let reply = self.client.send(system, &mut self.history, &specs).await?;
            self.history.reply(&reply);
            self.stream.reply(&reply);
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

            for batch in tools.batches(reply.tool_calls()) {
                let mut steps = Vec::new();
                for call in batch {
                    steps.push(self.hooks.pre_tool(&tools, call).await);
                }
                let mut running = tools.run(steps);
                while let Some((call, output)) = running.next().await {
                    let output = self.hooks.post_tool(&call, output).await;
                    self.repl.result(&call, &output);
                    self.stream.result(&call, &output);
                    self.history.answer(&call, output);
                }
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Failure> {
    mock_servers::mcp::serve_when_asked().await;
    let start = Start::from_args(env!("CARGO_PKG_NAME"));
    let repl = start.repl();
    let mut agent = start.tried(Agent::new(&start, &repl))?;
    start.tried(agent.sessions.resume(&start, &mut agent.history))?;
    agent.stream.begin(&agent.mcp, &agent.tools, &agent.hooks).await;
    while let Some(line) = agent.notices.next_input(&repl).await {
        agent.stream.turn_begins();
        repl.run(agent.turn(line)).await;
        agent.sessions.save(&agent.history);
        agent.stream.turn_ended(&agent.history);
    }
    agent.mcp.shut_down().await;
    Ok(start.answer(&agent.history, &agent.commands, &agent.denials))
}
