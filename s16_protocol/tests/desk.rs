//! The lead's side of a team: its tools, and the mail as its model reads it.
//!
//! The chapter's tests and its exercises work at one. Invariant: nobody waits for ever: what does not come is named in
//! the failure.

use std::cell::RefCell;
use std::ops::Deref;

use mock_servers::model::{MockModel, Reply, calls};
use s01_loop::Output;
use s02_tools::Toolbox;
use s15_mailbox::{LEAD, Teammate, send_message};
use s16_protocol::Protocol;
use s16_protocol::teammate::Worker;
use serde_json::{Value, json};

use crate::scene::{Scene, call, done, until};

/// A lead's tools, and a team that they speak to.
pub struct Desk {
    pub scene: Scene,
    pub protocol: Protocol,
    /// What `/team` shows.
    pub shown: Box<dyn Fn() -> String>,
    pub tools: Toolbox,
    /// Mail that nobody has waited for yet.
    unread: RefCell<Vec<String>>,
}

impl Deref for Desk {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.scene
    }
}

impl Desk {
    /// A desk with a team that does the chapter's work.
    pub fn new(model: &MockModel) -> Self {
        Self::with(model.url(), |_, protocol| Worker { protocol })
    }

    /// A desk with a team of these.
    pub fn with<W: Teammate>(url: &str, worker: impl FnOnce(&Scene, Protocol) -> W) -> Self {
        Self::at(Scene::new(), url, worker)
    }

    /// The same in this scene.
    pub fn at<W: Teammate>(
        scene: Scene,
        url: &str,
        worker: impl FnOnce(&Scene, Protocol) -> W,
    ) -> Self {
        scene.mail.deliver_to(&scene.notices, &scene.repl);
        let protocol = Protocol::new(&scene.mail, &scene.repl);
        let hooks = scene.hooks().on_pre_tool_first(protocol.gate());
        let team = scene.team(url, &hooks, worker(&scene, protocol.clone()));
        let tools = Toolbox::new()
            .with(team.spawn_tool())
            .with(send_message(&scene.mail, LEAD))
            .with_all(protocol.tools());
        Self {
            scene,
            protocol,
            shown: Box::new(move || team.shown()),
            tools,
            unread: RefCell::default(),
        }
    }

    pub async fn call(&self, name: &str, input: Value) -> Output {
        call(&self.tools, name, input).await
    }

    pub async fn spawn(&self, name: &str) {
        self.spawn_as(name, "developer").await;
    }

    pub async fn spawn_as(&self, name: &str, role: &str) {
        let input = json!({"name": name, "role": role, "prompt": "Work."});
        done(self.call("spawn_teammate", input).await);
    }

    pub async fn tell(&self, to: &str, content: &str) {
        let input = json!({"to": to, "content": content});
        done(self.call("send_message", input).await);
    }

    pub async fn shutdown(&self, name: &str) -> Output {
        let input = json!({"teammate": name});
        self.call("request_shutdown", input).await
    }

    pub async fn request_plan(&self, name: &str) -> Output {
        let input = json!({"teammate": name, "task": "b"});
        self.call("request_plan", input).await
    }

    pub async fn review(&self, id: &str, approve: bool, feedback: &str) -> Output {
        let input = json!({"request_id": id, "approve": approve, "feedback": feedback});
        self.call("review_plan", input).await
    }

    pub async fn approve(&self, id: &str) {
        let told = done(self.review(id, true, "").await);
        assert_eq!(told, format!("bob's plan {id} is approved"));
    }

    /// Waits until `/team` shows this.
    pub async fn until(&self, doing: &str) {
        let look = || match (self.shown)() {
            shown if shown.contains(doing) => Ok(()),
            shown => Err(shown),
        };
        until(doing, look).await;
    }

    /// Waits until this teammate has looked into its mailbox.
    pub async fn until_read(&self, name: &str) {
        let look = || match self.mail.has_mail(name) {
            true => Err("it lies there".to_owned()),
            false => Ok(()),
        };
        until("a look into the mailbox", look).await;
    }

    /// Waits for mail to the lead that holds this text. What came before it is kept for who waits for that.
    pub async fn mail_with(&self, text: &str) -> String {
        let look = || {
            let mut unread = self.unread.borrow_mut();
            unread.extend(self.notices.take());
            let at = unread.iter().position(|mail| mail.contains(text));
            match at {
                Some(at) => Ok(unread.remove(at)),
                None => Err(format!("{unread:#?}")),
            }
        };
        until(text, look).await
    }

    /// The id of the next plan that comes.
    pub async fn plan(&self) -> String {
        let plan = self.mail_with("request_id ").await;
        let (_, id) = plan.rsplit_once("request_id ").unwrap();
        id.trim_end_matches('.').to_owned()
    }

    pub fn has(&self, file: &str) -> bool {
        self.ws.root().join(file).exists()
    }
}

pub fn write(path: &str) -> Value {
    json!({"path": path, "content": "x"})
}

pub fn submit(plan: &str) -> Reply {
    calls("submit_plan", json!({"plan": plan}))
}
