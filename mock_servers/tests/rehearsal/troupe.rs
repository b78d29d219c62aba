//! A stage for several agents: a lead and its teammates, each in a conversation of its own, with mail between them.
//!
//! The harness is played in a few lines: mailboxes, the board, the plan gate, worktrees that are directories. Everyone
//! speaks in turns, so a play comes out the same each time.
//! Invariant: it ends; a play that is not over after `MAX_STEPS` replies is a failure.

mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use mock_servers::model::{Block, Role};
use serde_json::Value;

use crate::stage::Stage;
use world::World;

const MAX_STEPS: usize = 200;

const LEAD: &[&str] = &[
    "bash",
    "read_file",
    "write_file",
    "create_task",
    "list_tasks",
    "get_task",
    "claim_task",
    "complete_task",
    "spawn_teammate",
    "send_message",
    "check_inbox",
];
const PROTOCOL: &[&str] = &["request_shutdown", "request_plan", "review_plan"];
const WORKTREES: &[&str] = &["create_worktree", "remove_worktree", "keep_worktree"];
const MATE: &[&str] = &["bash", "read_file", "write_file", "send_message"];

/// A lead and its teammates.
pub struct Troupe {
    pub lead: Stage,
    pub mates: BTreeMap<String, Stage>,
    /// Every call: who, tool, arguments.
    pub calls: Vec<(String, String, Value)>,
    /// What the lead said at the end of each of its turns.
    pub said: Vec<String>,
    chapter: usize,
    world: Rc<RefCell<World>>,
}

impl Troupe {
    /// The troupe of a chapter, 15 to 18.
    pub fn of_chapter(chapter: usize) -> Self {
        let mut tools = LEAD.to_vec();
        tools.extend(if chapter > 15 { PROTOCOL } else { &[] });
        tools.extend(if chapter > 16 { WORKTREES } else { &[] });
        let world = Rc::<RefCell<World>>::default();
        let mut troupe = Self {
            lead: Stage::new(&tools),
            mates: BTreeMap::new(),
            calls: Vec::new(),
            said: Vec::new(),
            chapter,
            world: world.clone(),
        };
        let lead = std::mem::replace(&mut troupe.lead, Stage::bare(&[]));
        troupe.lead =
            lead.intercepting(move |tool, input| world.borrow_mut().act("lead", tool, input));
        troupe
    }

    /// The user asks, and everybody works until nobody has anything to do. The lead's last words.
    pub fn ask(&mut self, request: &str) -> String {
        self.lead
            .push(Role::User, vec![Block::Text(request.to_owned())]);
        self.turn_of_lead();
        for _ in 0..MAX_STEPS {
            if !self.someone_works() {
                return self.said.last().cloned().unwrap_or_default();
            }
        }
        panic!("no end: {:#?}", self.calls);
    }

    /// The calls of one agent: `write_file schema.sql`.
    pub fn calls_of(&self, who: &str) -> Vec<String> {
        let subject = |input: &Value| {
            let keys = [
                "name",
                "path",
                "command",
                "task_id",
                "teammate",
                "to",
                "subject",
                "approve",
                "request_id",
            ];
            let found = keys.iter().find_map(|key| input.get(*key));
            found
                .map(|value| {
                    value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned)
                })
                .unwrap_or_default()
        };
        let own = self.calls.iter().filter(|(name, ..)| name == who);
        own.map(|(_, tool, input)| format!("{tool} {}", subject(input)).trim_end().to_owned())
            .collect()
    }

    /// The arguments of an agent's calls of a tool.
    pub fn inputs(&self, who: &str, tool: &str) -> Vec<Value> {
        let of = self
            .calls
            .iter()
            .filter(|(name, called, _)| name == who && called == tool);
        of.map(|(_, _, input)| input.clone()).collect()
    }

    /// A letter that no teammate wrote.
    pub fn mail_to_lead(&mut self, mail: &str) {
        self.world
            .borrow_mut()
            .mail
            .entry("lead".to_owned())
            .or_default()
            .push(mail.to_owned());
    }

    /// A plan that waits for its answer, as mail.
    pub fn plan(&self, who: &str, id: &str) -> String {
        let waits = (who.to_owned(), id.to_owned());
        self.world.borrow_mut().plans.extend([waits]);
        format!(
            "<mail from=\"{who}\" type=\"plan_approval_request\">\n1. Do it.\n</mail>\nAnswer with review_plan, request_id {id}."
        )
    }

    fn turn_of_lead(&mut self) {
        let play = self.lead.play();
        self.calls.extend(
            play.calls
                .into_iter()
                .map(|(_, tool, input)| ("lead".to_owned(), tool, input)),
        );
        self.said.push(play.answer);
        let hired = std::mem::take(&mut self.world.borrow_mut().hired);
        for (name, role, prompt) in hired {
            self.hire(&name, &role, &prompt);
        }
    }

    fn hire(&mut self, name: &str, role: &str, prompt: &str) {
        let mut tools = MATE.to_vec();
        tools.extend(if self.chapter > 15 {
            &["submit_plan"][..]
        } else {
            &[]
        });
        tools.extend(if self.chapter > 17 {
            &["list_tasks", "claim_task", "complete_task"][..]
        } else {
            &[]
        });
        let (world, who) = (self.world.clone(), name.to_owned());
        let mut stage = Stage::in_directory(&tools, &self.lead.dir)
            .with_system(&format!(
                "You are a teammate named '{name}', a {role}. You work for the lead on your own."
            ))
            .intercepting(move |tool, input| world.borrow_mut().act(&who, tool, input));
        stage.push(Role::User, vec![Block::Text(prompt.to_owned())]);
        self.mates.insert(name.to_owned(), stage);
    }

    /// Lets the next one who has something to do work. False when there is nobody.
    pub fn someone_works(&mut self) -> bool {
        let names: Vec<String> = self.mates.keys().cloned().collect();
        for at in 0..names.len() {
            // Whoever worked last comes last.
            let name = &names[(self.calls.len() + at) % names.len()];
            if self.mate_works(name) {
                return true;
            }
        }
        let mail = self
            .world
            .borrow_mut()
            .mail
            .remove("lead")
            .unwrap_or_default();
        if mail.is_empty() {
            return false;
        }
        self.lead
            .push(Role::User, vec![Block::Text(mail.join("\n\n"))]);
        self.turn_of_lead();
        true
    }

    /// Lets a teammate give one reply. False when it has nothing to do.
    pub fn mate_works(&mut self, name: &str) -> bool {
        if self.world.borrow_mut().lets_leave(name) {
            self.mates.remove(name);
            return true;
        }
        if self.world.borrow().plans.contains_key(name) {
            return false;
        }
        let stage = self.mates.get_mut(name).expect("there is a mate");
        let is_idle = stage
            .messages
            .last()
            .is_some_and(|last| last.role == Role::Assistant);
        let mut notes = self
            .world
            .borrow_mut()
            .mail
            .remove(name)
            .unwrap_or_default();
        if is_idle && notes.is_empty() && self.chapter > 17 {
            notes.extend(self.world.borrow_mut().claim_for(name));
        }
        if is_idle && notes.is_empty() {
            return false;
        }
        for note in notes {
            stage.push(Role::User, vec![Block::Text(note)]);
        }
        self.mate_replies(name);
        true
    }

    /// One reply of a teammate: its calls run, its last words go to the lead.
    fn mate_replies(&mut self, name: &str) {
        let stage = self.mates.get_mut(name).expect("there is a mate");
        let blocks = stage.reply(stage.messages.len());
        stage.push(Role::Assistant, blocks.clone());
        let mut results = Vec::new();
        let mut text = String::new();
        for block in blocks {
            match block {
                Block::Text(said) => text = said,
                Block::ToolUse {
                    id,
                    name: tool,
                    input,
                } => {
                    let (content, is_error) = stage.run(&tool, &input);
                    results.push(Block::ToolResult {
                        tool_use_id: id,
                        content,
                        is_error,
                    });
                    self.calls.push((name.to_owned(), tool, input));
                }
                Block::ToolResult { .. } | Block::Other(_) => unreachable!("a model says neither"),
            }
        }
        match results.is_empty() {
            true => self.world.borrow_mut().send(name, "lead", "result", &text),
            false => stage.push(Role::User, results),
        }
    }
}
