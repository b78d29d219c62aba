//! Who gets what is typed: the one state machine of the terminal.
//!
//! ```text
//!           line() awaited               confirm() awaited
//!   ┌──────┐ ───────────▶ ┌────────┐ ──────────────────▶ ┌──────────┐
//!   │ Turn │              │ Prompt │                     │ Question │
//!   └──────┘ ◀─────────── └────────┘ ◀────────────────── └──────────┘
//!    a line was entered, or its reader dropped    answered, or withdrawn
//! ```
//!
//! Any task may want the next line or ask a question, and may stop wanting it at any moment; one thread reads. The prompt
//! follows from the state, and whoever shows it shows it again when it changes. Nothing here waits, reads or prints.
//! Invariants: a line goes to exactly one reader and is kept until then; a question gets only what was typed to it; what
//! was typed to a question is never a request.

use std::collections::VecDeque;

use nix::sys::pthread::Pthread;

use crate::ask::Answer;
use crate::text;

/// How many columns the requests that wait for the end of a turn may take.
const AHEAD_COLUMNS: usize = 40;

/// Where requests come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// A terminal with a line editor.
    Editor,
    /// A terminal whose lines are read as the system gives them: it can only print, or runs a single turn.
    Plain,
    /// A pipe or a file.
    #[default]
    Pipe,
}

/// What is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// What is typed ahead; Ctrl-C and Esc end the turn.
    #[default]
    Turn,
    /// A request.
    Prompt,
    /// The answer to the question of this number.
    Question(u64),
    /// Nothing more.
    Quit,
}

/// A key that does more than edit the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Enter.
    Enter,
    /// Ctrl-C.
    Interrupt,
    /// Esc.
    Escape,
    /// Ctrl-D on an empty line.
    End,
    /// Ctrl-Z.
    Suspend,
}

/// What the user said to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// This, which may or may not be an answer.
    Line(String),
    /// Nothing, on a pipe: its next line is no answer and stays the next request.
    NotAnAnswer,
    /// Ctrl-C.
    Interrupted,
    /// Nobody is there.
    Nobody,
}

/// A line somebody has begun: what is before the cursor, and what behind it.
pub type Draft = (String, String);

/// What is typed and what is wanted.
#[derive(Debug, Default)]
pub struct State {
    pub input: Input,
    /// Otherwise what is typed during a turn belongs to whoever runs this program.
    pub is_watched: bool,
    /// What stands in front of a request.
    prompt: String,
    /// Complete lines, oldest first.
    pub lines: VecDeque<String>,
    /// The line that is not complete.
    pub draft: Draft,
    /// No more lines will come: Ctrl-D, or the end of the input.
    pub ended: bool,
    /// Standard input is closed.
    pub gone: bool,
    /// How many wait for a line.
    pub readers: usize,
    pub quitting: bool,
    /// Lines that the history does not have yet. Nobody gets a line before it does.
    pub fresh: Vec<String>,
    /// What is on the screen: what for, the prompt, and the line behind it.
    pub shown: (Mode, String, String),
    /// The thread whose line editor has its signal handler in place, and can be closed.
    pub editing: Option<Pthread>,
    /// The signals that close it are on their way.
    pub closing: bool,
    /// The user wants the shell.
    pub suspended: bool,
    /// Counts Ctrl-C: each ends the turn that runs when it comes.
    pub interrupts: u64,
    question: Option<Question>,
    questions: u64,
}

#[derive(Debug)]
struct Question {
    number: u64,
    prompt: String,
    draft: Draft,
    said: Option<Said>,
}

/// What is wanted.
impl State {
    pub fn new(input: Input, prompt: &str, is_watched: bool) -> Self {
        Self {
            input,
            prompt: prompt.to_owned(),
            is_watched,
            ..Self::default()
        }
    }

    /// What should be read.
    pub fn wanted(&self) -> Mode {
        // A line that a pipe has given already is the next one, whoever asks.
        let has_next = self.input == Input::Pipe && !self.lines.is_empty();
        let needs_line = self.lines.is_empty() && !self.ended;
        match &self.question {
            _ if self.quitting => Mode::Quit,
            Some(question) if question.said.is_none() && !self.gone && !has_next => {
                Mode::Question(question.number)
            }
            Some(_) | None if self.readers > 0 && needs_line => Mode::Prompt,
            Some(_) | None => Mode::Turn,
        }
    }

    /// What should stand in front of the line: during a turn what was typed ahead, if anything was.
    pub fn prompt(&self) -> String {
        match (self.wanted(), &self.question) {
            (Mode::Question(_), Some(question)) => question.prompt.clone(),
            (Mode::Prompt, _) => self.prompt.clone(),
            (Mode::Turn, _) if self.input == Input::Editor => {
                // Who waits for a line has it in a moment.
                let ahead = self.lines.iter().skip(self.readers);
                let ahead: String = ahead.map(|line| format!("{line} ⏎ ")).collect();
                let is_empty = ahead.is_empty() && self.draft == Draft::default();
                let prompt = if is_empty { "" } else { self.prompt.as_str() };
                format!("{prompt}{}", text::cut(&ahead, AHEAD_COLUMNS))
            }
            (Mode::Turn | Mode::Question(_) | Mode::Quit, _) => String::new(),
        }
    }

    /// Whether something else should be on the screen.
    pub fn is_stale(&self) -> bool {
        let (mode, prompt, _) = &self.shown;
        let is_noted = self.suspended || !self.fresh.is_empty();
        is_noted || self.wanted() != *mode || self.prompt() != *prompt
    }

    /// Puts a question. There is one at a time.
    pub fn put(&mut self, prompt: String) {
        self.questions += 1;
        self.question = Some(Question {
            number: self.questions,
            prompt,
            draft: Draft::default(),
            said: None,
        });
    }

    /// Nobody waits for the answer any more.
    pub fn withdraw(&mut self) {
        self.question = None;
    }

    /// What the question is answered with. On a pipe that is the next line, if it is an answer. While the editor still
    /// shows the question, more may be typed behind the answer.
    pub fn said(&mut self) -> Option<Said> {
        if self.editing.is_some() && matches!(self.shown.0, Mode::Question(_)) {
            return None;
        }
        if let Some(said) = self.question.as_mut()?.said.take() {
            return Some(said);
        }
        if self.input == Input::Pipe
            && let Some(next) = self.lines.front()
        {
            return Some(match Answer::parse(next) {
                Some(_) => Said::Line(self.lines.pop_front()?),
                None => Said::NotAnAnswer,
            });
        }
        self.gone.then_some(Said::Nobody)
    }

    /// The next line; `None` within when there will be none.
    pub fn next_line(&mut self) -> Option<Option<String>> {
        if !self.fresh.is_empty() {
            return None;
        }
        match self.lines.pop_front() {
            None if !self.ended => None,
            line => Some(line),
        }
    }
}

/// What is typed.
impl State {
    /// The editor opens: its prompt, and what is typed behind it so far.
    pub fn opened(&mut self) -> (String, Draft) {
        self.shown = (self.wanted(), self.prompt(), String::new());
        self.closing = false;
        let draft = self.asked().map(|question| question.draft.clone());
        (self.shown.1.clone(), draft.unwrap_or_else(|| self.draft.clone()))
    }

    /// The editor shows this line now.
    pub fn edited(&mut self, line: &str, cursor: usize) {
        line.clone_into(&mut self.shown.2);
        let (left, right) = line.split_at(cursor);
        let draft = (left.to_owned(), right.to_owned());
        if let Some(question) = self.asked() {
            question.draft = draft;
        } else if !matches!(self.shown.0, Mode::Question(_)) {
            self.draft = draft;
        }
    }

    /// A key was pressed behind this line.
    pub fn pressed(&mut self, key: Key, line: &str) {
        let line = line.to_owned();
        match (key, self.shown.0) {
            (Key::Suspend, _) => self.suspended = true,
            (_, Mode::Question(_)) => self.answered(key, line),
            (Key::Enter, _) => self.accept(line),
            (Key::End, _) => self.ended = true,
            (Key::Interrupt | Key::Escape, Mode::Turn) => self.interrupts += 1,
            (Key::Interrupt | Key::Escape, Mode::Prompt | Mode::Quit) => {}
        }
    }

    fn answered(&mut self, key: Key, line: String) {
        let Some(question) = self.asked() else {
            return;
        };
        match (key, &question.said) {
            (Key::Interrupt | Key::Escape, _) => {
                question.said = Some(Said::Interrupted);
                self.interrupts += 1;
            }
            // Behind the answer, so meant for later.
            (Key::Enter, Some(_)) => self.accept(line),
            (Key::End | Key::Suspend, Some(_)) => {}
            (_, None) => question.said = Some(Said::Line(line)),
        }
    }

    /// A line is complete.
    pub fn accept(&mut self, line: String) {
        if self.input == Input::Editor {
            self.fresh.push(line.clone());
        }
        self.lines.push_back(line);
    }

    /// Keys that came while no editor was open: as much editing as the terminal itself would do.
    pub fn typed_ahead(&mut self, keys: &str) {
        let mut keys = keys.chars();
        let mut pasting = false;
        while let Some(key) = keys.next() {
            match key {
                '\u{1b}' if keys.as_str().starts_with('[') => {
                    pasting = keys.as_str().starts_with("[200~");
                    keys.by_ref().skip(1).find(|c| matches!(c, '@'..='~'));
                }
                '\r' | '\n' if pasting => self.draft.0.push('\n'),
                '\r' | '\n' => {
                    let (left, right) = std::mem::take(&mut self.draft);
                    self.accept(left + &right);
                }
                '\u{3}' => self.interrupts += 1,
                '\u{8}' | '\u{7f}' => _ = self.draft.0.pop(),
                key if key.is_control() => {}
                key => self.draft.0.push(key),
            }
        }
    }

    /// The editor has closed: what was begun behind an answer is the beginning of a request.
    pub fn closed(&mut self) {
        self.editing = None;
        if let Some(question) = &mut self.question
            && question.said.is_some()
        {
            let (left, right) = std::mem::take(&mut question.draft);
            self.draft.0 += &(left + &right);
        }
    }

    /// Standard input has ended.
    pub fn gone(&mut self) {
        self.gone = true;
        self.ended = true;
    }

    /// The question on the screen, unless it was withdrawn.
    fn asked(&mut self) -> Option<&mut Question> {
        let mode = self.shown.0;
        let asked = |question: &&mut Question| mode == Mode::Question(question.number);
        self.question.as_mut().filter(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking() -> State {
        let mut state = State::new(Input::Editor, "> ", true);
        state.readers = 1;
        state.put("May I?".into());
        assert_eq!(state.opened().0, "May I?", "it comes before a line");
        state
    }

    #[test]
    fn what_is_typed_behind_an_answer_is_for_later() {
        let mut state = asking();
        state.draft.0 = "and ".into();
        state.pressed(Key::Enter, "y");
        state.pressed(Key::Enter, "list files");
        state.edited("then", 4);
        state.closed();
        assert_eq!(state.said(), Some(Said::Line("y".into())));
        assert_eq!(state.lines, ["list files"]);
        assert_eq!(state.draft.0, "and then");
    }

    #[test]
    fn what_is_typed_to_a_withdrawn_question_is_nothing() {
        let mut state = asking();
        state.withdraw();
        state.edited("yes", 3);
        state.pressed(Key::Enter, "yes");
        assert!(state.lines.is_empty());
        assert_eq!(state.draft, Draft::default());
        state.put("And now?".into());
        assert_eq!(state.said(), None);
    }

    #[test]
    fn keys_typed_while_no_editor_was_open_are_requests_and_a_draft() {
        let mut state = State::default();
        state.typed_ahead("Grüße 世界\x1b[A\rx\x7f\x1b[200~ls\rpwd\x1b[201~ -P");
        assert_eq!(state.lines, ["Grüße 世界"]);
        assert_eq!(state.draft.0, "ls\npwd -P");
    }
}
