//! The teammate: does the job of its prompt, of its mail and of the task it holds, and reports.
//!
//! It works like the one it is: its job is put where a user's request would stand, and the table does the rest. What is a
//! teammate's own is here: planning first, taking tasks from the board, completing them.
//! Invariant: a call that the plan gate stopped is not made again before the answer, and every job ends in a report.

use std::sync::Arc;

use serde_json::{Value, json};

use super::job::{Job, is_answer, is_response, is_wanted, is_yes, job};
use super::letters::{Letter, in_text, letters};
use super::works;
use crate::model::rehearsal::offer::Offer;
use crate::model::rehearsal::phrases::first_line;
use crate::model::rehearsal::steps::{self, Plan};
use crate::model::rehearsal::tokens::tokenize;
use crate::model::rehearsal::{answer, board, pattern};
use crate::model::{Block, Message, Reply, ReplyBlock, Request, Role, says};

/// How every teammate's system prompt begins.
const PERSONA: &str = "You are a teammate named ";

/// The most plans for one job, and looks at the board for one task.
const TRIES: usize = 3;

/// A call and its result.
struct Made<'a> {
    name: &'a str,
    input: &'a Value,
    content: &'a str,
    is_error: bool,
    /// The message that holds the result.
    at: usize,
}

/// The reply of a teammate; `None` when it is none. `work` is how a request is carried out.
pub fn answer(request: &Request, work: fn(&Request) -> Reply) -> Option<Reply> {
    if !request.system.trim_start().starts_with(PERSONA) {
        return None;
    }
    let mail = letters(&request.messages, 0);
    let mate = Mate {
        job: job(request, &mail),
        made: made(&request.messages),
        request,
        mail,
        work,
    };
    Some(mate.reply())
}

struct Mate<'a> {
    request: &'a Request,
    work: fn(&Request) -> Reply,
    job: Job,
    mail: Vec<Letter>,
    made: Vec<Made<'a>>,
}

impl Mate<'_> {
    fn reply(&self) -> Reply {
        let answered = self.request.messages.iter().rposition(is_answer);
        if answered.is_some_and(|at| at > self.job.at) && !self.is_answered_since(answered) {
            return says(self.acknowledged(answered));
        }
        if self.wants_plan() && self.has("submit_plan") {
            match self.approved() {
                Some(at) => return self.do_job(at),
                None => return self.plan_first(),
            }
        }
        self.do_job(self.job.at)
    }

    /// Whether the answer to a plan came after the last answer of its own.
    fn is_answered_since(&self, answered: Option<usize>) -> bool {
        let is_new =
            |mail: &Letter| Some(mail.at) > answered && (is_response(mail) || is_wanted(mail));
        self.mail.iter().any(is_new)
    }

    /// What came and asks for nothing.
    fn acknowledged(&self, answered: Option<usize>) -> String {
        let new = self.mail.iter().filter(|mail| Some(mail.at) > answered);
        let told: Vec<String> = new
            .map(|mail| {
                format!(
                    "I have read this of {}: {}",
                    mail.from,
                    first_line(&mail.text)
                )
            })
            .collect();
        match told.is_empty() {
            true => "I have nothing more to do.".to_owned(),
            false => told.join("\n"),
        }
    }

    fn has(&self, tool: &str) -> bool {
        Offer::of(self.request, &[]).has(tool)
    }

    /// The calls since a message.
    fn since(&self, at: usize) -> impl Iterator<Item = &Made<'_>> {
        self.made.iter().filter(move |made| made.at > at)
    }

    /// Whether the lead has asked for a plan: then only tools that read run.
    fn is_asked_for_plan(&self) -> bool {
        let mut mail = self.mail.iter();
        mail.any(|mail| mail.at >= self.job.at && is_wanted(mail))
    }

    fn wants_plan(&self) -> bool {
        let asked = self.is_asked_for_plan();
        let gated = self
            .since(self.job.at)
            .any(|made| made.is_error && made.content.contains("plan first"));
        self.job.plan_first || asked || gated
    }

    /// The message with the approval of the newest plan.
    fn approved(&self) -> Option<usize> {
        let newest = self
            .mail
            .iter()
            .rfind(|mail| is_response(mail) && mail.at > self.job.at)?;
        let asked_again = self
            .since(newest.at)
            .any(|made| made.is_error && made.content.contains("plan first"));
        (is_yes(newest) && !asked_again).then_some(newest.at)
    }

    /// Looks around, then sends a plan, then waits.
    fn plan_first(&self) -> Reply {
        let sent: Vec<&Made> = self
            .since(self.job.at)
            .filter(|made| made.name == "submit_plan")
            .collect();
        let refused = self
            .mail
            .iter()
            .rfind(|mail| is_response(mail) && mail.at > self.job.at && !is_yes(mail));
        let answered = self
            .mail
            .iter()
            .rfind(|mail| is_response(mail))
            .map(|mail| mail.at);
        let waits = sent
            .last()
            .is_some_and(|plan| !plan.is_error && Some(plan.at) > answered);
        if waits {
            return says("I wait for the answer to my plan.");
        }
        if sent.len() >= TRIES || sent.last().is_some_and(|plan| plan.is_error) {
            return says("My plan was not accepted, so I stopped.");
        }
        if let Some(look) = self.look() {
            return look;
        }
        let plan = self.plan_text(refused.map(|mail| mail.text.as_str()));
        says("I will send my plan.").and_calls("submit_plan", json!({ "plan": plan }))
    }

    /// A look at what the job is about, before it is planned.
    fn look(&self) -> Option<Reply> {
        let path = named_path(&self.job.text);
        let (tool, input) = match path {
            Some(path) if self.has("read_file") => ("read_file", json!({ "path": path })),
            _ if self.is_board() => ("list_tasks", json!({})),
            _ if self.is_vague() && self.has("bash") && !self.is_asked_for_plan() => {
                ("bash", json!({ "command": "ls" }))
            }
            _ => return None,
        };
        let is_made = self.since(self.job.at).any(|made| made.name == tool);
        (!is_made).then(|| says("I will look first.").and_calls(tool, input))
    }

    /// The plan, a numbered line for each step.
    fn plan_text(&self, refused: Option<&str>) -> String {
        let mut lines: Vec<String> = Vec::new();
        if self.is_board() {
            lines.push("claim a task on the board that is free".to_owned());
            lines.push("do its work in a file of its own".to_owned());
            lines.push("read the file back to check it".to_owned());
            lines.push("complete the task".to_owned());
        } else {
            let plan = self.planned(&self.wording(&self.job.text));
            if self.is_vague() && self.found_file().is_none() {
                lines.push("look for a Python file".to_owned());
                lines.push("refactor it: type hints and docstrings".to_owned());
            } else {
                lines.extend(plan.steps.iter().map(answer::doing));
            }
            lines.push("check the result".to_owned());
        }
        lines.retain(|line| line.contains(char::is_alphanumeric));
        lines.dedup();
        let numbered = lines
            .iter()
            .enumerate()
            .map(|(at, line)| format!("{}. {}.", at + 1, capital(line)));
        let mut text = numbered.collect::<Vec<_>>().join("\n");
        if let Some(refused) = refused {
            text = format!("{text}\nChanged as you said: {}", first_line(refused));
        }
        text
    }

    fn planned(&self, text: &str) -> Plan {
        let team = ["lead".to_owned()];
        let offer = Offer::of(self.request, &team);
        steps::plan(&[text.to_owned()], offer, || None)
    }

    /// Whether the job is to take work from the board.
    fn is_board(&self) -> bool {
        let lower = self.job.text.to_lowercase();
        let says = ["board", "claim", "list_tasks"]
            .iter()
            .any(|word| lower.contains(word));
        self.job.task.is_none() && says && self.has("claim_task") && self.has("list_tasks")
    }

    /// Whether the job is to refactor something that it does not name.
    fn is_vague(&self) -> bool {
        self.job.text.to_lowercase().contains("refactor") && named_path(&self.job.text).is_none()
    }

    fn do_job(&self, at: usize) -> Reply {
        if self.is_board() {
            return self.take_task(at);
        }
        let no_board = self.job.text.contains(works::BOARD) && !self.has("claim_task");
        if no_board || self.job.text.contains(works::READY) {
            return says("I am ready.");
        }
        if self.is_vague()
            && self.found_file().is_none()
            && !self.since(at).any(|made| made.name == "bash")
            && self.has("bash")
        {
            return says("I will look what there is.")
                .and_calls("bash", json!({ "command": "ls" }));
        }
        self.finish(&self.job.text, self.job.task.as_deref(), at)
    }

    /// Claims the first task that is free and does it.
    fn take_task(&self, at: usize) -> Reply {
        let claims: Vec<&Made> = self
            .since(at)
            .filter(|made| made.name == "claim_task")
            .collect();
        let own = claims
            .iter()
            .find_map(|made| Some((made.content.split_once(" is yours: ")?, made.at)));
        if let Some(((id, text), at)) = own {
            return self.finish(text, Some(id), at);
        }
        let listings: Vec<&Made> = self
            .since(at)
            .filter(|made| made.name == "list_tasks")
            .collect();
        match listings.last() {
            Some(listing) if listings.len() > claims.len() => {
                match board::first_free(listing.content) {
                    Some(id) => says(format!("I will claim {id}."))
                        .and_calls("claim_task", json!({ "task_id": id })),
                    None => says("There is no task on the board that I can claim now."),
                }
            }
            _ if claims.len() >= TRIES => says("Others were faster: I could not claim a task."),
            _ => says("I will look at the board.").and_calls("list_tasks", json!({})),
        }
    }

    /// Does the work of a job that came with a message, then completes its task, then reports.
    fn finish(&self, text: &str, task: Option<&str>, at: usize) -> Reply {
        let reply = (self.work)(&self.as_request(&self.wording(text), at));
        let [ReplyBlock::Text(said)] = &reply.blocks[..] else {
            return reply;
        };
        let Some(id) = task.filter(|_| self.has("complete_task")) else {
            return says(said.as_str());
        };
        let completed = self.since(at).find(|made| made.name == "complete_task");
        let small = ["list_tasks", "claim_task", "submit_plan", "complete_task"];
        let work: Vec<&Made> = self
            .since(at)
            .filter(|made| !small.contains(&made.name))
            .collect();
        match completed {
            Some(made) if made.is_error => says(format!(
                "{said}\nI could not complete {id}: {}",
                first_line(made.content)
            )),
            Some(made) => says(format!("{said}\n{}", board::completed(made.content))),
            None if work.last().is_some_and(|made| made.is_error) => {
                says(format!("{said}\nSo {id} is not completed."))
            }
            None => says(format!("I will complete {id}."))
                .and_calls("complete_task", json!({ "task_id": id })),
        }
    }

    /// The conversation with these words in place of the message that brought them.
    fn as_request(&self, text: &str, at: usize) -> Request {
        let mut messages: Vec<Arc<Message>> =
            self.request.messages.iter().map(without_mail).collect();
        messages[at] = Arc::new(Message {
            role: Role::User,
            blocks: vec![Block::Text(text.to_owned())],
        });
        Request {
            messages,
            ..self.request.clone()
        }
    }

    /// A job in words that the table knows.
    fn wording(&self, text: &str) -> String {
        let text = text.trim();
        if self.is_vague() {
            return match self.found_file() {
                Some(path) => format!("Refactor {path}: add type hints and docstrings"),
                None => works::request("write docs/refactoring.md"),
            };
        }
        if let Some(path) = self.schema_file().filter(|_| works::adds_table(text)) {
            return works::more_tables(path, text);
        }
        let lower = text.to_lowercase();
        let is_bare =
            lower.starts_with("write ") && !lower.contains(" with ") && !lower.contains("content");
        let plan = self.planned(text);
        let is_understood = !plan.steps.is_empty() && plan.unknown.is_empty();
        let is_task = self.job.task.is_some() || self.is_board();
        // `a refactoring task on x.py`: the file is there, and must not be written anew.
        if let Some(path) = named_path(text)
            && lower.contains("refactor")
            && plan.steps.is_empty()
        {
            return format!("Refactor {path}: add type hints and docstrings");
        }
        match is_understood && !(is_task && is_bare) || plan.chat.is_some() || plan.steps.len() > 1
        {
            true => text.to_owned(),
            false => works::request(first_line(text)),
        }
    }

    /// The schema that this teammate wrote last.
    fn schema_file(&self) -> Option<&str> {
        let written = self
            .made
            .iter()
            .rev()
            .filter(|made| made.name == "write_file");
        let mut paths = written.filter_map(|made| made.input["path"].as_str());
        paths.find(|path| path.ends_with(".sql"))
    }

    /// The first Python file that a listing named.
    fn found_file(&self) -> Option<&str> {
        let listings = self
            .made
            .iter()
            .filter(|made| made.name == "bash" && made.input["command"] == "ls");
        let mut lines = listings.flat_map(|made| made.content.lines());
        lines.find(|line| line.ends_with(".py")).map(str::trim)
    }
}

fn made(messages: &[Arc<Message>]) -> Vec<Made<'_>> {
    let mut made = Vec::new();
    for (at, pair) in messages.windows(2).enumerate() {
        for block in &pair[0].blocks {
            let Block::ToolUse { id, name, input } = block else {
                continue;
            };
            let result = pair[1].blocks.iter().find_map(|block| match block {
                Block::ToolResult {
                    tool_use_id,
                    content,
                    is_error,
                } if tool_use_id == id => Some((content, *is_error)),
                Block::ToolResult { .. }
                | Block::Text(_)
                | Block::ToolUse { .. }
                | Block::Other(_) => None,
            });
            if let Some((content, is_error)) = result {
                made.push(Made {
                    name,
                    input,
                    content,
                    is_error,
                    at: at + 1,
                });
            }
        }
    }
    made
}

/// A message without the mail in it: a teammate does not repeat what it was told.
fn without_mail(message: &Arc<Message>) -> Arc<Message> {
    let is_mail =
        |block: &Block| matches!(block, Block::Text(text) if !in_text(text, 0).is_empty());
    if !message.blocks.iter().any(is_mail) {
        return message.clone();
    }
    let kept = message.blocks.iter().filter(|block| !is_mail(block));
    Arc::new(Message {
        role: message.role,
        blocks: kept.cloned().collect(),
    })
}

fn named_path(text: &str) -> Option<String> {
    let tokens = tokenize(text);
    let path = tokens.iter().find(|token| pattern::is_path(token))?;
    Some(pattern::named_file(path).to_owned())
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |c| c.to_uppercase().chain(letters).collect())
}
