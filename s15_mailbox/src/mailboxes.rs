//! Mailboxes: one append-only file per agent.
//!
//! Agents run at different speeds, so a message waits in its reader's file until the reader takes it. Invariants: a message
//! is delivered once, and in order for each sender; mail that arrives during a read is kept; unread mail of an agent that
//! leaves goes back to its sender; mail to the lead is removed when its conversation has been saved with it, so a resumed
//! conversation gets the rest; mail of another session is never delivered here, and set aside when that session has ended;
//! a torn line damages no other.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, bail, ensure};
use kit::{FolderLock, fresh_suffix, is_safe_name, make_state_folder, write_whole};
use s02_tools::Workspace;
use s12_tasks::Session;
use tokio::sync::Notify;

use crate::mail::{LEAD, Mail};

/// The longest name of an agent.
const LONGEST_NAME: usize = 32;
/// The folder of mail that is no longer delivered.
const OLD: &str = "old";
/// The session a message belongs to.
const SESSION: &str = "session";

/// The mailboxes of a workspace. Clones share them.
#[derive(Clone)]
pub struct Mailboxes {
    folder: PathBuf,
    session: Session,
    /// Who can be written to, and what wakes it. A std lock: nothing is awaited under it.
    members: Arc<Mutex<HashMap<String, Arc<Notify>>>>,
    /// How a message to the lead becomes text for its model.
    reader: Arc<Mutex<Reader>>,
    /// What the lead has read. A std lock, as above.
    lead: Arc<Mutex<Lead>>,
    /// Called when an agent has left.
    leaving: Arc<Mutex<Vec<Leaving>>>,
}

type Reader = Box<dyn Fn(&Mail) -> String + Send>;
type Leaving = Box<dyn Fn(&str) + Send>;

/// Which mail the lead has read, by id, and of which sessions.
#[derive(Default)]
struct Lead {
    /// Given out to a turn that may still be cancelled.
    given: Vec<String>,
    /// In the conversation, and still in the mailbox.
    taken: Vec<String>,
    /// The ended sessions whose conversation goes on in this one.
    resumed: Vec<String>,
}

impl Mailboxes {
    /// The mailboxes of this workspace, with the lead as the only agent. Opening them writes nothing.
    pub fn open(ws: &Workspace, session: &Session) -> Self {
        let lead = (LEAD.to_owned(), Arc::default());
        Self {
            folder: ws.state("mailboxes"),
            session: session.clone(),
            members: Arc::new(Mutex::new(HashMap::from([lead]))),
            reader: Arc::new(Mutex::new(Box::new(Mail::shown))),
            lead: Arc::default(),
            leaving: Arc::default(),
        }
    }

    /// Adds an agent with a mailbox. Mail for an earlier agent of the name is set aside.
    ///
    /// # Errors
    /// When the name is taken or invalid, or the mailbox cannot be written.
    pub fn join(&self, name: &str) -> Result<()> {
        ensure!(
            is_safe_name(name, LONGEST_NAME),
            "{name:?} is no name; use 1 to {LONGEST_NAME} of a-z, 0-9, - and _"
        );
        let _lock = FolderLock::wait(&self.folder)?;
        ensure!(
            !self.members.lock().unwrap().contains_key(name),
            "the name {name} is taken; choose another"
        );
        let Split { mine, others, old } = self.read(name)?;
        let left = mine.into_iter().map(|(line, _)| line).chain(old);
        self.set_aside(name, &left.collect::<Vec<_>>())?;
        self.write(name, &others)?;
        let mut members = self.members.lock().unwrap();
        members.insert(name.to_owned(), Arc::default());
        Ok(())
    }

    /// Removes an agent. Its unread mail goes back to the sender, or to the lead when the sender has left as well.
    pub fn leave(&self, name: &str) {
        // Before the name is free: what it held must not be taken from a new agent of its name.
        for leaving in self.leaving.lock().unwrap().iter() {
            leaving(name);
        }
        let lock = FolderLock::wait(&self.folder);
        self.members.lock().unwrap().remove(name);
        // Senders hold the same lock, so nothing comes after this look.
        let unread = lock.and_then(|_held| self.take(name));
        for unread in unread.unwrap_or_default() {
            let to = match self.bell(&unread.from) {
                Ok(_) => &unread.from,
                Err(_) => LEAD,
            };
            let content = format!("{name} has left and had not read this:\n{}", unread.content);
            // Nothing else can be done when the disk cannot be written.
            let _ = self.send(Mail::new(name, to, "returned", content));
        }
    }

    /// Calls back whenever an agent leaves, for any reason.
    pub fn on_leave(&self, leaving: impl Fn(&str) + Send + 'static) {
        self.leaving.lock().unwrap().push(Box::new(leaving));
    }

    /// Puts a message into its reader's mailbox and wakes it. One that names no session belongs to this one.
    ///
    /// # Errors
    /// When there is no such reader, or the mailbox cannot be written.
    pub fn send(&self, mut mail: Mail) -> Result<()> {
        // Asked before anything is written, and again under the lock, under which a reader leaves.
        self.bell(&mail.to)?;
        if mail.text_of(SESSION).is_none() {
            mail = mail.with(SESSION, self.session.id()?);
        }
        let _lock = FolderLock::wait(&self.folder)?;
        self.deliver(mail)
    }

    /// Adds a message to a mailbox under the lock.
    fn deliver(&self, mut mail: Mail) -> Result<()> {
        let bell = self.bell(&mail.to)?;
        mail.id = format!("msg_{}", fresh_suffix());
        let line = serde_json::to_string(&mail).context("a message is JSON")?;
        append(&self.path(&mail.to), &line)
            .with_context(|| format!("writing to the mailbox of {}", mail.to))?;
        bell.notify_one();
        Ok(())
    }

    /// Takes everything out of a mailbox, in order of arrival.
    ///
    /// # Errors
    /// When it cannot be read or written; nothing is lost then.
    pub fn drain(&self, name: &str) -> Result<Vec<Mail>> {
        // Most of the time the mailbox is empty, and this look needs no lock.
        if self.is_empty(name) {
            return Ok(Vec::new());
        }
        let _lock = FolderLock::wait(&self.folder)?;
        self.take(name)
    }

    /// Empties a mailbox under the lock.
    fn take(&self, name: &str) -> Result<Vec<Mail>> {
        let Split { mine, others, old } = self.read(name)?;
        self.set_aside(name, &old)?;
        if !mine.is_empty() || !old.is_empty() {
            self.write(name, &others)?;
        }
        Ok(mine.into_iter().map(|(_, mail)| mail).collect())
    }

    /// True if the agent of this session has mail. Mail for another session's agent of the name does not count.
    pub fn has_mail(&self, name: &str) -> bool {
        !self.is_empty(name) && self.read(name).is_ok_and(|split| !split.mine.is_empty())
    }

    fn is_empty(&self, name: &str) -> bool {
        fs::metadata(self.path(name)).map_or(true, |found| found.len() == 0)
    }

    /// Waits for mail that arrives after the last wait. Cancel-safe.
    pub async fn wait(&self, name: &str) {
        match self.bell(name) {
            Ok(bell) => bell.notified().await,
            // Nobody can write to it any more.
            Err(_) => std::future::pending().await,
        }
    }

    /// Sets how messages to the lead become text, for a protocol that checks answers.
    pub fn read_by(&self, reader: impl Fn(&Mail) -> String + Send + 'static) {
        *self.reader.lock().unwrap() = Box::new(reader);
    }

    /// The new mail of the lead. It stays in the mailbox; what the conversation has taken before is kept by now, and
    /// removed. The second value counts the lines that were set aside.
    pub(crate) fn give_out(&self) -> Result<(Vec<Mail>, usize)> {
        if self.is_empty(LEAD) {
            return Ok(Default::default());
        }
        let _lock = FolderLock::wait(&self.folder)?;
        let Split { mine, others, old } = self.read(LEAD)?;
        self.set_aside(LEAD, &old)?;
        let (lines, mail): (Vec<String>, Vec<Mail>) = mine.into_iter().unzip();
        if !self.taken().is_empty() || !old.is_empty() {
            self.write(LEAD, &[others, lines].concat())?;
        }
        let mut lead = self.lead.lock().unwrap();
        lead.taken.clear();
        lead.given.extend(mail.iter().map(|mail| mail.id.clone()));
        Ok((mail, old.len()))
    }

    /// A message to the lead as its model reads it.
    pub(crate) fn shown(&self, mail: &Mail) -> String {
        (self.reader.lock().unwrap())(mail)
    }

    /// The lead's conversation holds everything that was given out.
    pub(crate) fn taken_by_lead(&self) {
        let lead = &mut *self.lead.lock().unwrap();
        lead.taken.append(&mut lead.given);
    }

    /// The ids of mail that is in the lead's conversation and still in its mailbox. A saved conversation is saved with them.
    pub fn taken(&self) -> Vec<String> {
        self.lead.lock().unwrap().taken.clone()
    }

    /// The sessions whose mail belongs to the lead's conversation: this one, and those it was resumed from.
    ///
    /// # Errors
    /// When the file of this one cannot be written.
    pub fn sessions(&self) -> Result<Vec<String>> {
        // Created even before the first message, which may arrive after the conversation was saved for the last time.
        let own = self.session.id()?;
        Ok([&self.lead.lock().unwrap().resumed[..], &[own]].concat())
    }

    /// Resumes a conversation that was saved with these [`sessions`](Self::sessions) and this [`taken`](Self::taken) mail:
    /// the rest of their mail is delivered once they have ended.
    pub fn resume(&self, sessions: Vec<String>, taken: Vec<String>) {
        // Asking removes the session file of a killed process.
        sessions.iter().for_each(|session| {
            self.session.is_alive(session);
        });
        let mut lead = self.lead.lock().unwrap();
        lead.resumed.extend(sessions);
        lead.taken.extend(taken);
    }

    /// The agents, sorted by name.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.members.lock().unwrap().keys().cloned().collect();
        names.sort();
        names
    }

    fn bell(&self, name: &str) -> Result<Arc<Notify>> {
        if let Some(bell) = self.members.lock().unwrap().get(name) {
            return Ok(bell.clone());
        }
        bail!("there is no agent {name:?}; there are {}", self.names().join(", "))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.jsonl"))
    }

    fn read(&self, name: &str) -> Result<Split> {
        let bytes = match fs::read(self.path(name)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("reading the mailbox of {name}"));
            }
        };
        let mut split = Split::default();
        let lead = self.lead.lock().unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let line = line.to_owned();
            match serde_json::from_str::<Mail>(&line) {
                Ok(mail) if lead.taken.contains(&mail.id) => {}
                Ok(mail) if lead.given.contains(&mail.id) => split.others.push(line),
                Ok(mail) => match mail.text_of(SESSION) {
                    None => split.mine.push((line, mail)),
                    Some(session) if self.session.is_own(session) => split.mine.push((line, mail)),
                    Some(session) if self.session.is_alive(session) => split.others.push(line),
                    Some(session) if lead.resumed.iter().any(|resumed| resumed == session) => {
                        split.mine.push((line, mail));
                    }
                    Some(_) => split.old.push(line),
                },
                Err(_) => split.old.push(line),
            }
        }
        Ok(split)
    }

    /// Writes what stays in a mailbox.
    fn write(&self, name: &str, lines: &[String]) -> Result<()> {
        let path = self.path(name);
        let written = if lines.is_empty() {
            fs::remove_file(&path).or_else(|error| match error.kind() {
                ErrorKind::NotFound => Ok(()),
                _ => Err(error.into()),
            })
        } else {
            write_whole(&path, (lines.join("\n") + "\n").as_bytes())
        };
        written.with_context(|| format!("emptying the mailbox of {name}"))
    }

    fn set_aside(&self, name: &str, lines: &[String]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let folder = self.folder.join(OLD);
        make_state_folder(&folder)
            .and_then(|()| append(&folder.join(format!("{name}.jsonl")), &lines.join("\n")))
            .with_context(|| format!("setting old mail of {name} aside"))
    }
}

/// Adds lines to a file that only the user reads. They begin with a line break, so that half a line of a killed writer spoils
/// no other; all goes in one write.
fn append(path: &Path, lines: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.create(true).append(true).mode(0o600).open(path)?;
    file.write_all(format!("\n{lines}\n").as_bytes())
}

/// The lines of a mailbox by their reader.
#[derive(Default)]
struct Split {
    /// For this session.
    mine: Vec<(String, Mail)>,
    /// Of another session that still runs in this folder, or given out to this lead already.
    others: Vec<String>,
    /// Of a session that has ended, or no message at all: set aside.
    old: Vec<String>,
}
