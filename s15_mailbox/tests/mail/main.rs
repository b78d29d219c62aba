//! Mailboxes through their public handle: who gets what, what is set aside, and many processes at once.

mod delivery;
mod processes;

use s02_tools::Workspace;
use s12_tasks::Session;
use s15_mailbox::{Mail, Mailboxes};
use tempfile::TempDir;

/// Mailboxes in a folder of their own.
struct Office {
    dir: TempDir,
    ws: Workspace,
    session: Session,
    mail: Mailboxes,
}

impl Office {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let session = Session::new(&ws);
        let mail = Mailboxes::open(&ws, &session);
        Self {
            dir,
            ws,
            session,
            mail,
        }
    }

    /// The same folder in another run of the program.
    fn another_session(&self) -> Mailboxes {
        Mailboxes::open(&self.ws, &Session::new(&self.ws))
    }

    /// What lies in a mailbox, in order.
    fn contents(&self, name: &str) -> Vec<String> {
        contents(&self.mail, name)
    }
}

fn contents(mail: &Mailboxes, name: &str) -> Vec<String> {
    let drained = mail.drain(name).unwrap();
    drained.mail.into_iter().map(|mail| mail.content).collect()
}

fn message(from: &str, to: &str, content: &str) -> Mail {
    Mail::new(from, to, "message", content)
}
