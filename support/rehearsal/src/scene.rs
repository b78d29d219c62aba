//! A conversation as the brain reads it: who asked, which mail came, what was called and what came of it; and what there is
//! around it: tools, teammates, servers, skills.
//!
//! What a harness puts into the user's messages beside the user's words is told by its shape, a tag around it, and never
//! by a literal of one harness. Invariant: events stand in the order of the conversation; a call and its result are one.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;

use serde_json::Value;

use crate::mcp;
use crate::speak::one_line;
use crate::table::Row;
use crate::told::{ASKED, Tagged, Who, is_note, next_tag, paragraphs, tag, task_of};
use crate::tools::{Can, Tools};
use crate::types::{Block, Message, Request};
use crate::words::{has, unique};

/// What such a summary says of the requests before, when nothing of them is left to do.
pub const ANSWERED: &str = "That is answered.";

/// A call and what came of it.
#[derive(Clone, Debug)]
pub struct Past<'a> {
    pub name: &'a str,
    pub input: Value,
    pub text: Cow<'a, str>,
    pub failed: bool,
    /// The number of its event.
    pub at: usize,
}

impl Past<'_> {
    /// Whether the result is no longer there: a harness took it away to make room, and left a line in brackets.
    pub fn is_gone(&self) -> bool {
        let text = &self.text;
        text.starts_with('[')
            && text.ends_with(']')
            && text.contains("removed")
            && !text.contains('\n')
    }
}

#[derive(Clone, Debug)]
pub struct Mail<'a> {
    pub from: &'a str,
    pub kind: &'a str,
    pub text: &'a str,
    /// The whole of it, with what stands behind the tag.
    pub whole: &'a str,
}

#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The user, or whoever gave the job, asks for something.
    Asked(String),
    Mail(Mail<'a>),
    /// A task has become this agent's.
    Claimed {
        id: String,
        subject: String,
    },
    Notice(&'a str),
    Said(&'a str),
    /// The harness notes that the turn above had no end: it stands for the answer that never came.
    Interrupted(&'a str),
    Called,
}

#[derive(Debug, Default)]
pub struct Scene<'a> {
    pub events: Vec<Event<'a>>,
    pub calls: Vec<Past<'a>>,
    /// Facts and preferences of earlier sessions.
    pub memory: Vec<&'a str>,
    /// Requests of a part of the conversation that was taken away, as a harness keeps them.
    pub earlier: Vec<&'a str>,
    /// The place of the request in hand that a summary tells of: a harness says it once more.
    summed: Option<usize>,
}

impl<'a> Scene<'a> {
    pub fn read(request: &'a Request) -> Self {
        let mut scene = Self::default();
        let mut open: Vec<(&str, usize)> = Vec::new();
        let blocks = |message: &'a Message<'a>| {
            message.blocks.iter().map(|block| (message.from_user, block))
        };
        for (from_user, block) in request.messages.iter().flat_map(blocks) {
            match *block {
                Block::Text(text) if from_user => scene.hear(text),
                Block::Text(text) => scene.events.push(Event::Said(text)),
                Block::Call { id, name, input } => {
                    open.push((id, scene.calls.len()));
                    scene.called(name, input.clone(), Cow::Borrowed(""));
                }
                Block::Result { id, text, failed } => {
                    let Some(place) = open.iter().position(|(of, _)| *of == id) else { continue };
                    let past = &mut scene.calls[open.remove(place).1];
                    (past.text, past.failed) = (Cow::Borrowed(text), failed);
                    // Mail may be fetched as well as come by itself.
                    if tag(text.trim()).is_some_and(|tagged| tagged.attribute("from").is_some()) {
                        scene.hear(text);
                    }
                }
            }
        }
        // A note that the model answers at once is the user's.
        for at in 0..scene.events.len() {
            if let Event::Interrupted(note) = scene.events[at]
                && matches!(scene.events.get(at + 1), None | Some(Event::Said(_) | Event::Called))
            {
                scene.events[at] = Event::Asked(note.trim_matches(['[', ']']).to_owned());
            }
        }
        scene
    }

    /// Reads a conversation that is told in paragraphs.
    pub fn of_told(told: &'a str) -> Self {
        let mut scene = Self::default();
        scene.hear_told(told);
        scene
    }

    fn hear_told(&mut self, told: &'a str) {
        let (mut open, mut is_answered) = (VecDeque::new(), false);
        for (who, text) in paragraphs(told) {
            match who {
                Who::User => self.hear(text),
                Who::Model => self.events.push(Event::Said(text)),
                // A call whose result was cut out of the text, and one that is cut itself, tell nothing.
                Who::Call => {
                    if is_answered || text.contains('\n') {
                        open.clear();
                    }
                    is_answered = false;
                    open.push_back(text);
                }
                Who::Result => {
                    is_answered = true;
                    let call = open.pop_front().and_then(|call| call.split_once(' '));
                    if let Some((name, input)) = call
                        && let Ok(input) = serde_json::from_str(input)
                    {
                        let text =
                            serde_json::from_str(text).map_or(Cow::Borrowed(text), Cow::Owned);
                        self.called(name, input, text);
                    }
                }
            }
        }
    }

    fn called(&mut self, name: &'a str, input: Value, text: Cow<'a, str>) {
        let (at, failed) = (self.events.len(), false);
        self.events.push(Event::Called);
        self.calls.push(Past {
            name,
            input,
            text,
            failed,
            at,
        });
    }

    fn hear(&mut self, text: &'a str) {
        let (mut rest, mut said) = (text.trim(), String::new());
        while let Some((at, tagged)) = next_tag(rest) {
            said.push_str(&rest[..at]);
            let behind = at + tagged.len;
            // Several may stand one behind the other; what follows a mail up to the next tag belongs to it. What stands behind
            // the user's words is for nobody.
            let end = next_tag(&rest[behind..]).map_or(rest.len(), |(next, _)| behind + next);
            let is_mail = said.trim().is_empty() && self.hear_tagged(&tagged, rest[at..end].trim());
            rest = &rest[if is_mail { end } else { behind }..];
        }
        said.push_str(rest);
        let said = said.trim();
        if is_note(said) {
            self.events.push(Event::Interrupted(rest.trim()));
            return;
        }
        // `[Scheduled] …`: a word in brackets says how it came.
        let is_word = |head: &str| {
            head.starts_with(char::is_uppercase) && head.chars().all(char::is_alphabetic)
        };
        let came = said.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        let came = came.filter(|(head, _)| is_word(head));
        let said = came.map_or(said, |(_, rest)| rest);
        if said.is_empty() {
            return;
        }
        // What a summary tells of the request in hand counts for the request.
        match self.summed.take().map(|at| &mut self.events[at]) {
            Some(Event::Asked(text)) if *text == one_line(said, 300) => *text = said.to_owned(),
            _ => self.events.push(Event::Asked(said.to_owned())),
        }
    }

    /// Hears a tagged text; whether it was mail.
    fn hear_tagged(&mut self, tagged: &Tagged<'a>, whole: &'a str) -> bool {
        let lines = || tagged.inner.lines().filter(|line| !line.trim().is_empty());
        let items = || lines().filter_map(|line| line.strip_prefix("- "));
        if let (Some(from), Some(kind)) = (tagged.attribute("from"), tagged.attribute("type")) {
            // Mail that answers nothing is shown in a tag of its own, and nobody obeys it.
            if !tagged.name.ends_with("-ignored") {
                let text = tagged.inner;
                self.events.push(Event::Mail(Mail {
                    from,
                    kind,
                    text,
                    whole,
                }));
            }
            return true;
        } else if tagged.inner.starts_with(ASKED) {
            // Behind it a harness says where the whole conversation is.
            let told = tagged.inner.rsplit_once("\n(").map_or(tagged.inner, |(told, _)| told);
            self.hear_told(told);
            let is_open = !matches!(self.events.last(), Some(Event::Said(ANSWERED)));
            self.summed = self.newest().filter(|_| is_open);
        } else if let Some((id, subject)) = task_of(tagged.inner) {
            self.events.push(Event::Claimed { id, subject });
        } else if lines().any(|line| line.starts_with("## ")) {
            // Sections with headings are what is known from before; a plain list is what was asked for.
            self.memory.push(tagged.inner);
        } else if items().next().is_some()
            && lines().all(|line| line.starts_with("- ") || line.starts_with("  "))
        {
            self.earlier.extend(items());
        } else {
            self.events.push(Event::Notice(tagged.inner));
        }
        false
    }

    /// The place of the newest request of the user.
    pub fn newest(&self) -> Option<usize> {
        self.events.iter().rposition(|event| matches!(event, Event::Asked(_)))
    }

    /// What the model said from here on.
    pub fn said_since(&self, at: usize) -> impl Iterator<Item = &'a str> + '_ {
        self.events.iter().skip(at).filter_map(|event| match event {
            Event::Said(text) => Some(*text),
            _ => None,
        })
    }

    /// The requests of the user, oldest first.
    pub fn asked(&self) -> impl DoubleEndedIterator<Item = (usize, &str)> {
        self.events.iter().enumerate().filter_map(|(at, event)| match event {
            Event::Asked(text) => Some((at, text.as_str())),
            _ => None,
        })
    }

    pub fn mail(&self) -> impl DoubleEndedIterator<Item = (usize, &Mail<'a>)> {
        self.events.iter().enumerate().filter_map(|(at, event)| match event {
            Event::Mail(mail) => Some((at, mail)),
            _ => None,
        })
    }
}

pub struct World<'a> {
    pub tools: &'a Tools<'a>,
    pub scene: &'a Scene<'a>,
    pub system: &'a str,
    /// The teammates that were hired in this conversation.
    pub mates: Vec<String>,
    /// The servers that can be connected or are.
    pub servers: Vec<String>,
    pub connected: Vec<String>,
    /// Tools of servers that were called and are no longer on offer.
    pub gone: Vec<String>,
    /// The file that was spoken of last.
    pub last_path: Option<String>,
    /// The names of what another agent can do, for whom a job is looked at.
    pub lent: &'static str,
    /// The calls of the conversation that are spoken for: a call counts once.
    pub used: RefCell<Vec<usize>>,
}

impl<'a> World<'a> {
    pub fn new(tools: &'a Tools<'a>, scene: &'a Scene<'a>, system: &'a str) -> Self {
        let spawn = tools.get(Can::Spawn).map(|tool| tool.name);
        let hired = scene.calls.iter().filter(|call| Some(call.name) == spawn && !call.failed);
        let mates =
            hired.filter_map(|call| call.input["name"].as_str()).map(str::to_owned).collect();
        let all = mcp::connected(tools);
        let servers = unique(mcp::available(tools).into_iter().chain(all.clone()));
        // What this request has connected was not there when it was understood first.
        let connect = tools.get(Can::Connect).map(|tool| tool.name);
        let newest = scene.newest().unwrap_or_default();
        let here = scene.calls.iter().filter(|call| call.at > newest && Some(call.name) == connect);
        let here: Vec<&str> = here.filter_map(|call| call.input["name"].as_str()).collect();
        let connected = all.into_iter().filter(|server| !here.contains(&server.as_str())).collect();
        let named = ["path", "file_path", "filePath"];
        let path = |call: &Past| {
            named.iter().find_map(|name| call.input[*name].as_str()).map(str::to_owned)
        };
        let is_gone = |name: &String| name.starts_with("mcp__") && tools.named(name).is_none();
        // Those that were called, and those that came with a server.
        let come = |call: &'a Past<'a>| {
            let (server, list) = (call.input["name"].as_str()?, call.text.rsplit_once(": ")?.1);
            Some(list.split(", ").map(move |tool| format!("mcp__{server}__{}", tool.trim())))
        };
        let connects = scene.calls.iter().filter(|call| Some(call.name) == connect && !call.failed);
        let named = scene.calls.iter().map(|call| call.name.to_owned());
        let gone = unique(named.chain(connects.filter_map(come).flatten()).filter(is_gone));
        let last_path = scene.calls.iter().rev().filter(|call| !call.failed).find_map(path);
        Self {
            tools,
            scene,
            system,
            mates,
            servers,
            connected,
            gone,
            last_path,
            lent: "",
            used: RefCell::default(),
        }
    }

    /// The calls of the tool that can do this.
    pub fn called(&self, can: Can) -> impl Iterator<Item = &Past<'a>> {
        let name = self.tools.get(can).map(|tool| tool.name);
        self.scene.calls.iter().filter(move |call| Some(call.name) == name)
    }

    /// Whether a tool that a row wants is on offer.
    pub fn can_do(&self, row: &Row) -> bool {
        row.tools.is_empty() || row.tools.iter().any(|can| self.can(*can))
    }

    pub fn can(&self, can: Can) -> bool {
        self.tools.can(can) || has(self.lent, &format!("{can:?}"))
    }

    /// The skills of the catalogue: name and description.
    pub fn skills(&self) -> Vec<(&str, &str)> {
        let Some(at) = self.system.find("skill") else { return Vec::new() };
        let lines =
            self.system[at..].lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        };
        lines
            .filter(|(name, _)| is_name(name))
            .take_while(|(_, description)| !description.is_empty())
            .collect()
    }
}
