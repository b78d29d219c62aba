//! What all clones of a [`Terminal`](crate::Terminal) share: the screen, the keyboard, and the thread between them.
//!
//! Invariant: standard input is not touched before somebody wants something of it, and is given back at the end.

use std::io::{self, IsTerminal, PipeReader};
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::Program;
use crate::desk::{Desk, Input};
use crate::dumb;
use crate::keyboard::Keyboard;
use crate::pipe;
use crate::screen::{Held, Screen};
use crate::style::Paint;
use crate::text;
use crate::thread::KeyboardThread;
use crate::wires::Wires;

/// The exit code of a run that Ctrl-C ended, as a shell counts: 128 and the number of SIGINT.
pub const INTERRUPTED: u8 = 130;

pub struct Inner {
    pub program: Program,
    pub screen: Arc<Screen>,
    pub keyboard: Arc<Keyboard>,
    pub wires: Arc<Wires>,
    /// Held while a question is asked, so that several wait in line.
    pub asking: tokio::sync::Mutex<()>,
    /// Why the last turn that failed did so.
    pub failure: Mutex<Option<String>>,
    /// Whether the user has said `q`, `exit` or the like.
    pub dismissed: AtomicBool,
    /// Whether nobody is asked anything.
    pub unattended: AtomicBool,
    /// What Tab completes; read when the thread starts.
    pub words: Mutex<Vec<&'static str>>,
    /// The request of the command line, if that is where it comes from; `None` within when it is taken.
    once: Option<Mutex<Option<String>>>,
    /// What wakes the thread; taken when it starts.
    wake: Mutex<Option<PipeReader>>,
}

impl Inner {
    pub fn new(program: Program, request: Option<String>) -> Self {
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
            program,
            screen,
            keyboard: Arc::new(keyboard),
            wires,
            asking: tokio::sync::Mutex::new(()),
            failure: Mutex::default(),
            dismissed: AtomicBool::new(false),
            unattended: AtomicBool::new(false),
            words: Mutex::default(),
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
        let ahead = self.keyboard.typed_ahead();
        let is_ahead = ahead.is_some();
        let line = match ahead {
            Some(line) => line,
            None => self.typed_line().await?,
        };
        let is_shown = match self.keyboard.input() {
            Input::Terminal { .. } => false,
            Input::Dumb => !is_ahead,
            Input::Pipe => line.trim().is_empty(),
        };
        if !is_shown {
            let prompt = self.screen.style.paint(Paint::Prompt, &self.program.prompt);
            self.nudge_if(self.screen.lines(&format!("{prompt}{}", text::echo(&line))));
        }
        Some(line)
    }

    /// The next line that is typed. Where Ctrl-C is a signal it ends a pipe, and on a terminal, where the system clears
    /// the half line, shows the prompt again.
    async fn typed_line(&self) -> Option<String> {
        let mut interrupts = self.wires.interrupts();
        let mut line = pin!(self.keyboard.line());
        loop {
            tokio::select! {
                biased;
                line = &mut line => return line,
                _ = interrupts.changed() => match self.keyboard.input() {
                    Input::Terminal { .. } => {}
                    Input::Dumb => self.keyboard.nudge(),
                    Input::Pipe => {
                        self.wires.leave(INTERRUPTED);
                        return None;
                    }
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
        let (wires, program) = (self.wires.clone(), self.program.clone());
        let words = std::mem::take(&mut *self.words.lock().unwrap());
        let thread = std::thread::spawn(move || {
            let _end = End(keyboard.clone());
            if let Input::Terminal { watched } = keyboard.input() {
                if let Some(terminal) =
                    KeyboardThread::open(&keyboard, &screen, &program, words, watched)
                {
                    if watched {
                        wires.ctrl_c_is_a_key();
                    }
                    return terminal.serve(wake);
                }
                keyboard.desk(|desk| desk.input = Input::Dumb);
            }
            match keyboard.input() {
                Input::Pipe => pipe::serve(&keyboard, wake),
                Input::Dumb | Input::Terminal { .. } => {
                    dumb::serve(&keyboard, &screen, &program.prompt, wake);
                }
            }
        });
        self.keyboard.started(thread);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.keyboard.close();
    }
}

/// Whatever ends the thread, a panic too, nobody waits for it in vain.
struct End(Arc<Keyboard>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.desk(Desk::gone);
    }
}
