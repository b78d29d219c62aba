//! Slash commands: what the user tells the harness and not the model.
//!
//! They cost no request, and they work when no model answers. Invariants: a command is never sent to a model, and a request
//! that begins with a slash, such as a question about `/etc/hosts`, is never taken for a command; no command loses a
//! conversation: it is saved, or the user is told that it could not be.

use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail, ensure};
use kit::grouped;
use s01_loop::{History, Repl, Usage};
use s05_todo::Todo;
use s06_subagent::Model;
use s08_compact::Compactor;
use s11_recovery::Recovery;
use s12_tasks::Board;

use crate::sessions::Sessions;

/// A command: how it is typed, and what it does.
struct Command {
    name: &'static str,
    /// What may stand behind it.
    words: &'static str,
    does: &'static str,
}

const fn command(name: &'static str, words: &'static str, does: &'static str) -> Command {
    Command { name, words, does }
}

/// All commands, in the order of `/help`.
const ALL: &[Command] = &[
    command("/help", "", "this list"),
    command("/tools", "", "the tools of the next request, and what it costs to collect them"),
    command("/mcp", "[login NAME]", "the MCP servers, connected and available; log in to one"),
    command("/tasks", "", "the task board"),
    command("/team", "", "the teammates, and what each does"),
    command("/cost", "", "the tokens that this session has cost, and how full the window is"),
    command("/compact", "[FOCUS]", "replace the conversation so far by a summary"),
    command("/clear", "", "begin a new session; the old one is kept"),
    command("/resume", "[ID]", "the saved sessions, or go on with one of them"),
    command("/fault", "[NAME N]", "make the mock model fail, to watch the recovery"),
    command("/exit", "", "the same as /quit"),
    command("/quit", "", "leave, as q and Ctrl-D do"),
];

/// The commands a user types with a slash, and what they act on. Clones share what was told last.
#[derive(Clone)]
pub struct Commands {
    repl: Repl,
    client: Recovery,
    todo: Todo,
    board: Board,
    compactor: Compactor,
    sessions: Sessions,
    /// What the user was told last. A std lock: nothing is awaited while it is held.
    told: Arc<Mutex<Option<String>>>,
}

impl Commands {
    /// The commands of this terminal, which act on these.
    pub fn new(
        repl: &Repl,
        client: &Recovery,
        todo: &Todo,
        board: &Board,
        compactor: &Compactor,
        sessions: &Sessions,
    ) -> Self {
        Self {
            repl: repl.clone(),
            client: client.clone(),
            todo: todo.clone(),
            board: board.clone(),
            compactor: compactor.clone(),
            sessions: sessions.clone(),
            told: Arc::default(),
        }
    }

    /// How the commands are typed.
    pub(crate) fn names() -> Vec<&'static str> {
        ALL.iter().map(|command| command.name).collect()
    }

    /// Runs a line that is a command, and returns its answer; `None` for any other line, and for the commands that hooks
    /// answer.
    ///
    /// # Errors
    /// When there is no such command, or it fails.
    pub async fn run(&self, line: &str, history: &mut History) -> Result<Option<String>> {
        let Some((name, words)) = parse(line) else {
            return Ok(None);
        };
        let Some(known) = ALL.iter().find(|command| command.name == name) else {
            bail!(unknown(name));
        };
        ensure!(
            words.is_empty() || !known.words.is_empty(),
            "{name} takes nothing behind it; nothing was done"
        );
        Ok(Some(match name {
            "/help" => help(),
            "/tasks" => self.board.shown()?,
            "/cost" => self.cost(history),
            "/compact" => {
                self.compactor.compact(words, history).await;
                format!("the conversation has {} tokens", grouped(history.tokens()))
            }
            "/clear" => {
                self.forget();
                self.sessions.begin(history)
            }
            "/resume" if words.is_empty() => self.sessions.shown()?,
            "/resume" => self.resume(words, history)?,
            // The hooks of their chapters answer them, and the terminal takes /quit.
            _ => return Ok(None),
        }))
    }

    /// Shows the user an answer of the harness, and keeps it: with `-p` it may be the only answer.
    pub fn tell(&self, text: &str) {
        self.repl.say(text);
        *self.told.lock().unwrap() = Some(text.to_owned());
    }

    pub(crate) fn repl(&self) -> &Repl {
        &self.repl
    }

    pub(crate) fn client(&self) -> &Recovery {
        &self.client
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// What the user was told last, if it was not taken yet.
    pub(crate) fn take_told(&self) -> Option<String> {
        self.told.lock().unwrap().take()
    }

    fn resume(&self, id: &str, history: &mut History) -> Result<String> {
        let told = self.sessions.switch_to(id, history)?;
        self.forget();
        Ok(told)
    }

    /// What mechanisms keep of a conversation ends with it.
    fn forget(&self) {
        self.todo.clear();
        self.compactor.clear();
    }

    fn cost(&self, history: &History) -> String {
        let (session, program) = (self.sessions.spent(), self.client.spent());
        let mut lines = vec![format!("this session   {}", tokens(&session))];
        if session != program {
            lines.push(format!("this program   {}", tokens(&program)));
        }
        let (now, window) = (history.tokens(), self.client.context_tokens());
        lines.push(format!("conversation   {} of {} tokens", grouped(now), grouped(window)));
        lines.join("\n")
    }
}

/// The command and the words behind it, if the line is meant as one: a slash and a word, and no path of this machine.
fn parse(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (name, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = name.strip_prefix('/')?;
    let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let is_known = ALL.iter().any(|command| command.name == name);
    let is_path = !is_known && Path::new(name).exists();
    (is_word && !is_path).then(|| (name, words.trim()))
}

fn help() -> String {
    let typed = |command: &Command| format!("{} {}", command.name, command.words);
    let width = ALL.iter().map(|command| typed(command).len()).max().unwrap_or(0);
    let lines = ALL.iter().map(|command| format!("{:width$}  {}", typed(command), command.does));
    let rest = "Everything else is a request to the model. Ctrl-C stops a turn.".to_owned();
    lines.chain([rest]).collect::<Vec<_>>().join("\n")
}

/// The error for a command that does not exist.
fn unknown(name: &str) -> String {
    // The beginning of a name means that name.
    let changes = |near: &str| {
        if near.starts_with(name) { 0 } else { distance(name, near) }
    };
    let nearest = ALL.iter().map(|command| (changes(command.name), command.name));
    match nearest.min() {
        Some((0..=2, near)) => {
            format!("there is no command {name}; did you mean {near}? Nothing was sent.")
        }
        _ => format!("there is no command {name}; /help lists them. Nothing was sent."),
    }
}

/// The Levenshtein distance: how many letters are inserted, deleted or changed between two words.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

fn tokens(spent: &Usage) -> String {
    format!(
        "fresh {} · read {} · written {} · out {} tokens",
        grouped(spent.input_tokens),
        grouped(spent.cache_read_input_tokens),
        grouped(spent.cache_creation_input_tokens),
        grouped(spent.output_tokens)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_slash_and_a_word_and_no_path() {
        assert_eq!(parse("/help"), Some(("/help", "")));
        assert_eq!(parse("  /compact  the schema "), Some(("/compact", "the schema")));
        assert_eq!(parse("/halp me"), Some(("/halp", "me")));
        for request in [
            "/etc/hosts is what?",
            "/etc is what?",
            "/tmp",
            "/ is full",
            "//",
            "/* a comment */",
            "/2 of 3",
            "what does /help do?",
            "/usr/bin",
        ] {
            assert_eq!(parse(request), None, "{request}");
        }
    }

    #[test]
    fn an_unknown_command_is_told_what_is_near() {
        assert!(unknown("/halp").contains("did you mean /help?"));
        assert!(unknown("/task").contains("did you mean /tasks?"));
        assert!(unknown("/res").contains("/resume"), "{}", unknown("/res"));
        assert!(unknown("/deploy").contains("/help lists them"));
        assert!(unknown("/hélp").contains("/help"));
    }
}
