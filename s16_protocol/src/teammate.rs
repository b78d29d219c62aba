//! s16 · the teammate's loop: it stays, waits for mail, leaves when asked. Start with README.md.

use anyhow::Result;
use s01_loop::History;
use s02_tools::{Toolbox, bash, read_file, write_file};
use s15_mailbox::{Seat, Teammate, send_message};

use crate::Protocol;

/// A teammate that works, reports and waits for more.
#[derive(Clone)]
pub struct Worker {
    /// How it is asked and answered.
    pub protocol: Protocol,
}

impl Teammate for Worker {
    async fn run(self, seat: Seat) -> Result<()> {
        let ws = seat.ws.clone();
        let tools = Toolbox::new()
            .with(bash(&ws))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with(send_message(&seat.mail, &seat.name))
            .with(self.protocol.submit_plan(&seat.name));
        let mut history = History::default();
        history.user(&seat.prompt);

        let mut is_idle = false;
        while let Some(notes) = self.protocol.post(&seat, is_idle).await? {
            history.notes(notes);
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
