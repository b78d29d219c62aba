//! The tools of the mail, and its way to the lead.
//!
//! Mail to the lead is delivered without polling; a model that had to ask would ask again and again.
//! Invariants: an agent writes under its own name; mail to the lead is delivered through the notices only.

use std::sync::Mutex;

use anyhow::ensure;
use s01_loop::Repl;
use s02_tools::{Access, Tool};
use s13_background::Notices;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mail::{LEAD, Mail};
use crate::mailboxes::Mailboxes;

#[derive(Debug, Deserialize, JsonSchema)]
struct SendMessage {
    /// The name of the agent.
    to: String,
    /// What you have to say.
    content: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct CheckInbox {}

/// The tool send_message of this agent.
pub fn send_message(mail: &Mailboxes, from: &str) -> Tool {
    let (mail, from) = (mail.clone(), from.to_owned());
    let description = "Write to another agent by name. The lead is called lead.";
    Tool::blocking("send_message", description, move |input: SendMessage| {
        let SendMessage { to, content } = input;
        ensure!(!content.trim().is_empty(), "send_message: the content is empty");
        mail.send(Mail::new(&from, &to, "message", content))?;
        Ok(format!("sent to {to}"))
    })
    .touching(Access::Harness)
}

/// The tool check_inbox of the lead.
pub fn check_inbox(mail: &Mailboxes) -> Tool {
    let mail = mail.clone();
    let description = "Look into your mailbox now. Mail comes to you by itself as well, so there is no need to ask twice.";
    Tool::blocking("check_inbox", description, move |_: CheckInbox| {
        // It only looks: a result that Ctrl-C discards would discard the mail with it.
        let told = if mail.has_mail(LEAD) {
            "you have mail; it follows these results"
        } else {
            "no new mail; what comes later reaches you by itself"
        };
        Ok(told.to_owned())
    })
    .touching(Access::Harness)
}

impl Mailboxes {
    /// Delivers mail to the lead as notices, which reach a running turn and wake an idle session. The user sees the sender.
    pub fn deliver_to(&self, notices: &Notices, repl: &Repl) {
        let (mail, repl) = (self.clone(), repl.clone());
        let told = Mutex::new(String::new());
        notices.take_from(move || {
            let (inbox, set_aside) = match mail.give_out() {
                Ok(found) => found,
                Err(error) => return once(&mut told.lock().unwrap(), format!("{error:#}")),
            };
            if set_aside > 0 {
                repl.remark(&format!(
                    "[{set_aside} in the lead's mailbox of an earlier session, or damaged: moved to .harness/mailboxes/old]"
                ));
            }
            for mail in &inbox {
                repl.remark(&format!("[mail from {}: {}]", mail.from, mail.kind));
            }
            inbox.iter().map(|new| mail.shown(new)).collect()
        });
        let mail = self.clone();
        notices.on_taken(move || mail.taken_by_lead());
        let (mail, notices) = (self.clone(), notices.clone());
        tokio::spawn(async move {
            loop {
                mail.wait(LEAD).await;
                notices.wake();
            }
        });
    }
}

/// Reports an error once: a lasting one would wake the session again and again.
fn once(told: &mut String, error: String) -> Vec<String> {
    if *told == error {
        return Vec::new();
    }
    *told = error;
    vec![format!("<mail-error>\n{told}\n</mail-error>")]
}
