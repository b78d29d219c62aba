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
//! Any task may want the next line or ask a question, and may stop wanting it at any moment; one thread reads. Nothing
//! here waits, reads or prints. Invariants: a line goes to exactly one reader and is kept until then; a question gets
//! only what was typed to it; what was typed to a question is never a request.

use std::collections::VecDeque;

use crate::ask::Answer;

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

/// What the thread does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Keep what is typed, wait for Ctrl-C and Esc.
    #[default]
    Turn,
    /// Read a request.
    Prompt,
    /// Read the answer to the question of this number.
    Question(u64),
    /// Leave.
    Quit,
}

/// A key that ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Enter.
    Enter,
    /// Ctrl-C; at a question also Esc.
    Interrupt,
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

/// A line somebody has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Before the cursor.
    pub left: String,
    /// Behind it.
    pub right: String,
}

impl Draft {
    /// The line with its cursor at this byte.
    pub fn new(line: &str, cursor: usize) -> Self {
        let (left, right) = line.split_at(cursor);
        Self {
            left: left.to_owned(),
            right: right.to_owned(),
        }
    }

    /// Takes the whole line out.
    pub fn take(&mut self) -> String {
        let Self { left, right } = std::mem::take(self);
        left + &right
    }
}

/// What is typed and what is wanted.
#[derive(Debug, Default)]
pub struct State {
    pub input: Input,
    pub mode: Mode,
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
    /// Signals are listened to.
    pub listening: bool,
    /// Lines that the history does not have yet.
    pub fresh: Vec<String>,
    /// The key that ended the line in the editor, and the line as the editor shows it.
    pub key: Option<Key>,
    pub shown: String,
    /// The line editor has its signal handler in place, and can be closed.
    pub editing: bool,
    /// The thread is to look again, so the editor must close.
    pub nudged: bool,
    /// The signal that closes it is on its way.
    pub closing: bool,
    /// Counts Ctrl-C: each ends the turn that runs when it comes.
    pub interrupts: u64,
    /// The exit code of a session that was ended from outside.
    pub exit: Option<u8>,
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
    pub fn new(input: Input) -> Self {
        Self {
            input,
            ..Self::default()
        }
    }

    /// What the thread should do.
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
        if self.editing && matches!(self.mode, Mode::Question(_)) {
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
        match self.lines.pop_front() {
            None if !self.ended => None,
            line => Some(line),
        }
    }
}

/// What is typed.
impl State {
    /// The prompt of the question that is asked, and what is typed to it; or the request so far.
    pub fn prompt_and_draft(&mut self) -> (Option<String>, Draft) {
        match self.asked() {
            Some(question) => (Some(question.prompt.clone()), question.draft.clone()),
            None => (None, self.draft.clone()),
        }
    }

    /// The editor shows this line now.
    pub fn edited(&mut self, line: &str, cursor: usize) {
        line.clone_into(&mut self.shown);
        let draft = Draft::new(line, cursor);
        if let Some(question) = self.asked() {
            question.draft = draft;
        } else if !matches!(self.mode, Mode::Question(_)) {
            self.draft = draft;
        }
    }

    /// A key ended the line.
    pub fn pressed(&mut self, key: Key, line: &str) {
        let line = line.to_owned();
        if key == Key::Suspend {
            self.key = Some(key);
        } else if !matches!(self.mode, Mode::Question(_)) {
            match key {
                Key::Enter => self.accept(line),
                Key::End => self.ended = true,
                // Whoever presses it at an empty prompt looks for the way out.
                Key::Interrupt | Key::Suspend => self.key = line.is_empty().then_some(key),
            }
        } else if let Some(question) = self.asked() {
            match (key, &question.said) {
                (Key::Interrupt, _) => {
                    question.said = Some(Said::Interrupted);
                    self.interrupts += 1;
                }
                // Behind the answer, so meant for later.
                (Key::Enter, Some(_)) => self.accept(line),
                (_, Some(_)) => {}
                (_, None) => question.said = Some(Said::Line(line)),
            }
        }
    }

    /// A line is complete.
    pub fn accept(&mut self, line: String) {
        self.fresh.push(line.clone());
        self.lines.push_back(line);
    }

    /// The editor has closed: what was begun behind an answer is the beginning of a request.
    pub fn closed(&mut self) {
        self.editing = false;
        if let Some(question) = &mut self.question
            && question.said.is_some()
        {
            let rest = question.draft.take();
            self.draft.left.push_str(&rest);
        }
    }

    /// Standard input has ended.
    pub fn gone(&mut self) {
        self.gone = true;
        self.ended = true;
    }

    /// The question that the thread asks, unless it was withdrawn.
    fn asked(&mut self) -> Option<&mut Question> {
        let asked = |question: &&mut Question| self.mode == Mode::Question(question.number);
        self.question.as_mut().filter(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(input: Input) -> State {
        let mut state = State::new(input);
        state.readers = 1;
        state.put("May I?".into());
        state.mode = state.wanted();
        assert_eq!(state.mode, Mode::Question(1), "it comes before a line");
        state
    }

    #[test]
    fn what_is_typed_behind_an_answer_is_for_later() {
        let mut state = asking(Input::Editor);
        state.draft = Draft::new("and ", 4);
        state.pressed(Key::Enter, "y");
        state.pressed(Key::Enter, "list files");
        state.edited("then", 4);
        state.closed();
        assert_eq!(state.said(), Some(Said::Line("y".into())));
        assert_eq!(state.lines, ["list files"]);
        assert_eq!(state.draft.take(), "and then");
    }

    #[test]
    fn what_is_typed_to_a_withdrawn_question_is_nothing() {
        let mut state = asking(Input::Editor);
        state.withdraw();
        state.edited("yes", 3);
        state.pressed(Key::Enter, "yes");
        assert!(state.lines.is_empty());
        assert_eq!(state.draft, Draft::default());
        state.put("And now?".into());
        assert_eq!(state.said(), None);
    }
}
