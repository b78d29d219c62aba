//! The keyboard's desk: what was typed, who waits for it, and what the thread that owns standard input shall do.
//!
//! Any task may want the next line or ask a question, and may stop wanting it at any moment; one thread reads. They meet
//! here. Invariants: a line goes to exactly one asker, and is kept until then; a question gets only what was typed to
//! it; whoever drops the future closes the prompt and loses no text.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::unix::thread::JoinHandleExt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use nix::sys::pthread::pthread_kill;
use nix::sys::signal::{Signal, raise};
use tokio::sync::watch;

use super::answer::Answer;
use super::typeahead::{Draft, Typeahead};
use super::wires::Wires;

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

/// Shared by the askers and the thread.
pub struct Keyboard {
    /// Never held across an await.
    desk: Mutex<Desk>,
    changed: watch::Sender<()>,
    wake: PipeWriter,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub wires: Arc<Wires>,
}

pub struct Desk {
    pub input: Input,
    pub typed: Typeahead,
    /// Standard input is closed.
    pub gone: bool,
    /// The line as the editor shows it.
    pub shown: String,
    /// The user pressed Ctrl-C at an empty prompt.
    pub looks_for_exit: bool,
    pub question: Option<Question>,
    questions: u64,
    lines_wanted: usize,
    quitting: bool,
    /// What the thread does at the moment.
    doing: Wanted,
    editor: Editor,
    woken: bool,
}

pub struct Question {
    number: u64,
    pub prompt: String,
    pub draft: Draft,
    said: Option<Said>,
}

/// Whether the thread is inside rustyline, which only a signal can call back; and when it may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Editor {
    Closed,
    /// Its signal handler is not in place yet; `doomed` when it shall close as soon as it is.
    Opening {
        doomed: bool,
    },
    Open,
    /// The signal is on its way; `sure` when nothing can swallow it.
    Closing {
        sure: bool,
    },
}

impl Keyboard {
    /// The desk, and the pipe that wakes the thread.
    pub fn new(input: Input, wires: Arc<Wires>) -> std::io::Result<(Self, PipeReader)> {
        let (reader, writer) = std::io::pipe()?;
        let desk = Desk {
            input,
            typed: Typeahead::default(),
            gone: false,
            shown: String::new(),
            looks_for_exit: false,
            question: None,
            questions: 0,
            lines_wanted: 0,
            quitting: false,
            doing: Wanted::Nothing,
            editor: Editor::Closed,
            woken: false,
        };
        let keyboard = Self {
            desk: Mutex::new(desk),
            changed: watch::Sender::new(()),
            wake: writer,
            thread: Mutex::new(None),
            wires,
        };
        Ok((keyboard, reader))
    }

    pub fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap()
    }

    pub fn input(&self) -> Input {
        self.desk().input
    }

    /// The next line that is typed, or `None` when there will be none.
    pub async fn line(&self) -> Option<String> {
        let mut changed = self.changed.subscribe();
        let _wanted = Wants::new(
            self,
            |desk| desk.lines_wanted += 1,
            |desk| desk.lines_wanted -= 1,
        );
        loop {
            {
                let typed = &mut self.desk().typed;
                if let Some(line) = typed.lines.pop_front() {
                    return Some(line);
                }
                if typed.ended {
                    return None;
                }
            }
            // The sender lives in `self`, so waiting cannot fail.
            let _ = changed.changed().await;
        }
    }

    /// The next line, if it is typed already.
    pub fn typed_ahead(&self) -> Option<String> {
        self.desk().typed.lines.pop_front()
    }

    /// What the user says to this question. One question at a time.
    pub async fn ask(&self, prompt: String) -> Said {
        let mut changed = self.changed.subscribe();
        let ask = |desk: &mut Desk| {
            desk.questions += 1;
            desk.question = Some(Question {
                number: desk.questions,
                prompt,
                draft: Draft::default(),
                said: None,
            });
        };
        let _wanted = Wants::new(self, ask, |desk| desk.question = None);
        loop {
            if let Some(said) = self.desk().said() {
                return said;
            }
            let _ = changed.changed().await;
        }
    }

    /// Lets the thread look again, which closes an open prompt for a moment: something wants to be printed.
    pub fn nudge(&self) {
        let mut desk = self.desk();
        match desk.editor {
            Editor::Closed if desk.woken => {}
            Editor::Closed => {
                desk.woken = true;
                // The pipe holds at most this one byte; if the thread has gone, nobody needs to be woken.
                let _ = (&self.wake).write_all(&[0]);
            }
            Editor::Opening { .. } => desk.editor = Editor::Opening { doomed: true },
            Editor::Open => {
                desk.editor = Editor::Closing { sure: false };
                self.signal();
            }
            // Only where what is left of a signal, when the editor has closed meanwhile, means nothing.
            Editor::Closing { sure: false } if self.wires.is_ctrl_c_a_key() => self.signal(),
            Editor::Closing { .. } => {}
        }
    }

    /// Interrupts the editor from outside.
    fn signal(&self) {
        if let Some(thread) = &*self.thread.lock().unwrap() {
            // To the thread itself, because it may wait for the rest of a key sequence, and nothing else ends that. It
            // fails only when the thread has ended.
            let _ = pthread_kill(thread.as_pthread_t(), Signal::SIGINT);
        }
    }

    /// Remembers the thread.
    pub fn started(&self, thread: JoinHandle<()>) {
        *self.thread.lock().unwrap() = Some(thread);
    }

    /// Ends the thread, which puts the terminal back in order.
    pub fn close(&self) {
        self.desk().quitting = true;
        self.nudge();
        let thread = self.thread.lock().unwrap().take();
        // A thread that waits for a pipe cannot be called back, and has nothing to put in order.
        let waits_for_us = matches!(self.input(), Input::Terminal { .. });
        if let Some(thread) = thread
            && waits_for_us
        {
            let _ = thread.join();
        }
    }
}

/// The thread's side.
impl Keyboard {
    /// What to do next. With a line editor, a prompt counts as opening from here on.
    pub fn next(&self) -> Wanted {
        let mut desk = self.desk();
        desk.doing = desk.wanted();
        let edits = matches!(desk.input, Input::Terminal { .. });
        desk.editor = match desk.doing {
            Wanted::Answer(_) | Wanted::Line if edits => Editor::Opening { doomed: false },
            Wanted::Answer(_) | Wanted::Line | Wanted::Nothing | Wanted::Quit => Editor::Closed,
        };
        desk.doing
    }

    /// Empties the pipe that woke the thread.
    pub fn awake(&self, wake: &mut PipeReader) {
        let _ = wake.read(&mut [0]);
        self.desk().woken = false;
    }

    /// The prompt is out of the way; whoever waits may look.
    pub fn closed(&self) {
        let mut desk = self.desk();
        desk.editor = Editor::Closed;
        if let Some(question) = &mut desk.question
            && question.said.is_some()
        {
            // Typed behind the Enter of the answer, so meant for later.
            let rest = question.draft.take();
            desk.typed.draft.left.push_str(&rest);
        }
        drop(desk);
        self.changed.send_replace(());
    }

    /// Standard input has ended.
    pub fn gone(&self) {
        let mut desk = self.desk();
        desk.gone = true;
        desk.typed.ended = true;
        drop(desk);
        self.changed.send_replace(());
    }

    /// Keys were pressed while nothing was edited.
    pub fn typed(&self, bytes: &[u8]) {
        if self.desk().typed.feed(bytes) {
            self.wires.interrupt();
        }
        self.changed.send_replace(());
    }

    /// A line came without an editor.
    pub fn read(&self, line: String) {
        let mut desk = self.desk();
        match (desk.input, &mut desk.question) {
            (Input::Dumb, Some(question)) => question.said = Some(Said::Line(line)),
            _ => desk.typed.accept(line),
        }
        drop(desk);
        self.changed.send_replace(());
    }

    /// The editor shows this line now. Its signal handler is in place, so it can be closed.
    pub fn edited(&self, line: &str, cursor: usize) {
        let mut desk = self.desk();
        match desk.editor {
            Editor::Opening { doomed } => {
                desk.editor = Editor::Open;
                if doomed {
                    desk.close_editor();
                }
            }
            Editor::Closing { sure: false } => desk.close_editor(),
            Editor::Open | Editor::Closing { sure: true } | Editor::Closed => {}
        }
        line.clone_into(&mut desk.shown);
        if let Some(draft) = desk.draft() {
            *draft = Draft::new(line, cursor);
        }
    }

    /// The user pressed Enter.
    pub fn entered(&self, line: &str) {
        let mut desk = self.desk();
        match desk.asked() {
            Asked::Line(typed) => typed.accept(line.to_owned()),
            // A line typed behind the answer.
            Asked::Question(Question { said: Some(_), .. }) => desk.typed.accept(line.to_owned()),
            Asked::Question(question) => question.said = Some(Said::Line(line.to_owned())),
            Asked::Withdrawn => {}
        }
        desk.close_editor();
    }

    /// The user pressed Ctrl-D on an empty line.
    pub fn left(&self) {
        let mut desk = self.desk();
        match desk.asked() {
            Asked::Line(typed) => typed.ended = true,
            Asked::Question(question) => question.said = Some(Said::Line(String::new())),
            Asked::Withdrawn => {}
        }
        desk.close_editor();
    }

    /// The user pressed Ctrl-C.
    pub fn interrupted(&self, line: &str) {
        let mut desk = self.desk();
        match desk.asked() {
            // The editor clears the line; who presses it twice looks for the way out.
            Asked::Line(_) if !line.is_empty() => return,
            Asked::Line(_) => desk.looks_for_exit = true,
            Asked::Question(question) => {
                question.said = Some(Said::Interrupted);
                self.wires.interrupt();
            }
            Asked::Withdrawn => {}
        }
        desk.close_editor();
    }
}

/// What the open editor asks for.
enum Asked<'a> {
    Line(&'a mut Typeahead),
    Question(&'a mut Question),
    /// A question that nobody waits for any more: what is typed to it is no request either.
    Withdrawn,
}

impl Desk {
    fn wanted(&self) -> Wanted {
        let asks = |question: &&Question| question.said.is_none() && !self.gone;
        match &self.question {
            _ if self.quitting => Wanted::Quit,
            Some(question)
                if asks(&question)
                    && (self.input != Input::Pipe || self.typed.lines.is_empty()) =>
            {
                Wanted::Answer(question.number)
            }
            _ if self.lines_wanted > 0 && self.typed.lines.is_empty() && !self.typed.ended => {
                Wanted::Line
            }
            _ => Wanted::Nothing,
        }
    }

    /// What the open question is answered with, if anything.
    fn said(&mut self) -> Option<Said> {
        let question = self.question.as_mut()?;
        if self.doing == Wanted::Answer(question.number) && self.editor != Editor::Closed {
            // What was typed behind the answer is still to be read.
            return None;
        }
        if let Some(said) = question.said.take() {
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

    /// The draft of what the editor asks for.
    pub fn draft(&mut self) -> Option<&mut Draft> {
        match self.asked() {
            Asked::Line(typed) => Some(&mut typed.draft),
            Asked::Question(question) => Some(&mut question.draft),
            Asked::Withdrawn => None,
        }
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

    /// From within the editor: it ends when it has read what it already took from the terminal, and before it takes
    /// more. So nothing that was typed behind Enter is lost in its buffer.
    ///
    /// Its signal handler writes a byte to a pipe, and its loop takes up to 64 bytes and looks at the first only: a
    /// change of the window's size that came just before swallows a signal. It cannot swallow this many.
    fn close_editor(&mut self) {
        if matches!(self.editor, Editor::Open | Editor::Closing { sure: false }) {
            self.editor = Editor::Closing { sure: true };
            for _ in 0..64 {
                // It cannot fail: the signal exists.
                let _ = raise(Signal::SIGINT);
            }
        }
    }

    /// The prompt of the open question, if one is to be shown.
    pub fn question_prompt(&mut self) -> Option<String> {
        match self.asked() {
            Asked::Question(question) => Some(question.prompt.clone()),
            Asked::Line(_) | Asked::Withdrawn => None,
        }
    }
}

/// Something wanted of the thread for as long as this lives.
struct Wants<'a> {
    keyboard: &'a Keyboard,
    end: fn(&mut Desk),
}

impl<'a> Wants<'a> {
    fn new(keyboard: &'a Keyboard, begin: impl FnOnce(&mut Desk), end: fn(&mut Desk)) -> Self {
        keyboard.change(begin);
        Self { keyboard, end }
    }
}

impl Drop for Wants<'_> {
    fn drop(&mut self) {
        self.keyboard.change(self.end);
    }
}

impl Keyboard {
    /// Changes what is wanted and tells the thread if it must do something else now.
    fn change(&self, change: impl FnOnce(&mut Desk)) {
        let mut desk = self.desk();
        change(&mut desk);
        let stale = desk.wanted() != desk.doing;
        drop(desk);
        if stale {
            self.nudge();
        }
    }
}
