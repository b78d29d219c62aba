//! What the harness of a troupe keeps and answers: mailboxes, the board, plans and who is to leave.
//!
//! Worktrees are only named here. Invariant: a call that a plan gate stops changes nothing.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Everything the harness keeps.
#[derive(Default)]
pub(super) struct World {
    pub(super) mail: BTreeMap<String, Vec<String>>,
    pub(super) tasks: Vec<Task>,
    pub(super) hired: Vec<(String, String, String)>,
    pub(super) plans: BTreeMap<String, String>,
    pub(super) wanted: Vec<String>,
    pub(super) leaving: Vec<String>,
    pub(super) requests: usize,
}

/// A task of the board.
pub(super) struct Task {
    pub(super) id: String,
    pub(super) subject: String,
    pub(super) owner: Option<String>,
    pub(super) is_done: bool,
}

impl World {
    pub(super) fn send(&mut self, from: &str, to: &str, kind: &str, text: &str) {
        let mail = format!("<mail from=\"{from}\" type=\"{kind}\">\n{text}\n</mail>");
        self.mail.entry(to.to_owned()).or_default().push(mail);
    }

    /// Whether a teammate leaves now, as it was asked to.
    pub(super) fn lets_leave(&mut self, name: &str) -> bool {
        let Some(at) = self.leaving.iter().position(|leaving| leaving == name) else {
            return false;
        };
        self.leaving.remove(at);
        let left = format!("{name} has left as asked");
        self.send(name, "lead", "shutdown_response", &left);
        true
    }

    /// The note on a free task that is claimed for a teammate without one.
    pub(super) fn claim_for(&mut self, name: &str) -> Option<String> {
        let holds = |task: &Task| task.owner.as_deref() == Some(name) && !task.is_done;
        if self.tasks.iter().any(holds) || self.wanted.iter().any(|wanted| wanted == name) {
            return None;
        }
        let task = self.tasks.iter_mut().find(|task| task.owner.is_none())?;
        task.owner = Some(name.to_owned());
        Some(format!(
            "<claimed_task>\nYou have claimed task {}: {}\n\nDo it, then complete it with complete_task.\n</claimed_task>",
            task.id, task.subject
        ))
    }

    /// What the harness answers; `None` for the tools of the workspace.
    pub(super) fn act(&mut self, who: &str, tool: &str, input: &Value) -> Option<(String, bool)> {
        if let Some(refusal) = self.gate(who, tool) {
            return Some((refusal, true));
        }
        match tool {
            "create_task" | "list_tasks" | "claim_task" | "complete_task" => {
                Some(self.act_on_board(who, tool, input))
            }
            "request_plan" | "submit_plan" | "review_plan" => {
                Some(self.act_on_plan(who, tool, input))
            }
            _ => self
                .act_on_team(who, tool, input)
                .map(|answer| (answer, false)),
        }
    }

    /// Why a call is stopped before a plan is approved.
    fn gate(&self, who: &str, tool: &str) -> Option<String> {
        let looks = ["read_file", "list_tasks", "submit_plan"].contains(&tool);
        let refusal = if self.plans.contains_key(who) {
            "your plan waits for its answer; nothing runs until it has come"
        } else if self.wanted.iter().any(|wanted| wanted == who) && !looks {
            "the lead wants your plan first: read what you need, then call submit_plan"
        } else {
            return None;
        };
        Some(refusal.to_owned())
    }

    fn act_on_team(&mut self, who: &str, tool: &str, input: &Value) -> Option<String> {
        let text = |key: &str| text(input, key);
        let answer = match tool {
            "spawn_teammate" => {
                // Whoever is given a task holds it.
                for task in &mut self.tasks {
                    if task.owner.is_none() && text("prompt").contains(&task.id) {
                        task.owner = Some(text("name"));
                    }
                }
                self.hired
                    .push((text("name"), text("role"), text("prompt")));
                format!(
                    "{} is at work; its mail comes to you by itself",
                    text("name")
                )
            }
            "send_message" => {
                self.send(who, &text("to"), "message", &text("content"));
                format!("sent to {}", text("to"))
            }
            "check_inbox" => match self.mail.remove(who) {
                Some(mail) => mail.join("\n\n"),
                None => "no new mail; what comes later reaches you by itself".to_owned(),
            },
            "request_shutdown" => {
                self.leaving.push(text("teammate"));
                format!(
                    "asked {} to leave (req_s); the answer comes by itself",
                    text("teammate")
                )
            }
            "create_worktree" => format!(
                "created .harness/worktrees/{} on branch wt/{}, for task {}",
                text("name"),
                text("name"),
                text("task_id")
            ),
            _ => return None,
        };
        Some(answer)
    }

    fn act_on_board(&mut self, who: &str, tool: &str, input: &Value) -> (String, bool) {
        match tool {
            "create_task" => {
                let id = format!("{:04}-abcdefgh", self.tasks.len() + 1);
                let subject = text(input, "subject");
                let answer = format!("created {id}: {subject}");
                self.tasks.push(Task {
                    id,
                    subject,
                    owner: None,
                    is_done: false,
                });
                (answer, false)
            }
            "list_tasks" => {
                let lines: Vec<String> = self.tasks.iter().map(Task::line).collect();
                (lines.join("\n"), false)
            }
            _ => self.change(who, tool, &text(input, "task_id")),
        }
    }

    fn act_on_plan(&mut self, who: &str, tool: &str, input: &Value) -> (String, bool) {
        match tool {
            "request_plan" => {
                let (mate, task) = (text(input, "teammate"), text(input, "task"));
                let wanted =
                    format!("Before you change anything, send a plan with submit_plan for: {task}");
                self.send(who, &mate, "message", &wanted);
                let answer = format!("asked {mate} for a plan; it comes by itself");
                self.wanted.push(mate);
                (answer, false)
            }
            "submit_plan" => {
                self.requests += 1;
                let id = format!("req_{}", self.requests);
                self.send(who, "lead", "plan_approval_request", &text(input, "plan"));
                let mail = self.mail.get_mut("lead").and_then(|mail| mail.last_mut());
                mail.expect("it was sent")
                    .push_str(&format!("\nAnswer with review_plan, request_id {id}."));
                self.wanted.retain(|wanted| wanted != who);
                self.plans.insert(who.to_owned(), id.clone());
                (format!("sent as {id}; wait for the answer"), false)
            }
            _ => {
                let approve = input["approve"] == json!(true);
                let (id, feedback) = (text(input, "request_id"), text(input, "feedback"));
                self.review(&id, approve, &feedback)
            }
        }
    }

    fn change(&mut self, who: &str, tool: &str, id: &str) -> (String, bool) {
        let Some(task) = self.tasks.iter_mut().find(|task| task.id == id) else {
            return (format!("there is no task {id}"), true);
        };
        match (tool, task.owner.as_deref()) {
            ("claim_task", None) => {
                task.owner = Some(who.to_owned());
                (format!("{id} is yours: {}", task.subject), false)
            }
            ("complete_task", Some(owner)) if owner == who => {
                task.is_done = true;
                (format!("{id} is completed: {}", task.subject), false)
            }
            (_, owner) => (format!("{id} belongs to {owner:?}"), true),
        }
    }

    fn review(&mut self, id: &str, approve: bool, feedback: &str) -> (String, bool) {
        let Some(who) = self
            .plans
            .iter()
            .find(|(_, plan)| *plan == id)
            .map(|(who, _)| who.clone())
        else {
            return (format!("there is no request {id}"), true);
        };
        self.plans.remove(&who);
        let verdict = if approve { "approved" } else { "rejected" };
        self.send(
            "lead",
            &who,
            "plan_approval_response",
            &format!("Your plan is {verdict}. {feedback}"),
        );
        (format!("{who}'s plan {id} is {verdict}"), false)
    }
}

impl Task {
    fn line(&self) -> String {
        let owner = self
            .owner
            .as_ref()
            .map_or(String::new(), |owner| format!(" ({owner})"));
        let mark = match (&self.owner, self.is_done) {
            (_, true) => "[x]",
            (Some(_), false) => "[~]",
            (None, false) => "[ ]",
        };
        format!("{mark} {} {}{owner}", self.id, self.subject)
    }
}

fn text(input: &Value, key: &str) -> String {
    input[key].as_str().unwrap_or_default().to_owned()
}
