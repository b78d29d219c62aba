//! The table of recovery, row by row, against a model that fails on request.
//!
//! Real HTTP, but no real time. Invariant: after every test the history is one that the model, which is strict, takes.

mod compaction;
mod limits;
mod table;

use mock_servers::model::MockModel;
use s01_loop::{ApiError, Client, History, Reply, ToolSpec, bash};
use s11_recovery::Recovery;

use crate::diary::{Diary, asking, client, settings};

fn tools() -> [ToolSpec; 1] {
    [bash::spec()]
}

/// One request through a recovery.
struct Sent {
    result: Result<Reply, ApiError>,
    history: History,
    diary: Diary,
}

async fn send(model: &MockModel) -> Sent {
    send_with(client(settings(model.url())), Diary::default()).await
}

async fn send_with(client: Client, diary: Diary) -> Sent {
    let recovery = Recovery::with_clock(client, diary.clone());
    let mut history = asking("go");
    let result = recovery.send("Be brief.", &mut history, &tools()).await;
    Sent {
        result,
        history,
        diary,
    }
}

impl Sent {
    #[track_caller]
    fn reply(&self) -> &Reply {
        self.result.as_ref().expect("a reply")
    }

    /// The text of the reply.
    #[track_caller]
    fn text(&self) -> String {
        self.reply().message().text()
    }

    /// The sentence that the user reads.
    #[track_caller]
    fn error(&self) -> String {
        self.result.as_ref().expect_err("an error").to_string()
    }

    /// Asserts that the conversation can go on, with a model that answers.
    async fn goes_on_with(mut self, model: &MockModel) {
        if let Ok(reply) = &self.result {
            self.history.reply(reply);
        }
        assert!(!self.history.has_open_calls());
        self.history.user("and now?");
        let client = client(settings(model.url()));
        let sent = client.send("", &self.history, &tools()).await;
        sent.expect("a history that can be sent");
    }
}
