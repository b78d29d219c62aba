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

use crate::ask::{Answer, Refusal};
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

/// A key that ends the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// Enter.
    #[default]
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

/// What the user said to a question, which may or may not be an answer; or why nothing.
pub type Said = Result<String, Refusal>;

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
    /// What is on the screen: what for, the prompt, and the line behind it.
    pub shown: (Mode, String, Draft),
    /// What ended that line.
    pub key: Key,
    /// The thread whose line editor has its signal handler in place, and can be closed.
    pub editing: Option<Pthread>,
    /// The signals that close it are on their way.
    pub closing: bool,
    /// Counts Ctrl-C: each ends the turn that runs when it comes.
    pub interrupts: u64,
    question: Option<Question>,
    questions: u64,
}

#[derive(Debug)]
struct Question {
    number: u64,
    prompt: String,
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

    /// What stands in front of the line: during a turn what was typed ahead, if anything was.
    fn prompt(&self, mode: Mode) -> String {
        match (mode, &self.question) {
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
        let wanted = self.wanted();
        wanted != *mode || self.prompt(wanted) != *prompt
    }

    /// Whether a question is due that is not on the screen.
    pub fn asks_anew(&self) -> bool {
        matches!(self.wanted(), Mode::Question(_)) && self.wanted() != self.shown.0
    }

    /// Puts a question. There is one at a time.
    pub fn put(&mut self, prompt: String) {
        self.questions += 1;
        self.question = Some(Question {
            number: self.questions,
            prompt,
            said: None,
        });
    }

    /// Nobody waits for the answer any more.
    pub fn withdraw(&mut self) {
        self.question = None;
    }

    /// What the question is answered with. On a pipe that is the next line, if it is an answer.
    pub fn said(&mut self) -> Option<Said> {
        if let Some(said) = self.question.as_mut()?.said.take() {
            return Some(said);
        }
        if self.input == Input::Pipe
            && let Some(next) = self.lines.front()
        {
            return Some(match Answer::parse(next) {
                Some(_) => Ok(self.lines.pop_front()?),
                None => Err(Refusal::NotAnAnswer),
            });
        }
        self.gone.then_some(Err(Refusal::Nobody))
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
    /// What is shown now: what for, the prompt, and the line behind it. While there may be more typed behind another line a
    /// question waits, because that is no answer to it.
    pub fn opened(&mut self, is_ahead: bool) -> (Mode, String, Draft) {
        let mode = match self.wanted() {
            Mode::Question(_) if is_ahead => Mode::Turn,
            wanted => wanted,
        };
        let draft = match mode {
            Mode::Question(_) if mode == self.shown.0 => std::mem::take(&mut self.shown.2),
            Mode::Question(_) => Draft::default(),
            Mode::Turn | Mode::Prompt | Mode::Quit => self.draft.clone(),
        };
        self.shown = (mode, self.prompt(mode), draft);
        self.closing = false;
        self.shown.clone()
    }

    /// The editor shows this line now.
    pub fn edited(&mut self, line: &str, cursor: usize) {
        let (left, right) = line.split_at(cursor);
        self.shown.2 = (left.to_owned(), right.to_owned());
        if !matches!(self.shown.0, Mode::Question(_)) {
            self.draft = self.shown.2.clone();
        }
    }

    /// The editor has closed behind this line, by this key if not by a signal.
    pub fn closed(&mut self) -> (String, Key) {
        self.editing = None;
        let (left, right) = &self.shown.2;
        (format!("{left}{right}"), std::mem::take(&mut self.key))
    }

    /// A key was pressed behind this line.
    pub fn pressed(&mut self, key: Key, line: String) {
        match (key, self.shown.0) {
            (_, Mode::Question(number)) => {
                let question = self.question.as_mut().filter(|question| question.number == number);
                let ends = matches!(key, Key::Interrupt | Key::Escape);
                let said = if ends { Err(Refusal::Interrupted) } else { Ok(line) };
                if let Some(question) = question {
                    question.said = Some(said);
                    self.interrupts += u64::from(ends);
                }
            }
            (Key::Enter, _) => {
                self.draft = Draft::default();
                self.lines.push_back(line);
            }
            (Key::End, _) => self.ended = true,
            (Key::Interrupt | Key::Escape, Mode::Turn) => self.interrupts += 1,
            (Key::Interrupt, Mode::Prompt) => self.draft = Draft::default(),
            (Key::Interrupt | Key::Escape | Key::Suspend, _) => {}
        }
    }

    /// Keys that came while no editor was open, with as much editing as the terminal itself would do. Returns the lines that
    /// are complete.
    pub fn typed_ahead(&mut self, keys: &str) -> Vec<String> {
        let mut lines = Vec::new();
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
                    lines.push(left + &right);
                }
                '\u{3}' => self.interrupts += 1,
                '\u{8}' | '\u{7f}' => _ = self.draft.0.pop(),
                key if key.is_control() => {}
                key => self.draft.0.push(key),
            }
        }
        lines
    }

    /// Standard input has ended.
    pub fn gone(&mut self) {
        self.gone = true;
        self.ended = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking() -> State {
        let mut state = State::new(Input::Editor, "> ", true);
        state.readers = 1;
        state.put("May I?".into());
        assert_eq!(state.opened(false).1, "May I?", "it comes before a line");
        state
    }

    #[test]
    fn what_is_typed_behind_an_answer_is_for_later() {
        let mut state = asking();
        state.edited("y", 1);
        state.pressed(Key::Enter, "y".into());
        assert_eq!(state.said(), Some(Ok("y".into())));
        state.put("And now?".into());
        assert_eq!(state.opened(true).0, Mode::Turn, "the next question waits");
        state.pressed(Key::Enter, "list files".into());
        state.edited("then", 4);
        assert_eq!(state.lines, ["list files"]);
        assert_eq!(state.opened(false).1, "And now?");
        assert_eq!((state.said(), state.draft.0.as_str()), (None, "then"));
    }

    #[test]
    fn a_half_typed_answer_is_given_back_after_a_visit_to_the_shell() {
        let mut state = asking();
        state.edited("ye", 1);
        assert_eq!(state.opened(false).2, ("y".into(), "e".into()));
    }

    #[test]
    fn what_is_typed_to_a_withdrawn_question_is_nothing() {
        let mut state = asking();
        state.withdraw();
        state.edited("yes", 3);
        state.pressed(Key::Enter, "yes".into());
        assert!(state.lines.is_empty());
        assert_eq!(state.draft, Draft::default());
        state.put("And now?".into());
        assert_eq!(state.said(), None);
    }

    #[test]
    fn keys_typed_while_no_editor_was_open_are_requests_and_a_draft() {
        let mut state = State::default();
        let lines = state.typed_ahead("Grüße 世界\x1b[A\rx\x7f\x1b[200~ls\rpwd\x1b[201~ -P");
        assert_eq!(lines, ["Grüße 世界"]);
        assert_eq!(state.draft.0, "ls\npwd -P");
    }
}
