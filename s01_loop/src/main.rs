//! s01 · the loop. Start with README.md.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use s01_loop::{Client, Failure, History, Repl, bash};

const SYSTEM: &str = "You are a coding agent. Use bash to solve tasks. Act, don't explain.";

struct Agent {
    repl: Repl,
    client: Client,
    history: History,
    cwd: PathBuf,
}

impl Agent {
    fn new(repl: &Repl) -> Result<Self> {
        Ok(Self {
            repl: repl.clone(),
            client: Client::from_env(repl.watcher())?,
            history: History::default(),
            cwd: bash::here()?,
        })
    }

    async fn turn(&mut self, line: String) -> Result<()> {
        self.history.user(line);
        loop {
            let specs = [bash::spec()];
            let reply = self.client.send(SYSTEM, &self.history, &specs).await?;
            self.history.reply(&reply);
            if !reply.wants_tools() {
                return Ok(());
            }

            for call in reply.tool_calls() {
                let output = bash::run(&self.cwd, &call).await;
                self.repl.result(&call, &output);
                self.history.answer(&call, output);
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
