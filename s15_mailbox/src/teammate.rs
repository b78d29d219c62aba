//! s15 · the teammate's loop: a few rounds, then a report. Start with README.md.

use anyhow::{Result, bail};
use s01_loop::History;
use s02_tools::{Toolbox, bash, read_file, write_file};

use crate::{Teammate, TeammateContext, send_message};

const MAX_ROUNDS: usize = 10;

/// A teammate that does one job and leaves.
#[derive(Clone)]
pub struct Worker;

impl Teammate for Worker {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        let ws = teammate.ws.clone();
        let tools = Toolbox::new()
            .with(bash(&ws))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with(send_message(&teammate.mail, &teammate.name));
        let mut history = History::default();
        history.user(&teammate.prompt);

        for _ in 0..MAX_ROUNDS {
            history.remind(teammate.take_mail()?);
            let (system, specs) = (teammate.system(), tools.specs());
            let reply = teammate.model.send(&system, &mut history, &specs).await?;
            history.reply(&reply);
            if !reply.wants_tools() {
                teammate.report(&history)?;
                if !teammate.has_mail() {
                    return Ok(());
                }
            }
            teammate.work(&ws, &tools, &reply, &mut history).await;
        }
        bail!("not done after {MAX_ROUNDS} rounds; what is changed stays")
    }
}
