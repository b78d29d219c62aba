//! The desk between those who want something typed and the thread that reads.
//!
//! Any task may want the next line or ask a question, and may stop wanting it at any moment. Here it is decided who gets
//! what; nothing here waits, reads or prints. Invariants: a line goes to exactly one asker and is kept until then; a
//! question gets only what was typed to it; what was typed to a question is never a request.

use crate::answer::Answer;
use crate::typeahead::{Draft, Typeahead};

/// Where requests come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A terminal with a line editor. `watched` during turns too: not for a single turn, whose caller owns what is
    /// typed meanwhile.
    Terminal { watched: bool },
    /// A terminal that can do nothing but print: lines are read as the system gives them.
    Dumb,
    /// A pipe or a file.
    Pipe,
}

/// What the thread shall do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Read the answer to the question of this number.
    Answer(u64),
    /// Read a request.
    Line,
    /// Keep what is typed and wait for Ctrl-C.
    Nothing,
    /// Leave.
    Quit,
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

/// A key that ends what the editor shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Enter.
    Enter,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D on an empty line.
    End,
    /// Ctrl-Z.
    Suspend,
}

/// What is typed and what is wanted.
#[derive(Debug)]
pub struct Desk {
    pub input: Input,
    pub typed: Typeahead,
    /// How many wait for a line.
    pub lines_wanted: usize,
    pub quitting: bool,
    /// What the thread does at the moment.
    pub doing: Wanted,
    /// The line as the editor shows it.
    pub shown: String,
    /// The user pressed Ctrl-C at an empty prompt.
    pub looks_for_exit: bool,
    /// The user pressed Ctrl-Z.
    pub suspends: bool,
    question: Option<Question>,
    questions: u64,
    /// Standard input is closed.
    gone: bool,
}

#[derive(Debug)]
struct Question {
    number: u64,
    prompt: String,
    draft: Draft,
    said: Option<Said>,
}

/// What the open editor asks for.
enum Asked<'a> {
    Line(&'a mut Typeahead),
    Question(&'a mut Question),
    /// A question that nobody waits for any more.
    Withdrawn,
}

/// What is wanted of the desk.
impl Desk {
    pub fn new(input: Input) -> Self {
        Self {
            input,
            typed: Typeahead::default(),
            lines_wanted: 0,
            quitting: false,
            doing: Wanted::Nothing,
            shown: String::new(),
            looks_for_exit: false,
            suspends: false,
            question: None,
            questions: 0,
            gone: false,
        }
    }

    /// What the thread should do.
    pub fn wanted(&self) -> Wanted {
        // A line that a pipe has given already is the next one, whoever asks.
        let has_next = self.input == Input::Pipe && !self.typed.lines.is_empty();
        let needs_line = self.typed.lines.is_empty() && !self.typed.ended;
        match &self.question {
            _ if self.quitting => Wanted::Quit,
            Some(question) if question.said.is_none() && !self.gone && !has_next => {
                Wanted::Answer(question.number)
            }
            Some(_) | None if self.lines_wanted > 0 && needs_line => Wanted::Line,
            Some(_) | None => Wanted::Nothing,
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

    /// What the question is answered with, if anything. On a pipe that is the next line, if it is an answer.
    pub fn said(&mut self) -> Option<Said> {
        if let Some(said) = self.question.as_mut()?.said.take() {
            return Some(said);
        }
        if self.input == Input::Pipe
            && let Some(next) = self.typed.lines.front()
        {
            return Some(match Answer::parse(next) {
                Some(_) => Said::Line(self.typed.lines.pop_front()?),
                None => Said::NotAnAnswer,
            });
        }
        self.gone.then_some(Said::Nobody)
    }
}

/// What is typed.
impl Desk {
    /// The prompt of the question the editor asks, if it asks one, and what is typed to it so far.
    pub fn prompt_and_draft(&mut self) -> (Option<String>, Draft) {
        match self.asked() {
            Asked::Line(typed) => (None, typed.draft.clone()),
            Asked::Question(question) => (Some(question.prompt.clone()), question.draft.clone()),
            Asked::Withdrawn => (None, Draft::default()),
        }
    }

    /// The editor shows this line now.
    pub fn edited(&mut self, line: &str, cursor: usize) {
        line.clone_into(&mut self.shown);
        match self.asked() {
            Asked::Line(typed) => typed.draft = Draft::new(line, cursor),
            Asked::Question(question) => question.draft = Draft::new(line, cursor),
            Asked::Withdrawn => {}
        }
    }

    /// A key ended the line. Says whether it interrupts what runs.
    pub fn ended(&mut self, key: Key, line: &str) -> bool {
        let line = line.to_owned();
        let accepted = match (self.asked(), key) {
            (_, Key::Suspend) => {
                self.suspends = true;
                return false;
            }
            (Asked::Withdrawn, _) => return false,
            (Asked::Line(_), Key::Enter) => line,
            // Behind the answer, so meant for later.
            (Asked::Question(Question { said: Some(_), .. }), Key::Enter) => line,
            (Asked::Question(question), Key::Enter | Key::End) => {
                question.said.get_or_insert(Said::Line(line));
                return false;
            }
            (Asked::Question(question), Key::Interrupt) => {
                question.said = Some(Said::Interrupted);
                return true;
            }
            (Asked::Line(typed), Key::End) => {
                typed.ended = true;
                return false;
            }
            (Asked::Line(_), Key::Interrupt) => {
                // Who presses it at an empty prompt looks for the way out.
                self.looks_for_exit = line.is_empty();
                return false;
            }
        };
        self.typed.accept(accepted);
        false
    }

    /// The editor has closed: what was begun behind an answer is the beginning of a request.
    pub fn editor_closed(&mut self) {
        if let Some(question) = &mut self.question
            && question.said.is_some()
        {
            let rest = question.draft.take();
            self.typed.draft.left.push_str(&rest);
        }
    }

    /// Standard input has ended.
    pub fn gone(&mut self) {
        self.gone = true;
        self.typed.ended = true;
    }

    /// Whether standard input has ended.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    fn asked(&mut self) -> Asked<'_> {
        match (self.doing, &mut self.question) {
            (Wanted::Answer(number), Some(question)) if question.number == number => {
                Asked::Question(question)
            }
            (Wanted::Answer(_), _) => Asked::Withdrawn,
            (Wanted::Line | Wanted::Nothing | Wanted::Quit, _) => Asked::Line(&mut self.typed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answering(input: Input) -> Desk {
        let mut desk = Desk::new(input);
        desk.lines_wanted = 1;
        desk.put("May I?".into());
        desk.doing = desk.wanted();
        desk
    }

    const TERMINAL: Input = Input::Terminal { watched: true };

    #[test]
    fn a_question_comes_before_a_line_and_a_line_before_nothing() {
        let mut desk = answering(TERMINAL);
        assert_eq!(desk.doing, Wanted::Answer(1));
        desk.withdraw();
        assert_eq!(desk.wanted(), Wanted::Line);
        desk.typed.accept("list files".into());
        assert_eq!(desk.wanted(), Wanted::Nothing);
    }

    #[test]
    fn what_is_typed_behind_an_answer_is_for_later() {
        let mut desk = answering(TERMINAL);
        desk.typed.draft = Draft::new("and ", 4);
        desk.ended(Key::Enter, "y");
        desk.ended(Key::Enter, "list files");
        desk.edited("then", 4);
        desk.editor_closed();
        assert_eq!(desk.said(), Some(Said::Line("y".into())));
        assert_eq!(desk.typed.lines, ["list files"]);
        assert_eq!(desk.typed.draft.text(), "and then");
    }

    #[test]
    fn what_is_typed_to_a_withdrawn_question_is_nothing() {
        let mut desk = answering(TERMINAL);
        desk.withdraw();
        desk.edited("yes", 3);
        desk.ended(Key::Enter, "yes");
        assert!(desk.typed.lines.is_empty());
        assert_eq!(desk.typed.draft, Draft::default());
        desk.put("And now?".into());
        assert_eq!(desk.said(), None);
    }

    #[test]
    fn on_a_pipe_a_line_that_is_no_answer_stays_the_next_request() {
        let mut desk = answering(Input::Pipe);
        desk.typed.accept("list files".into());
        assert_eq!(desk.wanted(), Wanted::Nothing);
        assert_eq!(desk.said(), Some(Said::NotAnAnswer));
        assert_eq!(desk.typed.lines, ["list files"]);
    }

    #[test]
    fn at_the_end_of_the_input_nobody_answers() {
        let mut desk = answering(Input::Pipe);
        assert_eq!(desk.said(), None);
        desk.gone();
        assert_eq!(desk.said(), Some(Said::Nobody));
    }

    #[test]
    fn ctrl_c_interrupts_at_a_question_and_not_at_a_prompt() {
        let mut desk = answering(TERMINAL);
        assert!(desk.ended(Key::Interrupt, ""));
        assert_eq!(desk.said(), Some(Said::Interrupted));
        desk.withdraw();
        desk.doing = desk.wanted();
        assert!(!desk.ended(Key::Interrupt, "half"));
        assert!(!desk.looks_for_exit);
        assert!(!desk.ended(Key::Interrupt, ""));
        assert!(desk.looks_for_exit);
    }
}
