//! s18 · the teammate's loop: work, look around, claim, work again. Start with README.md.

use anyhow::Result;
use s01_loop::History;
use s02_tools::{Toolbox, bash, read_file, write_file};
use s12_tasks::Board;
use s15_mailbox::{Teammate, TeammateContext, send_message};
use s16_protocol::Protocol;
use s17_worktree::Worktrees;

use crate::WorkLoop;

/// A teammate that works, reports and waits for more.
#[derive(Clone)]
pub struct Worker {
    /// How it is asked and answered.
    pub protocol: Protocol,
    /// What there is to do.
    pub board: Board,
    /// Where it works.
    pub worktrees: Worktrees,
}

impl Teammate for Worker {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        let mut history = History::default();
        history.user(&teammate.prompt);
        self.worktrees.assign(&teammate.name, [&teammate.prompt])?;

        let mut is_idle = false;
        let mut work_loop = WorkLoop::new(&self, &teammate);
        while let Some(notes) = work_loop.next(is_idle).await? {
            self.worktrees.assign(&teammate.name, &notes)?;
            history.remind(notes);
            let ws = self.worktrees.work_dir(&teammate.name, &teammate.ws)?;
            let tools = Toolbox::new()
                .with(bash(&ws))
                .with(read_file(&ws))
                .with(write_file(&ws))
                .with(send_message(&teammate.mail, &teammate.name))
                .with(self.protocol.submit_plan(&teammate.name))
                .with_all(self.board.worker_tools(&teammate.name));
            let (system, specs) = (teammate.system(), tools.specs());
            let reply = teammate.model.send(&system, &mut history, &specs).await?;
            history.reply(&reply);
            is_idle = !reply.wants_tools();
            if is_idle {
                teammate.report(&history)?;
            } else {
                teammate.work(&ws, &tools, &reply, &mut history).await;
            }
        }
        Ok(())
    }
}
