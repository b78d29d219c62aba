//! s18 · the teammate's loop: work, look around, claim, work again. Start with README.md.

use anyhow::Result;
use s01_loop::History;
use s02_tools::{Toolbox, bash, read_file, write_file};
use s12_tasks::Board;
use s15_mailbox::{Seat, Teammate, send_message};
use s16_protocol::Protocol;
use s17_worktree::Worktrees;

use crate::Shift;

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
    async fn run(self, seat: Seat) -> Result<()> {
        let mut history = History::default();
        history.user(&seat.prompt);
        self.worktrees.assign(&seat.name, [&seat.prompt])?;

        let mut is_idle = false;
        let mut shift = Shift::new(&self.protocol, &self.board, &self.worktrees, &seat);
        while let Some(notes) = shift.next(is_idle).await? {
            self.worktrees.assign(&seat.name, &notes)?;
            history.notes(notes);
            let ws = self.worktrees.lane(&seat.name, &seat.ws)?;
            let tools = Toolbox::new()
                .with(bash(&ws))
                .with(read_file(&ws))
                .with(write_file(&ws))
                .with(send_message(&seat.mail, &seat.name))
                .with(self.protocol.submit_plan(&seat.name))
                .with_all(self.board.worker_tools(&seat.name));
            let (system, specs) = (seat.system(), tools.specs());
            let reply = seat.model.send(&system, &mut history, &specs).await?;
            history.reply(&reply);
            is_idle = !reply.wants_tools();
            match is_idle {
                true => seat.report(&history)?,
                false => seat.work(&ws, &tools, &reply, &mut history).await,
            }
        }
        Ok(())
    }
}
