//! s16 · the teammate's loop: it stays, waits for mail, leaves when asked. Start with README.md.

use anyhow::Result;
use s01_loop::History;
use s02_tools::{Toolbox, bash, read_file, write_file};
use s15_mailbox::{Teammate, TeammateContext, send_message};

use crate::Protocol;

/// A teammate that works, reports and waits for more.
#[derive(Clone)]
pub struct Worker {
    /// How it is asked and answered.
    pub protocol: Protocol,
}

impl Teammate for Worker {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        let ws = teammate.ws.clone();
        let tools = Toolbox::new()
            .with(bash(&ws))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with(send_message(&teammate.mail, &teammate.name))
            .with(self.protocol.submit_plan(&teammate.name));
        let mut history = History::default();
        history.user(&teammate.prompt);

        let mut is_idle = false;
        while let Some(notes) = self.protocol.next_mail(&teammate, is_idle).await? {
            history.remind(notes);
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
