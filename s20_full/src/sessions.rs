//! Sessions: conversations that outlive the program.
//!
//! A conversation is saved at each round, so that closing the terminal loses none of it. Invariants: a session is open in
//! one process at a time; a resumed conversation can be sent, and the model is told what has ended since; nothing is written
//! before there is something to keep.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;
use kit::{counted, cut, fresh_suffix, one_line, tagged};
use s01_loop::{History, Message, Repl, Usage};
use s02_tools::Workspace;
use s11_recovery::Recovery;
use s15_mailbox::Mailboxes;

use crate::hold::Hold;
use crate::saved::{Folder, Head, Listed, Saved};
use crate::start::{Resumed, Start};

/// How many saved sessions are listed.
const LISTED: usize = 20;
/// How much of a request is shown.
const REQUEST_CHARS: usize = 60;

/// The saved conversations of a workspace. Clones share which one is open.
#[derive(Clone)]
pub struct Sessions {
    folder: Folder,
    client: Recovery,
    mail: Mailboxes,
    repl: Repl,
    /// A std lock: nothing is awaited while it is held.
    state: Arc<Mutex<State>>,
}

/// The session that is open.
#[derive(Default)]
struct State {
    /// Made when there is something to keep, or when its id is asked for.
    head: Option<Head>,
    hold: Option<Hold>,
    /// The fingerprint of its messages when they were last written.
    written: u64,
    /// What the program had spent when it was opened.
    spent_before: Usage,
    /// All sessions that this run of the program has had open.
    own: HashSet<String>,
    /// It could not be written, and the user has been told.
    failed: bool,
}

impl Sessions {
    /// A new session, which has no file before there is something to keep.
    pub fn open(ws: &Workspace, client: &Recovery, mail: &Mailboxes, repl: &Repl) -> Self {
        Self {
            folder: Folder::new(ws, repl),
            client: client.clone(),
            mail: mail.clone(),
            repl: repl.clone(),
            state: Arc::default(),
        }
    }

    /// Resumes the session that the command line names. If it names none, a user who types is told of `/help`.
    ///
    /// # Errors
    /// When there is none of this name, it is open elsewhere, or its file cannot be read.
    pub fn resume(&self, start: &Start, history: &mut History) -> Result<()> {
        let told = match start.resumed() {
            Resumed::No if start.is_typed() => "/help lists the commands".to_owned(),
            Resumed::No => return Ok(()),
            Resumed::Newest => self.switch_to_newest(history)?,
            Resumed::Named(id) => self.switch_to(id, history)?,
        };
        self.repl.remark(&format!("[{told}]"));
        Ok(())
    }

    /// Saves the conversation as it is now. A failure is reported once and stops nobody.
    pub fn save(&self, history: &History) {
        let state = &mut *self.state.lock().unwrap();
        let now = fingerprint(history);
        if history.is_empty() || state.written == now {
            return;
        }
        match self.write(state, history) {
            Ok(()) => (state.written, state.failed) = (now, false),
            Err(_) if state.failed => {}
            Err(error) => {
                state.failed = true;
                self.repl.remark(&format!("[the session is not kept: {error:#}]"));
            }
        }
    }

    /// Begins a new session, and says how to resume the old one, if it could be saved.
    pub fn begin(&self, history: &mut History) -> String {
        self.save(history);
        let state = &mut *self.state.lock().unwrap();
        let is_kept = !state.failed;
        let old = state.hold.take().and(state.head.take());
        let own = std::mem::take(&mut state.own);
        *state = State {
            own,
            spent_before: self.client.spent(),
            ..State::default()
        };
        *history = History::default();
        match old {
            _ if !is_kept => {
                "a new session; the end of the old one could not be written".to_owned()
            }
            Some(old) => format!("a new session; the old one is kept: /resume {}", old.id),
            None => "a new session".to_owned(),
        }
    }

    /// Opens the saved session whose id begins so, in place of the one that is open, and says where it stands.
    ///
    /// # Errors
    /// When there is none or several, it is open elsewhere, its file cannot be read, or the one that is open cannot be
    /// written. Then nothing has changed.
    pub fn switch_to(&self, prefix: &str, history: &mut History) -> Result<String> {
        let listed = self.folder.list()?;
        let matching = || listed.iter().filter(|listed| listed.head.id.starts_with(prefix));
        let ids: Vec<&str> = matching().map(|listed| listed.head.id.as_str()).collect();
        let id = match ids[..] {
            [id] => id,
            [] => bail!("there is no saved session {prefix:?}; /resume lists those there are"),
            _ if ids.contains(&prefix) => prefix,
            _ => bail!("{prefix:?} is the beginning of {}; give more of the id", ids.join(" and ")),
        };
        ensure!(!self.is_open(id), "{id} is the session you are in");
        let hold = self.folder.hold(id)?;
        let hold = hold.with_context(|| format!("the session {id} is open in another process"))?;
        self.switch(id, hold, history)
    }

    /// The saved sessions, newest first: id, age, first request.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn shown(&self) -> Result<String> {
        let listed = self.folder.list()?;
        if listed.is_empty() {
            return Ok("there is no saved session yet".to_owned());
        }
        let mut lines: Vec<String> = listed.iter().take(LISTED).map(|one| self.line(one)).collect();
        if listed.len() > LISTED {
            lines.push(format!("and {} older ones", listed.len() - LISTED));
        }
        lines.push("/resume ID goes on with one; the beginning of its id is enough".to_owned());
        Ok(lines.join("\n"))
    }

    /// The id of the session that is open.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn id(&self) -> Result<String> {
        let state = &mut *self.state.lock().unwrap();
        Ok(self.head(state, "")?.id.clone())
    }

    /// What the session that is open has cost, in this run of the program and earlier ones; teammates, subagents and side
    /// calls included.
    pub fn spent(&self) -> Usage {
        self.spent_in(&self.state.lock().unwrap())
    }

    fn spent_in(&self, state: &State) -> Usage {
        let saved = state.head.as_ref().map(|head| head.usage.clone());
        let mut spent = saved.unwrap_or_default();
        spent += &self.client.spent().since(&state.spent_before);
        spent
    }

    fn switch_to_newest(&self, history: &mut History) -> Result<String> {
        let listed = self.folder.list()?;
        for listed in &listed {
            if let Some(hold) = self.folder.hold(&listed.head.id)? {
                return self.switch(&listed.head.id, hold, history);
            }
        }
        match listed.len() {
            0 => bail!("there is no saved session to resume here"),
            1 => bail!("the only saved session is open in another process"),
            _ => bail!("all saved sessions are open in other processes"),
        }
    }

    fn switch(&self, id: &str, hold: Hold, history: &mut History) -> Result<String> {
        let saved = self.folder.read(id)?;
        self.save(history);
        ensure!(
            !self.state.lock().unwrap().failed,
            "the session you are in cannot be written; /clear gives it up"
        );
        let state = &mut *self.state.lock().unwrap();
        let is_own = state.own.contains(id);
        let age = age(saved.head.saved);
        let told = format!(
            "session {id}, saved {age}: {} · it began with: {}",
            counted(saved.messages.len(), "message"),
            shortened(&saved.head.request)
        );
        let Head { runs, mail, .. } = &saved.head;
        self.mail.resume(runs.clone(), mail.clone());
        *history = History::default();
        history.replace(saved.messages);
        if !is_own {
            history.remind([ended(&age)]);
        }
        state.own.insert(id.to_owned());
        *state = State {
            head: Some(saved.head),
            hold: Some(hold),
            written: fingerprint(history),
            spent_before: self.client.spent(),
            own: std::mem::take(&mut state.own),
            failed: false,
        };
        Ok(told)
    }

    fn write(&self, state: &mut State, history: &History) -> Result<()> {
        let head = self.head(state, history.request())?.clone();
        if state.hold.is_none() {
            state.hold = self.folder.hold(&head.id)?;
        }
        let usage = self.spent_in(state);
        let head = Head {
            saved: Timestamp::now(),
            usage,
            mail: self.mail.taken(),
            runs: self.mail.sessions()?,
            ..head
        };
        let messages = &history[..];
        self.folder.write(&Saved { head, messages })
    }

    /// The head of the open session; made on first use.
    fn head<'a>(&self, state: &'a mut State, request: &str) -> Result<&'a mut Head> {
        if state.head.is_none() {
            let head = Head::new(fresh_suffix(), String::new());
            state.own.insert(head.id.clone());
            state.head = Some(head);
        }
        let head = state.head.as_mut().expect("it has just been made");
        if head.request.is_empty() {
            request.clone_into(&mut head.request);
        }
        Ok(head)
    }

    fn is_open(&self, id: &str) -> bool {
        let state = self.state.lock().unwrap();
        state.head.as_ref().is_some_and(|head| head.id == id)
    }

    fn line(&self, listed: &Listed) -> String {
        let Head {
            id, saved, request, ..
        } = &listed.head;
        let (age, count) = (age(*saved), counted(listed.messages.len(), "message"));
        let open = if self.is_open(id) { " (this one)" } else { "" };
        format!("{id}  {age:>14}  {count:>12}  {}{open}", shortened(request))
    }
}

/// What the model is told when another run of the program goes on with a conversation.
fn ended(age: &str) -> String {
    let text = format!(
        "This conversation was saved {age} by an earlier run of the program and goes on now. The teammates, background \
         jobs and MCP connections of that run have ended, its plan is empty, and files may have changed since. Start again \
         what is still needed; tasks, worktrees, memory and durable cron jobs are as they were left."
    );
    tagged("resumed-session", &text)
}

/// A hash of all messages.
fn fingerprint(messages: &[Message]) -> u64 {
    let mut hasher = DefaultHasher::new();
    messages.iter().for_each(|message| message.wire().hash(&mut hasher));
    hasher.finish()
}

/// How long ago, in the unit that says most.
fn age(moment: Timestamp) -> String {
    let seconds = Timestamp::now().as_second() - moment.as_second();
    let (length, unit) = match seconds {
        ..60 => return "just now".to_owned(),
        60..3_600 => (60, "minute"),
        3_600..86_400 => (3_600, "hour"),
        _ => (86_400, "day"),
    };
    format!("{} ago", counted((seconds / length) as usize, unit))
}

/// The beginning of a request, on one line.
fn shortened(request: &str) -> String {
    cut(&one_line(request), REQUEST_CHARS)
}
