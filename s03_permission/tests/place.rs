//! A workspace with permissions, and who is asked there; the exercises use it, too.

use std::fs;
use std::sync::{Arc, Mutex};

use kit::BoxFuture;
use s01_loop::{Answer, Refusal, ToolCall};
use s02_tools::{Tool, Toolbox, Workspace, bash, write_file};
use s03_permission::{Approver, Policy};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Says no to everything and remembers the questions.
#[derive(Clone, Default)]
pub struct Naysayer(pub Arc<Mutex<Vec<String>>>);

impl Approver for Naysayer {
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Answer> {
        self.0.lock().unwrap().push(question.to_owned());
        Box::pin(async { Answer::No(Refusal::User) })
    }

    fn tell(&self, _: &str) {}
}

/// A workspace with permissions, and who is asked there.
pub struct Place {
    pub dir: TempDir,
    pub policy: Policy,
    pub asked: Naysayer,
    tools: Toolbox,
}

impl Place {
    /// A place with these permissions, bash, write_file and these tools.
    pub fn new<const N: usize>(permissions: Value, more: [Tool; N]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".harness")).unwrap();
        let settings = json!({ "permissions": permissions }).to_string();
        fs::write(dir.path().join(".harness/settings.json"), settings).unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let asked = Naysayer::default();
        let policy = Policy::open(&ws, asked.clone());
        let tools = Toolbox::new().with(bash(&ws)).with(write_file(&ws));
        let tools = more.into_iter().fold(tools, Toolbox::with);
        Self {
            dir,
            policy,
            asked,
            tools,
        }
    }

    pub async fn check(&self, name: &str, input: Value) -> Result<(), String> {
        let call = ToolCall::new("toolu_1", name, input);
        self.policy.check(&self.tools, &call).await
    }

    /// The question about a call; without one, nothing, or why it is denied at once.
    pub async fn question(&self, name: &str, input: Value) -> String {
        let checked = self.check(name, input).await;
        let question = self.asked.0.lock().unwrap().pop();
        question.or(checked.err()).unwrap_or_default()
    }

    /// The same for a command line.
    pub async fn runs(&self, command: &str) -> String {
        self.question("bash", json!({ "command": command })).await
    }
}
