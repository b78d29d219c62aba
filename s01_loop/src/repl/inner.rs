//! What all clones of a [`Repl`](super::Repl) share: the screen, the keyboard, and the thread between them.
//!
//! Invariant: standard input is not touched before somebody wants something of it, and is given back at the end.

use std::io::{self, IsTerminal, PipeReader};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use super::args;
use super::desk::Input;
use super::keyboard::Keyboard;
use super::plain;
use super::screen::{Held, Screen};
use super::style::Paint;
use super::terminal::Terminal;
use super::text;
use super::wires::Wires;

/// Where this program keeps what outlives it, below the working directory.
const HARNESS: &str = ".harness";

pub struct Inner {
    pub chapter: String,
    pub screen: Arc<Screen>,
    pub keyboard: Arc<Keyboard>,
    pub wires: Arc<Wires>,
    /// Held while a question is asked, so that several wait in line.
    pub asking: tokio::sync::Mutex<()>,
    pub failed: AtomicBool,
    prompt: String,
    /// The request of the command line, if that is where it comes from; `None` within when it is taken.
    once: Option<Mutex<Option<String>>>,
    /// What wakes the thread; taken when it starts.
    wake: Mutex<Option<PipeReader>>,
}

impl Inner {
    pub fn new(chapter: &str, request: Option<String>) -> Self {
        let wires = Arc::new(Wires::new());
        let screen = Arc::new(Screen::new(wires.clone()));
        let watched = request.is_none();
        let input = match (io::stdin().is_terminal(), screen.style.can_move()) {
            (true, true) => Input::Terminal { watched },
            (true, false) => Input::Dumb,
            (false, _) => Input::Pipe,
        };
        let (keyboard, wake) = Keyboard::new(input, wires.clone())
            .expect("a process that cannot open a pipe cannot run a command either");
        Self {
            chapter: chapter.to_owned(),
            screen,
            keyboard: Arc::new(keyboard),
            wires,
            asking: tokio::sync::Mutex::new(()),
            failed: AtomicBool::new(false),
            prompt: args::prompt(chapter),
            once: request.map(|request| Mutex::new(Some(request))),
            wake: Mutex::new(Some(wake)),
        }
    }

    /// Whether a user sits there and will see what failed; not so for one request or a pipe.
    pub fn is_session(&self) -> bool {
        self.once.is_none() && self.keyboard.input() != Input::Pipe
    }

    /// Lets an open prompt make room for what it holds back.
    pub fn nudge_if(&self, held: Held) {
        if held {
            self.keyboard.nudge();
        }
    }

    /// The next line, shown as typed where it was not.
    pub async fn next_line(&self) -> Option<String> {
        if let Some(once) = &self.once {
            return once.lock().unwrap().take();
        }
        self.start_thread();
        let input = self.keyboard.input();
        let line = match self.keyboard.typed_ahead() {
            Some(line) => line,
            None => match input {
                Input::Terminal { .. } => self.keyboard.line().await?,
                Input::Pipe => self.next_plain_line(input).await?,
                // The user sees it already.
                Input::Dumb => return self.next_plain_line(input).await,
            },
        };
        if !line.trim().is_empty() || input != Input::Pipe {
            let prompt = self.screen.style.paint(Paint::Prompt, &self.prompt);
            self.nudge_if(self.screen.lines(&format!("{prompt}{}", text::echo(&line))));
        }
        Some(line)
    }

    /// The next line where nothing is edited and Ctrl-C is a signal. It ends a pipe; on a terminal the system clears
    /// the half line, and the prompt is shown again.
    async fn next_plain_line(&self, input: Input) -> Option<String> {
        let mut interrupts = self.wires.interrupts();
        loop {
            if input == Input::Dumb {
                self.screen.plain_prompt(&self.prompt);
            }
            tokio::select! {
                biased;
                line = self.keyboard.line() => return line,
                _ = interrupts.changed() => match input {
                    Input::Pipe => self.wires.leave(130),
                    Input::Dumb | Input::Terminal { .. } => self.nudge_if(self.screen.lines("")),
                }
            }
        }
    }

    /// Starts the thread that reads, when the first one wants something of it: a program that only prints its help
    /// leaves the terminal alone.
    pub fn start_thread(&self) {
        let Some(wake) = self.wake.lock().unwrap().take() else {
            return;
        };
        let (keyboard, screen) = (self.keyboard.clone(), self.screen.clone());
        let (wires, prompt) = (self.wires.clone(), self.prompt.clone());
        let thread = std::thread::spawn(move || {
            if let Input::Terminal { watched } = keyboard.input() {
                let harness = Path::new(HARNESS);
                match Terminal::open(&keyboard, &screen, &prompt, harness, watched) {
                    Some(terminal) => {
                        if watched {
                            wires.ctrl_c_is_a_key();
                        }
                        return terminal.serve(wake);
                    }
                    None => keyboard.desk(|desk| desk.input = Input::Dumb),
                }
            }
            plain::serve(&keyboard, wake);
        });
        self.keyboard.started(thread);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.keyboard.close();
    }
}
